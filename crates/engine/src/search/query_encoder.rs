//! Encodes queries as vectors.
//!
//! The deep encoder is preferred. The instant one serves when too many searches are queued, or when
//! the deep one fails. The vector is interpolated toward the answer of the best phrase match, and
//! the profile of the query tells the ranking how far to trust it.

use std::{cell::Cell, collections::HashMap, mem, ops::Range, sync::Arc};

use catalog::{
    inference::{
        attributes::{QueryAttribute, is_lexicon_word},
        category::QueryCategories,
    },
    product::inferred::{Attribute, CategoryIndex},
    query::parser::ParsedQuery,
    ranking::fusion::{FusionParams, QueryProfile},
    text::{
        analysis::{QueryTerms, content_words},
        language::Language,
        vocabulary::TermLookup,
    },
};
use embed::{
    Embedder, Embedding, Encoder, InstantEncoder, PhraseMatch, Priority, Text, TextLanguage, Thing,
    ThingName, Vector,
    inference::{category_model, names_below, taxonomy},
};
use index::{DenseQuery, KindQuery, QueryVector, RerankQuery, WordVectorCache, head_term};
use parking_lot::Mutex;

/// The most words of what a query asks for without its attributes.
const MAX_KIND_WORDS: usize = 2;
/// The least probability that a query means a category whose names count.
const MIN_CATEGORY_SHARE: f32 = 0.2;
/// The names of all categories below one of this level count: deeper levels tell too little.
const NAMED_LEVEL: u8 = 4;
/// Cached encodings in each of two generations.
const GENERATION_SIZE: usize = 1024;

/// A query as a vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EncodedQuery {
    /// Interpolated toward what known phrases stand for.
    vector: Vector,
    /// The query's own vector.
    plain: Vector,
    /// The one of the transformer.
    deep: Option<Vector>,
    /// What known phrases stand for.
    things: Vec<Thing>,
    /// The encoder that made the vector.
    pub(crate) encoder: Encoder,
    /// Whether it is one of the embedded model.
    is_embedded: bool,
    language: QueryLanguage,
    profile: QueryProfile,
}

impl EncodedQuery {
    /// The query as the index compares it; `None` if its vector cannot be quantised.
    pub(crate) fn dense_query(&self) -> Option<DenseQuery> {
        let vector = QueryVector::of(&self.vector)?;
        // The centroids of the cells are vectors of the embedded model.
        let vector = if self.is_embedded { vector.limited() } else { vector };
        let deep = self.deep.as_ref().and_then(QueryVector::of);
        Some(DenseQuery { vector, deep, profile: self.profile })
    }
}

/// The language of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryLanguage {
    pub(crate) text: TextLanguage,
    /// Whether most products are in English and the query is not, so that only its meaning counts.
    pub(crate) is_translated: bool,
}

impl QueryLanguage {
    pub(crate) const ENGLISH: Self = Self { text: TextLanguage::English, is_translated: false };
}

/// Encodes queries with one model.
pub(crate) struct QueryEncoder {
    embedder: Arc<dyn Embedder>,
    /// The deep encoder is used while at most this many searches run or wait.
    budget: usize,
    cache: Mutex<RecentEncodings>,
    words: WordVectorCache,
}

/// What one search may use: the encoder, if there is a model, and idle threads.
pub(crate) struct SearchContext<'a> {
    encoder: Option<&'a QueryEncoder>,
    /// Searches that run or wait.
    load: usize,
    idle_threads: usize,
    used_fallback: Cell<bool>,
}

impl<'a> SearchContext<'a> {
    pub(crate) fn new(encoder: Option<&'a QueryEncoder>, load: usize) -> Self {
        Self { encoder, load, idle_threads: 0, used_fallback: Cell::new(false) }
    }

    /// Lets the search use idle threads.
    pub(crate) fn with_idle_threads(self, idle_threads: usize) -> Self {
        Self { idle_threads, ..self }
    }

