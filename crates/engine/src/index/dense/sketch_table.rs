//! The sketches of a segment's products, in blocks of 64.

use std::io;

use fearless_simd::{Level, dispatch};

use super::{
    cells::{self, Cell, CellLimits, NO_CELL},
    sketch::{MIN_SKETCH_DIMS, QuerySketch, Sketch},
};
use crate::index::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet},
};

/// A block with cells from a range of this many or more is asked for each of them.
const NARROW: Cell = 16;

/// The sketches of a segment's products, in one piece: a scan reads them in order, and the processor
/// fetches what is adjacent ahead of time.
#[derive(Clone, Debug, Default)]
pub(super) struct SketchTable {
    /// For each block, the products with a vector.
    known: Box<[u64]>,
    /// For each block, for each word of the signs, that word of each product. Empty for vectors with
    /// too few dimensions.
    signs: Box<[[u64; BLOCK]]>,
    /// For each block, the norm ratio of each sketch.
    norm_ratios: Box<[[f32; BLOCK]]>,
    /// The cell of each product.
    cells: Box<[Cell]>,
    /// For each block, the first and the last of its cells.
    cell_ranges: Box<[[Cell; 2]]>,
    /// How many products are of a lower cell than the product before.
    disordered: usize,
}

/// The first and the last of some cells.
fn range(cells: &[Cell]) -> [Cell; 2] {
    let first = cells.iter().copied().min().unwrap_or(NO_CELL);
    let last = cells.iter().copied().max().unwrap_or(NO_CELL);
    [first, last]
}

/// How often a cell is lower than the one before.
fn descents(cells: &[Cell]) -> usize {
    cells.windows(2).filter(|pair| pair[0] > pair[1]).count()
}

/// Words of the signs of a product.
fn words(dims: usize) -> usize {
    if dims < MIN_SKETCH_DIMS { 0 } else { dims.div_ceil(BLOCK) }
}

impl SketchTable {
    /// Room for the sketches of `len` products.
    pub(super) fn new(len: usize, dims: usize) -> Self {
        let blocks = len.div_ceil(BLOCK);
        Self {
            known: vec![0; blocks].into(),
            signs: vec![[0; BLOCK]; blocks * words(dims)].into(),
            norm_ratios: vec![[0.0; BLOCK]; blocks].into(),
            cells: vec![NO_CELL; len].into(),
            cell_ranges: vec![[NO_CELL; 2]; blocks].into(),
            disordered: 0,
        }
    }

    /// Whether a product has a vector.
    #[inline]
    pub(super) fn has(&self, doc: usize) -> bool {
        self.known(doc / BLOCK) >> (doc % BLOCK) & 1 == 1
    }

    /// The products of a block with a vector.
    #[inline]
    pub(super) fn known(&self, block: usize) -> u64 {
        self.known.get(block).copied().unwrap_or(0)
    }

    /// Makes the sketch of a vector.
    pub(super) fn put(&mut self, doc: usize, numbers: &[i8]) {
        let (block, place) = (doc / BLOCK, doc % BLOCK);
        self.known[block] |= 1 << place;
        let around = doc.saturating_sub(1)..(doc + 2).min(self.cells.len());
        self.disordered -= descents(&self.cells[around.clone()]);
        self.cells[doc] = cells::cell_of(numbers);
        self.disordered += descents(&self.cells[around]);
        self.cell_ranges[block] = range(self.cells_of(block));
        if !self.signs.is_empty() {
            let sketch = dispatch!(Level::new(), _ => Sketch::of(numbers));
            self.norm_ratios[block][place] = sketch.norm_ratio;
            let of_block = &mut self.signs[block * sketch.signs.len()..];
            for (words, word) in of_block.iter_mut().zip(&sketch.signs) {
                words[place] = *word;
            }
        }
    }

    /// Copies the sketch of a product of another table. [`Self::index_cells`] has to follow.
    pub(super) fn copy(&mut self, to: usize, other: &Self, from: usize, dims: usize) {
        let (block, place) = (to / BLOCK, to % BLOCK);
        let (other_block, other_place) = (from / BLOCK, from % BLOCK);
        self.known[block] |= 1 << place;
        self.norm_ratios[block][place] = other.norm_ratios[other_block][other_place];
        self.cells[to] = other.cells[from];
        let words = words(dims);
        let signs = &other.signs[other_block * words..(other_block + 1) * words];
        for (to, from) in self.signs[block * words..].iter_mut().zip(signs) {
            to[place] = from[other_place];
        }
    }

    /// Finds the cells of each block, and how many products are out of order.
    pub(super) fn index_cells(&mut self) {
        self.cell_ranges = self.cells.chunks(BLOCK).map(range).collect();
        self.disordered = descents(&self.cells);
    }

