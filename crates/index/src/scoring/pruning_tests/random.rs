//! Random products, queries and filters, reproducible from a seed.

use catalog::{
    product::{
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        currency::Currency,
        inferred::{
            Attribute, CategoryIndex, Inferred, InferredAttributes, InferredCategory,
            ProductAttributes,
        },
        price::{Money, Price},
    },
    query::{
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        parser::PriceConstraint,
    },
    ranking::fusion::QueryProfile,
};
use embed::{Vector, inference::taxonomy};

use super::catalogs::Catalog;

/// Categories of products and conditions, at several levels.
const CATEGORIES: [&str; 9] =
    ["aa", "aa-1", "aa-1-1", "aa-1-4", "aa-8", "fr", "fr-5", "fr-5-1", "hg-13-4"];
/// Canonical values, shades of them, and others.
const INFERABLE: [(&str, [&str; 4]); 4] = [
    ("color", ["red", "Emerald", "navy", "silver"]),
    ("material", ["leather", "Oak", "wool", "steel"]),
    ("size", ["large", "XL", "42", "small"]),
    ("audience", ["unisex", "Girls", "dog", "nobody"]),
];
/// Values with several written forms.
const COLORS: [&str; 8] = ["red", "Red", "RED", "navy blue", "Navy Blue", "Türkis", "lamp", "onyx"];
/// Words of products and queries. The first occur most often.
const WORDS: [&str; 16] = [
    "lamp", "sofa", "boots", "leather", "sole", "cotton", "garden", "kettle", "velvet", "copper",
    "walnut", "marble", "falcon", "quartz", "zephyr", "onyx",
];
/// In some descriptions: negations and claims.
const NEGATIONS: [&str; 4] = ["no leather", "leather-free", "without velvet", "cotton-free"];
const CONDITIONS: [&str; 7] = [
    "",
    "",
    " under $60",
    " without leather",
    " without leather soles",
    " leather-free",
    " not velvet over $20",
];
/// Directions that vectors of products and queries are near to.
const TOPICS: u64 = 6;

