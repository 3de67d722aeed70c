//! What does the database keep of a product that it searches itself? Its words as the index has
//! them, its lengths, its price, and whether it is hidden.

use std::{collections::BTreeMap, fmt::Write};

use catalog::{analysis, price::Price, product::Product, ranking::FieldLength};

use super::{
    session::OwnedValue,
    statements::{Sql, search},
};

/// The greatest position that a text search vector has.
const LAST_POSITION: usize = 16_383;
/// Words of title and description are further apart than any phrase.
const BETWEEN_FIELDS: usize = 16;

/// More than any price.
pub(crate) const ABOVE_PRICES: &str = "1e30";
/// The amount of a price that cannot be parsed: it comes after all prices, and no condition on
/// prices reaches so far.
pub(crate) const NO_PRICE: &str = "2e30";

/// How a shop is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SearchState {
    /// In memory.
    #[default]
    InMemory,
    /// In memory, while its rows are being made.
    Filling,
    /// Here.
    InDatabase,
}

impl SearchState {
    pub(super) fn of_column(number: i16) -> Self {
        match number {
            0 => Self::InMemory,
            1 => Self::Filling,
            _ => Self::InDatabase,
        }
    }

    pub(super) fn column(self) -> i16 {
        match self {
            Self::InMemory => 0,
            Self::Filling => 1,
            Self::InDatabase => 2,
        }
    }
}

/// The statements that let a shop's rows follow its products: those that are kept, as they are now,
/// and those that are gone.
pub(super) fn statements_for(
    shop: i64,
    kept: &[&Product],
    gone: &[i64],
) -> Vec<(Sql, Vec<OwnedValue>)> {
    let said: Vec<Said> = kept.iter().map(|product| Said::by(product)).collect();
    let kept_ids = || kept.iter().map(|product| product.id.get().cast_signed());
    let touched: Vec<i64> = kept_ids().chain(gone.iter().copied()).collect();
    let vectors: Vec<String> = said.iter().map(Said::vector).collect();
    let hidden: Vec<bool> = kept.iter().map(|product| product.hidden).collect();
    // Over all that are kept, and over the hidden ones among them.
    let sums = |of: fn(&Said) -> i32| {
        let each = || said.iter().map(|said| i64::from(of(said))).zip(&hidden);
        let sum = each().map(|(words, _)| words).sum::<i64>();
        let hidden = each().filter(|(_, hidden)| **hidden).map(|(words, _)| words).sum::<i64>();
        (sum, hidden)
    };
    let (title, hidden_title) = sums(|said| said.title_words);
    let (description, hidden_description) = sums(|said| said.description_words);
    let mut all: Vec<(Sql, Vec<OwnedValue>)> = vec![
        // Before the rows: they still say what was said.
        (
            search::COUNT_SEARCH_WORDS,
            vec![
                Box::new(shop),
                Box::new(touched.clone()),
                Box::new(vectors.clone()),
                Box::new(hidden.clone()),
            ],
        ),
        (
            search::COUNT_LENGTHS,
            vec![
                Box::new(shop),
                Box::new(touched),
                Box::new(title),
                Box::new(description),
                Box::new(hidden_title),
                Box::new(hidden_description),
            ],
        ),
    ];
    if !kept.is_empty() {
        all.push((
            search::UPSERT_SEARCH_ROWS,
            vec![
                Box::new(shop),
                Box::new(kept_ids().collect::<Vec<_>>()),
                Box::new(hidden),
                Box::new(kept.iter().map(|product| amount(&product.price)).collect::<Vec<_>>()),
                Box::new(kept.iter().map(|product| currency(&product.price)).collect::<Vec<_>>()),
                Box::new(said.iter().map(|said| said.title_words).collect::<Vec<_>>()),
                Box::new(said.iter().map(|said| said.description_words).collect::<Vec<_>>()),
                Box::new(vectors),
            ],
        ));
    }
    if !gone.is_empty() {
        all.push((search::DELETE_SEARCH_ROWS, vec![Box::new(shop), Box::new(gone.to_vec())]));
    }
    all
}

/// What a price is compared by.
fn amount(price: &Price) -> String {
    price.money().map_or_else(|| NO_PRICE.to_owned(), |money| money.amount.to_string())
}

/// The currency of a price; none where it cannot be parsed.
fn currency(price: &Price) -> String {
    price.money().map(|money| money.currency.code().to_owned()).unwrap_or_default()
}

/// What a product says.
struct Said {
    /// Each word with its places, and whether they are in the title.
    words: BTreeMap<Box<str>, Vec<(usize, bool)>>,
    title_words: i32,
    description_words: i32,
}

impl Said {
    fn by(product: &Product) -> Self {
        let mut said = Self { words: BTreeMap::new(), title_words: 0, description_words: 0 };
        let title = said.read(product.title.as_str(), 0, true);
        let description = said.read(product.description.as_str(), title + BETWEEN_FIELDS, false);
        // As the ranking counts them.
        let length = |words: usize| FieldLength::of(words).words().cast_signed();
        (said.title_words, said.description_words) = (length(title), length(description));
        said
    }

    /// Takes the words of a field in and says how many there are.
    fn read(&mut self, text: &str, start: usize, is_title: bool) -> usize {
        let mut count = 0;
        analysis::for_each_word(text, |word| {
            count += 1;
            let place = (start + count).min(LAST_POSITION);
            let places = self.words.entry(word.into()).or_default();
            if places.last().is_none_or(|(last, _)| *last < place) {
                places.push((place, is_title));
            }
        });
        count
    }

    /// As a text search vector is written.
    fn vector(&self) -> String {
        let mut text = String::new();
        for (word, places) in &self.words {
            quote(word, &mut text);
            for (at, (place, is_title)) in places.iter().enumerate() {
                let (sign, weight) =
                    (if at == 0 { ':' } else { ',' }, if *is_title { "A" } else { "" });
                // Writing to a string cannot fail.
                let _ = write!(text, "{sign}{place}{weight}");
            }
            text.push(' ');
        }
        text
    }
}

/// Writes a word as text search vectors and queries have it.
pub(crate) fn quote(word: &str, text: &mut String) {
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
    fn a_vector_has_our_words_with_places_and_fields() {
        let draft = Draft {
            title: Title::parse("Sofas, red sofa").unwrap(),
            description: Description::parse("WD-40").unwrap(),
            price: Price::parse("$5").unwrap(),
            hidden: false,
            media: vec![],
        };
        let (id, shop) = (ProductId::new(1).unwrap(), ShopId::new(1).unwrap());
        let product = Product::create(id, shop, draft, Timestamp::UNIX_EPOCH, Seq(1));
        let said = Said::by(&product);
        assert_eq!(said.vector().trim(), "'40':21 'red':2A 'sofa':1A,3A 'wd':20 'wd40':22");
        assert_eq!((said.title_words, said.description_words), (3, 3));
    }

    #[test]
    fn words_are_quoted() {
        let mut text = String::new();
        quote("o'n\\e", &mut text);
        assert_eq!(text, "'o''n\\\\e'");
    }
}
