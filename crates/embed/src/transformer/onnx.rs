//! Reads what the encoder needs of an ONNX file: the nodes of its graph and their constants.
//!
//! The file is a protocol buffer. Large constants are borrowed from its bytes and the rest is limited,
//! so that a broken or hostile file cannot make the reader allocate more than a few times its size.

use std::collections::HashMap;

/// The most operations, and the most constants, of a graph.
const MAX_ENTRIES: usize = 1 << 16;
/// The most numbers of a constant that is read as a list.
const MAX_LIST: usize = 1 << 16;

/// Field numbers of the messages in `onnx.proto`.
mod field {
    pub(super) const MODEL_GRAPH: u64 = 7;
    pub(super) const GRAPH_NODE: u64 = 1;
    pub(super) const GRAPH_INITIALIZER: u64 = 5;
    pub(super) const NODE_INPUT: u64 = 1;
    pub(super) const NODE_OUTPUT: u64 = 2;
    pub(super) const NODE_OP_TYPE: u64 = 4;
    pub(super) const NODE_ATTRIBUTE: u64 = 5;
    pub(super) const ATTRIBUTE_NAME: u64 = 1;
    pub(super) const ATTRIBUTE_FLOAT: u64 = 2;
    pub(super) const ATTRIBUTE_TENSOR: u64 = 5;
    pub(super) const TENSOR_DIMS: u64 = 1;
    pub(super) const TENSOR_DATA_TYPE: u64 = 2;
    pub(super) const TENSOR_FLOAT_DATA: u64 = 4;
    pub(super) const TENSOR_INT32_DATA: u64 = 5;
    pub(super) const TENSOR_INT64_DATA: u64 = 7;
    pub(super) const TENSOR_NAME: u64 = 8;
    pub(super) const TENSOR_RAW_DATA: u64 = 9;
}

/// The types of tensors that the encoder uses, with their numbers in `onnx.proto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataType {
    F32 = 1,
    U8 = 2,
    I8 = 3,
    I64 = 7,
}

/// A constant.
#[derive(Clone, Debug)]
pub(super) struct Tensor<'a> {
    pub(super) data_type: Option<DataType>,
    pub(super) dims: Vec<usize>,
    /// The numbers as little-endian bytes, where the file has them in that form.
    pub(super) raw: &'a [u8],
    /// The numbers as a packed list of the message, where it has them in that form.
    packed: &'a [u8],
}

/// An operation.
#[derive(Debug, Default)]
pub(super) struct Node<'a> {
    pub(super) op: &'a str,
    pub(super) inputs: Vec<&'a str>,
    outputs: Vec<&'a str>,
    pub(super) epsilon: Option<f32>,
    value: Option<Tensor<'a>>,
}

/// The operations by the names of what they make, and the constants by name.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    makers: HashMap<&'a str, usize>,
    tensors: HashMap<&'a str, Tensor<'a>>,
}

impl<'a> Graph<'a> {
    /// Parses a file; `None` if it is not a protocol buffer of a model.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut graph = Self::default();
        each_field(bytes, |number, value| match (number, value) {
            (field::MODEL_GRAPH, Value::Bytes(bytes)) => graph.read(bytes),
            _ => Some(()),
        })?;
        for (at, node) in graph.nodes.iter().enumerate() {
            graph.makers.extend(node.outputs.iter().map(|output| (*output, at)));
            if let (Some(value), [output]) = (&node.value, node.outputs.as_slice()) {
                graph.tensors.insert(output, value.clone());
            }
        }
        Some(graph)
    }

    fn read(&mut self, bytes: &'a [u8]) -> Option<()> {
        each_field(bytes, |number, value| {
            match (number, value) {
                (field::GRAPH_NODE, Value::Bytes(bytes)) => self.nodes.push(Node::parse(bytes)?),
                (field::GRAPH_INITIALIZER, Value::Bytes(bytes)) => {
                    let (name, tensor) = Tensor::parse(bytes)?;
                    self.tensors.insert(name, tensor);
                }
                _ => {}
            }
            (self.nodes.len().max(self.tensors.len()) <= MAX_ENTRIES).then_some(())
        })
    }

    /// The operation that makes a value.
    pub(super) fn maker(&self, value: &str) -> Option<&Node<'a>> {
        self.nodes.get(*self.makers.get(value)?)
    }

    /// A constant.
    pub(super) fn tensor(&self, name: &str) -> Option<&Tensor<'a>> {
        self.tensors.get(name)
    }
}

