//! The segment builder: counts terms per product, then sorts the counts by term.

use std::mem;

use catalog::{
    product::{ProductId, change::Seq, inferred::Inferred, price::Money},
    query::parser::Exclusion,
    ranking::bm25f::{FieldLength, FieldLengths, TermFreqs},
    text::analysis::{self, Fingerprint, TitlePart},
};
use hashbrown::HashMap;

use super::{
    DocId, MAX_PRODUCTS, Segment,
    attributes::AttributesBuilder,
    bigrams::BigramsBuilder,
    columns::Columns,
    dictionary::{DictionaryBuilder, OwnedTerm, Term},
    keys::Keys,
    live_docs::LiveSegment,
    negation_marks::{NegatedWords, negation_term},
    title_words::TitleWordsBuilder,
    word_places::WordPlaces,
};
use crate::{
    bits::BitSet,
    dense::Vectors,
    entry::{DocVectors, Entry},
};

/// Builds segments of products in ascending order of id: one, unless there are more than fit.
pub(crate) fn build_segments<'a>(
    entries: impl Iterator<Item = (&'a Entry<'a>, DocVectors<'a>)>,
) -> Vec<LiveSegment> {
    let mut entries = entries.peekable();
    let mut segments = Vec::new();
    while entries.peek().is_some() {
        let mut builder = SegmentBuilder::default();
        let fitting = entries.by_ref().take(MAX_PRODUCTS);
        fitting.for_each(|(entry, vectors)| builder.add(entry, vectors));
        segments.push(builder.finish());
    }
    segments
}

/// The number of a term, in the order of first occurrence.
type TermNo = u32;

/// The frequencies of a term in a product, before sorting by term.
#[derive(Clone, Copy)]
struct Count {
    term: TermNo,
    doc: DocId,
    title: u8,
    description: u8,
    attribute: bool,
}

/// The latest count of a term. Usually it belongs to an earlier product, which `doc` tells without
/// reading the count.
#[derive(Clone, Copy)]
struct Latest {
    at: u32,
    doc: Option<DocId>,
}

/// Collects the products of one segment.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    terms: HashMap<OwnedTerm, TermNo>,
    /// By term.
    latest: Vec<Latest>,
    /// The terms that negate others ("without", "free"), as far as they have occurred.
    negators: Vec<TermNo>,
    /// The words of the product that is being added.
    negated: NegatedWords<TermNo>,
    counts: Vec<Count>,
    ids: Vec<ProductId>,
    versions: Vec<Seq>,
    lengths: Vec<FieldLengths>,
    prices: Vec<Option<Money>>,
    title_fingerprints: Vec<u32>,
    bigrams: BigramsBuilder,
    title_words: TitleWordsBuilder,
    inferred: Vec<Inferred>,
    attributes: AttributesBuilder,
    keys: Vec<(DocId, Box<str>)>,
    hidden: Vec<usize>,
    vectors: Vec<Option<Box<[i8]>>>,
    deep: Vec<Option<Box<[i8]>>>,
}

#[derive(Clone, Copy)]
enum Field {
    Title,
    Description,
    /// A string of an attribute, or the key.
    Attribute,
}

impl SegmentBuilder {
    /// Number of products so far.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no further product fits.
    pub(crate) fn is_full(&self) -> bool {
        self.len() == MAX_PRODUCTS
    }

    /// The greatest id so far.
    pub(crate) fn last_id(&self) -> Option<ProductId> {
        self.ids.last().copied()
    }

    /// Adds a product with a greater id than all before.
    pub(crate) fn add(&mut self, entry: &Entry<'_>, vectors: DocVectors<'_>) {
        debug_assert!(!self.is_full() && self.last_id().is_none_or(|last| last < entry.id));
        let doc = self.len() as DocId;
        if entry.hidden {
            self.hidden.push(self.len());
        }
        let title = self.add_title(doc, entry.title);
        let description = self.count(doc, entry.description, Field::Description);
        // Each string is a text of its own; their words count for neither length.
        for text in entry.attributes.iter().flat_map(|(_, value)| value.texts()) {
            self.count(doc, text, Field::Attribute);
        }
        if let Some(key) = entry.key {
            self.count(doc, key, Field::Attribute);
            self.keys.push((doc, key.into()));
        }
        self.attributes.push(doc, entry.attributes);
        self.add_negation_terms(doc);
        self.ids.push(entry.id);
        self.versions.push(entry.version);
        self.prices.push(entry.price);
        self.inferred.push(entry.inferred);
        self.vectors.push(vectors.vector.map(Into::into));
        self.deep.push(vectors.deep.map(Into::into));
        self.lengths.push(FieldLengths {
            title: FieldLength::of(title),
            description: FieldLength::of(description),
        });
    }

