//! Retrieval metrics of one ranking: NDCG, precision, recall, composition and contradictions.
//!
//! A ranking is given as the grades of its products, best rank first; an unjudged product has
//! grade 0.

mod interval;

pub(crate) use interval::{Interval, mean, mean_interval};

/// The grade of a product that contradicts the query. For all other metrics it counts as 0.
pub(crate) const CONTRADICTION: f64 = -1.0;

/// Normalised discounted cumulative gain at rank `cut`: the DCG of the ranking divided by the DCG of
/// the ideal order of all judged products.
///
/// The gain of grade `g` at rank `r`, from 1, is `(2^g - 1) / log2(r + 1)`. The result is 0 where
/// the ideal DCG is 0.
pub(crate) fn ndcg(ranked: &[f64], judged: &[f64], cut: usize) -> f64 {
    let mut best = judged.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal = dcg(&best, cut);
    if ideal > 0.0 { dcg(ranked, cut) / ideal } else { 0.0 }
}

fn dcg(grades: &[f64], cut: usize) -> f64 {
    let discounts = (2_u32..).map(|rank| f64::from(rank).log2());
    let gain_of = |grade: &f64| grade.max(0.0).exp2() - 1.0;
    grades.iter().take(cut).zip(discounts).map(|(grade, discount)| gain_of(grade) / discount).sum()
}

/// The fraction of the first `cut` ranks with a product of at least grade `relevant_from`. A
/// ranking shorter than `cut` counts its missing ranks as not relevant.
pub(crate) fn precision(ranked: &[f64], relevant_from: f64, cut: usize) -> f64 {
    count_from(&ranked[..cut.min(ranked.len())], relevant_from) / cut.max(1) as f64
}

/// Like [`precision`], but over the products shown only: a short ranking is not penalised, an empty
/// one has precision 0.
pub(crate) fn precision_of_shown(ranked: &[f64], relevant_from: f64, cut: usize) -> f64 {
    precision(ranked, relevant_from, cut.min(ranked.len()))
}

/// The fraction of the products judged at least `relevant_from` that the ranking contains; `None`
/// where there are none.
pub(crate) fn recall(ranked: &[f64], judged: &[f64], relevant_from: f64) -> Option<f64> {
    let relevant = count_from(judged, relevant_from);
    (relevant > 0.0).then(|| count_from(ranked, relevant_from) / relevant)
}

/// The relevant products among the first `cut`, relative to the most that could be there: `cut`, or
/// all relevant ones if there are fewer. `None` where there are none.
pub(crate) fn composition(
    ranked: &[f64],
    judged: &[f64],
    relevant_from: f64,
    cut: usize,
) -> Option<f64> {
    let available = count_from(judged, relevant_from).min(cut as f64);
    let found = || count_from(&ranked[..cut.min(ranked.len())], relevant_from);
    (available > 0.0).then(|| found() / available)
}

/// The fraction of the first `cut` products shown that contradict the query; 0 for an empty ranking,
/// `None` where no judged product contradicts it.
pub(crate) fn contradictions(ranked: &[f64], judged: &[f64], cut: usize) -> Option<f64> {
    let first = &ranked[..cut.min(ranked.len())];
    let count = |grades: &[f64]| grades.iter().filter(|grade| **grade == CONTRADICTION).count();
    (count(judged) > 0).then(|| count(first) as f64 / first.len().max(1) as f64)
}

