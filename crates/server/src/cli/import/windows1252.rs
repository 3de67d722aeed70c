//! Repairs text that was written in Windows-1252 and read as ISO 8859-1: the characters U+0080 to
//! U+009F, which are control characters, become those that the bytes meant (0x92 is `’`).

use std::borrow::Cow;

use serde_json::Value;

use super::record::Object;

/// The characters of the bytes 0x80 to 0x9F; those without one stay as they are.
const MEANT: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Repairs every text of a value. Returns whether there was something to repair.
fn repair(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match repaired(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(better) => {
                *text = better;
                true
            }
        },
        Value::Array(items) => repair_each(items.iter_mut()),
        Value::Object(fields) => repair_all(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Repairs every text of an object.
pub(super) fn repair_all(fields: &mut Object) -> bool {
    repair_each(fields.values_mut())
}

fn repair_each<'a>(values: impl Iterator<Item = &'a mut Value>) -> bool {
    // All of them, not up to the first that needs it.
    values.map(repair).filter(|is_repaired| *is_repaired).count() > 0
}

/// A text without the characters that can be repaired.
pub(super) fn repaired(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| meant(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(meant).collect())
}

fn meant(c: char) -> char {
    match u32::from(c) {
        code @ 0x80..=0x9f => MEANT[code as usize - 0x80],
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_of_windows_1252_become_what_they_meant_and_other_text_stays() {
        let mut record = json!({
            "title": "Women\u{92}s \u{93}Lamp\u{94} \u{96} 5\u{80}",
            "tags": ["caf\u{e9}", "na\u{ef}ve\u{85}"],
        });
        assert!(repair(&mut record));
        assert_eq!(record, json!({"title": "Women’s “Lamp” – 5€", "tags": ["café", "naïve…"]}));
        assert!(!repair(&mut record));
        let mut unknown = json!("a\u{81}b\u{9d}\u{7f}\n");
        assert!(!repair(&mut unknown), "what no byte meant is left to the rules");
    }
}
