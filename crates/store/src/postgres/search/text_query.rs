//! Builds tsqueries over our own words.

use std::collections::HashMap;

use catalog::{
    query::parser::Exclusion,
    ranking::bm25f::{Bm25Params, CorpusStats},
    text::analysis::{Alternative, QueryTerms},
};

use super::{lexemes::quote, snapshot::WeightedWord};

/// Exclusions with more further words are decided by the texts alone.
const MAX_PHRASE_WORDS: usize = 3;

/// Words that the lexical score in SQL counts, the rarest: the number of `SELECT_CANDIDATES`.
const MAX_SCORED_WORDS: usize = 12;

/// The terms of a query that occur in the shop, as tsqueries.
#[derive(Debug, Default)]
pub(super) struct TextQuery {
    terms: Vec<TextTerm>,
    /// The words of all terms, for the lexical score, the weightiest first.
    pub(super) words: Vec<WeightedWord>,
}

#[derive(Debug)]
struct TextTerm {
    tsquery: String,
    /// An upper bound of the number of products that match the term.
    max_products: u64,
}

/// Tsqueries that are evaluated one after the other until there are enough candidates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CandidateQueries {
    /// No product matches two of them.
    pub(super) tsqueries: [Option<String>; 3],
    /// Whether the first matches every product that contains any of the terms.
    pub(super) is_complete: bool,
}

impl TextQuery {
    /// `doc_freqs` holds the document frequencies of the query's words; a missing word has none.
    pub(super) fn new(
        words: &QueryTerms,
        doc_freqs: &HashMap<Box<str>, u64>,
        corpus: &CorpusStats,
        params: &Bm25Params,
    ) -> Self {
        let doc_freq = |word: &str| doc_freqs.get(word).copied().unwrap_or(0);
        let mut query = Self::default();
        for term in words.terms() {
            let variants = term.alternatives.iter().filter_map(|one| variant(one, &doc_freq));
            let variants: Vec<(String, u64)> = variants.collect();
            if variants.is_empty() {
                continue;
            }
            let tsqueries: Vec<&str> = variants.iter().map(|(tsquery, _)| &**tsquery).collect();
            query.terms.push(TextTerm {
                tsquery: format!("({})", tsqueries.join(" | ")),
                max_products: variants.iter().map(|(_, products)| products).sum(),
            });
            let term_weight =
                term.corrected.map_or(1.0, |confidence| params.correction_weight(confidence));
            for variant in &term.alternatives {
                for word in variant.words.iter().filter(|word| doc_freq(word) > 0) {
                    query.words.push(WeightedWord {
                        word: quoted(word),
                        idf: term_weight
                            * variant.weight
                            * params.term_weight(corpus, doc_freq(word)),
                    });
                }
            }
        }
        query.words.sort_by(|one, other| other.idf.total_cmp(&one.idf));
        query.words.truncate(MAX_SCORED_WORDS);
        query
    }

    /// A tsquery for products that contain all terms; `None` if there are no terms.
    pub(super) fn all_terms(&self) -> Option<String> {
        let all: Vec<&str> = self.terms.iter().map(|term| &*term.tsquery).collect();
        (!all.is_empty()).then(|| all.join(" & "))
    }

    /// Tsqueries for the best candidates first, if at most about `max_scored` products can be
    /// scored.
    ///
    /// If few enough products contain any term, one tsquery selects all of them. Otherwise the
    /// first selects products with all terms, the second those with any of the rare terms (which
    /// together match at most `max_scored` products), the third those with all common terms but
    /// one.
    pub(super) fn candidate_queries(&self, max_scored: u64) -> CandidateQueries {
        let mut terms: Vec<&TextTerm> = self.terms.iter().collect();
        terms.sort_by_key(|term| term.max_products);
        let any = |terms: &[&TextTerm]| {
            terms.iter().map(|term| &*term.tsquery).collect::<Vec<_>>().join(" | ")
        };
        let mut sum = 0_u64;
        let fits = |term: &&&TextTerm| {
            sum = sum.saturating_add(term.max_products);
            sum <= max_scored
        };
        let rare = terms.iter().take_while(fits).count();
        if rare == terms.len() {
            let all = (!terms.is_empty()).then(|| any(&terms));
            return CandidateQueries { tsqueries: [all, None, None], is_complete: true };
        }
        let all = self.all_terms().filter(|_| terms.len() > 1);
        let any_rare = (rare > 0).then(|| any(&terms[..rare]));
        let common = &terms[rare..];
        let all_but = |omitted: usize| {
            let others = common.iter().enumerate().filter(|(at, _)| *at != omitted);
            let others: Vec<&str> = others.map(|(_, term)| &*term.tsquery).collect();
            format!("({})", others.join(" & "))
        };
        let most_common = match common.len() {
            1 => any(common),
            _ => (0..common.len()).map(all_but).collect::<Vec<_>>().join(" | "),
        };
        let second = any_rare.as_deref().map(|second| without(second, [all.as_deref(), None]));
        let third = without(&most_common, [all.as_deref(), any_rare.as_deref()]);
        CandidateQueries { tsqueries: [all, second, Some(third)], is_complete: false }
    }
}

/// A tsquery for products that match a query and none of the others.
fn without(query: &str, others: [Option<&str>; 2]) -> String {
    let others = others.into_iter().flatten().map(|other| format!(" & !({other})"));
    format!("({query}){}", others.collect::<String>())
}

