//! The mutable columns of a segment: visibility, price and version of each product.
//!
//! An update that leaves the texts unchanged only updates these columns, whatever the length of
//! the texts. Prices and versions are stored in copy-on-write chunks that snapshots share: an
//! update copies one chunk.

use std::{io, sync::Arc};

use catalog::product::{
    change::Seq,
    price::{Money, PackedMoney},
};

use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet},
    near_numbers::NearNumbers,
};

/// Products of a chunk: whole blocks, large enough for a scan and small enough to copy.
const CHUNK: usize = 4 * BLOCK;

/// The mutable columns of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    hidden: BitSet,
    chunks: Vec<Arc<Chunk>>,
}

#[derive(Clone, Debug)]
struct Chunk {
    versions: NearNumbers,
    prices: Box<[PackedMoney]>,
}

impl Columns {
    /// The columns of products in order of document number.
    pub(crate) fn new(hidden: BitSet, versions: &[Seq], prices: &[Option<Money>]) -> Self {
        let chunks = versions.chunks(CHUNK).zip(prices.chunks(CHUNK));
        let chunk = |(versions, prices): (&[Seq], &[Option<Money>])| {
            let prices = prices.iter().map(|price| PackedMoney::from(*price)).collect();
            let versions: Box<[u64]> = versions.iter().map(|version| version.0).collect();
            Arc::new(Chunk { versions: versions.into(), prices })
        };
        Self { hidden, chunks: chunks.map(chunk).collect() }
    }

    /// Which products are hidden.
    #[inline]
    pub(crate) fn hidden(&self) -> &BitSet {
        &self.hidden
    }

    pub(crate) fn version(&self, doc: usize) -> Seq {
        Seq(self.chunks[doc / CHUNK].versions.get(doc % CHUNK))
    }

    pub(crate) fn price(&self, doc: usize) -> Option<Money> {
        self.chunks[doc / CHUNK].prices[doc % CHUNK].get()
    }

    /// Prices from document `block * BLOCK`: at least those of the block.
    #[inline]
    pub(crate) fn prices(&self, block: usize) -> &[PackedMoney] {
        let first = block * BLOCK;
        &self.chunks[first / CHUNK].prices[first % CHUNK..]
    }

    /// Updates a product.
    pub(crate) fn update(&mut self, doc: usize, hidden: bool, price: Option<Money>, version: Seq) {
        self.hidden.assign(doc, hidden);
        let chunk = Arc::make_mut(&mut self.chunks[doc / CHUNK]);
        chunk.prices[doc % CHUNK] = price.into();
        chunk.versions.set(doc % CHUNK, version.0);
    }

    /// The documents that changed since `before`, an earlier state of these columns.
    pub(crate) fn changed_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = usize> + 'a {
        let chunks = self.chunks.iter().zip(&before.chunks).enumerate();
        chunks.filter(|(_, (now, before))| !Arc::ptr_eq(now, before)).flat_map(
            |(at, (now, before))| {
                let versions = now.versions.iter().zip(before.versions.iter()).enumerate();
                let changed = versions.filter(|(_, (now, before))| now != before);
                changed.map(move |(doc, _)| at * CHUNK + doc)
            },
        )
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let of_chunk = |chunk: &Arc<Chunk>| {
            size_of::<Chunk>() + chunk.versions.memory_bytes() + size_of_val(&*chunk.prices)
        };
        let chunks: usize = self.chunks.iter().map(of_chunk).sum();
        self.hidden.memory_bytes() + size_of_val(&*self.chunks) + chunks
    }
}

/// In place of the bits of a price.
const NO_PRICE: u128 = u128::MAX;

impl Stored for Columns {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        self.hidden.write(to)?;
        for chunk in &self.chunks {
            to.array(chunk.versions.iter())?;
            let price = |price: &PackedMoney| price.get().map_or(NO_PRICE, Money::to_bits);
            to.array(chunk.prices.iter().map(price))?;
        }
        Ok(())
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let hidden = BitSet::read(from, len)?;
        let chunks = (0..len).step_by(CHUNK).map(|first| {
            let versions: NearNumbers = from.array()?.into();
            let prices = from.array_of(|bits| match bits {
                NO_PRICE => Some(None.into()),
                bits => Money::from_bits(bits).map(|price| Some(price).into()),
            })?;
            let len = CHUNK.min(len - first);
            let is_whole = versions.len() == len && prices.len() == len;
            Rejected::unless(is_whole, "versions and prices do not fit")?;
            Ok(Arc::new(Chunk { versions, prices }))
        });
        Ok(Self { hidden, chunks: chunks.collect::<Result<_, Rejected>>()? })
    }
}