    /// How many threads the search may use.
    pub(crate) fn threads(&self) -> usize {
        1 + self.idle_threads
    }

    /// The language of a query. One with conditions in English is English. Words that English shares
    /// with others are taken as those of the language that its conditions are in, or else of the shop.
    pub(crate) fn language_of(
        &self,
        parsed: &ParsedQuery,
        shop_language: impl Fn() -> TextLanguage,
    ) -> QueryLanguage {
        let Some(encoder) = self.encoder else { return QueryLanguage::ENGLISH };
        if parsed.language == Some(Language::English) {
            // A misspelled word may be one of another language: "linnen sofa under $900".
            return QueryLanguage::ENGLISH;
        }
        let of_words = encoder.embedder.language_of(&parsed.sentence);
        let of_conditions = || parsed.language.map(|_| TextLanguage::Other);
        match of_words.or_else(of_conditions).unwrap_or_else(&shop_language) {
            TextLanguage::English => QueryLanguage::ENGLISH,
            text => QueryLanguage { text, is_translated: shop_language() == TextLanguage::English },
        }
    }

    /// Whether a word is one of the language, as far as the model or the lexicon of attributes knows
    /// it.
    pub(crate) fn recognises(&self, word: &str, language: TextLanguage) -> bool {
        let is_taught =
            |encoder: &QueryEncoder| encoder.embedder.recognises(word, language) == Some(true);
        self.encoder.is_some_and(is_taught) || is_lexicon_word(word)
    }

    /// Encodes a query for a shop that contains the words `knows` accepts; `None` without a model
    /// or if it fails. Blocks.
    pub(crate) fn encode(
        &self,
        parsed: &ParsedQuery,
        language: QueryLanguage,
        knows: TermLookup,
        params: &FusionParams,
    ) -> Option<EncodedQuery> {
        let encoder = self.encoder?;
        let encoded = encoder.encode(parsed, language, knows, params, self.load);
        let is_deep = encoded.as_ref().is_some_and(|encoded| encoded.encoder == Encoder::Deep);
        self.used_fallback.set(encoder.budget > 0 && !is_deep);
        encoded
    }

    /// What the second stage of ranking compares products with; `None` without a model.
    pub(crate) fn rerank_query(
        &self,
        encoded: &EncodedQuery,
        parsed: &ParsedQuery,
        terms: &QueryTerms,
        params: &FusionParams,
    ) -> Option<RerankQuery> {
        let encoder = self.encoder?;
        let words = encoder.words.current();
        let term_vectors = terms.terms().iter().map(|term| {
            let as_written = term.alternatives.first()?.words.join(" ");
            match encoded.language.text {
                TextLanguage::English => words.vector(&as_written),
                other => encoder.embedder.word_vector(&as_written, Some(other)),
            }
        });
        let attributes = parsed.attributes.clone();
        let categories = match encoded.language {
            QueryLanguage { text: TextLanguage::English, .. } => categories(parsed),
            QueryLanguage { is_translated: true, .. } => encoder.translated_categories(parsed),
            // Products in the language of the query have a rough category, or none.
            QueryLanguage { .. } => QueryCategories::default(),
        };
        Some(RerankQuery {
            vector: QueryVector::of(&encoded.plain),
            things: encoded.things.clone(),
            term_vectors: term_vectors.collect(),
            head: head_term(&parsed.sentence, terms),
            kind: encoder.kind(&parsed.sentence, &attributes, &categories, params),
            attributes,
            categories,
            word_vectors: Some(words),
        })
    }

    /// Whether the deep encoder, which the next search may use, was not used.
    pub(crate) fn used_fallback(&self) -> bool {
        self.used_fallback.get()
    }
}

/// A vector and its best phrase match. Depends on the text and the encoder alone, not on the shop.
#[derive(Debug)]
struct Encoding {
    embedding: Embedding,
    phrase: Option<PhraseMatch>,
}

