//! Reads Shopify's product CSV: consecutive rows with the same handle are one product; the first
//! row describes it, the others add variants and pictures.

use serde_json::Value;

use super::{
    fields::simplified,
    record::{Object, Record, Records},
};

/// More pictures than any product has: what a file may make us remember of one.
const MAX_PICTURES: usize = 1000;

/// More distinct values of one column than are kept of any product.
const MAX_VALUES: usize = 100;

/// The columns that tie rows together, by their simplified names of then and now.
const HANDLE: [&str; 2] = ["handle", "urlhandle"];
const PICTURE: [&str; 2] = ["imagesrc", "productimageurl"];
const POSITION: [&str; 1] = ["imageposition"];
/// The columns that differ between the variants of a product, of which all values are kept.
const VARIANT: [&str; 5] = ["option1value", "option2value", "option3value", "variantsku", "sku"];

/// Whether a table with these columns is a product export of Shopify.
pub(super) fn is_shopify(names: &[String]) -> bool {
    let has =
        |wanted: &[&str]| names.iter().any(|name| wanted.contains(&simplified(name).as_str()));
    has(&HANDLE) && has(&["title"]) && has(&["variantprice", "price"]) && has(&PICTURE)
}

/// Products out of the rows of a table with these columns.
pub(super) fn products(rows: Records, names: &[String]) -> Records {
    let find = |wanted: &[&str]| {
        names.iter().find(|name| wanted.contains(&simplified(name).as_str())).cloned()
    };
    Box::new(Products {
        rows,
        handle: find(&HANDLE).unwrap_or_default(),
        picture: find(&PICTURE).unwrap_or_default(),
        position: find(&POSITION).unwrap_or_default(),
        variant: VARIANT.iter().filter_map(|name| find(&[name])).collect(),
        begun: None,
        unreadable: None,
    })
}

struct Products {
    rows: Records,
    handle: String,
    picture: String,
    position: String,
    /// Columns with a value for each variant.
    variant: Vec<String>,
    begun: Option<Begun>,
    /// A row that could not be read, to be handed on after the product before it.
    unreadable: Option<Record>,
}

/// A product whose rows may not be over.
struct Begun {
    line: u64,
    handle: String,
    first: Object,
    /// Position and address.
    pictures: Vec<(u32, String)>,
    /// The distinct values of each of the columns with variants.
    values: Vec<Vec<String>>,
}

impl Begun {
    fn finish(mut self, picture: &str, variant: &[String]) -> Record {
        // Stable: pictures without a position stay in the order of their rows, at the end.
        self.pictures.sort_by_key(|(position, _)| *position);
        let pictures = self.pictures.into_iter().map(|(_, url)| Value::String(url)).collect();
        if !picture.is_empty() {
            self.first.insert(picture.to_owned(), Value::Array(pictures));
        }
        for (column, values) in variant.iter().zip(self.values) {
            let values = values.into_iter().map(Value::String).collect();
            self.first.insert(column.clone(), Value::Array(values));
        }
        Record::read(self.line, self.first)
    }
}

fn cell<'a>(row: &'a Object, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or_default().trim()
}

impl Products {
    fn add_row(&self, begun: &mut Begun, row: &Object) {
        for (column, values) in self.variant.iter().zip(&mut begun.values) {
            let value = cell(row, column);
            let is_new = !value.is_empty() && !values.iter().any(|known| known == value);
            if is_new && values.len() < MAX_VALUES {
                values.push(value.to_owned());
            }
        }
        let url = cell(row, &self.picture);
        if !url.is_empty() && begun.pictures.len() < MAX_PICTURES {
            let position = cell(row, &self.position).parse().unwrap_or(u32::MAX);
            begun.pictures.push((position, url.to_owned()));
        }
    }

    fn begin(&self, line: u64, row: Object) -> Begun {
        let handle = cell(&row, &self.handle).to_owned();
        let values = vec![Vec::new(); self.variant.len()];
        let mut begun = Begun { line, handle, first: Object::new(), pictures: Vec::new(), values };
        self.add_row(&mut begun, &row);
        begun.first = row;
        begun
    }
}

impl Iterator for Products {
    type Item = anyhow::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.unreadable.take() {
            return Some(Ok(record));
        }
        loop {
            let (line, row) = match self.rows.next() {
                None => return Some(Ok(self.begun.take()?.finish(&self.picture, &self.variant))),
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(Record { line, content: Ok(row) })) => (line, row),
                Some(Ok(unreadable)) => match self.begun.take() {
                    None => return Some(Ok(unreadable)),
                    Some(begun) => {
                        self.unreadable = Some(unreadable);
                        return Some(Ok(begun.finish(&self.picture, &self.variant)));
                    }
                },
            };
            let handle = cell(&row, &self.handle);
            match self.begun.take() {
                Some(mut begun) if !handle.is_empty() && handle == begun.handle => {
                    self.add_row(&mut begun, &row);
                    self.begun = Some(begun);
                }
                before => {
                    self.begun = Some(self.begin(line, row));
                    if let Some(before) = before {
                        return Some(Ok(before.finish(&self.picture, &self.variant)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::import::table::Table;

    fn read(text: &'static str) -> Vec<(u64, Value)> {
        let table = Table::open(text.as_bytes(), b',').unwrap();
        let names = table.names().to_vec();
        assert!(is_shopify(&names), "{names:?}");
        products(Box::new(table), &names)
            .map(|record| {
                let Record { line, content } = record.unwrap();
                (line, content.map_or_else(|bad| json!(bad.error.code), Value::Object))
            })
            .collect()
    }

    #[test]
    fn rows_of_one_handle_are_one_product_with_its_pictures_in_order() {
        let found = read(
            "Handle,Title,Variant Price,Image Src,Image Position\n\
             lamp,Lamp,5.00,https://example.com/b.jpg,2\n\
             lamp,,6.00,https://example.com/a.jpg,1\n\
             lamp,,7.00,,\n\
             rug,Rug,9.00,,\n",
        );
        let pictures = json!(["https://example.com/a.jpg", "https://example.com/b.jpg"]);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].0, &found[0].1["Image Src"]), (2, &pictures));
        assert_eq!(found[0].1["Variant Price"], "5.00");
        assert_eq!((found[1].0, &found[1].1["Title"]), (5, &json!("Rug")));
    }

    #[test]
    fn the_values_of_all_variants_are_kept() {
        let found = read(
            "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src\n\
             lamp,Lamp,Color,Red,L-1,5.00,\n\
             lamp,,,Blue,L-2,6.00,\n\
             lamp,,,Red,,6.00,\n\
             rug,Rug,Title,Default Title,,9.00,\n",
        );
        assert_eq!(found[0].1["Option1 Value"], json!(["Red", "Blue"]));
        assert_eq!(found[0].1["Variant SKU"], json!(["L-1", "L-2"]));
        assert_eq!(found[0].1["Option1 Name"], "Color");
        assert_eq!(found[1].1["Variant SKU"], json!([]));
    }

    #[test]
    fn a_bad_row_does_not_take_its_product_along() {
        let found = read(
            "URL handle,Title,Price,Product image URL\nlamp,Lamp,5.00,\nragged\nrug,Rug,9.00,\n",
        );
        let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert_eq!(found[1].1, "ragged_row");
    }
}
