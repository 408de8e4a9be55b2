//! Initialises gates from k-means clusters of rows.
//!
//! A random gate splits its inputs badly: a few experts win everywhere, and the others never run and never learn.
//! k-means splits the rows into regions of similar rows, a Voronoi diagram. A linear gate represents it exactly: with
//! standardised inputs z and centres cᵢ, the logit aᵢ = κ (z·cᵢ − |cᵢ|²/2) is largest for the nearest centre.

use crate::architecture::Architecture;
use crate::error::ModelError;
use crate::head::Head;
use crate::lower::lower;
use crate::program::{Block, Op, Program, Selector};
use crate::tensor::{Tensor, TensorData};
use adept_rows::{Channel, Rows};
use rand::seq::index::sample;
use rand::{Rng, RngExt};

/// Number of k-means rounds.
const ROUNDS: usize = 20;
/// Sharpness with which equal clusters begin, and that of their logits, over the mean square of the standardised rows.
const SOFT: f64 = 4.0;
const HARD: f64 = 100.0;
/// Least sharpness of their logits.
const LEAST: f64 = 2.0;
/// Scalings of the offsets of equal clusters in a round, and in the last one.
const SCALINGS: usize = 5;
const LAST: usize = 100;
/// Maximum of rows times clusters times scalings.
const BALANCED: usize = 1 << 27;

/// Fits the gates of `architecture` that have `clusters` set, and returns their weights and biases by tensor name.
///
/// Calls `rows` only if there is such a gate. A nested gate is fitted to the rows whose nearest centre is its branch. A
/// gate with fewer different rows than experts keeps its random weights, and the gates below it are fitted to all of
/// its rows.
///
/// # Errors
/// [`ModelError::Architecture`] as in [`lower`]; errors of `rows`.
pub fn cluster_gates(
    architecture: &Architecture,
    channels: &[Channel],
    head: &Head,
    rows: impl FnOnce() -> Result<Rows, ModelError>,
    rng: &mut impl Rng,
) -> Result<Vec<Tensor>, ModelError> {
    if architecture.grows() {
        return Ok(Vec::new());
    }
    let program = lower(architecture, channels, head)?;
    let mut tensors = Vec::new();
    if !program.clusters.is_empty() {
        let rows = rows()?;
        let all: Vec<usize> = (0..rows.len()).collect();
        walk(&program, &program.body, &rows, &all, rng, &mut tensors);
    }
    Ok(tensors)
}

fn walk(
    program: &Program,
    block: &Block,
    rows: &Rows,
    these: &[usize],
    rng: &mut impl Rng,
    tensors: &mut Vec<Tensor>,
) {
    let mut inputs: &[usize] = &[];
    let mut nearest: Option<Vec<usize>> = None;
    for op in &block.ops {
        match op {
            Op::Input { channels, .. } => inputs = channels,
            Op::Affine { weight, bias, .. } => {
                let Some(clusters) = program.clusters.iter().find(|c| c.weight == *weight) else { continue };
                let x: Vec<Vec<f64>> = these.iter().map(|&r| read(program, inputs, rows, r)).collect();
                let experts = program.params[*weight].shape[1];
                let Some(mut found) = Partition::of(&x, experts, rng) else { continue };
                let sharpness = match clusters.sharpness {
                    Some(sharpness) => f64::from(sharpness),
                    None => found.balance(rng),
                };
                let (w, b) = found.gate(sharpness);
                for (param, data) in [(*weight, w), (*bias, b)] {
                    let param = &program.params[param];
                    let data = TensorData::F32(data);
                    tensors.push(Tensor { name: param.name.clone(), shape: param.shape.clone(), data });
                }
                nearest = Some(found.nearest);
            }
            Op::Route { select, branches, .. } => {
                for (b, branch) in branches.iter().enumerate() {
                    let goes = |i: usize, r: usize| match (select, &nearest) {
                        (Selector::Index(channel), _) => {
                            rows.index_row(r)[program.layout.offsets[*channel]] as usize == b
                        }
                        // The cells are not known yet.
                        (Selector::Cells(_), _) => true,
                        (_, Some(nearest)) => nearest[i] == b,
                        (_, None) => true,
                    };
                    let part = these.iter().enumerate().filter(|&(i, &r)| goes(i, r)).map(|(_, &r)| r);
                    walk(program, branch, rows, &part.collect::<Vec<_>>(), rng, tensors);
                }
            }
            _ => {}
        }
    }
}

