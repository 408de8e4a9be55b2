//! Compares the reference with numbers computed by hand.

use crate::common::{FEATURES, MARGIN, MAX_DEPTH, SEEDS, case, double, each_node, each_op};
use adept_model::program::{Op, Program, Selector};
use adept_model::{
    Architecture, Channel, ChannelKind, Head, ModelError, OutcomeClass, Rows, lower, reference,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn program(architecture: Value, inputs: usize, head: &Head) -> Program {
    let architecture: Architecture = serde_json::from_value(architecture).unwrap();
    lower(&architecture, &[Channel::new("x", ChannelKind::Dense(inputs))], head).unwrap()
}

fn rows(program: &Program, dense: &[&[f32]]) -> Rows {
    let mut rows = Rows::new(&program.channels);
    for row in dense {
        rows.push().dense.copy_from_slice(row);
    }
    rows
}

/// The flat vector with these parameters; all others are 0.
fn params(program: &Program, given: &[(&str, &[f64])]) -> Vec<f64> {
    let mut flat = vec![0.0; program.parameters()];
    for (name, entries) in given {
        let param = program.params.iter().find(|p| p.name == *name);
        let param = param.unwrap_or_else(|| panic!("no parameter {name}"));
        assert_eq!(param.len(), entries.len(), "{name}");
        flat[param.offset..][..entries.len()].copy_from_slice(entries);
    }
    flat
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{found:?} is not {expected:?}");
    }
}

#[test]
fn the_seeds_bring_up_everything() {
    let (mut nodes, mut ops, mut features) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut outputs = BTreeSet::new();
    for seed in SEEDS {
        let case = case(seed);
        each_node(&case.architecture, 1, &mut |node, depth| {
            nodes.insert((node.kind(), depth));
        });
        each_op(&case.program.body, &mut |op| {
            ops.insert(match op {
                Op::Input { .. } => "Input",
                Op::Affine { .. } => "Affine",
                Op::Scale { .. } => "Scale",
                Op::Activation { .. } => "Activation",
                Op::LogSoftmax { .. } => "LogSoftmax",
                Op::Threshold { .. } => "Threshold",
                Op::Blend { .. } => "Blend",
                Op::Density { .. } => "Density",
                Op::LogMix { .. } => "LogMix",
                Op::Route { select: Selector::All, .. } => "Route to all",
                Op::Route { select: Selector::Mask(_), .. } => "Route by mask",
                Op::Route { select: Selector::Index(_), .. } => "Route by index",
                Op::Route { select: Selector::Cells(_), .. } => "Route by cells",
                Op::Gather { .. } => "Gather",
                Op::Residual { .. } => "Residual",
                Op::Concat { .. } => "Concat",
                Op::Outer { .. } => "Outer",
                Op::Softmax { .. } => "Softmax",
                Op::Categorical { .. } => "Categorical",
                Op::PriorLogits { x: None, .. } => "PriorLogits",
                Op::PriorLogits { x: Some(_), .. } => "PriorLogits, corrected",
            });
        });
        features.extend(case.features);
        outputs.insert(case.program.outputs());
        assert!(reference::margins(&case.program, &double(&case.params), &case.rows) >= MARGIN);
        assert!(case.rows.check(&case.program.channels).is_ok());
    }
    assert_eq!(ops.len(), 21, "{ops:?}");
    assert_eq!(outputs, BTreeSet::from([1, 2, 3, 6, 10]));
    assert_eq!(features, BTreeSet::from(FEATURES));
    for (kind, _) in Architecture::KINDS {
        let leaf = matches!(kind, "mlp" | "modules" | "lookup" | "frozen");
        // A frozen value at the top has nothing to learn.
        let first = if kind == "frozen" { 2 } else { 1 };
        // Grows while it learns, so no engine runs it.
        if kind == "blind" {
            continue;
        }
        for depth in first..=if leaf { MAX_DEPTH } else { MAX_DEPTH - 1 } {
            assert!(nodes.contains(&(kind, depth)), "no {kind} at depth {depth}");
        }
    }
    assert!(nodes.iter().all(|&(_, depth)| depth <= MAX_DEPTH));
}

