//! Random writes, merges and searches, compared with the naive [`super::reference`].

use std::{
    convert::Infallible,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use catalog::{
    product::{access::Visibility, change::Seq, price::Money},
    query::parser::ParsedQuery,
    ranking::fusion::QueryProfile,
    text::{
        analysis::QueryTerms,
        correction::{Confidence, Correction},
    },
};
use embed::{StoredVector, StoredVectors, Vector};
use proptest::prelude::*;

use super::{
    DenseQuery, Entry, EntryVectors, IndexBuilder, IndexChange, Matches, Plan, QueryVector,
    ShopIndex, Snapshot,
    reference::{Product, Query, Reference, id},
    segment::{MergePolicy, merge},
    snapshot::plan_of,
};

/// Merges early and often, always in the background.
const EAGER: MergePolicy =
    MergePolicy { fanout: 2, max_products: 12, inline_postings: 0, ordered_products: 2 };
/// Merges early and often, small ones inline.
const MIXED: MergePolicy =
    MergePolicy { fanout: 3, max_products: 20, inline_postings: 40, ordered_products: 2 };

#[derive(Clone, Debug)]
struct Item {
    hidden: bool,
    title: String,
    description: String,
    vector: Option<Direction>,
}

/// The direction of a test vector.
type Direction = [i8; 3];

#[derive(Clone, Debug)]
enum Change {
    /// New texts.
    Upsert(u64, Item),
    /// The texts are unchanged, if the product exists.
    Hide(u64, bool),
    /// Another vector.
    Embed(u64, Direction),
    Delete(u64),
}

impl Change {
    fn number(&self) -> u64 {
        match self {
            Self::Upsert(number, _)
            | Self::Hide(number, _)
            | Self::Embed(number, _)
            | Self::Delete(number) => *number,
        }
    }
}

fn entry<'a>(number: u64, version: Seq, item: &'a Item, vectors: EntryVectors<'a>) -> Entry<'a> {
    let Item { hidden, title, description, .. } = item;
    let price = Money::parse("$5").ok();
    Entry {
        id: id(number),
        version,
        hidden: *hidden,
        price,
        title,
        description,
        key: None,
        attributes: catalog::product::attributes::Attributes::none(),
        inferred: catalog::product::inferred::Inferred::default(),
        vectors,
    }
}

fn towards(direction: Direction) -> Vector {
    Vector::normalized(direction.map(f32::from).to_vec()).unwrap()
}

/// The vectors of a new text; some have no vector of the transformer yet.
fn vectors_towards(direction: Direction) -> StoredVectors {
    let deep = Some(deep_towards(direction)).filter(|_| direction[0] > 0);
    StoredVectors { vector: towards(direction).stored(), deep }
}

/// The vectors after a text was encoded.
fn encoded_towards(direction: Direction) -> StoredVectors {
    let deep = Some(deep_towards(direction));
    StoredVectors { vector: towards(direction).stored(), deep }
}

fn deep_towards(direction: Direction) -> StoredVector {
    towards([direction[2], 1, direction[0]]).stored()
}

/// Applies changes to index and reference, as writes do.
fn apply(index: &ShopIndex, reference: &mut Reference, changes: &[Change], seq: Seq) {
    let vectors: Vec<Option<StoredVectors>> = changes
        .iter()
        .map(|change| match change {
            Change::Upsert(_, item) => item.vector.map(vectors_towards),
            Change::Embed(_, direction) => Some(encoded_towards(*direction)),
            Change::Hide(..) | Change::Delete(_) => None,
        })
        .collect();
    let mut items = Vec::new();
    for change in changes {
        reference.apply(change, seq);
        items.push(reference.0.get(&change.number()).map(|product| Item {
            hidden: product.hidden,
            title: product.title.clone(),
            description: product.description.clone(),
            vector: None,
        }));
    }
    let each = changes.iter().zip(&vectors).zip(&items);
    let changes: Vec<_> = each
        .filter_map(|((change, vector), item)| match change {
            Change::Upsert(number, item) => {
                let vector = vector.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known);
                Some(IndexChange::Upsert(entry(*number, seq, item, vector)))
            }
            Change::Hide(number, _) => {
                let unchanged = EntryVectors::Unchanged;
                Some(IndexChange::Upsert(entry(*number, seq, item.as_ref()?, unchanged)))
            }
            Change::Embed(number, _) => Some(IndexChange::Embed(id(*number), vector.as_ref()?)),
            Change::Delete(number) => Some(IndexChange::Delete(id(*number))),
        })
        .collect();
    index.apply(&changes, seq);
}

