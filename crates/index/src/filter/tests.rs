//! Random catalogs and queries, compared with a filter over every product: no result violates a
//! condition, and every product that satisfies all is counted.

use std::{
    cell::Cell,
    convert::Infallible,
    time::{Duration, Instant},
};

use catalog::{
    product::{ProductId, access::Visibility, change::Seq, price::Price},
    query::{
        parser::{ParseOptions, ParsedQuery},
        sort::{Direction, Sort},
    },
    text::analysis::{QueryTerms, for_each_word},
};
use proptest::prelude::*;

use crate::{
    Entry, EntryVectors, IndexBuilder, IndexChange, Matches, Plan, QueryKind, ShopIndex,
    scoring::MAX_VERIFIED, segment::MergePolicy,
};

/// Merges early and often, small ones inline.
const BUSY: MergePolicy =
    MergePolicy { fanout: 2, max_products: 200, inline_postings: 40, ordered_products: 2 };

#[derive(Clone, Debug)]
struct Item {
    hidden: bool,
    title: String,
    description: String,
    price: Price,
}

/// A catalog: the product with id `n + 1` is at index `n`.
type Items = Vec<Item>;

fn id(at: usize) -> ProductId {
    ProductId::new(at as u64 + 1).unwrap()
}

fn entry(at: usize, item: &Item) -> Entry<'_> {
    Entry {
        id: id(at),
        version: Seq(1),
        hidden: item.hidden,
        price: item.price.money(),
        title: &item.title,
        description: &item.description,
        key: None,
        attributes: catalog::product::attributes::Attributes::none(),
        inferred: catalog::product::inferred::Inferred::default(),
        vectors: EntryVectors::Missing,
    }
}

fn item_of(items: &Items, id: ProductId) -> &Item {
    &items[id.get() as usize - 1]
}

impl Item {
    fn contains_any_of(&self, words: &QueryTerms) -> bool {
        let mut said: Vec<String> = Vec::new();
        for_each_word(&self.title, |word| said.push(word.to_owned()));
        for_each_word(&self.description, |word| said.push(word.to_owned()));
        words.match_words(|word| said.iter().any(|said| said == word))
    }
}

/// The ids of all products that satisfy a query, ascending.
fn naive(items: &Items, parsed: &ParsedQuery, visibility: Visibility) -> Vec<ProductId> {
    let words = QueryTerms::of(&parsed.residual);
    let is_match_all = words.is_empty() && parsed.has_conditions();
    (0..items.len())
        .filter(|at| {
            let item = &items[*at];
            (visibility == Visibility::All || !item.hidden)
                && (is_match_all || item.contains_any_of(&words))
                && parsed.admits(&item.price)
                && parsed.allows(&item.title, &item.description, "")
        })
        .map(id)
        .collect()
}

fn run(index: &ShopIndex, items: &Items, parsed: &ParsedQuery, plan: &Plan<'_>) -> Matches {
    let calls = Cell::new(0);
    let Ok(found) = index.snapshot().search(plan, |undecided| {
        calls.set(calls.get() + 1);
        let is_rejected = |id: &ProductId| {
            let item = item_of(items, *id);
            assert!(
                parsed.admits(&item.price),
                "only products that pass the other filters are verified"
            );
            !parsed.allows(&item.title, &item.description, "")
        };
        Ok::<_, Infallible>(undecided.iter().copied().filter(is_rejected).collect())
    });
    assert!(calls.get() <= 1);
    found
}

fn check_order(items: &Items, plan: &Plan<'_>, found: &[ProductId]) {
    let amount = |id: ProductId| item_of(items, id).price.money().unwrap().amount;
    // Within a currency: which one comes first is tested elsewhere.
    let currency = |id: &ProductId| item_of(items, *id).price.money().unwrap().currency;
    let groups = || found.chunk_by(|one, other| currency(one) == currency(other));
    match &plan.order {
        Sort::Price(Direction::Ascending) => {
            assert!(groups().all(|group| group.is_sorted_by_key(|id| amount(*id))));
        }
        Sort::Price(Direction::Descending) => {
            assert!(groups().all(|group| group.iter().rev().is_sorted_by_key(|id| amount(*id))));
        }
        Sort::Newest => assert!(found.iter().rev().is_sorted()),
        _ => assert!(matches!(plan.kind, QueryKind::Terms(_))),
    }
}

