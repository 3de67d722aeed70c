//! Runs a plan through both stages of ranking: finds the relevant products of a shop, counts them and keeps the first.
//!
//! # The result
//!
//! A product is *eligible* if it is live, may be seen, and passes the price, attribute and negation
//! filters.
//! It has a lexical match `l` in `[0, 1]` (BM25F plus bigrams, see [`super::lexical`]) and, if it
//! has a vector, a similarity `s` to the query's vector: the cosine, or its estimate where many
//! products are eligible (see *Sketches* below). [`catalog::ranking::fusion`] defines the rest:
//!
//! - score: `w·l² + (1-w)·max(s, 0)`; `l²` without a vector; 1 if the title equals the query;
//! - coverage: the greatest `l` of all eligible products that reach the absolute cut-off for some
//!   lexical weight;
//! - lexical weight `w`: a function of the query and, growing, of the coverage;
//! - cut-off: the greater of `absolute(w)` and `relative(w)` times the best score, where a product
//!   whose title equals the query does not count as the best.
//!
//! Without a model, the result is every eligible product that reaches the cut-off, in a total order,
//! and their number. With one, this is the first of two stages: its cut-offs are lower
//! ([`catalog::ranking::fusion::FusionParams::for_candidates`]), and the
//! [`second_stage`](super::second_stage) decides which of the products that reach them are relevant, and
//! orders them.
//!
//! The eligible product whose key is the query belongs to the result whatever its score, and comes
//! first; otherwise it is treated like any other. Facets count the result (`facet_counts`). Nothing
//! of this depends on the page. The property tests in `pruning_tests.rs` compute the same naively
//! and compare.
//!
//! # Why pruning
//!
//! Neither `w` nor the best score is known before the last product, and most products are far from
//! relevant. The scan therefore works with bounds and reads vectors and titles only where the bounds
//! do not decide.
//! The threshold is the *cut-off*, never the score of the k-th best hit as in block-max WAND:
//! a product below the k-th hit still counts in the total. The second stage makes an exception: the
//! products between its lower cut-offs and the usual ones count only if they are among the best, which
//! a *shortlist* decides.
//!
//! # Phases, per segment and then per block of 64 products
//!
//! 1. `first_stage::accumulator`: adds up the exact scores of all postings of the query's terms and
//!    bigrams. The lexical part is never pruned.
//! 2. The [`CandidateScan`](super::first_stage::CandidateScan) raises the
//!    [`ScoreThreshold`](super::first_stage::ScoreThreshold) by the products with the best lexical
//!    match: as many as the second stage considers, or a few if it found as many before.
//! 3. `first_stage::block_bounds`: it skips a block, sixteen at a time, if not even its greatest lexical
//!    score, with the greatest similarity that the cells of its products allow, may pass the threshold.
//!    Of the others it considers the products that visibility, attributes and exclusions let through.
//! 4. It drops a product if its lexical score may not pass with the greatest similarity, and then with
//!    its own; where few of a block are left, these are compared together with those of other blocks. Products close to the category of the query may fit it and have a lower threshold. Then come
//!    the price filters.
//! 5. It keeps the rest as candidates. After a few hundred candidates and after each segment, they raise
//!    the threshold for what follows.
//! 6. [`relevance`], after the last segment: the coverage, with it `w`; exact scores, the best score,
//!    the cut-off; the second stage, with a model; count, facets and top hits.
//!
//! # Why the bounds hold
//!
//! *Threshold.* [`catalog::ranking::fusion::ScoreBounds`] shows why two linear comparisons bound the score
//! for all values of `w` that are still possible. They need a lower bound of the coverage and a
//! product that is certainly in the running for the best score, so one whose title does not equal the
//! query. Precondition of [`ScoreThreshold`](super::first_stage::ScoreThreshold)`::raise`: the products
//! are eligible, and their signals are final. Where texts must be read to decide an exclusion, a
//! candidate may turn out not to be eligible; then the threshold is never raised.
//!
//! *Attributes.* A term in an attribute adds to its frequency, which the score saturates: however
//! great the frequency, [`catalog::ranking::bm25f::Bm25Scorer::max_score`] bounds the score, and `l` stays
//! within `[0, 1]`.
//!
//! *Coverage.* A product below the relative cut-off may still define the coverage. The threshold
//! therefore passes every product whose lexical match exceeds the greatest known and that may
//! reach the absolute cut-off. So the product that defines the coverage is among the candidates or
//! was used to raise the threshold, and phase 6 finds the exact coverage.
//!
//! *Shortlist.* A product that is worse than [`RERANKED`](super::rerank_query::RERANKED) others,
//! whatever `w`, is no candidate of the second stage unless it fits the attributes and the category of the query; one
//! that fits is none if it is worse than as many others that fit. So there are two shortlists, of all
//! products and of those that fit. A product that does not pass its own is relevant only if it reaches
//! the usual cut-offs. Where the query names its category, products that fit may be candidates below all
//! cut-offs; of these, only the shortlist drops any. [`catalog::ranking::fusion::ScoreBounds`] shows why two linear comparisons with the worst
//! of the shortlist suffice. That a product of the shortlist may itself fall below the lower cut-offs
//! in the end does no harm: then so does all that is worse.
//!
//! *Monotonicity.* All tests are monotonic in `l` and `s`: if the product itself passes, so do the
//! bounds of its block and its own upper bounds.
//!
//! *Totals.* A relevant product passes phases 3 to 5, since each drops only what cannot reach the
//! cut-off. Irrelevant products that pass are dropped by their exact scores in phase 6. So the result
//! of the first stage is exact, and with it the second stage and the total, for any threshold that
//! satisfies its precondition: the order of segments, the number of threads (each raises a threshold
//! of its own) and earlier writes only change the work.
//! The best product is either relevant, and so a candidate, or nothing is relevant.
//!
//! # Sketches
//!
//! Where [`SKETCHED_FROM`](super::effort::SKETCHED_FROM) products or more are eligible and vectors have
//! enough dimensions
//! (`dense::sketch::MIN_SKETCH_DIMS`), `s` is not the cosine but its estimate by `dense::sketch`: an
//! eighth of the memory to read. It is unbiased, with a standard deviation of about `0.75 / √dims`
//! (0.047 for 256 dimensions), limited to what the product's cell allows (`dense::cells`), and depends on
//! the query and the product alone. So the result is as well defined as with cosines: it does not depend on segments, threads, pages or earlier writes.
//!
//! What the estimate decides is which products the second stage considers, and the score, order and
//! number of those beyond them. The candidates of the second stage are ranked by their exact cosines.
//! With 1,286 real queries over 100,000 products, 99.7 % of the first ten results are those of a first
//! stage with exact cosines, and the figures of relevance do not differ (ADR 8).
//!
//! Exact without reservation: filters, lexical scores and statistics; and cosines in the second stage,
//! in smaller shops and in selections of fewer products. Cosines are those of the stored vectors,
//! quantised to a signed byte per dimension; quantisation moves a cosine of the model by up to 0.002.

mod facet_counts;
mod match_all;
#[cfg(test)]
mod pruning_tests;
mod relevance;
mod run;
mod search;
mod similar;
mod top_hits;
mod verification;

pub use self::search::Matches;
#[cfg(test)]
pub(super) use self::{
    relevance::{CLAIM_BOOST, KEY_BOOST},
    search::search_with,
    similar::similarity,
    verification::MAX_VERIFIED,
};
pub(super) use self::{search::search, similar::similar};
