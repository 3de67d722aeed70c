//! Labels: category and attributes of a product as lexemes of a tsvector, and filters as tsqueries
//! on them.
//!
//! A string or a boolean is one label. A number is written in digits of two bits, in an order that
//! is that of numbers, so that a range is a union of prefixes. An inferred value is a label of its
//! own kind, where the merchant does not state the attribute. A category is the labels of itself and
//! of all categories above it. A tsquery of labels therefore decides every condition on attributes
//! and category, and an index supports it.

use std::ops::Range;

use catalog::{
    product::{
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        inferred::{Attribute, CategoryIndex, Inferred, InferredAttributes},
    },
    query::filter::{AttributeTest, Condition, FoldedText, ProductFilter},
};
use embed::inference::taxonomy;
use ring::digest::{SHA256, digest};

use super::lexemes::quote;

/// Longer strings are hashed: a lexeme may have 2,046 bytes.
const MAX_STRING_BYTES: usize = 200;
/// Digits of a number.
const DIGITS: u32 = 32;
/// The values of a digit.
const BASE: u128 = 4;
/// A label that no product has.
const NO_LABEL: &str = "'x'";

/// The labels of a product in the textual form of a tsvector.
pub(super) fn tsvector(attributes: &Attributes, inferred: &Inferred) -> String {
    let mut text = String::new();
    let mut push = |label: String| {
        quote(&label, &mut text);
        text.push(' ');
    };
    for (name, value) in attributes.iter() {
        match value {
            AttributeValue::Number(number) => push(number_label(name, &digits(place(*number)))),
            AttributeValue::Boolean(boolean) => push(boolean_label(name, *boolean)),
            AttributeValue::Text(_) | AttributeValue::Texts(_) => {
                value.texts().iter().for_each(|text| push(text_label(name, &FoldedText::of(text))));
            }
        }
    }
    for (attribute, value) in unstated(attributes, inferred) {
        push(inferred_label(attribute, value));
    }
    if let Some(category) = inferred.category_index() {
        taxonomy().ancestors(category).for_each(|above| push(category_label(above)));
    }
    text
}

/// The inferred values of the attributes that the merchant does not state.
pub(super) fn unstated(
    attributes: &Attributes,
    inferred: &Inferred,
) -> impl Iterator<Item = (Attribute, &'static str)> {
    inferred.attributes.values.iter().filter(|(one, _)| attributes.get(one.name()).is_none())
}

/// The conditions of a filter on attributes and category as a tsquery on labels; `None` if there are
/// none.
pub(super) fn tsquery(filter: &ProductFilter) -> Option<String> {
    let query = |condition: &Condition| match condition {
        Condition::Attribute(name, test) | Condition::Required(name, test) => {
            Some(test_query(name, test))
        }
        Condition::Category(ranges) => Some(category_query(ranges)),
        Condition::Price(_) => None,
    };
    let all = filter.all.iter().filter_map(query).map(|query| format!("({query})"));
    let none = filter.none.iter().filter_map(query).map(|query| format!("!({query})"));
    let conditions: Vec<String> = all.chain(none).collect();
    (!conditions.is_empty()).then(|| conditions.join(" & "))
}

fn test_query(name: &AttributeName, test: &AttributeTest) -> String {
    let mut labels: Vec<String> = Vec::new();
    let mut push = |label: String, is_prefix: bool| {
        let mut quoted = String::new();
        quote(&label, &mut quoted);
        if is_prefix {
            quoted.push_str(":*");
        }
        labels.push(quoted);
    };
    match test {
        AttributeTest::AnyOf(texts) => {
            texts.iter().for_each(|text| push(text_label(name, text), false));
            if let Some(attribute) = Attribute::by_name(name.as_str()) {
                let values = InferredAttributes::of(attribute, test.inferred_values(attribute));
                let labels = values.iter().map(|(one, value)| inferred_label(one, value));
                labels.for_each(|label| push(label, false));
            }
        }
        AttributeTest::Is(boolean) => push(boolean_label(name, *boolean), false),
        AttributeTest::Between { min, max } => {
            let (least, greatest) = (min.map_or(0, place), max.map_or(BASE.pow(DIGITS) - 1, place));
            for prefix in prefixes(least, greatest) {
                let is_prefix = prefix.len() < DIGITS as usize;
                push(number_label(name, &prefix), is_prefix);
            }
        }
    }
    any_of(&labels)
}

fn category_query(ranges: &[Range<u16>]) -> String {
    let label = |range: &Range<u16>| {
        let mut quoted = String::new();
        quote(&category_label(CategoryIndex(range.start)), &mut quoted);
        quoted
    };
    any_of(&ranges.iter().map(label).collect::<Vec<_>>())
}

fn any_of(labels: &[String]) -> String {
    if labels.is_empty() { NO_LABEL.to_owned() } else { labels.join(" | ") }
}

fn inferred_label(attribute: Attribute, value: &str) -> String {
    format!("i{}={value}", attribute.name())
}

fn category_label(category: CategoryIndex) -> String {
    format!("c{}", taxonomy().id(category))
}

fn text_label(name: &AttributeName, text: &FoldedText) -> String {
    let text = text.as_str();
    // A parameter cannot contain NUL.
    if text.len() <= MAX_STRING_BYTES && !text.contains('\0') {
        return format!("t{name}={text}");
    }
    let hash = digest(&SHA256, text.as_bytes());
    let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("h{name}={hex}")
}

fn boolean_label(name: &AttributeName, boolean: bool) -> String {
    format!("b{name}={boolean}")
}

fn number_label(name: &AttributeName, digits: &str) -> String {
    format!("n{name}={digits}")
}

