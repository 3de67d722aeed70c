//! Validates records by the rules of the HTTP API, decides between create and update, and forms
//! batches.
//!
//! The bounds of a batch depend on the records only, not on time: a resumed import forms the same
//! batches again, and their idempotency keys prevent duplicates.

use serde_json::Value;

use super::{
    mapped_record::MappedRecord,
    mapping::Mapping,
    record::{Object, Record, RecordError, Unreadable},
    windows1252,
};
use crate::http::requests::{
    MAX_BULK, ObjectDefinition,
    products::{NewProduct, ProductEdit},
};

/// The number of unchanged records after which a batch ends, to show progress.
const MAX_UNCHANGED: u64 = 1000;
/// The size at which a batch is full, well below the limit of a request.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// The action of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    Update,
    /// Creates or updates the product with the row's own key.
    Upsert {
        is_new: bool,
    },
}

/// A valid record.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) action: Action,
    /// The body of the request.
    pub(super) body: Value,
    pub(super) notes: Notes,
    pub(super) original: Value,
}

/// What was adapted in a valid record.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Whether it has more pictures than are kept.
    pub(super) pictures_left_out: bool,
    /// Whether characters of Windows-1252 were repaired.
    pub(super) is_repaired: bool,
    /// What else was cut or left out.
    pub(super) warnings: Vec<String>,
}

/// An invalid record.
#[derive(Debug)]
pub(super) struct BadRecord {
    pub(super) line: u64,
    pub(super) errors: Vec<RecordError>,
    pub(super) original: Value,
}

/// Records that are sent together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) number: u64,
    pub(super) rows: Vec<Row>,
    pub(super) bad: Vec<BadRecord>,
    /// Records whose products are as they say already.
    pub(super) unchanged: u64,
    /// The number of records, valid and invalid.
    pub(super) records: u64,
    /// The digest of all records up to its end.
    pub(super) digest: String,
    bytes: usize,
}

impl Batch {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    pub(super) fn add(&mut self, planned: Result<Row, BadRecord>, bytes: usize) {
        self.records += 1;
        self.bytes += bytes;
        match planned {
            Ok(row) => self.rows.push(row),
            Err(bad) => self.bad.push(bad),
        }
    }

    /// Adds a record that needs no write.
    pub(super) fn add_unchanged(&mut self) {
        self.records += 1;
        self.unchanged += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.unchanged >= MAX_UNCHANGED
            || self.rows.len() >= MAX_BULK
            || self.bad.len() >= MAX_BULK
            || self.bytes >= MAX_BATCH_BYTES
    }
}

/// A record after mapping.
pub(super) struct Read {
    pub(super) line: u64,
    pub(super) mapped: Result<MappedRecord, Vec<RecordError>>,
    /// The product's key, if the record has one, valid or not.
    pub(super) key: Option<String>,
    /// Whether the record has no fields at all.
    pub(super) is_unreadable: bool,
    is_repaired: bool,
    original: Value,
}

impl Read {
    pub(super) fn new(record: Record, mapping: &Mapping) -> Self {
        let Record { line, content } = record;
        match content {
            Ok(mut object) => {
                let is_repaired = windows1252::repair_all(&mut object);
                let mapped = mapping.apply(&object);
                let key = match &mapped {
                    Ok(mapped) => {
                        mapped.fields.get("key").and_then(Value::as_str).map(str::to_owned)
                    }
                    Err(_) => mapping.key_of(&object),
                };
                Self {
                    line,
                    mapped,
                    key,
                    is_unreadable: false,
                    is_repaired,
                    original: Value::Object(object),
                }
            }
            Err(Unreadable { error, original }) => Self {
                line,
                mapped: Err(vec![error]),
                key: None,
                is_unreadable: true,
                is_repaired: false,
                original: Value::String(original),
            },
        }
    }

    /// Whether it is a line of one of our own exports.
    pub(super) fn is_exported(&self) -> bool {
        ["shop_id", "created_at"].iter().all(|name| self.original.get(name).is_some())
    }

    /// Creates a product, or updates the one whose id the record has.
    pub(super) fn plan(self) -> Result<Row, BadRecord> {
        self.decide(create_or_update)
    }

    /// The row that `decide` makes of the record, or the errors.
    pub(super) fn decide(
        self,
        decide: impl FnOnce(MappedRecord) -> Result<(Action, Value), Vec<RecordError>>,
    ) -> Result<Row, BadRecord> {
        let Self { line, mapped, is_repaired, original, .. } = self;
        let planned = mapped.and_then(|mut mapped| {
            let warnings = std::mem::take(&mut mapped.warnings);
            let pictures_left_out = mapped.pictures_left_out;
            Ok((decide(mapped)?, Notes { pictures_left_out, is_repaired, warnings }))
        });
        match planned {
            Ok(((action, body), notes)) => Ok(Row { line, action, body, notes, original }),
            Err(errors) => Err(BadRecord { line, errors, original }),
        }
    }
}

fn create_or_update(mapped: MappedRecord) -> Result<(Action, Value), Vec<RecordError>> {
    let MappedRecord { mut fields, id, .. } = mapped;
    let Some(id) = id else {
        return checked::<NewProduct>(Action::Create, for_creation(fields));
    };
    let id = id.parse::<u64>().map_or(Value::String(id), Value::from);
    fields.insert("id".to_owned(), id);
    checked::<ProductEdit>(Action::Update, fields)
}

/// The fields of a product to create: an empty address, which would remove one, is left out.
pub(super) fn for_creation(mut fields: Object) -> Object {
    if fields.get("url").and_then(Value::as_str) == Some("") {
        fields.remove("url");
    }
    fields
}

/// An action with its body, which must be what the API reads as a `T`.
pub(super) fn checked<T: for<'a> ObjectDefinition<'a>>(
    action: Action,
    fields: Object,
) -> Result<(Action, Value), Vec<RecordError>> {
    let body = Value::Object(fields);
    T::read(&body).map(drop).map_err(|faults| faults.map(RecordError::from).into_listed())?;
    Ok((action, body))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::import::fields::Shape;

    fn plan(by_id: bool, record: Value) -> String {
        let mapping = Mapping { by_id, ..Mapping::new(Shape::Json) };
        let record = Record::read(1, record.as_object().unwrap().clone());
        match Read::new(record, &mapping).plan() {
            Ok(row) => format!("{:?} {}", row.action, row.body),
            Err(bad) => bad
                .errors
                .iter()
                .map(|error| format!("{} {}", error.field.as_deref().unwrap_or("-"), error.code))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    #[test]
    fn without_an_id_everything_is_new_and_all_faults_are_listed() {
        let lamp = json!({"id": 5, "title": "Lamp", "price": "$5", "url": ""});
        assert_eq!(plan(false, lamp), r#"Create {"price":"$5","title":"Lamp"}"#);
        let bad = json!({"title": " ", "price": 5, "colour": "red"});
        assert_eq!(plan(false, bad), "title blank, price invalid_price, colour unknown_field");
    }

    #[test]
    fn the_services_own_number_updates_and_its_absence_creates() {
        let hide = json!({"id": 5, "hidden": true});
        assert_eq!(plan(true, hide), r#"Update {"hidden":true,"id":5}"#);
        assert_eq!(plan(true, json!({"id": "five", "hidden": true})), "id wrong_type");
        assert_eq!(plan(true, json!({"id": 5})), "- no_change");
        let lamp = json!({"title": "Lamp", "price": "$5"});
        assert!(plan(true, lamp).starts_with("Create"));
    }
}
