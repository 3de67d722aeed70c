//! Speed of searches with words, vectors, filters and facets in the index alone, and the memory of
//! vectors and attributes.

use std::{
    convert::Infallible,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use bench::{machine, products::Products, random::Random};
use catalog::{
    product::{
        ProductId,
        access::Visibility,
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        change::Seq,
        price::Money,
    },
    query::{
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        parser::{ParseOptions, ParsedQuery},
        sort::{Direction, Sort},
    },
    ranking::{facets::FacetField, fusion},
};
use clap::Args;
use embed::{BuiltIn, Embedder, ModelFiles, Text, TextLanguage, Vector};
use index::{DenseQuery, Entry, EntryVectors, IndexBuilder, Plan, QueryVector, Snapshot};
use serde_json::Value;

/// Words of `tags`.
const TAGS: [&str; 12] = [
    "new",
    "sale",
    "gift",
    "bestseller",
    "outlet",
    "vegan",
    "handmade",
    "limited",
    "refill",
    "bundle",
    "online only",
    "last chance",
];
/// The least of several times counts: other work on the machine only adds to it.
const REPEATS: usize = 3;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Sizes of shops
    #[arg(long, value_delimiter = ',', default_value = "100000")]
    products: Vec<usize>,
    /// Queries that are asked
    #[arg(long, default_value_t = 300)]
    queries: usize,
    /// Threads that may share a search
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = BuiltIn::new(ModelFiles::embedded(), threads)?;
    println!("load average {:.2} before", machine::load_average());
    for count in &arguments.products {
        let products = Products::make(*count, 1);
        let with = build(&products, &model, true);
        let texts = products.queries(arguments.queries, 2);
        let queries: Vec<BenchQuery> = texts.iter().map(|text| query(&model, text)).collect();
        report(&with, &queries, arguments.threads);
        memory(&with, &build(&products, &model, false));
    }
    println!("load average {:.2} after", machine::load_average());
    Ok(())
}

/// A query and its vector.
type BenchQuery = (ParsedQuery, Option<DenseQuery>);

fn query(model: &BuiltIn, text: &str) -> BenchQuery {
    let parsed = ParseOptions::default().parse(text, &|_| true);
    let (sentence, words) = (&parsed.sentence, &parsed.residual);
    let language = TextLanguage::English;
    let dense = model.instant(Text::Request { sentence, words, language }).and_then(|made| {
        let hint = model.phrase_match(&made)?;
        let phrase_similarity = Some(hint.similarity);
        let profile = fusion::QueryProfile { phrase_similarity, ..fusion::QueryProfile::NEUTRAL };
        let lean = fusion::FUSION_PARAMS.interpolation(profile);
        let pairs = made.vector.as_slice().iter().zip(hint.target.as_slice());
        let vector = Vector::normalized(pairs.map(|(from, to)| from + lean * to).collect())?;
        Some(DenseQuery { vector: QueryVector::of(&vector)?, deep: None, profile })
    });
    (parsed, dense)
}

fn name(raw: &str) -> AttributeName {
    AttributeName::parse(raw).unwrap_or_else(|_| unreachable!("a valid name"))
}

/// Brand, type, colour and material of the title; tags, rating, stock and a boolean.
fn attributes(title: &str, random: &mut Random) -> Attributes {
    let words: Vec<&str> = title.split_whitespace().collect();
    let text = |at: usize| AttributeValue::Text(words.get(at).copied().unwrap_or("none").into());
    let number = |value: f64| Number::new(value).map(AttributeValue::Number);
    let mut named = vec![
        (name("brand"), text(0)),
        (name("material"), text(3)),
        (name("type"), text(4)),
        (name("color"), text(words.len() - 1)),
        (name("in_stock"), AttributeValue::Boolean(random.below(5) > 0)),
    ];
    let first = random.below(TAGS.len());
    let tags = TAGS.iter().cycle().skip(first).take(random.below(4));
    let tags: Box<[Box<str>]> = tags.map(|tag| (*tag).into()).collect();
    if !tags.is_empty() {
        named.push((name("tags"), AttributeValue::Texts(tags)));
    }
    // A quarter has no rating.
    if random.below(4) > 0 {
        named.extend(number(random.below(50) as f64 / 10.0).map(|value| (name("rating"), value)));
    }
    named.extend(number(random.below(1000) as f64).map(|value| (name("stock"), value)));
    Attributes::new(named)
}

fn build(products: &Products, model: &BuiltIn, with_attributes: bool) -> Arc<Snapshot> {
    let mut builder = IndexBuilder::new();
    let mut random = Random::new(3);
    for number in 0..products.len() {
        let product: Value = serde_json::from_slice(&products.single(number)).unwrap_or_default();
        let field = |name: &str| product[name].as_str().unwrap_or_default();
        let (title, description) = (field("title"), field("description"));
        let made = model.instant(Text::Product { title, description });
        let vectors = made.map(|made| made.stored());
        let attributes = match with_attributes {
            true => attributes(title, &mut random),
            false => Attributes::default(),
        };
        let key = format!("SKU-{number:06}");
        builder.add(Entry {
            id: ProductId::new(number as u64 + 1).unwrap_or_else(|| unreachable!("above 0")),
            version: Seq(1),
            hidden: false,
            price: Money::parse(field("price")).ok(),
            title,
            description,
            key: with_attributes.then_some(&*key),
            attributes: &attributes,
            inferred: embed::inference::infer(title, description, &attributes),
            vectors: vectors.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known),
        });
    }
    builder.finish(Seq(1)).snapshot()
}

