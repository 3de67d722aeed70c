//! Requests with filters, facets and orders, and what they mean for a list of products.

use std::cmp::{Ordering, Reverse};

use catalog::{
    product::{
        Product,
        attributes::{AttributeName, AttributeValue, Number},
        currency::Currency,
        key::Key,
    },
    query::{
        QueryText,
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        parser::PriceConstraint,
        sort::{Direction, Sort},
    },
    ranking::facets::{AttributeCounts, Facet, FacetField, Facets, PriceCounts},
};
use embed::inference::taxonomy;
use index::testing::{category_facet, effective_value};

use super::shop::request;
use crate::search::SearchRequest;

pub(in crate::search) fn name(raw: &str) -> AttributeName {
    AttributeName::parse_any(raw).unwrap()
}

pub(in crate::search) fn any_of(attribute: &str, texts: &[&str]) -> Condition {
    let texts = texts.iter().map(|text| FoldedText::of(text)).collect();
    Condition::Attribute(name(attribute), AttributeTest::AnyOf(texts))
}

fn is(attribute: &str, wanted: bool) -> Condition {
    Condition::Attribute(name(attribute), AttributeTest::Is(wanted))
}

fn between(attribute: &str, min: Option<f64>, max: Option<f64>) -> Condition {
    let number = |number: f64| Number::new(number).unwrap();
    let test = AttributeTest::Between { min: min.map(number), max: max.map(number) };
    Condition::Attribute(name(attribute), test)
}

fn price(min: Option<i64>, max: Option<i64>, currency: Option<Currency>) -> Condition {
    let amount = |amount: i64| amount.to_string().parse().unwrap();
    Condition::Price(PriceConstraint::between(min.map(amount), max.map(amount), currency))
}

/// Within one of the categories with these ids or paths.
pub(in crate::search) fn within(categories: &[&str]) -> Condition {
    let parse = |text: &&str| taxonomy().parse(text).unwrap();
    Condition::within(taxonomy(), &categories.iter().map(parse).collect::<Vec<_>>())
}

/// Filters of every kind, the empty one first.
pub(in crate::search) fn filters() -> Vec<ProductFilter> {
    let all = |all: Vec<Condition>| ProductFilter { all, none: Vec::new() };
    let none = |none: Vec<Condition>| ProductFilter { all: Vec::new(), none };
    vec![
        ProductFilter::default(),
        all(vec![any_of("color", &["red", "GRUN"])]),
        none(vec![any_of("color", &["Red"])]),
        all(vec![any_of("brand", &["o'neil \\ 5 ft.", "\0", "acme"]), is("in_stock", true)]),
        ProductFilter {
            all: vec![any_of("color", &["blue"]), between("size", Some(2.0), Some(4.0))],
            none: vec![is("in_stock", false), any_of("brand", &["acme"])],
        },
        all(vec![between("weight", Some(-0.5), None)]),
        all(vec![between("weight", None, Some(99.99)), any_of("mixed", &["5"])]),
        none(vec![between("mixed", None, None)]),
        all(vec![price(Some(5), Some(20), None), between("mixed", Some(5.0), Some(5.0))]),
        all(vec![price(None, None, Some(Currency::EUR))]),
        ProductFilter {
            all: vec![price(Some(1), None, None)],
            none: vec![price(None, Some(20), Some(Currency::USD)), price(Some(1000), None, None)],
        },
        all(vec![any_of("unknown", &["red"])]),
        none(vec![any_of("category", &["aa-1"])]),
        all(vec![any_of("color", &[])]),
        // Inferred values, by their names and by those of shades.
        all(vec![any_of("color", &["Crimson", "navy"])]),
        none(vec![any_of("material", &["LEATHER"]), any_of("size", &["large"])]),
        all(vec![within(&["Furniture"])]),
        ProductFilter {
            all: vec![within(&["fr", "hg", "Apparel & Accessories > Shoes"])],
            none: vec![any_of("color", &["blue"]), within(&["Furniture > Sofas"])],
        },
        none(vec![within(&["fr"])]),
        all(vec![within(&[])]),
    ]
}

/// Every kind of facet.
pub(in crate::search) fn facets() -> Vec<FacetField> {
    let names = ["color", "brand", "material", "size", "weight", "in_stock", "mixed", "unknown"];
    let attributes = names.into_iter().map(|raw| FacetField::Attribute(name(raw)));
    attributes.chain([FacetField::Price, FacetField::Category]).collect()
}

/// Every kind of order.
pub(in crate::search) fn sorts() -> Vec<Option<Sort>> {
    let named = ["relevance", "price", "-price", "newest", "oldest", "weight", "-size", "mixed"];
    let named = named.into_iter().map(|raw| Some(Sort::parse(raw).unwrap()));
    [None].into_iter().chain(named).collect()
}

