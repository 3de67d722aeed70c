//! Reads attributes from cells: names and values that break a rule are adapted or left out, with a
//! warning, instead of costing the product.

use std::collections::HashSet;

use catalog::{
    product::attributes::{
        AttributeName, AttributeValue, MAX_ATTRIBUTES, MAX_NAME_CHARS, MAX_STRINGS, MAX_VALUE_CHARS,
    },
    query::filter::FoldedText,
};
use serde_json::Value;

use super::{cells, record::Object, work};

/// How the cells of an attribute are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As text; JSON's numbers and booleans as what they are.
    Text,
    /// As a number.
    Number,
    /// As a boolean.
    Boolean,
    /// As several texts, separated by `|`, else by `;`, else by `,`.
    List,
    /// As several texts, separated by this character.
    Separated(char),
}

impl Kind {
    /// The kinds that `--map` can name.
    pub(super) const NAMED: [(&'static str, Self); 4] = [
        ("text", Self::Text),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("list", Self::List),
    ];
}

/// The attribute's name that a column or an option stands for: folded, with `_` between its words.
pub(super) fn name_of(raw: &str) -> Option<AttributeName> {
    let folded = FoldedText::of(raw);
    let words = folded.as_str().split(|c: char| !c.is_ascii_alphanumeric());
    let joined = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let cut = &joined[..joined.len().min(MAX_NAME_CHARS)];
    AttributeName::parse(cut.trim_end_matches('_')).ok()
}

/// The attributes of one record.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    values: Object,
    warnings: Vec<String>,
    /// Those that are listed already.
    warned: HashSet<String>,
}

