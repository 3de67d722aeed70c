//! Table of units of measure and their spellings.

use std::sync::LazyLock;

use super::fold::is_word_char;

/// How a unit may follow its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// With or without a space or hyphen: `12 volt`, `12-volt`, `12volt`.
    Loose,
    /// Only without: `20a` is amperes, `20 a` is not.
    Glued,
}

use Binding::{Glued, Loose};

/// Canonical names of units with their spellings. No spelling belongs to two units.
const UNITS: &[(&str, Binding, &[&str])] = &[
    // lengths
    ("inch", Loose, &["in", "inch", "inche", "inches", "\"", "''", "″", "′′", "”", "“"]),
    ("foot", Loose, &["ft", "foot", "feet", "'", "′"]),
    ("yard", Loose, &["yd", "yds", "yard", "yards"]),
    ("mm", Loose, &["mm", "millimeter", "millimeters", "millimetre", "millimetres"]),
    ("cm", Loose, &["cm", "centimeter", "centimeters", "centimetre", "centimetres"]),
    ("meter", Loose, &["meter", "meters", "metre", "metres", "mtr"]),
    ("meter", Glued, &["m"]),
    ("mil", Loose, &["mil", "mils"]),
    // areas and volumes
    (
        "sqft",
        Loose,
        &["sq ft", "sqft", "sq feet", "sq foot", "square ft", "square feet", "square foot"],
    ),
    ("sqin", Loose, &["sq in", "square in", "square inch", "square inches"]),
    ("cuft", Loose, &["cu ft", "cuft", "cu feet", "cubic ft", "cubic feet", "cubic foot"]),
    ("gallon", Loose, &["gal", "gals", "gallon", "gallons"]),
    ("quart", Loose, &["qt", "qts", "quart", "quarts"]),
    ("pint", Loose, &["pt", "pts", "pint", "pints"]),
    ("ounce", Loose, &["oz", "ozs", "ounce", "ounces", "fl oz", "fluid ounce", "fluid ounces"]),
    ("liter", Loose, &["liter", "liters", "litre", "litres", "ltr"]),
    ("liter", Glued, &["l"]),
    ("ml", Loose, &["ml", "milliliter", "milliliters", "millilitre", "millilitres"]),
    // weights
    ("pound", Loose, &["lb", "lbs", "pound", "pounds"]),
    ("kg", Loose, &["kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"]),
    ("gram", Loose, &["gram", "grams", "gm", "gms"]),
    ("gram", Glued, &["g"]),
    ("ton", Loose, &["ton", "tons"]),
    // electricity, power, pressure
    ("watt", Loose, &["w", "watt", "watts"]),
    ("kw", Loose, &["kw", "kilowatt", "kilowatts"]),
    ("volt", Loose, &["v", "volt", "volts"]),
    ("amp", Loose, &["amp", "amps", "ampere", "amperes"]),
    ("amp", Glued, &["a"]),
    ("ah", Loose, &["ah"]),
    ("mah", Loose, &["mah"]),
    ("hp", Loose, &["hp", "horsepower", "horse power"]),
    ("btu", Loose, &["btu", "btus"]),
    ("psi", Loose, &["psi"]),
    ("rpm", Loose, &["rpm"]),
    ("cfm", Loose, &["cfm"]),
    ("gpm", Loose, &["gpm"]),
    ("gpf", Loose, &["gpf"]),
    ("lumen", Loose, &["lumen", "lumens", "lm"]),
    ("gauge", Loose, &["ga", "gauge", "gage"]),
    // data
    ("gb", Loose, &["gb", "gigabyte", "gigabytes"]),
    ("tb", Loose, &["tb", "terabyte", "terabytes"]),
    ("mb", Loose, &["mb", "megabyte", "megabytes"]),
    ("ghz", Loose, &["ghz"]),
    ("mhz", Loose, &["mhz"]),
    ("hz", Loose, &["hz", "hertz"]),
    // counts
    ("pack", Loose, &["pack", "packs", "pk"]),
    ("piece", Loose, &["piece", "pieces", "pc", "pcs"]),
    ("count", Loose, &["count", "ct"]),
];

/// The unit at the start of folded text and its length in bytes: the longest spelling that is not a
/// prefix of another word. A point after an abbreviation belongs to it.
pub(super) fn at_start_of(text: &str, binding: Binding) -> Option<(&'static str, usize)> {
    let first = *text.as_bytes().first()?;
    let mut longest: Option<(&'static str, usize)> = None;
    for (name, how, spelling) in &BY_FIRST_BYTE[usize::from(first)] {
        if (*how == Loose || binding == Glued)
            && let Some(bytes) = spelled_at_start_of(text, spelling)
            && longest.is_none_or(|(_, so_far)| bytes > so_far)
        {
            longest = Some((name, bytes));
        }
    }
    longest
}

/// Names, bindings and single spellings of [`UNITS`].
type Spellings = Vec<(&'static str, Binding, &'static str)>;

/// The spellings that begin with each byte: titles are full of numbers, few of which have a unit.
static BY_FIRST_BYTE: LazyLock<[Spellings; 256]> = LazyLock::new(|| {
    let mut all = [const { Spellings::new() }; 256];
    for (name, how, spellings) in UNITS {
        for spelling in *spellings {
            all[usize::from(spelling.as_bytes()[0])].push((name, *how, spelling));
        }
    }
    all
});

/// The length of a spelling at the start of a text, including points and spaces within it.
fn spelled_at_start_of(text: &str, spelling: &str) -> Option<usize> {
    let mut rest = text;
    for (at, word) in spelling.split(' ').enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            rest = rest.strip_prefix([' ', '-']).unwrap_or(rest);
        }
        rest = rest.strip_prefix(word)?;
    }
    let is_word = spelling.ends_with(|c: char| c.is_ascii_alphabetic());
    if is_word && rest.starts_with(|c: char| is_word_char(c) || c == '\'') {
        return None;
    }
    if is_word {
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_spelling_counts() {
        assert_eq!(at_start_of("sq. ft. tile", Loose), Some(("sqft", 7)));
        assert_eq!(at_start_of("in.", Loose), Some(("inch", 3)));
        assert_eq!(at_start_of("inches x", Loose), Some(("inch", 6)));
        assert_eq!(at_start_of("''", Loose), Some(("inch", 2)));
        assert_eq!(at_start_of("fl. oz.", Loose), Some(("ounce", 7)));
    }

    #[test]
    fn beginnings_of_words_and_loose_letters_are_no_units() {
        assert_eq!(at_start_of("ink", Loose), None);
        assert_eq!(at_start_of("a", Loose), None);
        assert_eq!(at_start_of("a", Glued), Some(("amp", 1)));
        assert_eq!(at_start_of("", Glued), None);
    }

    #[test]
    fn no_spelling_means_two_units() {
        let mut all: Vec<_> = UNITS.iter().flat_map(|(_, _, spellings)| spellings.iter()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
