//! The lexical terms of a parsed query: its residual words with corrections, variants and claims.

use crate::text::{
    analysis::{Alternative, QueryTerms, Term, singular},
    correction::{Correction, SpellingVariant},
    word_forms::WordForms,
};

use super::ParsedQuery;

/// Words that make a free-from claim of the word before them.
const FREE: [&str; 2] = ["free", "frei"];

impl ParsedQuery {
    /// The terms to search for: the residual words, with spelling variants and the forms of
    /// free-from claims as alternatives.
    pub fn terms(&self) -> QueryTerms {
        let mut query = QueryTerms::of(&self.residual);
        mark_corrected(&mut query, &self.corrections);
        add_variants(&mut query, &self.variants);
        add_forms(&mut query, &self.forms);
        for claim in self.exclusions.iter().filter(|exclusion| exclusion.is_claim) {
            rewrite_claim(&mut query, &claim.words);
        }
        query
    }
}

/// Marks the terms that replace an unknown word.
fn mark_corrected(query: &mut QueryTerms, corrections: &[Correction]) {
    // Joining or splitting words is not a guess at another word.
    let is_guess = |one: &&Correction| !one.from.contains(' ') && !one.to.contains(' ');
    for correction in corrections.iter().filter(is_guess) {
        let word = singular(&correction.to);
        let is_it = |term: &&mut Term| *term.alternatives[0].words == [Box::from(&*word)];
        let terms = query.terms_mut().iter_mut().filter(is_it);
        terms.for_each(|term| term.corrected = Some(correction.confidence));
    }
}

/// Adds other spellings of a term as alternatives.
fn add_variants(query: &mut QueryTerms, variants: &[SpellingVariant]) {
    for term in query.terms_mut() {
        let first = &term.alternatives[0];
        let is_of_term =
            |variant: &&SpellingVariant| first.words.len() == 1 && first.words[0] == variant.of;
        let others = variants.iter().filter(is_of_term).map(|variant| Alternative {
            weight: variant.weight,
            respelled: true,
            ..Alternative::word(&variant.word)
        });
        let others: Vec<Alternative> = others.collect();
        term.alternatives.extend(others);
    }
}

/// Adds other forms of a term as alternatives, and removes terms that say nothing beside others.
fn add_forms(query: &mut QueryTerms, forms: &WordForms) {
    for term in query.terms_mut() {
        let first = term.alternatives[0].words.clone();
        let is_of_term = |(of, _): &&(Box<str>, Alternative)| *first == *std::slice::from_ref(of);
        for (_, form) in forms.related.iter().filter(is_of_term) {
            if !term.alternatives.iter().any(|known| known.words == form.words) {
                term.alternatives.push(form.clone());
            }
        }
    }
    if !query.terms().iter().all(|term| is_word(term, &forms.ignored)) {
        query.terms_mut().retain(|term| !is_word(term, &forms.ignored));
    }
}

/// Searches for a claim ("nickel-free", "nickel free") by the words it is about. Products that
/// mention these words without negating them are excluded, so every other product that has them
/// makes the claim; "free" alone says nothing.
fn rewrite_claim(query: &mut QueryTerms, about: &[Box<str>]) {
    let joined: Box<str> = format!("{}free", about.concat()).into();
    let Some(last) = about.last() else { return };
    query.terms_mut().retain(|term| !is_word(term, &FREE));
    for term in query.terms_mut() {
        if is_word(term, std::slice::from_ref(&joined)) {
            term.alternatives.truncate(1);
            term.alternatives.push(Alternative::all(about.to_vec()));
        } else if is_word(term, std::slice::from_ref(last))
            && !term.alternatives.iter().any(|way| *way.words == [joined.clone()])
        {
            let joined = Alternative::word(&joined);
            term.alternatives.push(Alternative { respelled: true, ..joined });
        }
    }
}

/// Whether a term searches for exactly one of these words.
fn is_word<W: AsRef<str>>(term: &Term, words: &[W]) -> bool {
    let first = &term.alternatives[0].words;
    first.len() == 1 && words.iter().any(|word| *first[0] == *word.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::correction::Confidence;

    #[test]
    fn only_a_replaced_word_is_marked_as_corrected() {
        let correction = |from: &str, to: &str| Correction {
            from: from.to_owned(),
            to: to.to_owned(),
            span: 0..from.len(),
            confidence: Confidence::Low,
        };
        let mut query = QueryTerms::of("steel stakes backpack wood saddle");
        mark_corrected(
            &mut query,
            &[
                correction("steks", "stakes"),
                correction("back pack", "backpack"),
                correction("woodsaddle", "wood saddle"),
            ],
        );
        let corrected = query.terms().iter().filter(|term| term.corrected.is_some());
        let corrected: Vec<_> = corrected.map(|term| &*term.alternatives[0].words[0]).collect();
        assert_eq!(corrected, ["stake"]);
    }
}