/// The inputs of a row in these channels.
fn read(program: &Program, channels: &[usize], rows: &Rows, row: usize) -> Vec<f64> {
    let dense = rows.dense_row(row);
    let of = |&c: &usize| {
        let first = program.layout.offsets[c];
        dense[first..first + program.channels[c].kind.dense_width()].iter().map(|v| f64::from(*v))
    };
    channels.iter().flat_map(of).collect()
}

/// k-means clusters of standardised inputs.
struct Partition {
    mean: Vec<f64>,
    /// 1 / standard deviation; 0 for a constant input.
    scale: Vec<f64>,
    /// The standardised rows.
    z: Vec<Vec<f64>>,
    centres: Vec<Vec<f64>>,
    /// bᵢ, which is added to the logit of each cluster.
    offsets: Vec<f64>,
    nearest: Vec<usize>,
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Moves each centre to the mean of its rows: their number and their sum.
fn move_to_means(centres: &mut [Vec<f64>], sums: Vec<(f64, Vec<f64>)>) {
    for (centre, (count, sum)) in centres.iter_mut().zip(sums) {
        if count > 0.0 {
            *centre = sum.iter().map(|sum| sum / count).collect();
        }
    }
}

/// Draws an index with a probability in proportion to its weight. None unless the sum of the weights is positive and finite.
pub(crate) fn draw(weights: &[f64], rng: &mut (impl Rng + ?Sized)) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let mut left = rng.random_range(0.0..total);
    let drawn = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a remainder.
    drawn.or_else(|| weights.iter().rposition(|weight| *weight > 0.0))
}

impl Partition {
    /// Finds `k` clusters; none if there are fewer different rows.
    fn of(x: &[Vec<f64>], k: usize, rng: &mut impl Rng) -> Option<Self> {
        let width = x.first()?.len();
        let n = x.len() as f64;
        let mean: Vec<f64> = (0..width).map(|i| x.iter().map(|x| x[i]).sum::<f64>() / n).collect();
        let scale = |i: usize| {
            let sd = (x.iter().map(|x| (x[i] - mean[i]).powi(2)).sum::<f64>() / n).sqrt();
            if sd > 1e-6 { 1.0 / sd } else { 0.0 }
        };
        let scale: Vec<f64> = (0..width).map(scale).collect();
        let standard = |x: &Vec<f64>| (0..width).map(|i| (x[i] - mean[i]) * scale[i]).collect();
        let z: Vec<Vec<f64>> = x.iter().map(standard).collect();
        // k-means++: draws each further centre among the rows, weighted by the squared distance to the nearest centre.
        let mut centres = vec![z[rng.random_range(0..z.len())].clone()];
        let mut far: Vec<f64> = z.iter().map(|z| distance(z, &centres[0])).collect();
        while centres.len() < k {
            let centre = z[draw(&far, rng)?].clone();
            far.iter_mut().zip(&z).for_each(|(far, z)| *far = far.min(distance(z, &centre)));
            centres.push(centre);
        }
        let mut nearest = vec![0; z.len()];
        for _ in 0..ROUNDS {
            let mut sums = vec![(0.0, vec![0.0; width]); k];
            for (z, nearest) in z.iter().zip(&mut nearest) {
                let to = |i: &usize| distance(z, &centres[*i]);
                *nearest = (0..k).min_by(|a, b| to(a).total_cmp(&to(b)))?;
                let (count, sum) = &mut sums[*nearest];
                *count += 1.0;
                sum.iter_mut().zip(z).for_each(|(sum, z)| *sum += z);
            }
            move_to_means(&mut centres, sums);
        }
        Some(Self { mean, scale, z, centres, offsets: vec![0.0; k], nearest })
    }

