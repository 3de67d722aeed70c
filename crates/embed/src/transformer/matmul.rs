//! Products of quantised values with packed int8 weights.
//!
//! Each token's values are quantised to unsigned bytes with a scale and a zero point of their own,
//! so a token's result does not depend on other tokens. Sums of products are exact integers, equal
//! on every processor; the conversion to floats is the same code everywhere.
//!
//! A product reads each weight once and is limited by that: the weights of an encoder do not fit
//! the second-level cache. So the layout is the order of reading. A *panel* is [`PANEL`] columns; in
//! it, a *step* has [`GROUP`] consecutive weights of each column, which is what one instruction
//! multiplies with four values of a token (`vpdpbusd`). The tokens of a *tile* share each load.

use fearless_simd::{Level, Simd, prelude::*};

use super::math::{LANES, Lanes};

/// Columns of a panel.
const PANEL: usize = 32;
/// Consecutive inputs that are multiplied together.
const GROUP: usize = 4;
/// The most tokens of a tile: more accumulators would not fit the registers.
const MAX_ROWS: usize = 12;

/// Values of a smaller range count as zeros, so that no scale is a subnormal number.
const MIN_RANGE: f32 = 1e-30;

/// The most inputs of a matrix; the sums of products fit 32 bits.
pub(super) const MAX_INPUTS: usize = 1 << 15;
/// Output columns come in multiples of this, so that padding to a panel stays small.
pub(super) const COLUMN_MULTIPLE: usize = 8;

/// The weights of one step of a panel.
#[derive(Clone)]
#[repr(C, align(64))]
struct Step([i8; PANEL * GROUP]);

/// Weights, packed for multiplication.
pub(super) struct Matrix {
    inputs: usize,
    outputs: usize,
    steps: Box<[Step]>,
    panels: Box<[Panel]>,
}

/// What turns the sums of a panel into floats.
#[derive(Clone)]
struct Panel {
    /// The sum of each column's weights.
    sums: [i32; PANEL],
    scales: [f32; PANEL],
    bias: [f32; PANEL],
}

/// Sums of products, one row per token of a tile.
type Sums = [[i32; PANEL]; MAX_ROWS];

impl Matrix {
    /// Packs parts of `inputs` rows each, with their columns side by side. A part is its weights,
    /// row by row, and its number of columns.
    pub(super) fn new(
        inputs: usize,
        parts: &[(&[u8], usize)],
        scales: &[f32],
        bias: &[f32],
    ) -> Self {
        let outputs = parts.iter().map(|(_, columns)| columns).sum::<usize>();
        let groups = inputs / GROUP;
        let panels = outputs.div_ceil(PANEL);
        let mut steps = vec![Step([0; PANEL * GROUP]); panels * groups].into_boxed_slice();
        let mut made =
            vec![Panel { sums: [0; PANEL], scales: [0.0; PANEL], bias: [0.0; PANEL] }; panels];
        let mut first = 0;
        for (weights, columns) in parts {
            for (group, rows) in weights.chunks_exact(GROUP * columns).enumerate() {
                let mut column = 0;
                while column < *columns {
                    let (panel, place) = ((first + column) / PANEL, (first + column) % PANEL);
                    let end = PANEL.min(place + columns - column);
                    let step = steps[panel * groups + group].0.as_chunks_mut::<GROUP>().0;
                    let sums = &mut made[panel].sums[place..end];
                    for (at, row) in rows.chunks_exact(*columns).enumerate() {
                        let places = step[place..end].iter_mut().zip(&mut *sums);
                        for (weight, (place, sum)) in row[column..].iter().zip(places) {
                            place[at] = weight.cast_signed();
                            *sum += i32::from(weight.cast_signed());
                        }
                    }
                    column += end - place;
                }
            }
            first += columns;
        }
        for (at, (scale, bias)) in scales.iter().zip(bias).enumerate() {
            made[at / PANEL].scales[at % PANEL] = *scale;
            made[at / PANEL].bias[at % PANEL] = *bias;
        }
        Self { inputs, outputs, steps, panels: made.into_boxed_slice() }
    }

