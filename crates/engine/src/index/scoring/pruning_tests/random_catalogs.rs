//! Random catalogs: many products close to the cut-offs, in segments with deletions, with hidden
//! products, products without vectors, price filters and exclusions.

use std::convert::Infallible;

use catalog::{
    access::Visibility, change::Seq, fusion::QueryProfile, price::Price, product::ProductId,
    query_parser::parse,
};
use proptest::prelude::*;

use super::{
    assert_found,
    catalogs::{Catalog, plan},
    check, exceeding, expected,
};
use crate::{
    embed::Vector,
    index::{
        IndexChange, Plan, ShopIndex,
        reference::id,
        scoring::{Effort, search::SKETCHED_FROM},
    },
};

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
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }

    /// Words, the first of [`WORDS`] more often than the last.
    fn words(&mut self, count: u64) -> Vec<&'static str> {
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
    fn near_topic(&mut self, topic: u64, cosine: f32, dims: usize) -> Vector {
        let centre = Self(topic + 1).direction(dims);
        let noise = self.direction(dims);
        let sine = (1.0 - cosine * cosine).sqrt();
        let mixed = centre.iter().zip(noise).map(|(centre, noise)| cosine * centre + sine * noise);
        Vector::normalized(mixed.collect()).unwrap()
    }

    fn catalog(&mut self, count: u64, dims: usize) -> Catalog {
        let mut catalog = Catalog::default();
        for number in 1..=count {
            let (title_words, description_words) = (1 + self.below(4), self.below(8));
            let title = self.words(title_words).join(" ");
            let mut description = self.words(description_words);
            if self.below(5) == 0 {
                description.push(NEGATIONS[self.below(4) as usize]);
            }
            let price = Price::parse(&format!("${}", 5 + self.below(100))).unwrap();
            // Cosines spread evenly around the absolute and relative cut-offs.
            let (topic, cosine) = (self.below(TOPICS), 0.2 + 0.75 * self.unit());
            let vector = self.near_topic(topic, cosine, dims).stored();
            let vector = (self.below(12) > 0).then_some(vector);
            let texts = (&*title, &*description.join(" "));
            catalog.add(number, self.below(10) == 0, texts, &price, vector);
        }
        catalog
    }

    /// Profiles with lexical weights from nearly 0 to nearly 1.
    fn profile(&mut self) -> QueryProfile {
        QueryProfile {
            function_word_ratio: 0.6 * self.unit(),
            phrase_similarity: Some(0.3 + 0.7 * self.unit()),
            ..QueryProfile::NEUTRAL
        }
    }

    fn query(&mut self, dims: usize) -> (String, Vector) {
        let words = 1 + self.below(3);
        let words = self.words(words).join(" ");
        let condition = CONDITIONS[self.below(CONDITIONS.len() as u64) as usize];
        let topic = self.below(TOPICS);
        (format!("{words}{condition}"), self.near_topic(topic, 0.95, dims))
    }
}

/// The products in segments of `group`, with history: every ninth product is written twice, and every
/// tenth is deleted, also from the catalog.
fn index_with_history(catalog: &mut Catalog, group: usize) -> ShopIndex {
    let numbers: Vec<u64> = catalog.reference.0.keys().copied().collect();
    let early: Vec<u64> = numbers.iter().copied().filter(|number| number % 9 == 0).collect();
    let index = catalog.index(&early, group);
    for group in numbers.chunks(group) {
        let changes: Vec<_> =
            group.iter().map(|number| IndexChange::Upsert(catalog.entry(*number))).collect();
        index.apply(&changes, Seq(1));
    }
    let deleted: Vec<u64> = numbers.into_iter().filter(|number| number % 10 == 0).collect();
    let changes: Vec<_> = deleted.iter().map(|number| IndexChange::Delete(id(*number))).collect();
    index.apply(&changes, Seq(1));
    deleted.iter().for_each(|number| drop(catalog.reference.0.remove(number)));
    index
}