impl Attributes {
    /// Attributes that are stated as such. The rules of the API hold for them.
    pub(super) fn stated(&mut self, values: &Object) {
        self.values.extend(values.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Adds what a cell states. Several texts of one name become a list.
    pub(super) fn add(&mut self, name: &AttributeName, kind: Kind, cell: &Value) {
        match (kind, cell) {
            (_, Value::Null) => {}
            (_, Value::Array(cells)) => cells.iter().for_each(|cell| self.add(name, kind, cell)),
            (Kind::Text, Value::Number(_) | Value::Bool(_))
            | (Kind::Number, Value::Number(_))
            | (Kind::Boolean, Value::Bool(_)) => self.put(name, cell.clone()),
            (_, Value::String(text)) => match text.trim() {
                "" => {}
                text => self.add_text(name, kind, text),
            },
            _ => self.warn(format!("{name} is neither text nor a list of texts and was left out")),
        }
    }

    fn add_text(&mut self, name: &AttributeName, kind: Kind, text: &str) {
        work::step();
        let left_out =
            |what: &str| format!("{name} {:?} is not {what} and was left out", shortened(text));
        match kind {
            Kind::Text => self.add_strings(name, &[text], false),
            Kind::Number => match text.parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
                Some(number) => self.put(name, number.into()),
                None => self.warn(left_out("a number")),
            },
            Kind::Boolean => match cells::truth("", &Value::String(text.to_owned())) {
                Ok(Some(truth)) => self.put(name, truth.into()),
                _ => self.warn(left_out("true or false")),
            },
            Kind::List => {
                let separator = ['|', ';'].into_iter().find(|c| text.contains(*c)).unwrap_or(',');
                self.add_strings(name, &text.split(separator).collect::<Vec<_>>(), true);
            }
            Kind::Separated(separator) => {
                let parts: Vec<_> = text.split(separator).collect();
                self.add_strings(name, &parts, separator == ',');
            }
        }
    }

    /// Adds strings that are not there yet; one alone is a list only if it is to be one.
    fn add_strings(&mut self, name: &AttributeName, texts: &[&str], is_list: bool) {
        let (mut strings, mut is_list) = match self.values.remove(name.as_str()) {
            None if self.values.len() >= MAX_ATTRIBUTES => return self.warn(one_too_many(name)),
            None => (Vec::new(), is_list),
            Some(Value::Array(strings)) => (strings, true),
            Some(Value::String(one)) => (vec![Value::String(one)], is_list),
            // A number or a boolean was stated before.
            Some(other) => return drop(self.values.insert(name.to_string(), other)),
        };
        let mut dropped = 0;
        for text in texts {
            let text = text.trim();
            let cut: String = text.chars().take(MAX_VALUE_CHARS).collect();
            let value = Value::String(cut.trim_end().to_owned());
            if text.is_empty() || strings.contains(&value) {
                continue;
            }
            if let Err(why) = AttributeValue::parse_text(&cut) {
                self.warn(format!("{name} {why} and was left out"));
            } else if strings.len() == MAX_STRINGS {
                dropped += 1;
            } else {
                if cut.len() < text.len() {
                    self.warn(format!("{name} was cut to {MAX_VALUE_CHARS} characters"));
                }
                strings.push(value);
            }
        }
        if dropped > 0 {
            self.warn(format!(
                "{name} has more than {MAX_STRINGS} values, {dropped} were left out"
            ));
        }
        is_list |= strings.len() > 1;
        match strings.pop() {
            None => {}
            Some(one) if !is_list => drop(self.values.insert(name.to_string(), one)),
            Some(last) => {
                strings.push(last);
                self.values.insert(name.to_string(), Value::Array(strings));
            }
        }
    }

    fn put(&mut self, name: &AttributeName, value: Value) {
        if self.values.len() < MAX_ATTRIBUTES || self.values.contains_key(name.as_str()) {
            self.values.insert(name.to_string(), value);
        } else {
            self.warn(one_too_many(name));
        }
    }

    fn warn(&mut self, warning: String) {
        work::step();
        if self.warned.insert(warning.clone()) {
            self.warnings.push(warning);
        }
    }

    /// The attributes as a request states them, and the warnings.
    pub(super) fn finish(self) -> (Value, Vec<String>) {
        (Value::Object(self.values), self.warnings)
    }
}

fn one_too_many(name: &AttributeName) -> String {
    format!("has more than {MAX_ATTRIBUTES} attributes, {name} is left out")
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(cells: &[(&str, Kind, Value)]) -> (Value, Vec<String>) {
        let mut attributes = Attributes::default();
        for (name, kind, cell) in cells {
            attributes.add(&AttributeName::parse(name).unwrap(), *kind, cell);
        }
        attributes.finish()
    }

    #[test]
    fn names_become_identifiers() {
        for (raw, expected) in [
            ("Color", Some("color")),
            (" Shoe size (EU) ", Some("shoe_size_eu")),
            ("Größe", Some("grosse")),
            ("g:age_group", Some("g_age_group")),
            ("Category", None),
            ("2nd colour", None),
            ("颜色", None),
            ("", None),
        ] {
            assert_eq!(name_of(raw).as_ref().map(AttributeName::as_str), expected, "{raw}");
        }
        assert_eq!(name_of(&"ab ".repeat(30)).unwrap().as_str().len(), 40);
    }

    #[test]
    fn text_stays_text_and_other_types_are_asked_for() {
        let (values, warnings) = read(&[
            ("size", Kind::Text, json!(" 42 ")),
            ("organic", Kind::Text, json!("true")),
            ("width", Kind::Number, json!("1.50")),
            ("new", Kind::Boolean, json!("Yes")),
            ("tags", Kind::List, json!("summer; sale;summer;")),
            ("material", Kind::Separated('/'), json!("cotton/linen")),
            ("season", Kind::List, json!("winter")),
            ("rating", Kind::Text, json!(4.5)),
            ("none", Kind::Text, json!("")),
        ]);
        assert_eq!(
            values,
            json!({"size": "42", "organic": "true", "width": 1.5, "new": true,
                "tags": ["summer", "sale"], "material": ["cotton", "linen"], "season": ["winter"],
                "rating": 4.5})
        );
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn what_breaks_a_rule_is_adapted_with_a_warning() {
        let many: Vec<_> = (0..25).map(|n| format!("v{n}")).collect();
        let (values, warnings) = read(&[
            ("long", Kind::Text, json!("x".repeat(201))),
            ("bell", Kind::Text, json!("a\u{7}")),
            ("width", Kind::Number, json!("wide")),
            ("new", Kind::Boolean, json!("maybe")),
            ("tags", Kind::List, json!(many.join(","))),
            ("nested", Kind::Text, json!({"a": 1})),
        ]);
        assert_eq!(values["long"].as_str().unwrap().len(), 200);
        assert_eq!(values["tags"].as_array().unwrap().len(), 20);
        assert_eq!(values.as_object().unwrap().len(), 2);
        assert_eq!(
            warnings,
            [
                "long was cut to 200 characters",
                "bell must not contain the control character U+0007 and was left out",
                "width \"wide\" is not a number and was left out",
                "new \"maybe\" is not true or false and was left out",
                "tags has more than 20 values, 5 were left out",
                "nested is neither text nor a list of texts and was left out",
            ]
        );
    }

    #[test]
    fn the_names_beyond_the_limit_are_left_out() {
        let names: Vec<_> = (0..42).map(|n| format!("a{n:02}")).collect();
        let cells: Vec<_> = names.iter().map(|name| (&**name, Kind::Text, json!("x"))).collect();
        let (values, warnings) = read(&cells);
        assert_eq!(values.as_object().unwrap().len(), MAX_ATTRIBUTES);
        assert_eq!(warnings.len(), 2);
    }
}
