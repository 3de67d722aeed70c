//! The search row of a product: its words as a tsvector, field lengths, price, visibility and
//! attributes.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write,
};

use catalog::{
    analysis,
    attributes::{AttributeValue, Attributes},
    filter::FoldedText,
    inference::Inferred,
    price::Price,
    product::Product,
    ranking::FieldLength,
};
use serde_json::json;

use super::{
    super::{session::OwnedValue, statements::Sql},
    labels, statements,
};
use crate::inference::taxonomy;

/// The greatest position that a tsvector can store.
const MAX_POSITION: usize = 16_383;
/// Words beyond this position have the greatest one, so that no phrase ends in them.
const LAST_POSITION: usize = MAX_POSITION - 3;
/// A tsvector is smaller than 1 MiB. Only hundreds of long attributes can exceed it; what does not
/// fit is not found by its words.
const MAX_BYTES: usize = 1_000_000;
/// An upper bound of the bytes of a word besides its text.
const WORD_BYTES: usize = 6;
/// Fewer products are analysed on one thread.
const MIN_IN_PARALLEL: usize = 200;
/// Gap between the positions of two texts, larger than any phrase distance.
const TEXT_GAP: usize = 16;

/// The version of search rows (`search_inference` of the schema): of the inference and of the text
/// analysis that make them. Neither ever decreases, so their sum changes with either.
pub(in super::super) const VERSION: i16 = Inferred::VERSION as i16 + analysis::VERSION;

/// An amount above all prices.
pub(crate) const ABOVE_PRICES: &str = "1e30";
/// The amount of a price that cannot be parsed: it sorts after all prices, and no price condition
/// reaches it.
pub(crate) const NO_PRICE: &str = "2e30";

/// Where a shop is searched (`shops.search_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SearchState {
    /// In memory; the shop has no search rows.
    #[default]
    InMemory,
    /// In memory, while its search rows are created. Every write maintains the rows.
    Backfilling,
    /// In the database.
    InDatabase,
}

impl SearchState {
    pub(in super::super) fn of_column(number: i16) -> Self {
        match number {
            0 => Self::InMemory,
            1 => Self::Backfilling,
            _ => Self::InDatabase,
        }
    }

    pub(in super::super) fn column(self) -> i16 {
        match self {
            Self::InMemory => 0,
            Self::Backfilling => 1,
            Self::InDatabase => 2,
        }
    }
}

