//! Does the index give the answers of a plain one? Random writes, compared with a map of
//! products that is searched from scratch each time.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use catalog::{
    access::Sight,
    change::Seq,
    product::ProductId,
    ranking::{Bm25, Corpus, FieldLength, Hit, Lengths, Occurrences, Scorer, WEIGHTS},
    words::{QueryWords, for_each_word},
};
use proptest::prelude::*;

use super::{Entry, IndexBuilder, IndexChange, Matches, ShopIndex, tiers::Policy};

/// Merges early and often, in the background wherever there is anything to merge.
const EAGER: Policy = Policy { fanout: 2, max_products: 12, inline_postings: 0 };
/// Merges early and often, some of it at once.
const MIXED: Policy = Policy { fanout: 3, max_products: 20, inline_postings: 40 };

#[derive(Clone, Debug)]
struct Item {
    hidden: bool,
    title: String,
    description: String,
}

#[derive(Clone, Debug)]
enum Change {
    Upsert(u64, Item),
    Delete(u64),
}

/// The naive index: products as they are, with their versions.
#[derive(Default)]
struct Model(BTreeMap<u64, (Seq, Item)>);

fn id(number: u64) -> ProductId {
    ProductId::new(number).unwrap()
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word.to_owned()));
    words
}

fn times(word: &str, words: &[String]) -> u32 {
    words.iter().filter(|other| *other == word).count() as u32
}

fn entry(number: u64, version: Seq, item: &Item) -> Entry<'_> {
    let Item { hidden, title, description } = item;
    Entry { id: id(number), version, hidden: *hidden, title, description }
}

fn apply(index: &ShopIndex, changes: &[Change], seq: Seq) {
    let changes: Vec<_> = changes
        .iter()
        .map(|change| match change {
            Change::Upsert(number, item) => IndexChange::Upsert(entry(*number, seq, item)),
            Change::Delete(number) => IndexChange::Delete(id(*number)),
        })
        .collect();
    index.apply(&changes, seq);
}

fn settle(index: &ShopIndex) {
    while index.shared.writer.lock().queued {
        thread::yield_now();
    }
}

impl Model {
    fn apply(&mut self, changes: &[Change], seq: Seq) {
        for change in changes.iter().cloned() {
            match change {
                Change::Upsert(number, item) => self.0.insert(number, (seq, item)),
                Change::Delete(number) => self.0.remove(&number),
            };
        }
    }

    fn search(&self, query: &QueryWords, sight: Sight, offset: usize, limit: usize) -> Matches {
        let mut corpus = Corpus::default();
        let mut texts = Vec::new();
        for (number, (version, item)) in &self.0 {
            let (title, description) = (words_of(&item.title), words_of(&item.description));
            let lengths = Lengths {
                title: FieldLength::of(title.len()),
                description: FieldLength::of(description.len()),
            };
            corpus.add(lengths);
            texts.push((*number, *version, item.hidden, title, description, lengths));
        }
        let scorer = Scorer::new(&WEIGHTS, &corpus);
        let mut scores = vec![0.0; texts.len()];
        for word in query.iter() {
            let found: Vec<_> = texts
                .iter()
                .map(|(.., title, description, _)| (times(word, title), times(word, description)))
                .collect();
            let rarity = corpus.rarity(found.iter().filter(|f| **f != (0, 0)).count() as u64);
            for ((score, (title, description)), text) in scores.iter_mut().zip(found).zip(&texts) {
                if title + description > 0 {
                    *score += scorer.score(rarity, Occurrences::new(title, description), text.5);
                }
            }
        }
        let mut hits: Vec<_> = texts
            .iter()
            .zip(scores)
            .filter(|(text, score)| *score > 0.0 && (sight == Sight::Everything || !text.2))
            .map(|(text, score)| Hit { product: id(text.0), version: text.1, score: Bm25(score) })
            .collect();
        hits.sort_by(Hit::rank);
        Matches { total: hits.len(), hits: hits.into_iter().skip(offset).take(limit).collect() }
    }
}

fn check(index: &ShopIndex, model: &Model) {
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), model.0.len());
    let visible = model.0.values().filter(|(_, item)| !item.hidden).count();
    assert_eq!(snapshot.visible_count(), visible);
    for query in ["red", "red sofa", "wd-40", "the", "lamp blue green chair red", "nothing"] {
        let words = QueryWords::of(query);
        for sight in [Sight::VisibleOnly, Sight::Everything] {
            for (offset, limit) in [(0, 50), (2, 3), (40, 10)] {
                assert_eq!(
                    snapshot.search(&words, sight, offset, limit),
                    model.search(&words, sight, offset, limit),
                    "{query:?} {sight:?} {offset} {limit}"
                );
            }
        }
    }
}

