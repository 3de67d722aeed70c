//! The sketches of a segment's products, in blocks of 64.

use std::io;

use fearless_simd::{Level, dispatch};

use super::{
    cells::{self, Cell, CellLimits, NO_CELL},
    sketch::{MIN_SKETCH_DIMS, QuerySketch, Sketch},
};
use crate::index::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet, ones},
};

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
    /// The runs of products of one cell, for each block.
    cell_runs: Box<[CellRuns]>,
    /// How many products are of a lower cell than the product before.
    disordered: usize,
}

/// The runs of products of one cell in a block. Products are in order of cell but for vectors that came
/// after the last merge, so most blocks have one or two, and their cells need not be read from the table.
#[derive(Clone, Copy, Debug)]
struct CellRuns {
    /// The products with which runs begin.
    starts: u64,
    /// The cells of the first and of the last run.
    ends: [Cell; 2],
}

impl CellRuns {
    /// The runs of a block's cells.
    fn of(cells: &[Cell]) -> Self {
        let pairs = cells.windows(2).zip(1..);
        let starts =
            pairs.fold(1, |starts, (pair, at)| starts | u64::from(pair[0] != pair[1]) << at);
        let end = |cell: Option<&Cell>| cell.copied().unwrap_or(NO_CELL);
        Self { starts, ends: [end(cells.first()), end(cells.last())] }
    }
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
            cell_runs: vec![CellRuns::of(&[]); blocks].into(),
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
        self.cell_runs[block] = CellRuns::of(self.cells_of(block));
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

    /// Finds the runs of cells, and how many products are out of order.
    pub(super) fn index_cells(&mut self) {
        self.cell_runs = self.cells.chunks(BLOCK).map(CellRuns::of).collect();
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

    /// The greatest limit of a block's products.
    #[inline]
    pub(super) fn greatest_limit(&self, block: usize, limits: &CellLimits) -> f32 {
        let mut greatest = f32::NEG_INFINITY;
        self.for_each_run(block, |_, cell| greatest = greatest.max(limits.get(cell)));
        greatest
    }

    /// Calls `f` with the first product and the cell of each run of a block, in order.
    #[inline(always)]
    fn for_each_run(&self, block: usize, mut f: impl FnMut(usize, Cell)) {
        let runs = self.cell_runs.get(block).copied().unwrap_or(CellRuns::of(&[]));
        let CellRuns { starts, ends: [first, last] } = runs;
        let behind_first = starts & (starts - 1);
        f(0, first);
        match behind_first.count_ones() {
            0 => {}
            1 => f(behind_first.trailing_zeros() as usize, last),
            _ => {
                let cells = self.cells_of(block);
                ones(behind_first).for_each(|start| f(start, cells[start]));
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
        let mut limit_of = [1.0; BLOCK];
        self.for_each_run(block, |start, cell| limit_of[start..].fill(limits.get(cell)));
        for (cosine, limit) in cosines.iter_mut().zip(limit_of) {
            *cosine = cosine.min(limit);
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
            + size_of_val(&*self.cell_runs)
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
        let mut table = Self { known, signs, norm_ratios, cells, ..Self::default() };
        table.index_cells();
        Ok(table)
    }
}
