//! The search for a hash in a sorted array. Hashes are spread evenly, so a hash is near the place that
//! it would have if they were spread exactly evenly: a binary search would read memory all over the
//! array first.

/// The first steps of the search.
const FIRST_STEP: usize = 8;

/// The number of hashes less than `wanted`, which is at this share of all possible hashes. Correct for
/// any sorted array.
pub(super) fn partition_point_near<T: Ord>(hashes: &[T], share: f64, wanted: &T) -> usize {
    let guess = ((hashes.len() as f64 * share) as usize).min(hashes.len());
    let (below, above) = hashes.split_at(guess);
    let mut step = FIRST_STEP;
    if above.first().is_some_and(|hash| hash < wanted) {
        while step < above.len() && above[step] < *wanted {
            step *= 2;
        }
        let to = step.min(above.len());
        return guess + above[..to].partition_point(|hash| hash < wanted);
    }
    while step < below.len() && below[below.len() - step] >= *wanted {
        step *= 2;
    }
    let from = below.len().saturating_sub(step);
    from + below[from..].partition_point(|hash| hash < wanted)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn the_place_is_that_of_a_binary_search(
            mut hashes in vec(any::<u16>(), 0..600),
            wanted: u16,
            share in 0.0..=1.0,
            is_even: bool,
        ) {
            hashes.sort_unstable();
            let share = if is_even { f64::from(wanted) / f64::from(u16::MAX) } else { share };
            let expected = hashes.partition_point(|hash| *hash < wanted);
            prop_assert_eq!(partition_point_near(&hashes, share, &wanted), expected);
        }
    }
}
