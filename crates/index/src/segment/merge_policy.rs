//! The tiered merge policy: which segments are merged, and when.
//!
//! Sizes form geometric tiers, and a full tier is merged into the next. A product is copied about
//! once per tier, and the number of segments grows with the logarithm of the number of products.
//!
//! A search looks every term up in every segment. When no product is written for a while, segments
//! are therefore compacted: merged until each is much larger than all smaller ones together. Then
//! those are rewritten whose products are no longer in the order of their cells, because their vectors
//! changed: a search can skip fewer of their blocks.

use super::MAX_PRODUCTS;

/// When and how segments are merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergePolicy {
    /// A tier is full at this number of segments; the next tier holds segments this many times as
    /// large.
    pub(crate) fanout: usize,
    /// The most products of a merged segment.
    pub(crate) max_products: usize,
    /// The writer itself does merges of at most this many postings.
    pub(crate) inline_postings: usize,
    /// The least products of a segment that is rewritten to put them in order.
    pub(crate) ordered_products: usize,
}

/// The policy in force.
pub(crate) const MERGE_POLICY: MergePolicy = MergePolicy {
    fanout: 8,
    max_products: MAX_PRODUCTS,
    inline_postings: 32_768,
    ordered_products: 4_096,
};

/// A compaction includes a segment of at most this many times the products of all smaller ones. Each
/// time a product is copied, its segment grows by at least the reciprocal.
const COMPACTED_RATIO: usize = 2;

/// A segment is rewritten if more than one in this many of its products is deleted.
const REWRITE_WHEN_DELETED: usize = 4;
/// Smaller segments are not rewritten: they are merged soon enough.
const MIN_REWRITTEN: usize = 64;

/// A segment is rewritten if more than one in this many of its products is out of order: two in a
/// block. While all products get new vectors, which takes 10 ms each, it is rewritten as many times.
const REORDER_WHEN_DISORDERED: usize = 32;

/// The size of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentSize {
    /// Live products.
    pub(crate) live: usize,
    /// Deleted or replaced products.
    pub(crate) deleted: usize,
    /// Postings of all products.
    pub(crate) postings: usize,
    /// Products that are of a lower cell than the product before.
    pub(crate) disordered: usize,
    /// Whether the segment is being merged.
    pub(crate) busy: bool,
}

/// A merge to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergePlan {
    /// Indexes of the segments.
    pub(crate) sources: Vec<usize>,
    /// Whether the writer does it itself.
    pub(crate) inline: bool,
}

impl MergePolicy {
    /// The next merge to be done by the writer itself.
    pub(crate) fn next_inline(&self, sizes: &[SegmentSize]) -> Option<MergePlan> {
        self.candidates(sizes).find(|merge| merge.inline)
    }

    /// The next merge to be done in the background.
    pub(crate) fn next_background(&self, sizes: &[SegmentSize]) -> Option<MergePlan> {
        self.candidates(sizes).find(|merge| !merge.inline)
    }

    /// The segments that the next compaction merges.
    pub(crate) fn next_compaction(&self, sizes: &[SegmentSize]) -> Option<Vec<usize>> {
        let mut ascending: Vec<usize> = (0..sizes.len()).filter(|at| !sizes[*at].busy).collect();
        ascending.sort_by_key(|at| sizes[*at].live);
        let (mut products, mut sources) = (0, 0);
        for (smaller, at) in ascending.iter().enumerate() {
            let live = sizes[*at].live;
            if products + live > self.max_products {
                break;
            }
            if smaller > 0 && live <= COMPACTED_RATIO * products {
                sources = smaller + 1;
            }
            products += live;
        }
        if sources > 1 {
            ascending.truncate(sources);
            return Some(ascending);
        }
        ascending.into_iter().find(|at| self.needs_order(&sizes[*at])).map(|at| vec![at])
    }

    fn needs_order(&self, size: &SegmentSize) -> bool {
        size.live >= self.ordered_products && size.disordered * REORDER_WHEN_DISORDERED > size.live
    }

    fn candidates<'a>(&'a self, sizes: &'a [SegmentSize]) -> impl Iterator<Item = MergePlan> + 'a {
        let rewrites = (0..sizes.len()).filter(|at| needs_rewrite(&sizes[*at])).map(|at| vec![at]);
        let tiers =
            (0..=self.tier(self.max_products)).filter_map(|tier| self.full_tier(tier, sizes));
        tiers.chain(rewrites).map(|sources| {
            let postings: usize = sources.iter().map(|at| sizes[*at].postings).sum();
            MergePlan { inline: postings <= self.inline_postings, sources }
        })
    }

