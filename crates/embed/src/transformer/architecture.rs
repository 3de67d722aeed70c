//! Finds the weights of the encoder in its ONNX graph.
//!
//! The walk starts at the output and follows the operations back to the input. It accepts exactly
//! the graph that `training/shopper/export.py` writes, with any number of layers and any sizes:
//! a graph of other operations is rejected, and never computed wrongly.

use super::{
    math::Norm,
    matmul::{COLUMN_MULTIPLE, MAX_INPUTS, Matrix},
    onnx::{DataType, Graph, Node, Tensor},
};

/// The most layers of an encoder; bounds the walk through a hostile graph.
const MAX_LAYERS: usize = 48;
/// Values per token are processed in multiples of this.
pub(super) const WIDTH_MULTIPLE: usize = 16;
/// The same, for the part of one attention head.
pub(super) const HEAD_MULTIPLE: usize = 8;

/// The weights of an encoder.
pub(super) struct Architecture<'a> {
    pub(super) words: Table<&'a [u8]>,
    pub(super) places: Table<&'a [u8]>,
    pub(super) norm: Norm,
    /// In the order in which they run.
    pub(super) layers: Vec<Layer>,
    pub(super) projection: Matrix,
}

/// Rows of unsigned bytes; a number is `(byte - zero) · scale`.
pub(super) struct Table<B> {
    bytes: B,
    pub(super) width: usize,
    scale: f32,
    zero: u8,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// The same with bytes in another place.
    pub(super) fn map<C>(self, bytes: impl FnOnce(B) -> C) -> Table<C> {
        let Self { bytes: mine, width, scale, zero } = self;
        Table { bytes: bytes(mine), width, scale, zero }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.bytes.as_ref().len() / self.width
    }

    /// Adds a row to as many numbers.
    #[inline(always)]
    pub(super) fn add_row(&self, row: usize, sums: &mut [f32]) {
        let row = &self.bytes.as_ref()[row * self.width..][..self.width];
        for (sum, byte) in sums.iter_mut().zip(row) {
            *sum += (f32::from(*byte) - f32::from(self.zero)) * self.scale;
        }
    }
}

/// A transformer layer.
pub(super) struct Layer {
    pub(super) heads: usize,
    /// Query, key and value side by side.
    pub(super) attention: Matrix,
    pub(super) out: Matrix,
    pub(super) out_norm: Norm,
    pub(super) up: Matrix,
    pub(super) down: Matrix,
    pub(super) down_norm: Norm,
}

/// A linear map as the file has it: quantised weights, `inputs` rows by `outputs` columns.
struct Linear<'a> {
    weights: &'a [u8],
    inputs: usize,
    outputs: usize,
    scales: Vec<f32>,
    bias: Vec<f32>,
}

/// The graph, and how many bytes of weights were taken from it.
struct Walk<'g, 'a> {
    graph: &'g Graph<'a>,
    weights_left: usize,
}

impl<'a> Architecture<'a> {
    /// The weights in a file; otherwise says what is wrong with it.
    pub(super) fn read(file: &'a [u8]) -> Result<Self, String> {
        let graph = Graph::parse(file).ok_or("is not a complete ONNX file")?;
        // A hostile graph could use one matrix in many places.
        Walk { graph: &graph, weights_left: file.len() }.encoder()
    }
}

