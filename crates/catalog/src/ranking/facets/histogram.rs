//! Histograms: at most ten adjacent buckets of one round width.
//!
//! The width is 1, 2, 2.5 or 5 times a power of ten, the least that makes do with
//! [`MAX_BUCKETS`], and every edge is a multiple of it. A single value has one bucket without width.

use rust_decimal::{Decimal, prelude::ToPrimitive};

use super::Bucket;
use crate::product::{attributes::Number, price::MAX_DECIMALS};

/// The most buckets.
const MAX_BUCKETS: usize = 10;
/// Widths within a power of ten, times ten.
const STEPS: [i128; 4] = [10, 20, 25, 50];

/// The histogram of numbers with their frequencies.
pub(super) fn histogram_of_numbers(
    min: Number,
    max: Number,
    numbers: &[(Number, usize)],
) -> Vec<Bucket<f64>> {
    let (min, max) = (min.get(), max.get());
    let edges = number_edges(min, max).unwrap_or_else(|| vec![min, max]);
    fill(&edges, numbers.iter().map(|(number, count)| (number.get(), *count)))
}

/// The edges of buckets for numbers; `None` for a single one, or where they are too close for round
/// edges.
fn number_edges(min: f64, max: f64) -> Option<Vec<f64>> {
    // A tenth of each first: the difference of two numbers may not be finite.
    let tenth = max / 10.0 - min / 10.0;
    if tenth <= 0.0 {
        return None;
    }
    let exponent = tenth.log10().floor() as i32;
    let widths = (exponent - 1..=exponent + 1)
        .flat_map(|exponent| STEPS.into_iter().map(move |step| (step, exponent - 1)));
    let mut edges = widths.filter_map(|(step, exponent)| edges_of_width(min, max, step, exponent));
    edges.next()
}

/// The edges from at most `min` to at least `max` that are `step` times `10^exponent` apart; `None`
/// if these are too many, or too close to be told apart.
fn edges_of_width(min: f64, max: f64, step: i128, exponent: i32) -> Option<Vec<f64>> {
    // Parsing rounds correctly: the edge after 0.2 is 0.3.
    let edge = |multiple: i128| -> Option<f64> {
        let digits = multiple.checked_mul(step)?;
        let edge: f64 = format!("{digits}e{exponent}").parse().ok()?;
        Some(edge.clamp(f64::MIN, f64::MAX))
    };
    let mut first = (min / edge(1)?).floor().to_i128()?;
    while edge(first)? > min {
        first -= 1;
    }
    while edge(first + 1)? <= min {
        first += 1;
    }
    let mut edges = vec![edge(first)?];
    while *edges.last()? < max {
        if edges.len() > MAX_BUCKETS {
            return None;
        }
        first += 1;
        edges.push(edge(first)?);
    }
    edges.is_sorted_by(|one, next| one < next).then_some(edges)
}

/// The histogram of amounts, which have at most [`MAX_DECIMALS`] decimals. It is exact.
pub(super) fn histogram_of_amounts(
    min: Decimal,
    max: Decimal,
    amounts: &[Decimal],
) -> Vec<Bucket<Decimal>> {
    let edges = amount_edges(min, max).unwrap_or_else(|| vec![min, max]);
    fill(&edges, amounts.iter().map(|amount| (*amount, 1)))
}

/// The edges of buckets for amounts; `None` for a single amount.
fn amount_edges(min: Decimal, max: Decimal) -> Option<Vec<Decimal>> {
    // In tenths of the last decimal, so that every width is whole.
    let scale = MAX_DECIMALS as u32 + 1;
    let units = |amount: Decimal| {
        let more = scale.checked_sub(amount.scale())?;
        amount.mantissa().checked_mul(10_i128.checked_pow(more)?)
    };
    let (min, max) = (units(min)?, units(max)?);
    let widths =
        (0..30).flat_map(|power| STEPS.into_iter().map(move |step| step * 10_i128.pow(power)));
    let multiples = |width: i128| (min.div_euclid(width), -(-max).div_euclid(width));
    let mut fitting = widths.filter(|width| {
        let (first, last) = multiples(*width);
        last - first <= MAX_BUCKETS as i128
    });
    let width = fitting.next().filter(|_| min < max)?;
    let (first, last) = multiples(width);
    let edge =
        |at: i128| Some(Decimal::try_from_i128_with_scale(at * width, scale).ok()?.normalize());
    (first..=last).map(edge).collect()
}

