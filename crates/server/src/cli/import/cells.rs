//! Parses cells of tables: booleans, prices with a currency, and lists of pictures.

use serde_json::{Value, json};

use super::{record::RecordError, work};

/// Words for yes and no in tables.
const YES: [&str; 6] = ["true", "yes", "y", "1", "on", "x"];
const NO: [&str; 5] = ["false", "no", "n", "0", "off"];
/// Shopify's words for what is not for sale.
const NOT_ACTIVE: [&str; 4] = ["draft", "archived", "unlisted", "inactive"];

/// A truth value, from JSON or as tables write it; `None` where the cell is empty.
pub(super) fn truth(field: &'static str, cell: &Value) -> Result<Option<bool>, RecordError> {
    let Value::String(text) = cell else {
        let wrong = || RecordError::of_field(field, "wrong_type", "must be true or false");
        return cell.as_bool().map(Some).ok_or_else(wrong);
    };
    match text.trim().to_lowercase().as_str() {
        "" => Ok(None),
        word if YES.contains(&word) => Ok(Some(true)),
        word if NO.contains(&word) => Ok(Some(false)),
        _ => {
            let message = format!("must be true or false, not {text:?}");
            Err(RecordError::of_field(field, "wrong_type", message))
        }
    }
}

/// Whether a status means hidden; `None` where the cell is empty.
pub(super) fn hidden_by_status(cell: &Value) -> Result<Option<bool>, RecordError> {
    let text = cell.as_str().unwrap_or_default().trim().to_lowercase();
    match text.as_str() {
        "" => Ok(None),
        "active" => Ok(Some(false)),
        word if NOT_ACTIVE.contains(&word) => Ok(Some(true)),
        _ => {
            let known = NOT_ACTIVE.join(", ");
            let message = format!("must be active or one of {known}, not {text:?}");
            Err(RecordError::of_field("status", "wrong_type", message))
        }
    }
}

/// How the numbers of a source are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// As people do: `1.299` may be a thousand and more.
    ByPeople,
    /// As programs do: a dot begins the decimals.
    ByPrograms,
}

/// A price. A bare number gets the currency, if there is one; anything else is kept as written.
pub(super) fn price(cell: &Value, currency: Option<&str>, numbers: Numbers) -> Value {
    let (amount, numbers) = match cell {
        Value::String(text) if is_bare(text) => (text.trim().to_owned(), numbers),
        Value::Number(number) => (number.to_string(), Numbers::ByPrograms),
        other => return other.clone(),
    };
    let Some(currency) = currency else { return cell.clone() };
    // Three decimals would be read as a group of thousands, four cannot be.
    let three_decimals = amount
        .split_once('.')
        .is_some_and(|(_, decimals)| decimals.len() == 3 && !decimals.contains('.'));
    let zero = if numbers == Numbers::ByPrograms && three_decimals { "0" } else { "" };
    Value::String(format!("{amount}{zero} {currency}"))
}

fn is_bare(text: &str) -> bool {
    let number =
        |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}');
    text.chars().all(number) && text.contains(|c: char| c.is_ascii_digit())
}

/// How a cell with several addresses is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// At spaces alone, which no address has.
    AtSpaces,
    /// At commas too where an address follows.
    AtCommas,
}

/// The pictures of a cell. What is JSON already stays as it is.
pub(super) fn pictures(cell: &Value, cut: Cut) -> Vec<Value> {
    let picture = |url: &str| json!({"url": url, "type": "image"});
    match cell {
        Value::String(text) => addresses(text, cut).into_iter().map(picture).collect(),
        Value::Array(items) => items
            .iter()
            .flat_map(|item| match item {
                Value::String(_) => pictures(item, cut),
                other => vec![other.clone()],
            })
            .collect(),
        other => vec![other.clone()],
    }
}