#[cfg(test)]
mod tests {
    use catalog::{
        product::{ProductId, access::Visibility, price::Price},
        text::analysis::QueryTerms,
    };

    use super::*;
    use crate::{Entry, EntryVectors, IndexChange, ShopIndex};

    fn entry(id: u64, version: u64) -> Entry<'static> {
        Entry {
            id: ProductId::new(id).unwrap(),
            version: Seq(version),
            hidden: false,
            price: Price::parse("$5").unwrap().money(),
            title: "lamp",
            description: "for reading",
            key: None,
            attributes: catalog::product::attributes::Attributes::none(),
            inferred: catalog::product::inferred::Inferred::default(),
            vectors: EntryVectors::Missing,
        }
    }

    fn found(index: &ShopIndex, visibility: Visibility) -> Vec<(u64, Seq)> {
        let words = QueryTerms::of("lamp");
        let hits = index.snapshot().search_words(&words, visibility, 0, 1000).hits;
        let mut found: Vec<_> = hits.iter().map(|hit| (hit.product.get(), hit.version)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn an_update_without_new_texts_only_updates_columns() {
        let index = ShopIndex::empty();
        let entries: Vec<_> = (1..=600).map(|id| IndexChange::Upsert(entry(id, id))).collect();
        index.apply(&entries, Seq(600));
        let before = index.snapshot();
        let price = Price::parse("$9").unwrap().money();
        // Not read: the caller says that the texts are unchanged.
        let (title, description) = ("other", "texts");
        let vectors = EntryVectors::Unchanged;
        let hidden = Entry { hidden: true, price, title, description, vectors, ..entry(300, 601) };
        index.apply(&[IndexChange::Upsert(hidden)], Seq(601));
        let after = index.snapshot();
        assert_eq!(after.segment_count(), 1);
        let (then, now) = (&before.segments()[0], &after.segments()[0]);
        assert!(Arc::ptr_eq(&then.segment, &now.segment));
        assert_eq!(now.deleted_count(), 0);
        assert_eq!((now.columns().price(299), now.columns().version(299)), (price, Seq(601)));
        assert_eq!(now.columns().changed_since(then.columns()).collect::<Vec<_>>(), [299]);
        let shared = now.columns().chunks.iter().zip(&then.columns().chunks);
        assert_eq!(shared.filter(|(now, then)| !Arc::ptr_eq(now, then)).count(), 1);
        assert_eq!((before.visible_count(), after.visible_count()), (600, 599));
        assert_eq!(found(&index, Visibility::VisibleOnly).len(), 599);
        assert!(found(&index, Visibility::All).contains(&(300, Seq(601))));
        let shown = Entry { hidden: false, version: Seq(602), ..hidden };
        index.apply(&[IndexChange::Upsert(shown)], Seq(602));
        assert_eq!(found(&index, Visibility::VisibleOnly).len(), 600);
    }

    #[test]
    fn an_unchanged_product_that_is_not_indexed_yet_is_indexed() {
        let index = ShopIndex::empty();
        let unknown = Entry { vectors: EntryVectors::Unchanged, ..entry(1, 1) };
        index.apply(&[IndexChange::Upsert(unknown)], Seq(1));
        assert_eq!(found(&index, Visibility::VisibleOnly), [(1, Seq(1))]);
    }

    #[test]
    fn a_merge_keeps_column_updates_made_meanwhile() {
        let index = ShopIndex::empty();
        for id in 1..=2 {
            index.apply(&[IndexChange::Upsert(entry(id, id))], Seq(id));
        }
        let sources = index.snapshot().segments().to_vec();
        let merged = crate::segment::merge(&sources);
        let hidden = Entry { hidden: true, vectors: EntryVectors::Unchanged, ..entry(1, 3) };
        index.apply(&[IndexChange::Upsert(hidden)], Seq(3));
        index.shared.publish_merge(&sources, merged);
        assert_eq!(index.snapshot().segment_count(), 1);
        assert_eq!(found(&index, Visibility::VisibleOnly), [(2, Seq(2))]);
        assert_eq!(found(&index, Visibility::All), [(1, Seq(3)), (2, Seq(2))]);
        assert_eq!(index.snapshot().visible_count(), 1);
    }
}