fn count_from(grades: &[f64], least: f64) -> f64 {
    grades.iter().filter(|grade| **grade >= least).count() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn the_ideal_order_alone_has_ndcg_one() {
        check(ndcg(&[3.0, 2.0, 0.0], &[0.0, 2.0, 3.0], 10), 1.0);
        // (3 + 7 / log2 3) / (7 + 3 / log2 3)
        check(ndcg(&[2.0, 3.0], &[2.0, 3.0], 10), 0.833_991);
        check(ndcg(&[0.0, 1.0], &[1.0], 10), 1.0 / 3_f64.log2());
        check(ndcg(&[], &[1.0], 10), 0.0);
    }

    #[test]
    fn grades_may_be_fractions() {
        check(ndcg(&[1.0, 5.0 / 3.0], &[5.0 / 3.0, 1.0], 10), 0.845_465);
    }

    #[test]
    fn ranks_beyond_the_cut_do_not_count() {
        check(ndcg(&[0.0, 0.0, 3.0], &[3.0], 2), 0.0);
        // The ideal DCG is cut at the same rank.
        check(ndcg(&[1.0, 1.0], &[1.0; 7], 2), 1.0);
    }

    #[test]
    fn without_relevant_products_ndcg_is_zero_and_recall_undefined() {
        check(ndcg(&[0.0], &[0.0, 0.0], 10), 0.0);
        assert_eq!(recall(&[0.0], &[0.0], 1.0), None);
    }

    #[test]
    fn missing_ranks_count_against_precision_only() {
        check(precision(&[1.0, 2.0, 0.0], 1.0, 5), 0.4);
        check(precision(&[1.0, 0.67, 1.0], 1.0, 2), 0.5);
        check(precision_of_shown(&[1.0, 2.0, 0.0], 1.0, 5), 2.0 / 3.0);
        check(precision_of_shown(&[1.0; 9], 1.0, 5), 1.0);
        check(precision_of_shown(&[], 1.0, 5), 0.0);
    }

    #[test]
    fn recall_counts_relevant_products_only() {
        assert_eq!(recall(&[2.0, 0.0], &[2.0, 1.0, 0.5, 1.0, 1.0], 1.0), Some(0.25));
    }

    #[test]
    fn composition_is_relative_to_what_is_available() {
        assert_eq!(composition(&[2.0, 1.0, 2.0], &[2.0, 2.0, 1.0, 2.0], 2.0, 5), Some(2.0 / 3.0));
        assert_eq!(composition(&[2.0; 9], &[2.0; 9], 2.0, 5), Some(1.0));
        assert_eq!(composition(&[], &[2.0], 2.0, 5), Some(0.0));
        assert_eq!(composition(&[1.0], &[1.0, -1.0], 2.0, 5), None);
    }

    #[test]
    fn contradictions_are_counted_among_the_first_shown() {
        assert_eq!(contradictions(&[2.0, -1.0, 0.0, -1.0], &[-1.0; 4], 5), Some(0.5));
        assert_eq!(contradictions(&[2.0, 1.0, -1.0], &[-1.0], 2), Some(0.0));
        assert_eq!(contradictions(&[], &[-1.0], 5), Some(0.0));
        assert_eq!(contradictions(&[1.0], &[1.0, 0.0], 5), None);
    }

    #[test]
    fn a_contradiction_has_no_gain() {
        check(ndcg(&[-1.0, 1.0], &[1.0, -1.0], 10), 1.0 / 3_f64.log2());
        check(precision(&[-1.0, 1.0], 1.0, 2), 0.5);
    }

    proptest! {
        #[test]
        fn moving_a_better_product_up_never_lowers_ndcg(
            grades in prop::collection::vec(0_u8..4, 2..20),
            pair in any::<[prop::sample::Index; 2]>(),
            cut in 1_usize..12,
        ) {
            let mut ranked: Vec<f64> = grades.iter().map(|grade| f64::from(*grade)).collect();
            let judged = ranked.clone();
            let [a, b] = pair.map(|index| index.index(ranked.len()));
            let (upper, lower) = (a.min(b), a.max(b));
            let before = ndcg(&ranked, &judged, cut);
            if ranked[lower] > ranked[upper] {
                ranked.swap(upper, lower);
            }
            let after = ndcg(&ranked, &judged, cut);
            prop_assert!(after >= before - 1e-12 && (0.0..=1.0 + 1e-12).contains(&after));
        }
    }
}
