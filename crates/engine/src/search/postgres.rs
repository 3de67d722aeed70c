//! PostgreSQL as a source of searches, for shops that are too large for memory.
//!
//! The database selects candidates; the index scores them with the statistics of the whole shop.
//! Searches without terms need no scores and are answered by the database alone.

use std::collections::{HashMap, HashSet};

use catalog::{
    product::{
        Product, ProductId,
        access::{ReadPass, Visibility},
        change::Seq,
    },
    query::{parser::ParsedQuery, sort::Sort},
    ranking::{
        facets::FacetField,
        hits::{Hit, Score},
    },
    text::{
        analysis::QueryTerms,
        vocabulary::{TermLookup, Vocabulary},
    },
};
use embed::TextLanguage;
use index::{
    CandidateIndex, Entry, EntryVectors, Matches, Plan, QueryKind, function_words, language_by,
};
use store::{
    StoreError,
    postgres_search::{
        CandidateRow, CandidateSelection, Candidates, Listed, Listing, PostgresSearch,
        SearchSnapshot, ShopStatistics, ShopVocabulary, similar_candidates,
    },
};

use super::{Scored, SearchSource, StageTimer};

/// One state of a shop in the database.
pub(crate) struct PostgresSource<'a, 'session> {
    snapshot: &'a SearchSnapshot<'session>,
    statistics: ShopStatistics,
    vocabulary: ShopVocabulary<'a, 'session>,
    search: &'a PostgresSearch,
    visibility: Visibility,
}

impl PostgresSource<'_, '_> {
    /// Runs `work` on the current state of the pass's shop; `None` if the shop is not searched in
    /// the database.
    pub(crate) fn with<T>(
        search: &PostgresSearch,
        pass: &ReadPass,
        work: impl FnOnce(&dyn SearchSource) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        search.with_snapshot(pass.shop(), |snapshot, statistics| {
            let visibility = pass.visibility();
            let products = statistics.corpus(visibility).products;
            let vocabulary = ShopVocabulary::new(snapshot, visibility, products);
            work(&PostgresSource { snapshot, statistics, vocabulary, search, visibility })
        })
    }
}

impl PostgresSource<'_, '_> {
    /// All products that satisfy the conditions, as the database orders and counts them.
    fn list(
        &self,
        plan: &Plan<'_>,
        parsed: &ParsedQuery,
        timer: &mut StageTimer,
    ) -> Result<Scored, StoreError> {
        // Reports errors of lookups.
        self.vocabulary.doc_freqs()?;
        let products = self.statistics.corpus(self.visibility).products as usize;
        let (snapshot, limits) = (self.snapshot, &self.search.limits);
        let listing = Listing { snapshot, limits, parsed, products };
        let Listed { mut ids, total, facets, mut is_exact } = listing.list(plan)?;
        let counts_inferred = plan.facets.iter().any(FacetField::uses_inference);
        is_exact &=
            self.are_rows_current(plan) && (self.statistics.are_rows_current || !counts_inferred);
        if matches!(plan.order, Sort::Price(_)) {
            // The database compares search rows. A product whose own price cannot be parsed comes
            // last on its page, whatever its search row says.
            let rows = self.snapshot.candidates(&ids, None)?;
            let unpriced = rows.iter().filter(|row| row.price.is_none()).map(|row| row.id);
            let unpriced: HashSet<ProductId> = unpriced.collect();
            ids.sort_by_key(|id| unpriced.contains(id));
        }
        count_search(is_exact);
        timer.end_stage("candidates")?;
        let version = self.statistics.seq;
        let hit = |product| Hit { product, version, score: Score(0.0) };
        let hits = ids.into_iter().map(hit).collect();
        let matches = Matches { total, hits, facets, ..Matches::default() };
        Ok(Scored { is_total_exact: is_exact, matches })
    }

    /// Whether the search rows decide the conditions of a plan as this version does.
    fn are_rows_current(&self, plan: &Plan<'_>) -> bool {
        let needs_current = plan.filter.uses_inference() || !plan.exclusions.is_empty();
        self.statistics.are_rows_current || !needs_current
    }

