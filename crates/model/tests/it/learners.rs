//! Learners: optimisers against their formulas, traces against gradients, round trips of states.

use crate::common::{SEEDS, case, gradient_of};
use adept_model::architecture::Lookup;
use adept_model::native::Isa;
use adept_model::optimiser::{Adam, Sgd, Soap};
use adept_model::program::PRIOR_LIMIT;
use adept_model::{
    Architecture, BlindLearner, Channel, ChannelKind, Head, Learner, ModelError, Network, Optimiser,
    Predictor, Program, Rows, Samples, Table, TensorData, lower, reassigned_cells,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::sync::Arc;

fn samples(rows: Rows, targets: Vec<f32>) -> Samples {
    let weights = vec![1.0; rows.len()];
    Samples { rows, targets, weights }
}

/// Learning rate and lower bound of each flat parameter.
fn rates(program: &Program, rate: f64) -> Vec<(f64, f64)> {
    let mut all = vec![(0.0, 0.0); program.parameters()];
    for p in &program.params {
        let group = f64::from(program.groups[p.group].rate);
        all[p.offset..][..p.len()].fill((rate * group, p.min.map_or(f64::NEG_INFINITY, f64::from)));
    }
    all
}

/// Copies of weights in another order do not outlive them.
#[test]
fn values_follow_parameters_that_change() {
    let channels = [Channel::new("x", ChannelKind::Dense(128))];
    let architecture: Architecture =
        serde_json::from_str(r#"{"mlp": {"hidden": [100, 70], "init": "fan_in"}}"#).unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(3));
    let mut samples = Samples::new(&channels);
    for r in 0..300 {
        let row = samples.rows.push();
        row.dense.iter_mut().enumerate().for_each(|(i, x)| *x = ((r * 31 + i * 17) % 23) as f32 / 11.0 - 0.9);
        samples.targets.push(((r * 7) % 19) as f32 / 9.0 - 1.0);
        samples.weights.push(1.0);
    }
    let values = |learner: &mut Network| {
        let mut values = Vec::new();
        learner.evaluate(&samples.rows, &mut values);
        values
    };
    let fresh = |learner: &Network| {
        values(&mut Network::new(program.clone(), &learner.parameters(), Optimiser::default()))
    };
    let mut network = Network::new(program.clone(), &params, Optimiser::default());
    let before = values(&mut network);
    network.update(&samples, 0.01).unwrap();
    let after = values(&mut network);
    assert!(before != after);
    assert_eq!(after, fresh(&network));
    network.adopt(&params).unwrap();
    assert_eq!(values(&mut network), before);
    let other: Vec<f32> = params.iter().map(|w| w * 0.5).collect();
    let state = program.tensors_of(&other).unwrap();
    network.restore(&state).unwrap();
    assert_eq!(values(&mut network), fresh(&network));
    assert!(values(&mut network) != before);
}

/// More rows than go through the network at once.
#[test]
fn the_gradient_of_a_large_batch_is_the_sum_of_its_parts() {
    for text in [
        r#"{"mlp": {"hidden": [40, 20], "init": "fan_in"}}"#,
        r#"{"hme": {"experts": 3, "expert": {"mlp": {"hidden": [7], "init": "fan_in"}}}}"#,
        r#"{"symbolic": {"by": "class", "expert": {"mlp": {"inputs": ["x"], "hidden": [5], "init": "fan_in"}}}}"#,
    ] {
        let channels =
            [Channel::new("x", ChannelKind::Dense(70)), Channel::new("class", ChannelKind::Index(3))];
        let architecture: Architecture = serde_json::from_str(text).unwrap();
        let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
        let params = program.draw(&mut Xoshiro256PlusPlus::seed_from_u64(3));
        let mut network = Network::new(program, &params, Optimiser::default());
        let draw = |rows: std::ops::Range<usize>| {
            let mut samples = Samples::new(&channels);
            for r in rows {
                let row = samples.rows.push();
                row.dense
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, x)| *x = ((r * 31 + i * 17) % 23) as f32 / 11.0 - 1.0);
                row.index[0] = (r * r % 3) as u64;
                samples.targets.push(((r * 7) % 19) as f32 / 9.0 - 1.0);
                samples.weights.push(0.1 + (r % 5) as f32);
            }
            samples
        };
        let (loss, gradient) = gradient_of(&mut network, &draw(0..1300));
        let (mut losses, mut sum) = (0.0, vec![0.0; gradient.len()]);
        for first in (0..1300).step_by(100) {
            let (loss, part) = gradient_of(&mut network, &draw(first..first + 100));
            losses += loss;
            sum.iter_mut().zip(part).for_each(|(sum, g)| *sum += f64::from(g));
        }
        assert!((losses - loss).abs() < 1e-3 * loss.abs(), "{text}: {loss} {losses}");
        let scale = gradient.iter().fold(0.0f32, |a, g| a.max(g.abs()));
        for (found, expected) in gradient.iter().zip(sum) {
            assert!(
                (f64::from(*found) - expected).abs() < 1e-4 * f64::from(scale),
                "{text}: {found} {expected}"
            );
        }
    }
}

/// Compares three steps of each optimiser with its textbook form in f64, on the engine's own gradients.
#[test]
fn optimisers_follow_their_formulas() {
    let all = [
        Optimiser::Sgd(Sgd { momentum: 0.0, decay: 0.1 }),
        Optimiser::Sgd(Sgd { momentum: 0.9, decay: 0.0 }),
        Optimiser::Adam(Adam { decay: 0.05, ..Adam::default() }),
    ];
    for seed in SEEDS.step_by(4) {
        let case = case(seed);
        let samples = samples(case.rows.clone(), case.targets.clone());
        for optimiser in all {
            let mut network = Network::new(case.program.clone(), &case.params, optimiser);
            let n = case.params.len();
            let mut exact: Vec<f64> = case.params.iter().map(|&p| f64::from(p)).collect();
            let (mut m, mut v) = (vec![0.0; n], vec![0.0; n]);
            for t in 1..=3 {
                let (_, gradient) = gradient_of(&mut network, &samples);
                let (rate, max) = (0.002, gradient.iter().fold(1.0f64, |a, g| a.max(f64::from(g.abs()))));
                for (i, (rate, min)) in rates(&case.program, rate).into_iter().enumerate() {
                    let g = f64::from(gradient[i]);
                    exact[i] = match optimiser {
                        Optimiser::Sgd(Sgd { momentum, decay }) => {
                            m[i] = f64::from(momentum) * m[i] + g;
                            exact[i] * (1.0 - rate * f64::from(decay)) - rate * m[i]
                        }
                        Optimiser::Adam(a) => {
                            let (b1, b2) = (f64::from(a.beta1), f64::from(a.beta2));
                            m[i] = b1 * m[i] + (1.0 - b1) * g;
                            v[i] = b2 * v[i] + (1.0 - b2) * g * g;
                            let (mean, square) = (m[i] / (1.0 - b1.powi(t)), v[i] / (1.0 - b2.powi(t)));
                            exact[i] * (1.0 - rate * f64::from(a.decay))
                                - rate * mean / (square.sqrt() + f64::from(a.epsilon))
                        }
                        Optimiser::Soap(_) => unreachable!("has a test of its own"),
                    };
                    exact[i] = exact[i].max(min);
                }
                network.update(&samples, 0.002).expect("a small step stays finite");
                for (found, exact) in network.parameters().iter().zip(&mut exact) {
                    let error = (f64::from(*found) - *exact).abs();
                    assert!(
                        error <= 2e-6 * max,
                        "seed {seed}, {optimiser:?}, step {t}: {found}, exactly {exact}"
                    );
                    // The next gradient is taken at the network's parameters.
                    *exact = f64::from(*found);
                }
            }
        }
    }
}

