//! Counts of values, and how they become facets.

use std::{cmp::Ordering, collections::HashMap};

use rust_decimal::Decimal;

use super::{
    AttributeFacet, Facet, FacetValue, NumberFacet, PriceFacet, ValueCount,
    histogram::{histogram_of_amounts, histogram_of_numbers},
};
use crate::product::{attributes::Number, currency::Currency, price::Money};

/// What the products of a result have for an attribute.
#[derive(Clone, Debug, Default)]
pub struct AttributeCounts<'a> {
    /// By folded form.
    texts: HashMap<&'a str, TextCount<'a>>,
    numbers: Vec<(Number, usize)>,
    yes: usize,
    no: usize,
    missing: usize,
}

/// The products with a string, by written form.
#[derive(Clone, Debug)]
struct TextCount<'a> {
    first: (&'a str, usize),
    others: Vec<(&'a str, usize)>,
    /// Products that are counted for several forms, once for each further form.
    repeated: usize,
}

impl<'a> AttributeCounts<'a> {
    /// Adds products with a string. All forms with the same folded form are one value.
    pub fn add_text(&mut self, folded: &'a str, written: &'a str, products: usize) {
        let new = TextCount { first: (written, 0), others: Vec::new(), repeated: 0 };
        let count = self.texts.entry(folded).or_insert(new);
        if count.first.0 == written {
            count.first.1 += products;
        } else if let Some(other) = count.others.iter_mut().find(|other| other.0 == written) {
            other.1 += products;
        } else {
            count.others.push((written, products));
        }
    }

    /// Says that a product was added for two forms of the same string: it counts once.
    pub fn repeated(&mut self, folded: &'a str) {
        if let Some(count) = self.texts.get_mut(folded) {
            count.repeated += 1;
        }
    }

    /// Adds products with a number.
    pub fn add_number(&mut self, number: Number, products: usize) {
        self.numbers.push((number, products));
    }

    /// Adds products with a boolean.
    pub fn add_boolean(&mut self, value: bool, products: usize) {
        match value {
            true => self.yes += products,
            false => self.no += products,
        }
    }

    /// Adds products without the attribute.
    pub fn add_missing(&mut self, products: usize) {
        self.missing += products;
    }

    /// The facet, with at most `limit` values.
    pub fn finish(self, limit: usize) -> Facet {
        let booleans = [(true, self.yes), (false, self.no)];
        let booleans = booleans.into_iter().filter(|(_, count)| *count > 0);
        let mut counts: Vec<(Displayed<'_>, usize)> =
            booleans.map(|(value, count)| (Displayed::Boolean(value), count)).collect();
        counts.extend(self.texts.values().map(|text| (Displayed::Text(text.form()), text.count())));
        let by_count = |one: &(Displayed<'_>, usize), other: &(Displayed<'_>, usize)| {
            other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0))
        };
        if limit < counts.len() {
            counts.select_nth_unstable_by(limit, by_count);
            counts.truncate(limit);
        }
        counts.sort_unstable_by(by_count);
        let value =
            |(value, count): (Displayed<'_>, usize)| ValueCount { value: value.own(), count };
        Facet::Attribute(AttributeFacet {
            values: counts.into_iter().map(value).collect(),
            numbers: number_facet(&self.numbers),
            missing: self.missing,
        })
    }
}

impl<'a> TextCount<'a> {
    fn forms(&self) -> impl Iterator<Item = (&'a str, usize)> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// The form that most products write; of several, the least by its bytes.
    fn form(&self) -> &'a str {
        let by_count = |one: &(&str, usize), other: &(&str, usize)| -> Ordering {
            one.1.cmp(&other.1).then_with(|| other.0.cmp(one.0))
        };
        self.forms().max_by(by_count).map_or("", |(form, _)| form)
    }

    fn count(&self) -> usize {
        self.forms().map(|(_, count)| count).sum::<usize>() - self.repeated
    }
}

/// A [`FacetValue`] before it is known whether it is among the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Displayed<'a> {
    Boolean(bool),
    Text(&'a str),
}

impl Displayed<'_> {
    fn own(self) -> FacetValue {
        match self {
            Self::Boolean(value) => FacetValue::Boolean(value),
            Self::Text(text) => FacetValue::Text(text.into()),
        }
    }
}

