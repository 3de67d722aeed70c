//! Measures the inference of attributes and categories on labelled products: `make eval-inference`.

use clap::Parser;
use relevance::inference::{InferenceOptions, InferredAttribute, Placement, Texts};

/// Measures the inference of attributes and categories on labelled products
#[derive(Parser)]
struct Command {
    #[command(flatten)]
    options: InferenceOptions,
}

fn main() -> anyhow::Result<()> {
    Command::parse().options.run(attributes, category)
}

/// What the catalog infers from the texts alone: the labels know no merchant attributes.
fn attributes(_texts: &Texts) -> Vec<InferredAttribute> {
    Vec::new()
}

fn category(_texts: &Texts) -> Option<Placement> {
    None
}
