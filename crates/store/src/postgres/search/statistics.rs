//! The statistics of a shop: how many products say a word, and how long titles and descriptions are.

use hashbrown::HashMap;

use super::{
    super::{session::OwnedValue, statements::Sql},
    document::Document,
    statements,
};

/// What search rows contribute to the statistics of their shop.
#[derive(Default)]
pub(super) struct Statistics {
    /// For each word, the number of products that contain it, and how many of these are hidden.
    doc_freqs: HashMap<String, (i32, i32)>,
    /// The words of all titles, and of those of hidden products.
    title_words: (i64, i64),
    /// The same for descriptions.
    description_words: (i64, i64),
}

impl Statistics {
    pub(super) fn add(&mut self, document: &Document) {
        let hidden = i32::from(document.hidden);
        for word in document.words() {
            let (products, hidden_products) = self.doc_freqs.entry_ref(word).or_default();
            *products += 1;
            *hidden_products += hidden;
        }
        let add = |sum: &mut (i64, i64), words: i32| {
            sum.0 += i64::from(words);
            sum.1 += i64::from(words * hidden);
        };
        add(&mut self.title_words, document.title_words);
        add(&mut self.description_words, document.description_words);
    }

    /// The statements that add this to the statistics of a shop, and subtract what the present search
    /// rows of the `replaced` products contribute.
    pub(super) fn update(self, shop: i64, replaced: Vec<i64>) -> Vec<(Sql, Vec<OwnedValue>)> {
        let mut doc_freqs: Vec<_> = self.doc_freqs.into_iter().collect();
        // The statement orders them, which is cheaper for the database where they are in order.
        doc_freqs.sort_unstable();
        let (words, (products, hidden_products)): (Vec<_>, (Vec<_>, Vec<_>)) =
            doc_freqs.into_iter().unzip();
        let (titles, hidden_titles) = self.title_words;
        let (descriptions, hidden_descriptions) = self.description_words;
        vec![
            (
                statements::UPDATE_DOC_FREQS,
                vec![
                    Box::new(shop),
                    Box::new(replaced.clone()),
                    Box::new(words),
                    Box::new(products),
                    Box::new(hidden_products),
                ],
            ),
            (
                statements::UPDATE_LENGTHS,
                vec![
                    Box::new(shop),
                    Box::new(replaced),
                    Box::new(titles),
                    Box::new(descriptions),
                    Box::new(hidden_titles),
                    Box::new(hidden_descriptions),
                ],
            ),
        ]
    }
}
