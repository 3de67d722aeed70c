//! Filters, facets, orders and pages on random catalogs, compared with definitions applied to every
//! product: conditions by [`ProductFilter::matches`], scores by the reference.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
};

use catalog::{
    product::{
        ProductId,
        access::Visibility,
        attributes::{AttributeName, AttributeValue, Attributes},
        change::Seq,
        price::{Money, Price},
    },
    query::{
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        parser::{ParsedQuery, PriceConstraint, parse},
        sort::{Direction, Sort},
    },
    ranking::{
        facets::{Bucket, Facet, FacetField, FacetValue},
        fusion::QueryProfile,
        hits::{Hit, Score},
    },
};
use proptest::prelude::*;

use super::{
    catalogs::{Catalog, plan},
    expected, is_eligible,
    random::Random,
};
use crate::{
    Entry, EntryVectors, IndexChange, Matches, Plan, QueryKind, ShopIndex,
    reference::Product,
    segment::MergePolicy,
    testing::{category_facet, effective_value},
};

const DIMS: usize = 16;
/// Merges early and often, always inline.
const BUSY: MergePolicy =
    MergePolicy { fanout: 2, max_products: 120, inline_postings: 100_000, ordered_products: 2 };
const FACETS: [&str; 9] =
    ["price", "color", "size", "in_stock", "material", "pattern", "audience", "rare_1", "category"];

fn field(name: &str) -> FacetField {
    match name {
        "price" => FacetField::Price,
        "category" => FacetField::Category,
        name => FacetField::Attribute(AttributeName::parse_any(name).unwrap()),
    }
}

fn random_order(random: &mut Random) -> Sort {
    let direction = [Direction::Ascending, Direction::Descending][random.below(2) as usize];
    let attribute = |name| Sort::Attribute(AttributeName::parse(name).unwrap(), direction);
    match random.below(6) {
        0 => Sort::Price(direction),
        1 => Sort::Newest,
        2 => Sort::Oldest,
        3 => attribute("size"),
        4 => attribute("color"),
        _ => Sort::Relevance,
    }
}

/// All products that satisfy a plan, with a filter instead of its own, best first.
fn naive(
    catalog: &Catalog,
    plan: &Plan<'_>,
    parsed: &ParsedQuery,
    filter: &ProductFilter,
) -> Vec<Hit> {
    let plan = &Plan { filter, ..plan.clone() };
    if let QueryKind::Terms(_) = plan.kind {
        return expected(catalog, plan, parsed, false).hits;
    }
    let all = catalog.reference.0.iter().filter(|(_, product)| {
        (plan.visibility == Visibility::All || !product.hidden)
            && is_eligible(product, plan, parsed)
    });
    let hit = |(number, product): (&u64, &Product)| Hit {
        product: ProductId::new(*number).unwrap(),
        version: product.version,
        score: Score(0.0),
    };
    all.map(hit).collect()
}

/// Hits in the order of a plan.
fn in_order(catalog: &Catalog, plan: &Plan<'_>, hits: &[Hit]) -> Vec<Hit> {
    let product = |hit: &Hit| &catalog.reference.0[&hit.product.get()];
    let mut sorted = hits.to_vec();
    sorted.sort_by(Hit::rank);
    match &plan.order {
        Sort::Relevance => {}
        Sort::Newest => sorted.sort_by_key(|hit| Reverse(hit.product)),
        Sort::Oldest => sorted.sort_by_key(|hit| hit.product),
        Sort::Price(direction) => {
            let amount = |hit: &Hit| product(hit).price.map(|price| price.amount);
            match direction {
                Direction::Ascending => sorted.sort_by_key(amount),
                Direction::Descending => sorted.sort_by_key(|hit| Reverse(amount(hit))),
            }
            let code = |hit: &Hit| product(hit).price.map(|price| price.currency.code().to_owned());
            let frequency = |hit: &Hit| hits.iter().filter(|one| code(one) == code(hit)).count();
            sorted.sort_by_cached_key(|hit| {
                (code(hit).is_none(), Reverse(frequency(hit)), code(hit))
            });
        }
        Sort::Attribute(name, direction) => {
            let number = |hit: &Hit| match product(hit).attributes.get(name.as_str()) {
                Some(AttributeValue::Number(number)) => Some(*number),
                _ => None,
            };
            match direction {
                Direction::Ascending => sorted.sort_by_key(number),
                Direction::Descending => sorted.sort_by_key(|hit| Reverse(number(hit))),
            }
            sorted.sort_by_key(|hit| number(hit).is_none());
        }
    }
    sorted
}

