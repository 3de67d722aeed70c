//! How relevant is a product, given how well its words match and how near its meaning is, and
//! from where on is it not?
//!
//! Some queries are to be taken by the word ("1/2 in galvanized pipe"), others by what they mean
//! ("something to put flowers in"). The manner of the query tells them apart: how many of its
//! words only hold a sentence together, how much it sounds like phrases that shoppers are known
//! to say, and how far the shop's own words cover it. This is the one place with the formula.

mod hope;
mod weights;

use crate::explanation::{Bonus, Explanation, MeaningPart, TermPart, WordsPart};

pub use self::{
    hope::Hope,
    weights::{Cut, Literal, WEIGHTS, Weights},
};

/// What speaks for one product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// How much of what the query's words could reach they reach, from 0 to 1; 0 for a product
    /// that says none of them.
    pub words: f32,
    /// The cosine between query and product; `None` for a product whose meaning is not known.
    pub similarity: Option<f32>,
    /// Whether the query is its title, word by word.
    pub is_title: bool,
}

impl Evidence {
    /// What the words are worth: a product that says all of them is far ahead of one that says
    /// half.
    #[inline]
    pub fn worth_of_words(self) -> f32 {
        self.words * self.words
    }

    /// What the similarity is worth. A product whose meaning is not known is believed by its words.
    #[inline]
    pub fn worth_of_meaning(self) -> f32 {
        self.similarity.map_or_else(|| self.worth_of_words(), |similarity| similarity.max(0.0))
    }
}

/// How a query is put.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manner {
    /// The share of its words that hold the sentence together and say nothing about products.
    pub function_words: f32,
    /// How near the nearest phrase is that shoppers are known to say; `None` where nobody knows.
    pub likeness: Option<f32>,
    /// The share of the other words that the shop or the model knows.
    pub recognised: f32,
}

impl Manner {
    /// Of a query that could be anything.
    pub const UNKNOWN: Self = Self { function_words: 0.0, likeness: None, recognised: 1.0 };
}

/// How far the products of the shop cover a query with their words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The best [`Evidence::words`] of all products that may be found.
    pub best_words: f32,
}

/// The formula for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fusion {
    /// The weight of words; `None` where meaning takes no part.
    words: Option<f32>,
    cut: Cut,
}

impl Fusion {
    /// For a query whose words alone are known.
    pub fn of_words(weights: &Weights) -> Self {
        Self { words: None, cut: weights.words_alone }
    }

    /// For a query that is put like this, and whose words the shop covers so far.
    pub fn of_both(weights: &Weights, manner: Manner, coverage: Coverage) -> Self {
        let words = weights.words * weights.literal.of(manner, coverage.best_words);
        let cut = weights.cut_of_words.mixed(words, weights.cut_of_meaning(manner));
        Self { words: Some(words), cut }
    }

    /// How relevant a product is, from 0 to 1.
    #[inline]
    pub fn score(&self, evidence: Evidence) -> f32 {
        if evidence.is_title {
            return 1.0;
        }
        let Some(words) = self.words else { return evidence.words };
        words * evidence.worth_of_words() + (1.0 - words) * evidence.worth_of_meaning()
    }

    /// The weight of words; meaning has the rest.
    pub fn weight_of_words(&self) -> f32 {
        self.words.unwrap_or(1.0)
    }

    /// The parts of [`Self::score`], with what the words part is made of: terms, and what it gives
    /// that the title says them side by side.
    pub fn explain(
        &self,
        evidence: Evidence,
        terms: Vec<TermPart>,
        side_by_side: f32,
    ) -> Explanation {
        let (score, weight) = match self.words {
            _ if evidence.is_title => (1.0, 1.0),
            None => (evidence.words, 1.0),
            Some(_) if evidence.similarity.is_none() => (evidence.worth_of_words(), 1.0),
            Some(weight) => (evidence.worth_of_words(), weight),
        };
        let mut matched = evidence.words;
        let mut bonuses = Vec::new();
        if side_by_side > 0.0 {
            bonuses.push(Bonus { name: "phrase", score: side_by_side });
        }
        if evidence.is_title {
            bonuses.push(Bonus { name: "exact_title", score: 1.0 - matched });
            matched = 1.0;
        }
        let words = WordsPart { matched, score, weight, terms, bonuses };
        let similarity = evidence.similarity.filter(|_| self.words.is_some());
        let meaning = similarity.map(|similarity| {
            let score = evidence.worth_of_meaning();
            MeaningPart { similarity, score, weight: 1.0 - weight }
        });
        Explanation { score: self.score(evidence), words, meaning, claims: false }
    }

