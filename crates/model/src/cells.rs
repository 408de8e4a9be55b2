//! Finds learned cells: the classes of two index channels, and the table from pairs of classes to experts.
//!
//! [`Cells`] describes the steps.

use crate::architecture::{Architecture, Cells, InitScale, Mlp, OneOrEach, Residual, Shared};
use crate::clusters::draw;
use crate::error::ModelError;
use crate::head::Head;
use crate::learner::Learner;
use crate::lower::lower;
use crate::network::Network;
use crate::optimiser::{Adam, Optimiser};
use crate::predictor::Predictor;
use crate::program::{Activation, CellGate, Op, Program, Selector};
use crate::tensor::Tensor;
use adept_rows::{Channel, Samples};
use rand::Rng;
use std::ops::Range;
use std::sync::Arc;

/// Hidden units of the small network.
const UNITS: usize = 8;
/// Examples per step of the small network.
const BATCH: u64 = 512;
/// Initial learning rate of the small network, for Adam; it falls to a thousandth along a cosine.
const RATE: f64 = 0.01;
/// Runs of k-means, of which the best counts.
const RESTARTS: usize = 4;
/// Maximum number of rounds of a run.
const ROUNDS: usize = 60;
/// Samples that a cell needs to be given to another expert, and the share of its error that the other one may make.
const FEW: u32 = 16;
const CLEARLY: f64 = 0.9;
/// Added to the mean squared error of a cell, so that no weight is 0.
const LEAST: f64 = 1e-12;

/// A source of examples from which cells are learned.
pub trait CellExamples {
    /// Appends the examples with these numbers. Without targets every cell counts the same.
    ///
    /// # Errors
    /// If the examples cannot be made.
    fn fill(&mut self, span: Range<u64>, samples: &mut Samples) -> Result<(), ModelError>;

    /// Whether a small network is to learn from the targets of the examples.
    fn have_targets(&self) -> bool;

    /// The errors of another network at the examples of the last [`fill`](Self::fill), in place of those of a small one.
    fn errors(&mut self, _samples: &Samples) -> Option<Vec<f32>> {
        None
    }

    /// Maximum number of examples that it can make in reasonable time.
    fn most(&self) -> u64 {
        u64::MAX
    }

    /// Reports the finished share of the work, in [0, 1].
    fn progress(&mut self, _done: f64) {}
}

