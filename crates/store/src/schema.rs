//! Schema versions, which both stores number alike: the first migration step creates the tables of
//! the first release, and each further one adds one to the version.

use super::StoreError;

/// The version of the first release. Programs from before it used 1 to 9, which nothing migrates.
const FIRST: usize = 10;

/// The version that these steps lead to.
pub(super) const fn latest(steps: &[&str]) -> usize {
    FIRST + steps.len() - 1
}

/// The steps that a database of version `found` lacks; 0 is one without tables.
pub(super) fn missing<'a>(steps: &'a [&'a str], found: usize) -> Result<&'a [&'a str], StoreError> {
    match found {
        0 => Ok(steps),
        1..FIRST => Err(StoreError::unreleased(found)),
        _ => steps.get(found - FIRST + 1..).ok_or_else(StoreError::too_new),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::StoreErrorKind, *};

    #[test]
    fn a_database_gets_the_steps_that_it_lacks() {
        let steps = ["tables", "column", "index"];
        assert_eq!(latest(&steps), 12);
        assert_eq!(missing(&steps, 0).unwrap(), steps);
        assert_eq!(missing(&steps, 10).unwrap(), ["column", "index"]);
        assert_eq!(missing(&steps, 11).unwrap(), ["index"]);
        assert!(missing(&steps, 12).unwrap().is_empty());
        let refused = |found| missing(&steps, found).unwrap_err().kind();
        assert_eq!([1, 9].map(refused), [StoreErrorKind::TooOld; 2]);
        assert_eq!([13, 1000].map(refused), [StoreErrorKind::TooNew; 2]);
    }
}
