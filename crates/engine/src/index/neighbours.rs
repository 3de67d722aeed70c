//! Which words stand side by side in the titles of a segment's products?

use catalog::analysis::{self, Bigram};

/// The neighbours of each title.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// Where each product's pairs end; they begin where those of the product before end.
    ends: Box<[u32]>,
    pairs: Box<[Bigram]>,
}

impl Neighbours {
    /// Those of a product's title, in no particular order.
    #[inline]
    pub(super) fn of(&self, doc: usize) -> &[Bigram] {
        let start = doc.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.pairs[start as usize..self.ends[doc] as usize]
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ends) + size_of_val(&*self.pairs)
    }
}

/// Collects them product by product.
#[derive(Default)]
pub(super) struct NeighboursBuilder {
    ends: Vec<u32>,
    pairs: Vec<Bigram>,
}

impl NeighboursBuilder {
    /// Those of the next product, from its title.
    pub(super) fn read(&mut self, title: &str) {
        let start = self.pairs.len();
        analysis::for_each_bigram(title, |pair| {
            if !self.pairs[start..].contains(&pair) {
                self.pairs.push(pair);
            }
        });
        self.ends.push(self.pairs.len() as u32);
    }

    /// Those of the next product, which are known.
    pub(super) fn copy(&mut self, pairs: &[Bigram]) {
        self.pairs.extend_from_slice(pairs);
        self.ends.push(self.pairs.len() as u32);
    }

    pub(super) fn finish(self) -> Neighbours {
        Neighbours { ends: self.ends.into(), pairs: self.pairs.into() }
    }
}