impl<'g, 'a> Walk<'g, 'a> {
    fn encoder(&mut self) -> Result<Architecture<'a>, String> {
        let [unscaled, _] = self.inputs("vector", "Div")?;
        let (pooled, projection) = self.linear(unscaled, false)?;
        let [mean] = self.inputs(pooled, "Cast")?;
        let [sum, _] = self.inputs(mean, "Div")?;
        let [masked, _] = self.inputs(sum, "ReduceSum")?;
        let [mut last, _] = self.inputs(masked, "Mul")?;
        let mut layers = Vec::new();
        let (norm, words, places) = loop {
            let (added, norm) = self.norm(last)?;
            let [left, right] = self.inputs(added, "Add")?;
            if self.graph.maker(left).is_some_and(|node| node.op == "DequantizeLinear") {
                break (norm, self.table(left)?, self.table(right)?);
            }
            let (before, layer) = self.layer(norm, left, right)?;
            layers.push(layer);
            last = before;
            if layers.len() > MAX_LAYERS {
                return Err(format!("has more than {MAX_LAYERS} layers"));
            }
        };
        layers.reverse();
        let width = words.width;
        let fits = |matrix: &Matrix, inputs, outputs| {
            matrix.inputs() == inputs && matrix.outputs() == outputs
        };
        let layers_fit = layers.iter().all(|layer| {
            fits(&layer.attention, width, 3 * width)
                && fits(&layer.out, width, width)
                && fits(&layer.down, layer.up.outputs(), width)
                && layer.up.inputs() == width
                && layer.out_norm.weight.len() == width
                && layer.down_norm.weight.len() == width
                && width.is_multiple_of(layer.heads * HEAD_MULTIPLE)
        });
        let projection = pack(&[projection])?;
        if !layers_fit
            || !width.is_multiple_of(WIDTH_MULTIPLE)
            || places.width != width
            || norm.weight.len() != width
            || projection.inputs() != width
        {
            return Err("has layers whose sizes do not fit together".to_owned());
        }
        Ok(Architecture { words, places, norm, layers, projection })
    }

    /// The layer that adds `down` to `attended`, and the name of its input.
    fn layer(
        &mut self,
        down_norm: Norm,
        attended: &'g str,
        down: &'g str,
    ) -> Result<(&'g str, Layer), String> {
        let (activated, down) = self.linear(down, true)?;
        let up = self.gelu(activated)?;
        let (up_input, up) = self.linear(up, true)?;
        let (added, out_norm) = self.norm(attended)?;
        let [before, out] = self.inputs(added, "Add")?;
        let (joined, out) = self.linear(out, true)?;
        let [heads_joined, _] = self.inputs(joined, "Reshape")?;
        let [weighted] = self.inputs(heads_joined, "Transpose")?;
        let [shares, value] = self.inputs(weighted, "MatMul")?;
        let [masked] = self.inputs(shares, "Softmax")?;
        let [scaled, _] = self.inputs(masked, "Add")?;
        let [products, _] = self.inputs(scaled, "Mul")?;
        let [query, key] = self.inputs(products, "MatMul")?;
        let mut parts = Vec::new();
        let mut heads = Vec::new();
        let mut sources = vec![up_input == attended];
        for part in [query, key, value] {
            let [split] = self.inputs(part, "Transpose")?;
            let [whole, shape] = self.inputs(split, "Reshape")?;
            heads.push(self.heads(shape)?);
            let (source, linear) = self.linear(whole, true)?;
            sources.push(source == before);
            parts.push(linear);
        }
        let [heads, ..] = heads.as_slice() else { return Err(unknown("attention", before)) };
        if sources.contains(&false) {
            return Err(unknown("a transformer layer", before));
        }
        let layer = Layer {
            heads: *heads,
            attention: pack(&parts)?,
            out: pack(&[out])?,
            out_norm,
            up: pack(&[up])?,
            down: pack(&[down])?,
            down_norm,
        };
        Ok((before, layer))
    }

    /// A linear map of dynamically quantised values, and the name of its input.
    fn linear(&mut self, value: &'g str, with_bias: bool) -> Result<(&'g str, Linear<'a>), String> {
        let (bias, product) = match with_bias {
            true => {
                let [bias, product] = self.inputs(value, "Add")?;
                (Some(bias), product)
            }
            false => (None, value),
        };
        let [cast, scales] = self.inputs(product, "Mul")?;
        let [_, scales] = self.inputs(scales, "Mul")?;
        let [sums] = self.inputs(cast, "Cast")?;
        let [quantised, weights, _, zeros] = self.inputs(sums, "MatMulInteger")?;
        let [input] = self.inputs(quantised, "DynamicQuantizeLinear")?;
        let zeros = self.tensor(zeros)?.integers().ok_or_else(|| malformed(zeros))?;
        if zeros.iter().any(|zero| *zero != 0) {
            return Err(format!("has weights that are not quantised symmetrically, {weights}"));
        }
        let (bytes, inputs, outputs) =
            self.tensor(weights)?.bytes(DataType::I8).ok_or_else(|| malformed(weights))?;
        self.weights_left = self
            .weights_left
            .checked_sub(bytes.len())
            .ok_or_else(|| format!("uses weights more than once, {weights}"))?;
        let scales = self.floats(scales)?;
        let bias = bias.map_or_else(|| Ok(vec![0.0; outputs]), |bias| self.floats(bias))?;
        let fits = scales.len() == outputs && bias.len() == outputs;
        let is_bounded = inputs <= MAX_INPUTS && outputs <= MAX_INPUTS;
        let is_even = inputs.is_multiple_of(WIDTH_MULTIPLE)
            && outputs.is_multiple_of(COLUMN_MULTIPLE)
            && !bytes.is_empty();
        if !fits || !is_bounded || !is_even {
            return Err(format!("has a matrix of {inputs} by {outputs} numbers, {weights}"));
        }
        Ok((input, Linear { weights: bytes, inputs, outputs, scales, bias }))
    }

    /// The input of `0.5 · x · (1 + erf(x / √2))`.
    fn gelu(&self, value: &'g str) -> Result<&'g str, String> {
        let [doubled, _] = self.inputs(value, "Mul")?;
        let [input, factor] = self.inputs(doubled, "Mul")?;
        let [erf, _] = self.inputs(factor, "Add")?;
        let [divided] = self.inputs(erf, "Erf")?;
        match self.inputs(divided, "Div")? {
            [divided, _] if divided == input => Ok(input),
            _ => Err(unknown("GELU", value)),
        }
    }

    /// A layer normalisation, and the name of its input.
    fn norm(&self, value: &'g str) -> Result<(&'g str, Norm), String> {
        let node = self.node(value, "LayerNormalization")?;
        let [input, weight, bias] = self.inputs(value, "LayerNormalization")?;
        let (weight, bias) = (self.floats(weight)?, self.floats(bias)?);
        match node.epsilon {
            Some(epsilon) if weight.len() == bias.len() => {
                Ok((input, Norm { weight, bias, epsilon }))
            }
            _ => Err(unknown("LayerNormalization", value)),
        }
    }

    /// A table whose rows are looked up.
    fn table(&self, value: &'g str) -> Result<Table<&'a [u8]>, String> {
        let [rows, scale, zero] = self.inputs(value, "DequantizeLinear")?;
        let [table, _] = self.inputs(rows, "Gather")?;
        let (bytes, rows, width) =
            self.tensor(table)?.bytes(DataType::U8).ok_or_else(|| malformed(table))?;
        let (scales, zeros) = (self.floats(scale)?, self.tensor(zero)?.integers());
        let ([scale], Some([zero])) = (scales.as_slice(), zeros.as_deref()) else {
            return Err(malformed(table));
        };
        match u8::try_from(*zero) {
            Ok(zero) if rows > 0 && width > 0 => Ok(Table { bytes, width, scale: *scale, zero }),
            _ => Err(malformed(table)),
        }
    }

    /// The number of attention heads in the shape `[batch, tokens, heads, -1]`.
    fn heads(&self, shape: &'g str) -> Result<usize, String> {
        let [_, _, heads, _] = self.inputs(shape, "Concat")?;
        match self.tensor(heads)?.integers().as_deref() {
            Some([heads @ 1..=1024]) => Ok(*heads as usize),
            _ => Err(malformed(heads)),
        }
    }

    /// The inputs of the operation that makes a value.
    fn inputs<const N: usize>(&self, value: &str, op: &str) -> Result<[&'g str; N], String> {
        let inputs = self.node(value, op)?.inputs.as_slice();
        inputs.try_into().map_err(|_| unknown(op, value))
    }

    fn node(&self, value: &str, op: &str) -> Result<&'g Node<'a>, String> {
        let node = self.graph.maker(value).filter(|node| node.op == op);
        node.ok_or_else(|| unknown(op, value))
    }

    /// A constant. The exporter stores equal ones once and copies them.
    fn tensor(&self, name: &str) -> Result<&'g Tensor<'a>, String> {
        let copied = self.graph.maker(name).filter(|node| node.op == "Identity");
        let source = copied.and_then(|node| node.inputs.first()).map_or(name, |source| source);
        self.graph.tensor(source).ok_or_else(|| malformed(name))
    }

    fn floats(&self, name: &str) -> Result<Vec<f32>, String> {
        self.tensor(name)?.floats().ok_or_else(|| malformed(name))
    }
}

/// Maps of one input as one matrix, their outputs side by side.
fn pack(parts: &[Linear<'_>]) -> Result<Matrix, String> {
    let inputs = parts.first().map_or(0, |part| part.inputs);
    if parts.iter().any(|part| part.inputs != inputs) {
        return Err("has an attention whose sizes do not fit together".to_owned());
    }
    let weights: Vec<_> = parts.iter().map(|part| (part.weights, part.outputs)).collect();
    let scales: Vec<_> = parts.iter().flat_map(|part| part.scales.iter().copied()).collect();
    let bias: Vec<_> = parts.iter().flat_map(|part| part.bias.iter().copied()).collect();
    Ok(Matrix::new(inputs, &weights, &scales, &bias))
}

fn unknown(op: &str, value: &str) -> String {
    format!("has a graph that the encoder does not know: {op} was expected to make {value:?}")
}

fn malformed(name: &str) -> String {
    format!("has no usable constant {name:?}")
}