/// Asserts that a facet of a plan counts these products.
fn check_facet(field: &FacetField, facet: &Facet, plan: &Plan<'_>, results: &[&Product]) {
    match (field, facet) {
        (FacetField::Category, Facet::Category(facet)) => {
            let categories: Vec<_> =
                results.iter().map(|product| product.inferred.category_index()).collect();
            let expected = category_facet(&categories, plan.filter, plan.facet_limit);
            assert_eq!(*facet, expected);
        }
        (FacetField::Price, Facet::Price(facets)) => {
            let mut left = results.iter().filter(|product| product.price.is_some()).count();
            let mut before = (usize::MAX, String::new());
            for facet in facets {
                let prices = results.iter().filter_map(|product| product.price);
                let prices = prices.filter(|price| price.currency == facet.currency);
                let amounts: Vec<_> = prices.map(|price| price.amount).collect();
                let code = facet.currency.code().to_owned();
                assert!(before.0 > amounts.len() || before.0 == amounts.len() && before.1 < code);
                check_histogram(facet.min, facet.max, &facet.histogram, &amounts);
                left -= amounts.len();
                before = (amounts.len(), code);
            }
            assert_eq!(left, 0);
        }
        (FacetField::Attribute(name), Facet::Attribute(facet)) => {
            let value =
                |one: &&Product| effective_value(&one.attributes, &one.inferred, name.as_str());
            let values: Vec<AttributeValue> = results.iter().filter_map(value).collect();
            assert_eq!(facet.missing, results.len() - values.len(), "{name}");
            let numbers: Vec<f64> = values
                .iter()
                .filter_map(|value| match value {
                    AttributeValue::Number(number) => Some(number.get()),
                    _ => None,
                })
                .collect();
            assert_eq!(facet.numbers.is_some(), !numbers.is_empty(), "{name}");
            if let Some(found) = &facet.numbers {
                check_histogram(found.min, found.max, &found.histogram, &numbers);
            }
            let mut expected = naive_values(values.iter());
            expected.truncate(plan.facet_limit);
            let found = facet.values.iter().map(|one| (one.value.clone(), one.count));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{name}");
        }
        _ => panic!("{field:?} {facet:?}"),
    }
}

/// Every string and boolean with its number of products, by descending count, then value.
fn naive_values<'a>(values: impl Iterator<Item = &'a AttributeValue>) -> Vec<(FacetValue, usize)> {
    let mut booleans: BTreeMap<bool, usize> = BTreeMap::new();
    let mut texts: BTreeMap<FoldedText, usize> = BTreeMap::new();
    let mut forms: BTreeMap<(FoldedText, &str), usize> = BTreeMap::new();
    for value in values {
        if let AttributeValue::Boolean(value) = value {
            *booleans.entry(*value).or_default() += 1;
        }
        let folded: BTreeSet<_> = value.texts().iter().map(|text| FoldedText::of(text)).collect();
        folded.into_iter().for_each(|folded| *texts.entry(folded).or_default() += 1);
        for text in value.texts() {
            *forms.entry((FoldedText::of(text), text)).or_default() += 1;
        }
    }
    let shown = |folded: &FoldedText| -> Box<str> {
        let forms = forms.iter().filter(|((other, _), _)| other == folded);
        let most = forms.min_by_key(|((_, form), count)| (Reverse(**count), *form));
        most.unwrap().0.1.into()
    };
    let texts = texts.iter().map(|(folded, count)| (FacetValue::Text(shown(folded)), *count));
    let booleans = booleans.into_iter().map(|(value, count)| (FacetValue::Boolean(value), count));
    let mut all: Vec<_> = booleans.chain(texts).collect();
    all.sort_by(|(one, count), (other, other_count)| {
        other_count.cmp(count).then_with(|| one.cmp(other))
    });
    all
}

