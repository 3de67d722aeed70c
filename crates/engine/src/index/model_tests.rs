//! Does the index give the answers of a plain one, by word and by vector? Random writes,
//! compared with a map of products that is searched from scratch each time.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use catalog::{
    access::Visibility,
    analysis::{Alternative, Bigram, QueryTerms, for_each_bigram, for_each_word},
    change::Seq,
    fusion::{self, Coverage, Fusion, QueryProfile, ScoreBounds, Signals},
    price::Money,
    product::ProductId,
    query_parser::ParsedQuery,
    ranking::{
        BM25_PARAMS, Bm25Scorer, CorpusStats, FieldLength, FieldLengths, Hit, Score, TermFreqs,
    },
    spelling::Correction,
};
use proptest::prelude::*;

use super::{
    DenseQuery, Entry, EntryVector, IndexBuilder, IndexChange, Matches, Plan, QueryVector,
    ShopIndex, Snapshot, dense::factor, merge::merge, snapshot::plan_of, tiers::Policy,
};
use crate::embed::{StoredVector, Vector};

/// Merges early and often, in the background wherever there is anything to merge.
const EAGER: Policy = Policy { fanout: 2, max_products: 12, inline_postings: 0 };
/// Merges early and often, some of it at once.
const MIXED: Policy = Policy { fanout: 3, max_products: 20, inline_postings: 40 };

#[derive(Clone, Debug)]
struct Item {
    hidden: bool,
    title: String,
    description: String,
    vector: Option<Direction>,
}

/// Where a vector of the tests points.
type Direction = [i8; 3];

#[derive(Clone, Debug)]
enum Change {
    /// The text is new.
    Upsert(u64, Item),
    /// The text is the same, if there was one.
    Hide(u64, bool),
    /// A better vector.
    Embed(u64, Direction),
    Delete(u64),
}

/// The naive index: products as they are.
#[derive(Default)]
struct Model(BTreeMap<u64, Known>);

struct Known {
    version: Seq,
    item: Item,
    title: Vec<String>,
    description: Vec<String>,
}

