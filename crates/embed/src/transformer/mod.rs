//! The forward pass of the deep encoder: a BERT encoder with int8 weights.
//!
//! It reads the weights of exactly the graph that the training exports ([`architecture`]) and runs
//! it with kernels for the processor at hand ([`matmul`], [`attention`], [`math`]). The vector of a
//! text depends on that text alone.

mod architecture;
mod attention;
mod math;
mod matmul;
mod onnx;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use fearless_simd::{Level, Simd, dispatch};

use architecture::{Architecture, Layer, Table};
use attention::Attention;
use math::Norm;
use matmul::{Matrix, Quantised};

/// An encoder of token ids.
pub(super) struct Transformer {
    words: Table<Cow<'static, [u8]>>,
    places: Table<Cow<'static, [u8]>>,
    norm: Norm,
    layers: Vec<Layer>,
    projection: Matrix,
}

/// The buffers of one run, reused for the next.
#[derive(Default)]
pub(super) struct Workspace {
    /// The state of each token, which every layer changes.
    states: Vec<f32>,
    quantised: Quantised,
    /// The queries, keys and values of the attention; the inner values of the feed-forward part.
    wide: Vec<f32>,
    /// What a part of a layer adds to the states.
    changes: Vec<f32>,
    attention: Attention,
}

impl Transformer {
    /// The encoder in an ONNX file; otherwise says what is wrong with it.
    pub(super) fn new(file: Cow<'static, [u8]>) -> Result<Self, String> {
        match file {
            Cow::Borrowed(file) => Ok(Self::of(Architecture::read(file)?, Cow::Borrowed)),
            Cow::Owned(file) => {
                Ok(Self::of(Architecture::read(&file)?, |bytes| bytes.to_vec().into()))
            }
        }
    }

    fn of<'a>(parts: Architecture<'a>, keep: fn(&'a [u8]) -> Cow<'static, [u8]>) -> Self {
        let Architecture { words, places, norm, layers, projection } = parts;
        Self { words: words.map(keep), places: places.map(keep), norm, layers, projection }
    }

    /// The number of token ids.
    pub(super) fn vocabulary(&self) -> usize {
        self.words.len()
    }

    /// The most tokens of a text.
    pub(super) fn max_tokens(&self) -> usize {
        self.places.len()
    }

    /// The dimension of the vectors.
    pub(super) fn dims(&self) -> usize {
        self.projection.outputs()
    }

    /// The vector of a text, not normalised; `None` if it has no tokens, too many, or unknown ones.
    pub(super) fn encode(&self, tokens: &[u32], workspace: &mut Workspace) -> Option<Vec<f32>> {
        self.encode_at(Level::new(), tokens, workspace)
    }

    /// The same with the instructions of a level.
    fn encode_at(
        &self,
        level: Level,
        tokens: &[u32],
        workspace: &mut Workspace,
    ) -> Option<Vec<f32>> {
        let is_known = |token: &u32| (*token as usize) < self.vocabulary();
        let is_valid =
            (1..=self.max_tokens()).contains(&tokens.len()) && tokens.iter().all(is_known);
        is_valid.then(|| dispatch!(level, simd => self.run(simd, tokens, workspace)))
    }

    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, tokens: &[u32], workspace: &mut Workspace) -> Vec<f32> {
        let width = self.words.width;
        let states = &mut workspace.states;
        states.clear();
        states.resize(tokens.len() * width, 0.0);
        for ((place, token), state) in tokens.iter().enumerate().zip(states.chunks_exact_mut(width))
        {
            self.words.add_row(*token as usize, state);
            self.places.add_row(place, state);
        }
        math::layer_norm(simd, &self.norm, states);
        for layer in &self.layers {
            layer.run(simd, width, workspace);
        }
        let Workspace { states, quantised, .. } = workspace;
        let (mean, rest) = states.split_at_mut(width);
        for state in rest.chunks_exact(width) {
            math::add(mean, state);
        }
        for sum in &mut *mean {
            *sum /= tokens.len() as f32;
        }
        quantised.set(simd, width, mean);
        let mut vector = vec![0.0; self.dims()];
        self.projection.multiply(simd, quantised, &mut vector);
        vector
    }
}

impl Layer {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, width: usize, workspace: &mut Workspace) {
        let Workspace { states, quantised, wide, changes, attention } = workspace;
        let tokens = states.len() / width;
        let changes = sized(changes, states.len());
        let joined = sized(wide, tokens * self.attention.outputs());
        quantised.set(simd, width, states);
        self.attention.multiply(simd, quantised, joined);
        attention.run(simd, self.heads, width, joined, changes);
        quantised.set(simd, width, changes);
        self.out.multiply(simd, quantised, changes);
        math::add(states, changes);
        math::layer_norm(simd, &self.out_norm, states);

        let inner = sized(wide, tokens * self.up.outputs());
        quantised.set(simd, width, states);
        self.up.multiply(simd, quantised, inner);
        math::gelu(simd, inner);
        quantised.set(simd, self.up.outputs(), inner);
        self.down.multiply(simd, quantised, changes);
        math::add(states, changes);
        math::layer_norm(simd, &self.down_norm, states);
    }
}

/// The first numbers of a buffer, which grows where it is too short.
#[inline(always)]
fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}
