//! The index in memory as a source of searches. Rows come from the store.

use catalog::{
    product::{
        Product, ProductId,
        access::{ReadPass, Visibility},
        change::Seq,
    },
    query::parser::ParsedQuery,
    ranking::hits::Hit,
    text::vocabulary::{TermLookup, Vocabulary},
};
use embed::TextLanguage;
use index::{Plan, Snapshot};
use store::{SearchReads, StoreError};

use super::{Scored, SearchSource, StageTimer};

/// A snapshot of a shop's index, and the store that its products came from.
pub(crate) struct MemorySource<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) readers: &'a dyn SearchReads,
    pub(crate) pass: &'a ReadPass,
}

impl SearchSource for MemorySource<'_> {
    fn visibility(&self) -> Visibility {
        self.pass.visibility()
    }

    fn seq(&self) -> Seq {
        self.snapshot.seq()
    }

    fn contains_word(&self, word: &str) -> bool {
        self.snapshot.contains_term(word, self.visibility())
    }

    fn language(&self) -> TextLanguage {
        self.snapshot.language(self.visibility())
    }

    fn contains_key(&self, key: &str) -> bool {
        self.snapshot.contains_key(key, self.visibility())
    }

    fn with_vocabulary(&self, is_word: TermLookup, f: &mut dyn FnMut(&Vocabulary<'_>)) {
        self.snapshot.with_vocabulary(self.visibility(), is_word, f);
    }

    fn score(
        &self,
        plan: &Plan<'_>,
        parsed: &ParsedQuery,
        _: &mut StageTimer,
    ) -> Result<Scored, StoreError> {
        let matches = self.snapshot.search(plan, |in_doubt| {
            let allowed = |title: &str, description: &str, attributes: &str| {
                parsed.allows(title, description, attributes)
            };
            self.readers.rejected_by_text(self.pass.shop(), in_doubt, &allowed)
        })?;
        Ok(Scored { is_total_exact: matches.unverified == 0, matches })
    }

    fn most_similar(
        &self,
        product: ProductId,
        visibility: Visibility,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        Ok(self.snapshot.similar(product, visibility, limit))
    }

    fn products(&self, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.readers.hits(self.pass, ids)
    }
}
