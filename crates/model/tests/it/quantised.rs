//! Quantised networks in both number formats: near to floats, and the same bits in whatever batches rows come.

use adept_ground::files::Files;
use adept_model::checkpoint::{self, Manifest};
use adept_model::{
    Architecture, Channel, ChannelKind, Head, Network, NumberFormat, Optimiser, OutcomeClass, Predictor,
    Program, Quantisation, QuantisedNetwork, Rows, Tensor, TensorData, lower,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

fn channels() -> Vec<Channel> {
    vec![
        Channel::new("board", ChannelKind::Dense(120)),
        Channel::new("prior", ChannelKind::Value),
        Channel::new("turn", ChannelKind::Bits(5)),
        Channel::new("class", ChannelKind::Index(3)),
        Channel::new("phase", ChannelKind::Index(4)),
    ]
}

/// Rows as boards are: few inputs differ from 0, and from one row to the next.
fn rows(count: usize, seed: u64) -> Rows {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut rows, mut board) = (Rows::new(&channels()), [0.0; 120]);
    for r in 0..count {
        let moved = if r % 30 == 0 { 40 } else { 3 };
        for _ in 0..moved {
            board[rng.random_range(0..120)] = [0.0, 0.0, 1.0, 0.5, 2.5][rng.random_range(0..5)];
        }
        let row = rows.push();
        row.dense[..120].copy_from_slice(&board);
        row.dense[120] = rng.random_range(-1.0..1.0);
        row.dense[121 + rng.random_range(0..5)] = 1.0;
        row.index[0] = rng.random_range(0..3);
        row.index[1] = rng.random_range(0..4);
    }
    rows
}

fn architecture(text: &str) -> Architecture {
    serde_json::from_str(text).unwrap()
}

