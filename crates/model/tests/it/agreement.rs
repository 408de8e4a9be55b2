//! Compares the engines op by op. `cargo test -p adept-model --test it agreement -- --nocapture` prints the table.
//!
//! Each op is tested with a few architectures that put it between a linear layer and the loss. The expected values come
//! from the reference in f64, the expected gradients from finite differences of its loss.

#![cfg(feature = "flex")]

use crate::common::{channels, devices, double, gradient_of, params_for, rows_for};
use adept_model::OutcomeClass;
use adept_model::burn_engine::{BurnEngine, BurnNetwork};
use adept_model::optimiser::{Adam, Sgd};
use adept_model::{Architecture, Head, Learner, Network, Optimiser, Program, Samples, lower, reference};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// Architectures by the op that they test.
fn probes() -> Vec<(&'static str, Value)> {
    let linear =
        |hidden: Value| json!({ "mlp": { "hidden": hidden, "activation": "linear", "output": "linear" } });
    let activated =
        |f: &str| json!({ "mlp": { "hidden": [17], "activation": f, "output": "linear", "init": 0.8 } });
    let expert = json!({ "mlp": { "hidden": [5], "output": "linear" } });
    let mixture = |kind: &str, threshold: f64| json!({ kind: { "experts": 4, "expert": expert, "threshold": threshold } });
    let residual = |on: &str, net: Value| json!({ "residual": { "on": on, "net": net } });
    vec![
        ("Input, Affine, Density", linear(json!([]))),
        ("Affine, deep", linear(json!([33, 16]))),
        ("Scale", json!({ "mlp": { "hidden": [16], "sensitivity": 3.0 } })),
        ("Activation tanh", activated("tanh")),
        ("Activation sigmoid", activated("sigmoid")),
        ("Activation relu", activated("relu")),
        ("Activation silu", activated("silu")),
        ("LogSoftmax, Blend", mixture("meta_pi", 0.0)),
        ("Threshold, Route mask", mixture("meta_pi", 0.3)),
        ("LogMix", mixture("hme", 0.0)),
        ("LogMix, small variance", json!({ "hme": { "experts": 4, "expert": expert, "variance": 0.0025 } })),
        ("LogMix, Threshold", mixture("hme", 0.3)),
        ("Route index", json!({ "symbolic": { "by": "cell", "expert": expert } })),
        (
            "Route cells",
            json!({ "cells": { "by": ["phase", "cell"], "experts": 5, "classes": 4, "expert": expert } }),
        ),
        ("Residual", residual("prior", linear(json!([])))),
        ("Residual, Blend", residual("hint", mixture("hme", 0.0))),
        (
            "Route, Residual on two",
            json!({ "meta_pi": { "experts": [residual("prior", expert.clone()), residual("hint", expert.clone())] } }),
        ),
        ("Gather", json!({ "symbolic": { "by": "phase", "expert": { "lookup": { "by": "cell" } } } })),
    ]
}

/// The same for distributions over classes of outcomes.
fn probes_of_outcomes() -> Vec<(&'static str, Value, Head)> {
    let expert = json!({ "mlp": { "hidden": [5] } });
    let linear = json!({ "mlp": { "hidden": [], "output": "linear" } });
    let mixture = |kind: &str| json!({ kind: { "experts": 4, "expert": expert } });
    let three = || Head::Outcomes(OutcomeClass::loss_draw_win());
    let two = || Head::Outcomes(OutcomeClass::loss_win());
    vec![
        ("Softmax, Categorical", expert.clone(), three()),
        ("Categorical, Blend", mixture("meta_pi"), three()),
        ("Categorical, LogMix", mixture("hme"), three()),
        ("Categorical, LogMix of 2", mixture("hme"), two()),
        ("PriorLogits of 2", json!({ "residual": { "on": "prior", "net": linear } }), two()),
        ("PriorLogits of 3", json!({ "residual": { "on": "prior", "net": linear } }), three()),
        (
            "PriorLogits alone",
            json!({ "meta_pi": { "experts": [{ "frozen": { "on": "hint" } }, expert] } }),
            three(),
        ),
    ]
}