/// Finds the cells of all [`Cells`] nodes of `architecture`, and returns their tables by tensor name. `skip` leaves out
/// nodes by the prefix of their tensor names.
///
/// # Errors
/// [`ModelError::Architecture`] as in [`lower`]; errors of the examples.
pub fn find_cells(
    architecture: &Architecture,
    channels: &[Channel],
    head: &Head,
    skip: impl Fn(&str) -> bool,
    examples: &mut dyn CellExamples,
    rng: &mut dyn Rng,
) -> Result<Vec<Tensor>, ModelError> {
    let mut sites = Vec::new();
    collect(architecture, channels, String::new(), (None, None), &mut sites);
    sites.retain(|site| !skip(&site.name));
    let mut found: Vec<(&Site<'_>, Gate)> = Vec::new();
    let mut tensors = Vec::new();
    let all = sites.len() as f64;
    for (i, site) in sites.iter().enumerate() {
        // Each node sees the same examples: there may be few.
        let mut next = 0;
        let shares = |other: &Site<'_>| (other.cells, other.on) == (site.cells, site.on);
        let gate = match found.iter().find(|(other, _)| shares(other)) {
            Some((_, gate)) => gate.clone(),
            None => {
                let mut part =
                    Part { examples: &mut *examples, next: &mut next, share: (i as f64 / all, 1.0 / all) };
                let gate = Gate::find(site, channels, head, &mut part, rng)?;
                found.push((site, gate.clone()));
                gate
            }
        };
        tensors.extend(gate.tensors(&site.name));
    }
    Ok(tensors)
}

/// Gives each cell of the outermost cell gates to the expert that errs least in it, by [`Head::error`] on `samples`; cells with few
/// samples keep theirs, and so do those in which no other expert is clearly better. Returns the changed tables and the share of
/// samples whose expert changes. `learner` evaluates with other tables and keeps them: give a copy.
///
/// # Errors
/// [`ModelError::Unsupported`] if the learner has no program.
pub fn reassigned_cells(
    learner: &mut dyn Learner,
    samples: &Samples,
) -> Result<(Vec<Tensor>, f64), ModelError> {
    let Some(program) = learner.program().cloned() else {
        return Err(ModelError::Unsupported("has no learned cells".into()));
    };
    let mut state = learner.tensors()?;
    let (flat, width) = (program.parameters_in(&state)?, program.outputs());
    let (mut tensors, mut changed) = (Vec::new(), 0.0);
    for op in &program.body.ops {
        let Op::Route { select: Selector::Cells(gate), branches, .. } = op else { continue };
        let tables = program.cells(gate, &flat);
        let columns = gate.channels.map(|channel| program.layout.offsets[channel]);
        let cell = |row: usize| {
            let index = samples.rows.index_row(row);
            tables.cell(columns.map(|column| index[column]))
        };
        let cells: Vec<usize> = (0..samples.len()).map(cell).collect();
        let mut counts = vec![0_u32; tables.table.len()];
        cells.iter().for_each(|&cell| counts[cell] += 1);
        let name = &program.params[gate.table].name;
        let shape = program.params[gate.table].shape.clone();
        let put = |data: Vec<f32>| Tensor::f32(name.clone(), shape.clone(), data);
        let mut errors = vec![vec![0.0_f64; tables.table.len()]; branches.len()];
        let mut values = Vec::new();
        for (expert, errors) in errors.iter_mut().enumerate() {
            if let Some(place) = state.iter_mut().find(|t| t.name == *name) {
                *place = put(vec![expert as f32; tables.table.len()]);
            }
            learner.restore(&state)?;
            learner.outputs(&samples.rows, &mut values);
            let pairs = values.chunks_exact(width).zip(samples.targets.chunks_exact(width));
            for (&cell, (output, target)) in cells.iter().zip(pairs) {
                errors[cell] += match program.head {
                    Head::Outcomes(_) => f64::from(program.head.error(target, output)),
                    Head::Value | Head::Policy => f64::from(target[0] - output[0]).powi(2),
                };
            }
        }
        let choose = |cell: usize| {
            let own = tables.table[cell] as usize;
            let best = (0..branches.len())
                .min_by(|&a, &b| errors[a][cell].total_cmp(&errors[b][cell]))
                .unwrap_or(own);
            let better = errors[best][cell] < CLEARLY * errors[own][cell];
            if counts[cell] >= FEW && better { best } else { own }
        };
        let table: Vec<usize> = (0..tables.table.len()).map(choose).collect();
        let moved = cells.iter().filter(|&&cell| table[cell] != tables.table[cell] as usize).count();
        changed += moved as f64 / samples.len().max(1) as f64;
        tensors.push(put(table.into_iter().map(|expert| expert as f32).collect()));
    }
    Ok((tensors, changed))
}

/// A node of learned cells.
struct Site<'a> {
    /// Prefix of its tensor names, with the dot.
    name: String,
    cells: &'a Cells,
    /// The channel of the prior if the node corrects one; the inner option is that of [`Residual::on`].
    on: Option<&'a Option<String>>,
    /// The shared layers that it reads.
    below: Option<&'a Shared>,
}

fn collect<'a>(
    node: &'a Architecture,
    channels: &[Channel],
    name: String,
    (on, below): (Option<&'a Option<String>>, Option<&'a Shared>),
    sites: &mut Vec<Site<'a>>,
) {
    if let Architecture::Cells(cells) = node {
        sites.push(Site { name: name.clone(), cells, on, below });
    }
    let on = if let Architecture::Residual(residual) = node { Some(&residual.on) } else { on };
    let below = if let Architecture::Shared(shared) = node { Some(shared) } else { below };
    for (part, node) in node.below(channels) {
        collect(node, channels, format!("{name}{part}."), (on, below), sites);
    }
}

/// Examples in order, and the part of the whole work that they are for.
struct Part<'a> {
    examples: &'a mut dyn CellExamples,
    /// Number of the next example.
    next: &'a mut u64,
    /// Start and length.
    share: (f64, f64),
}

