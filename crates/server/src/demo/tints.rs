//! In which colour is a product shown? The one it names, that of its material, or what is usual for its kind.

/// A colour of pictures.
pub(super) struct Tint {
    /// Its name in addresses.
    pub(super) name: &'static str,
    /// The words that ask for it.
    colours: &'static str,
    /// The materials that have it.
    materials: &'static str,
    /// The drawings that have it where the product says nothing.
    usual: &'static str,
    /// What takes the place of the main colour.
    pub(super) main: &'static str,
    /// What takes the place of the shade.
    pub(super) shade: &'static str,
}

/// The colour of this name.
pub(super) fn named(name: &str) -> Option<&'static Tint> {
    TINTS.iter().find(|tint| tint.name == name)
}

/// The colour of a product with this drawing and these texts; its title tells more than its description, and a colour
/// more than a material.
pub(super) fn tint(drawing: &str, title: &str, description: &str) -> Option<&'static Tint> {
    let colours = |tint: &Tint| tint.colours;
    let materials = |tint: &Tint| tint.materials;
    first_said(title, colours)
        .or_else(|| first_said(title, materials))
        .or_else(|| first_said(description, colours))
        .or_else(|| first_said(description, materials))
        .or_else(|| first_said(drawing, |tint| tint.usual))
}

/// The colour of the first word that some colour has among these.
fn first_said(text: &str, words: impl Fn(&Tint) -> &'static str) -> Option<&'static Tint> {
    text.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        let says =
            |tint: &&Tint| words(tint).split(' ').any(|said| said.eq_ignore_ascii_case(word));
        TINTS.iter().find(says).filter(|_| !word.is_empty())
    })
}

const TINTS: [Tint; 20] = [
    Tint {
        name: "black",
        colours: "black ebony onyx jet",
        materials: "",
        usual: "",
        main: "#3a3d42",
        shade: "#232529",
    },
    Tint {
        name: "white",
        colours: "white ivory cream pearl",
        materials: "",
        usual: "candle heater mattress",
        main: "#f4f1ea",
        shade: "#d9d3c7",
    },
    Tint {
        name: "grey",
        colours: "grey gray slate ash",
        materials: "steel silver",
        usual: "can cutlery fan fridge hook iron kettle knife ladder oven pan pot razor ring robot saw scale screw toaster washer watch wrench",
        main: "#9aa1a9",
        shade: "#767d86",
    },
    Tint {
        name: "charcoal",
        colours: "charcoal graphite anthracite",
        materials: "",
        usual: "battery cable calculator camera carseat charger coffeemaker drive dumbbell gamepad headphones keyboard monitor mouse oil printer radio router speaker sunglasses wiper",
        main: "#565c64",
        shade: "#3f444b",
    },
    Tint {
        name: "red",
        colours: "red scarlet crimson cherry",
        materials: "",
        usual: "bike blocks chips dice drum gift grill helmet jar leash lipstick mug petbowl rug scissors skis toolbox toycar vacuum",
        main: "#cf4a45",
        shade: "#a83530",
    },
    Tint {
        name: "burgundy",
        colours: "burgundy maroon wine plum",
        materials: "",
        usual: "blanket book scarf",
        main: "#8a3149",
        shade: "#6b2237",
    },
    Tint {
        name: "pink",
        colours: "pink rose blush coral",
        materials: "",
        usual: "card cream doll hairbrush heel nailpolish",
        main: "#e795a5",
        shade: "#cf7488",
    },
    Tint {
        name: "orange",
        colours: "orange rust amber",
        materials: "copper terracotta",
        usual: "ball drill hammer juice kite plant pills screwdriver sleepingbag spice tape",
        main: "#dd8545",
        shade: "#bb6829",
    },
    Tint {
        name: "yellow",
        colours: "yellow lemon",
        materials: "",
        usual: "balloon onesie",
        main: "#edc94c",
        shade: "#cfa82e",
    },
    Tint {
        name: "mustard",
        colours: "mustard ochre honey",
        materials: "brass gold golden",
        usual: "armchair earrings folder honey lamp mirror necklace pillow",
        main: "#cf9f3e",
        shade: "#ad8029",
    },
    Tint {
        name: "green",
        colours: "green emerald mint lime forest",
        materials: "",
        usual: "bin bottle hose mower puzzle racket seeds shovel spray tea tent train wateringcan",
        main: "#5da36c",
        shade: "#448254",
    },
    Tint {
        name: "olive",
        colours: "olive sage khaki moss",
        materials: "",
        usual: "curtain paw",
        main: "#8c9560",
        shade: "#6d7547",
    },
    Tint {
        name: "teal",
        colours: "teal turquoise aqua petrol",
        materials: "",
        usual: "babybottle backpack bowl pacifier shampoo soap sofa suitcase toothbrush towel vase massager",
        main: "#3f9a9a",
        shade: "#2d7a7b",
    },
    Tint {
        name: "blue",
        colours: "blue sky cobalt denim indigo",
        materials: "",
        usual: "",
        main: "#4f86c6",
        shade: "#3a6aa5",
    },
    Tint {
        name: "navy",
        colours: "navy midnight",
        materials: "",
        usual: "stroller umbrella coat",
        main: "#34496f",
        shade: "#233453",
    },
    Tint {
        name: "purple",
        colours: "purple violet lavender lilac aubergine",
        materials: "",
        usual: "mat perfume yarn",
        main: "#8d70b8",
        shade: "#6f5499",
    },
    Tint {
        name: "brown",
        colours: "brown cognac mocha espresso",
        materials: "walnut chocolate",
        usual: "bag bear belt boot coffeebag slipper violin wallet",
        main: "#8a6246",
        shade: "#6b4a33",
    },
    Tint {
        name: "tan",
        colours: "tan beige sand camel oatmeal taupe",
        materials: "linen",
        usual: "basket hat nuts petbed rice envelope",
        main: "#cdb594",
        shade: "#ae9574",
    },
    Tint {
        name: "oak",
        colours: "",
        materials: "oak beech birch pine bamboo wooden acacia teak",
        usual: "bench birdhouse board chair crib desk drawers frame guitar shelf table broom",
        main: "#c99c66",
        shade: "#a67c49",
    },
    Tint {
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
        assert_eq!(tint(drawing, title, description).map(|tint| tint.name), expected, "{title}");
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
        for name in TINTS.iter().flat_map(|tint| tint.usual.split_whitespace()) {
            assert!(drawing(name).is_some(), "{name}");
            assert!(seen.insert(name), "{name} is usual twice");
        }
    }
}