    /// Values per token that are multiplied.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Values per token that result.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// The product with each token's values, token by token.
    #[inline(always)]
    pub(super) fn multiply<S: Simd>(&self, simd: S, values: &Quantised, products: &mut [f32]) {
        debug_assert_eq!(
            (values.width, products.len()),
            (self.inputs, values.tokens() * self.outputs)
        );
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(avx512) => x86::multiply_avx512(avx512, self, values, products),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(avx2) => x86::multiply_avx2(avx2, self, values, products),
            _ => self.multiply_portably(values, products),
        }
    }

    #[inline(always)]
    fn multiply_portably(&self, values: &Quantised, products: &mut [f32]) {
        let mut sums = [[0; PANEL]; MAX_ROWS];
        for (at, steps, panel) in self.panels() {
            for tile in values.tiles() {
                sum_portably(steps, &tile, &mut sums);
                self.store(at, panel, &tile, &sums, products);
            }
        }
    }

    /// The number, the weights and the parameters of each panel.
    #[inline(always)]
    fn panels(&self) -> impl Iterator<Item = (usize, &[Step], &Panel)> {
        let groups = (self.inputs / GROUP).max(1);
        let panels = self.steps.chunks_exact(groups).zip(&self.panels);
        panels.enumerate().map(|(at, (steps, panel))| (at, steps, panel))
    }

    /// Stores the products of a panel with the tokens of a tile.
    #[inline(always)]
    fn store(&self, at: usize, panel: &Panel, tile: &Tile<'_>, sums: &Sums, products: &mut [f32]) {
        let columns = PANEL.min(self.outputs - at * PANEL);
        let rows = products.chunks_exact_mut(self.outputs).skip(tile.first);
        for ((row, sums), (scale, zero)) in rows.zip(sums).zip(tile.scales.iter().zip(tile.zeros)) {
            let mut floats = [0.0; PANEL];
            for at in 0..PANEL {
                let sum = sums[at] - zero * panel.sums[at];
                floats[at] = sum as f32 * (scale * panel.scales[at]) + panel.bias[at];
            }
            let row = &mut row[at * PANEL..];
            match row.first_chunk_mut() {
                Some(whole) => *whole = floats,
                None => row.copy_from_slice(&floats[..columns]),
            }
        }
    }
}

/// The values of tokens, quantised for a product.
///
/// A number is `(byte - zero) · scale`. The words have four bytes each; a tile has the first word of
/// each of its tokens, then the second of each, and so on.
#[derive(Default)]
pub(super) struct Quantised {
    width: usize,
    /// The bytes of one token.
    bytes: Vec<u8>,
    words: Vec<u32>,
    scales: Vec<f32>,
    zeros: Vec<i32>,
}

/// Tokens that are multiplied together.
struct Tile<'a> {
    first: usize,
    rows: usize,
    words: &'a [u32],
    scales: &'a [f32],
    zeros: &'a [i32],
}

impl Quantised {
    /// Quantises the values of tokens, `width` each.
    #[inline(always)]
    pub(super) fn set<S: Simd>(&mut self, simd: S, width: usize, values: &[f32]) {
        let tokens = values.len() / width;
        let groups = width / GROUP;
        self.width = width;
        self.scales.clear();
        self.zeros.clear();
        self.bytes.resize(width, 0);
        self.words.resize(tokens * groups, 0);
        for (first, rows) in tiles(tokens) {
            let words = &mut self.words[first * groups..][..rows * groups];
            let tokens = values[first * width..].chunks_exact(width).take(rows);
            for (at, token) in tokens.enumerate() {
                let (scale, zero) = quantise(simd, token, &mut self.bytes, &mut words[at..], rows);
                self.scales.push(scale);
                self.zeros.push(zero);
            }
        }
    }

    fn tokens(&self) -> usize {
        self.scales.len()
    }

    #[inline(always)]
    fn tiles(&self) -> impl Iterator<Item = Tile<'_>> {
        let groups = self.width / GROUP;
        tiles(self.tokens()).map(move |(first, rows)| Tile {
            first,
            rows,
            words: &self.words[first * groups..][..rows * groups],
            scales: &self.scales[first..][..rows],
            zeros: &self.zeros[first..][..rows],
        })
    }
}

/// The first token and the number of tokens of each tile, of nearly equal size.
fn tiles(tokens: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = tokens.div_ceil(MAX_ROWS);
    (0..count).map(move |at| {
        let (first, end) = (tokens * at / count, tokens * (at + 1) / count);
        (first, end - first)
    })
}