impl Part<'_> {
    /// Replaces `samples` by the next `count` examples.
    fn draw(&mut self, count: u64, samples: &mut Samples) -> Result<(), ModelError> {
        samples.clear();
        self.examples.fill(*self.next..*self.next + count, samples)?;
        *self.next += count;
        Ok(())
    }

    fn progress(&mut self, done: f64) {
        self.examples.progress(self.share.0 + self.share.1 * done);
    }
}

/// The tables of a gate.
#[derive(Clone)]
struct Gate {
    classes: [Vec<usize>; 2],
    /// Numbers of classes.
    shape: [usize; 2],
    table: Vec<usize>,
}

impl Gate {
    fn find(
        site: &Site<'_>,
        channels: &[Channel],
        head: &Head,
        examples: &mut Part<'_>,
        rng: &mut dyn Rng,
    ) -> Result<Self, ModelError> {
        let cells = site.cells;
        let mut node = Architecture::Cells(cells.clone());
        if let Some(shared) = site.below {
            // What its experts read.
            node = Architecture::Shared(Shared { top: Box::new(node), ..shared.clone() });
        }
        let program = lower(&node, channels, head)?;
        let gate = gate_of(&program);
        let columns = gate.channels.map(|c| program.layout.offsets[c]);
        let values = gate.classes.map(|c| program.params[c].len());
        let shape = [0, 1].map(|k| program.params[gate.table].shape[k]);
        let count = cells.probe.div_ceil(2).max(1).min(examples.examples.most());
        let mut samples = Samples::new(channels);
        let mut probe = match examples.examples.have_targets() {
            true => Some(learned(site, channels, head, examples, rng)?),
            false => None,
        };
        // Keeps the pairs: classes depend on how often each value occurs, so cells can only be counted afterwards.
        let mut seen = Vec::with_capacity(count as usize);
        let mut errors = Vec::new();
        let mut outputs = Vec::new();
        let mut left = count;
        while left > 0 {
            let batch = left.min(BATCH * 8);
            examples.draw(batch, &mut samples)?;
            let pair = |r: usize| columns.map(|c| samples.rows.index_row(r)[c] as u32);
            seen.extend((0..samples.rows.len()).map(pair));
            if let Some(probe) = &mut probe {
                probe.outputs(&samples.rows, &mut outputs);
                let width = head.outputs();
                let pairs = samples.targets.chunks_exact(width).zip(outputs.chunks_exact(width));
                errors.extend(pairs.map(|(d, v)| head.error(d, v)));
            }
            if let Some(own) = examples.examples.errors(&samples) {
                errors.extend(own);
            }
            left -= batch;
            examples.progress(0.8 + 0.2 * (1.0 - left as f64 / count as f64));
            if samples.rows.is_empty() {
                break;
            }
        }
        let axes = [0, 1].map(|k| Axis::of(seen.iter().map(|pair| pair[k] as usize), values[k], shape[k]));
        let mut sums = vec![(0.0, 0u64); shape[0] * shape[1]];
        for (i, pair) in seen.iter().enumerate() {
            let [a, b] = [0, 1].map(|k| axes[k].class[pair[k] as usize]);
            let (sum, n) = &mut sums[a * shape[1] + b];
            *sum += errors.get(i).map_or(0.0, |e| f64::from(*e));
            *n += 1;
        }
        let place = |cell: usize| [axes[0].place[cell / shape[1]], axes[1].place[cell % shape[1]]];
        let gamma = if errors.is_empty() { 0.0 } else { f64::from(cells.gamma) };
        let weight = |&(sum, n): &(f64, u64)| (sum / n as f64 + LEAST).powf(gamma);
        let points: Vec<Point> = (sums.iter().enumerate())
            .filter(|(_, sum)| sum.1 > 0)
            .map(|(cell, sum)| Point { at: place(cell), weight: weight(sum) })
            .collect();
        if points.is_empty() {
            return Err(ModelError::Unsupported(
                "a gate of cells is found from examples, and there are none".into(),
            ));
        }
        let centres = centres(&points, cells.experts, rng);
        let table = (0..sums.len()).map(|cell| nearest(&centres, place(cell)).0).collect();
        Ok(Self { classes: axes.map(|axis| axis.class), shape, table })
    }

