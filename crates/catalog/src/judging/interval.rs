//! How sure is a mean of few queries? Other queries of the same kind would have given another.
//!
//! The bootstrap: draw as many queries as there are, with repetition, many times over, and see
//! where the means fall. For two runs over the same queries, give it the differences query by
//! query: queries that are hard for both then do not blur the comparison.

/// Draws of a whole set of queries; more would change the third digit of a bound at the most.
const DRAWS: usize = 2000;
/// Where to begin drawing: fixed, so that the same values always have the same interval.
const SEED: u64 = 0x5eed_0f5a_1e5a_11e5;

/// Where the mean lies, with 95% confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The mean, or 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Where the mean of such values lies, with 95% confidence.
pub fn mean_interval(values: &[f64]) -> Interval {
    if values.is_empty() {
        return Interval { low: 0.0, high: 0.0 };
    }
    let mut random = Random(SEED);
    let mut draw = || {
        let sum: f64 = (0..values.len()).map(|_| values[random.below(values.len())]).sum();
        sum / values.len() as f64
    };
    let mut means: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    means.sort_by(f64::total_cmp);
    let beyond = DRAWS / 40;
    Interval { low: means[beyond], high: means[DRAWS - 1 - beyond] }
}

/// SplitMix64: good enough to draw with, never for secrets.
struct Random(u64);

impl Random {
    /// A number below `end`, which is greater than 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * end as u128) >> u64::BITS) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many coins, of which a share shows heads.
    fn coins(count: usize, heads: usize) -> Vec<f64> {
        (0..count).map(|coin| if coin < heads { 1.0 } else { 0.0 }).collect()
    }

    #[test]
    fn the_same_values_have_the_same_interval() {
        assert_eq!(mean_interval(&coins(86, 30)), mean_interval(&coins(86, 30)));
    }

    #[test]
    fn it_is_as_wide_as_theory_says() {
        let Interval { low, high } = mean_interval(&coins(400, 100));
        // 1.96 standard errors of 0.25 with 400 coins.
        let expected = 1.96 * (0.25_f64 * 0.75 / 400.0).sqrt();
        assert!((0.25 - low - expected).abs() < 0.006, "{low}");
        assert!((high - 0.25 - expected).abs() < 0.006, "{high}");
    }

    #[test]
    fn it_holds_the_truth_about_as_often_as_it_says() {
        let mut random = Random(7);
        let held = (0..200)
            .filter(|_| {
                let sample: Vec<f64> =
                    (0..100).map(|_| f64::from(u8::from(random.below(10) < 3))).collect();
                let Interval { low, high } = mean_interval(&sample);
                (low..=high).contains(&0.3)
            })
            .count();
        assert!((180..=199).contains(&held), "{held} of 200");
    }

    #[test]
    fn values_that_agree_leave_no_doubt() {
        assert_eq!(mean_interval(&[0.5; 9]), Interval { low: 0.5, high: 0.5 });
        assert_eq!(mean_interval(&[]), Interval { low: 0.0, high: 0.0 });
        assert_eq!(mean(&[]), 0.0);
    }
}