/// The statements that update a shop's search rows and statistics: `kept` products were created or
/// changed, those with the ids `deleted` are gone.
pub(in super::super) fn statements_for(
    shop: i64,
    kept: &[&Product],
    deleted: &[i64],
) -> Vec<(Sql, Vec<OwnedValue>)> {
    let rows = in_parallel(kept, |product| {
        let document = Document::of(product);
        let labels = labels::tsvector(&product.attributes, &product.inferred);
        let values = counted_values(&product.attributes, &product.inferred);
        (document.tsvector(), labels, values, document)
    });
    let (mut vectors, mut labels, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut documents = Vec::with_capacity(rows.len());
    for (vector, label, value, document) in rows {
        vectors.push(vector);
        labels.push(label);
        values.push(value);
        documents.push(document);
    }
    let ids: Vec<i64> = kept.iter().map(|product| product.id.get().cast_signed()).collect();
    let touched: Vec<i64> = ids.iter().chain(deleted).copied().collect();
    let hidden: Vec<bool> = documents.iter().map(|document| document.hidden).collect();
    let titles: Vec<i32> = documents.iter().map(|document| document.title_words).collect();
    let descriptions: Vec<i32> =
        documents.iter().map(|document| document.description_words).collect();
    let (title_sum, hidden_title_sum) = sums(&titles, &hidden);
    let (description_sum, hidden_description_sum) = sums(&descriptions, &hidden);
    let (words, products, hidden_products) = doc_freqs(&documents);
    let mut all: Vec<(Sql, Vec<OwnedValue>)> = vec![
        // The statistics first: they subtract what the old rows contributed.
        (
            statements::UPDATE_DOC_FREQS,
            vec![
                Box::new(shop),
                Box::new(touched.clone()),
                Box::new(words),
                Box::new(products),
                Box::new(hidden_products),
            ],
        ),
        (
            statements::UPDATE_LENGTHS,
            vec![
                Box::new(shop),
                Box::new(touched),
                Box::new(title_sum),
                Box::new(description_sum),
                Box::new(hidden_title_sum),
                Box::new(hidden_description_sum),
            ],
        ),
    ];
    if !kept.is_empty() {
        let column = |of: fn(&Product) -> String| -> Vec<String> {
            kept.iter().map(|product| of(product)).collect()
        };
        let values: Vec<OwnedValue> = vec![
            Box::new(shop),
            Box::new(ids),
            Box::new(hidden),
            Box::new(column(|product| amount(&product.price))),
            Box::new(column(|product| currency(&product.price))),
            Box::new(titles),
            Box::new(descriptions),
            Box::new(vectors),
            Box::new(labels),
            Box::new(values),
        ];
        all.push((statements::UPSERT_SEARCH_ROWS, values));
    }
    if !deleted.is_empty() {
        let values: Vec<OwnedValue> = vec![Box::new(shop), Box::new(deleted.to_vec())];
        all.push((statements::DELETE_SEARCH_ROWS, values));
    }
    all
}

/// Maps products, on two threads if they are many: a backfill waits for it.
fn in_parallel<T: Send>(products: &[&Product], map: impl Fn(&Product) -> T + Sync) -> Vec<T> {
    let on_one =
        |products: &[&Product]| -> Vec<T> { products.iter().map(|one| map(one)).collect() };
    if products.len() < MIN_IN_PARALLEL {
        return on_one(products);
    }
    let (first, second) = products.split_at(products.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| on_one(second));
        let mut all = on_one(first);
        match second.join() {
            Ok(second) => all.extend(second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        all
    })
}

/// The words of documents, how many contain each, and how many of these are hidden.
fn doc_freqs(documents: &[Document]) -> (Vec<String>, Vec<i32>, Vec<i32>) {
    let mut counts: BTreeMap<&str, (i32, i32)> = BTreeMap::new();
    for document in documents {
        for word in document.words.keys() {
            let (products, hidden) = counts.entry(word).or_default();
            *products += 1;
            *hidden += i32::from(document.hidden);
        }
    }
    let (mut words, mut products, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
    for (word, count) in counts {
        words.push(word.to_owned());
        products.push(count.0);
        hidden.push(count.1);
    }
    (words, products, hidden)
}

/// The sum of field lengths over all products, and over the hidden ones among them.
fn sums(lengths: &[i32], hidden: &[bool]) -> (i64, i64) {
    let each = || lengths.iter().map(|length| i64::from(*length)).zip(hidden);
    let sum = each().map(|(length, _)| length).sum();
    let hidden = each().filter(|(_, hidden)| **hidden).map(|(length, _)| length).sum();
    (sum, hidden)
}

/// The amount that price conditions and orders compare.
fn amount(price: &Price) -> String {
    price.money().map_or_else(|| NO_PRICE.to_owned(), |money| money.amount.to_string())
}

/// The currency code; empty if the price cannot be parsed.
fn currency(price: &Price) -> String {
    price.money().map(|money| money.currency.code().to_owned()).unwrap_or_default()
}

/// The name under which the id of the category is counted. No attribute has it.
pub(super) const CATEGORY: &str = "@category";

/// Attributes and category as JSON, with inferred values where the merchant states none. Of several
/// strings of a product that facets count as the same value, the first is a string and each other
/// one an array with it: a further spelling.
fn counted_values(attributes: &Attributes, inferred: &Inferred) -> String {
    let json = |value: &AttributeValue| match value {
        AttributeValue::Texts(texts) => {
            let mut seen = HashSet::new();
            let json = texts.iter().map(|text| match seen.insert(FoldedText::of(text)) {
                true => json!(text),
                false => json!([text]),
            });
            json.collect()
        }
        AttributeValue::Text(text) => json!(text),
        AttributeValue::Number(number) => json!(number.get()),
        AttributeValue::Boolean(boolean) => json!(boolean),
    };
    let named = attributes.iter().map(|(name, value)| (name.as_str().to_owned(), json(value)));
    let mut named: serde_json::Map<String, serde_json::Value> = named.collect();
    for (attribute, value) in labels::unstated(attributes, inferred) {
        let values = named.entry(attribute.name()).or_insert_with(|| json!([]));
        values.as_array_mut().into_iter().for_each(|values| values.push(json!(value)));
    }
    if let Some(category) = inferred.category_index() {
        named.insert(CATEGORY.to_owned(), json!(taxonomy().id(category)));
    }
    serde_json::Value::Object(named).to_string()
}

/// The field that a word is in, as the weight of a tsvector.
#[derive(Clone, Copy)]
enum Field {
    Title,
    Description,
    /// A string of an attribute, or the key.
    Attribute,
}

impl Field {
    fn weight(self) -> &'static str {
        match self {
            Self::Title => "A",
            Self::Attribute => "B",
            // D
            Self::Description => "",
        }
    }
}

/// The texts of a product, tokenised as the index does it.
struct Document {
    /// Each word with its positions, ascending, and their fields.
    words: BTreeMap<Box<str>, Vec<(usize, Field)>>,
    /// The greatest position so far.
    end: usize,
    /// An upper bound of the bytes that the tsvector takes.
    bytes: usize,
    /// Field lengths, rounded as the ranking rounds them.
    title_words: i32,
    description_words: i32,
    hidden: bool,
}

impl Document {
    fn of(product: &Product) -> Self {
        let (words, hidden) = (BTreeMap::new(), product.hidden);
        let mut document =
            Self { words, end: 0, bytes: 0, title_words: 0, description_words: 0, hidden };
        let length = |words: usize| FieldLength::of(words).words().cast_signed();
        document.title_words = length(document.add(product.title.as_str(), Field::Title));
        document.description_words =
            length(document.add(product.description.as_str(), Field::Description));
        let texts = product.attributes.iter().flat_map(|(_, value)| value.texts());
        for text in texts {
            document.add(text, Field::Attribute);
        }
        if let Some(key) = &product.key {
            document.add(key.as_str(), Field::Attribute);
        }
        document
    }

    /// Adds the words of a text and returns their number.
    fn add(&mut self, text: &str, field: Field) -> usize {
        let mut count = 0;
        analysis::for_each_word(text, |word| {
            count += 1;
            self.add_word(word, self.end + count, field);
        });
        self.end += count + TEXT_GAP;
        count
    }

    fn add_word(&mut self, word: &str, position: usize, field: Field) {
        self.bytes += word.len() + WORD_BYTES;
        if self.bytes > MAX_BYTES {
            return;
        }
        let position = if position > LAST_POSITION { MAX_POSITION } else { position };
        let positions = self.words.entry(word.into()).or_default();
        if positions.last().is_none_or(|(last, _)| *last < position) {
            positions.push((position, field));
        }
    }

    /// The textual form of a tsvector.
    fn tsvector(&self) -> String {
        let mut text = String::new();
        for (word, positions) in &self.words {
            quote(word, &mut text);
            for (at, (position, field)) in positions.iter().enumerate() {
                let (separator, weight) = (if at == 0 { ':' } else { ',' }, field.weight());
                // Writing to a string cannot fail.
                let _ = write!(text, "{separator}{position}{weight}");
            }
            text.push(' ');
        }
        text
    }
}

/// Appends a word, quoted as tsvector and tsquery require it.
pub(super) fn quote(word: &str, text: &mut String) {
    text.push('\'');
    for c in word.chars() {
        if matches!(c, '\'' | '\\') {
            text.push(c);
        }
        text.push(c);
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    use catalog::{
        attributes::AttributeName,
        change::Seq,
        key::Key,
        price::Price,
        product::{Description, Draft, ProductId, ShopId, Title},
    };
    use jiff::Timestamp;

    use super::*;
    use crate::inference::infer;

    #[test]
    fn a_tsvector_has_index_words_with_positions_and_fields() {
        let brand = AttributeName::parse("brand").unwrap();
        let draft = Draft {
            description: Description::parse("WD-40").unwrap(),
            attributes: Attributes::new(vec![(brand, AttributeValue::Text("Red Co".into()))]),
            key: Some(Key::parse("wd-9").unwrap()),
            ..Draft::new(Title::parse("Sofas, red sofa").unwrap(), Price::parse("$5").unwrap())
        };
        let (id, shop) = (ProductId::new(1).unwrap(), ShopId::new(1).unwrap());
        let product =
            Product::create(id, shop, draft, Inferred::default(), Timestamp::UNIX_EPOCH, Seq(1));
        let document = Document::of(&product);
        let expected = "'40':21 '9':58B 'co':40B 'red':2A,39B 'sofa':1A,3A 'wd':20,57B 'wd40':22 \
                        'wd9':59B";
        assert_eq!(document.tsvector().trim(), expected);
        assert_eq!((document.title_words, document.description_words), (3, 3));
    }

    #[test]
    fn further_spellings_of_a_value_are_marked() {
        let texts = AttributeValue::Texts(["Red".into(), "blue".into(), "RED".into()].into());
        let color = AttributeName::parse("color").unwrap();
        let attributes = Attributes::new(vec![(color, texts)]);
        let inferred = Inferred::default();
        assert_eq!(counted_values(&attributes, &inferred), r#"{"color":["Red","blue",["RED"]]}"#);
        assert_eq!(counted_values(Attributes::none(), &inferred), "{}");
        let inferred = infer("Green and white linen dress", "", Attributes::none());
        let category = taxonomy().id(inferred.category_index().unwrap());
        let expected = json!({"color": ["Red", "blue", ["RED"]], "material": ["linen"],
            "@category": category});
        assert_eq!(counted_values(&attributes, &inferred), expected.to_string());
        let expected = json!({"color": ["white", "green"], "material": ["linen"],
            "@category": category});
        assert_eq!(counted_values(Attributes::none(), &inferred), expected.to_string());
    }

    #[test]
    fn words_are_quoted() {
        let mut text = String::new();
        quote("o'n\\e", &mut text);
        assert_eq!(text, "'o''n\\\\e'");
    }
}
