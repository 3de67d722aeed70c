//! The reference that tests compare the index with: a map of products, scored one by one by the
//! definitions of [`catalog::ranking::bm25f`] and [`catalog::ranking::fusion`], without postings, segments or
//! pruning.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{
    inference::resemblance,
    product::{
        ProductId, access::Visibility, attributes::Attributes, change::Seq, inferred::Inferred,
        price::Money,
    },
    ranking::{
        bm25f::{BM25_PARAMS, Bm25Scorer, CorpusStats, FieldLength, FieldLengths, TermFreqs},
        fusion::{Coverage, FUSION_PARAMS, Fusion, QueryProfile, ScoreBounds, Signals},
        hits::{Hit, Score},
        reranking::RERANK_PARAMS,
    },
    text::analysis::{Bigram, QueryTerms, Term, fingerprint, for_each_bigram, for_each_word},
};
use embed::{StoredVectors, inference::taxonomy};

use super::{
    dense::{QueryVector, estimated_cosine, reciprocal_length},
    scoring::{CLAIM_BOOST, KEY_BOOST, similarity},
};

/// All products of a shop, by number.
#[derive(Default)]
pub(super) struct Reference(pub(super) BTreeMap<u64, Product>);

/// A product as it was written last.
pub(super) struct Product {
    pub(super) version: Seq,
    pub(super) hidden: bool,
    pub(super) price: Option<Money>,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) key: Option<String>,
    pub(super) attributes: Attributes,
    pub(super) inferred: Inferred,
    pub(super) vectors: Option<StoredVectors>,
    title_words: Vec<String>,
    description_words: Vec<String>,
    /// Of all strings of attributes and of the key.
    attribute_words: Vec<String>,
}

/// A query. Statistics are those of all visible products; only eligible ones are results.
pub(super) struct Query<'a> {
    pub(super) words: &'a QueryTerms,
    pub(super) dense: Option<(&'a QueryVector, QueryProfile)>,
    /// Whether cosines are estimated.
    pub(super) sketched: bool,
    pub(super) title_fingerprint: u32,
    pub(super) key: Option<&'a str>,
    pub(super) visibility: Visibility,
    pub(super) is_eligible: &'a dyn Fn(&Product) -> bool,
    pub(super) makes_claim: &'a dyn Fn(&Product) -> bool,
}

/// The result of a query.
pub(super) struct Found {
    /// All relevant products, best first.
    pub(super) hits: Vec<Hit>,
}

pub(super) fn id(number: u64) -> ProductId {
    ProductId::new(number).unwrap()
}

impl Product {
    pub(super) fn new(version: Seq, hidden: bool, title: &str, description: &str) -> Self {
        Self {
            version,
            hidden,
            price: None,
            title: title.to_owned(),
            description: description.to_owned(),
            key: None,
            attributes: Attributes::default(),
            inferred: Inferred::default(),
            vectors: None,
            title_words: words_of(title),
            description_words: words_of(description),
            attribute_words: Vec::new(),
        }
    }

    pub(super) fn with(mut self, key: Option<&str>, attributes: &Attributes) -> Self {
        self.attribute_words = words_of(&attributes.text());
        self.attribute_words.extend(key.into_iter().flat_map(words_of));
        self.key = key.map(str::to_owned);
        self.attributes = attributes.clone();
        self
    }

    /// All that the product says besides title and description, a line each.
    pub(super) fn statements(&self) -> String {
        format!("{}\n{}", self.attributes.text(), self.key.as_deref().unwrap_or_default())
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.freqs(word) != TermFreqs::default()
    }

    fn lengths(&self) -> FieldLengths {
        FieldLengths {
            title: FieldLength::of(self.title_words.len()),
            description: FieldLength::of(self.description_words.len()),
        }
    }

    fn freqs(&self, word: &str) -> TermFreqs {
        let freq = |words: &[String]| words.iter().filter(|other| *other == word).count() as u32;
        let attribute = freq(&self.attribute_words) > 0;
        TermFreqs::new(freq(&self.title_words), freq(&self.description_words), attribute)
    }

    fn similarity(&self, query: &QueryVector, sketched: bool) -> Option<f32> {
        let product = self.vectors.as_ref()?.vector.numbers();
        if sketched { estimated_cosine(query, product) } else { cosine(query.numbers(), product) }
    }
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |word| words.push(word.to_owned()));
    words
}

/// The cosine of two stored vectors; `None` if one is zero.
fn cosine(query: &[i8], product: &[i8]) -> Option<f32> {
    let dot: i32 = query.iter().zip(product).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    let lengths = reciprocal_length(product) * reciprocal_length(query);
    (lengths > 0.0).then_some(dot as f32 * lengths)
}

