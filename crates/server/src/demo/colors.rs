//! The colour of a product's picture: the one it names, that of its material, or the usual one of its
//! kind.

/// A colour of pictures.
pub(super) struct Color {
    /// Its name in URLs.
    pub(super) name: &'static str,
    /// Words for the colour, separated by spaces.
    colours: &'static str,
    /// Materials of this colour, separated by spaces.
    materials: &'static str,
    /// Drawings that have this colour by default, separated by spaces.
    usual: &'static str,
    /// The replacement of the main colour.
    pub(super) main: &'static str,
    /// The replacement of the shade.
    pub(super) shade: &'static str,
}

/// The colour with this name.
pub(super) fn named(name: &str) -> Option<&'static Color> {
    COLORS.iter().find(|color| color.name == name)
}

/// The colour of a product with this drawing and these texts. The title takes precedence over the
/// description, and a colour over a material.
pub(super) fn of_product(drawing: &str, title: &str, description: &str) -> Option<&'static Color> {
    let colours = |color: &Color| color.colours;
    let materials = |color: &Color| color.materials;
    first_match(title, colours)
        .or_else(|| first_match(title, materials))
        .or_else(|| first_match(description, colours))
        .or_else(|| first_match(description, materials))
        .or_else(|| first_match(drawing, |color| color.usual))
}

/// The colour of the first word of the text that a colour lists.
fn first_match(text: &str, words: impl Fn(&Color) -> &'static str) -> Option<&'static Color> {
    text.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        let lists_word = |color: &&Color| {
            words(color).split(' ').any(|listed| listed.eq_ignore_ascii_case(word))
        };
        COLORS.iter().find(lists_word).filter(|_| !word.is_empty())
    })
}

const COLORS: [Color; 20] = [
    Color {
        name: "black",
        colours: "black ebony onyx jet",
        materials: "",
        usual: "",
        main: "#3a3d42",
        shade: "#232529",
    },
    Color {
        name: "white",
        colours: "white ivory cream pearl",
        materials: "",
        usual: "candle heater mattress",
        main: "#f4f1ea",
        shade: "#d9d3c7",
    },
    Color {
        name: "grey",
        colours: "grey gray slate ash",
        materials: "steel silver",
        usual: "can cutlery fan fridge hook iron kettle knife ladder oven pan pot razor ring robot saw scale screw toaster washer watch wrench",
        main: "#9aa1a9",
        shade: "#767d86",
    },
    Color {
        name: "charcoal",
        colours: "charcoal graphite anthracite",
        materials: "",
        usual: "battery cable calculator camera carseat charger coffeemaker drive dumbbell gamepad headphones keyboard monitor mouse oil printer radio router speaker sunglasses wiper",
        main: "#565c64",
        shade: "#3f444b",
    },
    Color {
        name: "red",
        colours: "red scarlet crimson cherry",
        materials: "",
        usual: "bike blocks chips dice drum gift grill helmet jar leash lipstick mug petbowl rug scissors skis toolbox toycar vacuum",
        main: "#cf4a45",
        shade: "#a83530",
    },
    Color {
        name: "burgundy",
        colours: "burgundy maroon wine plum",
        materials: "",
        usual: "blanket book scarf",
        main: "#8a3149",
        shade: "#6b2237",
    },
    Color {
        name: "pink",
        colours: "pink rose blush coral",
        materials: "",
        usual: "card cream doll hairbrush heel nailpolish",
        main: "#e795a5",
        shade: "#cf7488",
    },
    Color {
        name: "orange",
        colours: "orange rust amber",
        materials: "copper terracotta",
        usual: "ball drill hammer juice kite plant pills screwdriver sleepingbag spice tape",
        main: "#dd8545",
        shade: "#bb6829",
    },
    Color {
        name: "yellow",
        colours: "yellow lemon",
        materials: "",
        usual: "balloon onesie",
        main: "#edc94c",
        shade: "#cfa82e",
    },
    Color {
        name: "mustard",
        colours: "mustard ochre honey",
        materials: "brass gold golden",
        usual: "armchair earrings folder honey lamp mirror necklace pillow",
        main: "#cf9f3e",
        shade: "#ad8029",
    },
    Color {
        name: "green",
        colours: "green emerald mint lime forest",
        materials: "",
        usual: "bin bottle hose mower puzzle racket seeds shovel spray tea tent train wateringcan",
        main: "#5da36c",
        shade: "#448254",
    },
    Color {
        name: "olive",
        colours: "olive sage khaki moss",
        materials: "",
        usual: "curtain paw",
        main: "#8c9560",
        shade: "#6d7547",
    },
    Color {
        name: "teal",
        colours: "teal turquoise aqua petrol",
        materials: "",
        usual: "babybottle backpack bowl pacifier shampoo soap sofa suitcase toothbrush towel vase massager",
        main: "#3f9a9a",
        shade: "#2d7a7b",
    },
    Color {
        name: "blue",
        colours: "blue sky cobalt denim indigo",
        materials: "",
        usual: "",
        main: "#4f86c6",
        shade: "#3a6aa5",
    },
    Color {
        name: "navy",
        colours: "navy midnight",
        materials: "",
        usual: "stroller umbrella coat",
        main: "#34496f",
        shade: "#233453",
    },
    Color {
        name: "purple",
        colours: "purple violet lavender lilac aubergine",
        materials: "",
        usual: "mat perfume yarn",
        main: "#8d70b8",
        shade: "#6f5499",
    },
    Color {
        name: "brown",
        colours: "brown cognac mocha espresso",
        materials: "walnut chocolate",
        usual: "bag bear belt boot coffeebag slipper violin wallet",
        main: "#8a6246",
        shade: "#6b4a33",
    },
    Color {
        name: "tan",
        colours: "tan beige sand camel oatmeal taupe",
        materials: "linen",
        usual: "basket hat nuts petbed rice envelope",
        main: "#cdb594",
        shade: "#ae9574",
    },
    Color {
        name: "oak",
        colours: "",
        materials: "oak beech birch pine bamboo wooden acacia teak",
        usual: "bench birdhouse board chair crib desk drawers frame guitar shelf table broom",
        main: "#c99c66",
        shade: "#a67c49",
    },
    Color {
        name: "clear",
        colours: "clear transparent",
        materials: "glass crystal",
        usual: "",
        main: "#b9d6e2",
        shade: "#92b9c9",
    },
];

#[cfg(test)]
mod tests {
    use super::{super::drawings::drawing, *};

    fn check(drawing: &str, title: &str, description: &str, expected: Option<&str>) {
        assert_eq!(
            of_product(drawing, title, description).map(|color| color.name),
            expected,
            "{title}"
        );
    }

    #[test]
    fn the_title_comes_first_then_colours_then_materials_then_what_is_usual() {
        check("scarf", "Scarf, Navy and Red", "Blue.", Some("navy"));
        check("shorts", "Shorts in Linen, White", "Airy.", Some("white"));
        check("sofa", "Linen Sofa", "Black feet.", Some("tan"));
        check("scarf", "Scarf", "Soft GREY wool.", Some("grey"));
        check("kettle", "Kettle", "Reddish? No.", Some("grey"));
        check("cookie", "Cookies", "Crunchy.", None);
        check("cookie", "", "", None);
    }

    #[test]
    fn every_usual_drawing_exists_and_has_one_colour() {
        let mut seen = std::collections::BTreeSet::new();
        for name in COLORS.iter().flat_map(|color| color.usual.split_whitespace()) {
            assert!(drawing(name).is_some(), "{name}");
            assert!(seen.insert(name), "{name} is usual twice");
        }
    }
}
