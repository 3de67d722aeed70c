//! The candidates of the second stage with their evidence: tries other parameters of that stage
//! without another search.

use catalog::{
    explanation::Explanation,
    reranking::{Evidence, QueryEvidence, RelativeCutoff, RerankParams, Reranker},
    tuning::Tuning,
};

/// The results of one query, before the second stage drops and orders them.
pub(crate) struct Candidates {
    query: QueryEvidence,
    /// By product id, as ties are.
    evidence: Vec<Evidence>,
    /// For each of them.
    details: Vec<Details>,
    /// The grades of all other results, in their order.
    rest: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Details {
    grade: f64,
    /// Products with a greater one come first, whatever their score.
    tier: u8,
    /// Whether it is relevant whatever its score.
    is_certain: bool,
}

/// The parameters of the search that finds all candidates: nothing is cut off.
pub(crate) fn without_cutoff(mut tuning: Tuning) -> Tuning {
    tuning.rerank.cutoff = RelativeCutoff { literal: 0.0, semantic: 0.0, foreign: 0.0 };
    tuning
}

impl Candidates {
    /// From the explained results of a search [`without_cutoff`], each with its id and its grade,
    /// best first.
    pub(crate) fn of<'a>(found: impl Iterator<Item = (u64, f64, Option<&'a Explanation>)>) -> Self {
        let mut considered = Vec::new();
        let mut rest = Vec::new();
        for (id, grade, explanation) in found {
            match explanation.and_then(|one| Some((one, one.rerank?))) {
                Some((explanation, part)) => {
                    considered.push((id, part, Details::of(explanation, grade)));
                }
                None => rest.push(grade),
            }
        }
        considered.sort_by_key(|(id, ..)| *id);
        Self {
            query: considered.first().map(|(_, part, _)| part.query).unwrap_or_default(),
            evidence: considered.iter().map(|(_, part, _)| part.evidence).collect(),
            details: considered.iter().map(|(.., details)| *details).collect(),
            rest,
        }
    }

    /// The grades of the results with these parameters, best first.
    ///
    /// Exact for the first ten: a search has results beyond the candidates only if it has more than
    /// ten relevant ones among them.
    pub(crate) fn ranked(&self, params: &RerankParams) -> Vec<f64> {
        let Self { query, evidence, details, rest } = self;
        let reranker = Reranker::new(params, query);
        let certain: Vec<bool> = details.iter().map(|one| one.is_certain).collect();
        let relevant = reranker.are_relevant(evidence, &certain);
        let scored = evidence.iter().zip(details).zip(relevant).filter(|(_, relevant)| *relevant);
        let mut scored: Vec<(u8, f32, f64)> = scored
            .map(|((evidence, one), _)| (one.tier, reranker.score(evidence), one.grade))
            .collect();
        scored.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
        scored.into_iter().map(|(.., grade)| grade).chain(rest.iter().copied()).collect()
    }
}

impl Details {
    fn of(explanation: &Explanation, grade: f64) -> Self {
        let is_exact = explanation.lexical.bonuses.iter().any(|one| one.name == "exact_title");
        let (key, claims) = (explanation.key, explanation.claims);
        let tier = u8::from(key) << 2 | u8::from(claims) << 1 | u8::from(is_exact);
        Self { grade, tier, is_certain: is_exact || key }
    }
}

#[cfg(test)]
mod tests {
    use catalog::{
        explanation::{Bonus, LexicalPart, RerankPart},
        reranking::{Contributions, RERANK_PARAMS},
    };

    use super::*;

    fn explained(lexical: f32, is_exact: bool) -> Explanation {
        let evidence = Evidence { lexical, ..Evidence::default() };
        let bonus = Bonus { name: "exact_title", score: 0.0 };
        let bonuses = if is_exact { vec![bonus] } else { Vec::new() };
        let part = LexicalPart { matched: 0.0, score: 0.0, weight: 1.0, terms: vec![], bonuses };
        let (query, contributions) = (QueryEvidence::default(), Contributions::default());
        let rerank = RerankPart { query, evidence, contributions, semantic_weight: 0.0 };
        let (claims, key) = (false, false);
        Explanation { score: 0.0, lexical: part, dense: None, rerank: Some(rerank), claims, key }
    }

    #[test]
    fn candidates_are_ranked_and_cut_off_by_other_parameters() {
        let of = [
            (4, 0.5, explained(0.9, false)),
            (3, 0.25, explained(0.9, false)),
            (2, 2.0, explained(1.0, false)),
            (5, -1.0, explained(0.1, false)),
            (1, 3.0, explained(0.05, true)),
        ];
        let found = of.iter().map(|(id, grade, one)| (*id, *grade, Some(one)));
        let candidates = Candidates::of(found.chain([(9, 7.0, None)]));
        // The exact title, by score, ties by id, then what the second stage did not consider.
        assert_eq!(candidates.ranked(&RERANK_PARAMS), [3.0, 2.0, 0.25, 0.5, 7.0]);
        let all = without_cutoff(catalog::tuning::TUNING).rerank;
        assert_eq!(candidates.ranked(&all), [3.0, 2.0, 0.25, 0.5, -1.0, 7.0]);
    }
}
