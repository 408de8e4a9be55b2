//! Exports models to other formats: ONNX and PyTorch.

mod onnx;
mod tensors;

pub use onnx::{About, onnx};
pub use tensors::{from_torch, to_torch};
