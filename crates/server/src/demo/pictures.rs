//! What do the demo's products look like? A drawing per kind of product, tinted in the colour that the product names.
//!
//! A drawing is an SVG file whose main colour is [`MAIN`] and whose darker one is [`SHADE`]; a tint replaces both.

use super::drawings::drawing;

/// Where the pictures are served.
pub(crate) const FOLDER: &str = "/demo/images/";

/// The colour of a drawing that a tint replaces.
const MAIN: &str = "#7a93ac";
/// The darker colour of a drawing that a tint replaces.
const SHADE: &str = "#5b7087";

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
pub(crate) fn exists(name: &str) -> bool {
    drawing(name).is_some()
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
    let drawing = drawing(file.strip_suffix(".svg")?)?;
    Some(match tint {
        Some(tint) => drawing.replace(MAIN, tint.main).replace(SHADE, tint.shade),
        None => drawing.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{super::drawings::DRAWINGS, *};

    const LARGEST: usize = 2048;

    #[test]
    fn every_file_of_the_folder_is_a_drawing() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/images");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let known: Vec<String> = DRAWINGS.iter().map(|(name, _)| format!("{name}.svg")).collect();
        assert!(known.is_sorted(), "they are found by their order");
        assert_eq!(known.into_iter().collect::<BTreeSet<_>>(), files);
    }

    /// The elements and attributes that drawings are made of: shapes, and nothing that could run or refer elsewhere.
    #[test]
    fn drawings_are_small_well_formed_and_only_shapes() {
        const ELEMENTS: [&str; 6] = ["svg", "g", "rect", "circle", "ellipse", "path"];
        const ATTRIBUTES: [&str; 20] = [
            "viewBox",
            "fill",
            "stroke",
            "stroke-width",
            "stroke-linecap",
            "stroke-linejoin",
            "x",
            "y",
            "width",
            "height",
            "rx",
            "ry",
            "cx",
            "cy",
            "r",
            "d",
            "transform",
            "xmlns",
            "opacity",
            "points",
        ];
        for (name, svg) in DRAWINGS {
            assert!(svg.len() <= LARGEST, "{name}: {} bytes", svg.len());
            let document =
                roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{name}: {e}"));
            for node in document.descendants().filter(roxmltree::Node::is_element) {
                let element = node.tag_name().name();
                assert!(ELEMENTS.contains(&element), "{name}: <{element}>");
                for attribute in node.attributes() {
                    assert!(ATTRIBUTES.contains(&attribute.name()), "{name}: {attribute:?}");
                    assert!(!attribute.value().contains("url("), "{name}: {attribute:?}");
                }
            }
        }
    }

    #[test]
    fn a_picture_has_the_colour_that_the_product_names_first() {
        assert_eq!(path("scarf", &["Scarf, Navy and Red", "Blue"]), "navy/scarf.svg");
        assert_eq!(path("scarf", &["Scarf", "Soft grey wool."]), "grey/scarf.svg");
        assert_eq!(path("scarf", &["Scarf", "Reddish? No."]), "scarf.svg");
        let navy = picture("navy/scarf.svg").unwrap();
        assert!(navy.contains("#34496f") && !navy.contains(MAIN) && !navy.contains(SHADE));
        assert!(picture("scarf.svg").unwrap().contains(MAIN));
    }

    #[test]
    fn a_path_is_found_under_any_address_of_ours() {
        assert_eq!(path_in("http://a:1/demo/images/red/scarf.svg"), Some("red/scarf.svg"));
        assert_eq!(path_in("https://b/shop/demo/images/scarf.svg"), Some("scarf.svg"));
        for other in ["https://b/scarf.svg", "https://b/demo/images/mine.png", ""] {
            assert_eq!(path_in(other), None, "{other}");
        }
    }
}
