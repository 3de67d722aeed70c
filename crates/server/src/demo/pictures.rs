//! The pictures of the demo's products: one drawing per kind of product, in the product's colour.
//!
//! A drawing is an SVG file with the colours [`MAIN`] and [`SHADE`], which are replaced.

use super::{colors, drawings::drawing};

/// The path under which pictures are served.
pub(crate) const FOLDER: &str = "/demo/images/";

/// The main colour of every drawing.
const MAIN: &str = "#7a93ac";
/// The darker colour of every drawing.
const SHADE: &str = "#5b7087";

/// Whether there is a drawing of this name.
pub(crate) fn exists(name: &str) -> bool {
    drawing(name).is_some()
}

/// The path of a picture below [`FOLDER`]: the drawing, in the colour of a product with these texts.
pub(crate) fn path(drawing: &str, title: &str, description: &str) -> String {
    match colors::of_product(drawing, title, description) {
        Some(color) => format!("{}/{drawing}.svg", color.name),
        None => format!("{drawing}.svg"),
    }
}

/// The path below [`FOLDER`] in the URL of a demo picture, for any server address.
pub(crate) fn path_in(address: &str) -> Option<&str> {
    let path = &address[address.find(FOLDER)? + FOLDER.len()..];
    picture(path).map(|_| path)
}

/// The picture at a path below [`FOLDER`].
pub(crate) fn picture(path: &str) -> Option<String> {
    let (color, file) = match path.split_once('/') {
        Some((name, file)) => (Some(colors::named(name)?), file),
        None => (None, path),
    };
    let drawing = drawing(file.strip_suffix(".svg")?)?;
    Some(match color {
        Some(color) => drawing.replace(MAIN, color.main).replace(SHADE, color.shade),
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
    fn a_picture_is_shown_in_its_colour() {
        assert_eq!(path("scarf", "Scarf, Navy", "Warm."), "navy/scarf.svg");
        assert_eq!(path("cookie", "Cookies", "Crunchy."), "cookie.svg");
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
