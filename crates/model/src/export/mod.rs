//! Exports models to other formats: ONNX, PyTorch, and source text in C and Rust.

mod onnx;
mod source;
mod tensors;

pub use onnx::{About, onnx};
pub use source::{c, rust};
pub use tensors::{from_torch, to_torch, torch_shape};
