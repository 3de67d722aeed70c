//! From which size on shops are searched in the database, and how many candidates are scored.

/// Sizes of shops and numbers of candidates. Only `search_above` is a setting.
#[derive(Clone, Copy, Debug)]
pub struct CandidateLimits {
    /// Shops with more products are searched in the database.
    pub search_above: usize,
    /// If at most this many products satisfy the conditions, all of them are scored.
    pub rank_all_up_to: usize,
    /// Candidates by lexical score, and as many by vector, for pages that end within this number.
    pub candidates: usize,
    /// The same, for pages beyond.
    pub deep_candidates: usize,
    /// Products that are scored in SQL to find the best by lexical score.
    pub max_scored: usize,
    /// Products whose attributes and prices are counted for the facets of a search without terms.
    pub max_counted: usize,
    /// Shops with fewer products get no partial indexes.
    pub index_from: usize,
}

impl CandidateLimits {
    /// The defaults for shops with more than `search_above` products.
    pub fn new(search_above: usize) -> Self {
        Self {
            search_above,
            rank_all_up_to: 2_000,
            candidates: 200,
            deep_candidates: 1_100,
            max_scored: 2_000,
            max_counted: 100_000,
            index_from: 10_000,
        }
    }
}