    /// How many products are of a lower cell than the product before.
    pub(super) fn disordered(&self) -> usize {
        self.disordered
    }

    /// The cell of a product.
    pub(super) fn cell(&self, doc: usize) -> Cell {
        self.cells.get(doc).copied().unwrap_or(NO_CELL)
    }

    /// At least the greatest limit of a block's products.
    #[inline]
    pub(super) fn greatest_limit(&self, block: usize, limits: &CellLimits) -> f32 {
        match self.cell_ranges.get(block) {
            None => 1.0,
            Some([first, last]) if last - first < NARROW => limits.greatest([*first, *last]),
            // Vectors that came after the last merge may be of any cell.
            Some(_) => {
                let limits = self.cells_of(block).iter().map(|cell| limits.get(*cell));
                limits.fold(f32::NEG_INFINITY, f32::max)
            }
        }
    }

    /// The cells of a block's products.
    #[inline]
    fn cells_of(&self, block: usize) -> &[Cell] {
        &self.cells[block * BLOCK..((block + 1) * BLOCK).min(self.cells.len())]
    }

    /// Lowers the cosine of each product of a block to its limit.
    #[inline]
    pub(super) fn limit(&self, block: usize, limits: &CellLimits, cosines: &mut [f32; BLOCK]) {
        let mut rest = &mut cosines[..];
        // The products of a cell are adjacent, but for vectors that came after the last merge.
        for cell in self.cells_of(block).chunk_by(|one, other| one == other) {
            let (own, others) = rest.split_at_mut(cell.len());
            let limit = limits.get(cell[0]);
            own.iter_mut().for_each(|cosine| *cosine = cosine.min(limit));
            rest = others;
        }
    }

    /// Estimates the cosines of a block's products; undefined for those without a vector.
    #[inline]
    pub(super) fn estimate(
        &self,
        block: usize,
        query: &QuerySketch,
        limits: Option<&CellLimits>,
        cosines: &mut [f32; BLOCK],
    ) {
        let signs = &self.signs[block * query.words()..(block + 1) * query.words()];
        let norm_ratios = &self.norm_ratios[block];
        dispatch!(Level::new(), simd => query.estimate(simd, signs, norm_ratios, cosines));
        if let Some(limits) = limits {
            self.limit(block, limits, cosines);
        }
    }

    /// Estimates the cosine of each product and writes it to its place. Products without a vector are
    /// skipped.
    pub(super) fn estimate_each<'a>(
        &self,
        query: &QuerySketch,
        limits: Option<&CellLimits>,
        products: impl Iterator<Item = (usize, &'a mut f32)>,
    ) {
        let words = query.words();
        dispatch!(Level::new(), simd => {
            for (doc, cosine) in products {
                let (block, place) = (doc / BLOCK, doc % BLOCK);
                let signs = &self.signs[block * words..(block + 1) * words];
                let estimate = query.estimate_one(simd, signs, &self.norm_ratios[block], place);
                let limit = limits.map_or(f32::INFINITY, |limits| limits.get(self.cells[doc]));
                let estimate = estimate.min(limit);
                // No branch: it would depend on what was just read.
                *cosine = if self.has(doc) { estimate } else { *cosine };
            }
        });
    }

    /// The norm ratio of a product's sketch.
    pub(super) fn norm_ratio(&self, doc: usize) -> f32 {
        self.norm_ratios[doc / BLOCK][doc % BLOCK]
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.known)
            + size_of_val(&*self.signs)
            + size_of_val(&*self.norm_ratios)
            + size_of_val(&*self.cells)
            + size_of_val(&*self.cell_ranges)
    }

    pub(super) fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.slice(&self.known)?;
        to.slice(self.signs.as_flattened())?;
        to.slice(self.norm_ratios.as_flattened())?;
        to.slice(&self.cells)
    }

    pub(super) fn read(
        from: &mut ArrayReader<'_>,
        len: usize,
        dims: usize,
    ) -> Result<Self, Rejected> {
        let blocks = len.div_ceil(BLOCK);
        let known = BitSet::read(from, len)?.blocks().collect();
        let signs: Box<[u64]> = from.array_of_len(blocks * words(dims) * BLOCK)?;
        let norm_ratios: Box<[f32]> = from.array_of_len(blocks * BLOCK)?;
        let are_finite = norm_ratios.iter().all(|number| number.is_finite());
        Rejected::unless(are_finite, "a sketch has no norm ratio")?;
        let (signs, norm_ratios) = (signs.as_chunks().0.into(), norm_ratios.as_chunks().0.into());
        let cells: Box<[Cell]> = from.array_of_len(len)?;
        let (cell_ranges, disordered) = Default::default();
        let mut table = Self { known, signs, norm_ratios, cells, cell_ranges, disordered };
        table.index_cells();
        Ok(table)
    }
}