    fn tensors(&self, name: &str) -> [Tensor; 3] {
        let tensor = |part: &str, shape: Vec<usize>, entries: &[usize]| {
            Tensor::f32(format!("{name}gate.{part}"), shape, entries.iter().map(|&v| v as f32).collect())
        };
        let [first, second] = &self.classes;
        [
            tensor("classes.0", vec![first.len()], first),
            tensor("classes.1", vec![second.len()], second),
            tensor("table", self.shape.to_vec(), &self.table),
        ]
    }
}

/// The gate of a program whose only op of note is a route by cells.
fn gate_of(program: &Program) -> CellGate {
    let gate = program.body.ops.iter().find_map(|op| match op {
        Op::Route { select: Selector::Cells(gate), .. } => Some(*gate),
        _ => None,
    });
    gate.expect("a cells node is lowered to a route by cells")
}

/// A small network that has learned from the examples, to show where they are hard.
fn learned(
    site: &Site<'_>,
    channels: &[Channel],
    head: &Head,
    examples: &mut Part<'_>,
    mut rng: &mut dyn Rng,
) -> Result<Network, ModelError> {
    let output = if site.on.is_some() { Activation::Linear } else { Activation::Tanh };
    let mut small = Architecture::Mlp(Mlp {
        inputs: inputs_of(&site.cells.expert, channels)
            .or_else(|| site.below.and_then(|shared| shared.inputs.clone())),
        hidden: vec![UNITS],
        activation: OneOrEach::One(Activation::Silu),
        output,
        sensitivity: None,
        init: InitScale::Uniform(0.2),
        rate: 1.0,
    });
    if let Some(on) = site.on {
        small = Architecture::Residual(Residual { on: on.clone(), net: Box::new(small) });
    }
    let program = Arc::new(lower(&small, channels, head)?);
    let flat = program.draw(&mut rng);
    let mut network = Network::new(program, &flat, Optimiser::Adam(Adam::default()));
    let mut samples = Samples::new(channels);
    let steps = site.cells.probe.div_ceil(BATCH);
    for step in 0..steps {
        examples.draw(BATCH, &mut samples)?;
        let n = samples.rows.len();
        samples.weights.clear();
        samples.weights.resize(n, 1.0 / n as f32);
        let turn = std::f64::consts::PI * step as f64 / steps as f64;
        let rate = RATE * (0.001 + 0.999 * (1.0 + turn.cos()) / 2.0);
        network.update(&samples, rate as f32)?;
        if step % 64 == 0 {
            examples.progress(0.8 * step as f64 / steps as f64);
        }
    }
    Ok(network)
}

/// The inputs of the first perceptron of an expert.
fn inputs_of(expert: &Architecture, channels: &[Channel]) -> Option<Vec<String>> {
    match expert {
        Architecture::Mlp(mlp) => mlp.inputs.clone(),
        Architecture::Shared(shared) => shared.inputs.clone(),
        other => other.below(channels).first().and_then(|(_, first)| inputs_of(first, channels)),
    }
}

/// One axis of the plane of cells.
struct Axis {
    /// The class of each value.
    class: Vec<usize>,
    /// The place of each class, in [0, 1]: the mean of its examples.
    place: Vec<f64>,
}

impl Axis {
    /// Splits `values` values into `classes` of equal frequency, or gives each its own class if there are enough.
    fn of(seen: impl Iterator<Item = usize>, values: usize, classes: usize) -> Self {
        let mut counts = vec![0u64; values];
        seen.for_each(|value| counts[value] += 1);
        let total = counts.iter().sum::<u64>().max(1) as f64;
        let mut before = 0;
        let class = |(value, &n): (usize, &u64)| {
            let middle = before as f64 + n as f64 / 2.0;
            before += n;
            if values <= classes {
                return value;
            }
            ((middle / total * classes as f64) as usize).min(classes - 1)
        };
        let class: Vec<usize> = counts.iter().enumerate().map(class).collect();
        // A class without examples has the place of its values.
        let mut sums = vec![(0.0, 0.0); classes];
        for (value, (&class, &n)) in class.iter().zip(&counts).enumerate() {
            let weight = n as f64 + 1e-9;
            sums[class] = (sums[class].0 + weight * value as f64, sums[class].1 + weight);
        }
        let means: Vec<Option<f64>> =
            sums.into_iter().map(|(sum, weight)| (weight > 0.0).then(|| sum / weight)).collect();
        let low = means.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let high = means.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let scaled = |m: Option<f64>| m.map_or(0.0, |m| (m - low) / (high - low).max(1.0));
        Self { class, place: means.into_iter().map(scaled).collect() }
    }
}

