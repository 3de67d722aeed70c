//! The bigrams of titles: which words are adjacent in which products.

use std::{io, iter};

use catalog::text::analysis::Bigram;

use super::{DocId, hashes::partition_point_near};
use crate::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// The products whose titles have each bigram.
#[derive(Debug, Default)]
pub(crate) struct Bigrams {
    /// Distinct, ascending.
    pairs: Box<[Bigram]>,
    /// Where the products of each bigram end; they start where those of the previous bigram end.
    ends: Box<[u32]>,
    docs: Box<[DocId]>,
}

impl Bigrams {
    /// The products whose title has a bigram, ascending.
    pub(crate) fn docs(&self, pair: Bigram) -> &[DocId] {
        let share = f64::from(pair.to_bits()) / f64::from(u16::MAX);
        let at = partition_point_near(&self.pairs, share, &pair);
        if self.pairs.get(at) == Some(&pair) { self.docs_at(at) } else { &[] }
    }

    fn docs_at(&self, at: usize) -> &[DocId] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.docs[start as usize..self.ends[at] as usize]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.pairs) + size_of_val(&*self.ends) + size_of_val(&*self.docs)
    }
}

/// Collects bigrams in any order.
#[derive(Default)]
pub(crate) struct BigramsBuilder(Vec<(Bigram, DocId)>);

impl BigramsBuilder {
    /// Adds a bigram of a product's title.
    pub(crate) fn push(&mut self, doc: DocId, pair: Bigram) {
        self.0.push((pair, doc));
    }

    /// Adds what a segment has of the products that `new_number` gives a number.
    pub(crate) fn add_segment(
        &mut self,
        bigrams: &Bigrams,
        new_number: impl Fn(DocId) -> Option<DocId>,
    ) {
        for (at, pair) in bigrams.pairs.iter().enumerate() {
            let docs = bigrams.docs_at(at).iter().filter_map(|doc| new_number(*doc));
            self.0.extend(iter::repeat(*pair).zip(docs));
        }
    }

    pub(crate) fn finish(mut self) -> Bigrams {
        self.0.sort_unstable();
        self.0.dedup();
        let (mut pairs, mut ends) = (Vec::new(), Vec::new());
        let mut end = 0;
        for products in self.0.chunk_by(|(one, _), (other, _)| one == other) {
            end += products.len() as u32;
            pairs.push(products[0].0);
            ends.push(end);
        }
        let docs = self.0.iter().map(|(_, doc)| *doc).collect();
        Bigrams { pairs: pairs.into(), ends: ends.into(), docs }
    }
}

impl Stored for Bigrams {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.array(self.pairs.iter().map(|pair| pair.to_bits()))?;
        to.slice(&self.docs)?;
        to.slice(&self.ends)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let pairs = from.array_of(|bits| Some(Bigram::from_bits(bits)))?;
        let docs: Box<[DocId]> = from.array()?;
        let ends = from.ends(docs.len())?;
        let is_whole = ends.len() == pairs.len()
            && pairs.is_sorted_by(|a, b| a < b)
            && docs.iter().all(|doc| usize::from(*doc) < len);
        Rejected::unless(is_whole, "the bigrams are those of other products")?;
        Ok(Self { pairs, ends, docs })
    }
}
