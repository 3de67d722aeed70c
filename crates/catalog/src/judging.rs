//! How good is a ranking, by the grades that people gave its products?
//!
//! A ranking is given as the grades of its products, best place first; a product that nobody
//! judged has the grade 0. The measures are the usual ones, so that numbers can be compared with
//! those of others.

mod interval;

pub use interval::{Interval, mean, mean_interval};

/// Normalised discounted cumulative gain of the first `cut` places: 1 for the best order there
/// could be of all that was judged, less for every better product that is further down or missing.
///
/// A product of grade `g` is worth `2^g - 1`, divided by `log2(place + 1)`. Where nothing judged is
/// worth anything, no ranking can be good: 0.
pub fn ndcg(ranked: &[f64], judged: &[f64], cut: usize) -> f64 {
    let mut best = judged.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal = gain(&best, cut);
    if ideal > 0.0 { gain(ranked, cut) / ideal } else { 0.0 }
}

fn gain(grades: &[f64], cut: usize) -> f64 {
    let discounts = (2_u32..).map(|place| f64::from(place).log2());
    let worth = |grade: &f64| grade.exp2() - 1.0;
    grades.iter().take(cut).zip(discounts).map(|(grade, discount)| worth(grade) / discount).sum()
}

/// The share of the first `cut` places that hold a product of at least this grade. An empty place
/// holds none.
pub fn precision(ranked: &[f64], relevant_from: f64, cut: usize) -> f64 {
    count_from(&ranked[..cut.min(ranked.len())], relevant_from) / cut.max(1) as f64
}

/// Like [`precision`], of the places that are not empty: showing little is no fault, showing
/// nothing is.
pub fn precision_of_shown(ranked: &[f64], relevant_from: f64, cut: usize) -> f64 {
    precision(ranked, relevant_from, cut.min(ranked.len()))
}

/// The share of the products judged to be of at least this grade that the ranking holds; `None`
/// where there are none.
pub fn recall(ranked: &[f64], judged: &[f64], relevant_from: f64) -> Option<f64> {
    let relevant = count_from(judged, relevant_from);
    (relevant > 0.0).then(|| count_from(ranked, relevant_from) / relevant)
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
    fn the_best_order_is_worth_one_and_none_other() {
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
    fn what_is_beyond_the_cut_does_not_count() {
        check(ndcg(&[0.0, 0.0, 3.0], &[3.0], 2), 0.0);
        // Nor can more be asked for than fits.
        check(ndcg(&[1.0, 1.0], &[1.0; 7], 2), 1.0);
    }

    #[test]
    fn without_anything_worth_finding_no_ranking_is_good() {
        check(ndcg(&[0.0], &[0.0, 0.0], 10), 0.0);
        assert_eq!(recall(&[0.0], &[0.0], 1.0), None);
    }

    #[test]
    fn an_empty_place_holds_no_relevant_product() {
        check(precision(&[1.0, 2.0, 0.0], 1.0, 5), 0.4);
        check(precision(&[1.0, 0.67, 1.0], 1.0, 2), 0.5);
        check(precision_of_shown(&[1.0, 2.0, 0.0], 1.0, 5), 2.0 / 3.0);
        check(precision_of_shown(&[1.0; 9], 1.0, 5), 1.0);
        check(precision_of_shown(&[], 1.0, 5), 0.0);
    }

    #[test]
    fn recall_is_of_the_relevant_alone() {
        assert_eq!(recall(&[2.0, 0.0], &[2.0, 1.0, 0.5, 1.0, 1.0], 1.0), Some(0.25));
    }

    proptest! {
        #[test]
        fn swapping_a_better_product_up_never_hurts(
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