/// An expert that has waited learns as if the steps without it had not been.
#[test]
fn experts_that_no_row_runs_through_keep_weights_and_moments() {
    let (program, channels, params) = two_experts();
    let of_phase = |phase: u64| {
        let mut rows = Rows::new(&channels);
        for x in [[0.5, -0.3, 1.0], [0.1, 0.7, -0.4]] {
            let row = rows.push();
            row.dense.copy_from_slice(&x);
            row.index[0] = phase;
        }
        samples(rows, vec![0.6, -0.2])
    };
    let second = program.params.iter().position(|p| p.name.starts_with("expert.1")).unwrap();
    let second = program.params[second].offset;
    let soap = Optimiser::Soap(Soap { every: 3, ..Soap::default() });
    for optimiser in [Optimiser::Adam(Adam::default()), soap] {
        let new = || Network::new(program.clone(), &params, optimiser);
        let (mut waiting, mut never) = (new(), new());
        let mut both = |phase: u64| {
            waiting.update(&of_phase(phase), 0.01).unwrap();
            (phase == 1).then(|| never.update(&of_phase(1), 0.01).unwrap());
        };
        both(1);
        (0..13).for_each(|_| both(0));
        // Its steps are counted in the state too.
        let mut resumed = new();
        resumed.restore(&waiting.state().unwrap()).unwrap();
        for _ in 0..15 {
            resumed.update(&of_phase(1), 0.01).unwrap();
            never.update(&of_phase(1), 0.01).unwrap();
        }
        assert_eq!(resumed.parameters()[second..], never.parameters()[second..], "{optimiser:?}");
        assert_ne!(resumed.parameters()[second..], params[second..]);
        assert_ne!(resumed.parameters()[..second], params[..second]);
    }
}

