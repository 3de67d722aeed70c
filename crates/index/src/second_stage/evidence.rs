//! Gathers the evidence about the candidates.

use catalog::{
    ranking::{
        fusion::QueryProfile,
        reranking::{Evidence, QueryEvidence, RerankParams, none_agrees},
        tuning::Tuning,
    },
    text::analysis::QueryTerms,
};
use embed::inference::taxonomy;

use super::{
    names::{NameMatcher, NameQuery},
    preference::{KindFit, KindMatcher, KindNames, nearest},
    word_matches::WordMatcher,
};
use crate::{
    QueryVector,
    dense::Vectors,
    first_stage::AttributeMatcher,
    lexical::LexicalQuery,
    parallel::map_parts,
    rerank_query::RerankQuery,
    segment::{DocId, LiveSegment},
};

/// A thread for fewer candidates takes longer to start than it saves.
const MIN_PER_THREAD: usize = 50;

/// A candidate with what the first stage found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Considered {
    pub(super) segment: usize,
    pub(super) doc: DocId,
    pub(super) lexical: f32,
    /// The cosine with the interpolated vector; `None` for a product without a vector.
    pub(super) similarity: Option<f32>,
}

/// What was found about one candidate.
struct Found {
    evidence: Evidence,
    kind: Option<KindFit>,
    /// The least agreement with an attribute asked for.
    agreement: f32,
    /// How likely its category is what the query names; `None` if that is no known name.
    named_category: Option<f32>,
}

/// Gathers the evidence of a search.
pub(crate) struct EvidenceReader<'a> {
    pub(crate) segments: &'a [LiveSegment],
    pub(crate) query: &'a RerankQuery,
    /// The query's vector by the transformer.
    pub(crate) deep: Option<&'a QueryVector>,
    pub(crate) lexical: &'a LexicalQuery<'a>,
    pub(crate) terms: &'a QueryTerms,
    pub(crate) params: &'a RerankParams,
}

