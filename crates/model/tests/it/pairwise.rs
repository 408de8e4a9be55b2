//! Compares networks on pairs of halves with the same networks row by row.

use adept_model::native::Isa;
use adept_model::{
    Architecture, Channel, ChannelKind, Head, Network, Optimiser, PairErrors, PairProducts, Predictor, Rows,
    TILE, lower,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Number of left and of right halves: more than a tile, and not a multiple of a chunk.
const HALVES: usize = 77;

fn channels() -> Vec<Channel> {
    [
        ("places", ChannelKind::Bits(8)),
        ("prior", ChannelKind::Value),
        ("counts", ChannelKind::Dense(6)),
        ("other", ChannelKind::Index(2)),
        ("cell", ChannelKind::Index(6)),
        ("left", ChannelKind::Index(30)),
        ("right", ChannelKind::Index(9)),
    ]
    .map(|(name, kind)| Channel::new(name, kind))
    .into()
}

/// Two kinds of left halves, three kinds of right halves.
fn cell(left: usize, right: usize) -> u64 {
    ((left / 5 % 2) * 3 + (right + 1) / 9 % 3) as u64
}

/// Entry `k` of half `half`.
fn entry(half: usize, k: usize) -> f32 {
    if k < 4 { (half >> k & 1) as f32 } else { ((half * 7 + k * 13) % 29) as f32 / 20.0 - 0.7 }
}

fn prior(left: usize, right: usize) -> f32 {
    ((left * 31 + right * 17) % 199) as f32 / 100.0 - 0.99
}

/// The rows of these pairs: the first half of each channel belongs to the left half, the second to the right half.
fn rows(pairs: impl Iterator<Item = (usize, usize)>) -> Rows {
    let mut rows = Rows::new(&channels());
    for (left, right) in pairs {
        let adept_model::RowMut { dense: row, index } = rows.push();
        index.copy_from_slice(&[1, cell(left, right), left as u64 % 30, right as u64 / 9]);
        (0..4).for_each(|k| (row[k], row[4 + k]) = (entry(left, k), entry(right, k)));
        row[8] = prior(left, right);
        (0..3).for_each(|k| (row[9 + k], row[12 + k]) = (entry(left, 4 + k), entry(right, 4 + k)));
    }
    rows
}

fn network(architecture: Value, grow: f32, isa: Isa) -> Network {
    let architecture: Architecture = serde_json::from_value(architecture).unwrap();
    let program = Arc::new(lower(&architecture, &channels(), &Head::Value).unwrap());
    let mut params = program.draw(&mut adept_rng());
    params.iter_mut().for_each(|p| *p *= grow);
    Network::with_isa(program, &params, Optimiser::default(), isa)
}

fn adept_rng() -> impl rand::Rng {
    <rand_xoshiro::Xoshiro256PlusPlus as rand::SeedableRng>::seed_from_u64(3)
}

/// The largest difference over all pairs, in tiles with different first halves. There are at most `classes` pairs of
/// classes.
fn gap(network: &mut Network, classes: usize) -> f32 {
    let form = network.pairwise().expect("a network of one hidden layer");
    let (left, right) = (rows((0..HALVES).map(|i| (i, 0))), rows((0..HALVES).map(|j| (0, j))));
    let mut asked = 0;
    let mut pair = |i, j| {
        asked += 1;
        rows([(i, j)].into_iter())
    };
    let pairs = form.prepare(&left, &right, &mut pair).expect("few classes");
    assert!(asked <= classes, "one pair of each two classes is enough");
    let (mut exact, mut gap) = (Vec::new(), 0.0f32);
    for first in [0, 1, 16, HALVES - 30, HALVES - 1] {
        let width = TILE.min(HALVES - first);
        for left in [0..HALVES, 5..6, 70..77] {
            let of = |i| (first..first + width).map(move |j| (i, j));
            network.evaluate(&rows(left.clone().flat_map(of)), &mut exact);
            let mut values = vec![[f32::NAN; TILE]; left.len()];
            let mut priors = vec![[0.0; TILE]; left.len()];
            for (row, i) in priors.iter_mut().zip(left.clone()) {
                row.iter_mut().zip(of(i)).for_each(|(p, (i, j))| *p = prior(i, j));
            }
            pairs.tile(left, first, if form.corrects() { &priors } else { &[] }, &mut values);
            for (found, exact) in values.iter().zip(exact.chunks(width)) {
                found.iter().zip(exact).for_each(|(v, e)| gap = gap.max((v - e).abs() / (1.0 + e.abs())));
                assert!(found[..width].iter().all(|v| v.is_finite()));
            }
        }
    }
    gap
}

#[test]
fn pairs_have_the_values_of_rows() {
    for isa in Isa::available() {
        for f in ["tanh", "sigmoid", "relu", "silu", "linear"] {
            for (units, output) in [(1, "tanh"), (10, "linear"), (37, f)] {
                for sensitivity in [Value::Null, json!(1.7)] {
                    let mut mlp =
                        json!({ "hidden": [units], "activation": f, "output": output, "init": 0.5 });
                    if !sensitivity.is_null() {
                        mlp["sensitivity"] = sensitivity;
                    }
                    let mlp = json!({ "mlp": mlp });
                    let gated = json!({ "symbolic": { "by": "cell", "expert": mlp } });
                    let residual = json!({ "residual": { "on": "prior", "net": mlp } });
                    let both = json!({ "residual": { "on": "prior", "net": gated } });
                    // Five experts for six classes of left halves, seven of right halves.
                    let cells = json!({ "cells": { "by": ["left", "right"], "classes": 7, "experts": 5, "expert": mlp } });
                    for (architecture, classes) in
                        [(mlp, 1), (residual, 1), (gated, 6), (both, 6), (cells, 42)]
                    {
                        let gap = gap(&mut network(architecture.clone(), 1.0, isa), classes);
                        assert!(gap <= 4e-6, "{isa:?}: {gap} for {architecture}");
                    }
                }
            }
        }
    }
}

/// Halves whose net inputs are too large for an exponential in 32 bits, although some of their sums are moderate.
#[test]
fn large_net_inputs_are_summed_first() {
    for isa in Isa::available() {
        for f in ["tanh", "sigmoid"] {
            let mlp = json!({ "mlp": { "hidden": [9], "activation": f, "init": 0.5 } });
            let gap = gap(&mut network(mlp, 200.0, isa), 1);
            assert!(gap <= 1e-3, "{isa:?}: {gap} for {f}");
        }
    }
}

#[test]
fn what_is_not_finite_does_not_hide() {
    for isa in Isa::available() {
        let mlp = json!({ "mlp": { "hidden": [3] } });
        let network = network(mlp, f32::NAN, isa);
        let base = || rows([(0, 0)].into_iter());
        let mut values = [[0.0; TILE]];
        let pairs = network.pairwise().unwrap().prepare(&base(), &base(), &mut |_, _| base()).unwrap();
        pairs.tile(0..1, 0, &[], &mut values);
        assert!(values[0][0].is_nan(), "{isa:?}: {}", values[0][0]);
    }
}

#[test]
fn other_networks_have_no_such_form() {
    let expert = json!({ "mlp": { "hidden": [3] } });
    for architecture in [
        json!({ "mlp": { "inputs": ["places", "prior"], "hidden": [3] } }),
        json!({ "mlp": { "hidden": [] } }),
        json!({ "mlp": { "hidden": [5, 5] } }),
        json!({ "meta_pi": { "experts": 2, "expert": expert } }),
        json!({ "residual": { "on": "prior", "net": { "hme": { "experts": 2, "expert": expert } } } }),
        json!({ "symbolic": { "by": "other", "experts": [expert, { "mlp": { "hidden": [4] } }] } }),
        json!({ "symbolic": { "by": "other", "expert": { "residual": { "on": "prior", "net": expert } } } }),
    ] {
        assert!(network(architecture.clone(), 1.0, Isa::detect()).pairwise().is_none(), "{architecture}");
    }
}

/// A register has 16 lanes for the experts that run with one left half.
#[test]
fn too_many_experts_and_classes_are_refused() {
    let channels = [Channel::new("x", ChannelKind::Dense(1)), Channel::new("cell", ChannelKind::Index(300))];
    let symbolic = json!({ "symbolic": { "by": "cell", "expert": { "mlp": { "hidden": [3] } } } });
    let architecture: Architecture = serde_json::from_value(symbolic).unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let params = program.draw(&mut adept_rng());
    let form = Network::new(program, &params, Optimiser::default()).pairwise().unwrap();
    let rows = |cells: std::ops::Range<u64>| {
        let mut rows = Rows::new(&channels);
        cells.for_each(|cell| rows.push().index[0] = cell);
        rows
    };
    let fits = |lefts, rights| {
        let mut pair = |i, j| rows((i + j) as u64..(i + j) as u64 + 1);
        form.prepare(&rows(0..lefts), &rows(0..rights), &mut pair).is_some()
    };
    assert!(fits(16, 16) && fits(256, 1));
    assert!(!fits(1, 17), "17 experts for one left half");
    assert!(!fits(257, 1), "257 classes");
    assert!(!fits(1, 0), "there is nothing to prepare");
}

#[test]
fn products_are_sums_over_terms() {
    for isa in Isa::available() {
        for terms in [1, 5, 28] {
            let left: Vec<f32> = (0..HALVES * terms).map(|i| entry(i / terms, 4 + i % terms)).collect();
            let right: Vec<f32> = (0..terms * HALVES).map(|i| entry(i % HALVES, 9 + i / HALVES)).collect();
            let products = PairProducts::with_isa(terms, left.clone(), &right, isa);
            for first in [0, 13, HALVES - 1] {
                for halves in [0..HALVES, 3..4, 10..17] {
                    let mut values = vec![[f32::NAN; TILE]; halves.len()];
                    products.tile(halves.clone(), first, &mut values);
                    for (i, row) in halves.zip(&values) {
                        for (j, found) in (first..HALVES).zip(row) {
                            let term = |k: usize| f64::from(left[i * terms + k] * right[k * HALVES + j]);
                            let exact: f64 = (0..terms).map(term).sum();
                            assert!(
                                (f64::from(*found) - exact).abs() <= 2e-6,
                                "{isa:?}: {found}, not {exact}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn errors_are_summed_up_within_the_width() {
    for isa in Isa::available() {
        let (mut errors, mut all) = (PairErrors::with_isa(isa), Vec::new());
        for width in [1, 15, 16, 33, TILE] {
            let tile = |k: usize| {
                let entry =
                    |row: usize, c: usize| if c < width { entry(row * TILE + c, k) } else { f32::NAN };
                (0..5).map(|row| std::array::from_fn(|c| entry(row, c))).collect::<Vec<[f32; TILE]>>()
            };
            let (values, exact) = (tile(5), tile(9));
            let of_row = |(v, e): (&[f32; TILE], &[f32; TILE])| {
                (0..width).map(|c| f64::from(v[c]) - f64::from(e[c])).collect::<Vec<_>>()
            };
            all.extend(values.iter().zip(&exact).flat_map(of_row));
            let mut part = PairErrors::with_isa(isa);
            part.add_tile(&values, &exact, width);
            errors.add(&part);
        }
        let n = all.len() as f64;
        assert_eq!(errors.pairs(), all.len() as u64);
        assert!(
            (errors.rms() - (all.iter().map(|d| d * d).sum::<f64>() / n).sqrt()).abs() <= 1e-6,
            "{isa:?}"
        );
        assert!((errors.mae() - all.iter().map(|d| d.abs()).sum::<f64>() / n).abs() <= 1e-6, "{isa:?}");
        assert!((errors.max() - all.iter().fold(0.0, |max, d| d.abs().max(max))).abs() <= 1e-6, "{isa:?}");
        errors.add_tile(&[[f32::NAN; TILE]], &[[0.0; TILE]], 3);
        assert!(errors.rms().is_nan() && errors.mae().is_nan() && errors.max().is_nan(), "{isa:?}");
    }
}
