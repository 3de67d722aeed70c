//! Bootstrap confidence intervals of a mean.
//!
//! Resamples the values with replacement [`RESAMPLES`] times and takes the 2.5% and 97.5% quantiles
//! of the means. To compare two runs over the same queries, pass the per-query differences (a
//! paired bootstrap): the variance between queries then cancels out.

/// The number of resamples; more would change at most the third digit of a bound.
const RESAMPLES: usize = 2000;
/// The seed of the generator: fixed, so that the same values always have the same interval.
const SEED: u64 = 0x5eed_0f5a_1e5a_11e5;

/// A 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The lower bound.
    pub(crate) low: f64,
    /// The upper bound.
    pub(crate) high: f64,
}

/// The arithmetic mean; 0 for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The 95% confidence interval of the mean; `0..0` for no values.
pub(crate) fn mean_interval(values: &[f64]) -> Interval {
    if values.is_empty() {
        return Interval { low: 0.0, high: 0.0 };
    }
    let mut random = Random(SEED);
    let mut resampled_mean = || {
        let sum: f64 = (0..values.len()).map(|_| values[random.below(values.len())]).sum();
        sum / values.len() as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean()).collect();
    means.sort_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    Interval { low: means[tail], high: means[RESAMPLES - 1 - tail] }
}

/// The SplitMix64 generator; not cryptographically secure.
struct Random(u64);

impl Random {
    /// A uniform number below `end`, which must be greater than 0.
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

    /// `heads` ones followed by zeros, `count` values in all.
    fn coins(count: usize, heads: usize) -> Vec<f64> {
        (0..count).map(|coin| if coin < heads { 1.0 } else { 0.0 }).collect()
    }

    #[test]
    fn the_same_values_have_the_same_interval() {
        assert_eq!(mean_interval(&coins(86, 30)), mean_interval(&coins(86, 30)));
    }

    #[test]
    fn the_width_agrees_with_the_normal_approximation() {
        let Interval { low, high } = mean_interval(&coins(400, 100));
        // 1.96 standard errors of 0.25 with 400 coins.
        let expected = 1.96 * (0.25_f64 * 0.75 / 400.0).sqrt();
        assert!((0.25 - low - expected).abs() < 0.006, "{low}");
        assert!((high - 0.25 - expected).abs() < 0.006, "{high}");
    }

    #[test]
    fn the_coverage_is_about_95_percent() {
        let mut random = Random(7);
        let covered = (0..200)
            .filter(|_| {
                let sample: Vec<f64> =
                    (0..100).map(|_| f64::from(u8::from(random.below(10) < 3))).collect();
                let Interval { low, high } = mean_interval(&sample);
                (low..=high).contains(&0.3)
            })
            .count();
        assert!((180..=199).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn equal_values_have_an_empty_interval() {
        assert_eq!(mean_interval(&[0.5; 9]), Interval { low: 0.5, high: 0.5 });
        assert_eq!(mean_interval(&[]), Interval { low: 0.0, high: 0.0 });
        assert_eq!(mean(&[]), 0.0);
    }
}
