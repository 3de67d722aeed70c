//! Plural stemming: a form is indexed under its singular; nothing else is merged.
//!
//! On judged shopping queries, removing plurals alone ranked better than the Snowball stemmer,
//! which also merges paint with painting, organ with organic, and brands that look like
//! inflections.

use std::borrow::Cow;

/// Shorter words are left alone: `gas`, `bus`.
const MIN_BYTES: usize = 4;
/// `pies` and `ties` are not from `py` and `ty`.
const MIN_BYTES_BEFORE_IE: usize = 3;
const MIN_BYTES_BEFORE_ES: usize = 3;
/// Words that end like plurals but are not.
const NOT_PLURAL: &[&str] = &["lens", "news"];
/// Plurals that the rules below do not cover.
const IRREGULAR: &[(&str, &str)] = &[
    ("buses", "bus"),
    ("canoes", "canoe"),
    ("halves", "half"),
    ("knives", "knife"),
    ("leaves", "leaf"),
    ("lenses", "lens"),
    ("loaves", "loaf"),
    ("scarves", "scarf"),
    ("shelves", "shelf"),
    ("shoes", "shoe"),
    ("wolves", "wolf"),
];
/// After these endings a plural takes `es`, except in words as short as `toes` and `axes`.
const TAKES_ES: &[&str] = &["ch", "sh", "ss", "x", "zz", "o"];

/// The singular of an English form; any other form unchanged.
pub(crate) fn singular(form: &str) -> Cow<'_, str> {
    let is_english = form.len() >= MIN_BYTES && form.bytes().all(|b| b.is_ascii_lowercase());
    if !is_english || NOT_PLURAL.contains(&form) {
        return Cow::Borrowed(form);
    }
    let Some(without_s) = form.strip_suffix('s').filter(|rest| !rest.ends_with(['s', 'u'])) else {
        return ie_to_y(form);
    };
    if !without_s.ends_with('e') {
        return Cow::Borrowed(without_s);
    }
    if let Some((plural, one)) = IRREGULAR.iter().find(|(plural, _)| form.ends_with(plural)) {
        return Cow::Owned(form.replace(plural, one));
    }
    match without_s.strip_suffix('e') {
        Some(rest)
            if rest.len() >= MIN_BYTES_BEFORE_ES
                && TAKES_ES.iter().any(|ending| rest.ends_with(ending)) =>
        {
            Cow::Borrowed(rest)
        }
        _ => ie_to_y(without_s),
    }
}

/// Replaces a final `ie` with `y`, so that `batterie` equals `battery` and `hoodie` equals `hoody`.
fn ie_to_y(word: &str) -> Cow<'_, str> {
    match word.strip_suffix("ie") {
        Some(rest) if rest.len() >= MIN_BYTES_BEFORE_IE => Cow::Owned(format!("{rest}y")),
        _ => Cow::Borrowed(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_are_one_term() {
        for (one, many) in [
            ("shoe", "shoes"),
            ("horseshoe", "horseshoes"),
            ("dress", "dresses"),
            ("battery", "batteries"),
            ("movie", "movies"),
            ("hoodie", "hoodies"),
            ("hoody", "hoodies"),
            ("tie", "ties"),
            ("pie", "pies"),
            ("case", "cases"),
            ("box", "boxes"),
            ("watch", "watches"),
            ("brush", "brushes"),
            ("tomato", "tomatoes"),
            ("toe", "toes"),
            ("axe", "axes"),
            ("knife", "knives"),
            ("bookshelf", "bookshelves"),
            ("valve", "valves"),
            ("sleeve", "sleeves"),
            ("lens", "lenses"),
            ("bus", "buses"),
            ("size", "sizes"),
            ("cup", "cups"),
            ("levi", "levis"),
            ("toy", "toys"),
            ("men", "mens"),
            ("adidas", "adidas"),
        ] {
            assert_eq!(singular(one), singular(many), "{one} {many}");
        }
    }

    #[test]
    fn different_words_stay_apart() {
        for (one, other) in [
            ("news", "new"),
            ("paint", "painting"),
            ("organ", "organic"),
            ("cloth", "clothes"),
            ("plus", "plu"),
            ("glass", "glas"),
            ("man", "men"),
        ] {
            assert_ne!(singular(one), singular(other), "{one} {other}");
        }
    }

    #[test]
    fn codes_and_other_scripts_stay_as_they_are() {
        for form in ["501s", "a4s", "gas", "ключиs", "x1es"] {
            assert_eq!(singular(form), form);
        }
    }
}
