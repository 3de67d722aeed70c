//! How relevant is a product, given how well its words match and how near its meaning is, and
//! from where on is it not?
//!
//! Words are trusted as far as they cover the query: where the shop's products say what was
//! asked for, words decide; where they do not, meaning does. Both scores go from 0 to 1, and so
//! does what becomes of them. This is the one place with the formula and its numbers.

/// What speaks for one product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// How much of what the query's words could reach they reach, from 0 to 1; 0 for a product
    /// that says none of them.
    pub words: f32,
    /// The cosine between query and product; `None` for a product that is too far away, or whose
    /// meaning is not known.
    pub similarity: Option<f32>,
}

/// How far the products of the shop cover a query with their words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The best [`Evidence::words`] of all products that may be found.
    pub best_words: f32,
    /// How much of the query's information is in words that the shop knows, from 0 to 1.
    pub known: f32,
}

/// How a cosine becomes a score: 0 up to `far`, 1 from `near` on, a straight line between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Strangers are about this near.
    pub far: f32,
    /// What was looked for is this near.
    pub near: f32,
}

impl Calibration {
    /// The score of a cosine, from 0 to 1.
    #[inline]
    pub fn score(&self, similarity: f32) -> f32 {
        ((similarity - self.far) / (self.near - self.far)).clamp(0.0, 1.0)
    }
}

/// What is too little to be relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Below this score nothing is relevant.
    pub absolute: f32,
    /// Below this part of the best score nothing is relevant.
    pub relative: f32,
}

impl Cut {
    /// The least score that is relevant where this is the best one. Always above 0.
    pub fn at(&self, best: f32) -> f32 {
        self.absolute.max(self.relative * best).max(f32::MIN_POSITIVE)
    }
}

/// The numbers of the formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The weight of words where they cover the query wholly; meaning has the rest.
    pub words: f32,
    /// A best word score that counts as covering the query wholly.
    pub covering: f32,
    /// Cosines of queries by the deep encoder.
    pub deep: Calibration,
    /// Cosines of queries by the instant encoder.
    pub instant: Calibration,
    /// The cut-off where meaning takes part.
    pub cut: Cut,
    /// The cut-off where it does not: any word that matches is enough.
    pub words_alone: Cut,
    /// Products at least this near another one are similar to it.
    pub similar: f32,
}

/// The numbers in force.
pub const WEIGHTS: Weights = Weights {
    words: 0.6,
    covering: 0.5,
    deep: Calibration { far: 0.2, near: 0.7 },
    instant: Calibration { far: 0.2, near: 0.7 },
    cut: Cut { absolute: 0.15, relative: 0.4 },
    words_alone: Cut { absolute: 0.0, relative: 0.0 },
    similar: 0.5,
};

/// The formula for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fusion {
    words: f32,
    meaning: Option<Calibration>,
    cut: Cut,
}

impl Fusion {
    /// For a query whose words alone are known.
    pub fn of_words(weights: &Weights) -> Self {
        Self { words: 1.0, meaning: None, cut: weights.words_alone }
    }

    /// For a query whose words cover the shop so far, and whose cosines are to be read like this.
    pub fn of_both(weights: &Weights, meaning: Calibration, coverage: Coverage) -> Self {
        let reached = (coverage.best_words / weights.covering).clamp(0.0, 1.0);
        let words = weights.words * reached * coverage.known.clamp(0.0, 1.0);
        Self { words, meaning: Some(meaning), cut: weights.cut }
    }

    /// How relevant a product is, from 0 to 1.
    #[inline]
    pub fn score(&self, evidence: Evidence) -> f32 {
        let Some(meaning) = self.meaning else { return evidence.words };
        let similarity = evidence.similarity.map_or(0.0, |similarity| meaning.score(similarity));
        self.words * evidence.words + (1.0 - self.words) * similarity
    }

    /// What is too little to be relevant.
    pub fn cut(&self) -> Cut {
        self.cut
    }
}

/// Whether a product could be relevant however words and meaning are weighted. Cheap: asked of
/// every product before the weight is known.
#[inline]
pub fn has_hope(weights: &Weights, meaning: Calibration, evidence: Evidence) -> bool {
    let similarity = evidence.similarity.map_or(0.0, |similarity| meaning.score(similarity));
    evidence.words.max(similarity) >= weights.cut.absolute
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn evidence() -> impl Strategy<Value = Evidence> {
        (0.0_f32..=1.0, prop::option::of(-1.0_f32..=1.0))
            .prop_map(|(words, similarity)| Evidence { words, similarity })
    }

    fn coverage() -> impl Strategy<Value = Coverage> {
        (0.0_f32..=1.0, 0.0_f32..=1.0)
            .prop_map(|(best_words, known)| Coverage { best_words, known })
    }

    fn both(coverage: Coverage) -> Fusion {
        Fusion::of_both(&WEIGHTS, WEIGHTS.deep, coverage)
    }

    proptest! {
        #[test]
        fn scores_go_from_0_to_1(evidence in evidence(), coverage in coverage()) {
            for fusion in [both(coverage), Fusion::of_words(&WEIGHTS)] {
                let score = fusion.score(evidence);
                prop_assert!((0.0..=1.0).contains(&score), "{score}");
            }
        }

        #[test]
        fn more_evidence_is_never_worth_less(
            evidence in evidence(),
            coverage in coverage(),
            more in 0.0_f32..1.0,
        ) {
            let fusion = both(coverage);
            let words = (evidence.words + more).min(1.0);
            let similarity = evidence.similarity.map_or(more, |similarity| similarity + more);
            let better = [
                Evidence { words, ..evidence },
                Evidence { similarity: Some(similarity), ..evidence },
            ];
            for better in better {
                prop_assert!(fusion.score(better) >= fusion.score(evidence));
            }
        }

        #[test]
        fn what_is_relevant_had_hope(evidence in evidence(), coverage in coverage()) {
            let fusion = both(coverage);
            let relevant = fusion.score(evidence) >= fusion.cut().at(0.0);
            prop_assert!(!relevant || has_hope(&WEIGHTS, WEIGHTS.deep, evidence));
        }

        #[test]
        fn the_best_product_is_relevant_if_any_is(scores in prop::collection::vec(0.0_f32..1.0, 1..9)) {
            let best = scores.iter().copied().fold(0.0, f32::max);
            let cut = WEIGHTS.cut.at(best);
            prop_assert!(best >= cut || scores.iter().all(|score| *score < cut));
        }
    }

    #[test]
    fn words_count_for_nothing_where_the_shop_knows_none_of_them() {
        let fusion = both(Coverage { best_words: 0.0, known: 0.0 });
        let near = Evidence { words: 0.0, similarity: Some(1.0) };
        assert_eq!(fusion.score(near), 1.0);
    }

    #[test]
    fn without_a_meaning_a_product_is_found_by_its_words() {
        let fusion = both(Coverage { best_words: 0.6, known: 1.0 });
        let score = fusion.score(Evidence { words: 0.6, similarity: None });
        assert!(score >= WEIGHTS.cut.at(score), "{score}");
    }

    #[test]
    fn nothing_is_relevant_to_nothing() {
        assert!(WEIGHTS.words_alone.at(0.0) > 0.0);
    }
}