fn check_histogram<T: PartialOrd + Copy + std::fmt::Debug>(
    min: T,
    max: T,
    histogram: &[Bucket<T>],
    values: &[T],
) {
    assert!(values.iter().all(|value| min <= *value && *value <= max), "{min:?} {max:?}");
    assert!(values.contains(&min) && values.contains(&max));
    for (at, bucket) in histogram.iter().enumerate() {
        let is_last = at + 1 == histogram.len();
        let inside = values.iter().filter(|value| {
            bucket.from <= **value && (**value < bucket.to || is_last && **value == bucket.to)
        });
        assert_eq!(inside.count(), bucket.count, "{histogram:?} {values:?}");
    }
    assert_eq!(histogram.iter().map(|bucket| bucket.count).sum::<usize>(), values.len());
}

/// An index with a history of updates, deletions and merges, and the catalog that it ends up with.
pub(super) fn catalog_and_index(random: &mut Random, count: u64) -> (Catalog, ShopIndex) {
    let mut catalog = random.catalog(count, DIMS);
    let index = ShopIndex::with_policy(Seq(0), Vec::new(), BUSY);
    let numbers: Vec<u64> = (1..=count).collect();
    for group in numbers.chunks(40) {
        let changes = group.iter().map(|number| IndexChange::Upsert(catalog.entry(*number)));
        index.apply(&changes.collect::<Vec<_>>(), Seq(1));
    }
    for number in 1..=count {
        match random.below(6) {
            // Another key, other attributes, the same vector.
            0 => {
                let (key, attributes) = (random.key(number), random.attributes());
                catalog.describe(number, key.as_deref(), &attributes);
                catalog.reference.0.get_mut(&number).unwrap().inferred = random.inferred();
                let kept = Entry { vectors: EntryVectors::Kept, ..catalog.entry(number) };
                index.apply(&[IndexChange::Upsert(kept)], Seq(1));
            }
            1 => {
                let product = catalog.reference.0.get_mut(&number).unwrap();
                product.hidden = !product.hidden;
                product.price = Money::parse(&format!("${}.50", random.below(90))).ok();
                let same = Entry { vectors: EntryVectors::Unchanged, ..catalog.entry(number) };
                index.apply(&[IndexChange::Upsert(same)], Seq(1));
            }
            2 => {
                drop(catalog.reference.0.remove(&number));
                index.apply(&[IndexChange::Delete(ProductId::new(number).unwrap())], Seq(1));
            }
            _ => {}
        }
    }
    (catalog, index)
}

fn run(catalog: &Catalog, index: &ShopIndex, plan: &Plan<'_>, parsed: &ParsedQuery) -> Matches {
    let verify = |ids: &[ProductId]| Ok::<_, Infallible>(catalog.rejected(ids, parsed));
    let Ok(found) = index.snapshot().search(plan, verify);
    found
}

/// Compares one random request.
pub(super) fn check_request(random: &mut Random, catalog: &Catalog, index: &ShopIndex) -> usize {
    with_request(random, |plan, parsed| {
        let found = run(catalog, index, plan, parsed);
        check_found(catalog, plan, parsed, &found)
    })
}

/// Runs one random request.
pub(super) fn run_request(random: &mut Random, catalog: &Catalog, index: &ShopIndex) {
    with_request(random, |plan, parsed| drop(run(catalog, index, plan, parsed)));
}