/// The place of a number among all numbers.
fn place(number: Number) -> u128 {
    const SIGN: u64 = 1 << 63;
    let bits = number.get().to_bits();
    u128::from(if bits & SIGN == 0 { bits | SIGN } else { !bits })
}

fn digits(place: u128) -> String {
    let digit = |at: u32| char::from(b'0' + (place / BASE.pow(at) % BASE) as u8);
    (0..DIGITS).rev().map(digit).collect()
}

/// The fewest prefixes that cover all places from `least` to `greatest`, both inclusive.
fn prefixes(least: u128, greatest: u128) -> Vec<String> {
    let mut prefixes = Vec::new();
    let mut next = least;
    while next <= greatest {
        let fits = |open: &u32| {
            next.is_multiple_of(BASE.pow(*open)) && next + BASE.pow(*open) - 1 <= greatest
        };
        let open = (1..=DIGITS).take_while(fits).last().unwrap_or(0);
        let mut prefix = digits(next);
        prefix.truncate((DIGITS - open) as usize);
        prefixes.push(prefix);
        next += BASE.pow(open);
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use embed::inference::infer;
    use proptest::prelude::*;

    use super::*;

    fn name(raw: &str) -> AttributeName {
        AttributeName::parse(raw).unwrap()
    }

    fn number(value: f64) -> Number {
        Number::new(value).unwrap()
    }

    #[test]
    fn labels_have_type_name_and_folded_value() {
        let attributes = Attributes::new(vec![
            (name("color"), AttributeValue::Texts(["Red".into(), "l'été".into()].into())),
            (name("in_stock"), AttributeValue::Boolean(true)),
            (name("note"), AttributeValue::Text("x".repeat(201).into())),
        ]);
        let text = tsvector(&attributes, &Inferred::default());
        assert!(
            text.starts_with("'tcolor=red' 'tcolor=l''ete' 'bin_stock=true' 'hnote="),
            "{text}"
        );
        assert_eq!(text.rsplit('=').next().unwrap().len(), 64 + "' ".len(), "{text}");
    }

    #[test]
    fn a_filter_becomes_a_query() {
        let any_of = |field, texts: &[&str]| {
            let texts = texts.iter().map(|text| FoldedText::of(text)).collect();
            Condition::Attribute(name(field), AttributeTest::AnyOf(texts))
        };
        let is = Condition::Attribute(name("in_stock"), AttributeTest::Is(true));
        let any = AttributeTest::Between { min: None, max: None };
        let any = Condition::Attribute(name("size"), any);
        let filter = ProductFilter {
            all: vec![any_of("color", &["Red", "blue"]), is],
            none: vec![any_of("brand", &[]), any],
        };
        let expected = "('tcolor=red' | 'tcolor=blue' | 'icolor=red' | 'icolor=blue') & \
                        ('bin_stock=true') & !('x') & !('nsize=':*)";
        assert_eq!(tsquery(&filter).unwrap(), expected);
        assert_eq!(tsquery(&ProductFilter::default()), None);
    }

    #[test]
    fn inferred_values_have_labels_where_the_merchant_states_none() {
        let inferred = infer("Green linen dress", "", Attributes::none());
        let material = AttributeValue::Text("Flax".into());
        let text = tsvector(&Attributes::new(vec![(name("material"), material)]), &inferred);
        assert!(text.starts_with("'tmaterial=flax' 'icolor=green' 'c"), "{text}");
        assert!(text.contains(" 'caa-1' 'caa' "), "{text}");
        let emerald = AttributeTest::AnyOf(vec![FoldedText::of("Emerald")]);
        let clothing = taxonomy().with_id("aa-1").unwrap();
        let filter = ProductFilter {
            all: vec![Condition::Attribute(name("color"), emerald)],
            none: vec![
                Condition::within(taxonomy(), &[clothing]),
                Condition::within(taxonomy(), &[]),
            ],
        };
        let expected = "('tcolor=emerald' | 'icolor=green') & !('caa-1') & !('x')";
        assert_eq!(tsquery(&filter).unwrap(), expected);
    }

    #[test]
    fn ranges_of_usual_numbers_are_few_prefixes() {
        let of = |least, greatest| prefixes(place(number(least)), place(number(greatest))).len();
        assert!(of(10.0, 50.0) < 40, "{}", of(10.0, 50.0));
        assert!(of(0.1, 99.99) < 200, "{}", of(0.1, 99.99));
        assert_eq!(of(42.0, 42.0), 1);
        assert_eq!(of(2.0, 1.0), 0);
    }

    proptest! {
        #[test]
        fn a_range_covers_its_numbers_and_no_others(
            (least, greatest) in (number_strategy(), number_strategy()),
            others in prop::collection::vec(number_strategy(), 20),
        ) {
            let prefixes = prefixes(place(least), place(greatest));
            let near = [least, greatest].into_iter().flat_map(|end| {
                [end.get().next_down(), end.get(), end.get().next_up()].into_iter().filter_map(Number::new)
            });
            for other in others.into_iter().chain(near) {
                let digits = digits(place(other));
                let is_covered = prefixes.iter().any(|prefix| digits.starts_with(&**prefix));
                prop_assert_eq!(is_covered, least <= other && other <= greatest, "{:?}", other);
            }
        }
    }

    fn number_strategy() -> impl Strategy<Value = Number> {
        prop_oneof![
            (-20_i32..20).prop_map(f64::from),
            (-2000_i32..2000).prop_map(|hundredths| f64::from(hundredths) / 100.0),
            prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        ]
        .prop_map(number)
    }
}
