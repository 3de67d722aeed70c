//! How fast are products found by meaning, and what does looking at signs first lose? The index
//! alone, one thread, real vectors of the phrases that the built-in model was taught with.
#![allow(clippy::print_stdout, reason = "a report is what this program is for")]

use std::{convert::Infallible, fs, hint::black_box, path::PathBuf, time::Instant};

use anyhow::Context;
use catalog::{
    access::Sight, change::Seq, fusion, price::Money, product::ProductId, understanding::Understand,
};
use clap::Parser;
use engine::{
    embed::{BuiltIn, Embedder, Encoder, Text, Turn, Vector, Weights},
    index::{Entry, IndexBuilder, Meaning, Meant, Plan, QueryVector, ShopIndex},
};
use eval::random::Random;

/// Signs that may differ, of 256, for which the loss is shown.
const RADII: [u32; 8] = [92, 96, 100, 104, 107, 110, 114, 120];
/// How far the vectors of products with the same title are moved apart, a coordinate.
const SPREAD: f32 = 0.02;

/// Times the scan of vectors and measures what it loses.
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
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let text = fs::read_to_string(&arguments.phrases)
        .with_context(|| format!("{} cannot be read", arguments.phrases.display()))?;
    let titles = spread(&text, &["T"], arguments.titles);
    let queries = spread(&text, &["N", "S"], arguments.queries);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = BuiltIn::new(Weights::embedded(), threads)?;
    let product = |title| Text::Product { title, description: "" };
    let titles_of = |encoder| embed(&model, encoder, titles.iter().map(|title| product(title)));
    let queries_of = |encoder| embed(&model, encoder, queries.iter().map(|text| Text::Query(text)));

    println!("{} titles, {} queries", titles.len(), queries.len());
    println!("\nrecall of the first ten, and share of products looked at twice, by radius");
    print!("{:<28}", "query / products");
    RADII.iter().for_each(|radius| print!("{radius:>15}"));
    println!();
    let instant = titles_of(Encoder::Instant)?;
    let deep = titles_of(Encoder::Deep)?;
    for query_encoder in [Encoder::Deep, Encoder::Instant] {
        let asked = queries_of(query_encoder)?;
        for (name, held) in [("deep", &deep), ("instant", &instant)] {
            print!("{:<28}", format!("{} / {name}", query_encoder.as_str()));
            for radius in RADII {
                let (recall, share) = recall(&asked, held, radius);
                print!("{:>15}", format!("{recall:.4} {:>6.2}%", share * 100.0));
            }
            println!();
        }
    }

    println!("\ntime of a search in the index, instant queries");
    println!(
        "{:<12}{:>12}{:>12}{:>12}{:>12}{:>14}",
        "products", "words p50", "both p50", "p99", "near %", "bytes each"
    );
    let asked = queries_of(Encoder::Instant)?;
    for products in &arguments.products {
        time(*products, &titles, &deep, &queries, &asked);
    }
    Ok(())
}

/// So many phrases of some kinds, evenly from the whole file.
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
        Encoder::Deep => model.deep(&texts, Turn::Background)?,
        Encoder::Instant => texts.iter().filter_map(|text| model.instant(*text)).collect(),
    };
    Ok(made.into_iter().map(|made| made.vector).collect())
}

/// How many of the ten nearest by float are within the radius, and how many products are.
fn recall(queries: &[Vector], products: &[Vector], radius: u32) -> (f64, f64) {
    let signs: Vec<_> = products.iter().map(signs).collect();
    let (mut kept, mut asked, mut near) = (0, 0, 0);
    for query in queries {
        let wanted = self::signs(query);
        let is_near: Vec<bool> =
            signs.iter().map(|signs| apart(&wanted, signs) <= radius).collect();
        near += is_near.iter().filter(|near| **near).count();
        let mut by_cosine: Vec<_> = (0..products.len()).collect();
        by_cosine
            .sort_by(|a, b| query.cosine(&products[*b]).total_cmp(&query.cosine(&products[*a])));
        kept += by_cosine.iter().take(10).filter(|at| is_near[**at]).count();
        asked += 10.min(products.len());
    }
    (kept as f64 / asked as f64, near as f64 / (queries.len() * products.len()) as f64)
}

fn signs(vector: &Vector) -> Vec<bool> {
    vector.stored().numbers().iter().map(|x| *x < 0).collect()
}

fn apart(a: &[bool], b: &[bool]) -> u32 {
    a.iter().zip(b).filter(|(a, b)| a != b).count() as u32
}

fn time(products: usize, titles: &[String], held: &[Vector], queries: &[String], asked: &[Vector]) {
    let index = index(products, titles, held);
    let snapshot = index.snapshot();
    let understood: Vec<_> =
        queries.iter().map(|query| Understand::default().read(query, &|_| true)).collect();
    let (mut words, mut both) = (Vec::new(), Vec::new());
    let mut found = 0;
    for (understood, vector) in understood.iter().zip(asked) {
        let plan = Plan::of(understood, Sight::VisibleOnly, 0, 10);
        let search = |plan: &Plan<'_>| {
            let started = Instant::now();
            let Ok(found) = snapshot.search(plan, |_| Ok::<_, Infallible>(Vec::new()));
            (started.elapsed(), black_box(found).total)
        };
        words.push(search(&plan).0);
        let Some(vector) = QueryVector::of(vector) else { continue };
        let meant = Some(Meant { vector, manner: fusion::Manner::UNKNOWN });
        let (time, total) = search(&Plan { meant, ..plan });
        both.push(time);
        found += total;
    }
    words.sort_unstable();
    both.sort_unstable();
    let share = found as f64 / (queries.len() * products) as f64;
    let bytes = snapshot.memory_bytes() / products.max(1);
    println!(
        "{products:<12}{:>12.2?}{:>12.2?}{:>12.2?}{:>12.3}{bytes:>14}",
        words[words.len() / 2],
        both[both.len() / 2],
        both[both.len() * 99 / 100],
        share * 100.0
    );
}

fn index(products: usize, titles: &[String], held: &[Vector]) -> ShopIndex {
    let mut random = Random::new(7);
    let mut builder = IndexBuilder::new();
    let price = Money::parse("$5").unwrap_or_else(|_| unreachable!("it is a price"));
    for number in 0..products {
        let at = number % titles.len();
        let moved = held[at]
            .as_slice()
            .iter()
            .map(|x| x + SPREAD * (random.fraction() as f32 - 0.5) * 3.46);
        let vector = Vector::towards(moved.collect()).map(|vector| vector.stored());
        builder.add(Entry {
            id: ProductId::new(number as u64 + 1).unwrap_or_else(|| unreachable!("above 0")),
            version: Seq(1),
            hidden: false,
            price,
            title: &titles[at],
            description: &titles[(number * 31 + 7) % titles.len()],
            meaning: vector.as_ref().map_or(Meaning::Unknown, Meaning::Known),
        });
    }
    builder.finish(Seq(1))
}
