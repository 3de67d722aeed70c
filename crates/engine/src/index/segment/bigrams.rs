//! The bigrams of titles: which words are adjacent.

use std::io;

use catalog::analysis::{self, Bigram};

use crate::index::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// The bigrams of each product's title.
#[derive(Debug, Default)]
pub(in crate::index) struct Bigrams {
    /// Where each product's bigrams end; they start where those of the previous product end.
    ends: Box<[u32]>,
    pairs: Box<[Bigram]>,
}

impl Bigrams {
    /// The bigrams of a title, in no particular order.
    #[inline]
    pub(in crate::index) fn of(&self, doc: usize) -> &[Bigram] {
        let start = doc.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pairs[start as usize..self.ends[doc] as usize]
    }

    pub(in crate::index) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ends) + size_of_val(&*self.pairs)
    }
}

/// Collects bigrams product by product.
#[derive(Default)]
pub(in crate::index) struct BigramsBuilder {
    ends: Vec<u32>,
    pairs: Vec<Bigram>,
}

impl BigramsBuilder {
    /// Adds the next product, by its title.
    pub(in crate::index) fn push_title(&mut self, title: &str) {
        let start = self.pairs.len();
        analysis::for_each_bigram(title, |pair| {
            if !self.pairs[start..].contains(&pair) {
                self.pairs.push(pair);
            }
        });
        self.ends.push(self.pairs.len() as u32);
    }

    /// Adds the next product, by its bigrams.
    pub(in crate::index) fn push(&mut self, pairs: &[Bigram]) {
        self.pairs.extend_from_slice(pairs);
        self.ends.push(self.pairs.len() as u32);
    }

    pub(in crate::index) fn finish(self) -> Bigrams {
        Bigrams { ends: self.ends.into(), pairs: self.pairs.into() }
    }
}

impl Stored for Bigrams {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.array(self.pairs.iter().map(|pair| pair.to_bits()))?;
        to.slice(&self.ends)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let pairs = from.array_of(|bits| Some(Bigram::from_bits(bits)))?;
        let ends = from.ends(pairs.len())?;
        Rejected::unless(ends.len() == len, "the bigrams are those of other products")?;
        Ok(Self { ends, pairs })
    }
}
