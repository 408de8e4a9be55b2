//! SOAP: Adam in the eigenbasis of a layer's gradients (Vyas et al. 2024, algorithm 3).
//!
//! G is the gradient of a layer: the weights, with the biases as the last row. L holds the eigenvectors of the running
//! mean of G Gᵀ, the covariance of the inputs; R those of Gᵀ G, the covariance of the outputs. Adam runs in these
//! bases. With m and v the bias-corrected moments of Lᵀ G R:
//!
//! W ← W − rate · L (m / (√v + ε)) Rᵀ.
//!
//! Every few steps an orthogonal iteration updates the bases.

use super::aligned::Aligned;
use super::kernels::ZipInlineExt;
use super::kernels::{ForwardRoom, Layer as Dense, Matrix, dense_forward, stride};
use super::plan::{Plan, Span};
use super::simd::{Isa, LANES};
use crate::error::ModelError;
use crate::optimiser::Soap;
use crate::program::{Activation, Block, Op, ParamId};
use crate::tensor::{ByName, Tensor};
use std::mem::take;

/// Widest side with a basis. The covariance of a wider side would need more memory than the weights.
pub(crate) const WIDEST: usize = 2048;

/// The first steps, each of which updates the bases.
const EARLY: u64 = 10;

/// The bases of all layers.
#[derive(Clone, Debug)]
pub(crate) struct Bases {
    settings: Soap,
    layers: Vec<Layer>,
    /// Steps of all parameters, in the padded layout.
    moves: Vec<f32>,
    /// Buffers for products.
    room: [Vec<f32>; 3],
    zeros: Vec<f32>,
}

/// A layer as one matrix `[inputs + 1, outputs]`.
#[derive(Clone, Debug)]
struct Layer {
    name: String,
    weight: Span,
    bias: Span,
    rows: usize,
    columns: usize,
    /// None if wider than [`WIDEST`].
    left: Option<Side>,
    /// None if wider than [`WIDEST`], or for a single output.
    right: Option<Side>,
}

/// One side of a layer: matrices `[n, stride(n)]`.
#[derive(Clone, Debug)]
struct Side {
    n: usize,
    covariance: Vec<f32>,
    /// The eigenvectors as columns, largest eigenvalue first.
    basis: Vec<f32>,
    /// The basis, transposed.
    transposed: Vec<f32>,
}

impl Bases {
    /// Creates the bases of a plan's layers, initially identities.
    pub(crate) fn new(plan: &Plan, settings: Soap) -> Self {
        let mut pairs = Vec::new();
        affine_layers(&plan.program.body, &mut pairs);
        let layers: Vec<Layer> = pairs.iter().map(|&pair| Layer::new(plan, pair)).collect();
        let widest = layers.iter().map(|l| l.rows.max(l.columns)).max().unwrap_or(1);
        let zeros = vec![0.0; widest.next_multiple_of(LANES)];
        Self { settings, layers, moves: vec![0.0; plan.length], room: Default::default(), zeros }
    }

    /// The steps of all parameters against a gradient. `adam` sets the moves of the parameters that have a step to 0 and takes a step
    /// of Adam on (moves, gradient, first moments, second moments), all in the bases; it sets their gradient to 0. `steps` says for the first parameter of a layer which of its own steps
    /// this is, from 1; a layer without one keeps its state.
    pub(crate) fn step(
        &mut self,
        isa: Isa,
        steps: impl Fn(usize) -> Option<u64>,
        grad: &mut [f32],
        (first, second): (&mut [f32], &mut [f32]),
        adam: impl FnOnce(&mut [f32], &mut [f32], &mut [f32], &mut [f32]),
    ) -> &[f32] {
        let [mut a, mut b, mut c] = take(&mut self.room);
        for layer in &mut self.layers {
            let Some(step) = steps(layer.weight.start) else { continue };
            let due = step <= EARLY || step.is_multiple_of(self.settings.every);
            layer.gather(grad, &mut a);
            layer.observe(isa, 1.0 - self.settings.beta2, &a, (&mut b, &mut c), &self.zeros);
            if due {
                // Converts the moments to the new bases: the first exactly, the second only by reordering.
                layer.gather(first, &mut b);
                layer.turn(isa, false, &mut b, &mut c, &self.zeros);
                let orders = layer.refresh();
                layer.turn(isa, true, &mut b, &mut c, &self.zeros);
                layer.scatter(&b, first);
                layer.gather(second, &mut b);
                layer.reorder(&orders, &mut b, &mut c);
                layer.scatter(&b, second);
            }
            layer.turn(isa, true, &mut a, &mut c, &self.zeros);
            layer.scatter(&a, grad);
        }
        adam(&mut self.moves, grad, first, second);
        for layer in self.layers.iter().filter(|layer| steps(layer.weight.start).is_some()) {
            layer.gather(&self.moves, &mut a);
            layer.turn(isa, false, &mut a, &mut c, &self.zeros);
            layer.scatter(&a, &mut self.moves);
        }
        self.room = [a, b, c];
        &self.moves
    }