impl QueryEncoder {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, budget: usize) -> Self {
        let words = WordVectorCache::new(Arc::clone(&embedder));
        Self { embedder, budget, cache: Mutex::default(), words }
    }

    /// Encodes a query for a shop that contains the words `knows` accepts, while `load` searches
    /// run or wait; `None` if the model fails. Blocks.
    pub(crate) fn encode(
        &self,
        parsed: &ParsedQuery,
        language: QueryLanguage,
        knows: TermLookup,
        params: &FusionParams,
        load: usize,
    ) -> Option<EncodedQuery> {
        let (sentence, words) = (&parsed.sentence, &parsed.residual);
        let text = Text::Request { sentence, words, language: language.text };
        let encoding = self.encoding(text, load)?;
        let Encoding { embedding, phrase } = &*encoding;
        let mut profile = self.profile(parsed, language, knows, phrase.as_ref());
        if let Some(similarity) = profile.phrase_similarity.as_mut().filter(|_| profile.is_foreign)
        {
            *similarity = (*similarity + params.foreign.phrase_similarity).min(1.0);
        }
        let is_embedded = embedding.model == *InstantEncoder::embedded().model();
        let Embedding { vector: plain, deep, encoder, .. } = embedding.clone();
        let vector = match phrase {
            None => plain.clone(),
            Some(phrase) => interpolate(&plain, &phrase.target, params.interpolation(profile))?,
        };
        let deep = match (deep, phrase) {
            (Some(deep), Some(phrase)) => {
                let share = params.deep_interpolation * params.interpolation(profile);
                interpolate(&deep, &phrase.deep_target, share)
            }
            (deep, _) => deep,
        };
        let things = encoding.things(&*self.embedder);
        Some(EncodedQuery { vector, plain, deep, things, encoder, is_embedded, language, profile })
    }

    /// What a query asks for without its attributes.
    fn kind(
        &self,
        sentence: &str,
        attributes: &[QueryAttribute],
        categories: &QueryCategories,
        params: &FusionParams,
    ) -> Option<KindQuery> {
        let words = kind_words(sentence, attributes)?;
        // The instant encoder whatever the load, so that the result does not depend on it.
        let encoding = self.instant(Text::Query(&words.join(" ")))?;
        let vector = &encoding.embedding.vector;
        let vector = match &encoding.phrase {
            None => vector.clone(),
            Some(phrase) => interpolate(vector, &phrase.target, params.interpolation)?,
        };
        let things = encoding.things(&*self.embedder);
        let own = Thing { share: 1.0, names: Arc::new([ThingName { words, weight: 1.0 }]) };
        let categories = named_categories(categories);
        Some(KindQuery { vector: QueryVector::of(&vector)?, things, own, categories })
    }

    /// The categories that a query of one word in another language may mean, its attributes aside, by the
    /// English name of the thing that it is nearest to. Longer queries are needs ("my husband snores") as
    /// often as things.
    fn translated_categories(&self, parsed: &ParsedQuery) -> QueryCategories {
        let kind = without(&parsed.sentence, parsed.attributes.iter());
        let is_one_word = kind.split_whitespace().count() == 1;
        if !parsed.reads_attributes() || !is_one_word {
            return QueryCategories::default();
        }
        let text = Text::Request { sentence: &kind, words: &kind, language: TextLanguage::Other };
        let encoding = self.instant(text);
        let name = encoding.and_then(|encoding| clear_name(&encoding.things(&*self.embedder)));
        name.map_or_else(QueryCategories::default, |name| categories_of(&name, parsed))
    }

    /// The encoding of a query, deep if that is cached or `load` permits it.
    fn encoding(&self, text: Text<'_>, load: usize) -> Option<Arc<Encoding>> {
        if text.whole().trim().is_empty() {
            return None;
        }
        let cached = self.cached(text, Encoder::Deep);
        let is_over_budget = load > self.budget;
        let instant = || self.cached(text, Encoder::Instant).filter(|_| is_over_budget);
        if let Some(cached) = cached.or_else(instant) {
            return Some(cached);
        }
        let embedding = self.deep(text, load).or_else(|| self.embedder.instant(text));
        let encoder = embedding.as_ref().map_or("none", |made| made.encoder.as_str());
        metrics::counter!("shopkeeper_query_vectors_total", "encoder" => encoder).increment(1);
        Some(self.keep(text, embedding?))
    }

    /// The encoding by the instant encoder; `None` without one.
    fn instant(&self, text: Text<'_>) -> Option<Arc<Encoding>> {
        let cached = self.cached(text, Encoder::Instant);
        cached.or_else(|| Some(self.keep(text, self.embedder.instant(text)?)))
    }

    fn cached(&self, text: Text<'_>, encoder: Encoder) -> Option<Arc<Encoding>> {
        self.cache.lock().get(&cache_key(text, encoder))
    }

    /// Completes an encoding and caches it.
    fn keep(&self, text: Text<'_>, embedding: Embedding) -> Arc<Encoding> {
        let phrase = self.embedder.phrase_match(&embedding);
        let key = cache_key(text, embedding.encoder);
        let encoding = Arc::new(Encoding { embedding, phrase });
        self.cache.lock().put(&key, &encoding);
        encoding
    }

    fn deep(&self, text: Text<'_>, load: usize) -> Option<Embedding> {
        if load > self.budget {
            return None;
        }
        let made = self.embedder.deep(&[text], Priority::Search);
        let failed = |error| tracing::debug!(%error, "deep encoding of a query failed");
        made.map_err(failed).ok()?.pop()
    }

    fn profile(
        &self,
        parsed: &ParsedQuery,
        language: QueryLanguage,
        knows: TermLookup,
        phrase: Option<&PhraseMatch>,
    ) -> QueryProfile {
        let count = |text: &str| text.split_whitespace().count() as f32;
        let sentence_words = count(&parsed.sentence).max(1.0);
        // Numbers and sizes do not tell whether the query uses words that are known.
        let words = QueryTerms::of(&parsed.residual);
        let as_written = words.terms().iter().filter_map(|term| term.alternatives.first());
        let words = as_written
            .flat_map(|variant| variant.words.iter())
            .filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
        let (mut all, mut recognised, mut untranslated) = (0.0, 0.0, 0.0);
        for word in words {
            all += 1.0;
            // A model that cannot tell counts as one that was trained on the word.
            let is_taught =
                |word: &str| self.embedder.recognises(word, language.text).unwrap_or(true);
            let is_known = knows(word) || is_taught(word) || is_taught(&format!("{word}s"));
            recognised += f32::from(is_known);
            let is_english = || self.embedder.recognises(word, TextLanguage::English) == Some(true);
            let is_said = || knows(word) && !is_english();
            untranslated += f32::from(!language.is_translated || !is_taught(word) || is_said());
        }
        // Words of another language say as little to English titles as function words do, unless
        // some titles say them.
        let telling = if all > 0.0 { untranslated / all } else { 1.0 };
        let telling = telling * count(&parsed.residual) / sentence_words;
        QueryProfile {
            function_word_ratio: (1.0 - telling).clamp(0.0, 1.0),
            is_foreign: language.text == TextLanguage::Other,
            phrase_similarity: phrase.map(|phrase| phrase.similarity),
            recognised_ratio: if all > 0.0 { recognised / all } else { 0.0 },
        }
    }
}