/// Counts values into the buckets between these edges, which contain all of them.
fn fill<T: Copy + PartialOrd>(
    edges: &[T],
    values: impl Iterator<Item = (T, usize)>,
) -> Vec<Bucket<T>> {
    let pairs = edges.iter().zip(&edges[1..]);
    let mut buckets: Vec<Bucket<T>> =
        pairs.map(|(from, to)| Bucket { from: *from, to: *to, count: 0 }).collect();
    let starts = &edges[1..edges.len() - 1];
    for (value, count) in values {
        buckets[starts.partition_point(|start| *start <= value)].count += count;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(value: f64) -> Number {
        Number::new(value).unwrap()
    }

    fn of_numbers(values: &[f64]) -> Vec<Bucket<f64>> {
        let numbers: Vec<_> = values.iter().map(|value| (number(*value), 1)).collect();
        let all = || numbers.iter().map(|(number, _)| *number);
        histogram_of_numbers(all().min().unwrap(), all().max().unwrap(), &numbers)
    }

    fn of_amounts(amounts: &[Decimal]) -> Vec<Bucket<Decimal>> {
        let (min, max) = (*amounts.iter().min().unwrap(), *amounts.iter().max().unwrap());
        histogram_of_amounts(min, max, amounts)
    }

    fn shown<T: ToString>(buckets: &[Bucket<T>]) -> String {
        let one = |bucket: &Bucket<T>| {
            format!("{}-{}:{}", bucket.from.to_string(), bucket.to.to_string(), bucket.count)
        };
        buckets.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn widths_are_round_and_empty_buckets_are_kept() {
        assert_eq!(
            shown(&of_numbers(&[0.1, 0.25, 0.31])),
            "0.1-0.125:1 0.125-0.15:0 0.15-0.175:0 0.175-0.2:0 0.2-0.225:0 0.225-0.25:0 0.25-0.275:1 0.275-0.3:0 0.3-0.325:1"
        );
        assert_eq!(
            shown(&of_numbers(&[36.0, 40.0, 41.0, 46.0])),
            "36-37:1 37-38:0 38-39:0 39-40:0 40-41:1 41-42:1 42-43:0 43-44:0 44-45:0 45-46:1"
        );
        assert_eq!(shown(&of_numbers(&[7.5, 7.5])), "7.5-7.5:2");
        assert_eq!(
            shown(&of_numbers(&[-3.0, 0.0])),
            "-3--2.5:1 -2.5--2:0 -2--1.5:0 -1.5--1:0 -1--0.5:0 -0.5-0:1"
        );
    }

    #[test]
    fn amounts_are_exact() {
        let amounts = |all: &[&str]| all.iter().map(|one| one.parse().unwrap()).collect::<Vec<_>>();
        assert_eq!(
            shown(&of_amounts(&amounts(&["19.99", "20", "99.99"]))),
            "10-20:1 20-30:1 30-40:0 40-50:0 50-60:0 60-70:0 70-80:0 80-90:0 90-100:1"
        );
        assert_eq!(shown(&of_amounts(&amounts(&["5.00", "5"]))), "5.00-5:2");
        assert_eq!(shown(&of_amounts(&amounts(&["0", "0.00000001"]))), "0-0.00000001:2");
        let most = &of_amounts(&amounts(&["0.00000001", "999999999999999.99999999"]));
        assert_eq!(most.len(), 10);
    }

    #[test]
    fn extreme_numbers_have_finite_edges() {
        for values in [[f64::MIN, f64::MAX], [0.0, 5e-324], [1e300, 1.0000000000000002e300]] {
            let buckets = of_numbers(&values);
            assert!(buckets.iter().all(|one| one.from.is_finite() && one.to.is_finite()));
            assert_eq!(buckets.iter().map(|one| one.count).sum::<usize>(), 2, "{values:?}");
        }
    }

    fn check<T: PartialOrd + Copy + std::fmt::Debug>(buckets: &[Bucket<T>], values: &[T]) {
        assert!((1..=MAX_BUCKETS).contains(&buckets.len()), "{buckets:?}");
        assert!(buckets.windows(2).all(|pair| pair[0].to == pair[1].from));
        for (at, bucket) in buckets.iter().enumerate() {
            let is_last = at + 1 == buckets.len();
            let is_inside = |value: &&T| {
                bucket.from <= **value && (**value < bucket.to || is_last && **value == bucket.to)
            };
            assert_eq!(values.iter().filter(is_inside).count(), bucket.count, "{buckets:?}");
        }
        assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<usize>(), values.len());
    }

    proptest! {
        #[test]
        fn every_value_is_in_its_bucket(
            numbers in prop::collection::vec(
                prop_oneof![-1e3_f64..1e3, (-50_i32..50).prop_map(f64::from), any::<f64>()],
                1..30,
            ),
            amounts in prop::collection::vec((0_i64..100_000, 0_u32..=8), 1..30),
        ) {
            let numbers: Vec<f64> =
                numbers.into_iter().filter(|one| one.is_finite()).map(|one| one + 0.0).collect();
            if !numbers.is_empty() {
                check(&of_numbers(&numbers), &numbers);
            }
            let amounts: Vec<Decimal> =
                amounts.into_iter().map(|(digits, scale)| Decimal::new(digits, scale)).collect();
            check(&of_amounts(&amounts), &amounts);
        }
    }
}