/// All filters with and without queries, with facets, each in several orders.
pub(in crate::search) fn filtered_requests() -> Vec<SearchRequest> {
    let queries = [
        None,
        Some("red lamp"),
        Some("leather sofa without steel toe"),
        Some("under $50 without leather"),
        Some("cheapest acme"),
        Some("xyzzy"),
    ];
    let (filters, sorts) = (filters(), sorts());
    let mut requests = Vec::new();
    for (number, filter) in filters.into_iter().enumerate() {
        for (more, query) in queries.into_iter().enumerate() {
            requests.push(SearchRequest {
                query: query.map(|query| QueryText::parse(query).unwrap()),
                filter: filter.clone(),
                facets: facets(),
                facet_limit: 4,
                sort: sorts[(number + 2 * more) % sorts.len()].clone(),
                ..request("any", 30)
            });
        }
    }
    requests
}

/// What a product says besides title and description.
pub(in crate::search) fn statements(product: &Product) -> impl Iterator<Item = &str> {
    let attributes = product.attributes.iter().flat_map(|(_, value)| value.texts());
    attributes.map(|text| &**text).chain(product.key.as_ref().map(Key::as_str))
}

/// The products that match a filter.
pub(in crate::search) fn matching<'a>(
    products: &[&'a Product],
    filter: &ProductFilter,
) -> Vec<&'a Product> {
    let matches = |product: &&&Product| {
        filter.matches(product.price.money(), &product.attributes, &product.inferred)
    };
    products.iter().filter(matches).copied().collect()
}

/// The facets of all products that match a filter.
pub(in crate::search) fn naive_facets(
    products: &[&Product],
    filter: &ProductFilter,
    request: &SearchRequest,
) -> Facets {
    let facet = |field: &FacetField| {
        let counted = matching(products, &filter.without(field.name()));
        let facet = match field {
            FacetField::Price => {
                let mut counts = PriceCounts::default();
                counted.iter().filter_map(|one| one.price.money()).for_each(|one| counts.add(one));
                counts.finish()
            }
            FacetField::Category => {
                let categories: Vec<_> =
                    counted.iter().map(|one| one.inferred.category_index()).collect();
                Facet::Category(category_facet(&categories, filter, request.facet_limit))
            }
            FacetField::Attribute(name) => naive_values(&counted, name, request.facet_limit),
        };
        (field.clone(), facet)
    };
    Facets(request.facets.iter().map(facet).collect())
}

fn naive_values(products: &[&Product], name: &AttributeName, limit: usize) -> Facet {
    let value = |one: &&Product| effective_value(&one.attributes, &one.inferred, name.as_str());
    let folded: Vec<(Vec<FoldedText>, Option<AttributeValue>)> = products
        .iter()
        .map(value)
        .map(|value| {
            let texts = value.as_ref().map_or(&[][..], AttributeValue::texts).iter();
            (texts.map(|text| FoldedText::of(text)).collect(), value)
        })
        .collect();
    let mut counts = AttributeCounts::default();
    for (folded, value) in &folded {
        match value {
            None => counts.add_missing(1),
            Some(AttributeValue::Boolean(boolean)) => counts.add_boolean(*boolean, 1),
            Some(AttributeValue::Number(number)) => counts.add_number(*number, 1),
            Some(texts) => {
                for (at, (text, one)) in texts.texts().iter().zip(folded).enumerate() {
                    counts.add_text(one.as_str(), text, 1);
                    if folded[..at].contains(one) {
                        counts.repeated(one.as_str());
                    }
                }
            }
        }
    }
    counts.finish(limit)
}

/// Sorts products; `None` for the newest first.
pub(in crate::search) fn sort(products: &mut [&Product], order: Option<&Sort>) {
    products.sort_by_key(|product| product.id);
    match order {
        None | Some(Sort::Relevance | Sort::Newest) => products.reverse(),
        Some(Sort::Oldest) => {}
        Some(Sort::Attribute(name, direction)) => {
            let number = |product: &Product| match product.attributes.get(name.as_str()) {
                Some(AttributeValue::Number(number)) => Some(number.get()),
                _ => None,
            };
            products.sort_by(|one, other| match (number(one), number(other)) {
                (Some(one), Some(other)) => directed(one.total_cmp(&other), *direction),
                (one, other) => other.is_some().cmp(&one.is_some()),
            });
        }
        Some(Sort::Price(direction)) => {
            let in_currency = |currency: Currency| {
                let prices = products.iter().filter_map(|product| product.price.money());
                prices.filter(|price| price.currency == currency).count()
            };
            let mut currencies: Vec<Currency> = Currency::all().collect();
            currencies.sort_by_key(|currency| Reverse(in_currency(*currency)));
            let place = |product: &Product| {
                let currency = product.price.money().map(|price| price.currency);
                currencies.iter().position(|one| Some(*one) == currency)
            };
            products.sort_by(|one, other| {
                let by_currency = place(one).cmp(&place(other));
                let amount = |product: &Product| product.price.money().map(|price| price.amount);
                by_currency.then(directed(amount(one).cmp(&amount(other)), *direction))
            });
        }
    }
}

fn directed(ascending: Ordering, direction: Direction) -> Ordering {
    match direction {
        Direction::Ascending => ascending,
        Direction::Descending => ascending.reverse(),
    }
}