impl Encoding {
    /// What the phrases near the query stand for.
    fn things(&self, embedder: &dyn Embedder) -> Vec<Thing> {
        self.phrase.as_ref().map_or_else(Vec::new, |phrase| embedder.things(phrase))
    }
}

/// The words of what a query asks for without its attributes. `None` if it asks for none, or for more
/// than a thing of one or two words.
fn kind_words(sentence: &str, attributes: &[QueryAttribute]) -> Option<Vec<Box<str>>> {
    let is_modifier = |one: &QueryAttribute| {
        one.is_modifier || !matches!(one.attribute, Attribute::Color | Attribute::Material)
    };
    if attributes.is_empty() || !attributes.iter().all(is_modifier) {
        return None;
    }
    let kind = without(sentence, attributes.iter().filter(|one| !changes_kind(one)));
    let has_digit = kind.bytes().any(|byte| byte.is_ascii_digit());
    let most = MAX_KIND_WORDS + attributes.iter().filter(|one| changes_kind(one)).count();
    // "a lamp made of glass"
    let is_content =
        |word: &&str| !word.eq_ignore_ascii_case("made") && !content_words(word).is_empty();
    let pieces: Vec<&str> = kind.split_whitespace().filter(is_content).collect();
    // A compound counts as one word: "t-shirt".
    let mut words = content_words(&pieces.join(" ").replace('-', " "));
    if words.is_empty() {
        // "foam mattress" as a whole says the attribute.
        words.extend(content_words(sentence).pop());
    }
    if has_digit || words.is_empty() || pieces.len() > most {
        return None;
    }
    Some(words)
}