fn addresses(text: &str, cut: Cut) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let mut begin = 0;
        if cut == Cut::AtCommas {
            for (comma, _) in word.match_indices(',') {
                work::step();
                let after = &word[comma + 1..];
                if after.starts_with("http://") || after.starts_with("https://") {
                    found.push(word[begin..comma].trim_matches(','));
                    begin = comma + 1;
                }
            }
        }
        let rest = &word[begin..];
        found.push(if cut == Cut::AtCommas { rest.trim_matches(',') } else { rest });
    }
    found.retain(|address| !address.is_empty());
    found
}

/// A field that a table states several times is stated by the first cell that is not empty.
pub(super) fn first_filled(cell: &Value) -> &Value {
    match cell {
        Value::Array(cells) => {
            cells.iter().find(|cell| cell.as_str() != Some("")).unwrap_or(&Value::Null)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::price::Price;

    use super::*;

    #[test]
    fn truth_is_read_as_tables_write_it() {
        for (cell, expected) in [
            (json!("TRUE"), Some(true)),
            (json!(" no "), Some(false)),
            (json!(""), None),
            (json!(true), Some(true)),
        ] {
            assert_eq!(truth("hidden", &cell), Ok(expected), "{cell}");
        }
        for cell in [json!("maybe"), json!(null), json!(1)] {
            assert_eq!(truth("hidden", &cell).unwrap_err().code, "wrong_type", "{cell}");
        }
        assert_eq!(hidden_by_status(&json!("Draft")), Ok(Some(true)));
        assert_eq!(hidden_by_status(&json!("active")), Ok(Some(false)));
        assert!(hidden_by_status(&json!("in stock")).is_err());
    }

    #[test]
    fn bare_numbers_get_the_currency_and_their_value() {
        let amount = |cell: Value, numbers| {
            let priced = price(&cell, Some("EUR"), numbers);
            Price::parse(priced.as_str().unwrap()).unwrap().money().unwrap().amount.to_string()
        };
        assert_eq!(amount(json!("19.99"), Numbers::ByPrograms), "19.99");
        assert_eq!(amount(json!("1.299"), Numbers::ByPrograms), "1.2990");
        assert_eq!(amount(json!("1.299"), Numbers::ByPeople), "1299");
        assert_eq!(amount(json!(1.299), Numbers::ByPeople), "1.2990");
        assert_eq!(amount(json!(5), Numbers::ByPeople), "5");
        for kept in [json!("$5"), json!("15.00 USD"), json!(""), json!(null), json!("free")] {
            assert_eq!(price(&kept, Some("EUR"), Numbers::ByPrograms), kept);
        }
        assert_eq!(price(&json!("5"), None, Numbers::ByPeople), json!("5"));
    }

    #[test]
    fn addresses_are_cut_where_none_goes_on() {
        let urls = |cell: Value, cut| -> Vec<String> {
            let found = pictures(&cell, cut);
            found.iter().map(|picture| picture["url"].as_str().unwrap().to_owned()).collect()
        };
        let two = json!("https://a/x,y.jpg,https://b/z.jpg, http://c");
        assert_eq!(
            urls(two.clone(), Cut::AtCommas),
            ["https://a/x,y.jpg", "https://b/z.jpg", "http://c"]
        );
        assert_eq!(urls(two, Cut::AtSpaces), ["https://a/x,y.jpg,https://b/z.jpg,", "http://c"]);
        let many = json!(",https://a,,,http://b,https://c,d,");
        assert_eq!(urls(many, Cut::AtCommas), ["https://a", "http://b", "https://c,d"]);
        assert_eq!(
            urls(json!(["https://a", "https://b"]), Cut::AtSpaces),
            ["https://a", "https://b"]
        );
        assert!(pictures(&json!("  "), Cut::AtCommas).is_empty());
        let item = json!([{"url": "https://a", "type": "image"}]);
        assert_eq!(Value::Array(pictures(&item, Cut::AtSpaces)), item);
    }
}
