//! Validation errors of a request, capped at 100 in one response: the size of a response does not
//! grow with the size of the request.

use std::ops::Deref;

use engine::writes::Refusal;
use serde::Serialize;
use store::LimitExceeded;
use utoipa::ToSchema;

use super::codes;

/// The most errors that one response lists; the others are counted.
pub(crate) const MAX_LISTED: usize = 100;
/// The most characters of a field's name or path that a response repeats.
pub(crate) const MAX_FIELD_CHARS: usize = 120;
/// The most characters in the message of one error.
pub(crate) const MAX_MESSAGE_CHARS: usize = 400;

/// One thing that is wrong with a request. Names and messages are cut where they are long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Fault, example = json!({"field": "price", "code": "invalid_price",
    "message": "has no currency; write it with a sign or a code, such as $19.99"}))]
pub struct ValidationError {
    /// The field at fault, as a path into the request; absent where the whole is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
    /// What is wrong, for programs.
    #[schema(schema_with = codes::code_field)]
    pub code: &'static str,
    /// What is wrong, for people.
    pub message: String,
}

impl ValidationError {
    pub(crate) fn new(
        field: impl Into<String>,
        code: &'static str,
        message: impl ToString,
    ) -> Self {
        let field = truncate(&field.into(), MAX_FIELD_CHARS);
        Self { field: Some(field), ..Self::of_whole(code, message) }
    }

    /// The error of a product that is valid and that the store refused.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self::of_whole("not_found", "there is no such product"),
            Refusal::Changed => Self::of_whole("precondition_failed", "the product has changed"),
            Refusal::KeyTaken(holder) => {
                Self::new("key", "conflict", format_args!("product {holder} has this key"))
            }
            Refusal::LimitExceeded(limit @ LimitExceeded::AttributeNames) => {
                Self::new("attributes", "attribute_names_exhausted", limit)
            }
            Refusal::LimitExceeded(
                limit @ (LimitExceeded::Products { .. } | LimitExceeded::Bytes { .. }),
            ) => Self::of_whole("quota_exhausted", limit),
        }
    }

    /// An error of the request as a whole.
    pub(crate) fn of_whole(code: &'static str, message: impl ToString) -> Self {
        debug_assert!(codes::is_explained(code), "{code} has no explanation");
        Self { field: None, code, message: truncate(&message.to_string(), MAX_MESSAGE_CHARS) }
    }
}

/// One thing that is wrong with one element of a bulk request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = ElementFault)]
pub struct ElementError {
    /// The element's place in the request, from 0.
    pub index: usize,
    /// The product's id, in a bulk update.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub id: Option<u64>,
    /// The product's key, in an upsert.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub key: Option<String>,
    /// What is wrong, for programs.
    #[schema(schema_with = codes::code_field)]
    pub code: &'static str,
    /// What is wrong, for people.
    pub message: String,
    /// The field at fault, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
}

impl ElementError {
    pub(crate) fn new(index: usize, id: Option<u64>, error: ValidationError) -> Self {
        let ValidationError { field, code, message } = error;
        Self { index, id, key: None, code, message, field }
    }

    /// The error of an element that is valid and that the store refused.
    pub(crate) fn refused(index: usize, id: Option<u64>, refusal: Refusal) -> Self {
        Self::new(index, id, ValidationError::refused(refusal))
    }
}

/// The first [`MAX_LISTED`] errors, and the number of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped<T> {
    listed: Vec<T>,
    omitted: usize,
}

/// The validation errors of a request.
pub type ValidationErrors = Capped<ValidationError>;

impl<T> Default for Capped<T> {
    fn default() -> Self {
        Self { listed: Vec::new(), omitted: 0 }
    }
}

impl<T> Capped<T> {
    pub(crate) fn push(&mut self, error: T) {
        self.push_with(|| error);
    }

    /// Adds an error, which is built only if it is listed.
    pub(crate) fn push_with(&mut self, error: impl FnOnce() -> T) {
        if self.listed.len() < MAX_LISTED {
            self.listed.push(error());
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn append(&mut self, more: Self) {
        more.listed.into_iter().for_each(|error| self.push(error));
        self.omitted += more.omitted;
    }

    pub(crate) fn map<U>(self, change: impl FnMut(T) -> U) -> Capped<U> {
        Capped { listed: self.listed.into_iter().map(change).collect(), omitted: self.omitted }
    }

    /// The number of errors that are not listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The number of all errors, listed or not.
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
    fn from(error: T) -> Self {
        Self { listed: vec![error], omitted: 0 }
    }
}

/// The errors of a bulk request's elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementErrors(Vec<InvalidElement>);

#[derive(Clone, Debug)]
struct InvalidElement {
    index: usize,
    errors: Capped<ElementError>,
}

impl ElementErrors {
    /// Adds the errors of the element at `index`.
    pub(crate) fn add(&mut self, index: usize, errors: impl Into<Capped<ElementError>>) {
        self.0.push(InvalidElement { index, errors: errors.into() });
    }

    /// At least one error of every invalid element and at most [`MAX_LISTED`] in all, in the order
    /// of the request, and the number of the others. A request has at most [`MAX_LISTED`] elements.
    pub(crate) fn finish(mut self) -> (Vec<ElementError>, usize) {
        self.0.sort_by_key(|element| element.index);
        let mut spare = MAX_LISTED.saturating_sub(self.0.len());
        let (mut listed, mut omitted) = (Vec::new(), 0);
        for InvalidElement { errors, .. } in self.0 {
            let shown = errors.len().min(1 + spare);
            spare -= shown.saturating_sub(1);
            omitted += errors.count() - shown;
            listed.extend(errors.into_listed().into_iter().take(shown));
        }
        (listed, omitted)
    }
}

/// The first `max_chars` characters of a text, with an ellipsis where it was longer.
pub(crate) fn truncate(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(count: usize) -> ValidationErrors {
        let mut errors = ValidationErrors::default();
        for n in 0..count {
            errors.push(ValidationError::new(n.to_string(), "required", "is required"));
        }
        errors
    }

    #[test]
    fn the_first_are_listed_and_the_others_counted() {
        for (count, listed, omitted) in [(0, 0, 0), (100, 100, 0), (101, 100, 1), (500, 100, 400)] {
            let errors = errors(count);
            assert_eq!((errors.len(), errors.omitted(), errors.count()), (listed, omitted, count));
        }
        let mut both = errors(60);
        both.append(errors(150));
        assert_eq!((both.len(), both.omitted()), (100, 110));
    }

    #[test]
    fn every_invalid_element_is_listed() {
        let listed = |counts: &[usize]| {
            let mut elements = ElementErrors::default();
            for (index, count) in counts.iter().enumerate().rev() {
                let element = |error| ElementError::new(index, None, error);
                elements.add(index, errors(*count).map(element));
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
    fn a_text_is_truncated_between_characters() {
        assert_eq!(truncate("éé", 2), "éé");
        assert_eq!(truncate("ééé", 2), "éé…");
    }
}
