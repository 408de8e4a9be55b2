//! Compares ONNX graphs, run op by op as specified, with the reference.

use crate::common::{SEEDS, case, channels, double};
use crate::graph::{inputs, run_graph};
use crate::proto::{FLOAT, INT64, Model};
use adept_model::export::{About, onnx};
use adept_model::{Architecture, Head, lower, reference};
use prost::Message;
use serde_json::json;
use std::collections::HashMap;

#[test]
fn graphs_compute_what_the_reference_does() {
    for seed in SEEDS {
        let case = case(seed);
        let bytes = onnx(&case.program, &case.params, &About::default());
        let model = Model::decode(&bytes[..]).unwrap();
        let found = run_graph(&model, inputs(&case.program, &case.rows));
        let expected = reference::run(&case.program, &double(&case.params), &case.rows, None).output;
        let value = &found["value"];
        assert_eq!(value.shape, [case.rows.len(), 1], "seed {seed}");
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        for (r, output) in expected.chunks(case.program.outputs()).enumerate() {
            let Some(classes) = case.program.head.classes() else {
                assert!(near(value.data[r], output[0]), "seed {seed}: {} {}", value.data[r], output[0]);
                continue;
            };
            let mut sum = 0.0;
            for (class, p) in classes.iter().zip(output) {
                let found = found[&format!("outcome.{}", class.name)].data[r];
                // Utilities and constants have 32 bits.
                assert!((found - p).abs() < 1e-6, "seed {seed}, {}: {found} {p}", class.name);
                sum += found * f64::from(class.utility);
            }
            assert!(near(value.data[r], sum), "seed {seed}: {} {sum}", value.data[r]);
        }
        for (name, gate) in found.iter().filter(|(name, _)| name.ends_with("gate")) {
            let sums = gate.data.chunks(gate.shape[1]).map(|g| g.iter().sum::<f64>());
            assert!(sums.into_iter().all(|s| (s - 1.0).abs() < 1e-9), "seed {seed}: {name}");
        }
    }
}

#[test]
fn inputs_and_outputs_are_named_typed_and_described() {
    let architecture: Architecture = serde_json::from_value(
        json!({ "symbolic": { "by": "phase", "expert": { "meta_pi": { "experts": 2, "expert": { "mlp": { "hidden": [2], "inputs": ["fields"] } }, "gate": { "inputs": ["flags"] } } } } }),
    )
    .unwrap();
    let program = lower(&architecture, &channels(), &Head::Value).unwrap();
    let about = About {
        name: "small".into(),
        value: "whose value".into(),
        impossible: "No draw after a capture.".into(),
        channels: vec![("phase".into(), "which phase".into())],
        metadata: vec![("game".into(), "none".into())],
        ..About::default()
    };
    let bytes = onnx(&program, &vec![0.1; program.parameters()], &about);
    let model = Model::decode(&bytes[..]).unwrap();
    let graph = model.graph.unwrap();
    let named = |infos: &[crate::proto::ValueInfo]| -> Vec<(String, i32, Option<i64>)> {
        let info = |i: &crate::proto::ValueInfo| {
            let tensor = i.r#type.clone().unwrap().tensor_type.unwrap();
            let dims = tensor.shape.unwrap().dim;
            assert_eq!(dims[0].dim_param.as_deref(), Some("rows"));
            (i.name.clone(), tensor.elem_type, dims[1].dim_value)
        };
        infos.iter().map(info).collect()
    };
    let input = |name: &str, kind, width| (name.to_string(), kind, Some(width));
    // The network does not read the prior.
    assert_eq!(
        named(&graph.input),
        [input("fields", FLOAT, 5), input("phase", INT64, 1), input("flags", FLOAT, 3)]
    );
    let gates = (0..3).map(|i| input(&format!("expert.{i}.gate"), FLOAT, 2));
    assert_eq!(named(&graph.output), [input("value", FLOAT, 1)].into_iter().chain(gates).collect::<Vec<_>>());
    assert_eq!(graph.input[1].doc_string, "which phase");
    let metadata: HashMap<_, _> =
        model.metadata_props.iter().map(|e| (e.key.as_str(), e.value.as_str())).collect();
    assert_eq!(
        (metadata["game"], metadata["input.phase"], metadata["output.value"]),
        ("none", "which phase", "whose value")
    );
    assert!(metadata["output.expert.2.gate"].contains("sum 1"));
    assert_eq!(
        (metadata["impossible_outcomes"], &*model.doc_string),
        ("No draw after a capture.", "No draw after a capture.")
    );
}
