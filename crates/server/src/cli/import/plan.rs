//! Validates records by the rules of the HTTP API, decides between create and update, and forms
//! batches.
//!
//! The bounds of a batch depend on the records only, not on time: a resumed import forms the same
//! batches again, and their idempotency keys prevent duplicates.

use serde_json::Value;

use super::{
    keys::Keys,
    mapping::{Key, MappedRecord, Mapping},
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
    /// The key of its product in the file of keys.
    pub(super) key: Option<String>,
    /// Whether it may be created if the product to update does not exist.
    pub(super) can_be_created: bool,
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

    pub(super) fn has_key(&self, key: &str) -> bool {
        self.rows.iter().any(|row| row.key.as_deref() == Some(key))
    }
}

/// A record after mapping.
pub(super) struct Read {
    pub(super) line: u64,
    pub(super) mapped: Result<MappedRecord, Vec<RecordError>>,
    /// The product's own key, if the record has one, valid or not.
    pub(super) product_key: Option<String>,
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
                let product_key = match &mapped {
                    Ok(mapped) => {
                        mapped.fields.get("key").and_then(Value::as_str).map(str::to_owned)
                    }
                    Err(_) => mapping.product_key(&object),
                };
                Self {
                    line,
                    mapped,
                    product_key,
                    is_unreadable: false,
                    is_repaired,
                    original: Value::Object(object),
                }
            }
            Err(Unreadable { error, original }) => Self {
                line,
                mapped: Err(vec![error]),
                product_key: None,
                is_unreadable: true,
                is_repaired: false,
                original: Value::String(original),
            },
        }
    }

    /// Its key in the file of keys.
    pub(super) fn key(&self, mapping: &Mapping) -> Option<&str> {
        match (&mapping.key, &self.mapped) {
            (Key::Column(_), Ok(mapped)) => mapped.key.as_deref(),
            _ => None,
        }
    }

    /// Whether it is a line of one of our own exports.
    pub(super) fn is_exported(&self) -> bool {
        ["shop_id", "created_at"].iter().all(|name| self.original.get(name).is_some())
    }

    /// Decides the action by the keys known so far.
    pub(super) fn plan(self, mapping: &Mapping, keys: Option<&Keys>) -> Result<Row, BadRecord> {
        self.decide(|mapped| decide(mapped, mapping, keys))
    }

    /// The row that `decide` makes of the record, or the errors.
    pub(super) fn decide(
        self,
        decide: impl FnOnce(MappedRecord) -> Result<Decision, Vec<RecordError>>,
    ) -> Result<Row, BadRecord> {
        let Self { line, mapped, is_repaired, original, .. } = self;
        let planned = mapped.and_then(|mut mapped| {
            let warnings = std::mem::take(&mut mapped.warnings);
            let pictures_left_out = mapped.pictures_left_out;
            Ok((decide(mapped)?, Notes { pictures_left_out, is_repaired, warnings }))
        });
        match planned {
            Ok((Decision { action, body, key, can_be_created }, notes)) => {
                let body = Value::Object(body);
                Ok(Row { line, action, body, key, can_be_created, notes, original })
            }
            Err(errors) => Err(BadRecord { line, errors, original }),
        }
    }
}

/// What is to be done with a valid record.
pub(super) struct Decision {
    pub(super) action: Action,
    pub(super) body: Object,
    /// The key in the file of keys.
    pub(super) key: Option<String>,
    pub(super) can_be_created: bool,
}

fn decide(
    mapped: MappedRecord,
    mapping: &Mapping,
    keys: Option<&Keys>,
) -> Result<Decision, Vec<RecordError>> {
    let MappedRecord { mut fields, key, .. } = mapped;
    let known = match (&mapping.key, &key) {
        (Key::None, _) | (Key::Id, None) => None,
        (Key::Id, Some(id)) => Some(id.parse().map_or(Value::String(id.clone()), number)),
        (Key::Column(column), None) => {
            return Err(vec![RecordError::of_field(
                column,
                "required",
                "is the key and must not be empty",
            )]);
        }
        (Key::Column(_), Some(key)) => keys.and_then(|keys| keys.get(key)).map(number),
    };
    let by_column = matches!(mapping.key, Key::Column(_));
    let (action, can_be_created) = match known {
        None => {
            fields = for_creation(fields);
            check(NewProduct::read(&Value::Object(fields.clone())))?;
            (Action::Create, true)
        }
        Some(id) => {
            fields.insert("id".to_owned(), id);
            check(ProductEdit::read(&Value::Object(fields.clone())))?;
            let created = Value::Object(for_creation(fields.clone()));
            (Action::Update, by_column && NewProduct::read(&created).is_ok())
        }
    };
    Ok(Decision { action, body: fields, key: key.filter(|_| by_column), can_be_created })
}