fn wait_until_merged(index: &ShopIndex) {
    while index.shared.writer.lock().queued {
        thread::yield_now();
    }
}

impl Reference {
    fn apply(&mut self, change: &Change, version: Seq) {
        match change {
            Change::Upsert(number, item) => {
                let mut product =
                    Product::new(version, item.hidden, &item.title, &item.description);
                product.vectors = item.vector.map(vectors_towards);
                self.0.insert(*number, product);
            }
            Change::Hide(number, hidden) => {
                if let Some(product) = self.0.get_mut(number) {
                    (product.version, product.hidden) = (version, *hidden);
                }
            }
            Change::Embed(number, direction) => {
                if let Some(product) = self.0.get_mut(number) {
                    product.vectors = Some(encoded_towards(*direction));
                }
            }
            Change::Delete(number) => drop(self.0.remove(number)),
        }
    }
}

const PROFILE: QueryProfile =
    QueryProfile { phrase_similarity: Some(0.8), ..QueryProfile::NEUTRAL };

/// A word that was corrected to another.
fn correction(from: &str, to: &str) -> Correction {
    let (span, confidence) = (0..from.len(), Confidence::Low);
    Correction { from: from.to_owned(), to: to.to_owned(), span, confidence }
}

fn check(index: &ShopIndex, reference: &Reference) {
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), reference.0.len());
    let visible = reference.0.values().filter(|product| !product.hidden).count();
    assert_eq!(snapshot.visible_count(), visible);
    check_similar(&snapshot, reference);
    for query in ["red", "red sofa", "wd-40", "the", "lamp blue green chair red", "nothing"] {
        let mut parsed = ParsedQuery::default();
        parsed.residual = query.to_owned();
        parsed.corrections = vec![correction("chiar", "chair")];
        let words = parsed.terms();
        for (visibility, direction) in [
            (Visibility::VisibleOnly, None),
            (Visibility::All, None),
            (Visibility::VisibleOnly, Some([3, -1, 2])),
            (Visibility::All, Some([-2, -5, 1])),
        ] {
            check_query(&snapshot, reference, &words, visibility, direction);
        }
    }
}

fn check_query(
    snapshot: &Snapshot,
    reference: &Reference,
    words: &QueryTerms,
    visibility: Visibility,
    direction: Option<Direction>,
) {
    let vector = direction.map(|direction| QueryVector::of(&towards(direction)).unwrap());
    let expected = reference.search(&Query {
        words,
        dense: vector.as_ref().map(|vector| (vector, PROFILE)),
        sketched: false,
        title_fingerprint: 0,
        key: None,
        visibility,
        is_eligible: &|_| true,
        makes_claim: &|_| false,
    });
    let dense = vector.map(|vector| DenseQuery { vector, deep: None, profile: PROFILE });
    for (offset, limit) in [(0, 50), (2, 3), (40, 10)] {
        let hits = expected.hits.iter().skip(offset).take(limit).copied().collect();
        let plan = Plan { dense: dense.clone(), ..plan_of(words, visibility, offset, limit) };
        let found = snapshot.search(&plan, |_| Ok::<_, Infallible>(Vec::new())).unwrap();
        assert_eq!(
            found,
            Matches { total: expected.hits.len(), hits, ..Matches::default() },
            "{words:?} {visibility:?} {offset} {limit}"
        );
        check_explained(snapshot, plan, &found);
    }
}