fn text(most_words: usize) -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "red",
        "Red",
        "blue",
        "green",
        "sofa",
        "sofas",
        "chair",
        "lamp",
        "the",
        "wd-40",
        "extraordinarily",
    ]);
    prop::collection::vec(word, 0..most_words).prop_map(|words| words.join(" "))
}

fn item() -> impl Strategy<Value = Item> {
    (any::<bool>(), text(4), text(12)).prop_map(|(hidden, title, description)| Item {
        hidden,
        title,
        description,
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (1_u64..30, item()).prop_map(|(number, item)| Change::Upsert(number, item)),
        1 => (1_u64..40).prop_map(Change::Delete),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn answers_are_those_of_a_plain_search(
        groups in prop::collection::vec((prop::collection::vec(change(), 0..8), any::<bool>()), 1..24),
        eager in any::<bool>(),
    ) {
        let policy = if eager { EAGER } else { MIXED };
        let index = ShopIndex::with_policy(Seq(0), Vec::new(), policy);
        let mut model = Model::default();
        for (seq, (changes, settled)) in (1..).map(Seq).zip(groups) {
            model.apply(&changes, seq);
            apply(&index, &changes, seq);
            prop_assert_eq!(index.snapshot().seq(), seq);
            check(&index, &model);
            if settled {
                settle(&index);
                check(&index, &model);
            }
        }
    }

    #[test]
    fn loading_gives_the_same_index_in_any_order(
        items in prop::collection::vec((1_u64..30, item()), 0..40),
    ) {
        let mut model = Model::default();
        let mut builder = IndexBuilder::new();
        for (number, item) in items {
            builder.add(entry(number, Seq(7), &item));
            model.apply(&[Change::Upsert(number, item)], Seq(7));
        }
        let index = builder.finish(Seq(9));
        prop_assert_eq!(index.snapshot().seq(), Seq(9));
        check(&index, &model);
    }
}

#[test]
fn a_large_shop_is_loaded_by_several_threads() {
    let mut builder = IndexBuilder::new();
    let mut model = Model::default();
    for number in 1..=6000 {
        let colour = if number % 3 == 0 { "red" } else { "blue" };
        let item = Item {
            hidden: number % 5 == 0,
            title: format!("{colour} sofa {number}"),
            description: "wd-40 ".repeat(number as usize % 4),
        };
        builder.add(entry(number, Seq(1), &item));
        model.apply(&[Change::Upsert(number, item)], Seq(1));
    }
    check(&builder.finish(Seq(1)), &model);
}

#[test]
fn readers_see_whole_groups_while_one_writes() {
    const PRODUCTS: u64 = 40;
    const GROUPS: u64 = 300;
    let index = ShopIndex::with_policy(Seq(0), Vec::new(), EAGER);
    let write = |seq: u64| {
        let item = Item { hidden: false, title: format!("sofa {seq}"), description: String::new() };
        let changes: Vec<_> = (1..=PRODUCTS).map(|n| Change::Upsert(n, item.clone())).collect();
        apply(&index, &changes, Seq(seq));
    };
    write(1);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sofa = QueryWords::of("sofa");
                let mut last = Seq(0);
                while !done.load(Ordering::Relaxed) {
                    let snapshot = index.snapshot();
                    let found = snapshot.search(&sofa, Sight::VisibleOnly, 0, 50);
                    assert_eq!(found.total, PRODUCTS as usize);
                    assert!(found.hits.iter().all(|hit| hit.version == snapshot.seq()));
                    assert!(snapshot.seq() >= last);
                    last = snapshot.seq();
                }
            });
        }
        (2..=GROUPS).for_each(write);
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn one_product_at_a_time_keeps_few_segments() {
    let index = ShopIndex::empty();
    for number in 1..=3000 {
        let item =
            Item { hidden: false, title: format!("lamp {number}"), description: String::new() };
        apply(&index, &[Change::Upsert(number, item)], Seq(number));
    }
    settle(&index);
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), 3000);
    assert!(snapshot.segment_count() <= 32, "{}", snapshot.segment_count());
}

#[test]
fn writing_one_product_over_and_over_keeps_one() {
    let index = ShopIndex::empty();
    let item = Item { hidden: true, title: "lamp".to_owned(), description: String::new() };
    for seq in 1..=50 {
        apply(&index, &[Change::Upsert(1, item.clone())], Seq(seq));
        assert_eq!(index.snapshot().segment_count(), 1);
    }
    apply(&index, &[Change::Delete(1)], Seq(51));
    assert_eq!(index.snapshot().segment_count(), 0);
}
