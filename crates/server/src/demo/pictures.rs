//! What do the demo's products look like? A drawing per kind of product, tinted in the colour that the product names.
//!
//! A drawing is an SVG file whose main colour is [`MAIN`] and whose darker one is [`SHADE`]; a tint replaces both.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where the pictures are served.
pub(crate) const FOLDER: &str = "/demo/images/";

/// The colour of a drawing that a tint replaces.
const MAIN: &str = "#7a93ac";
/// The darker colour of a drawing that a tint replaces.
const SHADE: &str = "#5b7087";

macro_rules! drawings {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../demo/images/", $name, ".svg"
        )))),+]
    };
}

/// Every drawing by its name. A test compares with the folder.
static DRAWINGS: LazyLock<BTreeMap<&str, &str>> =
    LazyLock::new(|| BTreeMap::from(drawings!["scarf"]));

/// A tint: its name in addresses, the words that ask for it, its main colour and its shade.
struct Tint {
    name: &'static str,
    words: &'static [&'static str],
    main: &'static str,
    shade: &'static str,
}

const fn tint(
    name: &'static str,
    words: &'static [&'static str],
    main: &'static str,
    shade: &'static str,
) -> Tint {
    Tint { name, words, main, shade }
}

const TINTS: [Tint; 20] = [
    tint("black", &["black", "ebony", "onyx", "jet"], "#3a3d42", "#232529"),
    tint("white", &["white", "ivory", "cream", "pearl"], "#f4f1ea", "#d9d3c7"),
    tint("grey", &["grey", "gray", "slate", "ash", "silver", "steel"], "#9aa1a9", "#767d86"),
    tint("charcoal", &["charcoal", "graphite", "anthracite"], "#565c64", "#3f444b"),
    tint("red", &["red", "scarlet", "crimson", "cherry"], "#cf4a45", "#a83530"),
    tint("burgundy", &["burgundy", "maroon", "wine", "plum"], "#8a3149", "#6b2237"),
    tint("pink", &["pink", "rose", "blush", "coral"], "#e795a5", "#cf7488"),
    tint("orange", &["orange", "rust", "terracotta", "copper", "amber"], "#dd8545", "#bb6829"),
    tint("yellow", &["yellow", "lemon"], "#edc94c", "#cfa82e"),
    tint(
        "mustard",
        &["mustard", "gold", "golden", "ochre", "brass", "honey"],
        "#cf9f3e",
        "#ad8029",
    ),
    tint("green", &["green", "emerald", "mint", "lime", "forest"], "#5da36c", "#448254"),
    tint("olive", &["olive", "sage", "khaki", "moss"], "#8c9560", "#6d7547"),
    tint("teal", &["teal", "turquoise", "aqua", "petrol"], "#3f9a9a", "#2d7a7b"),
    tint("blue", &["blue", "sky", "cobalt", "denim", "indigo"], "#4f86c6", "#3a6aa5"),
    tint("navy", &["navy", "midnight"], "#34496f", "#233453"),
    tint("purple", &["purple", "violet", "lavender", "lilac", "aubergine"], "#8d70b8", "#6f5499"),
    tint(
        "brown",
        &["brown", "chocolate", "walnut", "cognac", "mocha", "espresso"],
        "#8a6246",
        "#6b4a33",
    ),
    tint(
        "tan",
        &["tan", "beige", "sand", "camel", "oatmeal", "taupe", "linen"],
        "#cdb594",
        "#ae9574",
    ),
    tint(
        "oak",
        &["oak", "beech", "birch", "pine", "bamboo", "wooden", "acacia", "teak"],
        "#c99c66",
        "#a67c49",
    ),
    tint("clear", &["clear", "transparent", "glass", "crystal"], "#b9d6e2", "#92b9c9"),
];

/// Whether there is a drawing of this name.
pub(crate) fn exists(drawing: &str) -> bool {
    DRAWINGS.contains_key(drawing)
}

/// The path of a picture below [`FOLDER`]: the drawing, in the first colour that one of these texts names.
pub(crate) fn path(drawing: &str, texts: &[&str]) -> String {
    match texts.iter().find_map(|text| tint_of(text)) {
        Some(tint) => format!("{}/{drawing}.svg", tint.name),
        None => format!("{drawing}.svg"),
    }
}

/// The path below [`FOLDER`] in the address of one of our pictures, whatever the server's address was.
pub(crate) fn path_in(address: &str) -> Option<&str> {
    let path = &address[address.find(FOLDER)? + FOLDER.len()..];
    picture(path).map(|_| path)
}

fn tint_of(text: &str) -> Option<&'static Tint> {
    text.split(|c: char| !c.is_alphabetic()).find_map(|word| {
        let says = |tint: &&Tint| tint.words.iter().any(|said| said.eq_ignore_ascii_case(word));
        TINTS.iter().find(says)
    })
}

/// The picture at a path below [`FOLDER`].
pub(crate) fn picture(path: &str) -> Option<String> {
    let (tint, file) = match path.split_once('/') {
        Some((name, file)) => (Some(TINTS.iter().find(|tint| tint.name == name)?), file),
        None => (None, path),
    };
    let drawing = DRAWINGS.get(file.strip_suffix(".svg")?)?;
    Some(match tint {
        Some(tint) => drawing.replace(MAIN, tint.main).replace(SHADE, tint.shade),
        None => (*drawing).to_owned(),
    })
}