/// Two experts by the index `phase`, their channels, and initial parameters.
fn two_experts() -> (Arc<Program>, [Channel; 2], Vec<f32>) {
    let channels = [Channel::new("x", ChannelKind::Dense(3)), Channel::new("phase", ChannelKind::Index(2))];
    let expert = r#"{ "mlp": { "hidden": [4] } }"#;
    let text = format!(r#"{{ "symbolic": {{ "by": "phase", "expert": {expert} }} }}"#);
    let architecture: Architecture = serde_json::from_str(&text).unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let params = program.draw(&mut adept_rng());
    (program, channels, params)
}

/// Rows of these phases, of batch number `step`.
fn of_phases(channels: &[Channel], step: usize, phases: &[u64]) -> Samples {
    let mut samples = Samples::new(channels);
    for (r, &phase) in phases.iter().enumerate() {
        let row = samples.rows.push();
        row.index[0] = phase;
        row.dense.iter_mut().enumerate().for_each(|(i, x)| *x = number(step * 31 + r * 7 + i));
        samples.targets.push(number(step * 17 + r + 3));
        samples.weights.push(0.25);
    }
    samples
}

/// A pseudo-random number in ±0.5.
fn number(i: usize) -> f32 {
    ((i * 7919 + 13) % 1009) as f32 / 1009.0 - 0.5
}

/// Optimisers whose experts gather rows.
fn gathering(rows: u64) -> [Optimiser; 3] {
    let expert_rows = Some(rows);
    [
        Optimiser::Adam(Adam { decay: 0.5, expert_rows, ..Adam::default() }),
        Optimiser::Adam(Adam { sparse: true, expert_rows, ..Adam::default() }),
        // In the bases many gradients are 0 but for rounding, which a small ε would amplify to full steps.
        Optimiser::Soap(Soap { every: 3, decay: 0.5, epsilon: 0.01, expert_rows, ..Soap::default() }),
    ]
}

/// Many small batches make the steps of one batch with the rows of all, and an expert without rows stays as it was.
#[test]
fn experts_gather_rows_before_a_step() {
    let (program, channels, params) = two_experts();
    let second = program.params.iter().position(|p| p.name.starts_with("expert.1")).unwrap();
    let second = program.params[second].offset;
    for (gathers, plain) in gathering(6).into_iter().zip(gathering(1)) {
        let new = |optimiser| Network::new(program.clone(), &params, optimiser);
        let (mut parts, mut whole) = (new(gathers), new(plain));
        for step in 0..20 {
            let batches: Vec<Samples> = (0..3).map(|k| of_phases(&channels, 3 * step + k, &[1, 1])).collect();
            let mut all = Samples::new(&channels);
            for (k, batch) in batches.iter().enumerate() {
                let before = parts.parameters();
                parts.update(batch, 0.01).unwrap();
                assert_eq!(before == parts.parameters(), k < 2, "{gathers:?}, step {step}, batch {k}");
                for r in 0..batch.len() {
                    all.rows.push_from(&batch.rows, r);
                }
                all.targets.extend(&batch.targets);
                all.weights.extend(&batch.weights);
            }
            whole.update(&all, 0.01).unwrap();
            for (a, b) in parts.parameters().iter().zip(whole.parameters()) {
                assert!((a - b).abs() < 1e-5, "{gathers:?}, step {step}: {a} {b}");
            }
        }
        assert_eq!(parts.parameters()[..second], params[..second], "{gathers:?}: an expert without rows");
        assert_ne!(parts.parameters()[second..], params[second..]);
    }
}

/// One row is enough in every batch, so these are the steps of experts that gather none.
#[test]
fn experts_that_gather_one_row_take_every_step() {
    let (program, channels, params) = two_experts();
    let soap = |expert_rows| Optimiser::Soap(Soap { every: 3, expert_rows, ..Soap::default() });
    let adam = |expert_rows| Optimiser::Adam(Adam { expert_rows, ..Adam::default() });
    for [gathers, plain] in [[soap(Some(1)), soap(None)], [adam(Some(1)), adam(None)]] {
        let new = |optimiser| Network::new(program.clone(), &params, optimiser);
        let (mut a, mut b) = (new(gathers), new(plain));
        for step in 0..30 {
            let samples = of_phases(&channels, step, [&[0, 1, 1][..], &[0], &[1, 1, 1]][step % 3]);
            let losses = [&mut a, &mut b].map(|network| network.update(&samples, 0.01).unwrap());
            assert!((losses[0] - losses[1]).abs() < 1e-12, "{gathers:?}: {losses:?}");
            let (mut c, (loss, gradient)) = (new(gathers), gradient_of(&mut b, &samples));
            c.adopt(&b.parameters()).unwrap();
            assert_eq!(gradient_of(&mut c, &samples).1[..gradient.len()], gradient, "{loss}");
        }
        assert_eq!(a.parameters(), b.parameters(), "{gathers:?}");
    }
}

/// A state in the middle of gathering goes on with the same bits, and it does not matter which copy computes gradients.
#[test]
fn gathered_rows_are_part_of_the_state() {
    let (program, channels, params) = two_experts();
    for optimiser in gathering(7) {
        // Updates hold the samples of a switched expert back, and given gradients are added up.
        let new = || Network::new(program.clone(), &params, optimiser);
        let (mut whole, mut alone, mut helped) = (new(), new(), new());
        let mut helper = helped.worker().unwrap();
        let (mut flat, mut interrupted) = (Vec::new(), 0);
        for step in 0..40 {
            let samples = of_phases(&channels, step, [&[0, 1, 1][..], &[0], &[1, 1, 0]][step % 3]);
            whole.update(&samples, 0.01).unwrap();
            let (loss, gradient) = gradient_of(&mut alone, &samples);
            assert_eq!(gradient.len(), alone.gradient_len());
            alone.descend(loss, &gradient, 0.01).unwrap();
            helped.weights(&mut flat).unwrap();
            helper.adopt(&flat).unwrap();
            assert_eq!((loss, gradient.clone()), gradient_of(&mut *helper, &samples));
            helped.descend(loss, &gradient, 0.01).unwrap();
            for network in [&mut whole, &mut helped] {
                let (state, mut resumed) = (network.state().unwrap(), new());
                let waits = ["optimiser.held_rows", "optimiser.gathered_rows"];
                interrupted += usize::from(state.iter().any(|t| waits.contains(&&*t.name)));
                resumed.restore(&state).unwrap();
                assert!(resumed.state().unwrap() == state, "{optimiser:?}, step {step}");
                *network = resumed;
            }
            assert!(alone.state().unwrap() == helped.state().unwrap(), "{optimiser:?}, step {step}");
        }
        let mut plain = new();
        for step in 0..40 {
            let samples = of_phases(&channels, step, [&[0, 1, 1][..], &[0], &[1, 1, 0]][step % 3]);
            plain.update(&samples, 0.01).unwrap();
        }
        assert!(plain.state().unwrap() == whole.state().unwrap(), "{optimiser:?}: resumed at every step");
        assert!(interrupted > 40, "{optimiser:?}: {interrupted}");
    }
}

/// Weights of inputs that are 0 rest; what steps of Adam would have done to them is made up for later.
#[test]
fn sparse_steps_make_up_for_what_they_leave_out() {
    let channels = [Channel::new("x", ChannelKind::Dense(60)), Channel::new("phase", ChannelKind::Index(2))];
    let (rate, b1, b2) = (0.001, f64::from(Adam::default().beta1), f64::from(Adam::default().beta2));
    // Whether an input differs from 0 in this step.
    let is_on = |step: usize, input: usize| (step * 7 + input * 5) % 11 < 2 || input < 3;
    let phase = |step: usize| step / 3 % 2;
    let of_step = |step: usize, all: bool| {
        let mut samples = Samples::new(&channels);
        for r in 0..3 {
            let row = samples.rows.push();
            row.index[0] = phase(step) as u64;
            for (i, x) in row.dense.iter_mut().enumerate().filter(|(i, _)| all || is_on(step, *i)) {
                *x = ((step * 13 + r * 31 + i * 17) % 23) as f32 / 11.0 + 0.05;
            }
            samples.targets.push(((step * 7 + r) % 19) as f32 / 9.0 - 1.0);
            samples.weights.push(1.0);
        }
        samples
    };
    let mlp = r#"{"mlp": {"inputs": ["x"], "hidden": [20, 5], "init": "fan_in"}}"#;
    let experts = format!(r#"{{"symbolic": {{"by": "phase", "expert": {mlp}}}}}"#);
    let forms = [(mlp, 0.0), (mlp, 3.0), (&experts, 0.0)];
    for (isa, (text, decay)) in Isa::available().into_iter().flat_map(|isa| forms.map(|form| (isa, form))) {
        let what = format!("{isa:?}, {text}, {decay}");
        let architecture: Architecture = serde_json::from_str(text).unwrap();
        let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
        let params = program.draw(&mut adept_rng());
        let new = |sparse: bool| {
            let adam = Optimiser::Adam(Adam { sparse, decay, ..Adam::default() });
            Network::with_isa(program.clone(), &params, adam, isa)
        };
        let firsts = program.params.iter().filter(|p| p.shape == [60, 20]);
        let inputs: Vec<usize> = firsts.flat_map(|p| (0..60).map(|i| p.offset + 20 * i)).collect();

        let mut network = new(true);
        let mut moments = vec![[0.0f64; 2]; params.len()];
        let (mut last, mut steps) = (vec![0; params.len()], vec![0; inputs.len() / 60]);
        let (mut rested, mut made_up) = (0, 0);
        for step in 1..=120 {
            // The last step of each input is in the state too.
            if step == 25 {
                let state = network.state().unwrap();
                network = new(true);
                network.restore(&state).unwrap();
            }
            let (before, samples) = (network.parameters(), of_step(step, false));
            let (_, gradient) = gradient_of(&mut network, &samples);
            network.update(&samples, rate).unwrap();
            let after = network.parameters();
            // Experts count their own steps.
            let expert = phase(step) % steps.len();
            steps[expert] += 1;
            let step = steps[expert];
            let corrected = |step: i32| {
                let (c1, c2) = (1.0 - b1.powi(step), (1.0 - b2.powi(step)).sqrt());
                (f64::from(rate) * c2 / c1, 1e-8 * c2)
            };
            let keep = 1.0 - f64::from(rate) * f64::from(decay);
            for (place, &input) in inputs.iter().enumerate() {
                let row = input..input + 20;
                if gradient[row.clone()].iter().all(|g| *g == 0.0) {
                    for i in row {
                        let error = (f64::from(after[i]) - keep * f64::from(before[i])).abs();
                        assert!(error < if decay > 0.0 { 1e-7 } else { 1e-30 }, "{what}, step {step}, {i}");
                    }
                    rested += 1;
                    continue;
                }
                assert_eq!(place / 60, expert, "{what}");
                let paused: i32 = if last[input] > 0 { step - 1 - last[input] } else { 0 };
                made_up += usize::from(paused > 0);
                for i in row {
                    let (g, [m, v]) = (f64::from(gradient[i]), &mut moments[i]);
                    let mut exact = f64::from(before[i]);
                    let (middle, epsilon) = corrected(last[input] + paused.min(5));
                    for k in 1..=paused {
                        exact -= middle * (b1 / b2.sqrt()).powi(k) * *m / (v.sqrt() + epsilon);
                    }
                    *m = b1.powi(paused + 1) * *m + (1.0 - b1) * g;
                    *v = b2.powi(paused + 1) * *v + (1.0 - b2) * g * g;
                    let (rate, epsilon) = corrected(step);
                    exact = keep * exact - rate * *m / (v.sqrt() + epsilon);
                    let error = (f64::from(after[i]) - exact).abs();
                    assert!(error < 1e-6, "{what}, step {step}, {i}: {} {exact}", after[i]);
                }
                last[input] = step;
            }
        }
        assert!(rested > 2000 && made_up > 500, "{what}: {rested} {made_up}");

        // Where no input is 0 there is no difference.
        let (mut a, mut b) = (new(true), new(false));
        for step in 0..20 {
            a.update(&of_step(step, true), rate).unwrap();
            b.update(&of_step(step, true), rate).unwrap();
        }
        assert_eq!(a.parameters(), b.parameters(), "{what}");
        assert_ne!(a.parameters(), params);
    }
}

/// However long an input is 0, its weights end near where Adam in all steps takes them.
#[test]
fn sparse_steps_end_near_those_of_adam() {
    let channels = [Channel::new("x", ChannelKind::Dense(8))];
    let architecture: Architecture =
        serde_json::from_str(r#"{"mlp": {"hidden": [20], "init": "fan_in"}}"#).unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let params = program.draw(&mut adept_rng());
    let first = program.params.iter().find(|p| p.shape == [8, 20]).unwrap().offset;
    let patterns: [&[usize]; 6] =
        [&[1, 1000], &[50, 1000], &[1, 2, 3, 4, 1000], &[300, 2000], &[5, 6, 8, 11, 15, 200], &[1000, 2000]];
    for on in patterns {
        let ends = [false, true].map(|sparse| {
            let adam = Adam { sparse, ..Adam::default() };
            let mut network = Network::new(program.clone(), &params, Optimiser::Adam(adam));
            for step in 1..=*on.last().unwrap() {
                let mut samples = Samples::new(&channels);
                let row = samples.rows.push();
                row.dense[0] = if on.contains(&step) { 1.0 } else { 0.0 };
                row.dense[1..].fill(0.5);
                samples.targets.push(0.9);
                samples.weights.push(1.0);
                network.update(&samples, 1e-5).unwrap();
            }
            network.parameters()
        });
        for i in first..first + 20 {
            let [whole, sparse] = [0, 1].map(|k| ends[k][i] - params[i]);
            assert!(whole.abs() > 5e-5, "{on:?}: {whole}");
            assert!((sparse - whole).abs() < 0.05 * whole.abs(), "{on:?}: {sparse} {whole}");
        }
    }
}

type Matrix = Vec<Vec<f64>>;

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let column = |j: usize| b.iter().map(move |row| row[j]);
    let entry = |row: &Vec<f64>, j| row.iter().zip(column(j)).map(|(a, b)| a * b).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn turned(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

fn mixed(a: &Matrix, share: f64, b: &Matrix) -> Matrix {
    let row = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect();
    a.iter().zip(b).map(row).collect()
}

/// One round of orthogonal iteration: the new basis, and the old index of each of its columns.
fn iterated(covariance: &Matrix, basis: &Matrix) -> (Matrix, Vec<usize>) {
    let (old, new) = (turned(basis), turned(&times(covariance, basis)));
    let value = |k: usize| old[k].iter().zip(&new[k]).map(|(a, b)| a * b).sum::<f64>();
    let mut order: Vec<usize> = (0..old.len()).collect();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    let mut columns: Matrix = vec![];
    for &k in &order {
        let mut q = new[k].clone();
        for done in columns.iter().chain(&columns) {
            let along: f64 = done.iter().zip(&q).map(|(a, b)| a * b).sum();
            q.iter_mut().zip(done).for_each(|(q, d)| *q -= along * d);
        }
        let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        columns.push(q.iter().map(|x| x / length).collect());
    }
    (turned(&columns), order)
}

/// Compares the first layer of a network, whose gradient has full rank on both sides, with SOAP as in its paper.
#[test]
fn soap_follows_its_formula() {
    let channels = [Channel::new("x", ChannelKind::Dense(2))];
    let architecture: Architecture = serde_json::from_str(
        r#"{ "mlp": { "hidden": [3], "sensitivity": { "initial": 1.5, "rate": 0.2 } } }"#,
    )
    .unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let mut rows = Rows::new(&channels);
    let points = [[0.9, -0.2], [-0.5, 0.8], [0.3, 0.6], [-0.7, -0.9], [0.1, -0.6]];
    points.iter().for_each(|x| rows.push().dense.copy_from_slice(x));
    let samples = samples(rows, vec![0.9, -0.8, 0.2, 0.7, -0.9]);
    let settings = Soap { beta1: 0.8, beta2: 0.9, epsilon: 1e-6, decay: 0.1, every: 4, ..Soap::default() };
    let mut rng = adept_rng();
    let mut network = Network::new(program.clone(), &program.draw(&mut rng), Optimiser::Soap(settings));
    let unit = |i: usize| (0..3).map(|j| f64::from(u8::from(i == j))).collect();
    let (mut left, mut right): (Matrix, Matrix) = ((0..3).map(unit).collect(), (0..3).map(unit).collect());
    let zero = vec![vec![0.0; 3]; 3];
    let (mut rows_covariance, mut columns_covariance) = (zero.clone(), zero.clone());
    // Here the mean gradient stays in the original coordinates; the mean square is in the bases.
    let (mut mean, mut square) = (zero.clone(), zero);
    let matrix = |flat: &[f32]| -> Matrix {
        flat[..9].chunks(3).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect()
    };
    let (b1, b2, rate) = (f64::from(settings.beta1), f64::from(settings.beta2), f64::from(0.01f32));
    // Sensitivities do not belong to a layer: plain Adam at the rate of their group.
    let (mut beta_mean, mut beta_square) = ([0.0; 3], [0.0; 3]);
    let mut limited = 0;
    for t in 1..=13 {
        let (_, gradient) = gradient_of(&mut network, &samples);
        let (g, before) = (matrix(&gradient), matrix(&network.parameters()));
        rows_covariance = mixed(&rows_covariance, 1.0 - b2, &times(&g, &turned(&g)));
        columns_covariance = mixed(&columns_covariance, 1.0 - b2, &times(&turned(&g), &g));
        // After each of the first ten steps, then after every fourth.
        if t <= 10 || t % 4 == 0 {
            let (order, across);
            (left, order) = iterated(&rows_covariance, &left);
            (right, across) = iterated(&columns_covariance, &right);
            square = order.iter().map(|&i| across.iter().map(|&j| square[i][j]).collect()).collect();
        }
        mean = mixed(&mean, 1.0 - b1, &g);
        let into = |x: &Matrix| times(&times(&turned(&left), x), &right);
        let (turned_gradient, turned_mean) = (into(&g), into(&mean));
        let mut step = square.clone();
        for i in 0..3 {
            for j in 0..3 {
                let g = turned_gradient[i][j];
                square[i][j] += (1.0 - b2) * (g * g - square[i][j]);
                let (mean, square) =
                    (turned_mean[i][j] / (1.0 - b1.powi(t)), square[i][j] / (1.0 - b2.powi(t)));
                step[i][j] = mean / (square.sqrt() + f64::from(settings.epsilon));
                // Moments of one sequence of gradients never reach further.
                let longest = (1.0 - b1) / ((1.0 - b2) * (1.0 - b1 * b1 / b2)).sqrt();
                limited += u32::from(step[i][j].abs() > longest);
                step[i][j] = step[i][j].clamp(-longest, longest);
            }
        }
        let step = times(&times(&left, &step), &turned(&right));
        let keep = |rate: f64| 1.0 - rate * f64::from(settings.decay);
        let betas: Vec<f64> = (0..3)
            .map(|i| {
                let (g, before) = (f64::from(gradient[9 + i]), f64::from(network.parameters()[9 + i]));
                beta_mean[i] += (1.0 - b1) * (g - beta_mean[i]);
                beta_square[i] += (1.0 - b2) * (g * g - beta_square[i]);
                let (mean, square) = (beta_mean[i] / (1.0 - b1.powi(t)), beta_square[i] / (1.0 - b2.powi(t)));
                before * keep(0.2 * rate) - 0.2 * rate * mean / (square.sqrt() + f64::from(settings.epsilon))
            })
            .collect();
        network.update(&samples, 0.01).unwrap();
        for (found, exact) in network.parameters()[9..12].iter().zip(betas) {
            assert!(
                (f64::from(*found) - exact).abs() < 2e-5,
                "step {t}: sensitivity {found}, exactly {exact}"
            );
        }
        for (i, row) in matrix(&network.parameters()).iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                let exact = before[i][j] * keep(rate) - rate * step[i][j];
                assert!((found - exact).abs() < 2e-5, "step {t}, ({i}, {j}): {found}, exactly {exact}");
            }
        }
    }
    assert!(limited > 0, "no step was limited");
}

/// SOAP beats Adam on nearly equal inputs, where the loss is a long valley.
#[test]
fn soap_goes_along_a_valley_faster_than_adam() {
    let channels = [Channel::new("x", ChannelKind::Dense(3))];
    let architecture: Architecture =
        serde_json::from_str(r#"{ "mlp": { "hidden": [6], "output": "linear" } }"#).unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let (mut rows, mut targets) = (Rows::new(&channels), vec![]);
    for i in 0..64 {
        let (a, b) = ((i % 8) as f32 / 4.0 - 0.875, (i / 8) as f32 / 4.0 - 0.875);
        rows.push().dense.copy_from_slice(&[a, a + 0.05 * b, b]);
        targets.push(a * b);
    }
    let samples = samples(rows, targets);
    let loss = |optimiser| {
        let mut rng = adept_rng();
        let mut network = Network::new(program.clone(), &program.draw(&mut rng), optimiser);
        for _ in 0..400 {
            network.update(&samples, 0.01).unwrap();
        }
        network.update(&samples, 0.01).unwrap()
    };
    let (adam, soap) = (loss(Optimiser::Adam(Adam::default())), loss(Optimiser::Soap(Soap::default())));
    assert!(soap < 0.5 * adam, "{soap} with SOAP, {adam} with Adam");
}

/// e ← λ e + ∇V and p ← p + rate · error · e, with ∇V from finite differences of the network's value.
#[test]
fn traces_collect_the_gradient_of_the_value() {
    let channels = [Channel::new("x", ChannelKind::Dense(3))];
    let architecture: Architecture = serde_json::from_str(
        r#"{ "meta_pi": { "experts": 2, "expert": { "mlp": { "hidden": [5], "sensitivity": 2.0 } }, "threshold": 0.1 } }"#,
    )
    .unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let mut rng = adept_rng();
    let params = program.draw(&mut rng);
    let mut rows = Rows::new(&channels);
    for values in [[0.3, -0.2, 0.9], [-0.5, 0.4, 0.1]] {
        rows.push().dense.copy_from_slice(&values);
    }
    let gradient = |row: usize| -> Vec<f64> {
        let exact: Vec<f64> = params.iter().map(|&p| f64::from(p)).collect();
        let value = |p: &[f64]| adept_model::reference::run(&program, p, &rows, None).output[row];
        (0..params.len())
            .map(|i| {
                let (mut up, mut down) = (exact.clone(), exact.clone());
                up[i] += 1e-6;
                down[i] -= 1e-6;
                (value(&up) - value(&down)) / 2e-6
            })
            .collect()
    };
    let mut network = Network::new(program.clone(), &params, Optimiser::default());
    let traces = network.traces().unwrap();
    traces.accumulate(0, &rows, 0, 0.7);
    traces.accumulate(1, &rows, 1, 0.7);
    traces.accumulate(0, &rows, 1, 0.7);
    traces.follow(0, 0.5, 0.1).unwrap();
    let moved = network.parameters();
    for (i, (rate, _)) in rates(&program, 0.1).into_iter().enumerate() {
        let expected = f64::from(params[i]) + rate * 0.5 * (0.7 * gradient(0)[i] + gradient(1)[i]);
        assert!(
            (f64::from(moved[i]) - expected).abs() < 2e-5,
            "parameter {i}: {}, expected {expected}",
            moved[i]
        );
    }
    let traces = network.traces().unwrap();
    traces.cut(0);
    traces.follow(0, 1.0, 1.0).unwrap();
    assert_eq!(network.parameters(), moved, "a cut trace moves nothing");
}

/// Like the above for a corrected prior, with a perceptron and with a mixture, which learns from the squared error
/// here.
#[test]
fn traces_collect_the_gradient_of_a_corrected_prior() {
    let channels = [Channel::new("x", ChannelKind::Dense(3)), Channel::new("prior", ChannelKind::Value)];
    let mlp = r#"{ "mlp": { "hidden": [5], "output": "linear" } }"#;
    let hme = format!(r#"{{ "hme": {{ "experts": 2, "expert": {mlp} }} }}"#);
    for net in [mlp, &hme] {
        let written = format!(r#"{{ "residual": {{ "net": {net} }} }}"#);
        let architecture: Architecture = serde_json::from_str(&written).unwrap();
        let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
        let params = program.draw(&mut adept_rng());
        let mut rows = Rows::new(&channels);
        rows.push().dense.copy_from_slice(&[0.3, -0.2, 0.9, -0.6]);
        let exact: Vec<f64> = params.iter().map(|&p| f64::from(p)).collect();
        let value = |p: &[f64]| adept_model::reference::run(&program, p, &rows, None).output[0];
        let mut network = Network::new(program.clone(), &params, Optimiser::default());
        let traces = network.traces().unwrap();
        traces.accumulate(0, &rows, 0, 0.7);
        traces.follow(0, 0.5, 0.1).unwrap();
        for (i, moved) in network.parameters().into_iter().enumerate() {
            let (mut up, mut down) = (exact.clone(), exact.clone());
            up[i] += 1e-6;
            down[i] -= 1e-6;
            let expected = exact[i] + 0.1 * 0.5 * (value(&up) - value(&down)) / 2e-6;
            assert!(
                (f64::from(moved) - expected).abs() < 2e-6,
                "{net}, parameter {i}: {moved}, not {expected}"
            );
        }
    }
}

fn adept_rng() -> rand_xoshiro::Xoshiro256PlusPlus {
    rand::SeedableRng::seed_from_u64(5)
}

#[test]
fn an_hme_refuses_online_traces() {
    let channels = [Channel::new("x", ChannelKind::Dense(3))];
    let architecture: Architecture =
        serde_json::from_str(r#"{ "hme": { "experts": 2, "expert": { "mlp": { "hidden": [5] } } } }"#)
            .unwrap();
    let mut learner =
        adept_model::build(&architecture, &channels, &Head::Value, Optimiser::default(), &mut adept_rng())
            .unwrap();
    let Err(error) = learner.traces() else { panic!("an HME does not learn from the gradient of its value") };
    assert!(error.to_string().contains("likelihood"), "{error}");
}

#[test]
fn a_state_comes_back_whole() {
    for seed in SEEDS.step_by(4) {
        let case = case(seed);
        let samples = samples(case.rows.clone(), case.targets.clone());
        let optimiser =
            if seed % 8 < 4 { Optimiser::Adam(Adam::default()) } else { Optimiser::Soap(Soap::default()) };
        let mut first = Network::new(case.program.clone(), &case.params, optimiser);
        first.update(&samples, 0.001).unwrap();
        let fresh = vec![0.5; case.params.len()];
        let mut second = Network::new(case.program.clone(), &fresh, optimiser);
        second.restore(&first.state().unwrap()).unwrap();
        for _ in 0..2 {
            assert_eq!(first.update(&samples, 0.001).unwrap(), second.update(&samples, 0.001).unwrap());
        }
        assert_eq!(first.parameters(), second.parameters(), "seed {seed}");
        let mut player = first.worker().unwrap();
        assert_eq!(player.tensors().unwrap(), first.tensors().unwrap());
        let (mut flat, mut taken) = (Vec::new(), Vec::new());
        first.update(&samples, 0.001).unwrap();
        first.weights(&mut flat).unwrap();
        player.adopt(&flat).unwrap();
        player.weights(&mut taken).unwrap();
        assert_eq!(taken, first.parameters());
        assert!(player.adopt(&flat[1..]).is_err());
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused_and_changes_nothing() {
    let case = case(3);
    let mut network = Network::new(case.program.clone(), &case.params, Optimiser::default());
    let good = network.state().unwrap();
    let mut missing = good.clone();
    missing.remove(0);
    let mut reshaped = good.clone();
    reshaped[0].shape.push(1);
    let mut extra = good.clone();
    extra.push(adept_model::Tensor::f32("expert.99.weight", vec![1], vec![0.0]));
    let mut infinite = good.clone();
    if let TensorData::F32(data) = &mut infinite[0].data {
        data[0] = f32::INFINITY;
    }
    let before = network.parameters();
    for (state, expected) in [
        (missing, "is missing"),
        (reshaped, "has shape"),
        (extra, "does not belong"),
        (infinite, "not finite"),
    ] {
        let error = network.restore(&state).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(network.parameters(), before);
    }
}

#[test]
fn a_loss_that_is_not_finite_is_an_error_and_changes_nothing() {
    let case = case(3);
    let mut network = Network::new(case.program.clone(), &case.params, Optimiser::default());
    let mut bad = samples(case.rows.clone(), case.targets.clone());
    bad.targets[0] = f32::NAN;
    assert!(matches!(network.update(&bad, 0.1), Err(ModelError::Diverged { .. })));
    assert_eq!(network.parameters(), case.params);
    let good = samples(case.rows.clone(), case.targets.clone());
    assert!(network.update(&good, 1e-3).unwrap().is_finite());
}

fn table() -> (Table, Vec<Channel>) {
    let channels = vec![Channel::new("x", ChannelKind::Dense(1)), Channel::new("key", ChannelKind::Key)];
    let lookup = Lookup { by: None, initial: 0.25, initial_from: None, add_weighed: false, rate: 1.0 };
    (Table::new(&lookup, &channels, &Head::Value, Optimiser::default()).unwrap(), channels)
}

fn keyed(channels: &[Channel], keys: &[u64]) -> Rows {
    let mut rows = Rows::new(channels);
    keys.iter().for_each(|&key| rows.push().index[0] = key);
    rows
}

#[test]
fn a_table_grows_with_what_it_learns_and_not_with_what_it_values() {
    let (mut table, channels) = table();
    let mut values = Vec::new();
    table.evaluate(&keyed(&channels, &[7, u64::MAX]), &mut values);
    assert_eq!((values.as_slice(), table.len()), (&[0.25, 0.25][..], 0));
    let loss = table.update(&samples(keyed(&channels, &[7, 9]), vec![1.0, -1.0]), 0.5).unwrap();
    assert!((loss - (0.5 * 0.75 * 0.75 + 0.5 * 1.25 * 1.25)).abs() < 1e-6);
    table.evaluate(&keyed(&channels, &[7, 9, 11]), &mut values);
    assert_eq!((values.as_slice(), table.len()), (&[0.625, -0.375, 0.25][..], 2));
    let (mut other, _) = self::table();
    other.restore(&table.state().unwrap()).unwrap();
    other.evaluate(&keyed(&channels, &[7, 9, 11]), &mut values);
    assert_eq!(values, [0.625, -0.375, 0.25]);
}

#[test]
fn the_traces_of_a_table_fade_by_entry() {
    let (mut table, channels) = table();
    let rows = keyed(&channels, &[1, 2, 1]);
    table.accumulate_all(&rows);
    table.traces().unwrap().follow(0, 1.0, 0.1).unwrap();
    let mut values = Vec::new();
    table.evaluate(&keyed(&channels, &[1, 2]), &mut values);
    // Entry 1: 0.5² + 1, entry 2: 0.5.
    let expected = [0.25 + 0.1 * 1.25, 0.25 + 0.1 * 0.5];
    assert!(values.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-6), "{values:?}");
}

trait AccumulateAll {
    fn accumulate_all(&mut self, rows: &Rows);
}

impl AccumulateAll for Table {
    fn accumulate_all(&mut self, rows: &Rows) {
        for row in 0..rows.len() {
            self.traces().unwrap().accumulate(0, rows, row, 0.5);
        }
    }
}

#[test]
fn explanations_add_up() {
    let (mut plain, mut corrected) = (0, 0);
    for seed in SEEDS {
        let case = case(seed);
        let mut network = Network::new(case.program.clone(), &case.params, Optimiser::default());
        let explanation = network.explain(&case.rows);
        if explanation.gates.is_empty() {
            continue;
        }
        let total: f32 = explanation.gates.iter().sum();
        assert!((total - 1.0).abs() < 1e-5, "seed {seed}: gates {:?}", explanation.gates);
        let blend: f32 = explanation
            .gates
            .iter()
            .zip(&explanation.experts)
            .map(|(g, e)| e.as_ref().map_or(0.0, |e| g * e.value))
            .sum();
        // Residual nodes may be above the mixture; then the experts' values are corrections z.
        let (mut node, mut value) = (&case.architecture, f64::from(blend));
        let mut priors = Vec::new();
        while let Architecture::Residual(residual) = node {
            let on =
                case.program.channels.iter().position(|c| Some(c.name.as_ref()) == residual.on.as_deref());
            priors.push(case.rows.dense_row(0)[case.program.layout.offsets[on.unwrap()]]);
            node = &residual.net;
        }
        let mut is_corrected = !priors.is_empty();
        if let Some(classes) = case.program.head.classes() {
            // Outcomes have one residual node at most, which adds the logits λ u of its prior.
            let mut all = vec![0.0; classes.len()];
            let experts = explanation.gates.iter().zip(&explanation.experts);
            for (gate, expert) in experts.filter_map(|(gate, expert)| Some((gate, expert.as_ref()?))) {
                all.iter_mut().zip(&expert.outcomes).for_each(|(sum, v)| *sum += f64::from(gate * v));
            }
            if let [prior] = priors[..] {
                let lambda = adept_model::Tilt::of(classes).unwrap().lambda(f64::from(prior));
                let weight = |(z, class): (&f64, &adept_model::OutcomeClass)| {
                    (z + lambda * f64::from(class.utility)).exp()
                };
                all = all.iter().zip(classes).map(weight).collect();
                let sum: f64 = all.iter().sum();
                all.iter_mut().for_each(|p| *p /= sum);
            }
            for (found, exact) in explanation.outcomes.iter().zip(&all) {
                assert!((f64::from(*found) - exact).abs() < 1e-5, "seed {seed}: {all:?} {explanation:?}");
            }
            let readout: f64 = all.iter().zip(classes).map(|(p, class)| p * f64::from(class.utility)).sum();
            (value, is_corrected, priors) = (readout, !priors.is_empty(), Vec::new());
        }
        for prior in priors.iter().rev() {
            value = (f64::from(prior.clamp(-PRIOR_LIMIT, PRIOR_LIMIT)).atanh() + value).tanh();
        }
        assert!((value - f64::from(explanation.value)).abs() < 1e-5, "seed {seed}: {explanation:?}");
        *(if is_corrected { &mut corrected } else { &mut plain }) += 1;
    }
    assert!(plain > 20 && corrected > 5, "{plain} mixtures, {corrected} below a residual node");
}

/// A blind learner over four dice of two faces.
fn blind(settings: &str) -> BlindLearner {
    let channels = [Channel::new("bits", ChannelKind::Bits(8))];
    BlindLearner::new(&serde_json::from_str(settings).unwrap(), &channels, &Head::Value, Optimiser::default())
        .unwrap()
}

/// All sixteen throws. Whether the first two dice agree counts only if the third shows its second face.
fn throws() -> Samples {
    let mut samples = Samples::new(&[Channel::new("bits", ChannelKind::Bits(8))]);
    for throw in 0..16_usize {
        let row = samples.rows.push();
        (0..4).for_each(|die| row.dense[2 * die + (throw >> die & 1)] = 1.0);
        let agree = throw & 1 == throw >> 1 & 1;
        samples.targets.push(match (throw >> 2 & 1, agree) {
            (0, _) => 0.2,
            (_, true) => 0.8,
            (_, false) => -0.8,
        });
        samples.weights.push(1.0);
    }
    samples
}

/// The meaning of two dice where a third one decides is not a sum of weights of bits or pairs: it takes sets of three, which stage 5
/// finds.
#[test]
fn the_blind_learner_finds_what_bits_alone_cannot_say() {
    let error = |settings: &str| {
        let (mut learner, samples) = (blind(settings), throws());
        for _ in 0..600 {
            learner.weighed(&samples.rows);
            learner.update(&samples, 0.3).unwrap();
        }
        let mut values = Vec::new();
        learner.evaluate(&samples.rows, &mut values);
        let worst = values.iter().zip(&samples.targets).map(|(v, t)| (v - t).abs());
        (worst.fold(0.0, f32::max), learner.describe().ops)
    };
    let (all, ops) = error("{\"sets\": 0}");
    assert!(all < 0.05, "{all} {ops:?}");
    assert!(ops.iter().any(|op| op == "4 variables"), "{ops:?}");
    for less in ["{\"sets\": 0, \"tuples\": false}", "{\"sets\": 0, \"tuples\": false, \"relations\": false}"]
    {
        let (found, ops) = error(less);
        assert!(found > 0.15, "{found} {ops:?}");
    }
}

/// A state that does not fit is refused, whatever number in it is wrong, and the learner is unchanged.
#[test]
fn a_damaged_state_of_the_blind_learner_is_refused_or_harmless() {
    let (mut learner, samples) = (blind("{}"), throws());
    for _ in 0..200 {
        learner.weighed(&samples.rows);
        learner.update(&samples, 0.3).unwrap();
    }
    let whole = learner.state().unwrap();
    let mut refused = 0;
    for tensor in 0..whole.len() {
        for damage in 0..3 {
            let mut state = whole.clone();
            match (&mut state[tensor].data, damage) {
                (_, 0) => {
                    state.remove(tensor);
                }
                (TensorData::U64(data), 1) => data.iter_mut().for_each(|n| *n = n.wrapping_add(1 << 40)),
                (TensorData::U64(data), _) => {
                    data.pop();
                    state[tensor].shape[0] = state[tensor].shape[0].saturating_sub(1);
                }
                (TensorData::F32(data), 1) => data.iter_mut().for_each(|n| *n = f32::NAN),
                (TensorData::F32(data), _) => {
                    data.pop();
                    state[tensor].shape[0] = state[tensor].shape[0].saturating_sub(1);
                }
                (TensorData::I16(_) | TensorData::I8(_) | TensorData::Bf16(_), _) => {
                    panic!("only quantised networks have them")
                }
            }
            let mut other = blind("{}");
            match other.restore(&state) {
                Err(_) => refused += 1,
                Ok(()) => {
                    other.weighed(&samples.rows);
                    other.update(&samples, 0.3).unwrap();
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
    let mut other = blind("{}");
    other.restore(&whole).unwrap();
    assert_eq!(other.state().unwrap(), whole);
}

/// Each cell goes to the expert that made its targets.
#[test]
fn cells_go_to_the_expert_that_errs_least() {
    let channels = [
        Channel::new("x", ChannelKind::Dense(3)),
        Channel::new("a", ChannelKind::Index(4)),
        Channel::new("b", ChannelKind::Index(4)),
    ];
    let text = r#"{ "cells": { "by": ["a", "b"], "experts": 2, "expert": { "mlp": { "hidden": [2] } } } }"#;
    let architecture: Architecture = serde_json::from_str(text).unwrap();
    let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
    let mut flat = crate::common::params_for(&program, 5);
    let mut set = |name: &str, entries: &[f32]| {
        let param = program.params.iter().find(|p| p.name == name).unwrap();
        flat[param.offset..][..entries.len()].copy_from_slice(entries);
    };
    set("gate.classes.0", &[0.0, 1.0, 2.0, 3.0]);
    set("gate.classes.1", &[0.0, 1.0, 2.0, 3.0]);
    let right: Vec<f32> = (0..16).map(|cell| f32::from(u8::from(cell / 4 > 1 || cell % 4 == 3))).collect();
    set("gate.table", &right);
    let mut network = Network::new(program.clone(), &flat, Optimiser::default());
    let mut samples = Samples::new(&channels);
    for i in 0..4_000_u64 {
        let row = samples.rows.push();
        row.dense.copy_from_slice(&[0, 1, 2].map(|k| ((i * 37 + k * 11) % 64) as f32 / 32.0 - 1.0));
        row.index.copy_from_slice(&[i % 4, i / 4 % 4]);
        samples.weights.push(1.0);
    }
    network.evaluate(&samples.rows, &mut samples.targets);
    // All cells to the first expert.
    let mut state = network.tensors().unwrap();
    let table = state.iter_mut().find(|t| t.name == "gate.table").unwrap();
    table.data = TensorData::F32(vec![0.0; 16]);
    network.restore(&state).unwrap();
    let (tables, moved) = reassigned_cells(&mut network, &samples).unwrap();
    assert_eq!(tables.len(), 1);
    assert_eq!(tables[0].data, TensorData::F32(right));
    assert!((moved - 10.0 / 16.0).abs() < 1e-9, "{moved}");
}

/// Each node with learned cells tells its own cell, and by its name which map that is in.
#[test]
fn every_node_tells_its_cell() {
    let channels = [
        Channel::new("x", ChannelKind::Dense(3)),
        Channel::new("a", ChannelKind::Index(4)),
        Channel::new("b", ChannelKind::Index(4)),
    ];
    let mlp = r#"{ "mlp": { "hidden": [2] } }"#;
    let cells = |by: &str, expert: &str| {
        format!(r#"{{ "cells": {{ "by": {by}, "experts": 2, "expert": {expert} }} }}"#)
    };
    let inner = cells(r#"["a", "b"]"#, mlp);
    let explained = |text: &str, classes: &[(&str, [f32; 4])]| {
        let architecture: Architecture = serde_json::from_str(text).unwrap();
        let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
        let mut flat = crate::common::params_for(&program, 5);
        for (name, entries) in classes {
            let param = program.params.iter().find(|p| p.name == *name).unwrap();
            flat[param.offset..][..4].copy_from_slice(entries);
        }
        let mut rows = Rows::new(&channels);
        let row = rows.push();
        row.dense.copy_from_slice(&[0.5, -0.5, 0.25]);
        row.index.copy_from_slice(&[2, 3]);
        Network::new(program, &flat, Optimiser::default()).explain(&rows)
    };
    let (each, halves) = ([0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 1.0]);
    let beside = explained(
        &format!(r#"{{ "meta_pi": {{ "experts": 2, "expert": {inner} }} }}"#),
        &[
            ("expert.0.gate.classes.0", each),
            ("expert.0.gate.classes.1", each),
            ("expert.1.gate.classes.0", halves),
            ("expert.1.gate.classes.1", each),
        ],
    );
    assert_eq!((beside.cell, &beside.node), (None, &None));
    let found: Vec<_> = beside.experts.iter().flatten().map(|e| (e.node.as_deref(), e.cell)).collect();
    assert_eq!(found, [(Some("expert.0"), Some([2, 3])), (Some("expert.1"), Some([1, 3]))]);

    let below = explained(
        &cells(r#"["b", "a"]"#, &inner),
        &[
            ("gate.classes.0", halves),
            ("gate.classes.1", each),
            ("expert.0.gate.classes.0", each),
            ("expert.0.gate.classes.1", each),
            ("expert.1.gate.classes.0", each),
            ("expert.1.gate.classes.1", each),
        ],
    );
    assert_eq!((below.cell, below.node.as_deref()), (Some([1, 2]), Some("")));
    // The branch that did not run is in no cell.
    let ran = below.experts.iter().position(Option::is_some).unwrap();
    let expert = below.experts[ran].as_ref().unwrap();
    let name = format!("expert.{ran}");
    assert_eq!((expert.cell, expert.node.as_deref()), (Some([2, 3]), Some(&*name)));
    assert_eq!(below.experts.iter().flatten().count(), 1);
}