/// The categories that a query may mean: "navy armchair" is an armchair. None if its attributes are
/// not to be read.
pub(crate) fn categories(parsed: &ParsedQuery) -> QueryCategories {
    if !parsed.reads_attributes() {
        return QueryCategories::default();
    }
    let kind = without(&parsed.sentence, parsed.attributes.iter().filter(|one| !changes_kind(one)));
    let is_named = !content_words(&kind).is_empty();
    categories_of(if is_named { &kind } else { &parsed.residual }, parsed)
}

/// The categories that a thing of this English name may be in.
fn categories_of(name: &str, parsed: &ParsedQuery) -> QueryCategories {
    let mut found = category_model().infer_query(name);
    // A sweater for a dog is no clothing.
    if parsed.attributes.iter().any(QueryAttribute::is_for_pets)
        && let Some(pets) = taxonomy().with_id(PET_SUPPLIES)
    {
        found.restrict_to(taxonomy(), pets);
    }
    found
}

/// The name of at least half of what a query may mean. Several things may have the same name: sofas for
/// two and for three are sofas.
fn clear_name(things: &[Thing]) -> Option<String> {
    let mut shares: Vec<(String, f32)> = Vec::new();
    for thing in things {
        let Some(name) = thing.names.first().map(|name| name.words.join(" ")) else { continue };
        match shares.iter_mut().find(|(known, _)| *known == name) {
            Some((_, share)) => *share += thing.share,
            None => shares.push((name, thing.share)),
        }
    }
    shares.into_iter().find(|(_, share)| *share >= 0.5).map(|(name, _)| name)
}

/// The categories that a query may mean, as things with the names of all below them.
fn named_categories(categories: &QueryCategories) -> Vec<Thing> {
    let is_likely = |(_, share): &&(CategoryIndex, f32)| *share >= MIN_CATEGORY_SHARE;
    let likely = categories.named().iter().chain(categories.likely()).filter(is_likely);
    let mut likely: Vec<CategoryIndex> =
        likely.map(|(category, _)| taxonomy().ancestor_at(*category, NAMED_LEVEL)).collect();
    likely.sort_unstable();
    likely.dedup();
    let thing = |category| Thing { share: 1.0, names: names_below(category) };
    likely.into_iter().map(thing).collect()
}

/// The category of everything for pets.
const PET_SUPPLIES: &str = "ap";

/// A cat bed is another kind of thing than a bed, not a bed with an attribute.
fn changes_kind(attribute: &QueryAttribute) -> bool {
    attribute.attribute == Attribute::Audience
}

