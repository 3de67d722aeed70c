//! Measures the inference of attributes and categories on labelled products: `make eval-inference`.

use catalog::{attributes::Attributes, inference::attributes};
use clap::Parser;
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

fn infer_category(_texts: &Texts) -> Option<Placement> {
    None
}