/// A cell in the plane.
struct Point {
    at: [f64; 2],
    weight: f64,
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

/// The nearest centre, the first of equals, and its squared distance.
fn nearest(centres: &[[f64; 2]], at: [f64; 2]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (i, &centre) in centres.iter().enumerate() {
        let d = distance(centre, at);
        if d < best.1 {
            best = (i, d);
        }
    }
    best
}

/// Centres of at most `k` regions by weighted k-means++, the best of a few runs.
fn centres(points: &[Point], k: usize, rng: &mut dyn Rng) -> Vec<[f64; 2]> {
    let run = |rng: &mut dyn Rng| {
        let mut centres = begin(points, k, rng);
        let mut cost = f64::INFINITY;
        for _ in 0..ROUNDS {
            let mut sums = vec![([0.0; 2], 0.0); centres.len()];
            let mut now = 0.0;
            for point in points {
                let (i, d) = nearest(&centres, point.at);
                now += point.weight * d;
                let (sum, weight) = &mut sums[i];
                (0..2).for_each(|k| sum[k] += point.weight * point.at[k]);
                *weight += point.weight;
            }
            for (centre, (sum, weight)) in centres.iter_mut().zip(sums) {
                if weight > 0.0 {
                    *centre = sum.map(|s| s / weight);
                }
            }
            if now >= cost {
                break;
            }
            cost = now;
        }
        (cost, centres)
    };
    let runs: Vec<_> = (0..RESTARTS).map(|_| run(rng)).collect();
    let best = runs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, centres)| centres).unwrap_or_default()
}