/// Compares queries with the reference. Returns how many were within the budget of the sketches,
/// and how many products were relevant.
fn check_queries(
    seed: u64,
    (count, dims): (u64, usize),
    group: usize,
    threads: usize,
    queries: usize,
) -> (usize, usize) {
    let mut random = Random(seed);
    let mut catalog = random.catalog(count, dims);
    let snapshot = index_with_history(&mut catalog, group).snapshot();
    let (mut within_budget, mut relevant) = (0, 0);
    for number in 0..queries {
        let (query, vector) = random.query(dims);
        let parsed = parse(&query);
        let visibility = [Visibility::VisibleOnly, Visibility::All][number % 2];
        let plan = plan(&parsed, &vector, random.profile(), visibility);
        let plan = Plan { offset: number % 3 * 5, ..plan };
        let (is_within, found) = check(&catalog, &snapshot, &plan, &parsed, threads);
        within_budget += usize::from(is_within);
        relevant += found;
    }
    (within_budget, relevant)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn pruned_searches_match_the_reference(
        seed in any::<u64>(),
        count in 1_u64..600,
        dims in prop::sample::select(vec![16_usize, 64, 128, 256]),
        group in 30_usize..300,
        threads in 1_usize..4,
    ) {
        check_queries(seed, (count, dims), group, threads, 6);
    }
}

#[test]
fn an_exclusion_of_two_words_needs_verification() {
    let parsed = parse("lamp without leather soles");
    assert_eq!(parsed.exclusions.iter().map(|one| one.words.len()).collect::<Vec<_>>(), [2]);
}

/// The property test is not vacuous: most searches are within the budget, and find something.
#[test]
fn most_searches_are_within_the_error_budget() {
    const QUERIES: usize = 40;
    let (mut within_budget, mut relevant) = (0, 0);
    for seed in 1..=3 {
        let (within, found) = check_queries(seed, (500, 256), 170, 2, QUERIES);
        within_budget += within;
        relevant += found;
    }
    assert!(within_budget * 10 >= 3 * QUERIES * 8, "{within_budget} of {}", 3 * QUERIES);
    assert!(relevant > 10 * QUERIES, "{relevant}");
}

/// The default path of searches and of similar products in a shop that is large enough for sketches.
#[test]
fn default_searches_match_the_reference() {
    const QUERIES: usize = 60;
    let (count, dims) = (SKETCHED_FROM as u64 * 4 / 3, 256);
    let mut random = Random(7);
    let mut catalog = random.catalog(count, dims);
    let snapshot = index_with_history(&mut catalog, 700).snapshot();
    assert!(snapshot.segment_count() > 2, "{}", snapshot.segment_count());
    let mut within_budget = 0;
    for _ in 0..QUERIES {
        let (query, vector) = random.query(dims);
        let parsed = parse(&query);
        let plan = plan(&parsed, &vector, random.profile(), Visibility::VisibleOnly);
        let effort = Effort::of(snapshot.segments(), &plan);
        assert!(!effort.exact);
        let expected = expected(&catalog, &plan, &parsed);
        let verify = |ids: &[ProductId]| Ok::<_, Infallible>(catalog.rejected(ids, &parsed));
        let Ok(found) = snapshot.search(&plan, verify);
        if exceeding(&snapshot, &plan, &expected) == 0 {
            within_budget += 1;
            assert_found(&found, &expected, &plan, &query);
        }
    }
    assert!(within_budget * 2 > QUERIES, "{within_budget} of {QUERIES}");
    check_similar(&catalog, &snapshot);
}

/// Similar products are those of the reference, but for a few that exceed their error bound.
fn check_similar(catalog: &Catalog, snapshot: &crate::index::Snapshot) {
    let (mut found_count, mut expected_count) = (0, 0);
    for number in (1..50).filter(|number| number % 10 > 0) {
        let expected = catalog.reference.similar(number, Visibility::All);
        let found = snapshot.similar(id(number), Visibility::All, usize::MAX);
        assert!(found.iter().all(|hit| expected.contains(hit)), "{number}");
        found_count += found.len();
        expected_count += expected.len();
    }
    let lost = expected_count - found_count;
    assert!(lost * 200 <= expected_count, "{lost} of {expected_count} lost");
}