impl Known {
    fn lengths(&self) -> FieldLengths {
        FieldLengths {
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

fn entry<'a>(number: u64, version: Seq, item: &'a Item, vector: EntryVector<'a>) -> Entry<'a> {
    let Item { hidden, title, description, .. } = item;
    let price = Money::parse("$5").ok();
    Entry { id: id(number), version, hidden: *hidden, price, title, description, vector }
}

fn towards(direction: Direction) -> Vector {
    Vector::towards(direction.map(f32::from).to_vec()).unwrap()
}

/// Applies changes to both, in the way that writes do.
fn apply(index: &ShopIndex, model: &mut Model, changes: &[Change], seq: Seq) {
    let vectors: Vec<Option<StoredVector>> = changes
        .iter()
        .map(|change| match change {
            Change::Upsert(_, item) => item.vector.map(|at| towards(at).stored()),
            Change::Embed(_, direction) => Some(towards(*direction).stored()),
            Change::Hide(..) | Change::Delete(_) => None,
        })
        .collect();
    let mut items = Vec::new();
    for change in changes {
        model.apply(change, seq);
        let number = match change {
            Change::Upsert(number, _)
            | Change::Hide(number, _)
            | Change::Embed(number, _)
            | Change::Delete(number) => number,
        };
        items.push(model.0.get(number).map(|known| known.item.clone()));
    }
    let each = changes.iter().zip(&vectors).zip(&items);
    let changes: Vec<_> = each
        .filter_map(|((change, vector), item)| match change {
            Change::Upsert(number, item) => {
                let vector = vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known);
                Some(IndexChange::Upsert(entry(*number, seq, item, vector)))
            }
            Change::Hide(number, _) => Some(IndexChange::Upsert(entry(
                *number,
                seq,
                item.as_ref()?,
                EntryVector::Unchanged,
            ))),
            Change::Embed(number, _) => Some(IndexChange::Embed(id(*number), vector.as_ref()?)),
            Change::Delete(number) => Some(IndexChange::Delete(id(*number))),
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
    fn apply(&mut self, change: &Change, version: Seq) {
        match change {
            Change::Upsert(number, item) => {
                let (title, description) = (words_of(&item.title), words_of(&item.description));
                let known = Known { version, item: item.clone(), title, description };
                self.0.insert(*number, known);
            }
            Change::Hide(number, hidden) => {
                if let Some(known) = self.0.get_mut(number) {
                    (known.version, known.item.hidden) = (version, *hidden);
                }
            }
            Change::Embed(number, direction) => {
                if let Some(known) = self.0.get_mut(number) {
                    known.item.vector = Some(*direction);
                }
            }
            Change::Delete(number) => drop(self.0.remove(number)),
        }
    }

    /// The visible products: for who looks, there are no others.
    fn seen(&self, visibility: Visibility) -> BTreeMap<u64, &Known> {
        let is_seen = |known: &Known| visibility == Visibility::All || !known.item.hidden;
        let all = self.0.iter().map(|(number, known)| (*number, known));
        all.filter(|(_, known)| is_seen(known)).collect()
    }

    /// Every match, best first.
    fn search(
        &self,
        query: &QueryTerms,
        meant: Option<Direction>,
        visibility: Visibility,
    ) -> Vec<Hit> {
        let seen = self.seen(visibility);
        let mut corpus = CorpusStats::default();
        seen.values().for_each(|known| corpus.add(known.lengths()));
        let scorer = Bm25Scorer::new(&BM25_PARAMS, &corpus);
        let mut scores = vec![0.0; seen.len()];
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for known in seen.values() {
            let said: BTreeSet<&str> =
                known.title.iter().chain(&known.description).map(String::as_str).collect();
            said.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
        let with = |word: &str| counts.get(word).copied().unwrap_or_default();
        let (mut known_rarity, mut unknown) = (0.0, 0);
        for term in query.terms() {
            let is_known = |way: &&Alternative| {
                let mut words = way.words.iter().map(|word| with(word) > 0);
                if way.all { words.all(|known| known) } else { words.any(|known| known) }
            };
            let ways: Vec<&Alternative> = term.alternatives.iter().filter(is_known).collect();
            let heaviest = ways.iter().map(|way| way.weight).fold(0.0, f32::max);
            let whole = if term.corrected { BM25_PARAMS.correction_weight } else { 1.0 };
            unknown += usize::from(ways.is_empty());
            let rarity = |way: &&Alternative| {
                let known = way.words.iter().map(|word| with(word)).filter(|with| *with > 0);
                way.weight
                    * (whole / heaviest)
                    * known.map(|with| BM25_PARAMS.term_weight(&corpus, with)).sum::<f32>()
            };
            known_rarity += ways.iter().map(rarity).fold(0.0, f32::max);
            for (score, known) in scores.iter_mut().zip(seen.values()) {
                let worth = |way: &&Alternative| {
                    let words = way.words.iter().filter(|word| known.times(word) != (0, 0));
                    if way.all && words.clone().count() < way.words.len() {
                        return 0.0;
                    }
                    words.fold(0.0, |sum, word| {
                        let (title, description) = known.times(word);
                        let rarity = way.weight
                            * (whole / heaviest)
                            * BM25_PARAMS.term_weight(&corpus, with(word));
                        let occurrences = TermFreqs::new(title, description);
                        sum + scorer.score(rarity, occurrences, known.lengths())
                    })
                };
                *score += ways.iter().map(worth).fold(0.0, f32::max);
            }
        }
        let information = unknown as f32 * BM25_PARAMS.term_weight(&corpus, 0) + known_rarity;
        let pairs = query.bigrams();
        let for_pairs = match pairs.is_empty() {
            true => 0.0,
            false => BM25_PARAMS.bigram_weight / (1.0 + BM25_PARAMS.bigram_weight),
        };
        let share = (1.0 - for_pairs) / scorer.max_score(information);
        let seen: Vec<_> = seen
            .iter()
            .zip(scores)
            .map(|((number, known), score)| {
                let both = meant.zip(known.item.vector);
                let similarity = both.and_then(|(query, product)| nearness(query, product));
                let mut said = Vec::new();
                for_each_bigram(&known.item.title, |pair| said.push(pair));
                let is_said = |ways: &&Vec<Bigram>| ways.iter().any(|pair| said.contains(pair));
                let together = pairs.iter().filter(is_said).count() as f32;
                let neighbours = for_pairs * together / pairs.len().max(1) as f32;
                let words = if score > 0.0 { score * share + neighbours } else { 0.0 };
                (
                    id(*number),
                    known.version,
                    Signals { lexical: words, similarity, is_exact_title: false },
                )
            })
            .collect();
        let fusion = match meant {
            None => Fusion::lexical_only(&fusion::FUSION_PARAMS),
            Some(_) => Fusion::hybrid(&fusion::FUSION_PARAMS, MANNER, coverage(&seen)),
        };
        let scored = seen.into_iter().map(|(product, version, signals)| Hit {
            product,
            version,
            score: Score(fusion.score(signals)),
        });
        let mut hits: Vec<_> = scored.collect();
        let best = hits.iter().map(|hit| hit.score.0).fold(0.0, f32::max);
        hits.retain(|hit| hit.score.0 >= fusion.cutoff().at(best));
        hits.sort_by(Hit::rank);
        hits
    }

    /// Every product that is like this one, nearest first.
    fn similar(&self, number: u64, visibility: Visibility) -> Vec<Hit> {
        let own = self.0.get(&number).and_then(|known| known.item.vector);
        let others = self.0.iter().filter(|(other, known)| {
            **other != number && (visibility == Visibility::All || !known.item.hidden)
        });
        let near = others.filter_map(|(other, known)| {
            let cosine = nearness(own?, known.item.vector?)?;
            let hit = Hit { product: id(*other), version: known.version, score: Score(cosine) };
            (cosine >= fusion::FUSION_PARAMS.min_similarity).then_some(hit)
        });
        let mut near: Vec<_> = near.collect();
        near.sort_by(Hit::rank);
        near
    }
}

/// How the queries are put.
const MANNER: QueryProfile = QueryProfile { phrase_similarity: Some(0.8), ..QueryProfile::NEUTRAL };

/// Of products that could be relevant; the words of others do not cover anything.
fn coverage(seen: &[(ProductId, Seq, Signals)]) -> Coverage {
    let hope = ScoreBounds::absolute(&fusion::FUSION_PARAMS, MANNER);
    let hopeful = seen
        .iter()
        .map(|(_, _, signals)| *signals)
        .filter(|signals| hope.may_pass(signals.lexical, signals.dense_score()));
    let best_lexical = hopeful.map(|signals| signals.lexical).fold(0.0, f32::max);
    Coverage { best_lexical }
}

/// The cosine of two vectors as they are kept.
fn nearness(query: Direction, product: Direction) -> Option<f32> {
    let (query, product) = (towards(query).stored(), towards(product).stored());
    let pairs = query.numbers().iter().zip(product.numbers());
    let dot: i32 = pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    let factors = factor(product.numbers()) * factor(query.numbers());
    (factors > 0.0).then_some(dot as f32 * factors)
}

/// A word that was taken for another.
fn correction(from: &str, to: &str) -> Correction {
    Correction { from: from.to_owned(), to: to.to_owned(), span: 0..from.len() }
}

fn check(index: &ShopIndex, model: &Model) {
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), model.0.len());
    let visible = model.0.values().filter(|known| !known.item.hidden).count();
    assert_eq!(snapshot.visible_count(), visible);
    check_similar(&snapshot, model);
    for query in ["red", "red sofa", "wd-40", "the", "lamp blue green chair red", "nothing"] {
        let mut parsed = ParsedQuery::default();
        parsed.residual = query.to_owned();
        parsed.corrections = vec![correction("chiar", "chair")];
        let words = parsed.terms();
        for (visibility, meant) in [
            (Visibility::VisibleOnly, None),
            (Visibility::All, None),
            (Visibility::VisibleOnly, Some([3, -1, 2])),
            (Visibility::All, Some([-2, -5, 1])),
        ] {
            let expected = model.search(&words, meant, visibility);
            for (offset, limit) in [(0, 50), (2, 3), (40, 10)] {
                let hits = expected.iter().skip(offset).take(limit).copied().collect();
                let meant = meant.map(|direction| DenseQuery {
                    vector: QueryVector::of(&towards(direction)).unwrap(),
                    profile: MANNER,
                });
                let plan = Plan { dense: meant, ..plan_of(&words, visibility, offset, limit) };
                let found = snapshot.search(&plan, |_| Ok::<_, Infallible>(Vec::new())).unwrap();
                assert_eq!(
                    found,
                    Matches { total: expected.len(), hits, ..Matches::default() },
                    "{query:?} {visibility:?} {offset} {limit}"
                );
                check_explained(&snapshot, plan, &found);
            }
        }
    }
}

/// The products like any other, known or not, are those of a plain look at all of them.
fn check_similar(snapshot: &Snapshot, model: &Model) {
    for number in 1..40 {
        for visibility in [Visibility::VisibleOnly, Visibility::All] {
            let expected = model.similar(number, visibility);
            for limit in [2, 50] {
                let first = &expected[..expected.len().min(limit)];
                let found = snapshot.similar(id(number), visibility, limit);
                assert_eq!(found, first, "{number} {visibility:?} {limit}");
            }
        }
    }
}

/// The parts of the scores that ordered a page are there, and add up to them.
fn check_explained(snapshot: &Snapshot, plan: Plan<'_>, found: &Matches) {
    let plan = Plan { explain: true, ..plan };
    let explained = snapshot.search(&plan, |_| Ok::<_, Infallible>(Vec::new())).unwrap();
    assert_eq!((explained.total, &explained.hits), (found.total, &found.hits));
    assert_eq!(explained.explanations.len(), found.hits.len());
    for hit in &found.hits {
        let explanation = &explained.explanations[&hit.product];
        assert_eq!(explanation.score, hit.score.0);
        assert!((explanation.sum() - explanation.score).abs() < 1e-5, "{explanation:?}");
        let words = &explanation.lexical;
        assert!((words.sum() - words.matched).abs() < 1e-5, "{explanation:?}");
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
    prop::array::uniform3(-5_i8..=5).prop_filter("it points somewhere", |at| *at != [0; 3])
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
    fn answers_are_those_of_a_plain_search(
        groups in prop::collection::vec((prop::collection::vec(change(), 0..8), any::<bool>()), 1..24),
        eager in any::<bool>(),
    ) {
        let policy = if eager { EAGER } else { MIXED };
        let index = ShopIndex::with_policy(Seq(0), Vec::new(), policy);
        let mut model = Model::default();
        for (seq, (changes, settled)) in (1..).map(Seq).zip(groups) {
            apply(&index, &mut model, &changes, seq);
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
            let vector = item.vector.map(|at| towards(at).stored());
            let vector = vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known);
            builder.add(entry(number, Seq(7), &item, vector));
            model.apply(&Change::Upsert(number, item), Seq(7));
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
            vector: (number % 7 > 0).then_some([(number % 11) as i8 - 5, (number % 5) as i8, 1]),
        };
        let vector = item.vector.map(|at| towards(at).stored());
        let vector = vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known);
        builder.add(entry(number, Seq(1), &item, vector));
        model.apply(&Change::Upsert(number, item), Seq(1));
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
        apply(&index, &mut model, &pair, Seq(number));
    }
    let sources = index.shared.begin_merge().unwrap();
    apply(&index, &mut model, changes, Seq(9));
    index.shared.publish_merge(&sources, merge(&sources));
    check(&index, &model);
    assert!(index.shared.writer.lock().merging.is_empty());
}

fn plain(title: &str) -> Item {
    Item { hidden: false, title: title.to_owned(), description: String::new(), vector: None }
}

fn red_sofa(number: u64) -> Item {
    Item { hidden: number == 2, vector: (number > 2).then_some([3, 1, 2]), ..plain("red sofa") }
}

#[test]
fn what_is_written_during_a_merge_is_not_lost_by_it() {
    during_a_merge(&[]);
    during_a_merge(&[Change::Delete(1)]);
    during_a_merge(&[Change::Delete(1), Change::Delete(11)]);
    during_a_merge(&[1, 2, 11, 12].map(Change::Delete));
    during_a_merge(&[Change::Upsert(2, red_sofa(1)), Change::Upsert(3, red_sofa(3))]);
    during_a_merge(&[Change::Embed(1, [1, -1, 1]), Change::Embed(12, [3, -1, 2])]);
    during_a_merge(&[Change::Embed(1, [1, -1, 1]), Change::Hide(1, true), Change::Delete(12)]);
}

#[test]
fn readers_see_whole_groups_while_one_writes() {
    const PRODUCTS: u64 = 40;
    const GROUPS: u64 = 300;
    let index = ShopIndex::with_policy(Seq(0), Vec::new(), EAGER);
    let write = |seq: u64| {
        let item = plain(&format!("sofa {seq}"));
        let changes: Vec<_> = (1..=PRODUCTS).map(|n| Change::Upsert(n, item.clone())).collect();
        apply(&index, &mut Model::default(), &changes, Seq(seq));
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
        apply(&index, &mut Model::default(), &[Change::Upsert(number, item)], Seq(number));
    }
    settle(&index);
    let snapshot = index.snapshot();
    assert_eq!(snapshot.product_count(), 3000);
    assert!(snapshot.segment_count() <= 32, "{}", snapshot.segment_count());
}

#[test]
fn writing_one_product_over_and_over_keeps_one() {
    let index = ShopIndex::empty();
    let item = plain("lamp");
    let mut model = Model::default();
    for seq in 1..=50 {
        apply(&index, &mut model, &[Change::Upsert(1, item.clone())], Seq(seq));
        assert_eq!(index.snapshot().segment_count(), 1);
    }
    apply(&index, &mut model, &[Change::Delete(1)], Seq(51));
    assert_eq!(index.snapshot().segment_count(), 0);
}