/// A linear congruential generator: reproducible from its seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1.
    pub(super) fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }

    /// Words, the first of [`WORDS`] more often than the last.
    pub(super) fn words(&mut self, count: u64) -> Vec<&'static str> {
        let word = |random: &mut Self| {
            let skewed = random.unit() * random.unit();
            WORDS[(skewed * WORDS.len() as f32) as usize]
        };
        (0..count).map(|_| word(self)).collect()
    }

    /// A random direction of length 1, about.
    fn direction(&mut self, dims: usize) -> Vec<f32> {
        let normal = |random: &mut Self| (0..4).map(|_| random.unit() - 0.5).sum::<f32>();
        let numbers: Vec<f32> = (0..dims).map(|_| normal(self)).collect();
        let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
        numbers.into_iter().map(|x| x / length).collect()
    }

    /// A vector with about this cosine to a topic.
    pub(super) fn near_topic(&mut self, topic: u64, cosine: f32, dims: usize) -> Vector {
        let centre = Self(topic + 1).direction(dims);
        let noise = self.direction(dims);
        let sine = (1.0 - cosine * cosine).sqrt();
        let mixed = centre.iter().zip(noise).map(|(centre, noise)| cosine * centre + sine * noise);
        Vector::normalized(mixed.collect()).unwrap()
    }

    pub(super) fn catalog(&mut self, count: u64, dims: usize) -> Catalog {
        let mut catalog = Catalog::default();
        // Right after an import, no product has a vector.
        let has_vectors = self.below(6) > 0;
        for number in 1..=count {
            let (title_words, description_words) = (1 + self.below(4), self.below(8));
            let title = self.words(title_words).join(" ");
            let mut description = self.words(description_words);
            if self.below(5) == 0 {
                description.push(NEGATIONS[self.below(4) as usize]);
            }
            let currency = ["$", "$", "€", "£"][self.below(4) as usize];
            let price = Price::parse(&format!("{currency}{}", 5 + self.below(100))).unwrap();
            // Cosines spread evenly around the absolute and relative cut-offs.
            let (topic, cosine) = (self.below(TOPICS), 0.2 + 0.75 * self.unit());
            let vector = self.near_topic(topic, cosine, dims).stored();
            let vector = (has_vectors && self.below(12) > 0).then_some(vector);
            let texts = (&*title, &*description.join(" "));
            catalog.add(number, self.below(10) == 0, texts, &price, vector);
            if self.below(3) > 0 {
                catalog.encode_deep(number, self.near_topic(TOPICS + topic, cosine, dims).stored());
            }
            let (key, attributes) = (self.key(number), self.attributes());
            catalog.describe(number, key.as_deref(), &attributes);
            catalog.reference.0.get_mut(&number).unwrap().inferred = self.inferred();
        }
        catalog
    }

    /// Profiles with lexical weights from nearly 0 to nearly 1.
    pub(super) fn profile(&mut self) -> QueryProfile {
        QueryProfile {
            function_word_ratio: 0.6 * self.unit(),
            phrase_similarity: Some(0.3 + 0.7 * self.unit()),
            ..QueryProfile::NEUTRAL
        }
    }

    /// A key: of words, of a number, or none.
    pub(super) fn key(&mut self, number: u64) -> Option<String> {
        match self.below(4) {
            0 => None,
            1 => Some(format!("{}-{number}", self.words(1)[0])),
            2 => Some(format!("SKU {number} no {}", self.words(1)[0])),
            _ => Some(format!("k{number}")),
        }
    }

    /// Attributes, each of which some products miss and few have another type for.
    pub(super) fn attributes(&mut self) -> Attributes {
        let mut named = Vec::new();
        let mut add = |name: &str, value| named.push((AttributeName::parse(name).unwrap(), value));
        match self.below(8) {
            0 => {}
            1 => add("color", AttributeValue::Boolean(true)),
            2 => add("color", self.number(3)),
            3 => {
                let first = self.below(COLORS.len() as u64) as usize;
                let all: Vec<Box<str>> =
                    COLORS.iter().cycle().skip(first).take(3).map(|one| (*one).into()).collect();
                add("color", AttributeValue::Texts(all.into()));
            }
            _ => add("color", self.text(&COLORS)),
        }
        if self.below(3) > 0 {
            add("size", self.number(20));
        }
        if self.below(2) > 0 {
            add("in_stock", AttributeValue::Boolean(self.below(3) > 0));
        }
        if self.below(4) == 0 {
            add("material", self.text(&NEGATIONS));
        }
        if self.below(40) == 0 {
            add(&format!("rare_{}", self.below(9)), self.text(&WORDS));
        }
        Attributes::new(named)
    }

    /// Inferred values, whatever the texts say.
    pub(super) fn inferred(&mut self) -> Inferred {
        let mut values = InferredAttributes::NONE;
        for attribute in Attribute::ALL {
            for _ in 0..self.below(4) {
                values.add(attribute, 1 << self.below(attribute.values().len() as u64));
            }
        }
        let mut bytes = [0; ProductAttributes::BYTES];
        bytes[..values.to_bytes().len()].copy_from_slice(&values.to_bytes());
        let category = (self.below(5) > 0).then(|| self.category());
        Inferred {
            attributes: ProductAttributes::from_bytes(bytes),
            category: category.map(|category| InferredCategory { category, confidence: 90 }),
            likely_category: category,
            named_category: None,
        }
    }

    /// Often of the first root.
    fn category(&mut self) -> CategoryIndex {
        let end = if self.below(3) == 0 { CATEGORIES.len() } else { 4 };
        taxonomy().with_id(CATEGORIES[self.below(end as u64) as usize]).unwrap()
    }

    fn text(&mut self, values: &[&str]) -> AttributeValue {
        AttributeValue::Text(values[self.below(values.len() as u64) as usize].into())
    }

    fn number(&mut self, end: u64) -> AttributeValue {
        AttributeValue::Number(Number::new(self.below(end) as f64 / 2.0).unwrap())
    }

    /// A filter of up to three conditions; often none.
    pub(super) fn filter(&mut self) -> ProductFilter {
        let mut filter = ProductFilter::default();
        for _ in 0..self.below(4) {
            let condition = self.condition();
            match self.below(3) {
                0 => filter.none.push(condition),
                _ => filter.all.push(condition),
            }
        }
        filter
    }

    fn condition(&mut self) -> Condition {
        let name = |name: &str| AttributeName::parse_any(name).unwrap();
        let some = |random: &mut Self, values: &[&str]| {
            let texts = (0..=random.below(3))
                .map(|_| FoldedText::of(values[random.below(values.len() as u64) as usize]));
            AttributeTest::AnyOf(texts.collect())
        };
        match self.below(11) {
            8 | 9 => {
                let (attribute, values) = INFERABLE[self.below(INFERABLE.len() as u64) as usize];
                Condition::Attribute(name(attribute), some(self, &values))
            }
            10 => {
                let categories: Vec<_> = (0..=self.below(2)).map(|_| self.category()).collect();
                Condition::within(taxonomy(), &categories)
            }
            0 | 1 => Condition::Attribute(name("color"), some(self, &COLORS)),
            2 => Condition::Attribute(name("material"), some(self, &NEGATIONS)),
            3 | 4 => {
                let from = self.below(20) as f64 / 2.0;
                let min = (self.below(3) > 0).then(|| Number::new(from).unwrap());
                let max = (self.below(3) > 0).then(|| Number::new(from + 2.5).unwrap());
                Condition::Attribute(name("size"), AttributeTest::Between { min, max })
            }
            5 => Condition::Attribute(name("in_stock"), AttributeTest::Is(self.below(2) == 0)),
            6 => {
                let amount = |whole: u64| Money::parse(&format!("${whole}")).unwrap().amount;
                let from = self.below(60);
                let (min, max) = (Some(amount(from)), Some(amount(from + 40)));
                let currency = (self.below(2) == 0).then_some(Currency::USD);
                Condition::Price(PriceConstraint::between(min, max, currency))
            }
            _ => Condition::Attribute(name("category"), some(self, &COLORS)),
        }
    }

    /// The vector of a query by the transformer.
    pub(super) fn deep_query(&mut self, dims: usize) -> Vector {
        let topic = TOPICS + self.below(TOPICS);
        self.near_topic(topic, 0.95, dims)
    }

    pub(super) fn query(&mut self, dims: usize) -> (String, Vector) {
        if self.below(8) == 0 {
            // Perhaps a key.
            return (format!("k{}", self.below(300)), self.near_topic(0, 0.95, dims));
        }
        let words = 1 + self.below(3);
        let words = self.words(words).join(" ");
        let condition = CONDITIONS[self.below(CONDITIONS.len() as u64) as usize];
        let topic = self.below(TOPICS);
        (format!("{words}{condition}"), self.near_topic(topic, 0.95, dims))
    }
}
