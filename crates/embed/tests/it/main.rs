//! Tests of the whole crate, in one binary: linking one for each file takes longer than the tests.

mod c;
mod cube;
mod facade;
#[path = "../../../model/tests/it/graph.rs"]
mod graph;
mod onnx;
#[allow(dead_code)]
#[path = "../../../model/src/export/onnx/proto.rs"]
mod proto;
#[cfg(feature = "tract")]
mod tract;