/// A variant of a term as a tsquery, with an upper bound of the number of matching products; `None`
/// if no product matches.
fn variant(variant: &Alternative, doc_freq: &impl Fn(&str) -> u64) -> Option<(String, u64)> {
    let known: Vec<&str> =
        variant.words.iter().map(|word| &**word).filter(|word| doc_freq(word) > 0).collect();
    let may_match =
        if variant.all { known.len() == variant.words.len() } else { !known.is_empty() };
    let doc_freqs = known.iter().map(|word| doc_freq(word));
    let (operator, products) = match variant.all {
        true => (" & ", doc_freqs.min().unwrap_or(0)),
        false => (" | ", doc_freqs.sum()),
    };
    let words: Vec<String> = known.iter().map(|word| quoted(word)).collect();
    may_match.then(|| (format!("({})", words.join(operator)), products))
}

/// A tsquery for products that contain `word` and any of `others`.
pub(super) fn with_any(word: &str, others: &[&str]) -> String {
    let others: Vec<String> = others.iter().map(|other| quoted(other)).collect();
    format!("{} & ({})", quoted(word), others.join(" | "))
}

/// A necessary condition for satisfying the exclusions: products that do not match it break one.
/// The texts decide about the others. `None` if there is no such condition.
pub(super) fn maybe_allowed(exclusions: &[Exclusion]) -> Option<String> {
    let denials: Vec<String> = Exclusion::negators().map(quoted).collect();
    let denials = denials.join(" | ");
    let allowed = exclusions.iter().filter_map(|exclusion| {
        let (first, others) = exclusion.words.split_first()?;
        if others.len() >= MAX_PHRASE_WORDS {
            return None;
        }
        // An excluded phrase may have one other word between two of its words.
        let phrase = others.iter().fold(quoted(first), |phrase, next| {
            let next = quoted(next);
            format!("(({phrase} <-> {next}) | ({phrase} <2> {next}))")
        });
        Some(format!("(!({phrase}) | {denials})"))
    });
    all_of(allowed)
}

/// A sufficient condition for satisfying the exclusions: products that match it break none.
pub(super) fn surely_allowed(exclusions: &[Exclusion]) -> Option<String> {
    let allowed = exclusions.iter().filter(|exclusion| !exclusion.words.is_empty());
    all_of(allowed.map(|exclusion| {
        let words: Vec<String> = exclusion.words.iter().map(|word| quoted(word)).collect();
        format!("!({})", words.join(" & "))
    }))
}

fn all_of(conditions: impl Iterator<Item = String>) -> Option<String> {
    let conditions: Vec<String> = conditions.collect();
    (!conditions.is_empty()).then(|| conditions.join(" & "))
}

fn quoted(word: &str) -> String {
    let mut text = String::new();
    quote(word, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(query: &str, doc_freqs: &[(&str, u64)]) -> TextQuery {
        let doc_freqs = doc_freqs.iter().map(|(word, count)| (Box::from(*word), *count)).collect();
        let corpus = CorpusStats { products: 1_000_000, ..CorpusStats::default() };
        TextQuery::new(
            &QueryTerms::of(query),
            &doc_freqs,
            &corpus,
            &catalog::ranking::bm25f::BM25_PARAMS,
        )
    }

    #[test]
    fn a_few_matching_products_are_all_candidates() {
        let query = query("red sofa", &[("red", 300), ("sofa", 200)]);
        let tsqueries = [Some("(('sofa')) | (('red'))".to_owned()), None, None];
        let expected = CandidateQueries { tsqueries, is_complete: true };
        assert_eq!(query.candidate_queries(1000), expected);
        assert_eq!(query.words.len(), 2);
    }

    #[test]
    fn of_many_products_those_with_all_terms_come_first() {
        let doc_freqs = [("red", 90_000), ("sofa", 200), ("bed", 80_000)];
        let query = query("red sofa bed xyzzy", &doc_freqs);
        let tsqueries = [
            "(('red')) & (('sofa')) & (('bed'))",
            "((('sofa'))) & !((('red')) & (('sofa')) & (('bed')))",
            "(((('red'))) | ((('bed')))) & !((('red')) & (('sofa')) & (('bed'))) & !((('sofa')))",
        ]
        .map(|query| Some(query.to_owned()));
        let expected = CandidateQueries { tsqueries, is_complete: false };
        assert_eq!(query.candidate_queries(1000), expected);
    }

    #[test]
    fn without_known_words_there_are_no_queries() {
        let query = query("xyzzy", &[]);
        let expected = CandidateQueries { tsqueries: [None, None, None], is_complete: true };
        assert_eq!(query.candidate_queries(1000), expected);
        assert_eq!(query.all_terms(), None);
    }

    #[test]
    fn exclusions_become_necessary_and_sufficient_conditions() {
        let exclusion = |words: &[&str]| Exclusion {
            words: words.iter().map(|word| Box::from(*word)).collect(),
            span: 0..1,
            is_claim: false,
        };
        let exclusions = [exclusion(&["leather"]), exclusion(&["steel", "toe"])];
        let maybe = maybe_allowed(&exclusions).unwrap();
        assert!(maybe.starts_with("(!('leather') | 'no' | "), "{maybe}");
        assert!(maybe.contains("!((('steel' <-> 'toe') | ('steel' <2> 'toe')))"), "{maybe}");
        let surely = surely_allowed(&exclusions).unwrap();
        assert_eq!(surely, "!('leather') & !('steel' & 'toe')");
        assert_eq!(maybe_allowed(&[]), None);
    }
}