const OPTIMISERS: [Optimiser; 3] = [
    Optimiser::Sgd(Sgd { momentum: 0.0, decay: 0.1 }),
    Optimiser::Sgd(Sgd { momentum: 0.9, decay: 0.1 }),
    Optimiser::Adam(Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 0.01,
        decay: 0.1,
        sparse: false,
        expert_rows: None,
    }),
];

struct Probe {
    program: Arc<Program>,
    params: Vec<f32>,
    samples: Samples,
}

impl Probe {
    fn new(architecture: &Value, head: &Head, seed: u64) -> Self {
        let architecture: Architecture = serde_json::from_value(architecture.clone()).unwrap();
        let program = Arc::new(lower(&architecture, &channels(), head).unwrap());
        let params = params_for(&program, seed);
        let rows = rows_for(&program, &params, 64, seed);
        let wave = |r: usize| (r as f32 * 1.7 + seed as f32).sin();
        let classes = head.outputs();
        let targets: Vec<f32> = match head {
            Head::Outcomes(_) => (0..64)
                .flat_map(|r| {
                    let weights: Vec<f32> = (0..classes).map(|k| wave(r * classes + k).exp()).collect();
                    let sum: f32 = weights.iter().sum();
                    weights.into_iter().map(move |w| w / sum)
                })
                .collect(),
            Head::Value | Head::Policy => (0..64).map(wave).collect(),
        };
        Self { program, params, samples: Samples { rows, targets, weights: vec![1.0; 64] } }
    }

    fn loss(&self, params: &[f64]) -> f64 {
        let outcome = reference::run(&self.program, params, &self.samples.rows, Some(&self.samples.targets));
        -outcome.density.iter().sum::<f64>()
    }

    fn gradient(&self) -> Vec<f64> {
        let (params, h) = (double(&self.params), 1e-5);
        let fixed = |i: usize| {
            self.program.params.iter().any(|p| p.fixed && (p.offset..p.offset + p.len()).contains(&i))
        };
        let slope = |i: usize| {
            if fixed(i) {
                return 0.0;
            }
            let at = |x: f64| {
                let mut moved = params.clone();
                moved[i] = x;
                self.loss(&moved)
            };
            (at(params[i] + h) - at(params[i] - h)) / (2.0 * h)
        };
        (0..params.len()).map(slope).collect()
    }

    /// The parameters after one step along this gradient.
    fn step(&self, optimiser: Optimiser, gradient: &[f64], rate: f64) -> Vec<f64> {
        let mut moved = double(&self.params);
        for p in &self.program.params {
            let rate = rate * f64::from(self.program.groups[p.group].rate);
            for i in p.offset..p.offset + p.len() {
                let (decay, step) = match optimiser {
                    Optimiser::Sgd(sgd) => (sgd.decay, gradient[i]),
                    // The first step of Adam: m̂ and v̂ are the gradient and its square.
                    Optimiser::Adam(adam) => {
                        (adam.decay, gradient[i] / (gradient[i].abs() + f64::from(adam.epsilon)))
                    }
                    Optimiser::Soap(_) => unreachable!("only one engine has it"),
                };
                moved[i] = moved[i] * (1.0 - rate * f64::from(decay)) - rate * step;
                moved[i] = moved[i].max(p.min.map_or(f64::NEG_INFINITY, f64::from));
            }
        }
        moved
    }
}

/// Largest differences from the reference: output, loss, gradient, optimiser step; none if not compared.
#[derive(Clone, Copy, Default)]
struct Gaps([Option<f64>; 4]);

impl Gaps {
    fn see(&mut self, what: usize, found: &[f32], exact: &[f64], scale: f64) {
        assert_eq!(found.len(), exact.len());
        for (a, b) in found.iter().zip(exact) {
            let gap = (f64::from(*a) - b).abs() / (scale + b.abs());
            assert!(gap.is_finite(), "{a} against {b}");
            self.0[what] = Some(self.0[what].map_or(gap, |g| g.max(gap)));
        }
    }
}

/// Creates a network of an engine with these parameters.
type Make<'a> = dyn Fn(&Probe, Optimiser) -> Box<dyn Learner> + 'a;