/// A query without the words of its attributes.
fn without<'a>(sentence: &str, attributes: impl Iterator<Item = &'a QueryAttribute>) -> String {
    let mut rest = String::with_capacity(sentence.len());
    let mut at = 0;
    for Range { start, end } in attributes.map(|attribute| attribute.words.clone()) {
        if at <= start {
            rest.push_str(&sentence[at..start]);
            at = end;
        }
    }
    rest.push_str(&sentence[at..]);
    rest
}

/// The direction of `from + share * toward`.
fn interpolate(from: &Vector, toward: &Vector, share: f32) -> Option<Vector> {
    let pairs = from.as_slice().iter().zip(toward.as_slice());
    Vector::normalized(pairs.map(|(from, toward)| from + share * toward).collect())
}

fn cache_key(text: Text<'_>, encoder: Encoder) -> String {
    let encoder = encoder.as_str();
    match text {
        Text::Request { sentence, words, language } => {
            format!("{encoder}\n{sentence}\n{words}\n{language:?}")
        }
        other => format!("{encoder}\n{}", other.whole()),
    }
}

/// A cache of two generations: when the young one is full it replaces the old one. Entries that are
/// used move to the young one.
#[derive(Default)]
struct RecentEncodings {
    young: HashMap<Box<str>, Arc<Encoding>>,
    old: HashMap<Box<str>, Arc<Encoding>>,
}

impl RecentEncodings {
    fn get(&mut self, text: &str) -> Option<Arc<Encoding>> {
        if let Some(cached) = self.young.get(text) {
            return Some(Arc::clone(cached));
        }
        let cached = self.old.remove(text)?;
        self.put(text, &cached);
        Some(cached)
    }

    fn put(&mut self, text: &str, encoding: &Arc<Encoding>) {
        if self.young.len() >= GENERATION_SIZE {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(text.into(), Arc::clone(encoding));
    }
}

#[cfg(test)]
mod tests {
    use catalog::{
        inference::attributes::infer_query, query::parser::parse, ranking::fusion::FUSION_PARAMS,
    };
    use embed::testing::{Act, Endpoint, tiny_model};

    use super::*;

    fn encoder(budget: usize) -> QueryEncoder {
        QueryEncoder::new(Arc::new(tiny_model()), budget)
    }

    fn encode(encoder: &QueryEncoder, query: &str, load: usize) -> Option<EncodedQuery> {
        let knows = |word: &str| word == "sofa";
        encoder.encode(&parse(query), QueryLanguage::ENGLISH, &knows, &FUSION_PARAMS, load)
    }

    #[test]
    fn a_loaded_server_uses_the_instant_encoder() {
        let encoder = encoder(2);
        let used = |text, load| encode(&encoder, text, load).map(|encoded| encoded.encoder);
        assert_eq!(used("red sofa", 3), Some(Encoder::Instant));
        assert_eq!(used("red sofa", 2), Some(Encoder::Deep));
        assert_eq!(used("red sofa", 3), Some(Encoder::Deep), "it is cached");
        assert_eq!(used(" ", 0), None);
    }

    #[test]
    fn encodings_are_cached_by_encoder() {
        let encoder = encoder(2);
        let text = Text::Request {
            sentence: "a red sofa",
            words: "red sofa",
            language: TextLanguage::English,
        };
        let encoded = |load| encoder.encoding(text, load).unwrap();
        let instant = encoded(3);
        assert!(Arc::ptr_eq(&instant, &encoded(3)), "made once");
        assert!(Arc::ptr_eq(&instant, &encoder.instant(text).unwrap()));
        let deep = encoded(2);
        assert_eq!(deep.embedding.encoder, Encoder::Deep, "preferred to what is cached");
        assert!(Arc::ptr_eq(&deep, &encoded(2)) && Arc::ptr_eq(&deep, &encoded(3)));
        assert!(Arc::ptr_eq(&instant, &encoder.instant(text).unwrap()), "the kind of a query");
        let words = Text::Query("a red sofa");
        assert!(!Arc::ptr_eq(&instant, &encoder.instant(words).unwrap()), "another text");
    }