    /// What is too little to be relevant.
    pub fn cut(&self) -> Cut {
        self.cut
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn evidence() -> impl Strategy<Value = Evidence> {
        (0.0_f32..=1.0, prop::option::of(-1.0_f32..=1.0)).prop_map(|(words, similarity)| Evidence {
            words,
            similarity,
            is_title: words > 0.9,
        })
    }

    fn manner() -> impl Strategy<Value = Manner> {
        (0.0_f32..=1.0, prop::option::of(-1.0_f32..=1.0), 0.0_f32..=1.0).prop_map(
            |(function_words, likeness, recognised)| Manner {
                function_words,
                likeness,
                recognised,
            },
        )
    }

    fn fusion() -> impl Strategy<Value = (Manner, Fusion)> {
        (manner(), 0.0_f32..=1.0).prop_map(|(manner, best_words)| {
            (manner, Fusion::of_both(&WEIGHTS, manner, Coverage { best_words }))
        })
    }

    fn has_hope(manner: Manner, evidence: Evidence) -> bool {
        Hope::of_both(&WEIGHTS, manner).is_left(evidence.words, evidence.worth_of_meaning())
    }

    proptest! {
        #[test]
        fn scores_go_from_0_to_1(evidence in evidence(), (_, both) in fusion()) {
            for fusion in [both, Fusion::of_words(&WEIGHTS)] {
                let score = fusion.score(evidence);
                prop_assert!((0.0..=1.0).contains(&score), "{score}");
            }
        }

        #[test]
        fn more_evidence_is_never_worth_less(
            evidence in evidence(),
            (_, fusion) in fusion(),
            more in 0.0_f32..1.0,
        ) {
            let words = (evidence.words + more).min(1.0);
            let similarity = evidence.similarity.map(|similarity| similarity + more);
            let better = [Evidence { words, ..evidence }, Evidence { similarity, ..evidence }];
            for better in better {
                prop_assert!(fusion.score(better) >= fusion.score(evidence));
            }
        }

        #[test]
        fn the_parts_of_a_score_add_up_to_it(evidence in evidence(), (_, fusion) in fusion()) {
            for fusion in [fusion, Fusion::of_words(&WEIGHTS)] {
                let explanation = fusion.explain(evidence, Vec::new(), 0.0);
                prop_assert_eq!(explanation.score, fusion.score(evidence));
                let difference = explanation.sum() - explanation.score;
                prop_assert!(difference.abs() < 1e-6, "{:?}", explanation);
            }
        }

        #[test]
        fn what_is_relevant_had_hope(evidence in evidence(), (manner, fusion) in fusion()) {
            let evidence = Evidence { is_title: false, ..evidence };
            let relevant = fusion.score(evidence) >= fusion.cut().at(0.0);
            prop_assert!(!relevant || has_hope(manner, evidence));
        }

        #[test]
        fn what_is_relevant_among_others_had_hope_beside_them(
            manner in manner(),
            others in prop::collection::vec(evidence(), 1..6),
            known in any::<prop::sample::Index>(),
            covered in 0.0_f32..=1.0,
        ) {
            let plain = |evidence: &Evidence| Evidence { is_title: false, ..*evidence };
            let others: Vec<Evidence> = others.iter().map(plain).collect();
            let best_words = others.iter().map(|one| one.words).fold(0.0, f32::max);
            let fusion = Fusion::of_both(&WEIGHTS, manner, Coverage { best_words });
            let best = others.iter().map(|one| fusion.score(*one)).fold(0.0, f32::max);
            let at_least = Coverage { best_words: best_words * covered };
            let found = others[known.index(others.len())];
            let hope = Hope::beside(&WEIGHTS, manner, at_least, Some(found));
            for one in &others {
                let relevant = fusion.score(*one) >= fusion.cut().at(best);
                prop_assert!(!relevant || hope.is_left(one.words, one.worth_of_meaning()));
            }
        }

        #[test]
        fn the_best_product_is_relevant_if_any_is(scores in prop::collection::vec(0.0_f32..1.0, 1..9)) {
            let best = scores.iter().copied().fold(0.0, f32::max);
            for cut in [WEIGHTS.cut_of_words, WEIGHTS.cut_of_meaning] {
                let cut = cut.at(best);
                prop_assert!(best >= cut || scores.iter().all(|score| *score < cut));
            }
        }
    }

    fn weight(manner: Manner) -> f32 {
        Fusion::of_both(&WEIGHTS, manner, Coverage { best_words: 0.5 }).weight_of_words()
    }

    #[test]
    fn a_sentence_is_taken_less_literally_than_a_list_of_words() {
        let list = Manner { likeness: Some(0.7), ..Manner::UNKNOWN };
        let sentence = Manner { function_words: 0.5, ..list };
        assert!(weight(sentence) < weight(list));
        assert!(WEIGHTS.lean(sentence) > WEIGHTS.lean(list));
    }

    #[test]
    fn a_phrase_that_shoppers_say_is_taken_less_literally_than_a_part_number() {
        let phrase = Manner { likeness: Some(0.95), ..Manner::UNKNOWN };
        let number = Manner { likeness: Some(0.4), ..phrase };
        assert!(weight(phrase) < weight(number));
        assert!(WEIGHTS.lean(phrase) > WEIGHTS.lean(number));
    }

    #[test]
    fn a_product_that_says_every_word_is_relevant_whatever_it_means() {
        let number = Manner { likeness: Some(0.4), ..Manner::UNKNOWN };
        let fusion = Fusion::of_both(&WEIGHTS, number, Coverage { best_words: 1.0 });
        let score = fusion.score(Evidence { words: 1.0, similarity: Some(0.0), is_title: false });
        assert!(score >= fusion.cut().at(score), "{score}");
    }

    #[test]
    fn a_product_without_a_vector_is_found_by_its_words() {
        let sofa = Manner { likeness: Some(0.95), ..Manner::UNKNOWN };
        let fusion = Fusion::of_both(&WEIGHTS, sofa, Coverage { best_words: 0.7 });
        let unknown = Evidence { words: 0.7, similarity: None, is_title: false };
        let score = fusion.score(unknown);
        assert!(score >= fusion.cut().at(score), "{score} {:?}", fusion.cut());
        assert!(has_hope(sofa, unknown));
        let far = Evidence { similarity: Some(0.0), ..unknown };
        assert!(fusion.score(far) < score);
    }

    #[test]
    fn nonsense_has_to_be_very_near() {
        let word = Manner { likeness: Some(0.5), ..Manner::UNKNOWN };
        let nonsense = Manner { recognised: 0.0, ..word };
        let guess = Evidence { words: 0.0, similarity: Some(0.5), is_title: false };
        assert!(has_hope(word, guess));
        assert!(!has_hope(nonsense, guess));
    }

    #[test]
    fn nothing_is_relevant_to_nothing() {
        assert!(WEIGHTS.words_alone.at(0.0) > 0.0);
    }
}
