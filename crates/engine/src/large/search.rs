//! How is a query answered in a large shop? It is parsed as always, the database names
//! candidates, and they are ranked like products in memory.

use std::collections::HashSet;

use catalog::{access::ReadPass, product::ProductId};

use super::{
    LargeShops,
    candidates::{Candidates, Scout},
    words::Words,
};
use crate::{
    index::{CandidateIndex, Entry, EntryVector, Plan, QueryKind},
    meaning::QueryReader,
    search::{SearchRequest, SearchResults, Stages, meant},
    store::{CandidateRow, Glance, SearchState, StoreError},
};

impl LargeShops {
    /// The products that answer a query; `None` if the shop is not searched in the database.
    pub(crate) fn search(
        &self,
        queries: &QueryReader<'_>,
        pass: &ReadPass,
        request: &SearchRequest,
    ) -> Result<Option<SearchResults>, StoreError> {
        self.readers.glance(pass.shop(), |glance| self.search_in(glance, queries, pass, request))
    }

    fn search_in(
        &self,
        glance: &mut Glance<'_>,
        queries: &QueryReader<'_>,
        pass: &ReadPass,
        request: &SearchRequest,
    ) -> Result<Option<SearchResults>, StoreError> {
        let shop = glance.shop()?.filter(|shop| shop.state == SearchState::InDatabase);
        let Some(shop) = shop else { return Ok(None) };
        let mut stage = Stages::start(request.time_limit);
        let visibility = pass.visibility();
        let corpus = shop.corpus(visibility);
        let words = Words::of(glance, visibility, corpus.products);
        let query = request.query.as_str();
        words.expect_text(query);
        let knows = |word: &str| words.products(word) > 0;
        let mut parsed = request.parse_options.parse(query, &knows);
        if request.parse_options.corrections {
            words.correct(query, &|word| queries.recognises(word), &mut parsed);
        }
        let mut plan = Plan::of(&parsed, visibility, request.offset, request.limit);
        plan.explain = request.explain;
        plan.deadline = stage.deadline;
        plan.tuning = request.tuning;
        if let QueryKind::Terms(wanted) = &plan.kind {
            words.expect(&wanted.iter().map(str::to_owned).collect::<Vec<_>>());
        }
        stage.ends("understand")?;
        let has_words = matches!(&plan.kind, QueryKind::Terms(words) if !words.is_empty());
        let meaning =
            if has_words { queries.meaning(&parsed, &knows, &plan.tuning.fusion) } else { None };
        plan.dense = meaning.as_ref().and_then(meant);
        let encoder = meaning.filter(|_| plan.dense.is_some()).map(|meaning| meaning.encoder);
        stage.ends("encode")?;
        let counts = words.into_counts()?;
        let candidates = Scout {
            glance,
            sizes: &self.sizes,
            corpus,
            counts: &counts,
            model: self.model.as_ref(),
            parsed: &parsed,
        }
        .look(&plan)?;
        stage.ends("candidates")?;
        let Candidates { ids, are_all, others } = candidates;
        let path = if are_all { "exact" } else { "candidates" };
        metrics::counter!("shopkeeper_database_searches_total", "path" => path).increment(1);
        let ids: Vec<ProductId> = ids.into_iter().collect();
        let rows = glance.candidates(&ids, self.model.as_ref())?;
        stage.ends("read")?;
        let entries: Vec<Entry<'_>> = rows.iter().map(entry).collect();
        let excerpt = CandidateIndex::new(&entries, corpus, counts);
        let found = excerpt.search(&plan, |in_doubt| {
            let in_doubt: HashSet<_> = in_doubt.iter().collect();
            let is_refused = |row: &&CandidateRow| {
                in_doubt.contains(&row.id) && !parsed.allows(&row.title, &row.description)
            };
            Ok::<_, StoreError>(rows.iter().filter(is_refused).map(|row| row.id).collect())
        })?;
        if found.timed_out {
            return Err(StoreError::out_of_time());
        }
        stage.ends("score")?;
        let shown: Vec<ProductId> = found.hits.iter().map(|hit| hit.product).collect();
        let products = glance.products(&shown)?;
        stage.end_with("fetch");
        Ok(Some(SearchResults {
            products,
            explanations: found.explanations,
            total: found.total + others,
            is_total_exact: are_all && found.unverified == 0,
            seq: shop.seq,
            encoder,
            parsed,
        }))
    }
}

/// A candidate as the index has it.
pub(super) fn entry(row: &CandidateRow) -> Entry<'_> {
    Entry {
        id: row.id,
        version: row.version,
        hidden: row.hidden,
        price: row.price,
        title: &row.title,
        description: &row.description,
        vector: row.vector.as_ref().map_or(EntryVector::Missing, EntryVector::Known),
    }
}
