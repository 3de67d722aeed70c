//! `bench-micro`: the time of one part of the service, without a server around it.
#![allow(clippy::print_stdout, reason = "a report is what this program is for")]

mod embed;
mod index;
mod load;

use clap::Parser;

/// Measure one part of the service alone.
#[derive(Parser)]
#[command(name = "bench-micro")]
enum Part {
    /// Time both encoders of a model, its phrase index and the inference of attributes and
    /// categories, on one core
    Embed(embed::Arguments),
    /// Time searches in the index with words, vectors, filters and facets, over a shop of made-up
    /// products, and its memory
    Index(index::Arguments),
    /// Time the loading of a shop from a PostgreSQL of its own
    Load(load::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Part::parse() {
        Part::Embed(arguments) => embed::run(arguments),
        Part::Index(arguments) => index::run(&arguments),
        Part::Load(arguments) => load::run(&arguments),
    }
}