    /// New bases with the same settings.
    pub(crate) fn fresh(&self, plan: &Plan) -> Self {
        Self::new(plan, self.settings)
    }

    /// The state as tensors, named by layer.
    pub(crate) fn tensors(&self) -> Vec<Tensor> {
        let side = |name: String, side: &Side| {
            let tensor = |kind: &str, data: &[f32]| {
                let rows = data.chunks_exact(stride(side.n)).flat_map(|row| &row[..side.n]);
                Tensor::f32(format!("{name}.{kind}"), vec![side.n; 2], rows.copied().collect())
            };
            [tensor("covariance", &side.covariance), tensor("basis", &side.basis)]
        };
        let sides = self.layers.iter().flat_map(|l| {
            let named = |name: &str, s: &Option<Side>| s.as_ref().map(|s| side(l.tensor(name), s));
            [named("left", &l.left), named("right", &l.right)].into_iter().flatten().flatten()
        });
        sides.collect()
    }

    /// Loads the state from [`tensors`](Self::tensors).
    pub(crate) fn restore(&mut self, state: &ByName<'_>) -> Result<(), ModelError> {
        for layer in &mut self.layers {
            let names = [layer.tensor("left"), layer.tensor("right")];
            for (name, side) in names.iter().zip_inline([layer.left.as_mut(), layer.right.as_mut()]) {
                let Some(side) = side else { continue };
                let read = |kind: &str| state.find(&format!("{name}.{kind}"), &[side.n; 2])?.floats();
                let (covariance, basis) = (read("covariance")?, read("basis")?);
                let n = side.n;
                for (i, (c, b)) in covariance.chunks_exact(n).zip_inline(basis.chunks_exact(n)).enumerate() {
                    side.covariance[i * stride(n)..][..n].copy_from_slice(c);
                    side.set(i, b.iter().map(|&x| f64::from(x)));
                }
            }
        }
        Ok(())
    }
}

/// Collects weights and biases of the affine ops of a block and its branches.
pub(crate) fn affine_layers(block: &Block, pairs: &mut Vec<(ParamId, ParamId)>) {
    for op in &block.ops {
        match op {
            Op::Affine { weight, bias, .. } => pairs.push((*weight, *bias)),
            Op::Route { branches, .. } => branches.iter().for_each(|b| affine_layers(b, pairs)),
            _ => {}
        }
    }
}

impl Layer {
    fn new(plan: &Plan, (weight, bias): (ParamId, ParamId)) -> Self {
        let param = &plan.program.params[weight];
        let (rows, columns) = (param.shape[0] + 1, param.shape[1]);
        Self {
            name: param.name.clone(),
            weight: plan.places[weight],
            bias: plan.places[bias],
            rows,
            columns,
            left: (rows <= WIDEST).then(|| Side::new(rows)),
            right: (2..=WIDEST).contains(&columns).then(|| Side::new(columns)),
        }
    }

    fn tensor(&self, side: &str) -> String {
        format!("optimiser.{side}.{}", self.name)
    }

    /// Copies the layer's part of a padded vector to one matrix.
    fn gather(&self, from: &[f32], to: &mut Vec<f32>) {
        let (weights, width) = ((self.rows - 1) * stride(self.columns), stride(self.columns));
        to.clear();
        to.extend_from_slice(&from[self.weight.start..][..weights]);
        to.extend_from_slice(&from[self.bias.start..][..width]);
        // Pads a single column to whole chunks.
        to.resize(to.len().next_multiple_of(LANES), 0.0);
    }

    fn scatter(&self, from: &[f32], to: &mut [f32]) {
        let (weights, width) = ((self.rows - 1) * stride(self.columns), stride(self.columns));
        to[self.weight.start..][..weights].copy_from_slice(&from[..weights]);
        to[self.bias.start..][..width].copy_from_slice(&from[weights..][..width]);
    }

    /// Adds a gradient to both running covariances with weight `share`.
    fn observe(
        &mut self,
        isa: Isa,
        share: f32,
        g: &[f32],
        (turned, room): (&mut Vec<f32>, &mut Vec<f32>),
        zeros: &[f32],
    ) {
        let (n, m) = (self.rows, self.columns);
        turned.clear();
        turned.resize((m * stride(n)).next_multiple_of(LANES), 0.0);
        for (i, row) in g.chunks_exact(stride(m)).take(n).enumerate() {
            for (j, &x) in row[..m].iter().enumerate() {
                turned[j * stride(n) + i] = x;
            }
        }
        if let Some(left) = &mut self.left {
            product(isa, (g, n, m), (turned, n), room, zeros);
            left.add(share, room);
        }
        if let Some(right) = &mut self.right {
            product(isa, (turned, m, n), (g, m), room, zeros);
            right.add(share, room);
        }
    }

