//! The definitions of what facets count, with which tests compare.

use std::{cmp::Reverse, collections::BTreeMap};

use catalog::{
    product::{
        attributes::{AttributeValue, Attributes},
        inferred::{Attribute, CategoryIndex, Inferred},
    },
    query::filter::ProductFilter,
    ranking::facets::{CategoryCount, CategoryFacet},
};
use embed::inference::taxonomy;

/// The value of an attribute that filters and facets see: the merchant's, or else the inferred one.
pub fn effective_value(
    attributes: &Attributes,
    inferred: &Inferred,
    name: &str,
) -> Option<AttributeValue> {
    if let Some(stated) = attributes.get(name) {
        return Some(stated.clone());
    }
    let values = inferred.attributes.values.values(Attribute::by_name(name)?);
    let values: Box<[Box<str>]> = values.map(Box::from).collect();
    (!values.is_empty()).then_some(AttributeValue::Texts(values))
}

/// The facet of these categories, for a request with this filter.
pub fn category_facet(
    categories: &[Option<CategoryIndex>],
    filter: &ProductFilter,
    limit: usize,
) -> CategoryFacet {
    let path = |category: &CategoryIndex| {
        let mut path: Vec<_> = taxonomy().ancestors(*category).collect();
        path.reverse();
        path
    };
    let paths: Vec<Vec<CategoryIndex>> = categories.iter().flatten().map(path).collect();
    let is_common = |node: &&CategoryIndex| paths.iter().all(|path| path.contains(node));
    let common = || paths.first()?.iter().rfind(is_common).copied();
    let parent = filter.category(taxonomy()).or_else(common);
    let mut counts: BTreeMap<CategoryIndex, usize> = BTreeMap::new();
    for node in paths.iter().flatten().filter(|node| taxonomy().parent(**node) == parent) {
        *counts.entry(*node).or_default() += 1;
    }
    let count = |(category, count)| CategoryCount { category, count };
    let mut values: Vec<CategoryCount> = counts.into_iter().map(count).collect();
    values.sort_by_key(|one| (Reverse(one.count), taxonomy().id(one.category)));
    values.truncate(limit);
    CategoryFacet { parent, values, missing: categories.len() - paths.len() }
}