/// The similar products of every product, and of products that do not exist.
fn check_similar(snapshot: &Snapshot, reference: &Reference) {
    for number in 1..40 {
        for visibility in [Visibility::VisibleOnly, Visibility::All] {
            let expected = reference.similar(number, visibility);
            for limit in [2, 50] {
                let first = &expected[..expected.len().min(limit)];
                let found = snapshot.similar(id(number), visibility, limit);
                assert_eq!(found, first, "{number} {visibility:?} {limit}");
            }
        }
    }
}

/// Explanations exist for every hit of a page, and their parts add up to its score.
fn check_explained(snapshot: &Snapshot, plan: Plan<'_>, found: &Matches) {
    let plan = Plan { explain: true, ..plan };
    let explained = snapshot.search(&plan, |_| Ok::<_, Infallible>(Vec::new())).unwrap();
    assert_eq!((explained.total, &explained.hits), (found.total, &found.hits));
    assert_eq!(explained.explanations.len(), found.hits.len());
    for hit in &found.hits {
        let explanation = &explained.explanations[&hit.product];
        assert_eq!(explanation.score, hit.score.0);
        assert!((explanation.sum() - explanation.score).abs() < 1e-5, "{explanation:?}");
        let lexical = &explanation.lexical;
        assert!((lexical.sum() - lexical.matched).abs() < 1e-5, "{explanation:?}");
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

fn direction() -> impl Strategy<Value = Direction> {
    prop::array::uniform3(-5_i8..=5).prop_filter("not zero", |at| *at != [0; 3])
}

fn item() -> impl Strategy<Value = Item> {
    (any::<bool>(), text(4), text(12), prop::option::of(direction())).prop_map(
        |(hidden, title, description, vector)| Item { hidden, title, description, vector },
    )
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (1_u64..30, item()).prop_map(|(number, item)| Change::Upsert(number, item)),
        1 => (1_u64..30, any::<bool>()).prop_map(|(number, hidden)| Change::Hide(number, hidden)),
        2 => (1_u64..40, direction()).prop_map(|(number, at)| Change::Embed(number, at)),
        1 => (1_u64..40).prop_map(Change::Delete),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn searches_match_the_reference_after_random_writes(
        groups in prop::collection::vec((prop::collection::vec(change(), 0..8), any::<bool>()), 1..24),
        eager in any::<bool>(),
    ) {
        let policy = if eager { EAGER } else { MIXED };
        let index = ShopIndex::with_policy(Seq(0), Vec::new(), policy);
        let mut reference = Reference::default();
        for (seq, (changes, settled)) in (1..).map(Seq).zip(groups) {
            apply(&index, &mut reference, &changes, seq);
            prop_assert_eq!(index.snapshot().seq(), seq);
            check(&index, &reference);
            if settled {
                wait_until_merged(&index);
                check(&index, &reference);
            }
        }
    }

    #[test]
    fn bulk_building_gives_the_same_index_in_any_order(
        items in prop::collection::vec((1_u64..30, item()), 0..40),
    ) {
        let mut reference = Reference::default();
        let mut builder = IndexBuilder::new();
        for (number, item) in items {
            let vectors = item.vector.map(vectors_towards);
            let vectors = vectors.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known);
            builder.add(entry(number, Seq(7), &item, vectors));
            reference.apply(&Change::Upsert(number, item), Seq(7));
        }
        let index = builder.finish(Seq(9));
        prop_assert_eq!(index.snapshot().seq(), Seq(9));
        check(&index, &reference);
    }
}

#[test]
fn a_large_shop_is_built_by_several_threads() {
    let mut builder = IndexBuilder::new();
    let mut reference = Reference::default();
    for number in 1..=6000 {
        let colour = if number % 3 == 0 { "red" } else { "blue" };
        let item = Item {
            hidden: number % 5 == 0,
            title: format!("{colour} sofa {number}"),
            description: "wd-40 ".repeat(number as usize % 4),
            vector: (number % 7 > 0).then_some([(number % 11) as i8 - 5, (number % 5) as i8, 1]),
        };
        let vectors = item.vector.map(vectors_towards);
        let vectors = vectors.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known);
        builder.add(entry(number, Seq(1), &item, vectors));
        reference.apply(&Change::Upsert(number, item), Seq(1));
    }
    check(&builder.finish(Seq(1)), &reference);
}

