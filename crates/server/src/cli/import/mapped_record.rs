//! Maps a record to the body of a request: parses the cells of its columns. The HTTP API validates the
//! result.

use serde_json::Value;

use super::{
    cells::{self, Cut},
    fields::{Column, Field, Shape},
    mapping::Mapping,
    reading::Reading,
    record::{Object, RecordError},
};

/// A record as a request would say it.
#[derive(Debug, PartialEq)]
pub(super) struct MappedRecord {
    pub(super) fields: Object,
    /// The number of the product to update, if the mapping is by id and the record has one.
    pub(super) id: Option<String>,
    /// Whether pictures beyond the limit were left out.
    pub(super) pictures_left_out: bool,
    /// What was cut or left out besides pictures.
    pub(super) warnings: Vec<String>,
}

impl Mapping {
    /// What a record says, or what is wrong with it.
    pub(super) fn apply(&self, record: &Object) -> Result<MappedRecord, Vec<RecordError>> {
        let columns = self.columns_of(record);
        let mut reading = Reading::new(self);
        let currency = currency_of(record, &columns).or(self.currency.as_deref());
        let mut pictures = None;
        for column in columns.iter() {
            let Some(cell) = record.get(&column.name) else { continue };
            match &column.field {
                Field::Media => {
                    pictures.get_or_insert_with(Vec::new).extend(self.pictures(column, cell));
                }
                Field::Attributes => reading.take_attributes(cell),
                Field::Attribute(name, kind) => reading.attributes().add(name, *kind, cell),
                Field::Option { named_by, number } => {
                    reading.take_option(record.get(named_by), *number, cell);
                }
                _ => reading.take(column, cell, currency),
            }
        }
        let pictures_left_out = match pictures {
            Some(pictures) => reading.take_pictures(pictures),
            None => false,
        };
        if self.shape == Shape::Json {
            reading.take_unknown(record, &columns);
        }
        let (fields, warnings) = reading.finish()?;
        Ok(MappedRecord { fields, id: self.id_of(record), pictures_left_out, warnings })
    }

    fn pictures(&self, column: &Column, cell: &Value) -> Vec<Value> {
        // Our own exports name the column so.
        let cut = if column.name == "media" { Cut::AtSpaces } else { Cut::AtCommas };
        cells::pictures(cell, cut)
    }
}

