//! Which products say what is not wanted? Most are told by their words alone; of the others,
//! whose words may stand in another order or be denied, the texts decide.

use catalog::{product::ProductId, understanding::Exclusion};

use super::{bits::Bits, live::LiveSegment, plan::Plan, segment::Segment};

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

/// Turns what products may say into what they do say. `judge` is asked once, if there is any
/// doubt, and returns those of the products whose texts break an exclusion.
pub(super) fn judged<E>(
    segments: &[LiveSegment],
    said: &mut [Said],
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<(), E> {
    let in_doubt: Vec<ProductId> = segments
        .iter()
        .zip(&*said)
        .flat_map(|(live, said)| said.perhaps.iter().map(|doc| live.segment.ids[doc]))
        .collect();
    if in_doubt.is_empty() {
        return Ok(());
    }
    for id in judge(&in_doubt)? {
        let mut places = segments.iter().zip(&mut *said);
        let place = places.find_map(|(live, said)| Some((said, live.find(id)?)));
        if let Some((said, doc)) = place {
            said.surely.set(doc);
        }
    }
    Ok(())
}

impl Said {
    fn by(live: &LiveSegment, plan: &Plan<'_>) -> Self {
        let segment = &live.segment;
        let denials = with_any(segment, Exclusion::denials());
        let none = || Bits::new(segment.len());
        let mut said = Self { surely: none(), perhaps: none(), claims: none() };
        for exclusion in plan.exclusions {
            if let Some(claiming) = exclusion.claim().and_then(|claim| with(segment, &claim)) {
                said.claims.add(&claiming);
            }
            let Some(having) = with_all(segment, exclusion) else { continue };
            if exclusion.words.len() == 1 {
                let mut undenied = having.clone();
                undenied.remove(&denials);
                said.surely.add(&undenied);
            }
            if exclusion.is_claim {
                // Those that say the word and are found deny it, which takes such a word.
                let mut denying = having.clone();
                denying.keep(&denials);
                said.claims.add(&denying);
            }
            said.perhaps.add(&having);
        }
        said.perhaps.remove(&said.surely);
        // Texts are read only of what might be found.
        let found = said.perhaps.iter().filter(|doc| {
            live.is_seen(*doc, plan.sight) && plan.admits(live.columns().price(*doc))
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
