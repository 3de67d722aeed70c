//! Which products say what is not wanted? Most are told by their words alone; of the others,
//! whose words may stand in another order or be denied, the texts decide.

use catalog::{product::ProductId, understanding::Exclusion};

use super::{
    bits::Bits,
    live::LiveSegment,
    plan::{Plan, Wanted},
    segment::Segment,
};

/// The products of each segment that break an exclusion of the plan, as far as they match it
/// otherwise; no bits at all if it has none. `judge` is asked once, if there is any doubt, and
/// returns those of the products whose texts break one.
pub(super) fn barred<E>(
    segments: &[LiveSegment],
    plan: &Plan<'_>,
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Vec<Bits>, E> {
    if plan.exclusions.is_empty() {
        return Ok(Vec::new());
    }
    let mut barred = Vec::with_capacity(segments.len());
    let mut in_doubt = Vec::new();
    for live in segments {
        let said = Said::by(live, plan);
        in_doubt.extend(said.perhaps.iter().map(|doc| live.segment.ids[doc]));
        barred.push(said.surely);
    }
    if !in_doubt.is_empty() {
        for id in judge(&in_doubt)? {
            let place = segments.iter().zip(&mut barred).find_map(|(live, barred)| {
                let doc = live.segment.find(id).filter(|doc| !live.is_dead(*doc))?;
                Some((barred, doc))
            });
            if let Some((barred, doc)) = place {
                barred.set(doc);
            }
        }
    }
    Ok(barred)
}

/// The products of a segment that say something excluded, and those that may.
struct Said {
    surely: Bits,
    perhaps: Bits,
}

impl Said {
    fn by(live: &LiveSegment, plan: &Plan<'_>) -> Self {
        let segment = &live.segment;
        let denials = with_any(segment, Exclusion::denials());
        let mut said = Self { surely: Bits::new(segment.len()), perhaps: Bits::new(segment.len()) };
        for exclusion in plan.exclusions {
            let Some(having) = with_all(segment, exclusion) else { continue };
            if exclusion.words.len() == 1 {
                let mut undenied = having.clone();
                undenied.remove(&denials);
                said.surely.add(&undenied);
            }
            said.perhaps.add(&having);
        }
        said.perhaps.remove(&said.surely);
        // Texts are read only of what would be found.
        if let Wanted::Words(words) = &plan.wanted {
            said.perhaps.keep(&with_any(segment, words.iter()));
        }
        let found = said
            .perhaps
            .iter()
            .filter(|doc| live.is_seen(*doc, plan.sight) && plan.admits(segment.prices[*doc]));
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