/// One row: what a request states besides its words.
struct Row {
    name: &'static str,
    words: bool,
    vector: bool,
    filter: ProductFilter,
    facets: Vec<FacetField>,
    sort: Sort,
}

fn rows() -> Vec<Row> {
    let facet = |raw: &&str| FacetField::Attribute(name(raw));
    let five = || {
        let mut fields: Vec<_> =
            ["brand", "color", "material", "rating"].iter().map(facet).collect();
        fields.push(FacetField::Price);
        fields
    };
    let stock_up_to = |max: f64| {
        let test = AttributeTest::Between { min: None, max: Number::new(max) };
        Condition::Attribute(name("stock"), test)
    };
    let any_of = |field: &str, values: &[&str]| {
        let values = values.iter().map(|value| FoldedText::of(value)).collect();
        Condition::Attribute(name(field), AttributeTest::AnyOf(values))
    };
    let all = |all: Vec<Condition>| ProductFilter { all, none: Vec::new() };
    let none = ProductFilter::default;
    let row = |name, filter, facets| Row {
        name,
        words: true,
        vector: true,
        filter,
        facets,
        sort: Sort::Relevance,
    };
    let two = vec![
        any_of("color", &["black", "white", "grey", "navy", "blue"]),
        any_of("material", &["cotton", "linen", "wool", "leather", "oak", "walnut"]),
    ];
    let alone =
        |name, filter, facets| Row { words: false, vector: false, ..row(name, filter, facets) };
    let rating = Sort::Attribute(name("rating"), Direction::Descending);
    vec![
        row("words and vector", none(), vec![]),
        Row { vector: false, ..row("words, no vector", none(), vec![]) },
        row("five facets", none(), five()),
        row("filter of 1 %", all(vec![stock_up_to(9.0)]), vec![]),
        row("filter of 10 %", all(vec![stock_up_to(99.0)]), vec![]),
        row("filter of 50 %", all(vec![stock_up_to(499.0)]), vec![]),
        row("filters on two facets (18 % and 25 %), five facets", all(two), five()),
        Row { sort: rating, ..row("sorted by a number", none(), vec![]) },
        alone("no words, filter of 10 %", all(vec![stock_up_to(99.0)]), vec![]),
        alone("no words, filter of 10 %, five facets", all(vec![stock_up_to(99.0)]), five()),
    ]
}

/// Times every row with every query, in turn, and prints the percentiles.
fn report(snapshot: &Snapshot, queries: &[BenchQuery], threads: usize) {
    let rows = rows();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); rows.len()];
    let mut found = vec![0; rows.len()];
    // The time of each query and that of the first row, where both have the same best result.
    let mut same_best: Vec<Vec<(Duration, Duration)>> = vec![Vec::new(); rows.len()];
    for (parsed, dense) in queries {
        let mut first = None;
        for (at, row) in rows.iter().enumerate() {
            let plan = Plan { threads, ..Plan::of(parsed, Visibility::VisibleOnly, 0, 10) };
            let plan = if row.words { plan } else { plan.matching_all() };
            let dense = dense.clone().filter(|_| row.vector);
            let plan = Plan { dense, ..plan };
            let plan =
                Plan { filter: &row.filter, facets: &row.facets, ..plan.ordered(row.sort.clone()) };
            let (mut least, mut best) = (Duration::MAX, None);
            for _ in 0..REPEATS {
                let started = Instant::now();
                let Ok(matches) = snapshot.search(&plan, |_| Ok::<_, Infallible>(Vec::new()));
                least = least.min(started.elapsed());
                best = matches.hits.first().map(|hit| hit.product);
                found[at] += black_box(matches).total;
            }
            let (first_time, first_best) = *first.get_or_insert((least, best));
            if best == first_best {
                same_best[at].push((least, first_time));
            }
            times[at].push(least);
        }
    }
    println!(
        "{} products, {} segments, {} queries",
        snapshot.product_count(),
        snapshot.segment_count(),
        queries.len()
    );
    println!("| request | p50 | p95 | p50 : first row | same best result | results |");
    println!("|---|---|---|---|---|---|");
    let mut base = None;
    for (((row, mut times), same), found) in rows.iter().zip(times).zip(same_best).zip(found) {
        times.sort_unstable();
        let p50 = times[times.len() / 2];
        let base = *base.get_or_insert(p50);
        println!(
            "| {} | {:.2?} | {:.2?} | {:.2} | {:.2} of {} | {} |",
            row.name,
            p50,
            times[times.len() * 95 / 100],
            p50.as_secs_f64() / base.as_secs_f64(),
            median_ratio(&same),
            same.len(),
            found / (queries.len() * REPEATS).max(1),
        );
    }
}

/// The median of the ratios of two times.
fn median_ratio(pairs: &[(Duration, Duration)]) -> f64 {
    let ratio = |(one, other): &(Duration, Duration)| one.as_secs_f64() / other.as_secs_f64();
    let mut ratios: Vec<f64> = pairs.iter().map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}

fn memory(with: &Snapshot, without: &Snapshot) {
    let each = |bytes: usize| bytes as f64 / with.product_count().max(1) as f64;
    let columns = with.attribute_bytes();
    let more = with.memory_bytes() - without.memory_bytes();
    println!("columns of eight attributes and the key: {:.1} bytes per product", each(columns));
    println!("their words: {:.1} bytes per product", each(more.saturating_sub(columns)));
    println!("everything else: {:.1} bytes per product", each(without.memory_bytes()));
}