/// Quantises the values of a token into bytes, and these into every `stride`th word; returns the
/// scale and the zero point.
#[inline(always)]
fn quantise<S: Simd>(
    simd: S,
    values: &[f32],
    bytes: &mut [u8],
    words: &mut [u32],
    stride: usize,
) -> (f32, i32) {
    let zeros = Lanes::splat(simd, 0.0);
    let (mut low, mut high) = (zeros, zeros);
    let (chunks, _) = values.as_chunks::<LANES>();
    for chunk in chunks {
        let chunk = Lanes::load_array_ref(simd, chunk);
        low = low.min(chunk);
        high = high.max(chunk);
    }
    let (low, high) = (low.reduce_min(), high.reduce_max());
    let range = high - low;
    let scale = if range >= MIN_RANGE { range / 255.0 } else { 1.0 };
    let zero = (-low / scale).round_ties_even().clamp(0.0, 255.0);
    let (factor, shift) = (Lanes::splat(simd, 1.0 / scale), Lanes::splat(simd, zero));
    let (least, greatest) = (zeros, Lanes::splat(simd, 255.0));
    for (chunk, bytes) in chunks.iter().zip(bytes.as_chunks_mut::<LANES>().0) {
        let scaled = Lanes::load_array_ref(simd, chunk) * factor;
        let rounded = (scaled.round_ties_even() + shift).max(least).min(greatest);
        let numbers: [i32; LANES] = rounded.to_int::<fearless_simd::i32x16<S>>().into();
        for at in 0..LANES {
            bytes[at] = numbers[at] as u8;
        }
    }
    // A second pass, because the compiler would take the words apart in registers otherwise.
    for (bytes, word) in bytes.as_chunks().0.iter().zip(words.iter_mut().step_by(stride)) {
        *word = u32::from_le_bytes(*bytes);
    }
    (scale, zero as i32)
}

/// Sums of products in plain code.
#[inline(always)]
fn sum_portably(steps: &[Step], tile: &Tile<'_>, sums: &mut Sums) {
    for (row, sums) in sums.iter_mut().take(tile.rows).enumerate() {
        *sums = [0; PANEL];
        for (step, words) in steps.iter().zip(tile.words.chunks_exact(tile.rows)) {
            let bytes = words[row].to_le_bytes();
            for (sum, weights) in sums.iter_mut().zip(step.0.as_chunks::<GROUP>().0) {
                for at in 0..GROUP {
                    *sum += i32::from(bytes[at]) * i32::from(weights[at]);
                }
            }
        }
    }
}