/// Applies changes between the beginning of a merge and its publication. The shop counts as queued,
/// so that the merger ignores it.
fn during_a_merge(changes: &[Change]) {
    let index = ShopIndex::with_policy(Seq(0), Vec::new(), EAGER);
    index.shared.writer.lock().queued = true;
    let mut reference = Reference::default();
    for number in 1..=2 {
        let pair: Vec<_> = [number, number + 10].map(|n| Change::Upsert(n, red_sofa(n))).to_vec();
        apply(&index, &mut reference, &pair, Seq(number));
    }
    let sources = index.shared.begin_merge().unwrap();
    apply(&index, &mut reference, changes, Seq(9));
    index.shared.publish_merge(&sources, merge(&sources));
    check(&index, &reference);
    assert!(index.shared.writer.lock().merging.is_empty());
}

fn plain(title: &str) -> Item {
    Item { hidden: false, title: title.to_owned(), description: String::new(), vector: None }
}

fn red_sofa(number: u64) -> Item {
    Item { hidden: number == 2, vector: (number > 2).then_some([3, 1, 2]), ..plain("red sofa") }
}

#[test]
fn changes_made_during_a_merge_are_kept() {
    during_a_merge(&[]);
    during_a_merge(&[Change::Delete(1)]);
    during_a_merge(&[Change::Delete(1), Change::Delete(11)]);
    during_a_merge(&[1, 2, 11, 12].map(Change::Delete));
    during_a_merge(&[Change::Upsert(2, red_sofa(1)), Change::Upsert(3, red_sofa(3))]);
    during_a_merge(&[Change::Embed(1, [1, -1, 1]), Change::Embed(12, [3, -1, 2])]);
    during_a_merge(&[Change::Embed(1, [1, -1, 1]), Change::Hide(1, true), Change::Delete(12)]);
}

#[test]
fn readers_see_groups_of_changes_atomically() {
    const PRODUCTS: u64 = 40;
    const GROUPS: u64 = 300;
    let index = ShopIndex::with_policy(Seq(0), Vec::new(), EAGER);
    let write = |seq: u64| {
        let item = plain(&format!("sofa {seq}"));
        let changes: Vec<_> = (1..=PRODUCTS).map(|n| Change::Upsert(n, item.clone())).collect();
        apply(&index, &mut Reference::default(), &changes, Seq(seq));
    };
    write(1);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sofa = QueryTerms::of("sofa");
                let mut last = Seq(0);
                while !done.load(Ordering::Relaxed) {
                    let snapshot = index.snapshot();
                    let found = snapshot.search_words(&sofa, Visibility::VisibleOnly, 0, 50);
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
        let item = plain(&format!("lamp {number}"));
        apply(&index, &mut Reference::default(), &[Change::Upsert(number, item)], Seq(number));
    }
    wait_until_merged(&index);
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), 3000);
    assert!(snapshot.segment_count() <= 32, "{}", snapshot.segment_count());
}

#[test]
fn writing_one_product_over_and_over_keeps_one() {
    let index = ShopIndex::empty();
    let item = plain("lamp");
    let mut reference = Reference::default();
    for seq in 1..=50 {
        apply(&index, &mut reference, &[Change::Upsert(1, item.clone())], Seq(seq));
        assert_eq!(index.snapshot().segment_count(), 1);
    }
    apply(&index, &mut reference, &[Change::Delete(1)], Seq(51));
    assert_eq!(index.snapshot().segment_count(), 0);
}