    #[test]
    fn the_profile_of_a_query_counts_words() {
        let encoder = encoder(1);
        let profile = |query| encode(&encoder, query, 1).unwrap().profile;
        let (sofa, sentence) = (profile("sofa"), profile("a sofa for the xyzzy"));
        assert_eq!((sofa.function_word_ratio, sofa.recognised_ratio), (0.0, 1.0));
        assert_eq!((sentence.function_word_ratio, sentence.recognised_ratio), (0.6, 0.5));
        assert!(sofa.phrase_similarity.is_some());
        assert_eq!(profile("12345").recognised_ratio, 0.0);
    }

    #[test]
    fn the_kind_is_what_attributes_leave_of_a_thing_with_attributes() {
        let kind = |query: &str| {
            let words = kind_words(query, &infer_query(query))?;
            Some(words.join(" "))
        };
        assert_eq!(kind("navy sofa bed").as_deref(), Some("sofa bed"));
        assert_eq!(kind("a lamp made of glass").as_deref(), Some("lamp"));
        assert_eq!(kind("vase of glass").as_deref(), Some("vase"));
        assert_eq!(kind("foam mattress").as_deref(), Some("mattress"));
        assert_eq!(kind("red t-shirt").as_deref(), Some("t shirt"), "a compound is one word");
        assert_eq!(kind("red long-sleeve t-shirt").as_deref(), Some("long sleeve t shirt"));
        assert_eq!(kind("sofa"), None, "no attribute");
        assert_eq!(kind("red sofa bed cover"), None, "more than two words");
        assert_eq!(kind("red sofa 200 cm"), None);
    }

    #[test]
    fn a_kind_has_the_names_of_the_categories_that_it_names() {
        let parsed = parse("rucksack for a child");
        let things = named_categories(&categories(&parsed));
        let mut names = things.iter().flat_map(|thing| thing.names.iter());
        assert!(names.any(|name| *name.words == ["backpack".into()]), "{things:?}");
    }

    #[test]
    fn a_query_is_interpolated_toward_the_answer_of_its_phrase() {
        let (query, answer) = (vec![1.0, 0.0], vec![0.0, 1.0]);
        let (query, answer) =
            (Vector::normalized(query).unwrap(), Vector::normalized(answer).unwrap());
        assert_eq!(interpolate(&query, &answer, 0.0), Some(query.clone()));
        let half = interpolate(&query, &answer, 1.0).unwrap();
        assert!((half.cosine(&query) - half.cosine(&answer)).abs() < 1e-6);
    }

    #[test]
    fn used_encodings_stay_cached_and_others_are_evicted() {
        let made = encoder(usize::MAX).encoding(Text::Query("red sofa"), 1).unwrap();
        let mut recent = RecentEncodings::default();
        recent.put("kept", &made);
        recent.put("evicted", &made);
        for round in 0..3 {
            assert!(recent.get("kept").is_some());
            (0..GENERATION_SIZE).for_each(|n| recent.put(&format!("{round} {n}"), &made));
            assert!(recent.young.len() <= GENERATION_SIZE && recent.old.len() <= GENERATION_SIZE);
        }
        assert!(recent.get("evicted").is_none());
    }

    #[test]
    fn a_model_without_an_instant_encoder_may_return_no_vector() {
        let endpoint = Endpoint::start();
        let encoder = QueryEncoder::new(Arc::new(endpoint.embedder()), 1);
        endpoint.order([Act::Fail(400, None)]);
        assert_eq!(encode(&encoder, "red sofa", 1), None);
        assert!(encode(&encoder, "red sofa", 1).is_some());
        assert_eq!(encode(&encoder, "blue sofa", 2), None, "over the budget");
    }
}