#[test]
fn the_reference_computes_a_perceptron_with_sensitivities() {
    let mlp = json!({
        "hidden": [2], "activation": "relu", "output": "linear", "sensitivity": [2.0, 4.0],
    });
    let program = program(json!({ "mlp": mlp }), 2, &Head::Value);
    let params = params(
        &program,
        &[
            ("layer.0.weight", &[1.0, -1.0, 2.0, 1.0]),
            ("layer.0.bias", &[0.5, -0.25]),
            ("layer.0.sensitivity", &[2.0, 3.0]),
            ("layer.1.weight", &[0.5, 7.0]),
            ("layer.1.bias", &[-0.5]),
            ("layer.1.sensitivity", &[4.0]),
        ],
    );
    let rows = rows(&program, &[&[0.5, 0.25], &[0.0, 0.5]]);
    // Nets (1.5, −0.5) and (1.5, 0.25), times β (3, −1.5) and (3, 0.75), out 4·(0.5·3 + 7·… − 0.5).
    let outcome = reference::run(&program, &params, &rows, Some(&[3.0, 25.0]));
    assert_near(&outcome.output, &[4.0, 25.0]);
    assert_near(&outcome.density, &[-0.5, 0.0]);
    let blind = reference::run(&program, &params, &rows, None);
    assert_eq!((blind.output, blind.density), (outcome.output, vec![]));
    assert_eq!(reference::margins(&program, &params, &rows), f64::INFINITY);
}

#[test]
fn the_reference_computes_every_activation() {
    let e = std::f64::consts::E;
    let expected = [
        ("tanh", (e - 1.0 / e) / (e + 1.0 / e)),
        ("sigmoid", e / (1.0 + e)),
        ("relu", 1.0),
        ("silu", e / (1.0 + e)),
        ("linear", 1.0),
    ];
    for (f, y) in expected {
        let program = program(json!({ "mlp": { "hidden": [], "output": f } }), 1, &Head::Value);
        let params = params(&program, &[("layer.0.weight", &[1.0])]);
        let outcome = reference::run(&program, &params, &rows(&program, &[&[1.0]]), None);
        assert_near(&outcome.output, &[y]);
    }
}

/// A mixture with constant gates and experts.
fn constants(kind: &str, threshold: f32, gates: &[f64], y: &[f64]) -> (Program, Vec<f64>) {
    let expert = json!({ "mlp": { "hidden": [], "output": "linear" } });
    let mut mixture = json!({ "experts": gates.len(), "expert": expert, "threshold": threshold });
    if kind == "hme" {
        mixture["variance"] = json!(0.0025);
    }
    let program = program(json!({ kind: mixture }), 1, &Head::Value);
    let gates: Vec<f64> = gates.iter().map(|g| g.ln()).collect();
    let names: Vec<String> = (0..y.len()).map(|i| format!("expert.{i}.layer.0.bias")).collect();
    let mut given = vec![("gate.layer.0.bias", gates.as_slice())];
    given.extend(names.iter().map(String::as_str).zip(y.chunks(1)));
    let params = params(&program, &given);
    (program, params)
}

#[test]
fn the_reference_selects_by_threshold() {
    let check = |threshold, gates: &[f64], y: f64, margin: f64| {
        let (program, params) = constants("meta_pi", threshold, gates, &[1.0, 2.0, 4.0]);
        let rows = rows(&program, &[&[0.3]]);
        assert_near(&reference::run(&program, &params, &rows, None).output, &[y]);
        let found = reference::margins(&program, &params, &rows);
        assert!(found == margin || (found - margin).abs() < 1e-6, "{found} is not {margin}");
    };
    check(0.0, &[0.6, 0.3, 0.1], 1.6, f64::INFINITY);
    check(0.25, &[0.6, 0.3, 0.1], 4.0 / 3.0, 0.05);
    check(0.5, &[0.3, 0.1, 0.6], 4.0, 0.1);
    // No gate passes: the largest gate alone, the first of equals.
    check(0.7, &[0.1, 0.55, 0.35], 2.0, 0.15);
    check(0.7, &[0.1, 0.47, 0.43], 2.0, 0.04);
    check(0.7, &[0.2, 0.4, 0.4], 2.0, 0.0);
}

#[test]
fn the_density_of_a_mixture_stays_finite_at_a_small_variance() {
    let (program, params) = constants("hme", 0.0, &[0.75, 0.25], &[0.0, 1.0]);
    let rows = rows(&program, &[&[0.0], &[0.0], &[0.0]]);
    let outcome = reference::run(&program, &params, &rows, Some(&[0.5, 0.0, 5.0]));
    assert_near(&outcome.output, &[0.25; 3]);
    // ℓᵢ = −200 (d − yᵢ)² of both experts: (−50, −50), (0, −200), (−5000, −3200); e⁻³²⁰⁰ underflows in f64.
    let expected = [-50.0, 0.75f64.ln(), 0.25f64.ln() - 3200.0];
    for (found, expected) in outcome.density.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
    }
}

