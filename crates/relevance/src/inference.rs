//! Evaluation of the inference of attributes and categories on labelled products.
//!
//! The labels are those of the folder `judgments`; its README says how they were made. The inference
//! is passed as functions, so that this module knows nothing of how it works.

mod attribute_scores;
mod category_scores;
mod labels;
mod products;

use std::{
    collections::HashMap,
    io::{self, Write},
    path::PathBuf,
};

use anyhow::Context;
use clap::Args;

pub use self::products::{InferredAttribute, Placement, Texts};
use self::{
    attribute_scores::AttributeScores,
    category_scores::CategoryScores,
    labels::{AttributeLabels, CategoryLabels},
    products::Products,
};
use crate::{catalog_file::CatalogFile, in_file};

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

/// Parses `NAME=FILE`.
fn named_file(text: &str) -> anyhow::Result<(String, PathBuf)> {
    let (name, file) = text.split_once('=').context("it is no NAME=FILE")?;
    Ok((name.to_owned(), file.into()))
}
