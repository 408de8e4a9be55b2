//! Tests of the whole crate, in one binary: linking one for each file takes longer than the tests.

mod agreement;
mod checkpoints;
mod common;
mod devices;
mod engines;
mod graph;
mod learners;
mod native;
mod onnx;
mod pairwise;
#[allow(dead_code)]
#[path = "../../src/export/onnx/proto.rs"]
mod proto;
mod quantised;
mod residual;
mod source;
