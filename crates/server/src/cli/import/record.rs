//! Records, the output of every reader: an object with its line, or the reason why it cannot be
//! read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::http::errors::ValidationError;

/// The largest record, as it stands in the file. What memory an import takes follows from it.
pub(super) const MAX_RECORD_BYTES: usize = 4 << 20;
/// How much of a record that cannot be read is repeated in the report.
const MAX_ORIGINAL_CHARS: usize = 16 << 10;

/// Column or field names and their values.
pub(super) type Object = Map<String, Value>;

/// Records in the order of the file; an error ends the import.
pub(super) type Records = Box<dyn Iterator<Item = anyhow::Result<Record>>>;

/// One product's worth of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    /// The line it begins in, from 1.
    pub(super) line: u64,
    /// What it says.
    pub(super) content: Result<Object, Unreadable>,
}

/// A record that does not even have fields.
#[derive(Debug, PartialEq)]
pub(super) struct Unreadable {
    pub(super) error: RecordError,
    /// As much of it as can be shown.
    pub(super) original: String,
}

/// One thing that is wrong with one record. Codes and messages are those of the HTTP interface
/// wherever it knows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordError {
    /// What is wrong, for programs.
    pub(super) code: Cow<'static, str>,
    /// The field at fault, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<String>,
    /// What is wrong, for people.
    pub(super) message: String,
}

impl RecordError {
    pub(super) fn of_whole(code: &'static str, message: impl ToString) -> Self {
        Self { code: code.into(), field: None, message: message.to_string() }
    }

    pub(super) fn of_field(field: &str, code: &'static str, message: impl ToString) -> Self {
        Self { field: Some(field.to_owned()), ..Self::of_whole(code, message) }
    }
}

impl From<ValidationError> for RecordError {
    fn from(fault: ValidationError) -> Self {
        Self { code: fault.code.into(), field: fault.field, message: fault.message }
    }
}

/// Adds a text to a record; a name that is given several times has all its texts.
pub(super) fn add_text(object: &mut Object, name: &str, text: &str) {
    let text = Value::String(text.to_owned());
    match object.get_mut(name) {
        None => drop(object.insert(name.to_owned(), text)),
        Some(Value::Array(texts)) => texts.push(text),
        Some(first) => *first = Value::Array(vec![first.take(), text]),
    }
}

impl Record {
    pub(super) fn read(line: u64, object: Object) -> Self {
        Self { line, content: Ok(object) }
    }

    pub(super) fn unreadable(line: u64, original: &[u8], error: RecordError) -> Self {
        let original = String::from_utf8_lossy(original).chars().take(MAX_ORIGINAL_CHARS).collect();
        Self { line, content: Err(Unreadable { error, original }) }
    }

    /// A record whose bytes are JSON, or should be.
    pub(super) fn from_json(line: u64, bytes: &[u8]) -> Self {
        match crate::http::requests::json::parse_record(bytes) {
            Ok(Value::Object(object)) => Self::read(line, object),
            Ok(_) => {
                let error = RecordError::of_whole("wrong_type", "must be a JSON object");
                Self::unreadable(line, bytes, error)
            }
            Err(error) => {
                let message = error.to_string().replacen("the body is", "is", 1);
                Self::unreadable(line, bytes, RecordError::of_whole("malformed_json", message))
            }
        }
    }

    /// A record over the limit; `beginning` is how it begins.
    pub(super) fn too_large(line: u64, beginning: &[u8]) -> Self {
        let message = format!("is longer than {MAX_RECORD_BYTES} bytes");
        let shown = &beginning[..beginning.len().min(200)];
        Self::unreadable(line, shown, RecordError::of_whole("record_too_large", message))
    }
}