    /// Converts a matrix to the bases, or back.
    fn turn(&self, isa: Isa, into: bool, x: &mut Vec<f32>, room: &mut Vec<f32>, zeros: &[f32]) {
        let (n, m) = (self.rows, self.columns);
        if let Some(left) = &self.left {
            let left = if into { &left.transposed } else { &left.basis };
            product(isa, (left, n, n), (x, m), room, zeros);
            std::mem::swap(x, room);
        }
        if let Some(right) = &self.right {
            let right = if into { &right.basis } else { &right.transposed };
            product(isa, (x, n, m), (right, m), room, zeros);
            std::mem::swap(x, room);
        }
    }

    /// Updates the bases. Returns, for both sides, the index of the old vector behind each new one.
    fn refresh(&mut self) -> (Vec<usize>, Vec<usize>) {
        let order =
            |side: &mut Option<Side>, n| side.as_mut().map_or_else(|| (0..n).collect(), Side::refresh);
        (order(&mut self.left, self.rows), order(&mut self.right, self.columns))
    }

    fn reorder(&self, (left, right): &(Vec<usize>, Vec<usize>), x: &mut Vec<f32>, room: &mut Vec<f32>) {
        let width = stride(self.columns);
        room.clear();
        room.resize(x.len(), 0.0);
        for (to, &i) in room.chunks_exact_mut(width).zip_inline(left) {
            for (to, &j) in to.iter_mut().zip_inline(right) {
                *to = x[i * width + j];
            }
        }
        std::mem::swap(x, room);
    }
}

impl Side {
    fn new(n: usize) -> Self {
        let empty = vec![0.0; n * stride(n)];
        let mut side = Self { n, covariance: empty.clone(), basis: empty.clone(), transposed: empty };
        for i in 0..n {
            side.set(i, (0..n).map(|j| if i == j { 1.0 } else { 0.0 }));
        }
        side
    }

    /// Sets row `i` of the basis.
    fn set(&mut self, i: usize, row: impl Iterator<Item = f64>) {
        let width = stride(self.n);
        for (j, x) in row.enumerate() {
            self.basis[i * width + j] = x as f32;
            self.transposed[j * width + i] = x as f32;
        }
    }

    fn add(&mut self, share: f32, new: &[f32]) {
        for (mean, new) in self.covariance.iter_mut().zip_inline(new) {
            *mean += share * (new - *mean);
        }
    }

    /// One round of orthogonal iteration, in f64 because small eigenvalues are differences of large numbers.
    fn refresh(&mut self) -> Vec<usize> {
        let (n, width) = (self.n, stride(self.n));
        let covariance: Vec<f64> = self.covariance.iter().map(|&x| f64::from(x)).collect();
        let old: Vec<Vec<f64>> = self
            .transposed
            .chunks_exact(width)
            .map(|q| q[..n].iter().map(|&x| f64::from(x)).collect())
            .collect();
        let mut new: Vec<Vec<f64>> = Vec::with_capacity(n);
        for q in &old {
            new.push(covariance.chunks_exact(width).take(n).map(|row| dot(&row[..n], q)).collect());
        }
        let value: Vec<f64> = new.iter().zip_inline(&old).map(|(a, b)| dot(a, b)).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| value[b].total_cmp(&value[a]));
        // Keeps the vector of an input that has always been 0.
        let least = 1e-9 * value.iter().sum::<f64>() / n as f64 + 1e-60;
        let mut basis: Vec<Vec<f64>> = Vec::with_capacity(n);
        for &k in &order {
            let mut q: Vec<f64> = new[k].iter().zip_inline(&old[k]).map(|(a, b)| a + least * b).collect();
            // Gram-Schmidt twice is enough (Kahan, Parlett).
            for _ in 0..2 {
                for done in &basis {
                    let along = dot(done, &q);
                    q.iter_mut().zip_inline(done).for_each(|(q, d)| *q -= along * d);
                }
                let length = dot(&q, &q).sqrt();
                q.iter_mut().for_each(|q| *q /= length);
            }
            basis.push(q);
        }
        for i in 0..n {
            let row: Vec<f64> = basis.iter().map(|q| q[i]).collect();
            self.set(i, row.into_iter());
        }
        order
    }
}

/// Σ aᵢ bᵢ as eight sums, whose terms any processor adds in the same order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip_inline(b) {
        sums.iter_mut().zip_inline(a).zip_inline(b).for_each(|((sum, a), b)| *sum += a * b);
    }
    let rest: f64 = a_rest.iter().zip_inline(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// to = x · w with x `[rows, inner]` and w `[inner, outputs]`, all padded.
fn product(
    isa: Isa,
    (x, rows, inner): (&[f32], usize, usize),
    (w, outputs): (&[f32], usize),
    to: &mut Vec<f32>,
    zeros: &[f32],
) {
    to.clear();
    to.resize((rows * stride(outputs)).next_multiple_of(LANES), 0.0);
    let layer = Dense {
        inputs: inner,
        outputs,
        weight: w,
        bias: &zeros[..stride(outputs)],
        beta: None,
        f: Activation::Linear,
    };
    let x = Matrix { data: x, stride: stride(inner), rows: None, similar_neighbours: false };
    let room = ForwardRoom { panels: &mut Aligned::default(), lanes: None };
    dense_forward(isa, rows, layer, x, room, &mut [], to);
}
