//! Compares the native engine with the f64 reference, and its gradients with finite differences of the reference.

use crate::common::{Case, SEEDS, case, double, gradient_of};
use adept_model::native::Isa;
use adept_model::program::Program;
use adept_model::{
    Channel, ChannelKind, Head, Learner, Network, Optimiser, Predictor, Rows, Samples, lower, reference,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

fn close(found: f32, exact: f64) -> bool {
    (f64::from(found) - exact).abs() <= 1e-5 * (1.0 + exact.abs())
}

fn network(case: &Case, isa: Isa) -> Network {
    Network::with_isa(case.program.clone(), &case.params, Optimiser::default(), isa)
}

#[test]
fn outputs_and_densities_agree_with_the_reference_on_every_instruction_set() {
    for seed in SEEDS {
        let case = case(seed);
        let exact = reference::run(&case.program, &double(&case.params), &case.rows, Some(&case.targets));
        for isa in Isa::available() {
            let mut network = network(&case, isa);
            // Twice: the second run uses warm buffers.
            for _ in 0..2 {
                let (output, density) = network.run(&case.rows, Some(&case.targets));
                let all = output.iter().zip(&exact.output).chain(density.iter().zip(&exact.density));
                for (found, exact) in all {
                    assert!(
                        close(*found, *exact),
                        "seed {seed}, {isa:?}: {found}, exactly {exact}\n{:?}",
                        case.architecture
                    );
                }
                assert_eq!(network.run(&case.rows, None).0, output, "seed {seed}, {isa:?}");
            }
        }
    }
}

/// Narrow layers, which run sixteen rows at a time if the units are not needed, give the same bits.
#[test]
fn narrow_layers_give_the_same_bits_by_rows_and_by_units() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let layers: [(usize, &[usize]); 11] = [
        (1, &[2]),
        (3, &[5]),
        (4, &[8]),
        (36, &[8]),
        (50, &[10]),
        (50, &[10, 5]),
        (36, &[24, 3]),
        (7, &[16]),
        (9, &[17]),
        (36, &[24]),
        (18, &[32]),
    ];
    for (inputs, hidden) in layers {
        let channels = [Channel::new("x", ChannelKind::Dense(inputs))];
        for f in ["tanh", "sigmoid", "relu", "silu"] {
            let sensitivity = if f == "tanh" { r#", "sensitivity": 1.5"# } else { "" };
            let architecture =
                format!(r#"{{ "mlp": {{ "hidden": {hidden:?}, "activation": "{f}"{sensitivity} }} }}"#);
            let architecture = serde_json::from_str(&architecture).unwrap();
            let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
            let params = program.draw(&mut rng);
            for isa in Isa::available() {
                let mut network = Network::with_isa(program.clone(), &params, Optimiser::default(), isa);
                for n in [1, 7, 15, 16, 17, 30, 48, 70] {
                    let mut rows = Rows::new(&channels);
                    for _ in 0..n {
                        rows.push().dense.iter_mut().for_each(|x| *x = rng.random_range(-1.0..=1.0));
                    }
                    let (units, _) = network.run(&rows, Some(&vec![0.0; n]));
                    let what = format!("{inputs}-{hidden:?} {f}, {n} rows, {isa:?}");
                    assert_eq!(network.run(&rows, None).0, units, "{what}");
                    let one_by_one = (0..n).map(|r| {
                        let mut one = Rows::new(&channels);
                        one.push().dense.copy_from_slice(rows.view().dense_row(r));
                        network.run(&one, None).0[0]
                    });
                    assert_eq!(one_by_one.collect::<Vec<_>>(), units, "{what}, one by one");
                }
            }
        }
    }
}

/// Experts of few units run on unsorted rows if only values are needed, with the same bits.
#[test]
fn merged_experts_give_the_same_bits() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for (inputs, hidden) in [(1, 1), (3, 5), (36, 8), (7, 9), (36, 16), (5, 17)] {
        let kinds =
            [("x", ChannelKind::Dense(inputs)), ("a", ChannelKind::Index(5)), ("b", ChannelKind::Index(3))];
        let channels = kinds.map(|(name, kind)| Channel::new(name, kind));
        for f in ["tanh", "sigmoid", "relu", "silu"] {
            let expert = format!(r#"{{ "mlp": {{ "hidden": [{hidden}], "activation": "{f}" }} }}"#);
            let symbolic = format!(r#"{{ "symbolic": {{ "by": "a", "expert": {expert} }} }}"#);
            let cells = format!(r#"{{ "cells": {{ "by": ["b", "a"], "experts": 7, "expert": {expert} }} }}"#);
            for architecture in [symbolic, cells] {
                let architecture = serde_json::from_str(&architecture).unwrap();
                let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
                let params = program.draw(&mut rng);
                for isa in Isa::available() {
                    let mut network = Network::with_isa(program.clone(), &params, Optimiser::default(), isa);
                    for n in [1, 3, 4, 15, 16, 17, 70, 300] {
                        let mut rows = Rows::new(&channels);
                        for _ in 0..n {
                            let row = rows.push();
                            row.dense.iter_mut().for_each(|x| *x = rng.random_range(-1.0..=1.0));
                            (row.index[0], row.index[1]) = (rng.random_range(0..5), rng.random_range(0..3));
                        }
                        let (sorted, _) = network.run(&rows, Some(&vec![0.0; n]));
                        let mut values = Vec::new();
                        network.reset_usage();
                        network.evaluate(&rows, &mut values);
                        assert_eq!(values, sorted, "{inputs}-{hidden} {f}, {n} rows, {isa:?}");
                        let usage = network.usage().unwrap();
                        assert!(
                            usage.rows == n as u64 && (usage.share.iter().sum::<f64>() - 1.0).abs() < 1e-9
                        );
                        // A copy of the parameters must not outlive them.
                        let samples = Samples { targets: vec![0.5; n], weights: vec![1.0; n], rows };
                        network.update(&samples, 0.01).unwrap();
                        let (sorted, _) = network.run(&samples.rows, Some(&samples.targets));
                        network.evaluate(&samples.rows, &mut values);
                        assert_eq!(values, sorted, "after a step: {inputs}-{hidden} {f}, {n} rows, {isa:?}");
                    }
                }
            }
        }
    }
}

/// Layers that branches read are kept, whatever layer of the enclosing block reads them too.
#[test]
fn shared_layers_are_read_by_gates_and_experts() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let channels = [Channel::new("x", ChannelKind::Dense(36))];
    let expert = r#"{ "mlp": { "hidden": [4] } }"#;
    for hidden in [2, 8, 17, 24] {
        for top in [
            format!(
                r#"{{ "meta_pi": {{ "experts": 2, "gate": {{ "hidden": [1] }}, "expert": {expert} }} }}"#
            ),
            format!(r#"{{ "meta_pi": {{ "experts": 1, "expert": {expert} }} }}"#),
            format!(r#"{{ "hme": {{ "experts": 3, "gate": {{ "hidden": [1, 2] }}, "expert": {expert} }} }}"#),
        ] {
            let text = format!(r#"{{ "shared": {{ "hidden": [{hidden}], "top": {top} }} }}"#);
            let program =
                Arc::new(lower(&serde_json::from_str(&text).unwrap(), &channels, &Head::Value).unwrap());
            let params = program.draw(&mut rng);
            for isa in Isa::available() {
                let mut network = Network::with_isa(program.clone(), &params, Optimiser::default(), isa);
                for n in [1, 3, 16, 17, 70] {
                    let mut rows = Rows::new(&channels);
                    for _ in 0..n {
                        rows.push().dense.iter_mut().for_each(|x| *x = rng.random_range(-1.0..=1.0));
                    }
                    let mut values = Vec::new();
                    network.evaluate(&rows, &mut values);
                    let exact = reference::run(&program, &double(&params), &rows, None).output;
                    let differ = values.iter().zip(&exact).map(|(v, e)| (f64::from(*v) - e).abs());
                    let most = differ.fold(0.0, f64::max);
                    assert!(values.len() == n && most < 1e-5, "{text}, {n} rows, {isa:?}: {most}");
                }
            }
        }
    }
}

/// The rows of a decision that stay with an expert are each computed from the row before, wherever the others are.
#[test]
fn experts_compute_rows_of_a_decision_by_differences() {
    let channels = [Channel::new("x", ChannelKind::Dense(96)), Channel::new("cell", ChannelKind::Index(3))];
    let text =
        r#"{ "symbolic": { "by": "cell", "expert": { "mlp": { "inputs": ["x"], "hidden": [24, 5] } } } }"#;
    let program = Arc::new(lower(&serde_json::from_str(text).unwrap(), &channels, &Head::Value).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(5));
    let mut rows = Rows::new(&channels);
    for r in 0..60 {
        let row = rows.push();
        row.index[0] = (r * 7 % 3) as u64;
        // Each differs from the next in two inputs of twenty.
        (r..r + 20).for_each(|i| row.dense[i % 96] = 0.3 + (i % 5) as f32 / 7.0);
    }
    for isa in Isa::available() {
        let mut network = Network::with_isa(program.clone(), &params, Optimiser::default(), isa);
        let (mut alone, mut differences) = (Vec::new(), Vec::new());
        network.evaluate(&rows, &mut alone);
        network.evaluate(&rows.clone().similar_neighbours(), &mut differences);
        assert!(alone != differences, "{isa:?}: no row was computed from the row before");
        assert!(alone.iter().zip(&differences).all(|(a, b)| (a - b).abs() < 1e-6), "{isa:?}");
    }
}

/// Whether parameter `i` of the flat vector is constant.
fn is_fixed(program: &Program, i: usize) -> bool {
    program.params.iter().any(|p| p.fixed && (p.offset..p.offset + p.len()).contains(&i))
}

/// Central differences of the reference in f64 for up to 40 parameters of each program.
#[test]
fn gradients_agree_with_finite_differences() {
    let h = 1e-5;
    for seed in SEEDS {
        let case = case(seed);
        let weights: Vec<f32> = (0..case.rows.len()).map(|r| 0.5 + 0.25 * (r % 4) as f32).collect();
        let samples =
            Samples { rows: case.rows.clone(), targets: case.targets.clone(), weights: weights.clone() };
        let loss = |params: &[f64]| -> f64 {
            let density = reference::run(&case.program, params, &case.rows, Some(&case.targets)).density;
            density.iter().zip(&weights).map(|(d, w)| -d * f64::from(*w)).sum()
        };
        let params = double(&case.params);
        let step = (params.len() / 40).max(1);
        let checked: Vec<usize> = (seed as usize % step..params.len()).step_by(step).collect();
        let exact: Vec<f64> = checked
            .iter()
            .map(|&i| {
                if is_fixed(&case.program, i) {
                    return 0.0;
                }
                let at = |x: f64| {
                    let mut moved = params.clone();
                    moved[i] = x;
                    loss(&moved)
                };
                (at(params[i] + h) - at(params[i] - h)) / (2.0 * h)
            })
            .collect();
        for isa in Isa::available() {
            let mut network = network(&case, isa);
            for _ in 0..2 {
                let (total, gradient) = gradient_of(&mut network, &samples);
                assert!(close(total as f32, loss(&params)), "seed {seed}: loss {total}");
                let scale = exact.iter().fold(1.0f64, |m, g| m.max(g.abs()));
                for (&i, exact) in checked.iter().zip(&exact) {
                    let found = f64::from(gradient[i]);
                    assert!(
                        (found - exact).abs() <= 2e-4 * scale,
                        "seed {seed}, {isa:?}, parameter {i}: {found}, differences give {exact}\n{:?}",
                        case.architecture
                    );
                }
            }
        }
    }
}
