//! The products that are labelled, and what is inferred of them.

use std::collections::HashMap;

/// The labels were made from so many characters of a description; what the rest states is unknown.
const DESCRIPTION_CHARS: usize = 400;

/// The texts of a product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The title, with single spaces.
    pub title: String,
    /// The start of the description that was labelled, with single spaces.
    pub description: String,
}

/// An attribute that was inferred, by its name, and one of its values.
pub type InferredAttribute = (String, String);

/// Where a product was placed in the taxonomy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The identifier of the category, such as `hg-12-3-1`.
    pub category: String,
    /// Whether the placement is certain enough to show it: a wrong one is a confident error.
    pub is_confident: bool,
}

/// The texts of the products, by catalog and name.
pub(super) type Products = HashMap<(String, String), Texts>;

impl Texts {
    /// The texts as they were labelled.
    pub(super) fn of(title: &str, description: &str) -> Self {
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = spaced(description).chars().take(DESCRIPTION_CHARS).collect();
        Self { title: spaced(title), description }
    }

    /// The title alone.
    pub(super) fn without_description(&self) -> Self {
        Self { title: self.title.clone(), description: String::new() }
    }
}

/// A fraction as a cell of a table; empty for nothing of nothing.
pub(super) fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => String::new(),
        _ => format!("{:.1}%", part as f64 / whole as f64 * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_that_were_labelled() {
        let texts = Texts::of("Red\n sofa", &"é ".repeat(300));
        assert_eq!((texts.title.as_str(), texts.description.chars().count()), ("Red sofa", 400));
        assert_eq!(texts.without_description().description, "");
    }

    #[test]
    fn shares_of_nothing_are_empty() {
        assert_eq!((share(1, 8), share(0, 0)), ("12.5%".to_owned(), String::new()));
    }
}
