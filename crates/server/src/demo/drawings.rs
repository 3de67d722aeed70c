//! The drawings of `demo/images`, embedded in the binary.

/// Embeds the file of each name; a missing file is a compile error.
macro_rules! drawings {
    ($($name:ident)+) => {
        &[$((stringify!($name), include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../demo/images/", stringify!($name), ".svg"
        )))),+]
    };
}

/// Every drawing with its name, in the order of names. A test compares with the folder.
pub(super) const DRAWINGS: &[(&str, &str)] = drawings! {
    apron armchair babybottle backpack bag baking ball balloon bandage basket battery bear bed belt
    bench bike bin birdhouse blanket blender blocks board bone book boot bottle bowl bra bread
    broom brush bulb cable calculator camera can candle card carseat chair charger cheese chips
    chocolate clock coat coffeebag coffeemaker cookie cream crib curtain cutlery desk dice doll
    drawers dress drill drive drum dumbbell earbuds earrings envelope fan fish folder frame fridge
    fruit gamepad gift glass gloves goggles grill guitar hairbrush hammer hat headphones heater
    heel helmet honey hook hose iron jacket jar juice kettle keyboard kite knife ladder lamp laptop
    leash lipstick massager mat mattress microphone mirror monitor mouse mower mug nailpolish
    necklace notebook nuts oil onesie oven pacifier paint palette pan pants pasta paw pen perfume
    petbed petbowl phone piano pillow pills plant plate pot printer puzzle racket radio razor rice
    ring robot rod router rug sandal saw scale scarf scissors screw screwdriver seeds shampoo shelf
    shirt shorts shovel skis sleepingbag slipper sneaker soap socks sofa speaker spice spray
    stroller suitcase sunglasses sweater swimsuit table tablet tape tea tent thermometer toaster
    toolbox toothbrush towel toycar train tree trumpet tshirt tv tyre umbrella underwear vacuum
    vase violin wallet washer watch wateringcan wiper wrench yarn
};

/// The drawing of this name.
pub(super) fn drawing(name: &str) -> Option<&'static str> {
    let found = DRAWINGS.binary_search_by_key(&name, |(name, _)| name).ok()?;
    Some(DRAWINGS[found].1)
}
