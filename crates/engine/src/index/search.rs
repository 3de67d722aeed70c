//! Which products say the words of a query, and which of them say it best?
//!
//! Every product with at least one of the words is scored: totals are exact and pages stable.

use catalog::ranking::{Corpus, Hit};

use super::{
    bits::Bits,
    collect::{Collector, Source},
    lexical,
    live::LiveSegment,
    plan::{Plan, Wanted},
};

/// A page of matching products.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// The number of products that match, on this page or not.
    pub total: usize,
    /// The products of the page, best first.
    pub hits: Vec<Hit>,
}

/// The products that satisfy a plan, in its order and from its `offset`. `barred` has the
/// products of each segment that break an exclusion, or is empty if there are none.
pub(super) fn search(
    segments: &[LiveSegment],
    corpus: &Corpus,
    plan: &Plan<'_>,
    barred: &[Bits],
) -> Matches {
    let sources =
        segments.iter().enumerate().map(|(at, live)| Source { live, barred: barred.get(at) });
    let mut collector = Collector::new(plan);
    match &plan.wanted {
        Wanted::Anything => sources.rev().for_each(|source| collector.collect_all(source)),
        Wanted::Words(words) => lexical::score(segments, corpus, words, sources, &mut collector),
    }
    collector.into_matches()
}
