//! ONNX export: the op program as a graph, op by op.
//!
//! Inputs are the channels that the program reads, by their names: `float32 [rows, width]`, an index channel
//! `int64 [rows, 1]`. Outputs are `value [rows, 1]`, for a distribution over classes of
//! outcomes the probability of each, `outcome.NAME [rows, 1]`, and for each mixture node the weights of its experts after
//! the selection threshold, `gate [rows, experts]` (of a nested one `expert.2.gate`). Every expert is computed for
//! every row; what a row did not select has weight 0. Operators are those of opset 17.

mod graph;
mod proto;

use crate::program::Program;
use adept_rows::ChannelKind;
use graph::Builder;
use prost::Message;

/// The descriptions in an ONNX file.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Name of the graph.
    pub name: String,
    /// One-sentence description.
    pub text: String,
    /// Descriptions of the channels: name and text.
    pub channels: Vec<(String, String)>,
    /// Description of the output `value`: the player whose value it is.
    pub value: String,
    /// The classes of outcomes that are impossible, and in which positions, though the network gives them a probability, and what to do
    /// about that; empty if all are always possible.
    pub impossible: String,
    /// Additional metadata: key and text.
    pub metadata: Vec<(String, String)>,
}

/// Opset of the operators.
const OPSET: i64 = 17;
/// Version of the file format; onnxruntime supports it since 1.10.
const IR_VERSION: i64 = 8;

/// The bytes of an ONNX file that computes the output of a program with these flat parameters.
///
/// # Panics
/// If the number of parameters is wrong.
pub fn onnx(program: &Program, params: &[f32], about: &About) -> Vec<u8> {
    assert_eq!(params.len(), program.parameters());
    let mut builder = Builder::new(program, params);
    builder.block(&program.body);
    let (graph, gates) = builder.finish(about);
    let text = |channel: &str| about.channels.iter().find(|c| c.0 == channel).map_or("", |c| c.1.as_str());
    let mut metadata = about.metadata.clone();
    for input in &graph.input {
        metadata.push((format!("input.{}", input.name), text(&input.name).into()));
    }
    metadata.push(("output.value".into(), about.value.clone()));
    for class in program.head.classes().unwrap_or_default() {
        metadata.push((format!("output.outcome.{}", class.name), graph::outcome_text(class.utility)));
    }
    if !about.impossible.is_empty() {
        metadata.push(("impossible_outcomes".into(), about.impossible.clone()));
    }
    metadata.extend(gates.into_iter().map(|name| (format!("output.{name}"), graph::GATE.into())));
    let entry = |(key, value)| proto::Entry { key, value };
    proto::Model {
        ir_version: IR_VERSION,
        producer_name: "adept".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        doc_string: [&*about.text, &*about.impossible].join("\n").trim().into(),
        graph: Some(graph),
        opset_import: vec![proto::OperatorSet { domain: String::new(), version: OPSET }],
        metadata_props: metadata.into_iter().map(entry).collect(),
    }
    .encode_to_vec()
}

/// Type and width of a channel as a graph input.
fn input_of(kind: ChannelKind) -> (i32, usize) {
    match kind {
        ChannelKind::Index(_) | ChannelKind::Key => (proto::INT64, 1),
        dense => (proto::FLOAT, dense.dense_width()),
    }
}