impl Reference {
    fn visible(&self, visibility: Visibility) -> Vec<(ProductId, &Product)> {
        let all = self.0.iter().map(|(number, product)| (id(*number), product));
        all.filter(|(_, product)| visibility == Visibility::All || !product.hidden).collect()
    }

    /// Every relevant product.
    pub(super) fn search(&self, query: &Query<'_>) -> Found {
        let visible = self.visible(query.visibility);
        let lexical = LexicalReference::of(&visible, query.words);
        let signals = |product: &Product| {
            let lexical = lexical.of_product(product);
            let is_titled = fingerprint(&product.title) == query.title_fingerprint;
            Signals {
                lexical,
                similarity: query
                    .dense
                    .and_then(|(vector, _)| product.similarity(vector, query.sketched)),
                is_exact_title: lexical > 0.0 && is_titled,
            }
        };
        let eligible: Vec<(ProductId, &Product, Signals)> = visible
            .into_iter()
            .filter(|(_, product)| (query.is_eligible)(product))
            .map(|(id, product)| (id, product, signals(product)))
            .collect();
        let fusion = match query.dense {
            None => Fusion::lexical_only(&FUSION_PARAMS),
            Some((_, profile)) => hybrid(profile, &eligible),
        };
        let others = eligible.iter().filter(|(_, _, signals)| !signals.is_exact_title);
        let best = others.map(|(_, _, signals)| fusion.score(*signals)).fold(0.0, f32::max);
        let cutoff = fusion.cutoff().at(best);
        let has_key =
            |product: &Product| query.key.is_some() && query.key == product.key.as_deref();
        let relevant = eligible
            .iter()
            .filter(|(_, product, signals)| fusion.score(*signals) >= cutoff || has_key(product));
        let mut hits: Vec<Hit> = relevant
            .map(|(id, product, signals)| {
                let boost = if (query.makes_claim)(product) { CLAIM_BOOST } else { 0.0 };
                let key = if has_key(product) { KEY_BOOST } else { 0.0 };
                let score = Score(fusion.score(*signals) + (boost + key));
                Hit { product: *id, version: product.version, score }
            })
            .collect();
        hits.sort_by(Hit::rank);
        Found { hits }
    }

    /// Every product that is similar to another, most similar first.
    pub(super) fn similar(&self, number: u64, visibility: Visibility) -> Vec<Hit> {
        let product = self.0.get(&number);
        let own = product.and_then(|product| Some((product.vectors.as_ref()?, &product.inferred)));
        let others = self.visible(visibility).into_iter().filter(|(other, _)| *other != id(number));
        let near = others.filter_map(|(other, product)| {
            let (vectors, inferred) = own?;
            let other_vectors = product.vectors.as_ref()?;
            let cosine = cosine(vectors.vector.numbers(), other_vectors.vector.numbers())?;
            let deep = vectors.deep.as_ref().zip(other_vectors.deep.as_ref());
            let deep = deep.and_then(|(own, other)| self::cosine(own.numbers(), other.numbers()));
            let deep = deep.unwrap_or_else(|| RERANK_PARAMS.deep.estimate(cosine));
            let resemblance = resemblance(taxonomy(), inferred, &product.inferred);
            let score = Score(similarity(cosine, deep) + resemblance);
            let hit = Hit { product: other, version: product.version, score };
            (cosine >= FUSION_PARAMS.min_similarity).then_some(hit)
        });
        let mut near: Vec<_> = near.collect();
        near.sort_by(Hit::rank);
        near
    }
}

/// The formula. Its coverage is the best lexical match of all products that reach the absolute cut-off
/// for some lexical weight.
fn hybrid(profile: QueryProfile, eligible: &[(ProductId, &Product, Signals)]) -> Fusion {
    let bounds = ScoreBounds::absolute(&FUSION_PARAMS, profile);
    let counts = |signals: &Signals| {
        signals.is_exact_title || bounds.may_pass(signals.lexical, signals.dense_score())
    };
    let counted = eligible.iter().filter(|(_, _, signals)| counts(signals));
    let best_lexical = counted.map(|(_, _, signals)| signals.lexical).fold(0.0, f32::max);
    Fusion::hybrid(&FUSION_PARAMS, profile, Coverage { best_lexical })
}

/// BM25F and bigrams by definition.
struct LexicalReference {
    scorer: Bm25Scorer,
    /// For each term that occurs in the shop, its variants.
    terms: Vec<Vec<Variant>>,
    bigrams: Vec<Vec<Bigram>>,
    max_bonus: f32,
    scale: f32,
}

struct Variant {
    words: Vec<String>,
    weight: f32,
    all: bool,
    is_spelling: bool,
    term_weights: Vec<f32>,
}

