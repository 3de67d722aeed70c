//! Evaluation of the inference of attributes and categories on labelled products.
//!
//! The labels are those of the folder `judgments`; its README says how they were made. The inference
//! is passed as functions, so that this module knows nothing of how it works.

mod attribute_scores;
mod category_scores;
mod labels;

use std::{
    collections::HashMap,
    io::{self, Write},
    path::PathBuf,
};

use anyhow::Context;
use clap::Args;

use self::{
    attribute_scores::AttributeScores,
    category_scores::CategoryScores,
    labels::{AttributeLabels, CategoryLabels},
};
use crate::{catalog_file::CatalogFile, in_file};

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

/// Which labels and catalogs to evaluate on.
#[derive(Args)]
pub struct InferenceOptions {
    /// Folder with attributes.tsv and categories.tsv
    #[arg(long, value_name = "FOLDER", default_value = "judgments")]
    labels: PathBuf,
    /// Catalog of the labels, as for `shopkeeper eval`, by its name in the labels; others are left out
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file, required = true)]
    catalog: Vec<(String, PathBuf)>,
    /// Number of wrong values and wrong categories to show
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    errors: usize,
}

/// The texts of the products, by catalog and name.
type Products = HashMap<(String, String), Texts>;

impl InferenceOptions {
    /// Evaluates both functions and prints the report to standard output.
    pub fn run(
        &self,
        attributes: impl Fn(&Texts) -> Vec<InferredAttribute>,
        category: impl Fn(&Texts) -> Option<Placement>,
    ) -> anyhow::Result<()> {
        let products = self.products()?;
        let mut out = io::stdout().lock();
        let file = self.labels.join("attributes.tsv");
        let labels = AttributeLabels::read(&file).with_context(|| in_file(&file))?;
        let scores = AttributeScores::measure(&labels, &products, &attributes);
        write!(out, "{scores}")?;
        scores.write_errors(&mut out, self.errors)?;
        let file = self.labels.join("categories.tsv");
        let labels = CategoryLabels::read(&file).with_context(|| in_file(&file))?;
        let scores = CategoryScores::measure(&labels, &products, &category);
        write!(out, "\n{scores}")?;
        scores.write_errors(&mut out, self.errors)?;
        Ok(())
    }

    fn products(&self) -> anyhow::Result<Products> {
        let mut products = HashMap::new();
        for (name, path) in &self.catalog {
            let catalog = CatalogFile::read(path).with_context(|| in_file(path))?;
            for listed in catalog.products {
                let texts =
                    Texts::of(listed.draft.title.as_str(), listed.draft.description.as_str());
                products.insert((name.clone(), listed.name), texts);
            }
        }
        Ok(products)
    }
}

impl Texts {
    /// The texts as they were labelled.
    fn of(title: &str, description: &str) -> Self {
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = spaced(description).chars().take(DESCRIPTION_CHARS).collect();
        Self { title: spaced(title), description }
    }

    /// The title alone.
    fn without_description(&self) -> Self {
        Self { title: self.title.clone(), description: String::new() }
    }
}

/// Parses `NAME=FILE`.
fn named_file(text: &str) -> anyhow::Result<(String, PathBuf)> {
    let (name, file) = text.split_once('=').context("it is no NAME=FILE")?;
    Ok((name.to_owned(), file.into()))
}

/// A fraction as a cell of a table; empty for nothing of nothing.
fn share(part: usize, whole: usize) -> String {
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
