//! The words of generated product texts.
//!
//! Frequencies follow Zipf's law, as in real catalogs. The most frequent words are listed here;
//! the long tail (names, parts, foreign words) is made of syllables.

use crate::random::Random;

/// Words of descriptions, most frequent first.
const COMMON: &str = "the and with for a of to your in this is you it on from or that can are \
    by at as while more up any has be will its all our one not an have when so also makes each \
    easy features includes design use made perfect keep great home black white set size high \
    quality power water light easily fits comes way enjoy control need time music style offers \
    soft durable steel helps battery full inside room provides comfortable clean lets every day \
    two three without into through small large long works wireless built case natural fabric \
    cotton leather warm cool dry fresh safe kitchen bedroom outdoor travel office kids family \
    space storage cable screen sound speed memory camera phone adjustable removable washable \
    lightweight compact sturdy smooth strong simple modern classic handle cover lid base frame \
    wall door table floor inch wide deep tall heavy fine bright dark glass wood metal plastic \
    ideal protect charge connect carry store hold wear wash cook bake serve cut mix pour clip \
    lock open close turn press slide fold stack hang mount adjust rest sleep play read write run \
    walk ride train climb swim garden plant tool drill paint repair replace spare part pack bag \
    box bottle cup plate bowl pan pot knife spoon filter pump motor fan heater lamp bulb switch \
    button display timer sensor alarm remote speaker microphone keyboard mouse printer paper ink \
    pen book game puzzle toy doll ball bike helmet glove boot shoe sock shirt trousers jacket \
    coat hat scarf belt watch ring necklace cream soap oil scent skin hair face hand foot back \
    neck chest support grip balance shape curve edge corner line dot stripe pattern print colour \
    finish shine matt texture surface layer lining zip pocket strap buckle seam stitch hem cuff \
    collar sleeve sole heel lace rubber foam wool silk linen bamboo cork stone marble brass \
    copper iron aluminium titanium carbon ceramic porcelain crystal gold silver pearl";
const COLOURS: &str = "Black White Grey Navy Blue Sky Teal Green Olive Mint Yellow Mustard \
    Orange Rust Red Burgundy Pink Rose Purple Lilac Brown Tan Beige Cream Silver Gold Copper";
const KINDS: &str = "Sofa Chair Desk Lamp Rug Mirror Shelf Bed Mattress Pillow Duvet Towel \
    Kettle Toaster Blender Pan Knife Mug Plate Bottle Backpack Suitcase Tent Jacket Shirt Jeans \
    Dress Sneakers Boots Sandals Scarf Gloves Watch Headphones Speaker Keyboard Mouse Monitor \
    Laptop Tablet Phone Charger Cable Camera Tripod Printer Drill Hammer Ladder Hose Planter \
    Grill Bicycle Helmet Ball Racket Puzzle Doll Notebook Pen Candle Soap Shampoo Serum Coffee Tea";
const QUALITIES: &str = "Compact Foldable Wireless Organic Recycled Handmade Waterproof Slim \
    Portable Adjustable Insulated Ergonomic Vintage Classic Modern Deluxe Essential Premium \
    Everyday Soft Heavy-Duty Lightweight Rechargeable Stackable Washable Quiet Smart Mini Large";
const MATERIALS: &str = "Cotton Linen Wool Leather Oak Walnut Pine Bamboo Steel Aluminium Brass \
    Ceramic Glass Marble Rattan Velvet Canvas Nylon Polyester Silicone Cork Stone Carbon Acrylic";
const ONSETS: [&str; 16] =
    ["b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v"];
const VOWELS: [&str; 6] = ["a", "e", "i", "o", "u", "ea"];
const CODAS: [&str; 5] = ["", "l", "n", "r", "x"];
const SYLLABLES: usize = ONSETS.len() * VOWELS.len() * CODAS.len();

/// The number of distinct words in descriptions.
const WORDS: usize = 40_000;
/// Different brands, made of the same syllables.
const BRANDS: usize = 3_000;

/// Words with their frequencies.
pub struct Vocabulary {
    words: Vec<String>,
    /// The cumulative frequency of each word, from 0 to 1.
    cumulative: Vec<f64>,
    brands: Vec<String>,
    colours: Vec<&'static str>,
    kinds: Vec<&'static str>,
    qualities: Vec<&'static str>,
    materials: Vec<&'static str>,
}

impl Vocabulary {
    /// The words of this module.
    pub fn new() -> Self {
        let common = COMMON.split_whitespace().map(str::to_owned);
        let words: Vec<String> = common.chain((0..).map(made_up)).take(WORDS).collect();
        let total: f64 = (1..=words.len()).map(|rank| 1.0 / rank as f64).sum();
        let mut sum = 0.0;
        let cumulative = (1..=words.len())
            .map(|rank| {
                sum += 1.0 / rank as f64 / total;
                sum
            })
            .collect();
        Self {
            words,
            cumulative,
            brands: (0..BRANDS).map(|number| capitalised(&made_up(number * 31 + 7))).collect(),
            colours: COLOURS.split_whitespace().collect(),
            kinds: KINDS.split_whitespace().collect(),
            qualities: QUALITIES.split_whitespace().collect(),
            materials: MATERIALS.split_whitespace().collect(),
        }
    }

    /// A word of a description.
    pub fn word(&self, random: &mut Random) -> &str {
        let at = random.fraction();
        let rank = self.cumulative.partition_point(|share| *share < at);
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// A title of about eight words.
    pub fn title(&self, random: &mut Random) -> String {
        let brand = random.pick(&self.brands);
        let (one, other) = (random.pick(&self.qualities), random.pick(&self.qualities));
        let material = random.pick(&self.materials);
        let kind = random.pick(&self.kinds);
        let colour = random.pick(&self.colours);
        let model = model(random);
        format!("{brand} {one} {other} {material} {kind} {model}, {colour}")
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::new()
    }
}

/// A model number or a size: `KX-481`, `12V`, `30x40`.
fn model(random: &mut Random) -> String {
    let letter = |random: &mut Random| char::from(b'A' + random.below(26) as u8);
    match random.below(4) {
        0 => format!("{}{}-{}", letter(random), letter(random), random.below(900) + 100),
        1 => format!("{}{}", random.below(99) + 1, random.pick(&["V", "W", "cm", "ml", "L", "GB"])),
        2 => format!("{}x{}", random.below(20) * 5 + 10, random.below(20) * 5 + 10),
        _ => format!("Pack of {}", random.below(11) + 2),
    }
}

/// The generated word with this number; all are distinct.
fn made_up(number: usize) -> String {
    let mut word = String::new();
    let mut left = number + SYLLABLES;
    while left > 0 {
        let syllable = left % SYLLABLES;
        word.push_str(ONSETS[syllable % ONSETS.len()]);
        word.push_str(VOWELS[syllable / ONSETS.len() % VOWELS.len()]);
        word.push_str(CODAS[syllable / ONSETS.len() / VOWELS.len()]);
        left /= SYLLABLES;
    }
    word
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn few_words_are_frequent_and_most_are_rare() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        let mut said: HashMap<&str, usize> = HashMap::new();
        for _ in 0..100_000 {
            *said.entry(vocabulary.word(&mut random)).or_default() += 1;
        }
        assert!(said["the"] > 5_000, "{}", said["the"]);
        assert!(said.len() > 10_000, "{}", said.len());
    }

    #[test]
    fn titles_have_about_eight_words() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        let words: usize =
            (0..1000).map(|_| vocabulary.title(&mut random).split_whitespace().count()).sum();
        assert!((7_000..9_000).contains(&words), "{words}");
    }
}