/// The currency that a record names beside its price.
fn currency_of<'a>(record: &'a Object, columns: &[Column]) -> Option<&'a str> {
    let column = columns.iter().find(|column| column.field == Field::Currency)?;
    record.get(&column.name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(mapping: &Mapping, record: Value) -> Value {
        match mapping.apply(record.as_object().unwrap()) {
            Ok(said) => Value::Object(said.fields),
            Err(errors) => json!(errors.iter().map(|t| t.code.clone()).collect::<Vec<_>>()),
        }
    }

    #[test]
    fn a_shopify_row_is_a_product() {
        let shopify = Mapping { currency: Some("USD".to_owned()), ..Mapping::new(Shape::Shopify) };
        let row = json!({
            "Handle": "lamp", "Title": "Lamp", "Body (HTML)": "<p>Warm &amp; soft</p>",
            "Vendor": "Acme", "Type": "Table lamps", "Tags": "warm, home , warm, sale",
            "Option1 Name": "Color", "Option1 Value": ["Red", "Blue", "Red"],
            "Option2 Name": "Plug type", "Option2 Value": ["EU", "EU", "EU"],
            "Option3 Name": "尺寸", "Option3 Value": ["1", "2", "3"],
            "Variant SKU": ["L-R", "L-B", ""],
            "Google Shopping / Age Group": "adult",
            "Published": "TRUE", "Variant Price": "19.990",
            "Image Src": ["https://a/1.jpg", "https://a/2.jpg", "https://a/1.jpg"], "Status": "draft",
        });
        assert_eq!(
            fields(&shopify, row),
            json!({
                "title": "Lamp", "description": "Warm & soft", "price": "19.9900 USD",
                "hidden": true, "key": "lamp", "media": [
                    {"url": "https://a/1.jpg", "type": "image"},
                    {"url": "https://a/2.jpg", "type": "image"}],
                "attributes": {
                    "brand": "Acme", "product_type": "Table lamps",
                    "tags": ["warm", "home", "sale"], "color": ["Red", "Blue"],
                    "plug_type": "EU", "option3": ["1", "2", "3"], "sku": ["L-R", "L-B"],
                    "age_group": "adult",
                },
            })
        );
    }

    #[test]
    fn a_shopify_product_without_options_or_handle_has_neither() {
        let row = json!({
            "Title": "Rug", "Vendor": "", "Variant Price": "5", "Variant SKU": ["R-1"],
            "Option1 Name": "Title", "Option1 Value": ["Default Title"],
        });
        assert_eq!(
            fields(&Mapping::new(Shape::Shopify), row),
            json!({"title": "Rug", "price": "5", "key": "R-1", "attributes": {"sku": "R-1"}})
        );
    }

    #[test]
    fn a_merchant_item_is_a_product() {
        let item = json!({
            "id": "TV_1", "title": "Lamp", "description": "Warm", "price": "15.00 USD",
            "image_link": "https://a/1.jpg", "additional_image_link": "https://a/2.jpg,https://a/3.jpg",
            "availability": "in_stock", "link": "https://shop.example/tv", "brand": "Acme",
            "google_product_category": "Home > Lamps", "condition": "new", "color": "Red / Gold",
            "size": "", "gender": "unisex", "age_group": "adult", "material": "brass",
            "product_type": ["Lamps", "Gifts"], "shipping": "5 USD",
        });
        let media: Vec<_> = ["1", "2", "3"]
            .map(|n| json!({"url": format!("https://a/{n}.jpg"), "type": "image"}))
            .into();
        assert_eq!(
            fields(&Mapping::new(Shape::Merchant), item),
            json!({"title": "Lamp", "description": "Warm", "price": "15.00 USD", "media": media,
                "key": "TV_1", "url": "https://shop.example/tv", "attributes": {
                    "availability": "in_stock", "brand": "Acme", "color": ["Red", "Gold"],
                    "google_product_category": "Home > Lamps", "condition": "new",
                    "gender": "unisex", "age_group": "adult", "material": "brass",
                    "product_type": ["Lamps", "Gifts"]}})
        );
        let item = json!({"id": "1", "title": "Lamp", "link": "/tv", "color": ""});
        let read = Mapping::new(Shape::Merchant).apply(item.as_object().unwrap()).unwrap();
        assert_eq!(
            Value::Object(read.fields),
            json!({"title": "Lamp", "key": "1", "attributes": {}})
        );
        assert_eq!(read.warnings, [r#"url "/tv" is not an http address and was left out"#]);
    }

    #[test]
    fn columns_of_a_table_become_attributes_as_asked() {
        let mapped = ["attributes.color=Colour", "attributes.width:number=Width"];
        let table = Mapping {
            mapped: mapped.iter().map(|part| part.parse().unwrap()).collect(),
            ..Mapping::new(Shape::Table)
        };
        let row = json!({"SKU": " A-1 ", "Link": "https://a.example/1", "Colour": " dark red ",
            "Width": "1.5", "attributes.size": "42", "Weight": "2 kg"});
        assert_eq!(
            fields(&table, row),
            json!({"key": "A-1", "url": "https://a.example/1",
                "attributes": {"color": "dark red", "width": 1.5, "size": "42"}})
        );
    }

    #[test]
    fn our_own_exports_state_key_url_and_attributes() {
        let product = json!({"key": " A 1", "url": "https://a.example/1",
            "attributes": {"color": ["red", "blue"], "width": 1.5, "new": true}});
        assert_eq!(fields(&Mapping::new(Shape::Json), product.clone()), product);
        let mut row = product.clone();
        row["attributes"] = product["attributes"].to_string().into();
        assert_eq!(fields(&Mapping::new(Shape::Table), row.clone()), product);
        row["attributes"] = "{".into();
        assert_eq!(fields(&Mapping::new(Shape::Table), row), json!(["wrong_type"]));
        let empty = json!({"key": "", "url": "", "attributes": ""});
        assert_eq!(
            fields(&Mapping::new(Shape::Table), empty),
            json!({"url": "", "attributes": {}})
        );
        let number = json!({"sku": 17, "name": "Lamp"});
        assert_eq!(
            fields(&Mapping::new(Shape::Json), number),
            json!({"key": "17", "title": "Lamp"})
        );
    }

    #[test]
    fn empty_cells_are_left_out_where_nothing_can_be_empty() {
        let row = json!({"title": "", "description": "", "price": "", "hidden": "", "media": ""});
        assert_eq!(
            fields(&Mapping::new(Shape::Table), row),
            json!({"description": "", "media": []})
        );
    }

    #[test]
    fn unknown_fields_are_refused_or_dropped() {
        let object = json!({"name": "Lamp", "price": 5, "colour": "red", "id": 7, "hidden": false});
        let strict = Mapping { currency: Some("EUR".to_owned()), ..Mapping::new(Shape::Json) };
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
    fn a_record_has_an_id_if_it_is_asked_for() {
        let by_id = Mapping { by_id: true, ..Mapping::new(Shape::Json) };
        let id = |record: Value| by_id.apply(record.as_object().unwrap()).unwrap().id;
        assert_eq!(id(json!({"ID": " 17 ", "title": "x"})), Some("17".to_owned()));
        assert_eq!(id(json!({"id": 17})), Some("17".to_owned()));
        assert_eq!(id(json!({"id": ""})), None);
        assert_eq!(id(json!({"title": "x"})), None);
        let record = json!({"id": 17, "title": "x"});
        let read = Mapping::new(Shape::Json).apply(record.as_object().unwrap()).unwrap();
        assert_eq!(read.id, None);
    }

    #[test]
    fn a_currency_beside_the_price_is_its_currency() {
        let table = Mapping { currency: Some("USD".to_owned()), ..Mapping::new(Shape::Table) };
        let price = |row: Value| fields(&table, row)["price"].clone();
        assert_eq!(price(json!({"price": "5", "currency": "GBP"})), "5 GBP");
        assert_eq!(price(json!({"price": "5", "currency": ""})), "5 USD");
        assert_eq!(price(json!({"price": "5 €", "currency": "GBP"})), "5 €");
    }
}
