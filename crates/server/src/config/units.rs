//! Parses and formats sizes and durations.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

/// Units of size, largest first.
const BYTE_UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Units of time in milliseconds, largest first.
const TIME_UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Parses `4MiB`, `4 MB` or a plain number of bytes; `None` if the text is neither or too large.
pub(super) fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit): (u64, _) = (text[..digits].parse().ok()?, text[digits..].trim_start());
    let factor = if unit.is_empty() {
        1
    } else {
        BYTE_UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1
    };
    usize::try_from(number.checked_mul(factor)?).ok()
}

/// Formats a size in the largest binary unit that divides it exactly, else in bytes.
pub(super) fn show_bytes(bytes: usize) -> String {
    let bytes = bytes as u64;
    let binary = BYTE_UNITS.iter().filter(|(name, _)| name.ends_with("iB"));
    match binary.into_iter().find(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor)) {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => format!("{bytes}B"),
    }
}

/// Parses a duration such as `30s`, `250ms`, `2m`, `24h` or `7d`, in whole milliseconds; a unit is
/// required, except after `0`.
pub(crate) fn parse_time(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let span: Span = text.parse().ok()?;
    let time = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    let time = Duration::try_from(time).ok()?;
    time.subsec_nanos().is_multiple_of(1_000_000).then_some(time)
}

/// Formats a duration in the largest unit that divides it exactly; fractions of a millisecond are
/// dropped.
pub(super) fn show_time(time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    match TIME_UNITS.iter().find(|(_, factor)| millis >= *factor && millis.is_multiple_of(*factor))
    {
        Some((unit, factor)) => format!("{}{unit}", millis / factor),
        None => "0s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_and_without_a_unit() {
        let check = |text, expected| assert_eq!(parse_bytes(text), expected, "{text:?}");
        check("4096", Some(4096));
        check("4MiB", Some(4 << 20));
        check("4 MiB", Some(4 << 20));
        check("4mib", Some(4 << 20));
        check("4MB", Some(4_000_000));
        check("1TiB", Some(1 << 40));
        check("0", Some(0));
        check("12B", Some(12));
        check("", None);
        check("MiB", None);
        check("-1", None);
        check("1.5GiB", None);
        check("4M", None);
        check("4XB", None);
        check("99999999999999999999", None);
        check("99999999TiB", None);
    }

    #[test]
    fn durations_are_parsed_with_a_unit() {
        let check = |text, expected: Option<u64>| {
            assert_eq!(parse_time(text), expected.map(Duration::from_millis), "{text:?}");
        };
        check("30s", Some(30_000));
        check("250ms", Some(250));
        check("2m", Some(120_000));
        check("24h", Some(86_400_000));
        check("1 d", Some(86_400_000));
        check("0", Some(0));
        check("1.5s", Some(1_500));
        check("30 seconds", Some(30_000));
        check("1m 30s", Some(90_000));
        check("30", None);
        check("", None);
        check("s", None);
        check("-1s", None);
        check("1us", None);
        check("99999999999999999999s", None);
        check("9999999999999999h", None);
    }

    proptest::proptest! {
        #[test]
        fn formatted_values_parse_back(bytes in 0_usize..=(1 << 50), millis in 0_u64..=u64::from(u32::MAX)) {
            let time = Duration::from_millis(millis);
            proptest::prop_assert_eq!(parse_bytes(&show_bytes(bytes)), Some(bytes));
            proptest::prop_assert_eq!(parse_time(&show_time(time)), Some(time));
        }
    }

    #[test]
    fn round_values_are_formatted_short() {
        let shown = [
            show_bytes(4 << 20),
            show_bytes(1500),
            show_time(Duration::from_secs(90)),
            show_time(Duration::ZERO),
        ];
        assert_eq!(shown, ["4MiB", "1500B", "90s", "0s"]);
    }
}