#[test]
fn experts_that_are_not_selected_have_no_share_in_the_density() {
    let (program, params) = constants("hme", 0.5, &[0.75, 0.25], &[0.0, 1.0]);
    let rows = rows(&program, &[&[0.0]]);
    let outcome = reference::run(&program, &params, &rows, Some(&[1.0]));
    assert_near(&outcome.output, &[0.0]);
    assert!((outcome.density[0] + 200.0).abs() < 1e-4, "{:?}", outcome.density);
}

#[test]
fn a_nested_mixture_equals_the_flat_one() {
    let expert = json!({ "mlp": { "hidden": [3] } });
    let inner = json!({ "hme": { "experts": 2, "expert": expert, "variance": 0.05 } });
    let nested =
        program(json!({ "hme": { "experts": 2, "expert": inner, "variance": 0.7 } }), 2, &Head::Value);
    let flat =
        program(json!({ "hme": { "experts": 4, "expert": expert, "variance": 0.05 } }), 2, &Head::Value);
    // The gates must not depend on the row: otherwise a linear gate of the flat mixture cannot equal their product.
    let (outer, inner) = ([0.8f64, 0.2], [[0.7f64, 0.3], [0.1, 0.9]]);
    let mut nested_params = vec![0.0; nested.parameters()];
    let mut flat_params = vec![0.0; flat.parameters()];
    for p in &nested.params {
        let slots = &mut nested_params[p.offset..][..p.len()];
        let digits: Vec<usize> = p.name.split('.').filter_map(|part| part.parse().ok()).collect();
        if p.name == "gate.layer.0.bias" {
            slots.copy_from_slice(&outer.map(f64::ln));
        } else if p.name.ends_with("gate.layer.0.bias") {
            slots.copy_from_slice(&inner[digits[0]].map(f64::ln));
        } else if !p.name.contains("gate") {
            let (i, j) = (digits[0], digits[1]);
            let twin =
                p.name.replacen(&format!("expert.{i}.expert.{j}"), &format!("expert.{}", 2 * i + j), 1);
            let twin = flat.params.iter().find(|q| q.name == twin).unwrap();
            for (k, slot) in slots.iter_mut().enumerate() {
                *slot = ((p.offset + k) as f64 * 1.7).sin();
                flat_params[twin.offset + k] = *slot;
            }
        }
    }
    let gates: Vec<f64> = (0..4).map(|i| (outer[i / 2] * inner[i / 2][i % 2]).ln()).collect();
    let bias = flat.params.iter().find(|p| p.name == "gate.layer.0.bias").unwrap();
    flat_params[bias.offset..][..4].copy_from_slice(&gates);
    let rows = rows(&nested, &[&[0.3, -0.8], &[1.0, 0.4], &[-0.6, 0.0]]);
    let targets = [0.2, -0.4, 0.9];
    let a = reference::run(&nested, &nested_params, &rows, Some(&targets));
    let b = reference::run(&flat, &flat_params, &rows, Some(&targets));
    assert_near(&a.output, &b.output);
    assert_near(&a.density, &b.density);
}

/// HME with categorical experts: the likelihood of t is Σᵢ gᵢ Πₖ pᵢₖ^tₖ, the output Σᵢ gᵢ pᵢ.
#[test]
fn experts_that_give_distributions_compete_by_their_cross_entropy() {
    let expert = json!({ "mlp": { "hidden": [] } });
    let head = Head::Outcomes(OutcomeClass::loss_draw_win());
    let at = |kind: &str| {
        let program = program(json!({ kind: { "experts": 2, "expert": expert } }), 1, &head);
        let logs = |p: &[f64]| p.iter().map(|p| p.ln() + 0.7).collect::<Vec<_>>();
        let (gate, one, two) = (logs(&[0.75, 0.25]), logs(&[0.2, 0.3, 0.5]), logs(&[0.6, 0.3, 0.1]));
        let given: [(&str, &[f64]); 3] =
            [("gate.layer.0.bias", &gate), ("expert.0.layer.0.bias", &one), ("expert.1.layer.0.bias", &two)];
        let params = params(&program, &given);
        let rows = rows(&program, &[&[0.4], &[0.4]]);
        reference::run(&program, &params, &rows, Some(&[0.0, 0.0, 1.0, 0.5, 0.25, 0.25]))
    };
    let (hme, pi) = (at("hme"), at("meta_pi"));
    assert_near(&hme.output, &[0.3, 0.3, 0.4, 0.3, 0.3, 0.4]);
    assert_near(&pi.output, &hme.output);
    let product = |p: [f64; 3]| p[0].powf(0.5) * p[1].powf(0.25) * p[2].powf(0.25);
    let likelihood = 0.75 * product([0.2, 0.3, 0.5]) + 0.25 * product([0.6, 0.3, 0.1]);
    assert_near(&hme.density, &[0.4f64.ln(), likelihood.ln()]);
    // Meta-Pi compares the blend alone.
    assert_near(&pi.density, &[0.4f64.ln(), product([0.3, 0.3, 0.4]).ln()]);
}

