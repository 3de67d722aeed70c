//! Speed of vector search in the index alone, and the recall lost by sketches. One thread, with
//! real vectors of the training phrases of the built-in model.
#![allow(clippy::print_stdout, reason = "a report is what this program is for")]

use std::{convert::Infallible, fs, hint::black_box, path::PathBuf, time::Instant};

use anyhow::Context;
use bench::{machine, products::Products, random::Random};
use catalog::{
    access::Visibility,
    change::Seq,
    fusion,
    price::Money,
    product::ProductId,
    query_parser::{ParseOptions, ParsedQuery},
};
use clap::Parser;
use engine::{
    embed::{BuiltIn, Embedder, Encoder, ModelFiles, Priority, Text, TextLanguage, Vector},
    index::{DenseQuery, Entry, EntryVector, IndexBuilder, Plan, QueryVector, ShopIndex, Snapshot},
};
use serde_json::Value;

/// The number of similar products that are compared with an exact search.
const FIRST: usize = 10;
/// The error of a cosine by quantisation to bytes.
const ROUNDING: f32 = 0.002;
/// The noise added to each coordinate of products with the same title.
const SPREAD: f32 = 0.02;

/// Measures the speed and the recall of vector search.
#[derive(Parser)]
struct Arguments {
    /// Phrases by kind: titles of products (T) and what people say (N, S).
    #[arg(long, default_value = "training/data/shopper-phrases.tsv")]
    phrases: PathBuf,
    /// Titles that are embedded.
    #[arg(long, default_value_t = 6000)]
    titles: usize,
    /// Queries that are asked.
    #[arg(long, default_value_t = 200)]
    queries: usize,
    /// Sizes of shops.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000")]
    products: Vec<usize>,
    /// Threads that may share a search
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Search made-up products, those of `bench-search`, instead of titles over and over
    #[arg(long)]
    made_up: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let text = fs::read_to_string(&arguments.phrases)
        .with_context(|| format!("{} cannot be read", arguments.phrases.display()))?;
    let titles = spread(&text, &["T"], arguments.titles);
    let queries = spread(&text, &["N", "S"], arguments.queries);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = BuiltIn::new(ModelFiles::embedded(), threads)?;
    if arguments.made_up {
        print_header();
        for products in &arguments.products {
            made_up(*products, &model, arguments.queries, arguments.threads);
        }
        return Ok(());
    }
    let product = |title| Text::Product { title, description: "" };
    let titles_of = |encoder| embed(&model, encoder, titles.iter().map(|title| product(title)));
    let queries_of = |encoder| embed(&model, encoder, queries.iter().map(|text| Text::Query(text)));

    println!("{} titles, {} queries", titles.len(), queries.len());
    println!("\nof the ten products most like one by float, found in the index");
    let deep = titles_of(Encoder::Deep)?;
    for (name, held) in [("deep", &deep), ("instant", &titles_of(Encoder::Instant)?)] {
        println!("{name:<12}{:>8.4}", recall(&titles, held, arguments.queries));
    }

    println!("\ntime of a search in the index, instant queries");
    print_header();
    let asked = queries_of(Encoder::Instant)?;
    for products in &arguments.products {
        time(*products, &titles, &deep, (&queries, &asked), arguments.threads);
    }
    Ok(())
}

/// This many phrases of some kinds, sampled evenly from the file.
fn spread(text: &str, kinds: &[&str], most: usize) -> Vec<String> {
    let all: Vec<_> = text
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t').skip(1);
            let kind = fields.next()?;
            fields.next().filter(|_| kinds.contains(&kind))
        })
        .collect();
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).map(str::to_owned).collect()
}

fn embed<'a>(
    model: &BuiltIn,
    encoder: Encoder,
    texts: impl Iterator<Item = Text<'a>>,
) -> anyhow::Result<Vec<Vector>> {
    let texts: Vec<_> = texts.collect();
    let made = match encoder {
        Encoder::Deep => model.deep(&texts, Priority::Background)?,
        Encoder::Instant => texts.iter().filter_map(|text| model.instant(*text)).collect(),
    };
    Ok(made.into_iter().map(|made| made.vector).collect())
}

/// The recall of similar products against an exact search, over this many products.
fn recall(titles: &[String], held: &[Vector], asked: usize) -> f64 {
    let snapshot = index(held.len(), titles, held, 0.0).snapshot();
    let (mut found, mut wanted) = (0, 0);
    for at in (0..held.len()).step_by(held.len().div_ceil(asked.max(1)).max(1)) {
        let id = product(at);
        let near = |other: ProductId| held[at].cosine(&held[other.get() as usize - 1]);
        let others = (0..held.len()).map(product).filter(|other| *other != id);
        let mut cosines: Vec<f32> = others.map(near).collect();
        cosines.sort_unstable_by(|one, other| other.total_cmp(one));
        cosines.truncate(FIRST);
        cosines.retain(|cosine| *cosine >= fusion::FUSION_PARAMS.min_similarity + ROUNDING);
        let Some(least) = cosines.last().map(|least| least - ROUNDING) else { continue };
        let similar = snapshot.similar(id, Visibility::VisibleOnly, cosines.len());
        found += similar.iter().filter(|hit| near(hit.product) >= least).count();
        wanted += cosines.len();
    }
    found as f64 / wanted.max(1) as f64
}

fn product(at: usize) -> ProductId {
    ProductId::new(at as u64 + 1).unwrap_or_else(|| unreachable!("above 0"))
}

