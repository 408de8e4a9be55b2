//! Named tensors, of which states and checkpoints consist.

use crate::bf16::from_bf16;
use crate::error::ModelError;
use std::borrow::Cow;
use std::collections::HashMap;

/// A named tensor of a saved state.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Unique name.
    pub name: String,
    /// Shape, row-major.
    pub shape: Vec<usize>,
    /// Entries.
    pub data: TensorData,
}

/// Entries of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit unsigned integers: keys, counters.
    U64(Vec<u64>),
    /// 16-bit integers of quantised networks.
    I16(Vec<i16>),
    /// 8-bit integers of quantised networks.
    I8(Vec<i8>),
    /// The bits of bfloat16 numbers.
    Bf16(Vec<u16>),
}

/// The tensors of a state by name. A state from a file may hold many that the learner does not know.
pub(crate) struct ByName<'a> {
    tensors: HashMap<&'a str, &'a Tensor>,
    /// Precedes the names that are asked for.
    prefix: &'a str,
}

impl<'a> ByName<'a> {
    pub(crate) fn new(state: &'a [Tensor]) -> Self {
        let tensors = state.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        Self { tensors, prefix: "" }
    }

    /// The same tensors, by their names without `prefix`.
    pub(crate) fn within(&self, prefix: &'a str) -> Self {
        Self { tensors: self.tensors.clone(), prefix }
    }

    /// The tensor with this name and shape.
    pub(crate) fn find(&self, name: &str, shape: &[usize]) -> Result<&'a Tensor, ModelError> {
        let name = &*format!("{}{name}", self.prefix);
        let Some(tensor) = self.tensors.get(name) else {
            return Err(ModelError::Unsupported(format!("the tensor `{name}` is missing")));
        };
        if tensor.shape != shape {
            return Err(ModelError::Unsupported(format!(
                "the tensor `{name}` has shape {:?}, expected {shape:?}",
                tensor.shape
            )));
        }
        Ok(tensor)
    }

    /// The integers of the tensor with this name and length; none if there is no such tensor.
    pub(crate) fn integers(&self, name: &str, length: usize) -> Result<Option<&'a [u64]>, ModelError> {
        let is_there = self.tensors.contains_key(&*format!("{}{name}", self.prefix));
        let tensor = is_there.then(|| self.find(name, &[length])).transpose()?;
        tensor.map(Tensor::integers).transpose()
    }
}

impl Tensor {
    /// Creates a tensor of floats.
    pub fn f32(name: impl Into<String>, shape: Vec<usize>, data: Vec<f32>) -> Self {
        Self { name: name.into(), shape, data: TensorData::F32(data) }
    }

    /// Creates a tensor of integers.
    pub fn u64(name: impl Into<String>, shape: Vec<usize>, data: Vec<u64>) -> Self {
        Self { name: name.into(), shape, data: TensorData::U64(data) }
    }

    /// Creates a tensor of 16-bit integers.
    pub fn i16(name: impl Into<String>, shape: Vec<usize>, data: Vec<i16>) -> Self {
        Self { name: name.into(), shape, data: TensorData::I16(data) }
    }

    /// Creates a tensor of 8-bit integers.
    pub fn i8(name: impl Into<String>, shape: Vec<usize>, data: Vec<i8>) -> Self {
        Self { name: name.into(), shape, data: TensorData::I8(data) }
    }

    /// Creates a tensor of bfloat16 numbers from their bits.
    pub fn bf16(name: impl Into<String>, shape: Vec<usize>, data: Vec<u16>) -> Self {
        Self { name: name.into(), shape, data: TensorData::Bf16(data) }
    }

    /// Size of the entries in bytes.
    pub fn bytes(&self) -> u64 {
        match &self.data {
            TensorData::F32(data) => size_of_val(&data[..]) as u64,
            TensorData::U64(data) => size_of_val(&data[..]) as u64,
            TensorData::I16(data) => size_of_val(&data[..]) as u64,
            TensorData::I8(data) => data.len() as u64,
            TensorData::Bf16(data) => size_of_val(&data[..]) as u64,
        }
    }

    /// Whether all entries are finite numbers.
    pub fn is_finite(&self) -> bool {
        match &self.data {
            TensorData::F32(data) => data.iter().all(|v| v.is_finite()),
            TensorData::Bf16(data) => data.iter().all(|&v| from_bf16(v).is_finite()),
            TensorData::U64(_) | TensorData::I16(_) | TensorData::I8(_) => true,
        }
    }

    /// The entries, if they are finite floats.
    pub(crate) fn floats(&self) -> Result<&[f32], ModelError> {
        match &self.data {
            TensorData::F32(data) if self.is_finite() => Ok(data),
            TensorData::F32(_) => Err(self.not_finite()),
            _ => Err(self.expected("floats")),
        }
    }

    /// The entries as floats, if they are finite floats or numbers of bfloat16.
    pub(crate) fn widened(&self) -> Result<Cow<'_, [f32]>, ModelError> {
        match &self.data {
            TensorData::Bf16(data) if self.is_finite() => Ok(data.iter().map(|&v| from_bf16(v)).collect()),
            TensorData::Bf16(_) => Err(self.not_finite()),
            _ => self.floats().map(Cow::Borrowed),
        }
    }

    /// The entries, if they are integers.
    pub(crate) fn integers(&self) -> Result<&[u64], ModelError> {
        match &self.data {
            TensorData::U64(data) => Ok(data),
            _ => Err(self.expected("integers")),
        }
    }

    /// The entries, if they are 16-bit integers.
    pub(crate) fn shorts(&self) -> Result<&[i16], ModelError> {
        match &self.data {
            TensorData::I16(data) => Ok(data),
            _ => Err(self.expected("16-bit integers")),
        }
    }

    /// The entries, if they are 8-bit integers.
    pub(crate) fn small(&self) -> Result<&[i8], ModelError> {
        match &self.data {
            TensorData::I8(data) => Ok(data),
            _ => Err(self.expected("8-bit integers")),
        }
    }

    fn not_finite(&self) -> ModelError {
        ModelError::Unsupported(format!("the tensor `{}` holds a number that is not finite", self.name))
    }

    fn expected(&self, what: &str) -> ModelError {
        let found = match &self.data {
            TensorData::F32(_) => "floats",
            TensorData::U64(_) => "integers",
            TensorData::I16(_) => "16-bit integers",
            TensorData::I8(_) => "8-bit integers",
            TensorData::Bf16(_) => "bfloat16 numbers",
        };
        ModelError::Unsupported(format!("the tensor `{}` holds {found}, expected {what}", self.name))
    }
}