#[test]
fn a_prior_becomes_a_distribution_that_a_network_corrects() {
    let channels = [Channel::new("x", ChannelKind::Dense(1)), Channel::new("p", ChannelKind::Value)];
    let net = json!({ "mlp": { "hidden": [], "output": "linear" } });
    let architecture: Architecture = serde_json::from_value(json!({ "residual": { "net": net } })).unwrap();
    let at = |classes: Vec<OutcomeClass>, p: f32, z: &[f64]| {
        let program = lower(&architecture, &channels, &Head::Outcomes(classes)).unwrap();
        let params = params(&program, &[("net.layer.0.bias", z)]);
        let mut rows = Rows::new(&channels);
        rows.push().dense.copy_from_slice(&[0.0, p]);
        reference::run(&program, &params, &rows, None).output
    };
    assert_near(&at(OutcomeClass::loss_win(), 0.5, &[0.0, 0.0]), &[0.25, 0.75]);
    // As with one number: p = tanh(atanh(½) + 1) is 2 p(win) − 1.
    let corrected = (0.5f64.atanh() + 1.0).tanh();
    assert_near(
        &at(OutcomeClass::loss_win(), 0.5, &[-1.0, 1.0]),
        &[0.5 - corrected / 2.0, 0.5 + corrected / 2.0],
    );
    assert_near(&at(OutcomeClass::loss_draw_win(), 0.0, &[0.0; 3]), &[1.0 / 3.0; 3]);
    let draws = at(OutcomeClass::loss_draw_win(), 0.5, &[0.0; 3]);
    assert!((draws[2] - draws[0] - 0.5).abs() < 1e-12 && draws[1] * draws[1] - draws[0] * draws[2] < 1e-12);
}

#[test]
fn outcomes_refuse_what_has_no_meaning_for_them() {
    let channels = crate::common::channels();
    let refusal = |architecture: Value, classes: Vec<OutcomeClass>| {
        let architecture: Architecture = serde_json::from_value(architecture).unwrap();
        match lower(&architecture, &channels, &Head::Outcomes(classes)).unwrap_err() {
            ModelError::Architecture { path, message } => format!("{path}: {message}"),
            other => panic!("{other}"),
        }
    };
    let mlp = json!({ "mlp": { "hidden": [2] } });
    let three = OutcomeClass::loss_draw_win;
    let said = refusal(json!({ "hme": { "experts": 2, "expert": mlp, "variance": 0.5 } }), three());
    assert!(said.contains("hme.variance"), "{said}");
    let said = refusal(json!({ "mlp": { "hidden": [2], "output": "sigmoid" } }), three());
    assert!(said.contains("mlp.output") && said.contains("softmax"), "{said}");
    let said = refusal(json!({ "residual": { "on": "hint", "net": mlp } }), {
        let mut classes = three();
        classes[1].utility = 0.5;
        classes
    });
    assert!(said.contains("loss, draw, win"), "{said}");
    let twice = json!({ "residual": { "on": "hint", "net": { "residual": { "on": "prior", "net": mlp } } } });
    assert!(refusal(twice, three()).contains("keep one"));
    let said = refusal(json!({ "lookup": { "by": "cell", "initial": 0.5 } }), three());
    assert!(said.contains("lookup.initial"), "{said}");
    let said = refusal(mlp, vec![OutcomeClass::new("win", 1.0, 0)]);
    assert!(said.contains("2 to"), "{said}");
}
