//! How is the database asked for words? As text search queries over our own words.

use std::collections::HashMap;

use catalog::{
    analysis::{Alternative, QueryTerms},
    query_parser::Exclusion,
    ranking::{Bm25Params, CorpusStats},
};

use crate::store::{Weighed, quote};

/// Longer phrases are left to the texts.
const LONGEST_PHRASE: usize = 3;

/// What is asked for, as far as products of the shop say it.
#[derive(Debug, Default)]
pub(super) struct Asked {
    terms: Vec<AskedTerm>,
    /// The words, for comparing products that say some of them.
    pub(super) weighed: Vec<Weighed>,
}

#[derive(Debug)]
struct AskedTerm {
    query: String,
    /// How many products say it, at the most.
    products: u64,
}

/// Which products to compare by their words, group after group until there are enough.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) queries: Vec<String>,
    /// Whether the first group holds every product that says anything that is asked for.
    pub(super) is_all: bool,
}

impl Asked {
    /// What a query asks for in a shop where so many products say its words.
    pub(super) fn of(
        words: &QueryTerms,
        counts: &HashMap<Box<str>, u64>,
        corpus: &CorpusStats,
        weights: &Bm25Params,
    ) -> Self {
        let products = |word: &str| counts.get(word).copied().unwrap_or(0);
        let mut asked = Self::default();
        for term in words.terms() {
            let ways = term.alternatives.iter().filter_map(|way| way_of(way, &products));
            let ways: Vec<(String, u64)> = ways.collect();
            if ways.is_empty() {
                continue;
            }
            let queries: Vec<&str> = ways.iter().map(|(query, _)| &**query).collect();
            asked.terms.push(AskedTerm {
                query: format!("({})", queries.join(" | ")),
                products: ways.iter().map(|(_, products)| products).sum(),
            });
            let whole = if term.corrected { weights.correction_weight } else { 1.0 };
            for way in &term.alternatives {
                for word in way.words.iter().filter(|word| products(word) > 0) {
                    asked.weighed.push(Weighed {
                        word: quoted(word),
                        rarity: whole * way.weight * weights.term_weight(corpus, products(word)),
                    });
                }
            }
        }
        asked
    }

    /// A query for products that say everything.
    pub(super) fn everything(&self) -> Option<String> {
        let all: Vec<&str> = self.terms.iter().map(|term| &*term.query).collect();
        (!all.is_empty()).then(|| all.join(" & "))
    }

    /// Groups of products, the best first, where about so many can be compared.
    pub(super) fn groups(&self, looked_at: u64) -> Groups {
        let mut terms: Vec<&AskedTerm> = self.terms.iter().collect();
        terms.sort_by_key(|term| term.products);
        let any = |terms: &[&AskedTerm]| {
            terms.iter().map(|term| &*term.query).collect::<Vec<_>>().join(" | ")
        };
        let mut sum = 0_u64;
        let fits = |term: &&&AskedTerm| {
            sum = sum.saturating_add(term.products);
            sum <= looked_at
        };
        let rare = terms.iter().take_while(fits).count();
        if rare == terms.len() {
            let queries = Vec::from_iter((!terms.is_empty()).then(|| any(&terms)));
            return Groups { queries, is_all: true };
        }
        // Too many products say some of it: first those that say all of it, then those with its
        // rare words, then those with most of its common ones.
        let mut queries = Vec::new();
        if terms.len() > 1 {
            queries.extend(self.everything());
        }
        if rare > 0 {
            queries.push(any(&terms[..rare]));
        }
        let common = &terms[rare..];
        let all_but = |left_out: usize| {
            let others = common.iter().enumerate().filter(|(at, _)| *at != left_out);
            let others: Vec<&str> = others.map(|(_, term)| &*term.query).collect();
            format!("({})", others.join(" & "))
        };
        if common.len() > 1 {
            queries.push((0..common.len()).map(all_but).collect::<Vec<_>>().join(" | "));
        } else {
            queries.push(any(common));
        }
        queries.dedup();
        Groups { queries, is_all: false }
    }
}

