//! How do products become a segment? Count words per product, then sort by word.

use std::mem;

use catalog::{
    analysis,
    change::Seq,
    price::Money,
    product::ProductId,
    query_parser::Exclusion,
    ranking::{FieldLength, FieldLengths, TermFreqs},
};
use hashbrown::HashMap;

use super::{
    Entry,
    bits::Bits,
    columns::Columns,
    denied::{self, SaidWords},
    dictionary::{DictionaryBuilder, OwnedTerm, Term},
    live::LiveSegment,
    neighbours::NeighboursBuilder,
    segment::{Doc, MAX_PRODUCTS, Segment},
    vectors::Vectors,
};
use crate::embed::StoredVector;

/// Numbers words in the order they were first seen.
type WordNo = u32;

/// How often a product has a word, before sorting by word.
#[derive(Clone, Copy)]
struct Count {
    word: WordNo,
    doc: Doc,
    title: u8,
    description: u8,
}

/// Where the latest count of a word is, and of which product: most words of a product are new to
/// it, which is seen without a look at the count, far away in memory.
#[derive(Clone, Copy)]
struct Latest {
    at: u32,
    doc: Option<Doc>,
}

/// Collects products for one segment.
#[derive(Default)]
pub(super) struct SegmentBuilder {
    words: HashMap<OwnedTerm, WordNo>,
    /// For each word, its latest count.
    latest: Vec<Latest>,
    /// The words by which texts deny others, as far as they were seen.
    denials: Vec<WordNo>,
    /// What the product says that is being added.
    said: SaidWords<WordNo>,
    counts: Vec<Count>,
    ids: Vec<ProductId>,
    versions: Vec<Seq>,
    lengths: Vec<FieldLengths>,
    prices: Vec<Option<Money>>,
    titles: Vec<u32>,
    neighbours: NeighboursBuilder,
    hidden: Vec<usize>,
    vectors: Vec<Option<Box<[i8]>>>,
}

#[derive(Clone, Copy)]
enum Field {
    Title,
    Description,
}

impl SegmentBuilder {
    /// The number of products so far.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no further product fits.
    pub(super) fn is_full(&self) -> bool {
        self.len() == MAX_PRODUCTS
    }

    /// The greatest id so far.
    pub(super) fn last_id(&self) -> Option<ProductId> {
        self.ids.last().copied()
    }

    /// Adds a product whose id is greater than all before, with its vector if it is known.
    pub(super) fn add(&mut self, entry: &Entry<'_>, vector: Option<&StoredVector>) {
        debug_assert!(!self.is_full() && self.last_id().is_none_or(|last| last < entry.id));
        let doc = self.len() as Doc;
        if entry.hidden {
            self.hidden.push(self.len());
        }
        let title = self.count(doc, entry.title, Field::Title);
        let description = self.count(doc, entry.description, Field::Description);
        self.mark_denied(doc);
        self.ids.push(entry.id);
        self.versions.push(entry.version);
        self.prices.push(entry.price);
        self.titles.push(analysis::fingerprint(entry.title));
        self.neighbours.read(entry.title);
        self.vectors.push(vector.map(|vector| vector.numbers().into()));
        self.lengths.push(FieldLengths {
            title: FieldLength::of(title),
            description: FieldLength::of(description),
        });
    }

    /// Counts the words of a field and returns how many there are.
    fn count(&mut self, doc: Doc, text: &str, field: Field) -> usize {
        let mut total = 0;
        analysis::for_each_word_or_break(text, |word| {
            let Some(text) = word else { return self.said.push_stop() };
            total += 1;
            let word = self.word_no(text);
            self.said.push(text, word, self.denials.contains(&word));
            let count = self.count_of(word, doc);
            match field {
                Field::Title => count.title = count.title.saturating_add(1),
                Field::Description => count.description = count.description.saturating_add(1),
            }
        });
        self.said.end_field();
        total
    }

    /// Gives the product a posting of the mark of each word that it says only to deny it.
    fn mark_denied(&mut self, doc: Doc) {
        let mut said = std::mem::take(&mut self.said);
        said.for_each_denied(|word| {
            let mark = self.word_no(&denied::mark_of(word));
            self.count_of(mark, doc);
        });
        said.clear();
        self.said = said;
    }

    fn word_no(&mut self, word: &str) -> WordNo {
        let term = Term::of(word);
        if let Some(known) = self.words.get(&term) {
            return *known;
        }
        let new = self.words.len() as WordNo;
        if Exclusion::is_negator(word) {
            self.denials.push(new);
        }
        self.words.insert(term.into(), new);
        self.latest.push(Latest { at: 0, doc: None });
        new
    }

    /// The count of a word in a product, which is the latest of that word or a new one.
    fn count_of(&mut self, word: WordNo, doc: Doc) -> &mut Count {
        let latest = &mut self.latest[word as usize];
        if latest.doc != Some(doc) {
            *latest = Latest { at: self.counts.len() as u32, doc: Some(doc) };
            self.counts.push(Count { word, doc, title: 0, description: 0 });
        }
        &mut self.counts[latest.at as usize]
    }

    /// The segment of the products so far.
    pub(super) fn finish(mut self) -> LiveSegment {
        let vectors = mem::take(&mut self.vectors);
        let vectors = Vectors::of(vectors.iter().map(Option::as_deref));
        let hidden = Bits::with(self.len(), mem::take(&mut self.hidden));
        let columns = Columns::new(hidden, &self.versions, &self.prices);
        LiveSegment::new(self.into_segment(), columns, vectors)
    }

    fn into_segment(self) -> Segment {
        let mut sorted: Vec<(Term<'_>, WordNo)> =
            self.words.iter().map(|(word, no)| (word.as_term(), *no)).collect();
        sorted.sort_unstable();
        let mut dictionary = DictionaryBuilder::with_capacity(sorted.len());
        let mut place = vec![0_u32; sorted.len()];
        for (at, (term, no)) in (0..).zip(&sorted) {
            dictionary.push(*term);
            place[*no as usize] = at;
        }

        // A counting sort: it keeps the products of each word in ascending order.
        let mut next = vec![0_u32; sorted.len() + 1];
        for count in &self.counts {
            next[place[count.word as usize] as usize + 1] += 1;
        }
        for at in 1..next.len() {
            next[at] += next[at - 1];
        }
        let mut docs = vec![0; self.counts.len()].into_boxed_slice();
        let mut occurrences = vec![TermFreqs::default(); self.counts.len()].into_boxed_slice();
        for count in &self.counts {
            let to = &mut next[place[count.word as usize] as usize];
            docs[*to as usize] = count.doc;
            occurrences[*to as usize] =
                TermFreqs::new(count.title.into(), count.description.into());
            *to += 1;
        }
        next.pop();

        Segment {
            ids: self.ids.into_boxed_slice(),
            lengths: self.lengths.into_boxed_slice(),
            titles: self.titles.into_boxed_slice(),
            neighbours: self.neighbours.finish(),
            words: dictionary.finish(),
            ends: next.into_boxed_slice(),
            docs,
            occurrences,
        }
    }
}
