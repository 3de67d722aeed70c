//! Attention: each token becomes a mean of all tokens' values, weighted by how well its query
//! matches their keys.

use fearless_simd::{Simd, prelude::*};

use super::{
    architecture::HEAD_MULTIPLE,
    math::{LANES, Lanes, exp},
};

/// Keys, or values, that are processed together.
const BLOCK: usize = HEAD_MULTIPLE;

/// Buffers of one head, reused for all of them.
#[derive(Default)]
pub(super) struct Attention {
    /// For each block of keys, one number of each of its keys, then the next of each, and so on.
    keys: Vec<[f32; BLOCK]>,
    /// For as many tokens as there are lanes, one number of each of their queries, and so on.
    queries: Vec<[f32; LANES]>,
    /// For each key, its share in the mean of each of these tokens.
    shares: Vec<[f32; LANES]>,
}

impl Attention {
    /// Computes the means. `joined` has the query, the key and the value of each token, `means` gets
    /// `width` numbers for each.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &mut self,
        simd: S,
        heads: usize,
        width: usize,
        joined: &[f32],
        means: &mut [f32],
    ) {
        let size = width / heads;
        let tokens = means.len() / width;
        for head in 0..heads {
            let start = head * size;
            self.pack_keys(joined, width, start, size);
            for first in (0..tokens).step_by(LANES) {
                self.pack_queries(&joined[first * 3 * width..], width, start, size);
                let reciprocal = self.weigh(simd, tokens, size);
                let values = &joined[2 * width + start..];
                let means = &mut means[first * width + start..];
                self.mean(simd, (values, 3 * width), reciprocal, (means, width), size);
            }
        }
    }

    #[inline(always)]
    fn pack_keys(&mut self, joined: &[f32], width: usize, start: usize, size: usize) {
        self.keys.clear();
        for block in joined.chunks(BLOCK * 3 * width) {
            let first = self.keys.len();
            self.keys.resize(first + size, [0.0; BLOCK]);
            for (at, token) in block.chunks_exact(3 * width).enumerate() {
                let key = &token[width + start..][..size];
                for (packed, number) in self.keys[first..].iter_mut().zip(key) {
                    packed[at] = *number;
                }
            }
        }
    }

    #[inline(always)]
    fn pack_queries(&mut self, joined: &[f32], width: usize, start: usize, size: usize) {
        let scale = 1.0 / (size as f32).sqrt();
        self.queries.clear();
        self.queries.resize(size, [0.0; LANES]);
        for (lane, token) in joined.chunks_exact(3 * width).take(LANES).enumerate() {
            let query = &token[start..][..size];
            for (packed, number) in self.queries.iter_mut().zip(query) {
                packed[lane] = number * scale;
            }
        }
    }

    /// Computes the shares of all keys, which are to be multiplied with the returned numbers.
    #[inline(always)]
    fn weigh<S: Simd>(&mut self, simd: S, tokens: usize, size: usize) -> Lanes<S> {
        self.shares.clear();
        for keys in self.keys.chunks_exact(size) {
            let mut products = [Lanes::splat(simd, 0.0); BLOCK];
            for (query, keys) in self.queries.iter().zip(keys) {
                let query = Lanes::load_array_ref(simd, query);
                for at in 0..BLOCK {
                    products[at] = query.mul_add(Lanes::splat(simd, keys[at]), products[at]);
                }
            }
            for product in products {
                self.shares.push(product.into());
            }
        }
        self.shares.truncate(tokens);
        let mut greatest = Lanes::splat(simd, f32::MIN);
        for product in &self.shares {
            greatest = greatest.max(Lanes::load_array_ref(simd, product));
        }
        let mut sum = Lanes::splat(simd, 0.0);
        for share in &mut self.shares {
            let weight = exp(simd, Lanes::load_array_ref(simd, share) - greatest);
            sum += weight;
            weight.store_slice(share);
        }
        Lanes::splat(simd, 1.0) / sum
    }

    /// Computes the means of one head's values, for as many tokens as there are lanes. Values and
    /// means each come with the distance from one token's to the next one's.
    #[inline(always)]
    fn mean<S: Simd>(
        &self,
        simd: S,
        (values, value_stride): (&[f32], usize),
        reciprocal: Lanes<S>,
        (means, mean_stride): (&mut [f32], usize),
        size: usize,
    ) {
        for number in (0..size).step_by(BLOCK) {
            let mut sums = [Lanes::splat(simd, 0.0); BLOCK];
            for (share, value) in self.shares.iter().zip(values.chunks(value_stride)) {
                let share = Lanes::load_array_ref(simd, share);
                let value = &value[number..][..BLOCK];
                for at in 0..BLOCK {
                    sums[at] = share.mul_add(Lanes::splat(simd, value[at]), sums[at]);
                }
            }
            for at in 0..BLOCK {
                let lanes: [f32; LANES] = (sums[at] * reciprocal).into();
                for (token, mean) in means.chunks_mut(mean_stride).zip(lanes) {
                    token[number + at] = mean;
                }
            }
        }
    }
}