fn check(index: &ShopIndex, items: &Items, query: &str) {
    for visibility in [Visibility::VisibleOnly, Visibility::All] {
        let knows = |word: &str| index.snapshot().contains_term(word, visibility);
        let parsed = ParseOptions::default().parse(query, &knows);
        let expected = naive(items, &parsed, visibility);
        let plan = Plan::of(&parsed, visibility, 0, items.len() + 1);
        let found = run(index, items, &parsed, &plan);
        let whole: Vec<_> = found.hits.iter().map(|hit| hit.product).collect();
        let mut ids = whole.clone();
        ids.sort_unstable();
        assert_eq!((&ids, found.total), (&expected, expected.len()), "{query:?} {visibility:?}");
        check_order(items, &plan, &whole);

        let mut paged = Vec::new();
        for offset in (0..whole.len()).step_by(7) {
            let page = run(index, items, &parsed, &Plan { offset, limit: 7, ..plan.clone() });
            assert_eq!(page.total, expected.len());
            paged.extend(page.hits.iter().map(|hit| hit.product));
        }
        assert_eq!(paged, whole, "{query:?} {visibility:?}");
    }
}

fn text(most_words: usize) -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "red",
        "black",
        "shoes",
        "shoe",
        "sofa",
        "leather",
        "sole",
        "leather-free",
        "non-leather",
        "no",
        "without",
        "free",
        "suede",
        "of",
        "lamp",
        "the",
    ]);
    prop::collection::vec(word, 1..most_words).prop_map(|words| words.join(" "))
}

fn price() -> impl Strategy<Value = Price> {
    let amount = prop::sample::select(vec![
        "0.99", "15", "19.99", "20", "20.00", "20.01", "24", "50.00", "50.5", "899.99", "900",
        "900.00", "1,299.00",
    ]);
    let mark = prop::sample::select(vec!["USD", "USD", "EUR", "GBP"]);
    (amount, mark).prop_map(|(amount, mark)| Price::parse(&format!("{amount} {mark}")).unwrap())
}

fn item() -> impl Strategy<Value = Item> {
    (prop::bool::weighted(0.2), text(4), text(8), price())
        .prop_map(|(hidden, title, description, price)| Item { hidden, title, description, price })
}

fn items() -> impl Strategy<Value = Items> {
    prop::collection::vec(item(), 1..120)
}

