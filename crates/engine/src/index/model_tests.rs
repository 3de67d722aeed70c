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
    price::Money,
    product::ProductId,
    ranking::{Bm25, Corpus, FieldLength, Hit, Lengths, Occurrences, Scorer, WEIGHTS},
    words::{Alternative, QueryWords, for_each_word},
};
use proptest::prelude::*;

use super::{
    Entry, IndexBuilder, IndexChange, Matches, ShopIndex, live::LiveSegment, merge::merge,
    tiers::Policy,
};

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

/// The naive index: products as they are.
#[derive(Default)]
struct Model(BTreeMap<u64, Known>);

struct Known {
    version: Seq,
    hidden: bool,
    title: Vec<String>,
    description: Vec<String>,
}

impl Known {
    fn lengths(&self) -> Lengths {
        Lengths {
            title: FieldLength::of(self.title.len()),
            description: FieldLength::of(self.description.len()),
        }
    }

    /// Times that the title and the description say a word.
    fn times(&self, word: &str) -> (u32, u32) {
        let times = |words: &[String]| words.iter().filter(|other| *other == word).count() as u32;
        (times(&self.title), times(&self.description))
    }
}

fn id(number: u64) -> ProductId {
    ProductId::new(number).unwrap()
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word.to_owned()));
    words
}

fn entry(number: u64, version: Seq, item: &Item) -> Entry<'_> {
    let Item { hidden, title, description } = item;
    let price = Money::parse("$5").unwrap();
    Entry { id: id(number), version, hidden: *hidden, price, title, description }
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
    fn apply(&mut self, changes: &[Change], version: Seq) {
        for change in changes {
            match change {
                Change::Upsert(number, Item { hidden, title, description }) => {
                    let (title, description) = (words_of(title), words_of(description));
                    let known = Known { version, hidden: *hidden, title, description };
                    self.0.insert(*number, known)
                }
                Change::Delete(number) => self.0.remove(number),
            };
        }
    }

    /// Every match, best first.
    fn search(&self, query: &QueryWords, sight: Sight) -> Vec<Hit> {
        let mut corpus = Corpus::default();
        self.0.values().for_each(|known| corpus.add(known.lengths()));
        let scorer = Scorer::new(&WEIGHTS, &corpus);
        let mut scores = vec![0.0; self.0.len()];
        let with =
            |word: &str| self.0.values().filter(|known| known.times(word) != (0, 0)).count() as u64;
        for term in query.terms() {
            let is_known = |way: &&Alternative| {
                let mut words = way.words.iter().map(|word| with(word) > 0);
                if way.all { words.all(|known| known) } else { words.any(|known| known) }
            };
            let ways: Vec<(&Alternative, Vec<f32>)> = term
                .alternatives
                .iter()
                .filter(is_known)
                .map(|way| (way, way.words.iter().map(|word| corpus.rarity(with(word))).collect()))
                .collect();
            let heaviest = ways.iter().map(|(way, _)| way.weight).fold(0.0, f32::max);
            for (score, known) in scores.iter_mut().zip(self.0.values()) {
                let worth = |(way, rarities): &(&Alternative, Vec<f32>)| {
                    let words = way.words.iter().zip(rarities);
                    let said = words.filter(|(word, _)| known.times(word) != (0, 0));
                    if way.all && said.clone().count() < way.words.len() {
                        return 0.0;
                    }
                    said.fold(0.0, |sum, (word, rarity)| {
                        let (title, description) = known.times(word);
                        let occurrences = Occurrences::new(title, description);
                        let rarity = way.weight / heaviest * rarity;
                        sum + scorer.score(rarity, occurrences, known.lengths())
                    })
                };
                *score += ways.iter().map(worth).fold(0.0, f32::max);
            }
        }
        let mut hits: Vec<_> = self
            .0
            .iter()
            .zip(scores)
            .filter(|((_, known), score)| {
                *score > 0.0 && (sight == Sight::Everything || !known.hidden)
            })
            .map(|((number, known), score)| Hit {
                product: id(*number),
                version: known.version,
                score: Bm25(score),
            })
            .collect();
        hits.sort_by(Hit::rank);
        hits
    }
}

fn check(index: &ShopIndex, model: &Model) {
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), model.0.len());
    let visible = model.0.values().filter(|known| !known.hidden).count();
    assert_eq!(snapshot.visible_count(), visible);
    for query in ["red", "red sofa", "wd-40", "the", "lamp blue green chair red", "nothing"] {
        let words = QueryWords::of(query);
        for sight in [Sight::VisibleOnly, Sight::Everything] {
            let expected = model.search(&words, sight);
            for (offset, limit) in [(0, 50), (2, 3), (40, 10)] {
                let hits = expected.iter().skip(offset).take(limit).copied().collect();
                assert_eq!(
                    snapshot.search_words(&words, sight, offset, limit),
                    Matches { total: expected.len(), hits },
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

/// Changes that fall between the beginning of a merge and its publication. The merging thread
/// believes that it knows of the shop, and so never looks at it.
fn during_a_merge(changes: &[Change]) {
    let index = ShopIndex::with_policy(Seq(0), Vec::new(), EAGER);
    index.shared.writer.lock().queued = true;
    let mut model = Model::default();
    for number in 1..=2 {
        let pair: Vec<_> = [number, number + 10].map(|n| Change::Upsert(n, red_sofa(n))).to_vec();
        apply(&index, &pair, Seq(number));
        model.apply(&pair, Seq(number));
    }
    let sources = index.shared.begin_merge().unwrap();
    apply(&index, changes, Seq(9));
    model.apply(changes, Seq(9));
    index.shared.publish_merge(&sources, LiveSegment::new(merge(&sources)));
    check(&index, &model);
    assert!(index.shared.writer.lock().merging.is_empty());
}

fn red_sofa(number: u64) -> Item {
    Item { hidden: number == 2, title: "red sofa".to_owned(), description: String::new() }
}

#[test]
fn what_is_written_during_a_merge_is_not_lost_by_it() {
    during_a_merge(&[]);
    during_a_merge(&[Change::Delete(1)]);
    during_a_merge(&[Change::Delete(1), Change::Delete(11)]);
    during_a_merge(&[1, 2, 11, 12].map(Change::Delete));
    during_a_merge(&[Change::Upsert(2, red_sofa(1)), Change::Upsert(3, red_sofa(3))]);
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
                    let found = snapshot.search_words(&sofa, Sight::VisibleOnly, 0, 50);
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