fn number_facet(numbers: &[(Number, usize)]) -> Option<NumberFacet> {
    let min = numbers.iter().map(|(number, _)| *number).min()?;
    let max = numbers.iter().map(|(number, _)| *number).max()?;
    let histogram = histogram_of_numbers(min, max, numbers);
    Some(NumberFacet { min: min.get(), max: max.get(), histogram })
}

/// The prices of the products of a result.
#[derive(Clone, Debug, Default)]
pub struct PriceCounts(Vec<(Currency, Vec<Decimal>)>);

impl PriceCounts {
    /// Adds a product.
    pub fn add(&mut self, price: Money) {
        let Money { amount, currency } = price;
        match self.0.iter_mut().find(|(other, _)| *other == currency) {
            Some((_, amounts)) => amounts.push(amount),
            None => self.0.push((currency, vec![amount])),
        }
    }

    /// The facet: one for each currency, the most frequent first.
    pub fn finish(mut self) -> Facet {
        self.0.sort_by(|(one, amounts), (other, other_amounts)| {
            let by_count = other_amounts.len().cmp(&amounts.len());
            by_count.then_with(|| one.code().cmp(other.code()))
        });
        let facet = |(currency, amounts): (Currency, Vec<Decimal>)| {
            let (min, max) = (*amounts.iter().min()?, *amounts.iter().max()?);
            Some(PriceFacet {
                currency,
                min,
                max,
                histogram: histogram_of_amounts(min, max, &amounts),
            })
        };
        Facet::Price(self.0.into_iter().filter_map(facet).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(facet: Facet) -> Vec<(String, usize)> {
        let Facet::Attribute(facet) = facet else { panic!("a price") };
        let name = |value: FacetValue| match value {
            FacetValue::Boolean(value) => value.to_string(),
            FacetValue::Text(text) => text.into(),
        };
        facet.values.into_iter().map(|one| (name(one.value), one.count)).collect()
    }

    #[test]
    fn forms_of_a_value_are_counted_together_and_shown_as_most_write_it() {
        let mut counts = AttributeCounts::default();
        counts.add_text("red", "red", 2);
        counts.add_text("red", "Red", 3);
        counts.add_text("red", "RED", 1);
        counts.add_text("red", "red", 1);
        counts.add_text("blue", "blue", 1);
        counts.repeated("red");
        // Three write "red" and three "Red": the smaller bytes are shown.
        assert_eq!(values(counts.finish(10)), [("Red".into(), 6), ("blue".into(), 1)]);
    }

    #[test]
    fn values_are_ordered_by_count_then_value_and_limited() {
        let mut counts = AttributeCounts::default();
        for (text, count) in [("c", 2), ("a", 1), ("d", 5), ("b", 2)] {
            counts.add_text(text, text, count);
        }
        counts.add_boolean(false, 2);
        counts.add_boolean(true, 0);
        let shown = |limit| {
            let values = values(counts.clone().finish(limit)).into_iter();
            values.map(|(value, _)| value).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(9), "d false b c a");
        assert_eq!(shown(3), "d false b");
        assert_eq!(shown(0), "");
    }

    #[test]
    fn an_attribute_without_values_counts_what_misses_it() {
        let mut counts = AttributeCounts::default();
        counts.add_missing(7);
        let expected = AttributeFacet { missing: 7, ..AttributeFacet::default() };
        assert_eq!(counts.finish(5), Facet::Attribute(expected));
    }

    #[test]
    fn currencies_are_ordered_by_frequency_then_code() {
        let mut counts = PriceCounts::default();
        for price in ["$3", "5 EUR", "7 EUR", "£9", "2.50 USD"] {
            counts.add(Money::parse(price).unwrap());
        }
        let Facet::Price(facets) = counts.finish() else { panic!("an attribute") };
        let shown: Vec<_> = facets
            .iter()
            .map(|one| format!("{} {} {}", one.currency.code(), one.min, one.max))
            .collect();
        assert_eq!(shown, ["EUR 5 7", "USD 2.50 3", "GBP 9 9"]);
    }
}