    /// Makes the clusters equal: offsets of the logits give each the same mean weight, and centres move to the means of what they then
    /// win, while the logits grow from soft to sharp. Returns their sharpness: so large that learning leaves the experts apart.
    ///
    /// k-means alone may give a few odd rows a cluster of their own, and an expert that hardly runs hardly learns.
    fn balance(&mut self, rng: &mut impl Rng) -> f64 {
        let (k, n, width) = (self.centres.len(), self.z.len(), self.mean.len());
        // The number of inputs that change.
        let spread = self.z.iter().flatten().map(|z| z * z).sum::<f64>() / n as f64;
        let (soft, hard) = (SOFT / spread.max(1e-3), (HARD / spread.max(1e-3)).max(LEAST));
        // k-means++ begins at odd rows.
        self.centres = sample(rng, n, k).into_iter().map(|r| self.z[r].clone()).collect();
        let rounds = (BALANCED / (n * k * SCALINGS)).clamp(2, ROUNDS);
        let mut sharpness = soft;
        for round in 0..rounds {
            let next = soft * (hard / soft).powf(round as f64 / (rounds - 1) as f64);
            self.offsets.iter_mut().for_each(|offset| *offset *= next / sharpness);
            sharpness = next;
            self.scale(sharpness, if round + 1 < rounds { SCALINGS } else { LAST });
            if round + 1 < rounds {
                let mut sums = vec![(0.0, vec![0.0; width]); k];
                for (z, nearest) in self.z.iter().zip(&self.nearest) {
                    let (count, sum) = &mut sums[*nearest];
                    *count += 1.0;
                    sum.iter_mut().zip(z).for_each(|(sum, z)| *sum += z);
                }
                move_to_means(&mut self.centres, sums);
            }
        }
        sharpness
    }

    /// Changes the offsets so that each cluster gets the same mean weight by logits of this sharpness, by scaling as for optimal
    /// transport, and finds the cluster that wins each row.
    fn scale(&mut self, sharpness: f64, times: usize) {
        let (k, n) = (self.centres.len(), self.z.len());
        let of_row = |z: &Vec<f64>| self.centres.iter().map(|c| -0.5 * sharpness * distance(z, c)).collect();
        let logits: Vec<Vec<f64>> = self.z.iter().map(of_row).collect();
        for _ in 0..times {
            let mut weights = vec![0.0; k];
            for row in &logits {
                let all = || row.iter().zip(&self.offsets).map(|(logit, offset)| logit + offset);
                let most = all().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = all().map(|logit| (logit - most).exp()).sum();
                weights.iter_mut().zip(all()).for_each(|(w, logit)| *w += (logit - most).exp() / sum);
            }
            for (offset, weight) in self.offsets.iter_mut().zip(weights) {
                *offset -= (k as f64 * weight / n as f64).max(f64::MIN_POSITIVE).ln();
            }
        }
        for (nearest, row) in self.nearest.iter_mut().zip(&logits) {
            let of = |i: &usize| row[*i] + self.offsets[*i];
            *nearest = (0..k).max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(0);
        }
    }

