//! One test for each rule, by example; and properties that hold for any text.

use proptest::prelude::*;

use super::*;
use crate::product::{
    attributes::{AttributeName, AttributeValue, Attributes},
    inferred::ProductAttributes,
};

/// What is inferred, as `color=black material=leather`; `~` marks what only the description says.
fn inferred(title: &str, description: &str, merchant: &[(&str, &str)]) -> String {
    let named = merchant.iter().map(|(name, value)| {
        (AttributeName::parse(name).unwrap(), AttributeValue::Text((*value).into()))
    });
    let product = infer_product(title, description, &Attributes::new(named.collect()));
    let shown = product.values.iter().map(|(attribute, value)| {
        let mark = if product.is_prominent(attribute) { "" } else { "~" };
        format!("{mark}{}={value}", attribute.name())
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn check_titles(cases: &[(&str, &str)]) {
    for (title, expected) in cases {
        assert_eq!(inferred(title, "", &[]), *expected, "{title:?}");
    }
}

fn check_descriptions(cases: &[(&str, &str)]) {
    for (description, expected) in cases {
        assert_eq!(inferred("Model 7", description, &[]), *expected, "{description:?}");
    }
}

/// What a query asks for, as `color=blue(navy)`, with `!` if required and `-` if no modifier.
fn asked(query: &str) -> String {
    let shown = infer_query(query).into_iter().map(|one| {
        let values: Vec<_> = one.value_names().collect();
        let required = if one.is_required { "!" } else { "" };
        let modifier = if one.is_modifier { "" } else { "-" };
        let special = one.special.map(|word| format!("({word})")).unwrap_or_default();
        format!("{modifier}{required}{}={}{special}", one.attribute.name(), values.join("|"))
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn check_queries(cases: &[(&str, &str)]) {
    for (query, expected) in cases {
        assert_eq!(asked(query), *expected, "{query:?}");
    }
}

#[test]
fn shades_count_as_their_color() {
    check_titles(&[
        ("Navy Wool Coat", "color=blue material=wool"),
        ("Emerald Green Vase", "color=green"),
        ("Armchair, Burgundy", "color=red"),
        ("Phone Cover - Rose Gold", "color=gold"),
        ("Off-White Linen Curtain", "color=white material=linen"),
        ("Wall Light in Brushed Nickel", "color=silver"),
        ("Gray Scarf", "color=grey"),
        ("Grey Scarf", "color=grey"),
        ("Scarf, Blue/Coral", "color=pink color=blue"),
        ("Socks, Assorted Colours", "color=multicolor"),
    ]);
}

#[test]
fn ambiguous_words_need_a_place_of_their_own_or_a_thing() {
    check_titles(&[
        ("Red velvet armchair", "color=red material=velvet"),
        ("Red velvet cake mix", ""),
        ("Mint Tea, 20 Bags", ""),
        ("Midi Dress, Mint", "color=green"),
        ("Mint Dress", "color=green"),
        ("Sofa in Rust", "color=orange"),
        ("Rust Remover Spray", ""),
        ("Rust-Oleum Primer", ""),
        ("Rust-Coloured Beanie", "color=orange"),
        ("Stone Planter", "material=stone"),
        ("Chinos - Stone", "color=beige"),
        ("Olive Oil, 500 ml", ""),
        ("Cargo Trousers (Olive)", "color=green"),
        ("Rose Bush", ""),
        ("Jumper, Rose", "color=pink"),
        ("Gold Hoop Earrings", "color=gold"),
        ("Gold Standard Whey Protein", ""),
        ("Coffee Table", ""),
        ("Old Navy Hoodie", ""),
        ("Orange Juice, 1 L", ""),
        ("Fleece Jacket, Orange", "color=orange material=fleece"),
        ("Emerald Ring", ""),
        ("Tagine, Terracotta", "material=ceramic"),
        ("Trousers, Terracotta", "color=orange"),
        ("Black Sapphire Phone Case", "color=black"),
    ]);
}

#[test]
fn parts_and_other_products_are_not_the_product() {
    check_titles(&[
        ("Black Dress with White Collar", "color=black"),
        ("Case for Silver Phone", ""),
        ("Case for Galaxy S7 - Black", "color=black"),
        ("Cable Compatible with White Laptop", ""),
        ("Lamp with Glass Shade", ""),
        ("Brown Strap Watch", ""),
        ("Sunglasses, Black, Green Lens", "color=black"),
        ("Ceiling Fan with Oil-Rubbed Bronze Finish", "color=gold"),
        ("Vanity in Grey with Marble Top in White", "color=grey"),
        ("Leather Conditioner", ""),
        ("Wood Screws", ""),
        ("Stainless Steel Cleaner Wipes", ""),
    ]);
}

#[test]
fn imitations_are_not_the_material() {
    check_titles(&[
        ("Faux Leather Jacket", "material=faux leather"),
        ("PU Leather Backpack", "material=faux leather"),
        ("Faux Suede Cushion", ""),
        ("Oak Effect Shelf", ""),
        ("Wood-Look Vinyl Plank Flooring", "material=plastic"),
        ("Gold-Tone Bracelet", "color=gold"),
        ("Sterling Silver Ring", "color=silver material=metal"),
        ("Oak Bench", "material=wood"),
        ("Honey Oak Laminate Flooring", ""),
        ("Pine Scented Napkins", ""),
        ("Toilet Bowl in Linen", ""),
        ("Skirt, Porcelain, Small", "size=small"),
        ("Down Alternative Comforter", ""),
        ("Down Jacket", "material=down"),
    ]);
}

#[test]
fn negated_words_state_nothing() {
    check_titles(&[
        ("Leather-Free Shoes", ""),
        ("Bag without Leather", ""),
        ("Non-Leather Belt", ""),
        ("Plastic-Free Bottle", ""),
    ]);
}

#[test]
fn patterns_audiences_and_sizes_are_read() {
    check_titles(&[
        ("Striped Shirt, Men's", "pattern=striped audience=men"),
        ("Plaid Blanket", "pattern=checked"),
        ("Dress with Polka Dot Print", "pattern=polka dot"),
        ("Leopard Print Scarf", "pattern=animal print"),
        ("Tie-Dye Tee", "pattern=tie-dye"),
        ("Floral Foam Block", ""),
        ("Toddler Rain Boots", "audience=kids"),
        ("Boy's Pyjamas", "audience=kids"),
        ("Unisex Beanie", "audience=women audience=men"),
        ("Dog Bed", "audience=dog"),
        ("Leash for Large Dogs", "audience=dog"),
        ("Pet Gate", "audience=dog audience=cat"),
        ("Mug for Dog Lovers", ""),
        ("Cat Eye Sunglasses", ""),
        ("T-Shirt (Large)", "size=large"),
        ("Queen Sheet Set", "size=queen"),
        ("Yoga Pants, L", "size=large"),
        ("Ball Valve (M)", ""),
        ("Freezer, 260 L", ""),
        ("King Arthur Flour", ""),
        ("Mini Dress", ""),
        ("Medium Brown Hair Wig", "color=brown"),
        ("Golf Shoes, 9 Medium", ""),
    ]);
}

#[test]
fn media_and_food_have_no_looks() {
    check_titles(&[
        ("The Color Purple (DVD)", ""),
        ("Red Lentils, 1 kg", ""),
        ("White Chocolate Cookies", ""),
        ("Cookie Jar, White", "color=white"),
        ("Water Bottle, Blue", "color=blue"),
    ]);
}

#[test]
fn a_description_states_what_it_says_outright() {
    check_descriptions(&[
        ("Made of solid oak.", "~material=wood"),
        ("Handles made of wood.", ""),
        ("Light. 60% cotton, 40% polyester.", "~material=cotton ~material=polyester"),
        ("Material: stainless steel", "~material=metal"),
        ("Color: black", "~color=black"),
        ("Black dress that fits well.", "~color=black"),
        ("Great for your dog.", "~audience=dog"),
        ("Not suitable for children under 3.", ""),
        ("Fun for kids and adults.", ""),
        ("An easy cut. Wear it with white sneakers made of leather.", ""),
        ("It goes with a blue sofa.", ""),
        ("Keeps leather supple.", ""),
    ]);
}

#[test]
fn materials_are_read_further_than_colors() {
    let filler = "It works and works. ".repeat(30);
    check_descriptions(&[
        (&format!("{filler} Color: red. Material: wool."), "~material=wool"),
        (&format!("{filler}{filler} Material: wool."), ""),
    ]);
}

#[test]
fn the_first_source_that_states_an_attribute_decides() {
    let merchant = [("colour", "Emerald / ivory"), ("size", "42"), ("gender", "female")];
    assert_eq!(
        inferred("Men's Black Shirt, Large", "Made of cotton.", &merchant),
        "color=white color=green ~material=cotton audience=women"
    );
    let child = [("age_group", "kids"), ("gender", "female")];
    assert_eq!(inferred("Tee", "", &child), "audience=kids");
    assert_eq!(inferred("Women's Tee", "", &[("age_group", "adult")]), "audience=women");
    assert_eq!(inferred("Red Tee", "Color: blue", &[]), "color=red");
}

#[test]
fn a_query_asks_for_what_modifies_its_thing() {
    check_queries(&[
        ("navy armchair", "color=blue(navy)"),
        ("blue armchair", "color=blue"),
        ("suede ankle boots", "material=suede"),
        ("raincoat for a toddler", "audience=kids"),
        ("boots in suede", "material=suede"),
        ("table made of oak", "material=wood(oak)"),
        ("sofa, grey", "-color=grey"),
        ("vase of glass", "material=glass"),
        ("a table of oak", "material=wood(oak)"),
        ("glass of milk", ""),
        ("ball of wool", ""),
        ("two sheets of paper", ""),
        ("mint dress", "color=green(mint)"),
        ("queen size bed frame", "size=queen"),
        ("sheets for a queen bed", "size=queen"),
        ("dress with polka dots", "pattern=polka dot"),
        ("toys for a 3 year old", "audience=kids"),
        ("gift for my wife", "audience=women"),
        ("black and white rug", "color=black color=white"),
        ("paper plates", "material=paper"),
        ("a rug that is grey or beige", "-color=grey|beige"),
        ("coffee coloured sofa", "color=brown(coffee)"),
        ("cat tree", "audience=cat"),
        ("sweater size m", "-size=medium"),
    ]);
}

#[test]
fn a_query_that_names_a_thing_asks_for_no_attribute() {
    for query in [
        "orange juice",
        "rose plant",
        "gold",
        "black",
        "silver polish",
        "wine glass",
        "wallpaper",
        "not leather shoes",
        "leather-free shoes",
        "shirt without stripes",
        "case for silver phone",
        "lamp with a white shade",
        "olive oil",
        "dog mug",
        "cat shirt",
        "lion king costume",
        "",
    ] {
        assert_eq!(asked(query), "", "{query:?}");
    }
}

#[test]
fn a_query_may_require_an_attribute() {
    check_queries(&[
        ("only black shoes", "!color=black"),
        ("shoes that must be black", "!color=black"),
        ("coffee table only wood", "!material=wood"),
        ("has to be real leather", "!material=leather"),
        ("black only", "!color=black"),
        ("black shoes", "color=black"),
        ("i need a black dress", "color=black"),
        (
            "i am looking for a wool coat for women in navy",
            "material=wool audience=women color=blue(navy)",
        ),
    ]);
    let query = "a Navy-Blue sofa";
    let words = infer_query(query).remove(0).words;
    assert_eq!(&query[words], "Navy-Blue");
}

#[test]
fn words_of_other_languages_are_read() {
    check_queries(&[
        ("rotes Sofa", "color=red"),
        ("ein weißes Bett aus Holz", "color=white material=wood"),
        ("Regenjacke für Kinder", "audience=kids"),
        ("vestido rojo", "color=red"),
        ("bufanda de lana para hombre", "material=wool audience=men"),
        ("canapé rouge", "color=red"),
        ("красное платье", "color=red"),
        ("czerwona sukienka", "color=red"),
        ("Sofa ohne Leder", ""),
        ("sofá sin piel", ""),
        ("Kleid mit weißem Kragen", ""),
    ]);
    // English has these words too.
    check_queries(&[("moulin rouge poster", ""), ("wood rot", ""), ("kinder surprise egg", "")]);
    check_titles(&[
        ("Schreibtisch weiß, 120 cm, mit zwei Schubladen", "color=white"),
        ("Bufanda de lana, gris", "color=grey material=wool"),
        ("Sandales femme, noir", "color=black audience=women"),
        ("Sofa ohne Leder", ""),
        ("Wood Rot Filler", ""),
        ("Vit C Serum", ""),
        ("Comic Con T-Shirt, Black", "color=black"),
    ]);
    assert!(is_foreign_attribute_word("rotes") && is_lexicon_word("rotes"));
    // A typo of "linen" in an English query.
    assert!(!is_foreign_attribute_word("linnen") && !is_lexicon_word("linnen"));
    check_queries(&[("linnen bank", "material=linen")]);
    let farbe = [("farbe", "rot"), ("material", "Eiche")];
    assert_eq!(inferred("Fahrrad", "", &farbe), "color=red");
}

#[test]
fn agreement_depends_on_the_evidence() {
    let agrees = |query: &str, title: &str, description: &str, special: bool| {
        let product = infer_product(title, description, Attributes::none());
        agreement(&infer_query(query)[0], &product, special)
    };
    assert_eq!(agrees("blue sofa", "Blue Sofa", "", false), 1.0);
    assert_eq!(agrees("blue sofa", "Sofa", "Color: blue", false), 0.7);
    assert_eq!(agrees("blue sofa", "Sofa", "", false), 0.0);
    assert_eq!(agrees("wooden desk", "Desk walnut", "", false), 0.5, "a finish or the material");
    assert_eq!(agrees("wooden desk", "Desk walnut", "Made of steel.", false), 0.5);
    assert_eq!(agrees("brown loafers", "Loafers", "Snuff is a warm brown.", false), 0.5);
    assert_eq!(agrees("blue loafers", "Loafers", "Snuff is a warm brown.", false), -0.3);
    for (title, description) in
        [("Cashmere-feel jumper", ""), ("Jumper", "No cashmere."), ("Jumper", "Faux cashmere.")]
    {
        assert!(agrees("cashmere jumper", title, description, false) <= 0.0, "{title}");
    }
    assert_eq!(agrees("wooden desk", "Steel desk, walnut top", "", false), -1.0);
    assert_eq!(agrees("blue sofa", "Sofa", "Color: red", false), -0.3);
    assert_eq!(agrees("blue sofa", "Red Sofa", "", false), -1.0);
    assert_eq!(agrees("navy sofa", "Navy Sofa", "", true), 1.0);
    assert_eq!(agrees("navy sofa", "Blue Sofa", "", false), 0.4);
    assert_eq!(agrees("copper pan", "Stainless Steel Pan", "", false), 0.2);
    assert_eq!(agrees("rotes Sofa", "Red Sofa", "", false), 1.0);
    assert_eq!(agrees("coat for kids", "Baby Coat", "", false), 1.0);
    assert_eq!(agrees("coat for women", "Coat", "For your dog.", false), -0.5);
    assert!(twins("burgundy").contains(&"maroon"));
    assert!(twins("blue").is_empty());
}

#[test]
fn what_is_just_mentioned_is_not_stated() {
    let product = infer_product("Loafers", "Snuff is a warm brown.", Attributes::none());
    let brown = Attribute::Color.bit("brown").unwrap();
    assert_eq!(
        (product.values.get(Attribute::Color), product.mentioned.get(Attribute::Color)),
        (0, brown)
    );
    let bytes = product.to_bytes();
    assert_eq!(ProductAttributes::bits_in(&bytes, Attribute::Color), 0);
    let stated = infer_product("Black loafers", "Snuff is a warm brown.", Attributes::none());
    assert_eq!(stated.mentioned.get(Attribute::Color), 0);
    assert_ne!(ProductAttributes::bits_in(&stated.to_bytes(), Attribute::Color), 0);
}

/// "Fit" ends a clause ("case fit for…"), and is a part of "relaxed fit jeans".
#[test]
fn a_phrase_may_exceed_its_clause() {
    for title in ["Red silk relaxed fit jeans", "Cherry relaxed fit jeans"] {
        let values = infer_product(title, "", Attributes::none()).values;
        assert!(values.values(Attribute::Material).any(|value| value == "denim"), "{title}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(
        title in any::<String>(),
        description in any::<String>(),
        words in "([a-zA-Z'é]{0,8}[ ,./%&()-]{1,2}(black|with|in|for|oak|no|only|rose gold|100%)?){0,12}",
        phrases in "((cherry|silk|rust|mint|slim fit jeans|on canvas|men in black|in|for|a) ){0,6}",
    ) {
        let by_any = infer_product(&title, &description, Attributes::none());
        prop_assert_eq!(ProductAttributes::from_bytes(by_any.to_bytes()), by_any);
        let by_words = infer_product(&words, &words, Attributes::none());
        prop_assert_eq!(ProductAttributes::from_bytes(by_words.to_bytes()), by_words);
        infer_product(&phrases, &phrases, Attributes::none());
        for query in [&title, &words, &phrases] {
            for one in infer_query(query) {
                prop_assert!(query.get(one.words).is_some_and(|said| !said.is_empty()));
                prop_assert!(one.values != 0);
            }
        }
    }
}
