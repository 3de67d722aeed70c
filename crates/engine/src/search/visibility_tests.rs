//! Property test: what a shopper gets is what it would get if all hidden products were deleted.

use catalog::{
    product::{
        Description, Draft, Product, Title,
        access::{Caller, Role},
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        key::Key,
        price::Price,
    },
    query::{
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        sort::{Direction, Sort},
    },
    ranking::facets::FacetField,
};
use proptest::prelude::*;

use super::{
    SearchRequest, SimilarRequest,
    conformance::{
        Observed,
        shop::{OpenSource, TestShop, request, shop_id, shopper, similar_in},
    },
};

/// Similar words, words with common prefixes and words that are variants of each other, so that
/// one product more or less changes corrections, document frequencies and the cut-off.
const WORDS: [&str; 26] = [
    "zyph",
    "zyphronix",
    "zyphronic",
    "sofa",
    "sofas",
    "sofabed",
    "bed",
    "lamp",
    "lamps",
    "lampshade",
    "clamp",
    "cotton",
    "cotten",
    "cotton-free",
    "no",
    "free",
    "leather",
    "lether",
    "storage",
    "storge",
    "tower",
    "towel",
    "under",
    "armour",
    "5 ft.",
    "wd-40",
];

const QUERIES: [&str; 24] = [
    "zyphronix 1",
    "lamp 7",
    "zyph",
    "zyphronixx",
    "sofa",
    "sofa bed",
    "sofbaed lamp",
    "lmap",
    "lampshad",
    "storage towr",
    "storge tower",
    "towl",
    "cotten towel",
    "towels without cotton",
    "not leather",
    "sofa without lether bed",
    "under armour",
    "lamp under 40",
    "cheapest lamp under $20 not cotten",
    "newest",
    "5' clamp",
    "wd40",
    "something to sit on",
    "xyzzy",
];

/// What shoppers search for: all queries with facets, and filters without a query.
fn requests() -> Vec<SearchRequest> {
    let name = |raw| AttributeName::parse(raw).unwrap();
    let facets = || vec![FacetField::Attribute(name("kind")), FacetField::Price];
    let queries = QUERIES.iter().map(|query| request(query, 50));
    let filter = |texts: &[&str]| {
        let texts = texts.iter().map(|text| FoldedText::of(text)).collect();
        let all = vec![Condition::Attribute(name("kind"), AttributeTest::AnyOf(texts))];
        ProductFilter { all, none: Vec::new() }
    };
    let filters = [filter(&["sofa", "lamp"]), filter(&["ZYPH"])];
    let filters = filters.into_iter().flat_map(|filter| {
        let size = Sort::Attribute(name("size"), Direction::Descending);
        let all = SearchRequest { query: None, sort: Some(size), ..request("any", 50) };
        [all, request("sofa lamp", 50)].map(|one| SearchRequest { filter: filter.clone(), ..one })
    });
    queries.chain(filters).map(|one| SearchRequest { facets: facets(), ..one }).collect()
}

/// All that a shopper observes of these products.
fn observe(
    shop: &TestShop,
    source: &dyn OpenSource,
    created: &[Product],
) -> (Vec<Observed>, Vec<Option<Vec<Product>>>) {
    let search = |request: SearchRequest| shop.search_in(source, &shopper(), &request).unwrap();
    let pass = Caller::new(shop_id(), Role::Shopper).may_read();
    let similar = |product: &Product| {
        let request = SimilarRequest { product: product.id, limit: 50, include_hidden: false };
        similar_in(source, &pass, &request)
    };
    (
        requests().into_iter().map(|request| Observed::of(search(request))).collect(),
        created.iter().map(similar).collect(),
    )
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), words)
        .prop_map(|words| words.join(" "))
}

fn attributes() -> impl Strategy<Value = Attributes> {
    let name = |raw| AttributeName::parse(raw).unwrap();
    let kind = prop::sample::select(vec!["sofa", "Sofa", "lamp", "leather", "Zyph", "towel"]);
    (prop::option::of(kind), prop::option::of(0_u8..4)).prop_map(move |(kind, size)| {
        let kind = kind.map(|kind| (name("kind"), AttributeValue::Text(kind.into())));
        let number = |size: u8| AttributeValue::Number(Number::new(size.into()).unwrap());
        Attributes::new(
            kind.into_iter().chain(size.map(|size| (name("size"), number(size)))).collect(),
        )
    })
}

fn draft() -> impl Strategy<Value = Draft> {
    let price = prop::sample::select(vec!["$5", "$19.99", "€20", "$40"]);
    (prop::bool::weighted(0.4), text(1..4), text(0..10), price, attributes()).prop_map(
        |(hidden, title, description, price, attributes)| Draft {
            description: Description::parse(&description).unwrap(),
            hidden,
            attributes,
            ..Draft::new(Title::parse(&title).unwrap(), Price::parse(price).unwrap())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn hidden_products_make_no_difference_to_a_shopper(
        groups in prop::collection::vec(prop::collection::vec(draft(), 1..30), 1..6),
    ) {
        let mut shop = TestShop::memory();
        let mut created = Vec::new();
        for mut drafts in groups {
            for (number, draft) in (created.len()..).zip(&mut drafts) {
                let word = WORDS[number % 8];
                let key = format!("{word} {number}");
                draft.key = (number % 3 > 0).then(|| Key::parse(&key).unwrap());
            }
            created.extend(shop.create(drafts));
        }
        let with_hidden = observe(&shop, &*shop.source, &created);
        let hidden: Vec<Product> = created.iter().filter(|one| one.hidden).cloned().collect();
        shop.delete(&hidden);
        let without = observe(&shop, &*shop.source, &created);
        for ((request, with), without) in requests().iter().zip(&with_hidden.0).zip(&without.0) {
            prop_assert_eq!(with, without, "{:?}", request);
        }
        prop_assert_eq!(&with_hidden.1, &without.1);
        prop_assert_eq!(&observe(&shop, &*shop.reference(), &created), &without, "loaded anew");
    }
}
