//! The search row of a product: its words as a tsvector, field lengths, price, visibility and
//! attributes.

use std::collections::HashSet;

use catalog::{
    product::{
        Product,
        attributes::{AttributeValue, Attributes},
        inferred::Inferred,
        price::Price,
    },
    query::filter::FoldedText,
    text::analysis,
};
use embed::inference::taxonomy;
use index::parallel::map_parts;
use serde_json::json;

use super::{
    super::{session::OwnedValue, statements::Sql},
    document::Document,
    labels, statements,
    statistics::Statistics,
};

/// Products that are worth another thread to be analysed.
const MIN_PER_THREAD: usize = 100;

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
pub enum SearchState {
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
    let make = |products: &[&Product]| -> Vec<SearchRow> {
        products.iter().map(|product| SearchRow::of(product)).collect()
    };
    let mut statistics = Statistics::default();
    let made = map_parts(kept, 2, MIN_PER_THREAD, make).into_iter().flatten();
    let rows = SearchRows::of(made, &mut statistics);
    let touched: Vec<i64> = rows.ids.iter().chain(deleted).copied().collect();
    // The statistics first: they subtract what the old rows contributed.
    let mut all = statistics.update(shop, touched);
    if !kept.is_empty() {
        all.push(rows.upsert(shop));
    }
    if !deleted.is_empty() {
        let values: Vec<OwnedValue> = vec![Box::new(shop), Box::new(deleted.to_vec())];
        all.push((statements::DELETE_SEARCH_ROWS, values));
    }
    all
}

/// The search row of a product.
pub(super) struct SearchRow {
    id: i64,
    amount: String,
    currency: String,
    words: String,
    labels: String,
    values: String,
    document: Document,
}

impl SearchRow {
    pub(super) fn of(product: &Product) -> Self {
        let document = Document::of(product);
        Self {
            id: product.id.get().cast_signed(),
            amount: amount(&product.price),
            currency: currency(&product.price),
            words: document.tsvector(),
            labels: labels::tsvector(&product.attributes, &product.inferred),
            values: counted_values(&product.attributes, &product.inferred),
            document,
        }
    }
}

/// Search rows, column by column.
#[derive(Default)]
pub(super) struct SearchRows {
    ids: Vec<i64>,
    amounts: Vec<String>,
    currencies: Vec<String>,
    words: Vec<String>,
    labels: Vec<String>,
    values: Vec<String>,
    hidden: Vec<bool>,
    title_words: Vec<i32>,
    description_words: Vec<i32>,
}

impl SearchRows {
    /// Adds to `statistics` what the rows contribute.
    pub(super) fn of(
        rows: impl IntoIterator<Item = SearchRow>,
        statistics: &mut Statistics,
    ) -> Self {
        let mut all = Self::default();
        for row in rows {
            statistics.add(&row.document);
            all.ids.push(row.id);
            all.amounts.push(row.amount);
            all.currencies.push(row.currency);
            all.words.push(row.words);
            all.labels.push(row.labels);
            all.values.push(row.values);
            all.hidden.push(row.document.hidden);
            all.title_words.push(row.document.title_words);
            all.description_words.push(row.document.description_words);
        }
        all
    }

    /// The statement that inserts or replaces them.
    pub(super) fn upsert(self, shop: i64) -> (Sql, Vec<OwnedValue>) {
        let values: Vec<OwnedValue> = vec![
            Box::new(shop),
            Box::new(self.ids),
            Box::new(self.hidden),
            Box::new(self.amounts),
            Box::new(self.currencies),
            Box::new(self.title_words),
            Box::new(self.description_words),
            Box::new(self.words),
            Box::new(self.labels),
            Box::new(self.values),
        ];
        (statements::UPSERT_SEARCH_ROWS, values)
    }
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

#[cfg(test)]
mod tests {
    use catalog::product::attributes::AttributeName;
    use embed::inference::infer;

    use super::*;

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
}
