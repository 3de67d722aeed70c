//! Was the same asked before? Answers are kept for as long as the shop stays as it was.
//!
//! An answer belongs to the snapshot it was found in. A write or a new vector publishes another
//! snapshot, so an answer that is no longer true is never asked for again: nobody has to remember
//! to throw it away, and it leaves when its room is needed.

use std::{mem, sync::Arc};

use catalog::{
    access::Visibility,
    explanation::{Explanation, TermPart},
    product::Product,
    query::QueryText,
    query_parser::ParseOptions,
    tuning::TUNING,
};
use quick_cache::{Weighter, sync::Cache};

use crate::{
    index::SnapshotId,
    search::{SearchRequest, SearchResults},
};

/// What an answer takes at the least, with its question and its place: so many bytes bound the
/// number of answers too.
const LEAST_BYTES: usize = 1024;

/// Answers to repeated questions.
pub(crate) struct Answers {
    /// None are kept where there is no room for any.
    kept: Option<Cache<Question, Kept, ByBytes>>,
}

/// Everything that an answer depends on. The snapshot stands for the shop and its products.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    snapshot: SnapshotId,
    visibility: Visibility,
    query: QueryText,
    limit: usize,
    offset: usize,
    parse_options: ParseOptions,
    explain: bool,
}

impl Question {
    /// None for a request with numbers of its own: whoever tries some does not come back with them.
    pub(crate) fn of(
        snapshot: SnapshotId,
        visibility: Visibility,
        request: &SearchRequest,
    ) -> Option<Self> {
        let SearchRequest { query, limit, offset, parse_options, explain, tuning, .. } = request;
        let (query, limit, offset) = (query.clone(), *limit, *offset);
        let (parse_options, explain) = (*parse_options, *explain);
        let question = Self { snapshot, visibility, query, limit, offset, parse_options, explain };
        (*tuning == TUNING).then_some(question)
    }
}

#[derive(Clone)]
struct Kept {
    answer: Arc<SearchResults>,
    bytes: usize,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Question, Kept> for ByBytes {
    fn weight(&self, _: &Question, kept: &Kept) -> u64 {
        kept.bytes as u64
    }
}

impl Answers {
    /// Room for so many bytes of answers.
    pub(crate) fn new(bytes: usize) -> Self {
        let most = bytes / LEAST_BYTES;
        let cache = || Cache::with_weighter(most, bytes as u64, ByBytes);
        Self { kept: (most > 0).then(cache) }
    }

    /// The answer given before, if it is still here.
    pub(crate) fn get(&self, question: &Question) -> Option<Arc<SearchResults>> {
        let found = self.kept.as_ref()?.get(question);
        let outcome = if found.is_some() { "hit" } else { "miss" };
        metrics::counter!("shopkeeper_search_cache_total", "outcome" => outcome).increment(1);
        found.map(|kept| kept.answer)
    }

    /// Keeps an answer, if there is room.
    pub(crate) fn put(&self, question: Question, answer: &Arc<SearchResults>) {
        if let Some(cache) = &self.kept {
            let bytes = LEAST_BYTES + question.query.as_str().len() + bytes_of(answer);
            cache.insert(question, Kept { answer: Arc::clone(answer), bytes });
        }
    }

    /// What the answers take in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.kept.as_ref().map_or(0, |cache| cache.weight() as usize)
    }
}

/// What an answer takes beyond [`LEAST_BYTES`].
fn bytes_of(answer: &SearchResults) -> usize {
    let texts = |product: &Product| {
        let media: usize = product.media.iter().map(|media| media.url().len()).sum();
        product.title.as_str().len()
            + product.description.as_str().len()
            + product.price.text().len()
            + mem::size_of_val(product.media.as_slice())
            + media
    };
    let products: usize = answer.products.iter().map(texts).sum();
    let words = |explanation: &Explanation| {
        let term = |term: &TermPart| mem::size_of_val(term) + term.term.len() + term.found_as.len();
        mem::size_of_val(explanation) + explanation.lexical.terms.iter().map(term).sum::<usize>()
    };
    let explanations: usize = answer.explanations.values().map(words).sum();
    let read = 2 * answer.parsed.residual.len();
    mem::size_of_val(answer.products.as_slice()) + products + explanations + read
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use catalog::{change::Seq, query_parser::ParsedQuery, ranking, tuning::Tuning};

    use super::*;

    fn request(text: &str) -> SearchRequest {
        SearchRequest {
            query: QueryText::parse(text).unwrap(),
            limit: 10,
            offset: 0,
            parse_options: ParseOptions::default(),
            explain: false,
            tuning: TUNING,
            time_limit: None,
        }
    }

    fn question(text: &str) -> Question {
        Question::of(SnapshotId::next(), Visibility::VisibleOnly, &request(text)).unwrap()
    }

    fn answer() -> Arc<SearchResults> {
        Arc::new(SearchResults {
            products: Vec::new(),
            explanations: HashMap::new(),
            total: 0,
            is_total_exact: true,
            encoder: None,
            parsed: ParsedQuery::default(),
            seq: Seq(1),
        })
    }

    #[test]
    fn answers_never_take_more_than_their_room() {
        let answers = Answers::new(64 * LEAST_BYTES);
        for n in 0..1000 {
            let question = question(&format!("sofa {n}"));
            answers.put(question.clone(), &answer());
            assert!(answers.bytes() <= 64 * LEAST_BYTES, "{}", answers.bytes());
            assert!(answers.get(&question).is_some());
        }
        assert!(answers.bytes() > 16 * LEAST_BYTES, "{}", answers.bytes());
    }

    #[test]
    fn what_is_weighed_differently_is_another_question() {
        let ranking = ranking::Bm25Params { k1: 9.0, ..TUNING.ranking };
        let tuning = Tuning { ranking, ..TUNING };
        let request = SearchRequest { tuning, ..request("sofa") };
        assert_eq!(Question::of(SnapshotId::next(), Visibility::VisibleOnly, &request), None);
    }

    #[test]
    fn without_room_nothing_is_kept() {
        let answers = Answers::new(0);
        let question = question("sofa");
        answers.put(question.clone(), &answer());
        assert!(answers.get(&question).is_none());
        assert_eq!(answers.bytes(), 0);
    }
}
