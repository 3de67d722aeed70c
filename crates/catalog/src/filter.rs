//! Filters: conditions on price and attributes that a request states as data.
//!
//! [`ProductFilter::matches`] defines what a filter means, for one product. The index evaluates
//! the same conditions over columns.

use crate::{
    analysis,
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    price::Money,
    query_parser::PriceConstraint,
};

/// The most conditions of a filter.
pub const MAX_CONDITIONS: usize = 50;
/// The most values of one condition.
pub const MAX_VALUES: usize = 50;

/// A string as filters compare it: compatibility forms, case and accents make no difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoldedText(Box<str>);

impl FoldedText {
    /// Folds a string.
    pub fn of(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        analysis::fold_into(&mut folded, text);
        Self(folded.into())
    }

    /// The folded string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What an attribute must be. Only values of the named type are considered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeTest {
    /// A string that equals one of these.
    AnyOf(Vec<FoldedText>),
    /// This boolean.
    Is(bool),
    /// A number within both ends, which are included.
    Between {
        /// The least number.
        min: Option<Number>,
        /// The greatest number.
        max: Option<Number>,
    },
}

impl AttributeTest {
    /// Whether a value satisfies the test.
    pub fn matches(&self, value: &AttributeValue) -> bool {
        match (self, value) {
            (Self::AnyOf(wanted), value) => {
                value.texts().iter().any(|text| wanted.contains(&FoldedText::of(text)))
            }
            (Self::Is(wanted), AttributeValue::Boolean(value)) => wanted == value,
            (Self::Between { min, max }, AttributeValue::Number(number)) => {
                min.is_none_or(|min| min <= *number) && max.is_none_or(|max| *number <= max)
            }
            _ => false,
        }
    }
}

/// A condition of a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// On the price.
    Price(PriceConstraint),
    /// On an attribute. A product without it does not satisfy the condition.
    Attribute(AttributeName, AttributeTest),
}

impl Condition {
    /// What the condition is about, as facets name it: `price` or the attribute.
    pub fn field(&self) -> &str {
        match self {
            Self::Price(_) => "price",
            Self::Attribute(name, _) => name.as_str(),
        }
    }

    /// Whether a product satisfies the condition. An unparsable price satisfies none.
    pub fn matches(&self, price: Option<Money>, attributes: &Attributes) -> bool {
        match self {
            Self::Price(constraint) => price.is_some_and(|price| constraint.admits(price)),
            Self::Attribute(name, test) => {
                attributes.get(name.as_str()).is_some_and(|value| test.matches(value))
            }
        }
    }
}

/// A filter: all conditions of `all` hold, and none of `none`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProductFilter {
    /// Conditions that must hold.
    pub all: Vec<Condition>,
    /// Conditions that must not hold.
    pub none: Vec<Condition>,
}

impl ProductFilter {
    /// No conditions.
    pub fn none() -> &'static Self {
        static NONE: ProductFilter = ProductFilter { all: Vec::new(), none: Vec::new() };
        &NONE
    }

    /// Whether there are conditions on a field.
    pub fn has_conditions_on(&self, field: &str) -> bool {
        self.all.iter().chain(&self.none).any(|condition| condition.field() == field)
    }

    /// Whether every product matches.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.none.is_empty()
    }

    /// Whether a product matches.
    pub fn matches(&self, price: Option<Money>, attributes: &Attributes) -> bool {
        self.all.iter().all(|condition| condition.matches(price, attributes))
            && !self.none.iter().any(|condition| condition.matches(price, attributes))
    }

    /// The filter without its conditions on a field: what the counts of a facet are restricted by.
    pub fn without(&self, field: &str) -> Self {
        let keep = |conditions: &[Condition]| {
            conditions.iter().filter(|condition| condition.field() != field).cloned().collect()
        };
        Self { all: keep(&self.all), none: keep(&self.none) }
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;
    use crate::price::Price;

    fn name(raw: &str) -> AttributeName {
        AttributeName::parse(raw).unwrap()
    }

    fn number(value: f64) -> Number {
        Number::new(value).unwrap()
    }

    fn any_of(field: &str, values: &[&str]) -> Condition {
        let values = values.iter().map(|value| FoldedText::of(value)).collect();
        Condition::Attribute(name(field), AttributeTest::AnyOf(values))
    }

    fn shoe() -> Attributes {
        Attributes::new(vec![
            (name("brand"), AttributeValue::Text("Açme".into())),
            (name("color"), AttributeValue::Texts(["Red".into(), "BLUE".into()].into())),
            (name("size"), AttributeValue::Number(number(42.0))),
            (name("in_stock"), AttributeValue::Boolean(true)),
        ])
    }

    fn matches(all: Vec<Condition>, none: Vec<Condition>) -> bool {
        let price = Price::parse("$10").unwrap().money();
        ProductFilter { all, none }.matches(price, &shoe())
    }

    #[test]
    fn strings_are_compared_folded_and_any_value_will_do() {
        assert!(matches(vec![any_of("brand", &["other", "ACME"])], vec![]));
        assert!(matches(vec![any_of("color", &["blue"])], vec![]));
        assert!(!matches(vec![any_of("color", &["green"])], vec![]));
        assert!(!matches(vec![any_of("color", &["blue"])], vec![any_of("brand", &["acme"])]));
    }

    #[test]
    fn a_missing_attribute_matches_nothing_but_its_negation() {
        assert!(!matches(vec![any_of("material", &["wool"])], vec![]));
        assert!(matches(vec![], vec![any_of("material", &["wool"])]));
    }

    #[test]
    fn only_values_of_the_tested_type_count() {
        let between = |min: f64, max: f64| {
            let test = AttributeTest::Between { min: Some(number(min)), max: Some(number(max)) };
            Condition::Attribute(name("size"), test)
        };
        assert!(matches(vec![between(42.0, 42.0)], vec![]));
        assert!(!matches(vec![between(42.5, 50.0)], vec![]));
        assert!(!matches(vec![any_of("size", &["42"])], vec![]));
        assert!(!matches(vec![any_of("in_stock", &["true"])], vec![]));
        let is = |value| Condition::Attribute(name("in_stock"), AttributeTest::Is(value));
        assert!(matches(vec![is(true)], vec![is(false)]));
    }

    #[test]
    fn a_facets_own_conditions_are_left_out() {
        let constraint = PriceConstraint::between(None, Some(Decimal::TEN), None);
        let filter = ProductFilter {
            all: vec![any_of("color", &["red"]), Condition::Price(constraint)],
            none: vec![any_of("color", &["blue"])],
        };
        assert_eq!(filter.without("color").all.len(), 1);
        assert!(filter.without("color").none.is_empty());
        assert_eq!(filter.without("price").all.len(), 1);
        assert_eq!(filter.without("brand"), filter);
    }
}
