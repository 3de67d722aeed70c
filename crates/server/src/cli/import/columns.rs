//! Maps columns to product fields: by `--map`, otherwise by their names.

use std::collections::{HashMap, HashSet};

use super::{
    attributes::{self, Kind},
    fields::{Column, Field, Mapped, Shape, simplified},
    names, work,
};

/// The columns that are read, of those with these names. A field is read from one column; pictures
/// are read from all that have some.
pub(super) fn choose<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    mapped: &[Mapped],
    shape: Shape,
) -> Vec<Column> {
    let choice = Choice::new(names, mapped, shape);
    let single = Field::SINGLE.into_iter().flat_map(|field| choice.single(field));
    let mut columns: Vec<_> = single.collect();
    columns.extend(choice.attributes());
    columns
}

struct Choice<'a> {
    shape: Shape,
    /// Names of columns, each once, as written and simplified.
    simple: Vec<(&'a str, String)>,
    /// The fields that `--map` names, and their columns where there are such.
    mapped: Vec<(&'a Field, Option<&'a str>)>,
    /// The first column of each simplified name.
    first: HashMap<String, &'a str>,
}

impl<'a> Choice<'a> {
    fn new<'n: 'a>(
        names: impl Iterator<Item = &'n str>,
        mapped: &'a [Mapped],
        shape: Shape,
    ) -> Self {
        let mut distinct = HashSet::new();
        let mut first = HashMap::new();
        let mut simple = Vec::new();
        for name in names.filter(|name| distinct.insert(*name)) {
            work::step();
            let simplified = simplified(name);
            first.entry(simplified.clone()).or_insert(name);
            simple.push((name, simplified));
        }
        // The column that a part of `--map` means.
        let find = |column: &'a str| match distinct.get(column) {
            _ if column.is_empty() => None,
            Some(exact) => Some(*exact),
            None => first.get(&simplified(column)).copied(),
        };
        let mapped = mapped.iter().map(|part| (&part.field, find(&part.column))).collect();
        Self { shape, simple, mapped, first }
    }

    /// Whether `--map` names the column.
    fn is_mapped(&self, name: &str) -> bool {
        self.mapped.iter().any(|(_, column)| *column == Some(name))
    }

    fn single(&self, field: Field) -> Vec<Column> {
        let said: Vec<_> = self.mapped.iter().filter(|(mapped, _)| **mapped == field).collect();
        if !said.is_empty() {
            let found = said.iter().filter_map(|(_, column)| *column);
            let column =
                |name: &str| Column { field: field.clone(), name: name.to_owned(), guessed: false };
            return found.map(column).collect();
        }
        let mut found: Vec<&str> = Vec::new();
        for meaning in names::of_field(&field, self.shape) {
            for (name, simple) in &self.simple {
                work::step();
                if simple == meaning && !self.is_mapped(name) {
                    found.push(name);
                }
            }
        }
        match field {
            Field::Media => {}
            // Of several numbers without a clear name, none is surely the key.
            Field::Key if found.len() > 1 && !names::is_surely_key(found[0], self.shape) => {
                found.clear();
            }
            _ => found.truncate(1),
        }
        let column = |name: &str| Column {
            field: field.clone(),
            name: name.to_owned(),
            guessed: name != field.to_string(),
        };
        found.into_iter().map(column).collect()
    }

    fn attributes(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        for (field, column) in &self.mapped {
            if let (Field::Attribute(..), Some(name)) = (field, column) {
                let field = (*field).clone();
                columns.push(Column { field, name: (*name).to_owned(), guessed: false });
            }
        }
        let said = columns.len();
        for (name, simple) in &self.simple {
            let found = match name.strip_prefix("attributes.") {
                _ if self.is_mapped(name) => None,
                Some(rest) => name.parse().ok().or_else(|| {
                    attributes::name_of(rest).map(|name| Field::Attribute(name, Kind::Text))
                }),
                None => names::attribute(simple, self.shape).or_else(|| self.option(simple)),
            };
            let is_said = |field: &Field| {
                let same = |other: &Field| match (other, field) {
                    (Field::Attribute(other, _), Field::Attribute(name, _)) => other == name,
                    _ => false,
                };
                columns[..said].iter().any(|column| same(&column.field))
                    || self.mapped.iter().any(|(mapped, _)| same(mapped))
            };
            if let Some(field) = found.filter(|field| !is_said(field)) {
                let guessed = !name.starts_with("attributes.");
                columns.push(Column { field, name: (*name).to_owned(), guessed });
            }
        }
        columns
    }

    /// The values of a Shopify option, with the column of its name.
    fn option(&self, simple: &str) -> Option<Field> {
        if self.shape != Shape::Shopify {
            return None;
        }
        let number = simple.strip_prefix("option")?.strip_suffix("value")?;
        let wanted = format!("option{number}name");
        let named_by = self.first.get(&wanted)?;
        Some(Field::Option { named_by: (*named_by).to_owned(), number: number.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_as(shape: Shape, names: &[&str], mapped: &str, expected: &str) {
        let mapped: Vec<Mapped> =
            mapped.split_terminator(',').map(|part| part.parse().unwrap()).collect();
        let found: Vec<_> = choose(names.iter().copied(), &mapped, shape)
            .into_iter()
            .map(|column| {
                let how = if column.guessed { "~" } else { "=" };
                format!("{}{how}{}", column.field, column.name)
            })
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    fn check(names: &[&str], mapped: &str, expected: &str) {
        check_as(Shape::Table, names, mapped, expected);
    }

    #[test]
    fn common_names_are_understood() {
        check(&["title", "price", "media"], "", "title=title price=price media=media");
        check(
            &["Product Name", "Body (HTML)", "Unit Price", "Currency", "Weight", "image_url"],
            "",
            "title~Product Name description~Body (HTML) price~Unit Price currency~Currency \
             media~image_url",
        );
        check(&["name", "title"], "", "title=title");
        check(
            &["image_link", "additional_image_link"],
            "",
            "media~image_link media~additional_image_link",
        );
        check(&["status", "state"], "", "");
    }

    #[test]
    fn the_key_is_guessed_if_it_is_clear() {
        check(&["SKU", "Link", "Colour"], "", "key~SKU url~Link");
        check(&["sku", "key", "item number"], "", "key=key");
        check(&["Item Number", "title"], "", "title=title key~Item Number");
        check(&["Item Number", "Product ID"], "", "");
        // In our own tables it is the number of the service.
        check(&["id", "title"], "", "title=title");
        check(&["SKU", "title"], "key=", "title=title");
        check(&["SKU", "title"], "attributes.sku=SKU", "title=title attributes.sku=SKU");
    }

    #[test]
    fn attributes_are_named_by_the_map_or_by_the_column() {
        check(
            &["Colour", "Weight (g)", "attributes.size", "attributes.Shoe Width"],
            "attributes.color=colour,attributes.weight:number=Weight (g)",
            "attributes.color=Colour attributes.weight:number=Weight (g) \
             attributes.size=attributes.size attributes.shoe_width=attributes.Shoe Width",
        );
        check(&["attributes"], "", "attributes=attributes");
        let shopify = [
            "Handle",
            "Title",
            "Vendor",
            "Type",
            "Tags",
            "Option1 Name",
            "Option1 Value",
            "Variant SKU",
        ];
        check_as(
            Shape::Shopify,
            &shopify,
            "",
            "title~Title key~Handle attributes.brand~Vendor attributes.product_type~Type \
             attributes.tags~Tags attributes.(Option1 Name)~Option1 Value \
             attributes.sku~Variant SKU",
        );
        check_as(
            Shape::Shopify,
            &shopify,
            "key=Variant SKU,attributes.brand=Type,attributes.color=Option1 Value",
            "title~Title key=Variant SKU attributes.brand=Type attributes.color=Option1 Value \
             attributes.tags~Tags",
        );
        check_as(
            Shape::Merchant,
            &["id", "title", "link", "color", "age group", "google_product_category", "tax"],
            "",
            "title=title key~id url~link attributes.color~color attributes.age_group~age group \
             attributes.google_product_category~google_product_category",
        );
    }

    #[test]
    fn what_is_said_counts_more_than_what_is_guessed() {
        check(&["Name", "title", "Cost"], "title=Name,price=cost", "title=Name price=Cost");
        check(&["price", "name"], "title=price", "title=price");
        check(&["title"], "price=Cost", "title=title");
    }

    #[test]
    fn a_wrong_map_is_refused() {
        for (raw, said) in [
            ("colour=Red", "not a field"),
            ("title", "FIELD=COLUMN"),
            ("attributes.price=Cost", "reserved"),
            ("attributes.größe=Size", "a-z"),
            ("attributes.size:float=Size", "not a type"),
        ] {
            let error = raw.parse::<Mapped>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
