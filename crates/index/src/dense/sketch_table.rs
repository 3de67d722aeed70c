//! The sketches of a segment's products, in blocks of 64.

use std::io;

use fearless_simd::{Level, dispatch};

use super::{
    cells::{self, Cell, CellLimits, NO_CELL},
    sign_sums::{self, LANES, Row},
    sketch::{MIN_SKETCH_DIMS, QuerySketch, Sketch},
};
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::{BLOCK, BitSet, ones},
};

/// Parts of a block whose products are compared at once.
const PARTS: usize = BLOCK / LANES;

/// The sketches of a segment's products, in one piece: a scan reads them in order, and the processor
/// fetches what is adjacent ahead of time.
#[derive(Clone, Debug, Default)]
pub(super) struct SketchTable {
    /// For each block, the products with a vector.
    known: Box<[u64]>,
    /// For each part of a block, the signs. Empty for vectors with too few dimensions.
    signs: Box<[Row]>,
    /// For each part of a block, the norm ratio of each sketch.
    norm_ratios: Box<[[f32; LANES]]>,
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

/// Rows of the signs of a part.
fn rows(dims: usize) -> usize {
    if dims < MIN_SKETCH_DIMS { 0 } else { sign_sums::rows(dims) }
}

impl SketchTable {
    /// Room for the sketches of `len` products.
    pub(super) fn new(len: usize, dims: usize) -> Self {
        let blocks = len.div_ceil(BLOCK);
        Self {
            known: vec![0; blocks].into(),
            signs: vec![[0; 2 * LANES]; blocks * PARTS * rows(dims)].into(),
            norm_ratios: vec![[0.0; LANES]; blocks * PARTS].into(),
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
            let (part, lane) = (doc / LANES, doc % LANES);
            self.norm_ratios[part][lane] = sketch.norm_ratio;
            let of_part = &mut self.signs[part * rows(numbers.len())..];
            sign_sums::put(of_part, lane, sketch.signs.into_iter());
        }
    }

    /// Copies the sketch of a product of another table. [`Self::index_cells`] has to follow.
    pub(super) fn copy(&mut self, to: usize, other: &Self, from: usize, dims: usize) {
        self.known[to / BLOCK] |= 1 << (to % BLOCK);
        self.cells[to] = other.cells[from];
        let (part, lane) = (to / LANES, to % LANES);
        let (other_part, other_lane) = (from / LANES, from % LANES);
        self.norm_ratios[part][lane] = other.norm_ratios[other_part][other_lane];
        let rows = rows(dims);
        let signs = &other.signs[other_part * rows..(other_part + 1) * rows];
        sign_sums::copy(&mut self.signs[part * rows..], lane, signs, other_lane);
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
        let (mut run, mut limit) = (0, f32::INFINITY);
        let lower = |cosines: &mut [f32], limit: f32| {
            cosines.iter_mut().for_each(|cosine| *cosine = cosine.min(limit));
        };
        self.for_each_run(block, |start, cell| {
            lower(&mut cosines[run..start], limit);
            (run, limit) = (start, limits.get(cell));
        });
        lower(&mut cosines[run..], limit);
    }

    /// Estimates the cosines of a block's `products`, and perhaps of others; undefined for those without
    /// a vector.
    #[inline]
    pub(super) fn estimate(
        &self,
        block: usize,
        products: u64,
        query: &QuerySketch,
        limits: Option<&CellLimits>,
        cosines: &mut [f32; BLOCK],
    ) {
        for (part, cosines) in cosines.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            if products >> (part * LANES) & u64::from(u16::MAX) != 0 {
                self.estimate_part(block * PARTS + part, query, cosines);
            }
        }
        if let Some(limits) = limits {
            self.limit(block, limits, cosines);
        }
    }

    #[inline]
    fn estimate_part(&self, part: usize, query: &QuerySketch, cosines: &mut [f32; LANES]) {
        let signs = &self.signs[part * query.rows()..(part + 1) * query.rows()];
        let norm_ratios = &self.norm_ratios[part];
        dispatch!(Level::new(), simd => query.estimate(simd, signs, norm_ratios, cosines));
    }

    /// Estimates the cosine of each product, which are ascending, and writes it to its place. Products
    /// without a vector are skipped.
    pub(super) fn estimate_each<'a>(
        &self,
        query: &QuerySketch,
        limits: Option<&CellLimits>,
        products: impl Iterator<Item = (usize, &'a mut f32)>,
    ) {
        let mut compared = usize::MAX;
        let mut cosines = [0.0; LANES];
        for (doc, cosine) in products.filter(|(doc, _)| self.has(*doc)) {
            if doc / LANES != compared {
                compared = doc / LANES;
                self.estimate_part(compared, query, &mut cosines);
            }
            let limit = limits.map_or(f32::INFINITY, |limits| limits.get(self.cells[doc]));
            *cosine = cosines[doc % LANES].min(limit);
        }
    }

    /// The norm ratio of a product's sketch.
    pub(super) fn norm_ratio(&self, doc: usize) -> f32 {
        self.norm_ratios[doc / LANES][doc % LANES]
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
        to.slice(&self.signs)?;
        to.slice(&self.norm_ratios)?;
        to.slice(&self.cells)
    }

    pub(super) fn read(
        from: &mut ArrayReader<'_>,
        len: usize,
        dims: usize,
    ) -> Result<Self, Rejected> {
        let blocks = len.div_ceil(BLOCK);
        let known = BitSet::read(from, len)?.blocks().collect();
        let signs = from.array_of_len(blocks * PARTS * rows(dims))?;
        let norm_ratios: Box<[[f32; LANES]]> = from.array_of_len(blocks * PARTS)?;
        let are_finite = norm_ratios.as_flattened().iter().all(|number| number.is_finite());
        Rejected::unless(are_finite, "a sketch has no norm ratio")?;
        let cells: Box<[Cell]> = from.array_of_len(len)?;
        let mut table = Self { known, signs, norm_ratios, cells, ..Self::default() };
        table.index_cells();
        Ok(table)
    }
}