impl EvidenceReader<'_> {
    /// The evidence about each candidate, in their order, which is by segment. The candidates are
    /// divided among at most `threads` threads.
    pub(super) fn read(&self, candidates: &[Considered], threads: usize) -> Vec<Evidence> {
        let names = NameQuery::new(&self.query.things);
        let kind = self.query.kind.as_ref().map(|kind| (&kind.vector, KindNames::new(kind)));
        let read_part = |part: &[Considered]| {
            let mut found: Vec<Found> = Vec::with_capacity(part.len());
            for group in part.chunk_by(|one, other| one.segment == other.segment) {
                self.read_segment(group, &names, kind.as_ref(), &mut found);
            }
            found
        };
        let found = map_parts(candidates, threads, MIN_PER_THREAD, read_part);
        let found: Vec<Found> = found.into_iter().flatten().collect();
        let similarities = found.iter().filter_map(|one| Some(one.kind?.similarity));
        let nearest = nearest(similarities.collect());
        let complete = |Found { evidence, kind, agreement, named_category }: Found| {
            let kind = kind.map(|kind| kind.evidence(nearest, agreement, named_category));
            Evidence { kind, ..evidence }
        };
        found.into_iter().map(complete).collect()
    }

    /// Reads the evidence about candidates of one segment.
    fn read_segment(
        &self,
        group: &[Considered],
        names: &NameQuery<'_>,
        kind: Option<&(&QueryVector, KindNames<'_>)>,
        found: &mut Vec<Found>,
    ) {
        let live = &self.segments[group[0].segment];
        let cosines = |vectors: &Vectors, query: Option<&QueryVector>, unknown: f32| {
            let mut cosines = vec![unknown; group.len()];
            if let Some(query) = query {
                let docs = group.iter().map(|one| usize::from(one.doc)).zip(&mut cosines);
                vectors.cosines(query, docs);
            }
            cosines
        };
        let own = cosines(live.vectors(), self.query.vector.as_ref(), f32::NAN);
        let deep = cosines(live.deep(), self.deep, f32::NAN);
        let of_kind = cosines(live.vectors(), kind.map(|(vector, _)| *vector), 0.0);
        let title = |one: &Considered| live.segment.title_words.of(usize::from(one.doc));
        let products: Vec<_> = group.iter().map(|one| (one.doc, title(one))).collect();
        let coverages = self.word_matcher(group[0].segment).coverages(&products);
        let titles = products.iter().map(|(_, title)| *title);
        let named = NameMatcher::new(names, &live.segment, titles.clone()).matched(titles.clone());
        let attributes = AttributeMatcher::new(&self.query.attributes, &live.segment);
        let kinds = kind.map(|(_, names)| KindMatcher::new(names, &live.segment, titles));
        for (at, (one, (_, title))) in group.iter().zip(products).enumerate() {
            let coverage = coverages[at];
            // A product without a vector is ranked by its words.
            let phrase_similarity = one.similarity.unwrap_or(one.lexical);
            let agreement = attributes.of(one.doc);
            let (category, named_category) = self.categories(live, one.doc);
            let known = |similarity: f32| (!similarity.is_nan()).then_some(similarity);
            let similarity = known(own[at]).unwrap_or(phrase_similarity);
            let estimate = || match self.deep {
                Some(_) => self.params.deep.estimate(similarity),
                None => similarity,
            };
            let evidence = Evidence {
                lexical: one.lexical,
                similarity,
                deep_similarity: known(deep[at]).unwrap_or_else(estimate),
                phrase_similarity,
                soft_coverage: coverage.soft,
                attribute_coverage: coverage.in_attributes,
                names: named[at],
                head: coverage.head,
                attributes: agreement.evidence,
                category,
                kind: None,
            };
            let kind = kinds.as_ref().map(|kinds| kinds.of(title, of_kind[at]));
            found.push(Found { evidence, kind, agreement: agreement.least, named_category });
        }
    }

    /// The matcher for the words of one segment.
    fn word_matcher(&self, segment_no: usize) -> WordMatcher<'_> {
        let segment = &*self.segments[segment_no].segment;
        WordMatcher::new(self.query, (self.lexical, self.terms), (segment_no, segment))
    }

    /// How likely the query means the category of a product, 0 if either is unknown, and how likely it names
    /// that category, if it says a known name.
    fn categories(&self, live: &LiveSegment, doc: DocId) -> (f32, Option<f32>) {
        let (asked, taxonomy) = (&self.query.categories, taxonomy());
        let [likely, named] = live.segment.inferred.possible_categories(usize::from(doc));
        let agreement = likely.map_or(0.0, |category| asked.agreement(taxonomy, category));
        let names = |category| asked.names(taxonomy, category);
        let named = names(likely).zip(names(named));
        (agreement, named.map(|(likely, named)| likely.max(named)))
    }

    /// What the candidates, with the evidence about them, tell about the query as a whole.
    pub(super) fn query_evidence(
        &self,
        candidates: &[Considered],
        evidence: &[Evidence],
        profile: QueryProfile,
        tuning: &Tuning,
    ) -> QueryEvidence {
        const FEW: usize = 5;
        let similarity = |one: &Considered| one.similarity.unwrap_or(one.lexical);
        let mean = |mut best: Vec<(f32, f32)>| {
            // By similarity where matches are equal: not by position, which depends on segments.
            best.sort_unstable_by(|one, other| {
                other.0.total_cmp(&one.0).then_with(|| other.1.total_cmp(&one.1))
            });
            best.truncate(FEW);
            best.iter().map(|(_, similarity)| similarity).sum::<f32>() / best.len().max(1) as f32
        };
        let by_words = candidates.iter().filter(|one| one.lexical > 0.0);
        let by_words = mean(by_words.map(|one| (one.lexical, similarity(one))).collect());
        let by_meaning =
            mean(candidates.iter().map(|one| (similarity(one), similarity(one))).collect());
        let id =
            |one: &Considered| self.segments[one.segment].segment.ids.get(usize::from(one.doc));
        let best = candidates.iter().max_by(|one, other| {
            one.lexical.total_cmp(&other.lexical).then_with(|| id(other).cmp(&id(one)))
        });
        let title_coverage = best.filter(|best| best.lexical > 0.0).map_or(0.0, |best| {
            self.word_matcher(best.segment).literal_coverage(best.doc).in_title
        });
        QueryEvidence {
            function_word_ratio: profile.function_word_ratio,
            phrase_similarity: tuning.fusion.lexical_weight.phrase_similarity_of(profile),
            agreement: if by_meaning > 0.0 { (by_words / by_meaning).max(0.0) } else { 1.0 },
            title_coverage,
            is_foreign: profile.is_foreign,
            none_agrees: none_agrees(evidence, &tuning.rerank.preference),
        }
    }
}
