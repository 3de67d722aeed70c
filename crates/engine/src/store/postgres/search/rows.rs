//! The search row of a product: its words as a tsvector, field lengths, price and visibility.

use std::{collections::BTreeMap, fmt::Write};

use catalog::{analysis, price::Price, product::Product, ranking::FieldLength};

use super::{
    super::{session::OwnedValue, statements::Sql},
    statements,
};

/// The greatest position that a tsvector can store.
const MAX_POSITION: usize = 16_383;
/// Gap between the positions of title and description, larger than any phrase distance.
const FIELD_GAP: usize = 16;

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
    let documents: Vec<Document> = kept.iter().map(|product| Document::of(product)).collect();
    let ids: Vec<i64> = kept.iter().map(|product| product.id.get().cast_signed()).collect();
    let touched: Vec<i64> = ids.iter().chain(deleted).copied().collect();
    let vectors: Vec<String> = documents.iter().map(Document::tsvector).collect();
    let hidden: Vec<bool> = documents.iter().map(|document| document.hidden).collect();
    let titles: Vec<i32> = documents.iter().map(|document| document.title_words).collect();
    let descriptions: Vec<i32> =
        documents.iter().map(|document| document.description_words).collect();
    let (title_sum, hidden_title_sum) = sums(&titles, &hidden);
    let (description_sum, hidden_description_sum) = sums(&descriptions, &hidden);
    let mut all: Vec<(Sql, Vec<OwnedValue>)> = vec![
        // The statistics first: they subtract what the old rows contributed.
        (
            statements::UPDATE_DOC_FREQS,
            vec![
                Box::new(shop),
                Box::new(touched.clone()),
                Box::new(vectors.clone()),
                Box::new(hidden.clone()),
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
        let amounts: Vec<String> = kept.iter().map(|product| amount(&product.price)).collect();
        let currencies: Vec<String> = kept.iter().map(|product| currency(&product.price)).collect();
        let values: Vec<OwnedValue> = vec![
            Box::new(shop),
            Box::new(ids),
            Box::new(hidden),
            Box::new(amounts),
            Box::new(currencies),
            Box::new(titles),
            Box::new(descriptions),
            Box::new(vectors),
        ];
        all.push((statements::UPSERT_SEARCH_ROWS, values));
    }
    if !deleted.is_empty() {
        let values: Vec<OwnedValue> = vec![Box::new(shop), Box::new(deleted.to_vec())];
        all.push((statements::DELETE_SEARCH_ROWS, values));
    }
    all
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

/// The texts of a product, tokenised as the index does it.
struct Document {
    /// Each word with its positions, ascending, and whether each is in the title.
    words: BTreeMap<Box<str>, Vec<(usize, bool)>>,
    /// Field lengths, rounded as the ranking rounds them.
    title_words: i32,
    description_words: i32,
    hidden: bool,
}

impl Document {
    fn of(product: &Product) -> Self {
        let (words, hidden) = (BTreeMap::new(), product.hidden);
        let mut document = Self { words, title_words: 0, description_words: 0, hidden };
        let title = document.add(product.title.as_str(), 0, true);
        let description = document.add(product.description.as_str(), title + FIELD_GAP, false);
        let length = |words: usize| FieldLength::of(words).words().cast_signed();
        (document.title_words, document.description_words) = (length(title), length(description));
        document
    }

    /// Adds the words of a field and returns their number.
    fn add(&mut self, text: &str, start: usize, is_title: bool) -> usize {
        let mut count = 0;
        analysis::for_each_word(text, |word| {
            count += 1;
            let position = (start + count).min(MAX_POSITION);
            let positions = self.words.entry(word.into()).or_default();
            if positions.last().is_none_or(|(last, _)| *last < position) {
                positions.push((position, is_title));
            }
        });
        count
    }

    /// The textual form of a tsvector. Words of the title have weight A, others weight D.
    fn tsvector(&self) -> String {
        let mut text = String::new();
        for (word, positions) in &self.words {
            quote(word, &mut text);
            for (at, (position, is_title)) in positions.iter().enumerate() {
                let (separator, weight) =
                    (if at == 0 { ':' } else { ',' }, if *is_title { "A" } else { "" });
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
        change::Seq,
        price::Price,
        product::{Description, Draft, ProductId, ShopId, Title},
    };
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_tsvector_has_index_words_with_positions_and_fields() {
        let draft = Draft {
            description: Description::parse("WD-40").unwrap(),
            ..Draft::new(Title::parse("Sofas, red sofa").unwrap(), Price::parse("$5").unwrap())
        };
        let (id, shop) = (ProductId::new(1).unwrap(), ShopId::new(1).unwrap());
        let product = Product::create(id, shop, draft, Timestamp::UNIX_EPOCH, Seq(1));
        let document = Document::of(&product);
        let expected = "'40':21 'red':2A 'sofa':1A,3A 'wd':20 'wd40':22";
        assert_eq!(document.tsvector().trim(), expected);
        assert_eq!((document.title_words, document.description_words), (3, 3));
    }

    #[test]
    fn words_are_quoted() {
        let mut text = String::new();
        quote("o'n\\e", &mut text);
        assert_eq!(text, "'o''n\\\\e'");
    }
}