    /// The most relevant of the candidates.
    fn rank(
        &self,
        plan: &Plan<'_>,
        words: &QueryTerms,
        parsed: &ParsedQuery,
        timer: &mut StageTimer,
    ) -> Result<Scored, StoreError> {
        let with_key = plan.key.and_then(|key| self.vocabulary.with_key(key));
        let doc_freqs = self.vocabulary.doc_freqs()?;
        let corpus = self.statistics.corpus(self.visibility);
        let model = self.search.model.as_ref();
        let selection = CandidateSelection {
            snapshot: self.snapshot,
            limits: &self.search.limits,
            corpus,
            has_unseen: corpus.products < self.statistics.corpus(Visibility::All).products,
            doc_freqs: &doc_freqs,
            model,
            parsed,
            with_key,
        };
        let Candidates { rows, mut is_complete } = selection.select(plan, words)?;
        is_complete &= self.are_rows_current(plan);
        count_search(is_complete);
        timer.end_stage("candidates")?;

        let entries: Vec<Entry<'_>> = rows.iter().map(entry).collect();
        let matches = CandidateIndex::new(&entries, plan.threads, corpus, doc_freqs).search(
            plan,
            |in_doubt| {
                let in_doubt: HashSet<_> = in_doubt.iter().collect();
                let is_refused =
                    |row: &&CandidateRow| in_doubt.contains(&row.id) && !row.is_allowed_by(parsed);
                Ok::<_, StoreError>(rows.iter().filter(is_refused).map(|row| row.id).collect())
            },
        )?;
        Ok(Scored { is_total_exact: is_complete && matches.unverified == 0, matches })
    }
}

/// Counts a search by whether it considered all products.
fn count_search(is_complete: bool) {
    let path = if is_complete { "exact" } else { "candidates" };
    metrics::counter!("shopkeeper_database_searches_total", "path" => path).increment(1);
}

impl SearchSource for PostgresSource<'_, '_> {
    fn visibility(&self) -> Visibility {
        self.visibility
    }

    fn seq(&self) -> Seq {
        self.statistics.seq
    }

    fn prefetch_text(&self, text: &str) {
        self.vocabulary.prefetch_text(text);
    }

    fn prefetch_words(&self, words: &QueryTerms) {
        self.vocabulary.prefetch(&words.iter().map(str::to_owned).collect::<Vec<_>>());
    }

    fn contains_word(&self, word: &str) -> bool {
        self.vocabulary.doc_freq(word) > 0
    }

    fn language(&self) -> TextLanguage {
        self.vocabulary.prefetch(&function_words());
        language_by(|word| self.vocabulary.doc_freq(word))
    }

    fn contains_key(&self, key: &str) -> bool {
        self.vocabulary.with_key(key).is_some()
    }

    fn with_vocabulary(&self, is_word: TermLookup, f: &mut dyn FnMut(&Vocabulary<'_>)) {
        self.vocabulary.with(is_word, f);
    }

    fn score(
        &self,
        plan: &Plan<'_>,
        parsed: &ParsedQuery,
        timer: &mut StageTimer,
    ) -> Result<Scored, StoreError> {
        match &plan.kind {
            QueryKind::MatchAll => self.list(plan, parsed, timer),
            QueryKind::Terms(words) => self.rank(plan, words, parsed, timer),
        }
    }

    fn most_similar(
        &self,
        product: ProductId,
        visibility: Visibility,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        let model = self.search.model.as_ref();
        let ids = similar_candidates(self.snapshot, model, product, visibility, limit)?;
        let rows = self.snapshot.candidates(&ids, model)?;
        let entries: Vec<Entry<'_>> = rows.iter().map(entry).collect();
        let corpus = self.statistics.corpus(visibility);
        Ok(CandidateIndex::new(&entries, 1, corpus, HashMap::new())
            .similar(product, visibility, limit))
    }

    fn products(&self, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.snapshot.products(self.visibility, ids)
    }
}

/// A candidate as the index takes it.
fn entry(row: &CandidateRow) -> Entry<'_> {
    Entry {
        id: row.id,
        version: row.version,
        hidden: row.hidden,
        price: row.price,
        title: &row.title,
        description: &row.description,
        key: row.key.as_deref(),
        attributes: &row.attributes,
        inferred: row.inferred,
        vectors: row.vectors.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known),
    }
}
