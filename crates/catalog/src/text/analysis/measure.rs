//! Recognises measures and sizes: `5 ft.`, `5'`, `5-foot` and `5ft` are one length; `18x18`,
//! `18 in. x 18 in.` and `18" x 18"` are one size.

use super::{fold::is_word_char, units};

/// More numbers in a row are a table, not a size.
const MAX_DIMENSIONS: usize = 4;
/// Longer numerators and denominators are part numbers and dates.
const FRACTION_DIGITS: usize = 2;
/// Letters after a length that name its direction: `30 in. W x 18 in. D`.
const DIRECTIONS: &[char] = &['w', 'h', 'd', 'l'];

/// A number, and its unit if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) number: String,
    pub(super) unit: Option<&'static str>,
}

impl Measure {
    /// The number with its unit as one word.
    pub(super) fn joined(&self) -> String {
        format!("{}{}", self.number, self.unit.unwrap_or_default())
    }
}

/// One measure, or the dimensions of a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) dimensions: Vec<Measure>,
    /// The length of its text in bytes.
    pub(super) bytes: usize,
}

/// The numbers of several dimensions as one word: `18x18`.
pub(super) fn size_of(dimensions: &[Measure]) -> String {
    let numbers: Vec<&str> = dimensions.iter().map(|dimension| &*dimension.number).collect();
    numbers.join("x")
}

/// The measure at the start of folded text. A bare integer is not a measure.
pub(super) fn at_start_of(text: &str) -> Option<Measured> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut dimensions = Vec::new();
    let mut rest = text;
    loop {
        let (number, after) = number_at_start_of(rest)?;
        let (unit, after) = unit_after(after);
        dimensions.push(Measure { number, unit });
        match next_dimension(after).filter(|_| dimensions.len() < MAX_DIMENSIONS) {
            Some(next) if number_at_start_of(next).is_some() => rest = next,
            _ => {
                rest = after;
                break;
            }
        }
    }
    let is_measure =
        dimensions.len() > 1 || dimensions[0].unit.is_some() || dimensions[0].number.contains('/');
    let ends_here = dimensions.last().is_some_and(|dimension| dimension.unit.is_some())
        || !(rest.starts_with(is_word_char) || continues(rest));
    (is_measure && ends_here).then(|| Measured { dimensions, bytes: text.len() - rest.len() })
}

/// Whether the text continues a compound or a longer number: `1/2-b`, `1/2/3`, `2x4-36`.
fn continues(rest: &str) -> bool {
    let mut chars = rest.chars();
    matches!(chars.next(), Some('-' | '/' | '&' | '.' | ','))
        && chars.next().is_some_and(is_word_char)
}

/// `5`, `2.5`, `1,000`, `1/2`, `1-1/2`, `1 1/2`.
fn number_at_start_of(text: &str) -> Option<(String, &str)> {
    let (mut number, rest) = digits(text)?;
    if let Some((fraction, after)) = fraction_after(&number, rest) {
        number.push_str(&fraction);
        return Some((number, after));
    }
    let is_whole = !number.contains('.') && number.len() <= FRACTION_DIGITS + 1;
    if is_whole
        && let Some(after_gap) = rest.strip_prefix(['-', ' '])
        && let Some((numerator, after)) = digits(after_gap)
        && let Some((fraction, after)) = fraction_after(&numerator, after)
    {
        return Some((format!("{number}-{numerator}{fraction}"), after));
    }
    Some((number, rest))
}

/// The rest of a fraction after its numerator: `/2`.
fn fraction_after<'a>(numerator: &str, rest: &'a str) -> Option<(String, &'a str)> {
    let is_part = |digits: &str| digits.len() <= FRACTION_DIGITS && !digits.contains('.');
    let (denominator, after) = digits(rest.strip_prefix(['/', '\u{2044}'])?)?;
    (is_part(numerator) && is_part(&denominator)).then(|| (format!("/{denominator}"), after))
}

fn digits(text: &str) -> Option<(String, &str)> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end)
        || (end > 0 && matches!(bytes.get(end), Some(b'.' | b',')) && is_digit(end + 1))
    {
        end += 1;
    }
    let number: String = text[..end].chars().filter(|c| *c != ',').collect();
    (end > 0).then(|| (number, &text[end..]))
}

fn unit_after(text: &str) -> (Option<&'static str>, &str) {
    let glued = units::at_start_of(text, units::Binding::Glued);
    if let Some((unit, bytes)) = glued {
        return (Some(unit), &text[bytes..]);
    }
    let Some(loose) = text.strip_prefix([' ', '-']) else { return (None, text) };
    match units::at_start_of(loose, units::Binding::Loose) {
        Some((unit, bytes)) if !is_preposition(&loose[..bytes], &loose[bytes..]) => {
            (Some(unit), &loose[bytes..])
        }
        _ => (None, text),
    }
}

/// `2 in 1` is not a length in inches.
fn is_preposition(spelling: &str, rest: &str) -> bool {
    spelling == "in" && rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

/// The text after the `x` between two dimensions.
fn next_dimension(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(' ');
    let direction =
        rest.strip_prefix(DIRECTIONS).map(|rest| rest.strip_prefix('.').unwrap_or(rest));
    let rest = match direction {
        Some(after) if after.starts_with(' ') && rest.len() < text.len() => {
            after.trim_start_matches(' ')
        }
        _ => rest,
    };
    Some(rest.strip_prefix(['x', '×', '*'])?.trim_start_matches(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = at_start_of(text).map(|measured| {
            let dimensions: Vec<String> = measured.dimensions.iter().map(Measure::joined).collect();
            format!("{}|{}", dimensions.join(" x "), &text[measured.bytes..])
        });
        assert_eq!(shown.as_deref().unwrap_or("nothing"), expected, "{text:?}");
    }

    #[test]
    fn one_unit_has_many_spellings() {
        for text in ["5 ft", "5 ft.", "5ft", "5'", "5-foot", "5 feet", "5-ft."] {
            check(text, "5foot|");
        }
        for text in ["1/2 in", "1/2\"", "1/2in.", "1/2-inch", "1/2''"] {
            check(text, "1/2inch|");
        }
        check("1,000 sq. ft. heater", "1000sqft| heater");
        check("12-volt battery", "12volt| battery");
        check("20a breaker", "20amp| breaker");
        check("1-1/2 in. pipe", "1-1/2inch| pipe");
        check("1 1/2\" pipe", "1-1/2inch| pipe");
        check("2.5 gal. can", "2.5gallon| can");
    }

    #[test]
    fn sizes_are_their_sides() {
        check("18x18", "18 x 18|");
        check("18 x 18 tile", "18 x 18| tile");
        check("18\" x 18\"", "18inch x 18inch|");
        check("18 in. x 18 in. tile", "18inch x 18inch| tile");
        check("2 in. x 4 in. x 8 ft. stud", "2inch x 4inch x 8foot| stud");
        check("30 in. w x 18 in. d cabinet", "30inch x 18inch| d cabinet");
        check("4x8' panel", "4 x 8foot| panel");
    }

    #[test]
    fn other_numbers_measure_nothing() {
        for text in [
            "501",
            "2 in 1 shampoo",
            "4k tv",
            "3-light",
            "20 a day",
            "18xyz",
            "205-2",
            "1/2/3",
            "24b",
            "5 feetlong",
            "123/456 part",
        ] {
            check(text, "nothing");
        }
    }
}
