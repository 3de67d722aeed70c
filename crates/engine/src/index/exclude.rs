//! Which products say what is not wanted? Of one word, postings tell: those of the word but for
//! those of its mark (see [`super::denied`]). Of several words, only the texts know whether a
//! product says them one behind the other; a bounded number of texts is read.

use std::collections::HashSet;

use catalog::{product::ProductId, query_parser::Exclusion};

use super::{
    bits::Bits, collect::First, denied::mark_of, live::LiveSegment, plan::Plan, segment::Segment,
};

/// The most texts that are read for one search. To read and cut one into words takes about 40 µs, so
/// that all of them take less than a twentieth of a second. Products in doubt beyond them are left
/// out: no result breaks a condition, and the total says that it may be too small.
pub(super) const MOST_READ: usize = 1_000;

/// The products of a segment that say something excluded, and those that may.
pub(super) struct Said {
    pub(super) surely: Bits,
    pub(super) perhaps: Bits,
    /// The products that, unless their texts break an exclusion, claim to be free of something
    /// that was asked for so.
    pub(super) claims: Bits,
}

/// What the products of each segment say, as far as they satisfy the plan's other conditions;
/// nothing at all for a plan without exclusions.
pub(super) fn said(segments: &[LiveSegment], plan: &Plan<'_>) -> Vec<Said> {
    if plan.exclusions.is_empty() {
        return Vec::new();
    }
    segments.iter().map(|live| Said::by(live, plan)).collect()
}

/// Turns what products may say into what they do say, and returns how many were left out unread.
/// `judge` is asked once, if there is any doubt, about the first products in the plan's order, and
/// returns those whose texts break an exclusion.
pub(super) fn judged<E>(
    segments: &[LiveSegment],
    plan: &Plan<'_>,
    said: &mut [Said],
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<usize, E> {
    let mut first = First::of(&Plan { offset: 0, limit: MOST_READ, ..plan.clone() });
    let mut in_doubt = 0;
    for (live, said) in segments.iter().zip(&mut *said) {
        for doc in said.perhaps.iter() {
            in_doubt += 1;
            first.offer(live, doc, 0.0);
        }
        // Those that are read and allowed are let in again.
        said.surely.add(&said.perhaps);
    }
    let read: Vec<ProductId> = first.into_page(0).iter().map(|hit| hit.product).collect();
    if read.is_empty() {
        return Ok(0);
    }
    let refused: HashSet<ProductId> = judge(&read)?.into_iter().collect();
    for id in read.iter().filter(|id| !refused.contains(*id)) {
        let mut places = segments.iter().zip(&mut *said);
        let place = places.find_map(|(live, said)| Some((said, live.find(*id)?)));
        if let Some((said, doc)) = place {
            said.surely.put(doc, false);
        }
    }
    Ok(in_doubt - read.len())
}

impl Said {
    fn by(live: &LiveSegment, plan: &Plan<'_>) -> Self {
        let segment = &live.segment;
        let none = || Bits::new(segment.len());
        let mut said = Self { surely: none(), perhaps: none(), claims: none() };
        for exclusion in plan.exclusions {
            if let Some(claiming) = exclusion.claim().and_then(|claim| with(segment, &claim)) {
                said.claims.add(&claiming);
            }
            let Some(mut having) = with_all(segment, exclusion) else { continue };
            // Those that deny what they say: by one word, exactly; by several, those that may.
            let denied = match &*exclusion.words {
                [word] => with(segment, &mark_of(word)).unwrap_or_else(none),
                _ => {
                    let mut denied = with_any(segment, Exclusion::negators());
                    denied.keep(&having);
                    denied
                }
            };
            if exclusion.is_claim {
                said.claims.add(&denied);
            }
            if exclusion.words.len() == 1 {
                having.remove(&denied);
                said.surely.add(&having);
            } else {
                said.perhaps.add(&having);
            }
        }
        said.perhaps.remove(&said.surely);
        // Texts are read only of what might be found.
        let found = said.perhaps.iter().filter(|doc| {
            live.is_seen(*doc, plan.visibility) && plan.admits(live.columns().price(*doc))
        });
        said.perhaps = Bits::with(segment.len(), found);
        said
    }
}

/// The products that have all words of an exclusion.
fn with_all(segment: &Segment, exclusion: &Exclusion) -> Option<Bits> {
    let mut words = exclusion.words.iter();
    let mut all = with(segment, words.next()?)?;
    for word in words {
        all.keep(&with(segment, word)?);
    }
    Some(all)
}

/// The products that have at least one of the words.
fn with_any<'a>(segment: &Segment, words: impl Iterator<Item = &'a str>) -> Bits {
    let found = words.filter_map(|word| segment.products_with(word));
    let docs = found.flat_map(|postings| postings.docs);
    Bits::with(segment.len(), docs.map(|doc| usize::from(*doc)))
}

fn with(segment: &Segment, word: &str) -> Option<Bits> {
    let docs = segment.products_with(word)?.docs;
    Some(Bits::with(segment.len(), docs.iter().map(|doc| usize::from(*doc))))
}
