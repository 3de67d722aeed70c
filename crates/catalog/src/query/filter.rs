//! Filters: conditions on price, category and attributes that a request states as data.
//!
//! [`ProductFilter::matches`] defines what a filter means, for one product. The index evaluates
//! the same conditions over columns.

use std::ops::Range;

use crate::{
    inference::{attributes::parse_value, category::Taxonomy},
    product::{
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        inferred::{Attribute, CategoryIndex, Inferred},
        price::Money,
    },
    query::parser::PriceConstraint,
    text::analysis,
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

    /// The inferred values that satisfy the test, a bit each. A shade stands for its base color.
    pub fn inferred_values(&self, attribute: Attribute) -> u64 {
        match self {
            Self::AnyOf(wanted) => {
                wanted.iter().fold(0, |bits, text| bits | parse_value(attribute, text.as_str()))
            }
            Self::Is(_) | Self::Between { .. } => 0,
        }
    }
}

/// A condition of a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// On the price.
    Price(PriceConstraint),
    /// On an attribute. A product without it does not satisfy the condition. What is inferred
    /// counts where the merchant does not state the attribute.
    Attribute(AttributeName, AttributeTest),
    /// The same, required by the words of a query. Like other conditions in words, it restricts
    /// every facet.
    Required(AttributeName, AttributeTest),
    /// On the category: within one of these ranges of numbers, each a node of the taxonomy with
    /// everything below it. A product without a category does not satisfy the condition.
    Category(Vec<Range<u16>>),
}

impl Condition {
    /// The condition that a product belongs to one of these categories or below it.
    pub fn within(taxonomy: &Taxonomy, categories: &[CategoryIndex]) -> Self {
        Self::Category(categories.iter().map(|category| taxonomy.below(*category)).collect())
    }

    /// What the condition is about, as facets name it: `price`, `category` or the attribute. Empty
    /// for a condition in words, which is of no facet's own.
    pub fn field(&self) -> &str {
        match self {
            Self::Price(_) => "price",
            Self::Category(_) => "category",
            Self::Attribute(name, _) => name.as_str(),
            Self::Required(..) => "",
        }
    }

    /// Whether a product satisfies the condition. An unparsable price satisfies none.
    pub fn matches(
        &self,
        price: Option<Money>,
        attributes: &Attributes,
        inferred: &Inferred,
    ) -> bool {
        match self {
            Self::Price(constraint) => price.is_some_and(|price| constraint.admits(price)),
            Self::Category(ranges) => inferred
                .category_index()
                .is_some_and(|category| ranges.iter().any(|range| range.contains(&category.0))),
            Self::Attribute(name, test) | Self::Required(name, test) => {
                match attributes.get(name.as_str()) {
                    Some(value) => test.matches(value),
                    None => Attribute::by_name(name.as_str()).is_some_and(|attribute| {
                        let values = inferred.values_of(attribute, attributes);
                        values != 0 && values & test.inferred_values(attribute) != 0
                    }),
                }
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
    pub fn matches(
        &self,
        price: Option<Money>,
        attributes: &Attributes,
        inferred: &Inferred,
    ) -> bool {
        let holds = |condition: &Condition| condition.matches(price, attributes, inferred);
        self.all.iter().all(holds) && !self.none.iter().any(holds)
    }

    /// The deepest category that all required categories have in common; `None` if none is
    /// required, or if they have none in common.
    pub fn category(&self, taxonomy: &Taxonomy) -> Option<CategoryIndex> {
        let ranges = self.all.iter().filter_map(|condition| match condition {
            Condition::Category(ranges) => Some(ranges),
            _ => None,
        });
        let mut nodes = ranges.flatten().map(|range| CategoryIndex(range.start));
        let first = nodes.next()?;
        nodes.try_fold(first, |common, next| taxonomy.common_ancestor(common, next))
    }

    /// Whether it depends on what is inferred.
    pub fn uses_inference(&self) -> bool {
        self.all.iter().chain(&self.none).any(|condition| match condition {
            Condition::Price(_) => false,
            Condition::Category(_) => true,
            Condition::Attribute(name, _) | Condition::Required(name, _) => {
                Attribute::by_name(name.as_str()).is_some()
            }
        })
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
    use crate::{
        inference::attributes::infer_product,
        product::{inferred::InferredCategory, price::Price},
    };

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
        ProductFilter { all, none }.matches(price, &shoe(), &Inferred::default())
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
    fn inferred_values_count_where_the_merchant_states_none() {
        let inferred = |title: &str| Inferred {
            attributes: infer_product(title, "", Attributes::none()),
            category: None,
            likely_category: None,
            named_category: None,
        };
        let matches = |title: &str, merchant: &Attributes, condition: Condition| {
            ProductFilter { all: vec![condition], none: vec![] }.matches(
                None,
                merchant,
                &inferred(title),
            )
        };
        let none = Attributes::none();
        for value in ["green", "GREEN", "emerald", "Émerald"] {
            assert!(matches("Green wool scarf", none, any_of("color", &[value])), "{value}");
        }
        assert!(!matches("Green wool scarf", none, any_of("color", &["red", "striped"])));
        assert!(matches("Green wool scarf", none, any_of("material", &["wool"])));
        assert!(!matches("Green wool scarf", none, any_of("brand", &["green"])));
        // The shoe is red and blue, whatever its title says, and its size is a number.
        assert!(!matches("Green shoe", &shoe(), any_of("color", &["green"])));
        assert!(!matches("Large green shoe", &shoe(), any_of("size", &["large"])));
        let is = Condition::Attribute(name("color"), AttributeTest::Is(true));
        assert!(!matches("Green scarf", none, is));
    }

    #[test]
    fn a_category_includes_everything_below_it() {
        let taxonomy = Taxonomy::new((&b"a\tA\na-1\tB\na-1-1\tC\na-2\tD\nb\tE\n"[..]).into());
        let taxonomy = taxonomy.unwrap();
        let id = |id: &str| taxonomy.with_id(id).unwrap();
        let filter = |all: &[&str]| {
            let nodes: Vec<_> = all.iter().map(|one| id(one)).collect();
            ProductFilter { all: vec![Condition::within(&taxonomy, &nodes)], none: vec![] }
        };
        let matches = |of: &str, all: &[&str]| {
            let category = Some(InferredCategory { category: id(of), confidence: 90 });
            let inferred = Inferred { category, ..Inferred::default() };
            filter(all).matches(None, Attributes::none(), &inferred)
        };
        assert!(matches("a-1-1", &["a-1"]) && matches("a-1", &["a-1"]));
        assert!(!matches("a", &["a-1"]) && !matches("a-2", &["a-1"]));
        assert!(matches("a-2", &["b", "a-2"]) && !matches("a-2", &[]));
        assert!(!filter(&["a"]).matches(None, Attributes::none(), &Inferred::default()));
        let common = |all: &[&str]| filter(all).category(&taxonomy).map(|at| taxonomy.id(at));
        assert_eq!(common(&["a-1-1"]), Some("a-1-1"));
        assert_eq!(common(&["a-2", "a-1-1"]), Some("a"));
        assert_eq!(common(&["a", "b"]), None);
        assert_eq!(common(&[]), None);
        assert!(filter(&["a"]).without("category").is_empty());
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
        let test = AttributeTest::AnyOf(vec![FoldedText::of("red")]);
        let in_words =
            ProductFilter { all: vec![Condition::Required(name("color"), test)], none: vec![] };
        assert_eq!(in_words.without("color"), in_words);
        assert!(!in_words.has_conditions_on("color"));
        assert!(in_words.matches(None, &shoe(), &Inferred::default()));
    }
}