/// Kernels with instructions that the compiler does not find by itself.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use fearless_simd::{i8x16, i8x64, i32x8, i32x16, kernel, prelude::*};

    use super::{GROUP, MAX_ROWS, Matrix, PANEL, Quantised, Step, Sums, Tile};

    /// Tokens and columns that are multiplied together with 16 registers of 256 bits.
    const NARROW_ROWS: usize = 4;
    const NARROW_COLUMNS: usize = 8;

    kernel!(
        pub(super) fn multiply_avx512(
            avx512: Avx512,
            matrix: &Matrix,
            values: &Quantised,
            products: &mut [f32],
        ) {
            let mut sums = [[0; PANEL]; MAX_ROWS];
            for (at, steps, panel) in matrix.panels() {
                for tile in values.tiles() {
                    match tile.rows {
                        1 => sum_avx512::<1>(avx512, steps, &tile, &mut sums),
                        2 => sum_avx512::<2>(avx512, steps, &tile, &mut sums),
                        3 => sum_avx512::<3>(avx512, steps, &tile, &mut sums),
                        4 => sum_avx512::<4>(avx512, steps, &tile, &mut sums),
                        5 => sum_avx512::<5>(avx512, steps, &tile, &mut sums),
                        6 => sum_avx512::<6>(avx512, steps, &tile, &mut sums),
                        7 => sum_avx512::<7>(avx512, steps, &tile, &mut sums),
                        8 => sum_avx512::<8>(avx512, steps, &tile, &mut sums),
                        9 => sum_avx512::<9>(avx512, steps, &tile, &mut sums),
                        10 => sum_avx512::<10>(avx512, steps, &tile, &mut sums),
                        11 => sum_avx512::<11>(avx512, steps, &tile, &mut sums),
                        _ => sum_avx512::<MAX_ROWS>(avx512, steps, &tile, &mut sums),
                    }
                    matrix.store(at, panel, &tile, &sums, products);
                }
            }
        }
    );

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn sum_avx512<const ROWS: usize>(
        avx512: fearless_simd::Avx512,
        steps: &[Step],
        tile: &Tile<'_>,
        sums: &mut Sums,
    ) {
        let mut low = [_mm512_setzero_si512(); ROWS];
        let mut high = low;
        for (step, words) in steps.iter().zip(tile.words.as_chunks::<ROWS>().0) {
            let (left, right) = step.0.split_at(PANEL * GROUP / 2);
            let left: __m512i = i8x64::from_slice(avx512, left).into();
            let right: __m512i = i8x64::from_slice(avx512, right).into();
            for row in 0..ROWS {
                let bytes = _mm512_set1_epi32(words[row].cast_signed());
                low[row] = _mm512_dpbusd_epi32(low[row], bytes, left);
                high[row] = _mm512_dpbusd_epi32(high[row], bytes, right);
            }
        }
        for row in 0..ROWS {
            let (left, right) = sums[row].split_at_mut(PANEL / 2);
            let (low, high): (i32x16<_>, i32x16<_>) =
                (low[row].simd_into(avx512), high[row].simd_into(avx512));
            low.store_slice(left);
            high.store_slice(right);
        }
    }

    kernel!(
        pub(super) fn multiply_avx2(
            avx2: Avx2,
            matrix: &Matrix,
            values: &Quantised,
            products: &mut [f32],
        ) {
            let mut sums = [[0; PANEL]; MAX_ROWS];
            for (at, steps, panel) in matrix.panels() {
                for tile in values.tiles() {
                    for first in (0..tile.rows).step_by(NARROW_ROWS) {
                        match tile.rows - first {
                            1 => sum_avx2::<1>(avx2, steps, &tile, first, &mut sums),
                            2 => sum_avx2::<2>(avx2, steps, &tile, first, &mut sums),
                            3 => sum_avx2::<3>(avx2, steps, &tile, first, &mut sums),
                            _ => sum_avx2::<NARROW_ROWS>(avx2, steps, &tile, first, &mut sums),
                        }
                    }
                    matrix.store(at, panel, &tile, &sums, products);
                }
            }
        }
    );

    /// Products of 16-bit numbers: those of bytes (`vpmaddubsw`) would saturate.
    #[target_feature(enable = "avx2")]
    fn sum_avx2<const ROWS: usize>(
        avx2: fearless_simd::Avx2,
        steps: &[Step],
        tile: &Tile<'_>,
        first: usize,
        sums: &mut Sums,
    ) {
        for column in (0..PANEL).step_by(NARROW_COLUMNS) {
            // Each column has two sums, of its even and its odd pairs of products.
            let mut low = [_mm256_setzero_si256(); ROWS];
            let mut high = low;
            for (step, words) in steps.iter().zip(tile.words.chunks_exact(tile.rows)) {
                let weights = &step.0[column * GROUP..][..NARROW_COLUMNS * GROUP];
                let (left, right) = weights.split_at(NARROW_COLUMNS * GROUP / 2);
                let left = _mm256_cvtepi8_epi16(i8x16::from_slice(avx2, left).into());
                let right = _mm256_cvtepi8_epi16(i8x16::from_slice(avx2, right).into());
                let words = &words[first..][..ROWS];
                for row in 0..ROWS {
                    let bytes = _mm256_cvtepu8_epi16(_mm_set1_epi32(words[row].cast_signed()));
                    low[row] = _mm256_add_epi32(low[row], _mm256_madd_epi16(bytes, left));
                    high[row] = _mm256_add_epi32(high[row], _mm256_madd_epi16(bytes, right));
                }
            }
            for row in 0..ROWS {
                let pairs = _mm256_hadd_epi32(low[row], high[row]);
                let whole: i32x8<_> =
                    _mm256_permute4x64_epi64::<0b11_01_10_00>(pairs).simd_into(avx2);
                whole.store_slice(&mut sums[first + row][column..][..NARROW_COLUMNS]);
            }
        }
    }
}
