//! The negation filter: which products say what the query excludes.
//!
//! Postings decide an exclusion of one word: the products with the word, without those that say it
//! only to deny it (see [`crate::segment::negation_term`]). For an exclusion of several
//! words, only the texts tell whether they are adjacent; the search verifies a bounded number of
//! them.

use catalog::query::parser::Exclusion;

use super::Conditions;
use crate::{
    bits::BitSet,
    plan::Plan,
    segment::{LiveSegment, Segment, negation_term},
};

/// The products of a segment that match the exclusions of a plan.
pub(crate) struct NegationMatches {
    /// Those that match an exclusion.
    pub(crate) matches: BitSet,
    /// Those that may match one, as far as they pass the other filters: their texts decide.
    pub(crate) maybe_matches: BitSet,
    /// Those that claim to be free of something that the query excludes, unless their texts match
    /// an exclusion.
    pub(crate) claims: BitSet,
}

impl NegationMatches {
    /// For each segment; empty for a plan without exclusions.
    pub(crate) fn of_segments(
        segments: &[LiveSegment],
        plan: &Plan<'_>,
        conditions: &Conditions<'_>,
    ) -> Vec<Self> {
        if plan.exclusions.is_empty() {
            return Vec::new();
        }
        let mut each: Vec<Self> = segments.iter().map(|live| Self::of(live, plan)).collect();
        // Texts of products that fail another filter need not be read.
        for (at, (live, found)) in segments.iter().zip(&mut each).enumerate() {
            let passing = found.maybe_matches.iter().filter(|doc| {
                live.is_visible(*doc, plan.visibility)
                    && conditions.admit(at, *doc, live.columns().price(*doc))
            });
            found.maybe_matches = BitSet::with(live.segment.len(), passing);
        }
        each
    }

    fn of(live: &LiveSegment, plan: &Plan<'_>) -> Self {
        let segment = &live.segment;
        let none = || BitSet::new(segment.len());
        let mut found = Self { matches: none(), maybe_matches: none(), claims: none() };
        for exclusion in plan.exclusions {
            if let Some(claiming) = exclusion.claim().and_then(|claim| with(segment, &claim)) {
                found.claims.union(&claiming);
            }
            let Some(mut having) = with_all(segment, exclusion) else { continue };
            // Those that negate what they say: exact for one word, a superset for several.
            let negating = match &*exclusion.words {
                [word] => with(segment, &negation_term(word)).unwrap_or_else(none),
                _ => {
                    let mut negating = with_any(segment, Exclusion::negators());
                    negating.intersect(&having);
                    negating
                }
            };
            if exclusion.is_claim {
                found.claims.union(&negating);
            }
            if exclusion.words.len() == 1 {
                having.subtract(&negating);
                found.matches.union(&having);
            } else {
                found.maybe_matches.union(&having);
            }
        }
        found.maybe_matches.subtract(&found.matches);
        found
    }
}

/// The products with all words of an exclusion.
fn with_all(segment: &Segment, exclusion: &Exclusion) -> Option<BitSet> {
    let mut words = exclusion.words.iter();
    let mut all = with(segment, words.next()?)?;
    for word in words {
        all.intersect(&with(segment, word)?);
    }
    Some(all)
}

/// The products with at least one of the terms.
fn with_any<'a>(segment: &Segment, terms: impl Iterator<Item = &'a str>) -> BitSet {
    let postings = terms.filter_map(|term| segment.postings_of(term));
    let docs = postings.flat_map(|postings| postings.docs);
    BitSet::with(segment.len(), docs.map(|doc| usize::from(*doc)))
}

/// The products with a term.
fn with(segment: &Segment, term: &str) -> Option<BitSet> {
    let docs = segment.postings_of(term)?.docs;
    Some(BitSet::with(segment.len(), docs.iter().map(|doc| usize::from(*doc))))
}