    /// The smallest segments of a tier, if it is full and at least two fit into one.
    fn full_tier(&self, tier: u32, sizes: &[SegmentSize]) -> Option<Vec<usize>> {
        let mut members: Vec<usize> = (0..sizes.len())
            .filter(|at| !sizes[*at].busy && self.tier(sizes[*at].live) == tier)
            .collect();
        if members.len() < self.fanout {
            return None;
        }
        members.sort_by_key(|at| sizes[*at].live);
        let mut products = 0;
        let fitting = members.iter().take(self.fanout).take_while(|at| {
            products += sizes[**at].live;
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

fn needs_rewrite(size: &SegmentSize) -> bool {
    let products = size.live + size.deleted;
    !size.busy && products >= MIN_REWRITTEN && size.deleted * REWRITE_WHEN_DELETED > products
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(live: usize) -> SegmentSize {
        SegmentSize { live, deleted: 0, postings: live * 70, disordered: 0, busy: false }
    }

    fn sources(sizes: &[SegmentSize]) -> Option<Vec<usize>> {
        MERGE_POLICY.candidates(sizes).next().map(|merge| merge.sources)
    }

    #[test]
    fn a_full_tier_is_merged() {
        assert_eq!(sources(&[size(1); 7]), None);
        assert_eq!(sources(&[size(1); 8]), Some((0..8).collect()));
        let mut mixed = vec![size(1000)];
        mixed.extend([size(3); 8]);
        assert_eq!(sources(&mixed), Some((1..9).collect()));
    }

    #[test]
    fn busy_segments_are_left_alone() {
        let busy = SegmentSize { busy: true, ..size(1) };
        assert_eq!(sources(&[busy; 20]), None);
    }

    #[test]
    fn merged_segments_do_not_outgrow_the_largest() {
        assert_eq!(sources(&[size(30_000); 8]), Some(vec![0, 1]));
        assert_eq!(sources(&[size(40_000); 20]), None);
    }

    #[test]
    fn segments_with_many_deletions_are_rewritten() {
        assert_eq!(sources(&[SegmentSize { deleted: 21, ..size(60_000) }]), None);
        assert_eq!(sources(&[SegmentSize { deleted: 21_000, ..size(40_000) }]), Some(vec![0]));
    }

    #[test]
    fn small_merges_are_inline_and_large_ones_in_the_background() {
        let mut sizes = vec![size(5000); 8];
        assert_eq!(MERGE_POLICY.next_inline(&sizes), None);
        sizes.extend([size(2); 8]);
        assert_eq!(MERGE_POLICY.next_inline(&sizes).map(|merge| merge.sources[0]), Some(8));
        assert_eq!(MERGE_POLICY.next_background(&sizes).map(|merge| merge.sources[0]), Some(0));
    }

    #[test]
    fn a_compaction_leaves_few_segments_and_does_not_copy_large_ones_for_small() {
        let compacted = |live: &[usize]| {
            let sizes: Vec<_> = live.iter().map(|live| size(*live)).collect();
            MERGE_POLICY.next_compaction(&sizes)
        };
        assert_eq!(compacted(&[]), None);
        assert_eq!(compacted(&[5]), None);
        assert_eq!(compacted(&[5, 5]), Some(vec![0, 1]));
        assert_eq!(compacted(&[9000, 10, 10]), Some(vec![1, 2]));
        assert_eq!(compacted(&[9000, 20]), None);
        assert_eq!(compacted(&[51_200, 6400, 6400, 800, 800]), Some(vec![3, 4, 1, 2]));
        assert_eq!(compacted(&[51_200, 48_800]), None, "more than a segment can hold");
        let busy = SegmentSize { busy: true, ..size(5) };
        assert_eq!(MERGE_POLICY.next_compaction(&[busy, size(5)]), None);
    }

    #[test]
    fn a_large_segment_whose_products_are_out_of_order_is_rewritten_last() {
        let disordered = |live: usize, disordered| SegmentSize { disordered, ..size(live) };
        let rewritten = |sizes: &[SegmentSize]| MERGE_POLICY.next_compaction(sizes);
        assert_eq!(rewritten(&[disordered(64_000, 2_000)]), None);
        assert_eq!(rewritten(&[size(5_000), disordered(64_000, 2_001)]), Some(vec![1]));
        assert_eq!(rewritten(&[disordered(64_000, 2_001), size(5), size(5)]), Some(vec![1, 2]));
        assert_eq!(rewritten(&[disordered(4_000, 2_001)]), None, "too small to matter");
        let busy = SegmentSize { busy: true, ..disordered(64_000, 64_000) };
        assert_eq!(rewritten(&[busy]), None);
    }

    #[test]
    fn one_product_at_a_time_leaves_logarithmically_many_segments() {
        let mut live: Vec<usize> = Vec::new();
        let mut most = 0;
        for _ in 0..100_000 {
            live.push(1);
            loop {
                let sizes: Vec<_> = live.iter().map(|live| size(*live)).collect();
                let Some(sources) = sources(&sizes) else { break };
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