    /// Weights `[inputs, experts]` and biases of the linear gate on raw inputs.
    fn gate(&self, sharpness: f64) -> (Vec<f32>, Vec<f32>) {
        let width = self.mean.len();
        let weight = |i: usize, c: &Vec<f64>| sharpness * self.scale[i] * c[i];
        let weights = (0..width).flat_map(|i| self.centres.iter().map(move |c| weight(i, c) as f32));
        let bias = |(c, offset): (&Vec<f64>, &f64)| {
            let half = sharpness * c.iter().map(|c| c * c).sum::<f64>() / 2.0;
            (offset - half - (0..width).map(|i| weight(i, c) * self.mean[i]).sum::<f64>()) as f32
        };
        (weights.collect(), self.centres.iter().zip(&self.offsets).map(bias).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Learner;
    use crate::predictor::Predictor;
    use crate::{Network, Optimiser};
    use adept_rows::ChannelKind;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::sync::Arc;

    /// Rows around four points of a line, two near each end of it, with a third input that never changes.
    fn four_heaps(channels: &[Channel]) -> Rows {
        let mut rows = Rows::new(channels);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for r in 0..400 {
            let dense = rows.push().dense;
            let along = [0.0, 2.0, 9.0, 11.0][r % 4];
            dense[0] = along + rng.random_range(-0.3..0.3);
            dense[1] = 10.0 * along + rng.random_range(-3.0..3.0);
            dense[2] = 7.0;
        }
        rows
    }

    /// Each expert runs on one cluster, in a flat mixture of four and in a nested one of two by two.
    #[test]
    fn each_heap_of_rows_has_its_expert() {
        let channels = [Channel::new("x", ChannelKind::Dense(3))];
        let rows = four_heaps(&channels);
        let expert = r#"{ "mlp": { "hidden": [2] } }"#;
        let gate = r#""gate": { "clusters": 20.0 }, "threshold": 0.999"#;
        let flat = format!(r#"{{ "hme": {{ "experts": 4, "expert": {expert}, {gate} }} }}"#);
        let two = format!(r#"{{ "hme": {{ "experts": 2, "expert": {expert}, {gate} }} }}"#);
        let deep = format!(r#"{{ "meta_pi": {{ "experts": 2, "expert": {two}, {gate} }} }}"#);
        for text in [flat, deep] {
            let architecture: Architecture = serde_json::from_str(&text).expect("a valid architecture");
            let program = Arc::new(lower(&architecture, &channels, &Head::Value).expect("it can be built"));
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
            let tensors =
                cluster_gates(&architecture, &channels, &Head::Value, || Ok(rows.clone()), &mut rng)
                    .expect("likewise");
            let mut network = Network::new(program.clone(), &program.draw(&mut rng), Optimiser::default());
            let mut state = network.tensors().expect("a network has a state");
            for tensor in &tensors {
                let place =
                    state.iter_mut().find(|t| t.name == tensor.name).expect("a tensor of the network");
                *place = tensor.clone();
            }
            network.restore(&state).expect("its own state");
            let path = |r: usize| {
                let mut row = Rows::new(&channels);
                row.push_from(&rows, r);
                let found = network.explain(&row);
                let chosen = |gates: &[f32]| gates.iter().position(|g| *g > 0.0).expect("one is chosen");
                let first = chosen(&found.gates);
                let below = found.experts[first].as_ref().filter(|e| !e.gates.is_empty());
                (first, below.map(|e| chosen(&e.gates)))
            };
            let paths: Vec<_> = (0..rows.len()).map(path).collect();
            for r in 4..rows.len() {
                assert_eq!(paths[r], paths[r % 4], "{text}");
            }
            for r in 1..4 {
                assert!(!paths[..r].contains(&paths[r]), "{text}: {:?}", &paths[..4]);
            }
        }
    }

    /// k-means gives most rows to one cluster where most are alike; equal clusters share the weight.
    #[test]
    fn equal_clusters_have_equal_weights() {
        let channels = [Channel::new("x", ChannelKind::Dense(3))];
        for few in [1, 17] {
            let (heaps, mut rows) = (four_heaps(&channels), Rows::new(&channels));
            // Of the first heap one row or 17, of each other heap one.
            for r in (0..heaps.len()).filter(|r| r % 4 == 0 || (r / 4) % few == 0) {
                rows.push_from(&heaps, r);
            }
            let text = r#"{ "hme": { "experts": 4, "expert": { "mlp": { "hidden": [2] } } } }"#;
            let architecture: Architecture = serde_json::from_str(text).expect("a valid architecture");
            let program = Arc::new(lower(&architecture, &channels, &Head::Value).expect("it can be built"));
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
            let gates = cluster_gates(&architecture, &channels, &Head::Value, || Ok(rows.clone()), &mut rng);
            let mut network = Network::new(program.clone(), &program.draw(&mut rng), Optimiser::default());
            let mut state = network.tensors().expect("a network has a state");
            for tensor in gates.expect("likewise") {
                let place = state.iter_mut().find(|t| t.name == tensor.name);
                *place.expect("a tensor of the network") = tensor;
            }
            network.restore(&state).expect("its own state");
            let used = crate::ExpertUse::of(&mut network, &rows).expect("it has experts");
            for weight in &used.weights {
                assert!((0.08..0.4).contains(weight), "{few}: {:?}", used.weights);
            }
        }
    }

    #[test]
    fn too_few_rows_leave_a_gate_as_it_was() {
        let channels = [Channel::new("x", ChannelKind::Dense(3))];
        let mut rows = Rows::new(&channels);
        (0..9).for_each(|r| rows.push().dense[0] = (r % 3) as f32);
        let text = r#"{ "hme": { "experts": 4, "expert": { "mlp": { "hidden": [2] } }, "gate": { "clusters": 1.0 } } }"#;
        let architecture: Architecture = serde_json::from_str(text).expect("a valid architecture");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let found = cluster_gates(&architecture, &channels, &Head::Value, || Ok(rows), &mut rng);
        assert_eq!(found.expect("likewise"), []);
    }
}