fn print_header() {
    println!(
        "{:<12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}",
        "products", "words p50", "both p50", "p99", "mean cpu", "found %", "bytes each"
    );
}

/// A query and its vector.
type BenchQuery = (ParsedQuery, Option<DenseQuery>);

fn time(
    products: usize,
    titles: &[String],
    held: &[Vector],
    (queries, asked): (&[String], &[Vector]),
    threads: usize,
) {
    let index = index(products, titles, held, SPREAD);
    let read = |query: &String| ParseOptions::default().parse(query, &|_| true);
    let meant = |vector| {
        let vector = QueryVector::of(vector)?;
        Some(DenseQuery { vector, profile: fusion::QueryProfile::NEUTRAL })
    };
    let pairs = queries.iter().map(read).zip(asked.iter().map(meant));
    report(&index.snapshot(), &pairs.collect::<Vec<_>>(), threads);
}

/// Times searches for words of titles of made-up products.
fn made_up(count: usize, model: &BuiltIn, queries: usize, threads: usize) {
    let products = Products::make(count, 1);
    let mut builder = IndexBuilder::new();
    let price = Money::parse("$5").ok();
    for number in 0..count {
        let text: Value = serde_json::from_slice(&products.single(number)).unwrap_or_default();
        let field = |name: &str| text[name].as_str().unwrap_or_default();
        let (title, description) = (field("title"), field("description"));
        let made = model.instant(Text::Product { title, description });
        let vector = made.map(|made| made.vector.stored());
        builder.add(Entry {
            key: None,
            attributes: catalog::attributes::Attributes::none(),
            inferred: catalog::inference::Inferred::default(),
            id: product(number),
            version: Seq(1),
            hidden: false,
            price,
            title,
            description,
            vector: vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known),
        });
    }
    let index = builder.finish(Seq(1));
    let asked = products.searches(queries, 2).into_iter().map(|body| {
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let parsed =
            ParseOptions::default().parse(body["query"].as_str().unwrap_or_default(), &|_| true);
        let (sentence, words) = (&parsed.sentence, &parsed.residual);
        let language = TextLanguage::English;
        let made = model.instant(Text::Request { sentence, words, language });
        let meant = made.and_then(|made| {
            let hint = model.phrase_match(&made.vector)?;
            let phrase_similarity = Some(hint.similarity);
            let profile =
                fusion::QueryProfile { phrase_similarity, ..fusion::QueryProfile::NEUTRAL };
            let lean = fusion::FUSION_PARAMS.interpolation(profile);
            let pairs = made.vector.as_slice().iter().zip(hint.target.as_slice());
            let vector = Vector::normalized(pairs.map(|(from, to)| from + lean * to).collect())?;
            Some(DenseQuery { vector: QueryVector::of(&vector)?, profile })
        });
        (parsed, meant)
    });
    report(&index.snapshot(), &asked.collect::<Vec<BenchQuery>>(), threads);
}

/// Times searches and prints what they took.
fn report(snapshot: &Snapshot, asked: &[BenchQuery], threads: usize) {
    let search = |plan: &Plan<'_>| {
        let started = Instant::now();
        let Ok(matches) = snapshot.search(plan, |_| Ok::<_, Infallible>(Vec::new()));
        (started.elapsed(), black_box(matches).total)
    };
    let plan = |parsed| Plan { threads, ..Plan::of(parsed, Visibility::VisibleOnly, 0, 10) };
    let mut words: Vec<_> = asked.iter().map(|(parsed, _)| search(&plan(parsed)).0).collect();
    let mut found = 0;
    let before = machine::thread_time();
    let mut both: Vec<_> = asked
        .iter()
        .map(|(parsed, meant)| {
            let (time, total) = search(&Plan { dense: meant.clone(), ..plan(parsed) });
            found += total;
            time
        })
        .collect();
    let used = machine::thread_time().saturating_sub(before);
    words.sort_unstable();
    both.sort_unstable();
    let products = snapshot.product_count().max(1);
    let share = found as f64 / (asked.len() * products) as f64;
    let bytes = snapshot.memory_bytes() / products;
    println!(
        "{products:<12}{:>12.2?}{:>12.2?}{:>12.2?}{:>12.2?}{:>12.3}{bytes:>14}",
        words[words.len() / 2],
        both[both.len() / 2],
        both[both.len() * 99 / 100],
        used / asked.len() as u32,
        share * 100.0
    );
}

/// A shop of these titles, repeated, with noise added to their vectors.
fn index(products: usize, titles: &[String], held: &[Vector], spread: f32) -> ShopIndex {
    let mut random = Random::new(7);
    let mut builder = IndexBuilder::new();
    let price = Money::parse("$5").ok();
    for number in 0..products {
        let at = number % titles.len();
        let moved = held[at]
            .as_slice()
            .iter()
            .map(|x| x + spread * (random.fraction() as f32 - 0.5) * 3.46);
        let vector = Vector::normalized(moved.collect()).map(|vector| vector.stored());
        builder.add(Entry {
            key: None,
            attributes: catalog::attributes::Attributes::none(),
            inferred: catalog::inference::Inferred::default(),
            id: product(number),
            version: Seq(1),
            hidden: false,
            price,
            title: &titles[at],
            description: &titles[(number * 31 + 7) % titles.len()],
            vector: vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known),
        });
    }
    builder.finish(Seq(1))
}