#[test]
fn the_engines_agree_op_by_op() {
    let devices = devices();
    let mut engines: Vec<(String, Box<Make>)> = vec![(
        "native".into(),
        Box::new(|p: &Probe, o| Box::new(Network::new(p.program.clone(), &p.params, o)) as Box<dyn Learner>),
    )];
    for (name, device) in &devices {
        let make = move |p: &Probe, o: Optimiser| {
            Box::new(BurnNetwork::new(p.program.clone(), &p.params, o, device.clone()).unwrap())
                as Box<dyn Learner>
        };
        engines.push((format!("burn on {name}"), Box::new(make)));
    }
    let mut table = String::new();
    writeln!(
        table,
        "{:<24} {:<16} {:>9} {:>9} {:>9} {:>9}",
        "ops", "engine", "output", "loss", "gradient", "step"
    )
    .unwrap();
    let mut apart = Vec::new();
    let values = probes().into_iter().map(|(name, written)| (name, written, Head::Value));
    for (name, architecture, head) in values.chain(probes_of_outcomes()) {
        let mut gaps = vec![Gaps::default(); engines.len()];
        for seed in 0..3 {
            let probe = Probe::new(&architecture, &head, seed);
            let outcome = reference::run(
                &probe.program,
                &double(&probe.params),
                &probe.samples.rows,
                Some(&probe.samples.targets),
            );
            let (loss, gradient) = (probe.loss(&double(&probe.params)), probe.gradient());
            let largest = gradient.iter().fold(0.0f64, |max, g| max.max(g.abs()));
            for ((_, make), gaps) in engines.iter().zip(&mut gaps) {
                let mut plain = make(&probe, Optimiser::default());
                let rate = 1e-3;
                let found = plain.update(&probe.samples, rate as f32).unwrap();
                gaps.see(1, &[found as f32], &[loss], 1.0);
                for optimiser in OPTIMISERS {
                    let mut network = make(&probe, optimiser);
                    let mut flat = Vec::new();
                    network.update(&probe.samples, rate as f32).unwrap();
                    network.weights(&mut flat).unwrap();
                    gaps.see(3, &flat, &probe.step(optimiser, &gradient, rate), 1.0);
                }
            }
            // The rest does not use the `Learner` interface, which evaluates rows on the CPU for all devices.
            let mut native = Network::new(probe.program.clone(), &probe.params, Optimiser::default());
            gaps[0].see(0, &native.run(&probe.samples.rows, None).0, &outcome.output, 1.0);
            gaps[0].see(2, &gradient_of(&mut native, &probe.samples).1, &gradient, largest.max(1.0));
            for ((_, device), gaps) in devices.iter().zip(&mut gaps[1..]) {
                let engine = BurnEngine::new(probe.program.clone(), device.clone());
                let found = engine.run(&probe.params, &probe.samples.rows, None).unwrap();
                gaps.see(0, &found.output, &outcome.output, 1.0);
                let network = BurnNetwork::new(
                    probe.program.clone(),
                    &probe.params,
                    Optimiser::default(),
                    device.clone(),
                );
                let (_, found) = gradient_of(&mut network.unwrap(), &probe.samples);
                gaps.see(2, &found, &gradient, largest.max(1.0));
            }
        }
        for ((engine, _), Gaps(g)) in engines.iter().zip(&gaps) {
            let [output, loss, gradient, step] = g.map(|gap| gap.expect("all four are compared"));
            writeln!(
                table,
                "{name:<24} {engine:<16} {output:>9.1e} {loss:>9.1e} {gradient:>9.1e} {step:>9.1e}"
            )
            .unwrap();
            // On NVIDIA GPUs, burn multiplies matrices by tensor cores, which round their input to TF32: ten bits.
            let allowed = if engine.ends_with("cuda") { 5e-3 } else { 1e-5 };
            if [output, loss, gradient, step].iter().any(|gap| *gap > allowed) {
                apart.push(format!("{name}, {engine}: {g:?}"));
            }
        }
    }
    println!("{table}");
    assert!(apart.is_empty(), "{}", apart.join("\n"));
}
