//! Reads the cells of one record into the fields of a request.

use std::collections::HashSet;

use catalog::product::{http_url::ProductUrl, media::MAX_ITEMS};
use serde_json::Value;

use super::{
    attributes::{self, Attributes, Kind},
    cells::{self, Numbers, first_filled},
    fields::{Column, Field, Shape, simplified},
    html,
    mapping::Mapping,
    record::{Object, RecordError},
    windows1252, work,
};
use crate::http::requests::products::{READ_ONLY, SETTABLE};

/// A record while its cells are read.
pub(super) struct Reading<'a> {
    mapping: &'a Mapping,
    fields: Object,
    /// `None` where nothing speaks of attributes.
    attributes: Option<Attributes>,
    warnings: Vec<String>,
    errors: Vec<RecordError>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(mapping: &'a Mapping) -> Self {
        let (warnings, errors) = (Vec::new(), Vec::new());
        Self { mapping, fields: Object::new(), attributes: None, warnings, errors }
    }

    /// The fields and the warnings, or the errors.
    pub(super) fn finish(mut self) -> Result<(Object, Vec<String>), Vec<RecordError>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        if let Some(attributes) = self.attributes.take() {
            let (attributes, warnings) = attributes.finish();
            self.put("attributes", attributes);
            self.warnings.extend(warnings);
        }
        Ok((self.fields, self.warnings))
    }

    pub(super) fn attributes(&mut self) -> &mut Attributes {
        self.attributes.get_or_insert_default()
    }

    /// All attributes as JSON: an object, or in tables the text of one.
    pub(super) fn take_attributes(&mut self, cell: &Value) {
        let parsed = match first_filled(cell) {
            Value::String(text) if self.mapping.shape != Shape::Json => match text.trim() {
                "" => Ok(Value::Object(Object::new())),
                text => serde_json::from_str(text),
            },
            other => Ok(other.clone()),
        };
        match parsed {
            Ok(Value::Object(stated)) => self.attributes().stated(&stated),
            _ => self.errors.push(RecordError::of_field(
                "attributes",
                "wrong_type",
                "must be a JSON object",
            )),
        }
    }

    /// One of Shopify's options. A product without options has one of this name and value.
    pub(super) fn take_option(&mut self, name: Option<&Value>, number: u8, values: &Value) {
        let name = name.and_then(Value::as_str).unwrap_or_default().trim();
        let is_none = |value: &Value| value.as_str().is_none_or(|text| text == "Default Title");
        let has_none = match values {
            Value::Array(values) => values.iter().all(is_none),
            value => is_none(value),
        };
        if name.is_empty() || (name == "Title" && has_none) {
            self.attributes();
            return;
        }
        let numbered = || attributes::name_of(&format!("option{number}"));
        if let Some(name) = attributes::name_of(name).or_else(numbered) {
            self.attributes().add(&name, Kind::Text, values);
        }
    }

    /// The address of the product's page. One that is none costs the address, not the product.
    fn take_url(&mut self, cell: &Value) {
        let url = cell.as_str().unwrap_or_default().trim();
        if url.is_empty() || ProductUrl::parse(url).is_ok() {
            self.put("url", url.into());
        } else {
            let shown: String = url.chars().take(80).collect();
            self.warnings.push(format!("url {shown:?} is not an http address and was left out"));
        }
    }

    pub(super) fn take(&mut self, column: &Column, cell: &Value, currency: Option<&str>) {
        let is_table = self.mapping.shape != Shape::Json;
        let cell = if is_table { first_filled(cell) } else { cell };
        let is_empty = is_table && cell.as_str().is_none_or(|text| text.trim().is_empty());
        match &column.field {
            Field::Title if is_empty => {}
            Field::Title => self.put("title", cell.clone()),
            Field::Description if is_empty => self.put("description", "".into()),
            Field::Description => {
                let html = self.mapping.shape == Shape::Shopify
                    || (is_table && simplified(&column.name).contains("html"));
                match cell.as_str() {
                    // `&#146;` is a reference to a byte of Windows-1252 too.
                    Some(said) if html => {
                        let text = html::text(said);
                        self.put("description", windows1252::repaired(&text).into());
                    }
                    _ => self.put("description", cell.clone()),
                }
            }
            Field::Price if is_empty => {}
            Field::Price => {
                let numbers = match self.mapping.shape {
                    Shape::Shopify | Shape::Merchant => Numbers::ByPrograms,
                    Shape::Json | Shape::Table => Numbers::ByPeople,
                };
                self.put("price", cells::price(cell, currency, numbers));
            }
            Field::Hidden => self.hide(cells::truth("hidden", cell)),
            Field::Published => {
                self.hide(cells::truth("published", cell).map(|said| said.map(|yes| !yes)));
            }
            Field::Status => self.hide(cells::hidden_by_status(cell)),
            Field::Key => {
                if let Some(key) = self.mapping.key_cell(column, cell) {
                    self.put("key", key);
                }
            }
            Field::Url if is_table => self.take_url(cell),
            Field::Url => self.put("url", cell.clone()),
            Field::Currency
            | Field::Media
            | Field::Attributes
            | Field::Attribute(..)
            | Field::Option { .. } => {}
        }
    }

    fn put(&mut self, field: &str, value: Value) {
        self.fields.insert(field.to_owned(), value);
    }

    /// Hidden if any column says so.
    fn hide(&mut self, said: Result<Option<bool>, RecordError>) {
        match said {
            Ok(None) => {}
            Ok(Some(hidden)) => {
                let before = self.fields.get("hidden").and_then(Value::as_bool).unwrap_or(false);
                self.put("hidden", (hidden || before).into());
            }
            Err(error) => self.errors.push(error),
        }
    }

    /// Other shops may have more pictures, and the same twice; ours refuse that.
    pub(super) fn take_pictures(&mut self, mut pictures: Vec<Value>) -> bool {
        let mut too_many = false;
        if matches!(self.mapping.shape, Shape::Shopify | Shape::Merchant) {
            let mut distinct = Vec::new();
            for picture in pictures {
                work::step();
                if distinct.contains(&picture) {
                    continue;
                }
                too_many = distinct.len() == MAX_ITEMS;
                if too_many {
                    break;
                }
                distinct.push(picture);
            }
            pictures = distinct;
        }
        self.put("media", Value::Array(pictures));
        too_many
    }

    /// Fields of an object that no column was chosen for: a typo must not lose data.
    pub(super) fn take_unknown(&mut self, record: &Object, columns: &[Column]) {
        let id = self.mapping.id_column(record.keys().map(String::as_str));
        let columns: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        for (name, value) in record {
            work::step();
            let known = columns.contains(name.as_str())
                || READ_ONLY.contains(&name.as_str())
                || id == Some(name)
                || SETTABLE.contains(&name.as_str());
            if !known && !self.mapping.ignore_unknown {
                self.fields.insert(name.clone(), value.clone());
            }
        }
    }
}