/// A program and its initial parameters.
fn drawn(text: &str, head: &Head) -> (Arc<Program>, Vec<f32>) {
    let program = Arc::new(lower(&architecture(text), &channels(), head).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
    (program, params)
}

fn converted(text: &str, head: &Head, format: NumberFormat) -> QuantisedNetwork {
    let (program, params) = drawn(text, head);
    QuantisedNetwork::convert(format, program, &params, &rows(2000, 1)).unwrap()
}

/// The network, and the same network in a number format.
fn pair(text: &str, head: &Head, format: NumberFormat) -> (Network, QuantisedNetwork) {
    let (program, params) = drawn(text, head);
    (Network::new(program, &params, Optimiser::default()), converted(text, head, format))
}

/// Values of rows.
fn values(model: &mut dyn Predictor, rows: &Rows) -> Vec<f32> {
    let mut values = Vec::new();
    model.evaluate(rows, &mut values);
    values
}

/// Single networks, and experts of which each row runs one, which suit both formats.
const FORMS: [&str; 10] = [
    r#"{"mlp": {"inputs": ["board", "turn"], "hidden": [100, 40], "activation": "sigmoid", "init": 0.4}}"#,
    r#"{"mlp": {"inputs": ["board", "turn"], "hidden": [64], "activation": "tanh", "init": 0.3}}"#,
    r#"{"mlp": {"inputs": ["board"], "hidden": [130, 64, 17], "activation": "relu", "output": "linear", "init": "fan_in"}}"#,
    r#"{"mlp": {"inputs": ["board", "turn"], "hidden": [70, 33], "activation": "silu", "init": "fan_in"}}"#,
    r#"{"mlp": {"inputs": ["turn", "board"], "hidden": [20, 9], "activation": "linear", "init": "fan_in"}}"#,
    r#"{"mlp": {"inputs": ["board"], "hidden": [48], "activation": "sigmoid", "output": "sigmoid", "init": 0.4, "sensitivity": 1.5}}"#,
    r#"{"residual": {"on": "prior", "net": {"mlp": {"inputs": ["board"], "hidden": [40], "activation": "silu", "output": "linear", "init": 0.1}}}}"#,
    r#"{"mlp": {"hidden": [16, 16], "activation": "tanh", "inputs": ["board", "prior", "turn"]}}"#,
    // One hidden layer of few units, which floats compute for all experts at once.
    r#"{"symbolic": {"by": "class", "expert": {"mlp": {"inputs": ["board"], "hidden": [40], "init": "fan_in"}}}}"#,
    r#"{"cells": {"by": ["class", "phase"], "experts": 4, "classes": 4, "expert": {"mlp": {"inputs": ["board", "turn"], "hidden": [40, 16], "activation": "sigmoid", "init": 0.4}}}}"#,
];

/// An architecture that int8 does not suit.
const EXPERTS: &str =
    r#"{"hme": {"experts": 3, "expert": {"mlp": {"inputs": ["board"], "hidden": [40], "init": "fan_in"}}}}"#;

/// All forms in each number format that suits them.
fn cases() -> impl Iterator<Item = (&'static str, NumberFormat)> {
    let int8 = FORMS.into_iter().map(|text| (text, NumberFormat::Int8));
    int8.chain(FORMS.into_iter().chain([EXPERTS]).map(|text| (text, NumberFormat::Bf16)))
}

#[test]
fn values_are_near_to_floats() {
    let others = rows(1500, 2);
    for (text, format) in cases() {
        let (mut network, mut quantised) = pair(text, &Head::Value, format);
        let (wanted, found) = (values(&mut network, &others), values(&mut quantised, &others));
        let n = wanted.len() as f32;
        let mean = wanted.iter().sum::<f32>() / n;
        let spread = (wanted.iter().map(|w| (w - mean).powi(2)).sum::<f32>() / n).sqrt();
        let errors = wanted.iter().zip(&found).map(|(w, f)| (w - f).abs());
        let error = (errors.clone().map(|e| e * e).sum::<f32>() / n).sqrt();
        assert!(error > 0.0 && error < 0.05 * spread, "{text}, {format:?}: {error} of {spread}");
        if format == NumberFormat::Bf16 {
            let largest = errors.fold(0.0, f32::max);
            assert!(largest < 0.02, "{text}: {largest}");
            assert!(quantised.describe().bytes < network.describe().bytes * 2 / 3);
        }
    }
}

#[test]
fn distributions_are_near_to_floats() {
    let head = Head::Outcomes(OutcomeClass::loss_draw_win());
    let prior = r#"{"residual": {"on": "prior", "net": {"mlp": {"inputs": ["board"], "hidden": [40], "init": 0.1}}}}"#;
    for (text, format) in [FORMS[0], FORMS[3], FORMS[9], prior]
        .into_iter()
        .flat_map(|text| NumberFormat::ALL.map(|f| (text, f)))
    {
        let (mut network, mut quantised) = pair(text, &head, format);
        let (mut wanted, mut found) = (Vec::new(), Vec::new());
        network.outputs(&rows(500, 3), &mut wanted);
        quantised.outputs(&rows(500, 3), &mut found);
        assert_eq!(wanted.len(), found.len());
        assert!(found.chunks(3).all(|p| (p.iter().sum::<f32>() - 1.0).abs() < 1e-5));
        for (w, f) in wanted.iter().zip(&found) {
            assert!((w - f).abs() < 0.02, "{text}, {format:?}: {w} {f}");
        }
    }
}

/// The sums of an int8 network come from the row before: whatever that was, they are the same.
#[test]
fn rows_have_the_same_bits_alone_in_batches_and_in_any_order() {
    let int8 = FORMS.into_iter().map(|text| (text, NumberFormat::Int8));
    let bf16 = FORMS[..4].iter().chain([&FORMS[6], &EXPERTS]).map(|text| (*text, NumberFormat::Bf16));
    for (text, format) in int8.chain(bf16) {
        let mut quantised = converted(text, &Head::Value, format);
        let all = rows(300, 4);
        let together = values(&mut quantised, &all);
        let mut copy = quantised.player().unwrap();
        let mut alone = Vec::new();
        for r in (0..all.len()).rev() {
            let mut one = all.empty();
            one.push_from(&all, r);
            // Through the C interface and others, rows are in memory of the caller.
            copy.evaluate_view(one.view(), &mut alone);
            assert_eq!(alone[0].to_bits(), together[r].to_bits(), "{text}, {format:?}: row {r}");
            if format == NumberFormat::Int8 {
                assert_eq!(copy.explain(&one).value.to_bits(), together[r].to_bits());
            }
        }
    }
}

/// Inputs far beyond those that calibrated int8 are limited, and sums that leave 16 bits do not wrap around.
#[test]
fn extreme_rows_are_limited() {
    for format in NumberFormat::ALL {
        let (mut network, mut quantised) = pair(FORMS[0], &Head::Value, format);
        let mut extreme = rows(4, 6);
        let mut all = extreme.empty();
        for r in 0..4 {
            let row = all.push();
            row.dense.fill([1e9, -1e9, 5.0, 3.0][r]);
        }
        extreme.append(&all);
        let (wanted, found) = (values(&mut network, &extreme), values(&mut quantised, &extreme));
        for (r, (w, f)) in wanted.iter().zip(&found).enumerate() {
            assert!((w - f).abs() < 0.1, "{format:?}, row {r}: {w} {f}");
        }
    }
}

#[test]
fn what_does_not_suit_a_format_is_refused() {
    let chain = "only single networks with a hidden layer";
    let refused = [
        (NumberFormat::Int8, EXPERTS, chain),
        (NumberFormat::Int8, r#"{"mlp": {"hidden": []}}"#, chain),
        (NumberFormat::Int8, r#"{"symbolic": {"by": "class", "expert": {"mlp": {"hidden": []}}}}"#, chain),
        (NumberFormat::Int8, r#"{"meta_pi": {"experts": 2, "expert": {"mlp": {"hidden": [8]}}}}"#, chain),
        (NumberFormat::Bf16, r#"{"mlp": {"inputs": ["board"], "hidden": [12]}}"#, "at least 32 inputs"),
    ];
    for (format, text, message) in refused {
        let (program, params) = drawn(text, &Head::Value);
        let error =
            QuantisedNetwork::convert(format, program, &params, &rows(10, 1)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

fn manifest(text: &str, scheme: &str) -> Manifest {
    let quantised = Quantisation { scheme: scheme.into(), of: "0".repeat(64), rows: 1, rms: 0.0, max: 0.0 };
    let of = Manifest::new("game", "encoder", channels(), &architecture(text));
    Manifest { kind: "quantised".into(), quantised: Some(quantised), ..of }
}

#[test]
fn checkpoints_open_again_and_damage_is_named() {
    for format in NumberFormat::ALL {
        let mut quantised = converted(FORMS[0], &Head::Value, format);
        let tensors = quantised.tensors().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quantised");
        checkpoint::write(&Files::default(), &path, manifest(FORMS[0], format.scheme()), &tensors).unwrap();
        let read = checkpoint::read(&path).unwrap();
        let sorted = |mut tensors: Vec<Tensor>| {
            tensors.sort_by(|a, b| a.name.cmp(&b.name));
            tensors
        };
        assert_eq!(sorted(read.tensors.clone()), sorted(tensors.clone()));
        let mut again = QuantisedNetwork::open(&read.manifest, &read.tensors).unwrap();
        assert_eq!(values(&mut quantised, &rows(50, 7)), values(&mut again, &rows(50, 7)));

        let failure =
            |tensors: &[Tensor]| QuantisedNetwork::open(&read.manifest, tensors).unwrap_err().to_string();
        for (k, tensor) in tensors.iter().enumerate() {
            let mut lost = tensors.clone();
            lost.remove(k);
            let error = failure(&lost);
            assert!(error.contains(&format!("`{}` is missing", tensor.name)), "{error}");
            let mut wrong = tensors.clone();
            wrong[k].data = match &tensor.data {
                TensorData::F32(data) => TensorData::F32(vec![f32::NAN; data.len()]),
                TensorData::U64(_) => TensorData::U64(vec![40, 1 << 60, 3]),
                TensorData::I16(data) => TensorData::I8(vec![0; data.len()]),
                TensorData::I8(data) => TensorData::I16(vec![0; data.len()]),
                TensorData::Bf16(data) => TensorData::Bf16(vec![0x7f80; data.len()]),
            };
            let error = failure(&wrong);
            assert!(error.contains(&tensor.name), "{error}");
        }
    }
    let tensors = converted(FORMS[0], &Head::Value, NumberFormat::Int8).tensors().unwrap();
    let error = QuantisedNetwork::open(&manifest(FORMS[0], "i4"), &tensors).unwrap_err().to_string();
    assert!(error.contains("the scheme `i4`, this program reads `i16-i8`"), "{error}");
}

/// Whatever integers are in an int8 checkpoint, it computes.
#[test]
fn wild_integers_are_computed() {
    let tensors = converted(FORMS[0], &Head::Value, NumberFormat::Int8).tensors().unwrap();
    let wild = tensors.iter().map(|tensor| Tensor {
        data: match &tensor.data {
            TensorData::I16(data) => TensorData::I16(vec![i16::MIN; data.len()]),
            TensorData::I8(data) => TensorData::I8(vec![i8::MIN; data.len()]),
            other => other.clone(),
        },
        ..tensor.clone()
    });
    let manifest = manifest(FORMS[0], NumberFormat::Int8.scheme());
    let mut wild = QuantisedNetwork::open(&manifest, &wild.collect::<Vec<_>>()).unwrap();
    assert_eq!(values(&mut wild, &rows(50, 7)).len(), 50);
}

#[test]
fn tensors_of_bf16_that_no_program_writes_are_refused() {
    let tensors = converted(FORMS[0], &Head::Value, NumberFormat::Bf16).tensors().unwrap();
    let manifest = manifest(FORMS[0], NumberFormat::Bf16.scheme());
    let failure = |tensors: &[Tensor]| QuantisedNetwork::open(&manifest, tensors).unwrap_err().to_string();
    let mut more = tensors.clone();
    more.push(Tensor::f32("more", vec![1], vec![1.0]));
    assert!(failure(&more).contains("`more` does not belong"));
    let large = tensors.iter().position(|tensor| matches!(tensor.data, TensorData::Bf16(_))).unwrap();
    let TensorData::Bf16(data) = &tensors[large].data else { unreachable!() };
    for (data, what) in [
        (TensorData::Bf16(vec![0x7f80; data.len()]), "not finite"),
        (TensorData::F32(vec![0.1; data.len()]), "not in bfloat16"),
        (TensorData::I16(vec![1; data.len()]), "expected floats"),
    ] {
        let mut wrong = tensors.clone();
        wrong[large].data = data;
        let error = failure(&wrong);
        assert!(error.contains(what) && error.contains(&tensors[large].name), "{error}");
    }
}

/// Experts that rows select are computed in one way, whether values or explanations are asked for.
#[test]
fn experts_in_bf16_are_explained_as_they_are_evaluated() {
    let experts = r#"{"symbolic": {"by": "class", "expert": {"mlp": {"inputs": ["board"], "hidden": [16], "init": "fan_in"}}}}"#;
    let narrow = r#"{"mlp": {"inputs": ["board"], "hidden": [20], "init": "fan_in"}}"#;
    for text in [experts, narrow] {
        let mut bf16 = converted(text, &Head::Value, NumberFormat::Bf16);
        // Numbers that rounding changes.
        let (from, mut rows) = (rows(90, 2), Rows::new(&channels()));
        for r in 0..from.len() {
            let row = rows.push();
            row.dense.iter_mut().zip(from.view().dense_row(r)).for_each(|(to, x)| *to = 0.7 * x);
            row.index.copy_from_slice(from.view().index_row(r));
        }
        let all = values(&mut bf16, &rows);
        let program = bf16.program().unwrap().clone();
        let rounded = program.parameters_in(&bf16.tensors().unwrap()).unwrap();
        let mut floats = Network::new(program, &rounded, Optimiser::default());
        let mut differ = 0;
        for (r, value) in all.iter().enumerate() {
            let mut one = rows.empty();
            one.push_from(&rows, r);
            assert_eq!(bf16.explain(&one).value.to_bits(), value.to_bits(), "{text}: row {r}");
            differ += usize::from(floats.explain(&one).value != *value);
        }
        assert!(differ > 45, "{text}: inputs are rounded too");
    }
}

/// Inputs are rounded unless few of them change from row to row and most are 0.
#[test]
fn similar_rows_in_bf16_are_rounded_unless_they_are_sparse() {
    let text = r#"{"mlp": {"inputs": ["board"], "hidden": [40], "init": "fan_in"}}"#;
    let mut bf16 = converted(text, &Head::Value, NumberFormat::Bf16);
    for (dense, same) in [(true, true), (false, false)] {
        let mut rows = Rows::new(&channels());
        for r in 0..20 {
            let row = rows.push();
            let filled = if dense { 120 } else { 12 };
            row.dense[..filled].iter_mut().enumerate().for_each(|(i, x)| *x = 1.0 / (3 + i) as f32);
            row.dense[r % 8] = 1.0 / 7.0;
        }
        let (mut apart, mut similar) = (Vec::new(), Vec::new());
        bf16.evaluate(&rows, &mut apart);
        let rows = rows.similar_neighbours();
        bf16.evaluate(&rows, &mut similar);
        assert_eq!(apart == similar, same, "dense: {dense}");
        assert!(apart.iter().zip(&similar).all(|(a, b)| (a - b).abs() < 0.01));
    }
}
