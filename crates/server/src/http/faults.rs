//! How many faults are listed? At most 100, with the number of the others: what a request may
//! cause to be said does not grow with the request.

use std::ops::Deref;

use super::{problem::Fault, wire::ElementFault};

/// The most faults that one response lists.
pub(crate) const MAX_LISTED: usize = 100;
/// The most characters of a field's name, or of its path, that a response repeats.
pub(crate) const MAX_FIELD_CHARS: usize = 120;
/// The most characters of the message of one fault.
pub(crate) const MAX_MESSAGE_CHARS: usize = 400;

/// The first faults, and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped<T> {
    listed: Vec<T>,
    omitted: usize,
}

/// What is wrong with a request.
pub type Faults = Capped<Fault>;

impl<T> Default for Capped<T> {
    fn default() -> Self {
        Self { listed: Vec::new(), omitted: 0 }
    }
}

impl<T> Capped<T> {
    pub(crate) fn push(&mut self, fault: T) {
        self.push_with(|| fault);
    }

    /// Adds a fault, which is made only if it is listed.
    pub(crate) fn push_with(&mut self, fault: impl FnOnce() -> T) {
        if self.listed.len() < MAX_LISTED {
            self.listed.push(fault());
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn append(&mut self, more: Self) {
        more.listed.into_iter().for_each(|fault| self.push(fault));
        self.omitted += more.omitted;
    }

    pub(crate) fn map<U>(self, change: impl FnMut(T) -> U) -> Capped<U> {
        Capped { listed: self.listed.into_iter().map(change).collect(), omitted: self.omitted }
    }

    /// How many there are beside those that are listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// How many there are in all.
    pub(crate) fn count(&self) -> usize {
        self.listed.len() + self.omitted
    }

    pub(crate) fn into_listed(self) -> Vec<T> {
        self.listed
    }
}

impl<T> Deref for Capped<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.listed
    }
}

impl<T> From<T> for Capped<T> {
    fn from(fault: T) -> Self {
        Self { listed: vec![fault], omitted: 0 }
    }
}

/// The faults of a bulk request's elements, by place in the request.
#[derive(Debug, Default)]
pub(crate) struct FaultyElements(Vec<FaultyElement>);

#[derive(Debug)]
struct FaultyElement {
    index: usize,
    faults: Capped<ElementFault>,
}

impl FaultyElements {
    /// Adds what is wrong with one element.
    pub(crate) fn add(&mut self, index: usize, faults: impl Into<Capped<ElementFault>>) {
        self.0.push(FaultyElement { index, faults: faults.into() });
    }

    /// At least one fault of every element and at most [`MAX_LISTED`] in all, and how many are
    /// left out. A request has at most as many elements as faults can be listed.
    pub(crate) fn finish(mut self) -> (Vec<ElementFault>, usize) {
        self.0.sort_by_key(|element| element.index);
        let mut spare = MAX_LISTED.saturating_sub(self.0.len());
        let (mut listed, mut omitted) = (Vec::new(), 0);
        for FaultyElement { faults, .. } in self.0 {
            let shown = faults.len().min(1 + spare);
            spare -= shown.saturating_sub(1);
            omitted += faults.count() - shown;
            listed.extend(faults.into_listed().into_iter().take(shown));
        }
        (listed, omitted)
    }
}

/// The beginning of a text, which says so where it is cut.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(count: usize) -> Faults {
        let mut faults = Faults::default();
        for n in 0..count {
            faults.push(Fault::new(n.to_string(), "required", "is required"));
        }
        faults
    }

    #[test]
    fn the_first_are_listed_and_the_others_counted() {
        for (count, listed, omitted) in [(0, 0, 0), (100, 100, 0), (101, 100, 1), (500, 100, 400)] {
            let faults = faults(count);
            assert_eq!((faults.len(), faults.omitted(), faults.count()), (listed, omitted, count));
        }
        let mut both = faults(60);
        both.append(faults(150));
        assert_eq!((both.len(), both.omitted()), (100, 110));
    }

    #[test]
    fn every_element_at_fault_is_named() {
        let listed = |counts: &[usize]| {
            let mut elements = FaultyElements::default();
            for (index, count) in counts.iter().enumerate().rev() {
                let element = |fault| ElementFault::new(index, None, fault);
                elements.add(index, faults(*count).map(element));
            }
            let (errors, omitted) = elements.finish();
            assert!(errors.is_sorted_by_key(|error| error.index));
            let of = |index| errors.iter().filter(|error| error.index == index).count();
            ((0..counts.len()).map(of).collect::<Vec<_>>(), omitted)
        };
        assert_eq!(listed(&[2, 1]), (vec![2, 1], 0));
        assert_eq!(listed(&[150, 1, 3]), (vec![98, 1, 1], 54));
        assert_eq!(listed(&[2; 100]), (vec![1; 100], 100));
        assert_eq!(listed(&[]), (vec![], 0));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("éé", 2), "éé");
        assert_eq!(cut("ééé", 2), "éé…");
    }
}