fn with_request<R>(random: &mut Random, f: impl FnOnce(&Plan<'_>, &ParsedQuery) -> R) -> R {
    let (text, vector) = random.query(DIMS);
    let parsed = parse(&text);
    let visibility = [Visibility::VisibleOnly, Visibility::All][random.below(2) as usize];
    let filter = random.filter();
    let facets: Vec<_> = FACETS.into_iter().filter(|_| random.below(2) == 0).map(field).collect();
    let mut plan = plan(&parsed, &vector, random.profile(), visibility);
    plan = match random.below(4) {
        0 => plan.matching_all(),
        1 => Plan { dense: None, ..plan },
        _ => plan,
    };
    plan = plan.ordered(random_order(random));
    let (offset, limit) = (random.below(20) as usize, random.below(30) as usize);
    let facet_limit = random.below(6) as usize;
    let key = Some(&*text);
    let plan = Plan { filter: &filter, facets: &facets, facet_limit, offset, limit, key, ..plan };
    f(&plan, &parsed)
}

fn check_found(catalog: &Catalog, plan: &Plan<'_>, parsed: &ParsedQuery, found: &Matches) -> usize {
    let filter = plan.filter;
    let hits = naive(catalog, plan, parsed, filter);
    let page = in_order(catalog, plan, &hits).into_iter().skip(plan.offset).take(plan.limit);
    assert_eq!(found.total, hits.len(), "{:?} {filter:?}", parsed.sentence);
    assert_eq!(found.hits, page.collect::<Vec<Hit>>(), "{:?} {filter:?}", parsed.sentence);
    let fields: Vec<_> = found.facets.0.iter().map(|(field, _)| field.clone()).collect();
    assert_eq!(fields, plan.facets);
    for (field, facet) in &found.facets.0 {
        let results = naive(catalog, plan, parsed, &filter.without(field.name()));
        let results = results.iter().map(|hit| &catalog.reference.0[&hit.product.get()]);
        check_facet(field, facet, plan, &results.collect::<Vec<_>>());
    }
    hits.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn totals_orders_pages_and_facets_match_the_definitions(
        seed in any::<u64>(),
        count in 1_u64..250,
    ) {
        let mut random = Random(seed);
        let (catalog, index) = catalog_and_index(&mut random, count);
        for _ in 0..20 {
            check_request(&mut random, &catalog, &index);
        }
    }
}

/// The property test is not vacuous: many requests find something.
#[test]
fn many_random_requests_find_products() {
    let mut random = Random(5);
    let (catalog, index) = catalog_and_index(&mut random, 240);
    assert!(index.snapshot().segment_count() < 20);
    let found = (0..100).filter(|_| check_request(&mut random, &catalog, &index) > 2);
    assert!(found.count() > 40);
}

/// A condition in the text selects and orders the same products as the equivalent filter.
#[test]
fn a_condition_in_the_text_equals_the_filter() {
    let mut random = Random(3);
    let mut catalog = Catalog::default();
    let material = AttributeName::parse("material").unwrap();
    for number in 1..=200 {
        let words: Vec<_> = random.words(3).into_iter().filter(|word| *word != "leather").collect();
        let price = ["$", "€"][random.below(2) as usize];
        let price = Price::parse(&format!("{price}{}", 40 + random.below(20))).unwrap();
        let vector = random.near_topic(number % 3, 0.6, DIMS).stored();
        let texts = (&*format!("{} {number}", words.join(" ")), "lamp");
        catalog.add(number, false, texts, &price, Some(vector));
        let value = ["leather", "Leather", "cotton"][random.below(3) as usize];
        let value = AttributeValue::Text(value.into());
        catalog.describe(number, None, &Attributes::new(vec![(material.clone(), value)]));
    }
    let numbers: Vec<u64> = (1..=200).collect();
    let index = catalog.index(&numbers, 50);
    let usd = Money::parse("$50").unwrap();
    let up_to = PriceConstraint::between(None, Some(usd.amount), Some(usd.currency));
    let leather = AttributeTest::AnyOf(vec![FoldedText::of("leather")]);
    let price = ProductFilter { all: vec![Condition::Price(up_to)], none: Vec::new() };
    let not_leather =
        ProductFilter { all: Vec::new(), none: vec![Condition::Attribute(material, leather)] };
    for (with, filter) in [("lamp up to $50", price), ("lamp not leather", not_leather)] {
        let vector = random.near_topic(1, 0.9, DIMS);
        let (with, without) = (parse(with), parse("lamp"));
        let find = |parsed: &ParsedQuery, filter: &ProductFilter| {
            let plan = plan(parsed, &vector, QueryProfile::NEUTRAL, Visibility::VisibleOnly);
            let plan = Plan { filter, limit: 300, ..plan };
            let found = run(&catalog, &index, &plan, parsed);
            (found.total, found.hits)
        };
        let (by_text, by_filter) = (find(&with, ProductFilter::none()), find(&without, &filter));
        assert_eq!(by_text, by_filter);
        assert!((10..190).contains(&by_text.0), "{}", by_text.0);
    }
}