impl LexicalReference {
    fn of(visible: &[(ProductId, &Product)], query: &QueryTerms) -> Self {
        let mut corpus = CorpusStats::default();
        visible.iter().for_each(|(_, product)| corpus.add(product.lengths()));
        let mut doc_freqs: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, product) in visible {
            let words = product.title_words.iter().chain(&product.description_words);
            let words = words.chain(&product.attribute_words);
            let words: BTreeSet<&str> = words.map(String::as_str).collect();
            words.into_iter().for_each(|word| *doc_freqs.entry(word).or_default() += 1);
        }
        let weight = |word: &str| Some(BM25_PARAMS.term_weight(&corpus, *doc_freqs.get(word)?));
        let terms: Vec<Vec<Variant>> =
            query.terms().iter().map(|term| variants_of(term, &weight)).collect();
        let unknown = terms.iter().filter(|variants| variants.is_empty()).count();
        let known: f32 = terms
            .iter()
            .map(|variants| {
                let weight = |one: &Variant| one.weight * one.term_weights.iter().sum::<f32>();
                variants.iter().map(weight).fold(0.0, f32::max)
            })
            .sum();
        let total_weight = unknown as f32 * BM25_PARAMS.term_weight(&corpus, 0) + known;
        let bigrams = query.bigrams();
        let weight = BM25_PARAMS.bigram_weight;
        let max_bonus = if bigrams.is_empty() { 0.0 } else { weight / (1.0 + weight) };
        let scorer = Bm25Scorer::new(&BM25_PARAMS, &corpus);
        let scale = (1.0 - max_bonus) / scorer.max_score(total_weight);
        Self { scorer, terms, bigrams, max_bonus, scale }
    }

    /// The lexical match of a product.
    fn of_product(&self, product: &Product) -> f32 {
        let best = |variants: &Vec<Variant>| {
            variants.iter().map(|variant| self.score(variant, product)).fold(0.0, f32::max)
        };
        let score = self.terms.iter().map(best).fold(0.0, |sum, score| sum + score);
        if score == 0.0 {
            return 0.0;
        }
        let mut in_title = Vec::new();
        for_each_bigram(&product.title, |pair| in_title.push(pair));
        let is_in_title = |forms: &&Vec<Bigram>| forms.iter().any(|pair| in_title.contains(pair));
        let bonus = self.max_bonus / self.bigrams.len() as f32 / self.scale;
        let shared = self.bigrams.iter().filter(is_in_title);
        shared.fold(score, |score, _| score + bonus) * self.scale
    }

    fn score(&self, variant: &Variant, product: &Product) -> f32 {
        if variant.all && !variant.words.iter().all(|word| product.contains(word)) {
            return 0.0;
        }
        let words = variant.words.iter().zip(&variant.term_weights);
        words.filter(|(word, _)| product.contains(word)).fold(0.0, |sum, (word, weight)| {
            let (weight, freqs) = (variant.weight * weight, product.freqs(word));
            sum + self.scorer.score(weight, freqs, product.lengths())
        })
    }
}

/// The variants of a term that products can contain. The best has the whole weight of the term, and
/// all spellings have the weight of the commonest.
fn variants_of(term: &Term, weight: &dyn Fn(&str) -> Option<f32>) -> Vec<Variant> {
    let known = term.alternatives.iter().filter_map(|form| {
        let words = form.words.iter().filter_map(|word| Some((word.to_string(), weight(word)?)));
        let (words, term_weights): (Vec<_>, Vec<_>) = words.unzip();
        let is_known = match form.all {
            true => words.len() == form.words.len(),
            false => !words.is_empty(),
        };
        let (weight, all, is_spelling) = (form.weight, form.all, form.respelled);
        is_known.then_some(Variant { words, weight, all, is_spelling, term_weights })
    });
    let mut variants: Vec<Variant> = known.collect();
    let heaviest = variants.iter().map(|variant| variant.weight).fold(0.0, f32::max);
    let whole = term.corrected.map_or(1.0, |confidence| BM25_PARAMS.correction_weight(confidence));
    variants.iter_mut().for_each(|variant| variant.weight *= whole / heaviest);
    if variants.iter().skip(1).any(|variant| variant.is_spelling) {
        variants[0].is_spelling = true;
        let spellings = || variants.iter().filter(|variant| variant.is_spelling);
        let weights = spellings().flat_map(|variant| variant.term_weights.iter().copied());
        let least = weights.fold(f32::INFINITY, f32::min);
        let spellings = variants.iter_mut().filter(|variant| variant.is_spelling);
        spellings.for_each(|variant| variant.term_weights.fill(least));
    }
    variants
}
