//! The lexical parts of one product's score: terms, variants, frequencies.

use catalog::{ranking::explanation::TermPart, text::analysis::QueryTerms};

use super::{LexicalQuery, QueryTerm, TermVariant, distinct_words};
use crate::segment::DocId;

impl LexicalQuery<'_> {
    /// The terms that a product contains, with what each adds to its lexical match. `query` is the
    /// one that this was made from.
    pub(crate) fn explain(&self, query: &QueryTerms, segment: usize, doc: DocId) -> Vec<TermPart> {
        let (words, scale) = (distinct_words(query), self.scale());
        let part = |term: &QueryTerm| {
            let as_written = &query.terms()[term.index].alternatives[0];
            let variants = term.variants.iter();
            let found =
                variants.filter_map(|variant| self.explain_variant(&words, variant, segment, doc));
            let best = found.max_by(|one, other| one.score.total_cmp(&other.score))?;
            Some(TermPart { term: as_written.words.join(" "), score: best.score * scale, ..best })
        };
        self.terms.iter().filter_map(part).collect()
    }

    /// One variant of a term, with its score before normalisation; `None` if the product does not
    /// contain it.
    fn explain_variant(
        &self,
        words: &[&str],
        variant: &TermVariant,
        segment: usize,
        doc: DocId,
    ) -> Option<TermPart> {
        let lengths = self.segments[segment].segment.lengths[usize::from(doc)];
        let mut part = TermPart::default();
        let mut found: Vec<&str> = Vec::new();
        for (word, weight) in variant.words.iter().zip(&variant.term_weights) {
            let Some(postings) = self.postings[segment][*word] else { continue };
            let Ok(at) = postings.docs.binary_search(&doc) else { continue };
            let freqs = postings.freqs[at];
            found.push(words[*word]);
            part.title += freqs.title();
            part.description += freqs.description();
            part.attribute |= freqs.attribute();
            part.score += self.scorer.score(variant.weight * weight, freqs, lengths);
        }
        let is_found = match variant.all {
            true => found.len() == variant.words.len(),
            false => !found.is_empty(),
        };
        is_found.then(|| TermPart { found_as: found.join(" "), ..part })
    }
}
