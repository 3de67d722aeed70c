//! How records are read: which columns, by whose rules.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    cells::first_filled,
    columns,
    fields::{Column, Field, Mapped, Shape, simplified},
    record::Object,
};

/// How records are read.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub(super) shape: Shape,
    pub(super) mapped: Vec<Mapped>,
    pub(super) currency: Option<String>,
    /// The column `id` is the service's own number of a product to update.
    pub(super) by_id: bool,
    /// Unknown fields of JSON objects are dropped instead of refused.
    pub(super) ignore_unknown: bool,
    /// The columns of a table; those of a JSON object are looked at each time.
    pub(super) columns: Option<Vec<Column>>,
}

impl Mapping {
    /// A mapping by the names of columns alone.
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            mapped: Vec::new(),
            currency: None,
            by_id: false,
            ignore_unknown: false,
            columns: None,
        }
    }

    /// The columns that are read of a record or table with these names.
    pub(super) fn choose<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Vec<Column> {
        columns::choose(names, &self.mapped, self.shape)
    }

    pub(super) fn columns_of(&self, record: &Object) -> Cow<'_, [Column]> {
        match &self.columns {
            Some(columns) => Cow::Borrowed(columns),
            None => Cow::Owned(self.choose(record.keys().map(String::as_str))),
        }
    }

    /// The product's key as a record states it, also where the rest of the record is wrong.
    pub(super) fn key_of(&self, record: &Object) -> Option<String> {
        let columns = self.columns_of(record);
        let column = columns.iter().find(|column| column.field == Field::Key)?;
        let cell = first_filled(record.get(&column.name)?);
        self.key_cell(column, cell)?.as_str().map(str::to_owned)
    }

    /// Our own tables name the column `key`: their keys are kept as written.
    pub(super) fn key_cell(&self, column: &Column, cell: &Value) -> Option<Value> {
        match cell {
            Value::Number(number) => Some(number.to_string().into()),
            Value::String(text) if self.shape == Shape::Json => Some(text.clone().into()),
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(text) if column.name == "key" => Some(text.clone().into()),
            Value::String(text) => Some(text.trim().into()),
            other => (self.shape == Shape::Json).then(|| other.clone()),
        }
    }

    /// The name of the id's column in a record or table with these names.
    pub(super) fn id_column<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        self.by_id.then(|| names.find(|name| simplified(name) == "id"))?
    }

    pub(super) fn id_of(&self, record: &Object) -> Option<String> {
        let column = self.id_column(record.keys().map(String::as_str))?;
        let id = match &record[column] {
            Value::String(text) => text.trim().to_owned(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Some(id).filter(|id| !id.is_empty())
    }
}
