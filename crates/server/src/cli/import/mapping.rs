//! Maps a record to the body of a request: chooses its columns and parses its cells. The HTTP API
//! validates the result.

use catalog::media::MAX_ITEMS;
use serde_json::Value;

use super::{
    cells::{self, Cut, Numbers},
    columns::{self, Column, Field, Mapped, simplified},
    html,
    record::{Object, RecordError},
};
use crate::http::requests::products::{READ_ONLY, SETTABLE};

/// What kind of source the records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// JSON objects: typed, and with no fields but the known ones.
    Json,
    /// Tables of any origin, our own exports among them.
    Table,
    /// Shopify's product export.
    Shopify,
    /// A Google Merchant feed.
    Merchant,
}

/// What says which product a record is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Nothing: every record is a new product.
    None,
    /// The service's own number.
    Id,
    /// A column whose values the importer remembers.
    Column(String),
}

/// How records are read.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub(super) shape: Shape,
    pub(super) mapped: Vec<Mapped>,
    pub(super) currency: Option<String>,
    pub(super) key: Key,
    /// Unknown fields of JSON objects are dropped instead of refused.
    pub(super) ignore_unknown: bool,
    /// The columns of a table; those of a JSON object are looked at each time.
    pub(super) columns: Option<Vec<Column>>,
}

/// A record as a request would say it.
#[derive(Debug, PartialEq)]
pub(super) struct MappedRecord {
    pub(super) fields: Object,
    /// Its key, where there is to be one and the record has it.
    pub(super) key: Option<String>,
    /// Whether pictures beyond the limit were left out.
    pub(super) pictures_left_out: bool,
}

impl Mapping {
    /// The columns that are read of a record or table with these names.
    pub(super) fn choose<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Vec<Column> {
        columns::choose(names, &self.mapped, self.shape == Shape::Shopify)
    }

    /// What a record says, or what is wrong with it.
    pub(super) fn apply(&self, record: &Object) -> Result<MappedRecord, Vec<RecordError>> {
        let chosen;
        let columns = match &self.columns {
            Some(columns) => columns,
            None => {
                chosen = self.choose(record.keys().map(String::as_str));
                &chosen
            }
        };
        let mut reading = Reading { mapping: self, fields: Object::new(), errors: Vec::new() };
        let currency = currency_of(record, columns).or(self.currency.as_deref());
        let mut pictures = None;
        for column in columns {
            let Some(cell) = record.get(&column.name) else { continue };
            match column.field {
                Field::Media => {
                    pictures.get_or_insert_with(Vec::new).extend(self.pictures(column, cell));
                }
                _ => reading.take(column, cell, currency),
            }
        }
        let pictures_left_out = match pictures {
            Some(pictures) => reading.take_pictures(pictures),
            None => false,
        };
        if self.shape == Shape::Json {
            reading.take_unknown(record, columns);
        }
        let Reading { fields, errors, .. } = reading;
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(MappedRecord { fields, key: self.key_of(record), pictures_left_out })
    }

    fn pictures(&self, column: &Column, cell: &Value) -> Vec<Value> {
        // Our own exports name the column so.
        let cut = if column.name == "media" { Cut::AtSpaces } else { Cut::AtCommas };
        cells::pictures(cell, cut)
    }

    /// The name of the key's column in a record or table with these names.
    pub(super) fn key_column<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let wanted = match &self.key {
            Key::None => return None,
            Key::Id => "id",
            Key::Column(column) => column,
        };
        names.find(|name| *name == wanted || simplified(name) == simplified(wanted))
    }

    fn key_of(&self, record: &Object) -> Option<String> {
        let column = self.key_column(record.keys().map(String::as_str))?;
        let key = match &record[column] {
            Value::String(text) => text.trim().to_owned(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Some(key).filter(|key| !key.is_empty())
    }
}

/// The currency that a record names beside its price.
fn currency_of<'a>(record: &'a Object, columns: &[Column]) -> Option<&'a str> {
    let column = columns.iter().find(|column| column.field == Field::Currency)?;
    record.get(&column.name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// A record while its cells are read.
struct Reading<'a> {
    mapping: &'a Mapping,
    fields: Object,
    errors: Vec<RecordError>,
}