fn query() -> impl Strategy<Value = String> {
    let part = |parts: &[&'static str]| prop::sample::select(parts.to_vec());
    let order = part(&["", "", "", "cheapest", "most expensive", "newest"]);
    let words = part(&["", "shoes", "red shoes", "sofa", "xylophone", "under armour shoes"]);
    let amount = part(&["$20", "20 dollars", "€50", "50 eur", "$900", "nine hundred dollars"]);
    let condition = part(&["", "under", "up to", "over", "at least", "about"]);
    let other = part(&["", "", "under 50", "between $15 and $50", "over £15", "$20-$900"]);
    let not = part(&[
        "",
        "",
        "without leather",
        "not black",
        "without leather soles",
        "without leather or suede",
        "no lamp",
    ]);
    (order, words, condition, amount, other, not).prop_map(
        |(order, words, condition, amount, other, not)| {
            let condition = match condition {
                "" => String::new(),
                condition => format!("{condition} {amount}"),
            };
            [order, words, &condition, other, not].join(" ")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn searches_find_what_a_filter_over_all_products_finds(
        items in items(),
        queries in prop::collection::vec(query(), 8),
    ) {
        let mut builder = IndexBuilder::new();
        items.iter().enumerate().for_each(|(at, item)| builder.add(entry(at, item)));
        let index = builder.finish(Seq(1));
        queries.iter().for_each(|query| check(&index, &items, query));
    }

    #[test]
    fn filters_use_the_last_write_through_merges_and_updates(
        before in items(),
        changed in prop::collection::vec((any::<prop::sample::Index>(), item()), 0..40),
        queries in prop::collection::vec(query(), 4),
    ) {
        let index = ShopIndex::with_policy(Seq(0), Vec::new(), BUSY);
        let mut items = before;
        for (at, item) in items.iter().enumerate() {
            index.apply(&[IndexChange::Upsert(entry(at, item))], Seq(1));
        }
        for (at, item) in changed {
            let at = at.index(items.len());
            items[at] = item;
            index.apply(&[IndexChange::Upsert(entry(at, &items[at]))], Seq(1));
        }
        queries.iter().for_each(|query| check(&index, &items, query));
    }
}

fn catalog(products: &[(&str, &str, &str)]) -> (ShopIndex, Items) {
    let item = |(title, description, price): &(&str, &str, &str)| Item {
        hidden: false,
        title: (*title).to_owned(),
        description: (*description).to_owned(),
        price: Price::parse(price).unwrap(),
    };
    let items: Items = products.iter().map(item).collect();
    let mut builder = IndexBuilder::new();
    items.iter().enumerate().for_each(|(at, item)| builder.add(entry(at, item)));
    (builder.finish(Seq(1)), items)
}

/// The products that are verified to answer a query.
fn verified_for(query: &str, products: &[(&str, &str, &str)]) -> Vec<u64> {
    let (index, _) = catalog(products);
    let parsed = ParseOptions::default().parse(query, &|_| false);
    let plan = Plan::of(&parsed, Visibility::VisibleOnly, 0, 10);
    let mut verified = Vec::new();
    let result = index.snapshot().search(&plan, |undecided| {
        verified = undecided.iter().map(|id| id.get()).collect();
        Ok::<_, Infallible>(Vec::new())
    });
    result.unwrap();
    verified
}

#[test]
fn texts_are_verified_only_where_terms_do_not_decide() {
    let products = [
        ("shoe", "leather", "$5"),
        ("shoe", "no leather", "$5"),
        ("shoe", "leather-free", "$50"),
        ("lamp", "no leather", "$5"),
        ("shoe", "of leather with a rubber sole", "$5"),
        ("shoe", "canvas", "$5"),
    ];
    assert_eq!(verified_for("shoe without leather", &products), [] as [u64; 0]);
    assert_eq!(verified_for("without leather", &products), [] as [u64; 0]);
    assert_eq!(verified_for("shoe without leather soles", &products), [5]);
    assert_eq!(verified_for("shoe without leather soles over $20", &products), [] as [u64; 0]);
    assert_eq!(verified_for("shoe", &products), [] as [u64; 0]);
}

/// Words that negate others are in every text, as in shops that print the same terms everywhere.
#[test]
fn boilerplate_leaves_nothing_to_verify() {
    let boilerplate = "Free shipping on all orders, no questions asked, returns without a fuss.";
    let materials = ["Made of cotton.", "It is cotton-free.", "Made of wool."];
    let texts: Vec<_> =
        (0..300).map(|number| format!("{} {boilerplate}", materials[number % 3])).collect();
    let products: Vec<_> = texts.iter().map(|text| ("shirt", text.as_str(), "$20")).collect();
    for query in ["shirt not cotton", "not cotton", "shirt without cotton under $50"] {
        assert_eq!(verified_for(query, &products), [] as [u64; 0], "{query}");
    }
}

#[test]
fn a_bounded_number_of_texts_is_verified_and_the_rest_is_reported() {
    // Both words, but adjacent in every tenth product alone.
    let description = |number: usize| match number % 10 {
        0 => "dark leather",
        _ => "leather laces, dark sole",
    };
    let count = MAX_VERIFIED + 200;
    let titles: Vec<String> = (0..count)
        .map(|number| if number < 300 { "shoe".to_owned() } else { format!("shoe {number} x y z") })
        .collect();
    let products: Vec<(&str, &str, &str)> =
        (0..count).map(|number| (&*titles[number], description(number), "$5")).collect();
    let (index, items) = catalog(&products);
    for query in ["shoe without dark leather", "without dark leather"] {
        let parsed = ParseOptions::default().parse(query, &|_| false);
        let plan = Plan::of(&parsed, Visibility::VisibleOnly, 0, count);
        let mut verified = Vec::new();
        let Ok(found) = index.snapshot().search(&plan, |undecided| {
            verified = undecided.to_vec();
            let is_rejected = |id: &ProductId| {
                let item = item_of(&items, *id);
                !parsed.allows(&item.title, &item.description, "")
            };
            Ok::<_, Infallible>(undecided.iter().copied().filter(is_rejected).collect())
        });
        assert_eq!((verified.len(), found.unverified), (MAX_VERIFIED, 200), "{query}");
        let ids: Vec<ProductId> = found.hits.iter().map(|hit| hit.product).collect();
        assert_eq!(
            (found.total, ids.len()),
            (MAX_VERIFIED * 9 / 10, MAX_VERIFIED * 9 / 10),
            "{query}"
        );
        for id in &ids {
            let item = item_of(&items, *id);
            assert!(parsed.allows(&item.title, &item.description, ""), "{query}");
        }
        // The best, or the newest, are verified.
        match plan.kind {
            QueryKind::Terms(_) => {
                assert!((0..300).filter(|at| at % 10 > 0).all(|at| ids.contains(&id(at))));
            }
            QueryKind::MatchAll => {
                assert!(!verified.contains(&id(0)) && verified.contains(&id(count - 1)));
            }
        }
    }
}

#[test]
fn a_search_past_its_deadline_returns_nothing_and_leaves_no_state() {
    let (index, items) = catalog(&[("red shoe", "leather", "$5"), ("red shoe", "canvas", "$5")]);
    for query in ["red shoe", "shoe not leather", "under $20"] {
        let parsed = ParseOptions::default().parse(query, &|_| false);
        let plan = Plan::of(&parsed, Visibility::VisibleOnly, 0, 10);
        let whole = run(&index, &items, &parsed, &plan);
        let late = Plan { deadline: Some(Instant::now()), ..plan.clone() };
        let cut = run(&index, &items, &parsed, &late);
        assert_eq!(cut, Matches { timed_out: true, ..Matches::default() }, "{query}");
        let in_time = Some(Instant::now() + Duration::from_secs(600));
        let in_time = Plan { deadline: in_time, ..plan };
        assert_eq!(run(&index, &items, &parsed, &in_time), whole, "{query}");
    }
}

#[test]
fn equal_prices_are_ordered_by_score() {
    let (index, items) = catalog(&[
        ("blue shoe", "", "$5"),
        ("red shoe", "", "$5.00"),
        ("red shoe", "", "$4"),
        ("red shoe", "", "$5"),
    ]);
    let order = |query: &str| {
        let parsed = ParseOptions::default().parse(query, &|_| false);
        let plan = Plan::of(&parsed, Visibility::VisibleOnly, 0, 10);
        let found = run(&index, &items, &parsed, &plan);
        found.hits.iter().map(|hit| hit.product.get()).collect::<Vec<_>>()
    };
    assert_eq!(order("cheapest red shoe"), [3, 2, 4, 1]);
    assert_eq!(order("most expensive red shoe"), [2, 4, 1, 3]);
    assert_eq!(order("newest red shoe"), [4, 3, 2, 1]);
    assert_eq!(order("cheapest"), [3, 1, 2, 4]);
}