    /// Adds all that is kept of a title, and returns the number of its terms.
    fn add_title(&mut self, doc: DocId, title: &str) -> usize {
        let mut total = 0;
        let mut fingerprint = Fingerprint::default();
        analysis::for_each_title_part(title, |part| match part {
            TitlePart::Word(word) => {
                total += 1;
                fingerprint.push(word);
                self.count_word(doc, word, Field::Title);
            }
            TitlePart::Break => self.negated.push_sentence_break(),
            TitlePart::TitleWord(word, is_head) => {
                let term = self.term_no(word);
                self.title_words.push_word(term, is_head);
            }
            TitlePart::Bigram(pair) => self.bigrams.push(doc, pair),
        });
        self.negated.end_field();
        self.title_words.end_title();
        self.title_fingerprints.push(fingerprint.finish());
        total
    }

    /// Counts the terms of another field and returns how many there are.
    fn count(&mut self, doc: DocId, text: &str, field: Field) -> usize {
        let mut total = 0;
        analysis::for_each_word_or_break(text, |word| {
            let Some(word) = word else { return self.negated.push_sentence_break() };
            total += 1;
            self.count_word(doc, word, field);
        });
        self.negated.end_field();
        total
    }

    fn count_word(&mut self, doc: DocId, word: &str, field: Field) {
        let term = self.term_no(word);
        self.negated.push(word, term, self.negators.contains(&term));
        let count = self.count_of(term, doc);
        match field {
            Field::Title => count.title = count.title.saturating_add(1),
            Field::Description => count.description = count.description.saturating_add(1),
            Field::Attribute => count.attribute = true,
        }
    }

    /// Adds a posting of the negation term of each word that the product only negates.
    fn add_negation_terms(&mut self, doc: DocId) {
        let mut negated = mem::take(&mut self.negated);
        negated.for_each(|word| {
            let term = self.term_no(&negation_term(word));
            self.count_of(term, doc);
        });
        negated.clear();
        self.negated = negated;
    }

    fn term_no(&mut self, word: &str) -> TermNo {
        let term = Term::of(word);
        if let Some(known) = self.terms.get(&term) {
            return *known;
        }
        let new = self.terms.len() as TermNo;
        if Exclusion::is_negator(word) {
            self.negators.push(new);
        }
        self.terms.insert(term.into(), new);
        self.latest.push(Latest { at: 0, doc: None });
        new
    }

    /// The count of a term in the product that is being added.
    fn count_of(&mut self, term: TermNo, doc: DocId) -> &mut Count {
        let latest = &mut self.latest[term as usize];
        if latest.doc != Some(doc) {
            *latest = Latest { at: self.counts.len() as u32, doc: Some(doc) };
            self.counts.push(Count { term, doc, title: 0, description: 0, attribute: false });
        }
        &mut self.counts[latest.at as usize]
    }

    /// Builds the segment.
    pub(crate) fn finish(mut self) -> LiveSegment {
        let vectors = [mem::take(&mut self.vectors), mem::take(&mut self.deep)];
        let vectors = vectors.map(|of| Vectors::of(of.iter().map(Option::as_deref)));
        let hidden = BitSet::with(self.len(), mem::take(&mut self.hidden));
        let columns = Columns::new(hidden, &self.versions, &self.prices);
        LiveSegment::new(self.into_segment(), columns, vectors)
    }

    fn into_segment(self) -> Segment {
        let mut sorted: Vec<(Term<'_>, TermNo)> =
            self.terms.iter().map(|(term, no)| (term.as_term(), *no)).collect();
        sorted.sort_unstable();
        let mut dictionary = DictionaryBuilder::with_capacity(sorted.len());
        let mut position = vec![0_u32; sorted.len()];
        for (at, (term, no)) in (0..).zip(&sorted) {
            dictionary.push(*term);
            position[*no as usize] = at;
        }

        // A counting sort: stable, so the products of each term stay in ascending order.
        let mut next = vec![0_u32; sorted.len() + 1];
        for count in &self.counts {
            next[position[count.term as usize] as usize + 1] += 1;
        }
        for at in 1..next.len() {
            next[at] += next[at - 1];
        }
        let mut docs = vec![0; self.counts.len()].into_boxed_slice();
        let mut freqs = vec![TermFreqs::default(); self.counts.len()].into_boxed_slice();
        for count in &self.counts {
            let to = &mut next[position[count.term as usize] as usize];
            docs[*to as usize] = count.doc;
            freqs[*to as usize] =
                TermFreqs::new(count.title.into(), count.description.into(), count.attribute);
            *to += 1;
        }
        next.pop();

        let len = self.ids.len();
        let keys: Vec<_> = self.keys.iter().map(|(doc, key)| (*doc, &**key)).collect();
        Segment {
            attributes: self.attributes.finish(len),
            keys: Keys::of(&keys, len),
            ids: self.ids.into_boxed_slice().into(),
            lengths: self.lengths.into_boxed_slice(),
            titles: self.title_fingerprints.into_iter().zip(0..).collect(),
            bigrams: self.bigrams.finish(),
            title_words: self.title_words.finish(&position),
            inferred: self.inferred.into_iter().collect(),
            terms: dictionary.finish(),
            word_places: WordPlaces::default(),
            ends: next.into_boxed_slice(),
            docs,
            freqs,
        }
    }
}