/// The fields of a product to create: an empty address, which would remove one, is left out.
pub(super) fn for_creation(mut fields: Object) -> Object {
    if fields.get("url").and_then(Value::as_str) == Some("") {
        fields.remove("url");
    }
    fields
}

fn number(id: u64) -> Value {
    id.into()
}

/// The errors of a request, as errors of a record.
pub(super) fn check<T>(
    checked: Result<T, crate::http::errors::ValidationErrors>,
) -> Result<(), Vec<RecordError>> {
    checked.map(drop).map_err(|faults| faults.map(RecordError::from).into_listed())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::import::mapping::Shape;

    fn mapping(key: Key) -> Mapping {
        Mapping {
            shape: Shape::Json,
            mapped: Vec::new(),
            currency: None,
            key,
            ignore_unknown: false,
            columns: None,
        }
    }

    fn plan(key: Key, record: Value, known: &[(&str, u64)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let mut keys = Keys::open(&folder.path().join("keys"), "run", 0, false).unwrap();
        for (key, id) in known {
            keys.put(key, *id, "run", 0).unwrap();
        }
        let mapping = mapping(key);
        let record = Record::read(1, record.as_object().unwrap().clone());
        match Read::new(record, &mapping).plan(&mapping, Some(&keys)) {
            Ok(row) => format!("{:?} {} {}", row.action, row.can_be_created, row.body),
            Err(bad) => bad
                .errors
                .iter()
                .map(|error| format!("{} {}", error.field.as_deref().unwrap_or("-"), error.code))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    #[test]
    fn without_a_key_everything_is_new_and_all_faults_are_listed() {
        let lamp = json!({"id": 5, "title": "Lamp", "price": "$5"});
        assert_eq!(plan(Key::None, lamp, &[]), r#"Create true {"price":"$5","title":"Lamp"}"#);
        let bad = json!({"title": " ", "price": 5, "colour": "red"});
        assert_eq!(
            plan(Key::None, bad, &[]),
            "title blank, price invalid_price, colour unknown_field"
        );
    }

    #[test]
    fn the_services_own_number_updates_and_its_absence_creates() {
        let hide = json!({"id": 5, "hidden": true});
        assert_eq!(plan(Key::Id, hide, &[]), r#"Update false {"hidden":true,"id":5}"#);
        assert_eq!(plan(Key::Id, json!({"id": "five", "hidden": true}), &[]), "id wrong_type");
        assert_eq!(plan(Key::Id, json!({"id": 5}), &[]), "- no_change");
        let lamp = json!({"title": "Lamp", "price": "$5"});
        assert!(plan(Key::Id, lamp, &[]).starts_with("Create"));
    }

    #[test]
    fn a_key_that_is_known_updates() {
        let sku = || Key::Column("sku".to_owned());
        let lamp = json!({"sku": "A", "title": "Lamp", "price": "$5", "url": ""});
        let created = r#"Create true {"key":"A","price":"$5","title":"Lamp"}"#;
        assert_eq!(plan(sku(), lamp.clone(), &[]), created);
        assert!(plan(sku(), lamp.clone(), &[("B", 7)]).starts_with("Create true"));
        assert!(plan(sku(), lamp, &[("A", 7)]).starts_with("Update true"));
        assert!(
            plan(sku(), json!({"sku": "A", "hidden": true}), &[("A", 7)])
                .starts_with("Update false")
        );
        assert_eq!(plan(sku(), json!({"title": "Lamp", "price": "$5"}), &[]), "sku required");
    }
}
