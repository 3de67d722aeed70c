//! Measures the inference of attributes and categories on labelled products: `make eval-inference`.

use catalog::{inference::attributes, product::attributes::Attributes};
use clap::Parser;
use embed::inference::{infer, taxonomy};
use relevance::inference::{InferenceOptions, InferredAttribute, Placement, Texts};

/// Measures the inference of attributes and categories on labelled products
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    options: InferenceOptions,
}

fn main() -> anyhow::Result<()> {
    Command::parse().options.run(infer_attributes, infer_category)
}

/// What the catalog infers from the texts alone: the labels know no merchant attributes.
fn infer_attributes(texts: &Texts) -> Vec<InferredAttribute> {
    let found = attributes::infer_product(&texts.title, &texts.description, Attributes::none());
    let values = found.values.iter();
    values.map(|(attribute, value)| (attribute.name().to_owned(), value.to_owned())).collect()
}

/// A category that is not likely enough is not inferred at all.
fn infer_category(texts: &Texts) -> Option<Placement> {
    let placed = infer(&texts.title, &texts.description, Attributes::none()).category?;
    Some(Placement { category: taxonomy().id(placed.category).to_owned(), is_confident: true })
}