/// k-means++: draws each further centre by weight times squared distance to the nearest one.
fn begin(points: &[Point], k: usize, rng: &mut dyn Rng) -> Vec<[f64; 2]> {
    let mut centres: Vec<[f64; 2]> = Vec::with_capacity(k);
    let mut far: Vec<f64> = points.iter().map(|p| p.weight).collect();
    while centres.len() < k {
        let Some(drawn) = draw(&far, rng) else { break };
        let centre = points[drawn].at;
        let first = centres.is_empty();
        for (far, point) in far.iter_mut().zip(points) {
            let d = point.weight * distance(point.at, centre);
            *far = if first { d } else { far.min(d) };
        }
        centres.push(centre);
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_rows::ChannelKind;
    use rand::RngExt;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::BTreeSet;

    fn channels() -> [Channel; 3] {
        let kinds =
            [("x", ChannelKind::Dense(2)), ("a", ChannelKind::Index(40)), ("b", ChannelKind::Index(5))];
        kinds.map(|(name, kind)| Channel::new(name, kind))
    }

    /// Points of a plane. The target is 0 except at large x, where it is rugged. Without targets there are few.
    struct Plane {
        targets: bool,
    }

    impl CellExamples for Plane {
        fn fill(&mut self, span: Range<u64>, samples: &mut Samples) -> Result<(), ModelError> {
            for i in span.take_while(|&i| self.targets || i < 3000) {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(i);
                let (x, y) = (rng.random_range(0.0..1.0f32), rng.random_range(0.0..1.0f32));
                let row = samples.rows.push();
                (row.dense[0], row.dense[1]) = (x, y);
                (row.index[0], row.index[1]) = ((x * 40.0) as u64, (y * 5.0) as u64);
                samples.targets.push(if x > 0.75 { (60.0 * x + 9.0 * y).sin() } else { 0.0 });
            }
            Ok(())
        }

        fn have_targets(&self) -> bool {
            self.targets
        }
    }

    fn architecture(text: &str) -> Architecture {
        serde_json::from_str(text).expect("a valid architecture")
    }

    fn found(text: &str, targets: bool, skip: &str) -> Vec<Tensor> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let skip = |name: &str| !skip.is_empty() && name.starts_with(skip);
        find_cells(&architecture(text), &channels(), &Head::Value, skip, &mut Plane { targets }, &mut rng)
            .expect("no error")
    }

    fn floats(tensors: &[Tensor], name: &str) -> Vec<f32> {
        let tensor = tensors.iter().find(|t| t.name == name).expect("there is such a tensor");
        tensor.floats().expect("floats").to_vec()
    }

    const CELLS: &str = r#""cells": { "by": ["a", "b"], "experts": 8, "classes": 20, "probe": 20000,
        "expert": { "mlp": { "hidden": [2] } }, "gamma": "#;

    /// Experts whose cells lie where the target is rugged: the last quarter of the 20 classes of x.
    fn in_the_rugged_part(tensors: &[Tensor]) -> usize {
        let table = floats(tensors, "gate.table");
        let experts = |rows: Range<usize>| table[rows.start * 5..rows.end * 5].iter().map(|&e| e as u32);
        let outside: BTreeSet<u32> = experts(0..14).collect();
        experts(15..20).filter(|e| !outside.contains(e)).collect::<BTreeSet<u32>>().len()
    }

    #[test]
    fn cells_are_small_where_a_small_network_errs() {
        let tensors = found(&format!("{{ {CELLS} 1.0 }} }}"), true, "");
        assert_eq!(
            tensors.iter().map(|t| &*t.name).collect::<Vec<_>>(),
            ["gate.classes.0", "gate.classes.1", "gate.table"]
        );
        // 40 values are merged to 20 classes of equal frequency; five values have a class each.
        let first = floats(&tensors, "gate.classes.0");
        assert!(first.is_sorted() && first[0] == 0.0 && first[39] == 19.0, "{first:?}");
        assert_eq!(floats(&tensors, "gate.classes.1"), [0.0, 1.0, 2.0, 3.0, 4.0]);
        let table = floats(&tensors, "gate.table");
        let used: BTreeSet<u32> = table.iter().map(|&e| e as u32).collect();
        assert_eq!(used, (0..8).collect(), "every expert has a cell");
        let even = found(&format!("{{ {CELLS} 0.0 }} }}"), true, "");
        let (rugged, even) = (in_the_rugged_part(&tensors), in_the_rugged_part(&even));
        assert!(rugged >= 3 && even <= 1, "{rugged} experts by error, {even} by area");
    }

    #[test]
    fn without_targets_all_cells_count_the_same() {
        let blind = found(&format!("{{ {CELLS} 0.5 }} }}"), false, "");
        assert!(in_the_rugged_part(&blind) <= 2);
    }

    /// Nodes with the same settings share their cells, a residual has its own small network, and some nodes are left
    /// alone.
    #[test]
    fn nested_cells_are_found_for_each_node() {
        let cells = format!("{{ {CELLS} 0.5 }} }}");
        let text = format!(r#"{{ "meta_pi": {{ "experts": 3, "expert": {cells} }} }}"#);
        let tensors = found(&text, true, "expert.1.");
        assert_eq!(tensors.len(), 6);
        assert_eq!(floats(&tensors, "expert.0.gate.table"), floats(&tensors, "expert.2.gate.table"));
        assert!(found(r#"{ "mlp": { "hidden": [2] } }"#, true, "").is_empty());
        let other = cells.replace("\"experts\": 8", "\"experts\": 5");
        let tensors = found(&format!(r#"{{ "meta_pi": {{ "experts": [{cells}, {other}] }} }}"#), false, "");
        for (node, experts) in [(0, 8), (1, 5)] {
            let table = floats(&tensors, &format!("expert.{node}.gate.table"));
            let used: BTreeSet<u32> = table.iter().map(|&e| e as u32).collect();
            assert_eq!(used, (0..experts).collect(), "node {node} sees all examples");
        }
    }
}
