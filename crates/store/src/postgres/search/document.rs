//! The texts of a product as words with positions and fields.

use std::{collections::BTreeMap, fmt::Write};

use catalog::{product::Product, ranking::bm25f::FieldLength, text::analysis};

use super::lexemes::quote;

/// The greatest position that a tsvector can store.
const MAX_POSITION: usize = 16_383;
/// Words beyond this position have the greatest one, so that no phrase ends in them.
const LAST_POSITION: usize = MAX_POSITION - 3;
/// A tsvector is smaller than 1 MiB. Only hundreds of long attributes can exceed it; what does not
/// fit is not found by its words.
const MAX_BYTES: usize = 1_000_000;
/// An upper bound of the bytes of a word besides its text.
const WORD_BYTES: usize = 6;
/// Gap between the positions of two texts, larger than any phrase distance.
const TEXT_GAP: usize = 16;

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
pub(super) struct Document {
    /// Each word with its positions, ascending, and their fields.
    words: BTreeMap<Box<str>, Vec<(usize, Field)>>,
    /// The greatest position so far.
    end: usize,
    /// An upper bound of the bytes that the tsvector takes.
    bytes: usize,
    /// Field lengths, rounded as the ranking rounds them.
    pub(super) title_words: i32,
    pub(super) description_words: i32,
    pub(super) hidden: bool,
}

impl Document {
    /// Each word once.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.keys().map(|word| &**word)
    }

    pub(super) fn of(product: &Product) -> Self {
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
    pub(super) fn tsvector(&self) -> String {
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

#[cfg(test)]
mod tests {
    use catalog::product::{
        Description, Draft, ProductId, ShopId, Title,
        attributes::{AttributeName, AttributeValue, Attributes},
        change::Seq,
        inferred::Inferred,
        key::Key,
        price::Price,
    };
    use jiff::Timestamp;

    use super::*;

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
}
