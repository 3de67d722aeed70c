//! Numbers that lie near each other, such as the ids of products that were created in succession.

/// Numbers, each stored in four bytes as the difference from the least one (frame of reference); as
/// they are if that is too far away for one of them.
#[derive(Clone, Debug)]
pub(crate) enum NearNumbers {
    /// Each number is the sum of the least one and its difference.
    Differences {
        /// The least number when the differences were computed.
        least: u64,
        /// One for each number.
        differences: Box<[u32]>,
    },
    /// Each number as it is.
    Whole(Box<[u64]>),
}

impl NearNumbers {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Differences { differences, .. } => differences.len(),
            Self::Whole(numbers) => numbers.len(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        match self {
            Self::Differences { least, differences } => least + u64::from(differences[at]),
            Self::Whole(numbers) => numbers[at],
        }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Where a number is. Precondition: the numbers ascend.
    pub(crate) fn binary_search(&self, number: u64) -> Option<usize> {
        match self {
            Self::Differences { least, differences } => {
                differences.binary_search(&difference(number, *least)?).ok()
            }
            Self::Whole(numbers) => numbers.binary_search(&number).ok(),
        }
    }

    /// Replaces a number.
    pub(crate) fn set(&mut self, at: usize, number: u64) {
        match self {
            Self::Whole(numbers) => numbers[at] = number,
            Self::Differences { least, differences } => match difference(number, *least) {
                Some(difference) => differences[at] = difference,
                None => {
                    let mut numbers: Box<[u64]> = self.iter().collect();
                    numbers[at] = number;
                    *self = numbers.into();
                }
            },
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Differences { differences, .. } => size_of_val(&**differences),
            Self::Whole(numbers) => size_of_val(&**numbers),
        }
    }
}

impl From<Box<[u64]>> for NearNumbers {
    fn from(numbers: Box<[u64]>) -> Self {
        let least = numbers.iter().copied().min().unwrap_or(0);
        let differences = numbers.iter().map(|number| difference(*number, least));
        match differences.collect::<Option<_>>() {
            Some(differences) => Self::Differences { least, differences },
            None => Self::Whole(numbers),
        }
    }
}

fn difference(number: u64, least: u64) -> Option<u32> {
    number.checked_sub(least)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: u64 = 1 << 32;

    fn near(numbers: &[u64]) -> NearNumbers {
        Box::<[u64]>::from(numbers).into()
    }

    #[test]
    fn numbers_take_four_bytes_unless_they_are_far_apart() {
        for (numbers, bytes) in [
            (&[][..], 0),
            (&[u64::MAX], 4),
            (&[7, 9, 7 + FAR - 1], 12),
            (&[u64::MAX, u64::MAX - 3], 8),
            (&[7, 9, 7 + FAR], 24),
            (&[0, u64::MAX], 16),
        ] {
            let near = near(numbers);
            assert_eq!(near.iter().collect::<Vec<_>>(), numbers);
            assert_eq!((near.len(), near.memory_bytes()), (numbers.len(), bytes), "{numbers:?}");
            if numbers.is_sorted() {
                for number in [0, 6, 7, 8, 9, FAR, 6 + FAR, 7 + FAR, u64::MAX] {
                    let expected = numbers.iter().position(|one| *one == number);
                    assert_eq!(near.binary_search(number), expected, "{number} in {numbers:?}");
                }
            }
        }
    }

    #[test]
    fn any_number_can_be_replaced_by_any_other() {
        for (first, replaced, bytes) in [
            ([5, 6], [5, 4 + FAR], 8),
            ([5, 6], [5, 5 + FAR], 16),
            ([5, 6], [5, 3], 8),
            ([5, 5 + FAR], [5, 6], 16),
            ([5 + FAR, 6 + FAR], [5 + FAR, 3], 16),
        ] {
            let mut near = near(&first);
            near.set(1, replaced[1]);
            assert_eq!(near.iter().collect::<Vec<_>>(), replaced);
            assert_eq!(near.memory_bytes(), bytes, "{first:?} {replaced:?}");
        }
    }
}