impl Reading<'_> {
    fn take(&mut self, column: &Column, cell: &Value, currency: Option<&str>) {
        let is_table = self.mapping.shape != Shape::Json;
        // A field that is said several times is said by the first that is not empty.
        let cell = match cell {
            Value::Array(cells) if is_table => {
                cells.iter().find(|cell| cell.as_str() != Some("")).unwrap_or(&Value::Null)
            }
            other => other,
        };
        let is_empty = is_table && cell.as_str().is_none_or(|text| text.trim().is_empty());
        match column.field {
            Field::Title if is_empty => {}
            Field::Title => self.put("title", cell.clone()),
            Field::Description if is_empty => self.put("description", "".into()),
            Field::Description => {
                let html = self.mapping.shape == Shape::Shopify
                    || (is_table && simplified(&column.name).contains("html"));
                match cell.as_str() {
                    Some(said) if html => self.put("description", html::text(said).into()),
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
            Field::Currency | Field::Media => {}
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
    fn take_pictures(&mut self, mut pictures: Vec<Value>) -> bool {
        let foreign = matches!(self.mapping.shape, Shape::Shopify | Shape::Merchant);
        let mut too_many = false;
        if foreign {
            let mut seen = Vec::new();
            pictures.retain(|picture| {
                let new = !seen.contains(picture);
                if new {
                    seen.push(picture.clone());
                }
                new
            });
            too_many = pictures.len() > MAX_ITEMS;
            pictures.truncate(MAX_ITEMS);
        }
        self.put("media", Value::Array(pictures));
        too_many
    }

    /// Fields of an object that no column was chosen for: a typo must not lose data.
    fn take_unknown(&mut self, record: &Object, columns: &[Column]) {
        let key = self.mapping.key_column(record.keys().map(String::as_str));
        for (name, value) in record {
            let known = columns.iter().any(|column| column.name == *name)
                || READ_ONLY.contains(&name.as_str())
                || key == Some(name)
                || SETTABLE.contains(&name.as_str());
            if !known && !self.mapping.ignore_unknown {
                self.fields.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapping(shape: Shape) -> Mapping {
        Mapping {
            shape,
            mapped: Vec::new(),
            currency: None,
            key: Key::None,
            ignore_unknown: false,
            columns: None,
        }
    }

    fn fields(mapping: &Mapping, record: Value) -> Value {
        match mapping.apply(record.as_object().unwrap()) {
            Ok(said) => Value::Object(said.fields),
            Err(errors) => json!(errors.iter().map(|t| t.code.clone()).collect::<Vec<_>>()),
        }
    }

    #[test]
    fn a_shopify_row_is_a_product() {
        let shopify = Mapping { currency: Some("USD".to_owned()), ..mapping(Shape::Shopify) };
        let row = json!({
            "Handle": "lamp", "Title": "Lamp", "Body (HTML)": "<p>Warm &amp; soft</p>",
            "Vendor": "Acme", "Published": "TRUE", "Variant Price": "19.990",
            "Image Src": ["https://a/1.jpg", "https://a/2.jpg", "https://a/1.jpg"], "Status": "draft",
        });
        assert_eq!(
            fields(&shopify, row),
            json!({
                "title": "Lamp", "description": "Warm & soft", "price": "19.9900 USD",
                "hidden": true, "media": [
                    {"url": "https://a/1.jpg", "type": "image"},
                    {"url": "https://a/2.jpg", "type": "image"}],
            })
        );
    }

    #[test]
    fn a_merchant_item_is_a_product() {
        let item = json!({
            "id": "TV_1", "title": "Lamp", "description": "Warm", "price": "15.00 USD",
            "image_link": "https://a/1.jpg", "additional_image_link": "https://a/2.jpg,https://a/3.jpg",
            "availability": "in_stock",
        });
        let media: Vec<_> = ["1", "2", "3"]
            .map(|n| json!({"url": format!("https://a/{n}.jpg"), "type": "image"}))
            .into();
        assert_eq!(
            fields(&mapping(Shape::Merchant), item),
            json!({"title": "Lamp", "description": "Warm", "price": "15.00 USD", "media": media})
        );
    }

    #[test]
    fn empty_cells_are_left_out_where_nothing_can_be_empty() {
        let row = json!({"title": "", "description": "", "price": "", "hidden": "", "media": ""});
        assert_eq!(fields(&mapping(Shape::Table), row), json!({"description": "", "media": []}));
    }

    #[test]
    fn unknown_fields_are_refused_or_dropped() {
        let object = json!({"name": "Lamp", "price": 5, "colour": "red", "id": 7, "hidden": false});
        let strict = Mapping { currency: Some("EUR".to_owned()), ..mapping(Shape::Json) };
        assert_eq!(
            fields(&strict, object.clone()),
            json!({"title": "Lamp", "price": "5 EUR", "hidden": false, "colour": "red"})
        );
        let lenient = Mapping { ignore_unknown: true, ..strict };
        assert_eq!(
            fields(&lenient, object),
            json!({"title": "Lamp", "price": "5 EUR", "hidden": false})
        );
    }

    #[test]
    fn a_record_has_the_key_it_was_asked_for() {
        let keyed = Mapping { key: Key::Column("SKU".to_owned()), ..mapping(Shape::Json) };
        let key = |record: Value| keyed.apply(record.as_object().unwrap()).unwrap().key;
        assert_eq!(key(json!({"sku": " A-1 ", "title": "x"})), Some("A-1".to_owned()));
        assert_eq!(key(json!({"sku": 17})), Some("17".to_owned()));
        assert_eq!(key(json!({"sku": ""})), None);
        assert_eq!(key(json!({"title": "x"})), None);
    }

    #[test]
    fn a_currency_beside_the_price_is_its_currency() {
        let table = Mapping { currency: Some("USD".to_owned()), ..mapping(Shape::Table) };
        let price = |row: Value| fields(&table, row)["price"].clone();
        assert_eq!(price(json!({"price": "5", "currency": "GBP"})), "5 GBP");
        assert_eq!(price(json!({"price": "5", "currency": ""})), "5 USD");
        assert_eq!(price(json!({"price": "5 €", "currency": "GBP"})), "5 €");
    }
}