/// A way to say a thing as products of the shop say it, and by how many.
fn way_of(way: &Alternative, products: &impl Fn(&str) -> u64) -> Option<(String, u64)> {
    let known: Vec<&str> =
        way.words.iter().map(|word| &**word).filter(|word| products(word) > 0).collect();
    let is_known = if way.all { known.len() == way.words.len() } else { !known.is_empty() };
    let counts = known.iter().map(|word| products(word));
    let (sign, count) = match way.all {
        true => (" & ", counts.min().unwrap_or(0)),
        false => (" | ", counts.sum()),
    };
    let words: Vec<String> = known.iter().map(|word| quoted(word)).collect();
    is_known.then(|| (format!("({})", words.join(sign)), count))
}

/// A query for products that say a word and any of others.
pub(super) fn both(word: &str, others: &[&str]) -> String {
    let others: Vec<String> = others.iter().map(|other| quoted(other)).collect();
    format!("{} & ({})", quoted(word), others.join(" | "))
}

/// A query that all products satisfy but those that surely say what is excluded; of the others,
/// the texts decide. None where nothing is.
pub(super) fn perhaps_allowed(exclusions: &[Exclusion]) -> Option<String> {
    let denials: Vec<String> = Exclusion::negators().map(quoted).collect();
    let denials = denials.join(" | ");
    let allowed = exclusions.iter().filter_map(|exclusion| {
        let (first, others) = exclusion.words.split_first()?;
        if others.len() >= LONGEST_PHRASE {
            return None;
        }
        // A product may say one other word in between.
        let phrase = others.iter().fold(quoted(first), |said, next| {
            let next = quoted(next);
            format!("(({said} <-> {next}) | ({said} <2> {next}))")
        });
        Some(format!("(!({phrase}) | {denials})"))
    });
    joined(allowed)
}

/// A query that only products satisfy that do not say what is excluded.
pub(super) fn surely_allowed(exclusions: &[Exclusion]) -> Option<String> {
    let allowed = exclusions.iter().filter(|exclusion| !exclusion.words.is_empty());
    joined(allowed.map(|exclusion| {
        let words: Vec<String> = exclusion.words.iter().map(|word| quoted(word)).collect();
        format!("!({})", words.join(" & "))
    }))
}

fn joined(parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(" & "))
}

fn quoted(word: &str) -> String {
    let mut text = String::new();
    quote(word, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str, counts: &[(&str, u64)]) -> Asked {
        let counts = counts.iter().map(|(word, count)| (Box::from(*word), *count)).collect();
        let corpus = CorpusStats { products: 1_000_000, ..CorpusStats::default() };
        Asked::of(&QueryTerms::of(query), &counts, &corpus, &catalog::ranking::BM25_PARAMS)
    }

    #[test]
    fn few_products_are_all_compared() {
        let asked = asked("red sofa", &[("red", 300), ("sofa", 200)]);
        let queries = vec!["(('sofa')) | (('red'))".to_owned()];
        assert_eq!(asked.groups(1000), Groups { queries, is_all: true });
        assert_eq!(asked.weighed.len(), 2);
    }

    #[test]
    fn of_many_products_those_that_say_all_come_first() {
        let counts = [("red", 90_000), ("sofa", 200), ("bed", 80_000)];
        let asked = asked("red sofa bed xyzzy", &counts);
        let queries: Vec<_> =
            ["(('red')) & (('sofa')) & (('bed'))", "(('sofa'))", "((('red'))) | ((('bed')))"]
                .map(str::to_owned)
                .into();
        assert_eq!(asked.groups(1000), Groups { queries, is_all: false });
    }

    #[test]
    fn a_shop_that_says_none_of_it_is_not_asked() {
        let asked = asked("xyzzy", &[]);
        assert_eq!(asked.groups(1000), Groups { queries: vec![], is_all: true });
        assert_eq!(asked.everything(), None);
    }

    #[test]
    fn exclusions_are_told_as_far_as_words_can() {
        let exclusion = |words: &[&str]| Exclusion {
            words: words.iter().map(|word| Box::from(*word)).collect(),
            span: 0..1,
            is_claim: false,
        };
        let said = [exclusion(&["leather"]), exclusion(&["steel", "toe"])];
        let perhaps = perhaps_allowed(&said).unwrap();
        assert!(perhaps.starts_with("(!('leather') | 'no' | "), "{perhaps}");
        assert!(perhaps.contains("!((('steel' <-> 'toe') | ('steel' <2> 'toe')))"), "{perhaps}");
        assert_eq!(surely_allowed(&said).unwrap(), "!('leather') & !('steel' & 'toe')");
        assert_eq!(perhaps_allowed(&[]), None);
    }
}