impl<'a> Node<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut node = Self::default();
        each_field(bytes, |number, value| {
            match (number, value) {
                (field::NODE_INPUT, Value::Bytes(name)) => node.inputs.push(text(name)?),
                (field::NODE_OUTPUT, Value::Bytes(name)) => node.outputs.push(text(name)?),
                (field::NODE_OP_TYPE, Value::Bytes(name)) => node.op = text(name)?,
                (field::NODE_ATTRIBUTE, Value::Bytes(bytes)) => node.read_attribute(bytes)?,
                _ => {}
            }
            Some(())
        })?;
        Some(node)
    }

    fn read_attribute(&mut self, bytes: &'a [u8]) -> Option<()> {
        let (mut name, mut float, mut tensor) = ("", None, None);
        each_field(bytes, |number, value| {
            match (number, value) {
                (field::ATTRIBUTE_NAME, Value::Bytes(bytes)) => name = text(bytes)?,
                (field::ATTRIBUTE_FLOAT, Value::Fixed32(bits)) => {
                    float = Some(f32::from_bits(bits))
                }
                (field::ATTRIBUTE_TENSOR, Value::Bytes(bytes)) => {
                    tensor = Some(Tensor::parse(bytes)?.1);
                }
                _ => {}
            }
            Some(())
        })?;
        match name {
            "epsilon" => self.epsilon = float,
            "value" => self.value = tensor,
            _ => {}
        }
        Some(())
    }
}

impl<'a> Tensor<'a> {
    fn parse(bytes: &'a [u8]) -> Option<(&'a str, Self)> {
        let mut name = "";
        let mut tensor = Self { data_type: None, dims: Vec::new(), raw: &[], packed: &[] };
        each_field(bytes, |number, value| {
            match (number, value) {
                (field::TENSOR_NAME, Value::Bytes(bytes)) => name = text(bytes)?,
                (field::TENSOR_DIMS, Value::Varint(dim)) => {
                    tensor.dims.push(usize::try_from(dim).ok()?);
                }
                (field::TENSOR_DIMS, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        tensor.dims.push(usize::try_from(varint(&mut packed)?).ok()?);
                    }
                }
                (field::TENSOR_DATA_TYPE, Value::Varint(number)) => {
                    let known = [DataType::F32, DataType::U8, DataType::I8, DataType::I64];
                    tensor.data_type = known.into_iter().find(|known| *known as u64 == number);
                }
                (field::TENSOR_RAW_DATA, Value::Bytes(bytes)) => tensor.raw = bytes,
                (
                    field::TENSOR_FLOAT_DATA | field::TENSOR_INT32_DATA | field::TENSOR_INT64_DATA,
                    Value::Bytes(bytes),
                ) => tensor.packed = bytes,
                _ => {}
            }
            Some(())
        })?;
        Some((name, tensor))
    }

    /// The numbers of a short list of floats.
    pub(super) fn floats(&self) -> Option<Vec<f32>> {
        let bytes = if self.raw.is_empty() { self.packed } else { self.raw };
        let (numbers, []) = bytes.as_chunks() else { return None };
        let is_whole = self.data_type == Some(DataType::F32)
            && self.len() == Some(numbers.len())
            && numbers.len() <= MAX_LIST;
        is_whole.then(|| numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// The numbers of a short list of integers.
    pub(super) fn integers(&self) -> Option<Vec<i64>> {
        if self.len()? > MAX_LIST || self.packed.len() > size_of::<u128>() * MAX_LIST {
            return None;
        }
        let numbers: Vec<i64> = match (self.data_type?, self.raw, self.packed) {
            (DataType::F32, ..) => return None,
            (DataType::I64, [_, ..], _) => {
                let (numbers, []) = self.raw.as_chunks() else { return None };
                numbers.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
            }
            (DataType::I8, [_, ..], _) => {
                self.raw.iter().map(|byte| byte.cast_signed().into()).collect()
            }
            (DataType::U8, [_, ..], _) => self.raw.iter().map(|byte| (*byte).into()).collect(),
            (_, [], mut packed) => {
                let mut numbers = Vec::new();
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)?.cast_signed());
                }
                numbers
            }
        };
        (self.len() == Some(numbers.len())).then_some(numbers)
    }

    /// The bytes of a matrix of this type, and its rows and columns.
    pub(super) fn bytes(&self, data_type: DataType) -> Option<(&'a [u8], usize, usize)> {
        let [rows, columns] = *self.dims.as_slice() else { return None };
        let is_whole = self.data_type == Some(data_type) && self.len() == Some(self.raw.len());
        is_whole.then_some((self.raw, rows, columns))
    }

    fn len(&self) -> Option<usize> {
        self.dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim))
    }
}

/// The value of a field.
enum Value<'a> {
    Varint(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// Calls `read` for each field of a message; `None` if the message is broken or `read` says so.
fn each_field<'a>(
    mut bytes: &'a [u8],
    mut read: impl FnMut(u64, Value<'a>) -> Option<()>,
) -> Option<()> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut bytes)?),
            1 => {
                bytes.split_off(..size_of::<u64>())?;
                continue;
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Value::Bytes(bytes.split_off(..length)?)
            }
            5 => {
                let fixed = bytes.split_off(..size_of::<u32>())?;
                Value::Fixed32(u32::from_le_bytes(fixed.try_into().ok()?))
            }
            _ => return None,
        };
        read(key >> 3, value)?;
    }
    Some(())
}

/// A number of variable length, seven bits per byte.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
