//! Reads the labels of products.

use std::path::Path;

use anyhow::ensure;

use crate::judgments::read_columns;

/// The labelled attributes, in the order of their columns.
pub(super) const ATTRIBUTES: [&str; 5] = ["color", "material", "pattern", "audience", "size"];

/// The labelled attributes of all products.
pub(super) struct AttributeLabels(pub(super) Vec<LabelledAttributes>);

/// The labels of a product, by the position in [`ATTRIBUTES`].
pub(super) struct LabelledAttributes {
    pub(super) catalog: String,
    pub(super) product: String,
    pub(super) values: [Vec<Label>; ATTRIBUTES.len()],
}

/// A labelled value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) value: String,
    /// Debatable: counts neither for nor against.
    pub(super) is_debatable: bool,
    /// Stated only in the description.
    pub(super) is_in_description: bool,
}

/// The labelled categories of all products.
pub(super) struct CategoryLabels(pub(super) Vec<LabelledCategory>);

/// The categories that are acceptable for a product.
pub(super) struct LabelledCategory {
    pub(super) catalog: String,
    pub(super) product: String,
    pub(super) split: String,
    pub(super) acceptable: Vec<String>,
}

impl AttributeLabels {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let [color, material, pattern, audience, size] = ATTRIBUTES;
        let columns = ["catalog", "product", color, material, pattern, audience, size];
        let (rows, known) = read_columns(path, columns)?;
        ensure!(!known.contains(&false), "the first line must name {}", columns.join(", "));
        let labelled = |[catalog, product, values @ ..]: [String; 7]| LabelledAttributes {
            catalog,
            product,
            values: values.map(|cell| parse_labels(&cell)),
        };
        Ok(Self(rows.into_iter().map(labelled).collect()))
    }
}

impl CategoryLabels {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let columns = ["catalog", "product", "category", "split"];
        let (rows, known) = read_columns(path, columns)?;
        ensure!(!known.contains(&false), "the first line must name {}", columns.join(", "));
        let labelled = |[catalog, product, category, split]: [String; 4]| LabelledCategory {
            catalog,
            product,
            split,
            acceptable: category.split('|').map(str::to_owned).collect(),
        };
        Ok(Self(rows.into_iter().map(labelled).collect()))
    }
}

/// Parses the values of an attribute: `gold|brown@d?`.
pub(super) fn parse_labels(cell: &str) -> Vec<Label> {
    let values = cell.split('|').filter(|value| !value.is_empty());
    let label = |value: &str| {
        let (value, is_debatable) = without_suffix(value, "?");
        let (value, is_in_description) = without_suffix(value, "@d");
        Label { value: value.to_owned(), is_debatable, is_in_description }
    };
    values.map(label).collect()
}

/// Removes a suffix, and returns whether it was there.
fn without_suffix<'a>(text: &'a str, suffix: &str) -> (&'a str, bool) {
    text.strip_suffix(suffix).map_or((text, false), |rest| (rest, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_parsed() {
        let label = |value: &str, is_debatable, is_in_description| Label {
            value: value.into(),
            is_debatable,
            is_in_description,
        };
        assert_eq!(
            parse_labels("gold|brown@d?|faux fur@d|red?"),
            [
                label("gold", false, false),
                label("brown", true, true),
                label("faux fur", false, true),
                label("red", true, false),
            ]
        );
        assert_eq!(parse_labels(""), []);
    }
}
