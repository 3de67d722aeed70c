//! Which segments should become one? Those of like size, once there are several.
//!
//! Sizes form geometric tiers, so that a product is copied about once per tier and the number
//! of segments grows with the logarithm of the number of products.

use super::segment::MAX_PRODUCTS;

/// When and how segments are merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// This many segments of one tier become one; each tier is this many times the one below.
    pub(super) fanout: usize,
    /// The largest number of products of a merged segment.
    pub(super) max_products: usize,
    /// A merge of no more postings than this is done at once by the writer.
    pub(super) inline_postings: usize,
}

/// The policy in force.
pub(super) const POLICY: Policy =
    Policy { fanout: 8, max_products: MAX_PRODUCTS, inline_postings: 32_768 };

/// A segment is rewritten when more than one in this many of its products is dead.
const REWRITE_WHEN_DEAD: usize = 4;
/// Smaller segments are merged soon enough to need no rewriting.
const MIN_REWRITTEN: usize = 64;

/// What the policy looks at in a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Products that count.
    pub(super) live: usize,
    /// Products that were deleted or replaced.
    pub(super) dead: usize,
    /// Postings of all of them.
    pub(super) postings: usize,
    /// Whether the segment is already being merged.
    pub(super) busy: bool,
}

/// Segments, by place, that should become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) sources: Vec<usize>,
    pub(super) inline: bool,
}

impl Policy {
    /// The next merge to be done by the writer itself.
    pub(super) fn next_inline(&self, shapes: &[Shape]) -> Option<Merge> {
        self.candidates(shapes).find(|merge| merge.inline)
    }

    /// The next merge to be done in the background.
    pub(super) fn next_background(&self, shapes: &[Shape]) -> Option<Merge> {
        self.candidates(shapes).find(|merge| !merge.inline)
    }

    fn candidates<'a>(&'a self, shapes: &'a [Shape]) -> impl Iterator<Item = Merge> + 'a {
        let rewrites = (0..shapes.len()).filter(|at| is_worn(&shapes[*at])).map(|at| vec![at]);
        let tiers =
            (0..=self.tier(self.max_products)).filter_map(|tier| self.full_tier(tier, shapes));
        tiers.chain(rewrites).map(|sources| {
            let postings: usize = sources.iter().map(|at| shapes[*at].postings).sum();
            Merge { inline: postings <= self.inline_postings, sources }
        })
    }

    /// The smallest segments of a tier, if it is full and at least two fit into one.
    fn full_tier(&self, tier: u32, shapes: &[Shape]) -> Option<Vec<usize>> {
        let mut members: Vec<usize> = (0..shapes.len())
            .filter(|at| !shapes[*at].busy && self.tier(shapes[*at].live) == tier)
            .collect();
        if members.len() < self.fanout {
            return None;
        }
        members.sort_by_key(|at| shapes[*at].live);
        let mut products = 0;
        let fitting = members.iter().take(self.fanout).take_while(|at| {
            products += shapes[**at].live;
            products <= self.max_products
        });
        let fitting = fitting.count();
        members.truncate(fitting);
        (members.len() > 1).then_some(members)
    }

    fn tier(&self, products: usize) -> u32 {
        products.max(1).ilog(self.fanout)
    }
}

fn is_worn(shape: &Shape) -> bool {
    let products = shape.live + shape.dead;
    !shape.busy && products >= MIN_REWRITTEN && shape.dead * REWRITE_WHEN_DEAD > products
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(live: usize) -> Shape {
        Shape { live, dead: 0, postings: live * 70, busy: false }
    }

    fn sources(shapes: &[Shape]) -> Option<Vec<usize>> {
        POLICY.candidates(shapes).next().map(|merge| merge.sources)
    }

    #[test]
    fn a_full_tier_is_merged() {
        assert_eq!(sources(&[shape(1); 7]), None);
        assert_eq!(sources(&[shape(1); 8]), Some((0..8).collect()));
        let mut mixed = vec![shape(1000)];
        mixed.extend([shape(3); 8]);
        assert_eq!(sources(&mixed), Some((1..9).collect()));
    }

    #[test]
    fn busy_segments_are_left_alone() {
        let busy = Shape { busy: true, ..shape(1) };
        assert_eq!(sources(&[busy; 20]), None);
    }

    #[test]
    fn merged_segments_do_not_outgrow_the_largest() {
        assert_eq!(sources(&[shape(30_000); 8]), Some(vec![0, 1]));
        assert_eq!(sources(&[shape(40_000); 20]), None);
    }

    #[test]
    fn worn_segments_are_rewritten() {
        assert_eq!(sources(&[Shape { dead: 21, ..shape(60_000) }]), None);
        assert_eq!(sources(&[Shape { dead: 21_000, ..shape(40_000) }]), Some(vec![0]));
    }

    #[test]
    fn small_merges_are_done_at_once_and_large_ones_in_the_background() {
        let mut shapes = vec![shape(5000); 8];
        assert_eq!(POLICY.next_inline(&shapes), None);
        shapes.extend([shape(2); 8]);
        assert_eq!(POLICY.next_inline(&shapes).map(|merge| merge.sources[0]), Some(8));
        assert_eq!(POLICY.next_background(&shapes).map(|merge| merge.sources[0]), Some(0));
    }

    #[test]
    fn one_product_at_a_time_leaves_logarithmically_many_segments() {
        let mut live: Vec<usize> = Vec::new();
        let mut most = 0;
        for _ in 0..100_000 {
            live.push(1);
            loop {
                let shapes: Vec<_> = live.iter().map(|live| shape(*live)).collect();
                let Some(sources) = sources(&shapes) else { break };
                let merged = sources.iter().map(|at| live[*at]).sum();
                live =
                    (0..live.len()).filter(|at| !sources.contains(at)).map(|at| live[at]).collect();
                live.push(merged);
            }
            most = most.max(live.len());
        }
        assert!(most <= 45, "{most} segments");
    }
}
