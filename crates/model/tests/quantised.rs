//! Networks in whole numbers and in bfloat16: near to floats, and the same bits however rows come.

use adept_ground::files::Files;
use adept_model::checkpoint::{self, Manifest};
use adept_model::{
    Architecture, BF16, Channel, ChannelKind, Halved, Head, Network, Optimiser, OutcomeClass, Predictor,
    Quantisation, Quantised, Rows, SCHEME, Tensor, TensorData, lower, open_quantised,
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
    }
    rows
}

fn architecture(text: &str) -> Architecture {
    serde_json::from_str(text).unwrap()
}

/// The network and its whole numbers.
fn pair(text: &str, head: &Head) -> (Network, Quantised) {
    let program = Arc::new(lower(&architecture(text), &channels(), head).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
    let quantised = Quantised::fit(program.clone(), &params, &rows(2000, 1)).unwrap();
    (Network::new(program, &params, Optimiser::default()), quantised)
}

const FORMS: [&str; 8] = [
    r#"{"mlp": {"inputs": ["board", "turn"], "hidden": [100, 40], "activation": "sigmoid", "init": 0.4}}"#,
    r#"{"mlp": {"inputs": ["board", "turn"], "hidden": [64], "activation": "tanh", "init": 0.3}}"#,
    r#"{"mlp": {"inputs": ["board"], "hidden": [130, 64, 17], "activation": "relu", "output": "linear", "init": "fan_in"}}"#,
    r#"{"mlp": {"inputs": ["board", "turn"], "hidden": [70, 33], "activation": "silu", "init": "fan_in"}}"#,
    r#"{"mlp": {"inputs": ["turn", "board"], "hidden": [20, 9], "activation": "linear", "init": "fan_in"}}"#,
    r#"{"mlp": {"inputs": ["board"], "hidden": [48], "activation": "sigmoid", "output": "sigmoid", "init": 0.4, "sensitivity": 1.5}}"#,
    r#"{"residual": {"on": "prior", "net": {"mlp": {"inputs": ["board"], "hidden": [40], "activation": "silu", "output": "linear", "init": 0.1}}}}"#,
    r#"{"mlp": {"hidden": [16, 16], "activation": "tanh", "inputs": ["board", "prior", "turn"]}}"#,
];

#[test]
fn whole_numbers_are_near_to_floats() {
    let others = rows(1500, 2);
    for text in FORMS {
        let (mut network, mut quantised) = pair(text, &Head::Value);
        let (mut wanted, mut found) = (Vec::new(), Vec::new());
        network.evaluate(&others, &mut wanted);
        quantised.evaluate(&others, &mut found);
        let n = wanted.len() as f32;
        let mean = wanted.iter().sum::<f32>() / n;
        let spread = (wanted.iter().map(|w| (w - mean).powi(2)).sum::<f32>() / n).sqrt();
        let error = (wanted.iter().zip(&found).map(|(w, f)| (w - f).powi(2)).sum::<f32>() / n).sqrt();
        assert!(error < 0.05 * spread, "{text}: {error} of {spread}");
    }
}

#[test]
fn distributions_are_near_to_floats() {
    let head = Head::Outcomes(OutcomeClass::loss_draw_win());
    let prior = r#"{"residual": {"on": "prior", "net": {"mlp": {"inputs": ["board"], "hidden": [40], "init": 0.1}}}}"#;
    for text in [FORMS[0], FORMS[3], prior] {
        let (mut network, mut quantised) = pair(text, &head);
        let (mut wanted, mut found) = (Vec::new(), Vec::new());
        network.outputs(&rows(500, 3), &mut wanted);
        quantised.outputs(&rows(500, 3), &mut found);
        assert_eq!(wanted.len(), found.len());
        assert!(found.chunks(3).all(|p| (p.iter().sum::<f32>() - 1.0).abs() < 1e-5));
        for (w, f) in wanted.iter().zip(&found) {
            assert!((w - f).abs() < 0.02, "{text}: {w} {f}");
        }
    }
}

/// Sums come from the row before: whatever that was, they are the same.
#[test]
fn rows_have_the_same_bits_alone_in_batches_and_in_any_order() {
    for text in FORMS {
        let (_, mut quantised) = pair(text, &Head::Value);
        let all = rows(200, 4);
        let mut together = Vec::new();
        quantised.evaluate(&all, &mut together);
        let mut copy = quantised.player().unwrap();
        let mut alone = Vec::new();
        for r in (0..all.len()).rev() {
            let mut one = all.empty();
            one.push_from(&all, r);
            // Through the C interface and others, rows are in memory of the caller.
            copy.evaluate_view(one.view(), &mut alone);
            assert_eq!(alone[0].to_bits(), together[r].to_bits(), "{text}: row {r}");
            assert_eq!(copy.explain(&one).value.to_bits(), together[r].to_bits());
        }
    }
}

/// Inputs far beyond what gave the scales are limited, and sums that leave 16 bits do not wrap around.
#[test]
fn extreme_rows_are_limited() {
    let (mut network, mut quantised) = pair(FORMS[0], &Head::Value);
    let mut extreme = rows(4, 6);
    let mut all = extreme.empty();
    for r in 0..4 {
        let row = all.push();
        row.dense.fill([1e9, -1e9, 5.0, 3.0][r]);
    }
    extreme.append(&all);
    let (mut wanted, mut found) = (Vec::new(), Vec::new());
    network.evaluate(&extreme, &mut wanted);
    quantised.evaluate(&extreme, &mut found);
    for (r, (w, f)) in wanted.iter().zip(&found).enumerate() {
        assert!((w - f).abs() < 0.1, "row {r}: {w} {f}");
    }
}

#[test]
fn what_is_not_a_single_network_is_refused() {
    let refused = [
        r#"{"hme": {"experts": 2, "expert": {"mlp": {"hidden": [8]}}}}"#,
        r#"{"mlp": {"hidden": []}}"#,
        r#"{"symbolic": {"by": "class", "expert": {"mlp": {"hidden": [8]}}}}"#,
        r#"{"meta_pi": {"experts": 2, "expert": {"mlp": {"hidden": [8]}}}}"#,
    ];
    for text in refused {
        let program = Arc::new(lower(&architecture(text), &channels(), &Head::Value).unwrap());
        let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
        let error = Quantised::fit(program, &params, &rows(10, 1)).unwrap_err().to_string();
        assert!(error.contains("only single networks with a hidden layer"), "{error}");
    }
}

fn manifest(text: &str) -> Manifest {
    let quantised = Quantisation { scheme: SCHEME.into(), of: "0".repeat(64), rows: 1, rms: 0.0, max: 0.0 };
    let of = Manifest::new("game", "encoder", channels(), &architecture(text));
    Manifest { kind: "quantised".into(), quantised: Some(quantised), ..of }
}

#[test]
fn a_state_opens_again_and_damage_is_named() {
    let (_, mut quantised) = pair(FORMS[0], &Head::Value);
    let manifest = manifest(FORMS[0]);
    let tensors = quantised.tensors().unwrap();
    let mut again = Quantised::open(&manifest, &tensors).unwrap();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    quantised.evaluate(&rows(50, 7), &mut a);
    again.evaluate(&rows(50, 7), &mut b);
    assert_eq!(a, b);

    let failure =
        |manifest: &Manifest, tensors: &[Tensor]| Quantised::open(manifest, tensors).unwrap_err().to_string();
    let mut other = manifest.clone();
    other.quantised.as_mut().unwrap().scheme = "i4".into();
    assert!(failure(&other, &tensors).contains("the scheme `i4`, this program reads `i16-i8`"));
    for (k, tensor) in tensors.iter().enumerate() {
        let mut lost = tensors.clone();
        lost.remove(k);
        let error = failure(&manifest, &lost);
        assert!(error.contains(&format!("`{}` is missing", tensor.name)), "{error}");
        let mut wrong = tensors.clone();
        wrong[k].data = match &tensor.data {
            TensorData::F32(data) => TensorData::F32(vec![f32::NAN; data.len()]),
            TensorData::U64(_) => TensorData::U64(vec![40, 1 << 60, 3]),
            TensorData::I16(data) => TensorData::I8(vec![0; data.len()]),
            TensorData::I8(data) => TensorData::I16(vec![0; data.len()]),
            TensorData::Bf16(_) => panic!("whole numbers"),
        };
        let error = failure(&manifest, &wrong);
        assert!(error.contains(&tensor.name), "{error}");
    }
    // Whatever whole numbers are in it, it computes.
    let wild = tensors.iter().map(|tensor| Tensor {
        data: match &tensor.data {
            TensorData::I16(data) => TensorData::I16(vec![i16::MIN; data.len()]),
            TensorData::I8(data) => TensorData::I8(vec![i8::MIN; data.len()]),
            other => other.clone(),
        },
        ..tensor.clone()
    });
    let mut wild = Quantised::open(&manifest, &wild.collect::<Vec<_>>()).unwrap();
    wild.evaluate(&rows(50, 7), &mut a);
}

/// Large layers in bfloat16 are near to floats, for all kinds of networks.
#[test]
fn bfloat16_is_near_to_floats() {
    let experts = r#"{"hme": {"experts": 3, "expert": {"mlp": {"inputs": ["board"], "hidden": [40], "init": "fan_in"}}}}"#;
    for text in FORMS[..4].iter().chain([&FORMS[6], &experts]) {
        let program = Arc::new(lower(&architecture(text), &channels(), &Head::Value).unwrap());
        let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
        let mut network = Network::new(program.clone(), &params, Optimiser::default());
        let mut halved = Halved::round(program, &params).unwrap();
        let (mut wanted, mut found, mut again) = (Vec::new(), Vec::new(), Vec::new());
        let others = rows(700, 2);
        network.evaluate(&others, &mut wanted);
        halved.evaluate(&others, &mut found);
        let differences = wanted.iter().zip(&found).map(|(w, f)| (w - f).abs());
        let largest = differences.fold(0.0, f32::max);
        assert!(largest > 0.0 && largest < 0.02, "{text}: {largest}");
        // The same bits alone, and of another player.
        let mut player = halved.player().unwrap();
        for r in [0, 300, 699] {
            let mut one = others.empty();
            one.push_from(&others, r);
            player.evaluate(&one, &mut again);
            assert_eq!(again[0].to_bits(), found[r].to_bits(), "{text}: row {r}");
        }
        assert!(halved.describe().bytes < network.describe().bytes * 2 / 3);
    }
}

/// Experts that rows pick are computed in one way, whether values or explanations are asked for.
#[test]
fn experts_in_bfloat16_are_explained_as_they_are_evaluated() {
    let experts = r#"{"symbolic": {"by": "class", "expert": {"mlp": {"inputs": ["board"], "hidden": [16], "init": "fan_in"}}}}"#;
    let narrow = r#"{"mlp": {"inputs": ["board"], "hidden": [20], "init": "fan_in"}}"#;
    for text in [experts, narrow] {
        let program = Arc::new(lower(&architecture(text), &channels(), &Head::Value).unwrap());
        let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
        let mut halved = Halved::round(program.clone(), &params).unwrap();
        // Numbers that rounding changes.
        let (from, mut rows, mut values) = (rows(90, 2), Rows::new(&channels()), Vec::new());
        for r in 0..from.len() {
            let row = rows.push();
            row.dense.iter_mut().zip(from.view().dense_row(r)).for_each(|(to, x)| *to = 0.7 * x);
            row.index.copy_from_slice(from.view().index_row(r));
        }
        halved.evaluate(&rows, &mut values);
        let rounded = program.parameters_in(&halved.tensors().unwrap()).unwrap();
        let mut floats = Network::new(program, &rounded, Optimiser::default());
        let mut differ = 0;
        for (r, value) in values.iter().enumerate() {
            let mut one = rows.empty();
            one.push_from(&rows, r);
            assert_eq!(halved.explain(&one).value.to_bits(), value.to_bits(), "{text}: row {r}");
            differ += usize::from(floats.explain(&one).value != *value);
        }
        assert!(differ > 45, "{text}: inputs are rounded too");
    }
}

/// Only where few inputs change from row to row, and most are 0, are they not rounded.
#[test]
fn alike_rows_in_bfloat16_are_rounded_unless_they_are_sparse() {
    let text = r#"{"mlp": {"inputs": ["board"], "hidden": [40], "init": "fan_in"}}"#;
    let program = Arc::new(lower(&architecture(text), &channels(), &Head::Value).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
    let mut halved = Halved::round(program, &params).unwrap();
    for (dense, same) in [(true, true), (false, false)] {
        let mut rows = Rows::new(&channels());
        for r in 0..20 {
            let row = rows.push();
            let filled = if dense { 120 } else { 12 };
            row.dense[..filled].iter_mut().enumerate().for_each(|(i, x)| *x = 1.0 / (3 + i) as f32);
            row.dense[r % 8] = 1.0 / 7.0;
        }
        let (mut apart, mut alike) = (Vec::new(), Vec::new());
        halved.evaluate(&rows, &mut apart);
        let rows = rows.alike();
        halved.evaluate(&rows, &mut alike);
        assert_eq!(apart == alike, same, "dense: {dense}");
        assert!(apart.iter().zip(&alike).all(|(a, b)| (a - b).abs() < 0.01));
    }
}

#[test]
fn bfloat16_opens_again_and_damage_is_named() {
    let text = FORMS[0];
    let program = Arc::new(lower(&architecture(text), &channels(), &Head::Value).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
    let mut halved = Halved::round(program, &params).unwrap();
    let mut manifest = manifest(text);
    manifest.quantised.as_mut().unwrap().scheme = BF16.into();
    let tensors = halved.tensors().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("halved");
    checkpoint::write(&Files::default(), &path, manifest, &tensors).unwrap();
    let read = checkpoint::read(&path).unwrap();
    let sorted = |mut tensors: Vec<Tensor>| {
        tensors.sort_by(|a, b| a.name.cmp(&b.name));
        tensors
    };
    assert_eq!(sorted(read.tensors.clone()), sorted(tensors.clone()));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    halved.evaluate(&rows(50, 7), &mut a);
    open_quantised(&read.manifest, &read.tensors).unwrap().evaluate(&rows(50, 7), &mut b);
    assert_eq!(a, b);

    let mut more = tensors.clone();
    more.push(Tensor::f32("more", vec![1], vec![1.0]));
    let failure = |tensors: &[Tensor]| open_quantised(&read.manifest, tensors).err().unwrap().to_string();
    assert!(failure(&more).contains("`more` does not belong"));
    assert!(
        Quantised::open(&read.manifest, &tensors).unwrap_err().to_string().contains("not in whole numbers")
    );
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

    let small = r#"{"mlp": {"inputs": ["board"], "hidden": [12]}}"#;
    let program = Arc::new(lower(&architecture(small), &channels(), &Head::Value).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
    assert!(Halved::round(program, &params).unwrap_err().to_string().contains("at least 32 inputs"));
}
