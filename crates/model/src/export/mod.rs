//! Models in the forms of others.

mod onnx;
mod tensors;

pub use onnx::{About, onnx};
pub use tensors::{from_torch, to_torch};
