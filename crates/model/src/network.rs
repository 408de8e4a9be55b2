//! A network: an op program with parameters, on the native engine.

use crate::checkpoint::is_of_training;
use crate::describe::Description;
use crate::error::ModelError;
use crate::head::Head;
use crate::held::Held;
use crate::learner::{Learner, Traces};
use crate::native::{
    self, Aligned, Bases, Derivative, Forward, Isa, Plan, SparseStep, add_scaled, scale_add,
};
use crate::optimiser::{Counted, Optimiser};
use crate::pairwise::Pairwise;
use crate::predictor::{Explanation, Predictor, Usage, by_forward};
use crate::program::Program;
use crate::tensor::{ByName, Tensor};
use adept_ground::limits::Claim;
use adept_ground::profile::{self, Phase};
use adept_rows::Samples;
use adept_rows::{Channel, Rows, RowsView};
use std::any::Any;
use std::sync::Arc;

/// The tensor of the steps of each piece, if they differ.
const OWN_STEPS: &str = "optimiser.own_steps";

/// The tensor of the rows that experts have gathered since their last steps, and the prefix of those of their gradients.
const GATHERED_ROWS: &str = "optimiser.gathered_rows";
const GATHERED: &str = "optimiser.gathered.";

/// The tensor of the last steps of the weights of each input.
const INPUT_STEPS: &str = "optimiser.input_steps";

/// Numbers of steps at most for which [`Counted`] is kept.
const COUNTED: u64 = 1 << 16;

/// Rows that go forward and backward in one pass; more would not fit in the cache.
const PART: usize = 512;

/// A network that learns by gradient descent.
#[derive(Debug)]
pub struct Network {
    forward: Forward,
    optimiser: Optimiser,
    isa: Isa,
    /// Padded gradient. It has the layout of the parameters, as have `moments` and `traces`.
    grad: Aligned,
    /// The gradients of `gathered` rows, while `grad` has another use.
    aside: Aligned,
    /// Rows of each branch of the plan since its last step, whose gradients are in `grad`; empty unless experts gather rows.
    gathered: Vec<u64>,
    /// Samples that wait for a step of their expert.
    held: Held,
    moments: Vec<Aligned>,
    /// State of the optimiser SOAP.
    bases: Option<Bases>,
    traces: Vec<Aligned>,
    steps: u64,
    /// Steps of each piece of the plan: those of experts count when they are run.
    own_steps: Vec<u64>,
    /// Pieces that have no step this time.
    idle: Vec<bool>,
    /// The last step of the weights of each input, if steps are sparse.
    input_steps: Vec<u64>,
    /// Numbers for 0 steps, 1 step and so on, for these inputs.
    counted: Vec<Counted>,
    seeds: Vec<f32>,
    no_targets: Vec<f32>,
    part: Rows,
    /// Memory that it claims as long as it lives.
    pub(crate) claim: Option<Claim>,
}

impl Network {
    /// Creates a network with these flat parameters (`program.parameters()` numbers, see [`Program::draw`]).
    ///
    /// # Panics
    /// If the number of parameters is wrong.
    pub fn new(program: Arc<Program>, flat: &[f32], optimiser: Optimiser) -> Self {
        Self::with_isa(program, flat, optimiser, Isa::detect())
    }

    /// Like [`Self::new`], on an instruction set from [`Isa::available`].
    ///
    /// # Panics
    /// If the number of parameters is wrong, or if this machine does not have the instruction set.
    pub fn with_isa(program: Arc<Program>, flat: &[f32], optimiser: Optimiser, isa: Isa) -> Self {
        // The safety of the kernels relies on this check.
        assert!(Isa::available().contains(&isa), "{isa:?} on a machine without it");
        assert_eq!(flat.len(), program.parameters());
        let part = Rows::new(&program.channels);
        let plan = Arc::new(Plan::new(program, optimiser.is_sparse()));
        let params = plan.pad(flat);
        Self {
            isa,
            grad: Aligned::zeros(params.len()),
            aside: Aligned::default(),
            gathered: vec![0; if optimiser.expert_rows().is_some() { plan.branches } else { 0 }],
            held: match plan.switch().filter(|_| optimiser.expert_rows().is_some()) {
                Some(switch) => Held::new(&plan.program.channels, switch.branches.len()),
                None => Held::default(),
            },
            moments: vec![Aligned::zeros(params.len()); optimiser.moments().len()],
            bases: match optimiser {
                Optimiser::Soap(soap) => Some(Bases::new(&plan, soap)),
                _ => None,
            },
            traces: Vec::new(),
            steps: 0,
            own_steps: vec![0; plan.pieces.len()],
            idle: Vec::new(),
            input_steps: vec![0; plan.inputs],
            counted: Vec::new(),
            seeds: Vec::new(),
            no_targets: Vec::new(),
            part,
            forward: Forward::new(plan, params, isa, None),
            optimiser,
            claim: None,
        }
    }

    /// The program of the network.
    pub fn program(&self) -> &Arc<Program> {
        self.forward.program()
    }

    /// The flat parameters.
    pub fn parameters(&self) -> Vec<f32> {
        self.forward.plan.unpad(&self.forward.params)
    }

    /// The outputs `[rows, outputs]`, and with targets of the same shape the log densities `[rows]`.
    pub fn run(&mut self, rows: &Rows, targets: Option<&[f32]>) -> (Vec<f32>, Vec<f32>) {
        self.forward.run(rows, 0..rows.len(), targets);
        let (program, n) = (self.program(), rows.len());
        let output =
            self.forward.workspace.rows(&self.forward.plan, program.output(), n).flatten().copied().collect();
        let density = match targets {
            Some(_) => self.forward.workspace.value(program.density())[..n].to_vec(),
            None => Vec::new(),
        };
        (output, density)
    }

    /// Adds the gradient of Σ weight · loss to `grad` and returns that sum.
    #[inline]
    fn differentiate(&mut self, samples: &Samples) -> f64 {
        let (rows, mut loss) = (&samples.rows, 0.0);
        self.forward.workspace.reset_pulled();
        // Experts that rows select get too few rows of a part.
        let part = if self.forward.plan.outer_choice().is_some() { rows.len().max(1) } else { PART };
        for first in (0..rows.len()).step_by(part) {
            let here = first..rows.len().min(first + part);
            let (weights, targets) = (&samples.weights[here.clone()], &samples.targets);
            let forward = profile::span(Phase::Forward);
            self.forward.run(rows, here.clone(), Some(targets));
            drop(forward);
            let _backward = profile::span(Phase::Backward);
            let density = self.forward.workspace.value(self.program().density());
            density.iter().zip(weights).for_each(|(d, w)| loss -= f64::from(*d) * f64::from(*w));
            self.seeds.clear();
            self.seeds.extend(weights.iter().map(|w| -w));
            self.forward.backward((rows, targets, here), (Derivative::Density, &self.seeds), &mut self.grad);
        }
        loss
    }

    /// Goes forward and backward, and takes a step.
    #[inline]
    fn learn(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError> {
        let loss = self.differentiate(samples);
        let pulled = self.forward.workspace.pulled();
        self.gathered.iter_mut().zip(pulled).for_each(|(rows, more)| *rows += more);
        self.step(loss, rate)?;
        Ok(loss)
    }

    /// Exchanges `grad` with zeros if it holds gathered gradients; a second call takes that back.
    fn set_aside(&mut self) {
        if self.gathered.iter().any(|&rows| rows > 0) {
            self.aside.resize(self.grad.len());
            std::mem::swap(&mut self.grad, &mut self.aside);
        }
    }

    /// Takes a step along `grad`, and sets it to 0, both without the experts that go on to gather rows.
    fn step(&mut self, loss: f64, rate: f32) -> Result<(), ModelError> {
        let _optimiser = profile::span(Phase::Optimiser);
        if !loss.is_finite() {
            self.grad.fill(0.0);
            self.gathered.fill(0);
            return Err(self.name_divergence());
        }
        self.steps = self.steps.saturating_add(1);
        let (plan, isa) = (&self.forward.plan, self.isa);
        self.idle.clear();
        let enough = self.optimiser.expert_rows().unwrap_or(0);
        let waits = |branch: Option<usize>| {
            branch.and_then(|branch| self.gathered.get(branch)).is_some_and(|&rows| rows < enough)
        };
        let gathers = !self.gathered.is_empty();
        self.idle.extend(plan.pieces.iter().map(|piece| match gathers {
            true => waits(piece.expert),
            false => piece.is_idle(&self.grad),
        }));
        for (at, pair) in plan.pieces.windows(2).enumerate() {
            // An expert whose inputs were all 0 has run if the biases behind these weights have a gradient.
            if pair[0].inputs.len > 0 && pair[0].expert == pair[1].expert {
                self.idle[at] &= self.idle[at + 1];
            }
        }
        self.own_steps
            .iter_mut()
            .zip(&self.idle)
            .for_each(|(n, idle)| *n = n.saturating_add(u64::from(!idle)));
        // The pieces that have a step, with their learning rates and rules.
        let stepped = || {
            let all = plan.pieces.iter().zip(&self.own_steps).zip(&self.idle);
            let whole = all.filter(|((piece, _), idle)| !**idle && piece.inputs.len == 0);
            whole.map(|((piece, &steps), _)| {
                let rate = rate * plan.program.groups[piece.group].rate;
                (piece.span.range(), rate, self.optimiser.rule(rate, steps))
            })
        };
        let mut moments = self.moments.iter_mut();
        let (mut first, mut second) = (moments.next(), moments.next());
        if let (Some(bases), Some(first), Some(second)) = (&mut self.bases, &mut first, &mut second) {
            let longest = match self.optimiser {
                Optimiser::Soap(soap) => soap.longest(),
                _ => f32::INFINITY,
            };
            let steps = |start: usize| {
                let piece = plan.pieces.partition_point(|piece| piece.span.start <= start).checked_sub(1)?;
                (!self.idle[piece]).then(|| self.own_steps[piece])
            };
            let moves =
                bases.step(isa, steps, &mut self.grad, (first, second), |moves, grad, first, second| {
                    for (span, rate, rule) in stepped() {
                        let part = || span.clone();
                        let (grad, first, second) =
                            (&mut grad[part()], &mut first[part()], &mut second[part()]);
                        let moves = &mut moves[part()];
                        moves.fill(0.0);
                        native::step(isa, rule.without_decay(), moves, grad, first, second);
                        let most = longest * rate;
                        // NaN stays, so that divergence stays visible.
                        if most.is_finite() {
                            moves.iter_mut().for_each(|step| *step = step.clamp(-most, most));
                        }
                    }
                });
            for (span, _, rule) in stepped() {
                scale_add(isa, 1.0 - rule.decay(), &mut self.forward.params[span.clone()], &moves[span]);
            }
        } else {
            for (span, _, rule) in stepped() {
                let part = |m: &mut Option<&mut Aligned>| -> std::ops::Range<usize> {
                    if m.is_some() { span.clone() } else { 0..0 }
                };
                let (a, b) = (part(&mut first), part(&mut second));
                native::step(
                    isa,
                    rule,
                    &mut self.forward.params[span.clone()],
                    &mut self.grad[span.clone()],
                    first.as_mut().map_or(&mut [][..], |m| &mut m[a]),
                    second.as_mut().map_or(&mut [][..], |m| &mut m[b]),
                );
            }
            if let (Optimiser::Adam(adam), Some(first), Some(second)) = (self.optimiser, first, second)
                && plan.inputs > 0
            {
                let missing = self.counted.len() as u64..self.steps.min(COUNTED);
                self.counted.extend(missing.map(|n| adam.counted(n)));
                let sparse = plan.pieces.iter().zip(&self.own_steps).zip(&self.idle);
                for ((piece, &step), _) in sparse.filter(|((p, _), idle)| !**idle && p.inputs.len > 0) {
                    let rate = rate * plan.program.groups[piece.group].rate;
                    let span = || piece.span.range();
                    native::step_inputs(
                        isa,
                        SparseStep { adam, rate, step, counted: &self.counted },
                        &mut self.input_steps[piece.inputs.range()],
                        &mut self.forward.params[span()],
                        &mut self.grad[span()],
                        &mut first[span()],
                        &mut second[span()],
                    );
                }
            }
        }
        self.gathered.iter_mut().filter(|rows| **rows >= enough).for_each(|rows| *rows = 0);
        // An expert that gathers rows decays in its own steps.
        for (piece, _) in plan.pieces.iter().zip(&self.idle).filter(|(_, idle)| **idle && !gathers) {
            let rate = rate * plan.program.groups[piece.group].rate;
            let keep = 1.0 - self.optimiser.decay(rate);
            if keep < 1.0 {
                self.forward.params[piece.span.range()].iter_mut().for_each(|p| *p *= keep);
            }
        }
        self.changed();
        Ok(())
    }

    /// Call it after every change of the parameters.
    fn changed(&mut self) {
        self.forward.workspace.forget();
        self.keep_bounds();
    }

    fn keep_bounds(&mut self) {
        for (span, min) in &self.forward.plan.bounds {
            for p in &mut self.forward.params[span.range()] {
                if *p < *min {
                    *p = *min;
                }
            }
        }
    }

    fn name_divergence(&self) -> ModelError {
        self.program().name_divergence(&self.parameters())
    }

    /// The moments of the optimiser, in the order of their names.
    pub(crate) fn moments(&self) -> impl Iterator<Item = Vec<f32>> {
        self.moments.iter().map(|moment| self.forward.plan.unpad(moment))
    }
}

impl Network {
    /// The network prepared to run on pairs of halves, if its form gains by it.
    pub fn pairwise(&self) -> Option<Pairwise> {
        Pairwise::of(self.program(), &self.parameters(), self.isa)
    }
}

impl Predictor for Network {
    by_forward!();

    fn program(&self) -> Option<&Arc<Program>> {
        Some(self.forward.program())
    }

    fn describe(&self) -> Description {
        self.program().describe()
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        self.program().tensors_of(&self.parameters())
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(self.worker()?)
    }
}

impl Learner for Network {
    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError> {
        if samples.is_empty() {
            return Ok(0.0);
        }
        if self.held.experts.is_empty() {
            return self.learn(samples, rate);
        }
        self.held.add(&mut self.forward, samples);
        let (mut held, enough) = (std::mem::take(&mut self.held), self.optimiser.expert_rows().unwrap_or(0));
        let due = held.experts.iter_mut().filter(|samples| samples.len() as u64 >= enough);
        let loss = due.map(|samples| {
            let loss = self.learn(samples, rate);
            samples.clear();
            loss
        });
        let loss = loss.sum();
        self.held = held;
        loss
    }

    fn gradient(&mut self, samples: &Samples, gradient: &mut Vec<f32>) -> Result<f64, ModelError> {
        gradient.clear();
        gradient.resize(self.gradient_len(), 0.0);
        if samples.is_empty() {
            return Ok(0.0);
        }
        self.set_aside();
        let loss = self.differentiate(samples);
        let (flat, rows) = gradient.split_at_mut(self.program().parameters());
        self.forward.plan.unpad_into(&self.grad, flat);
        rows.iter_mut()
            .zip(self.forward.workspace.pulled())
            .for_each(|(rows, &pulled)| *rows = pulled as f32);
        self.grad.fill(0.0);
        self.set_aside();
        Ok(loss)
    }

    fn gradient_len(&self) -> usize {
        self.program().parameters() + self.gathered.len()
    }

    fn descend(&mut self, loss: f64, gradient: &[f32], rate: f32) -> Result<(), ModelError> {
        let (flat, rows) = gradient.split_at(self.program().parameters());
        match rows {
            [] => self.forward.plan.pad_into(flat, &mut self.grad),
            _ => self.forward.plan.add_into(flat, &mut self.grad),
        }
        assert_eq!(rows.len(), self.gathered.len());
        self.gathered.iter_mut().zip(rows).for_each(|(rows, more)| *rows += *more as u64);
        self.step(loss, rate)
    }

    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError> {
        if self.head().classes().is_some() {
            return Err(ModelError::Unsupported(
                "online eligibility traces follow the gradient of one number, and `head = \"outcomes\"` gives a \
                 distribution: use λ-returns (`traces = \"backward\"`)"
                    .into(),
            ));
        }
        if self.program().mixture_density {
            return Err(ModelError::Unsupported(
                "online eligibility traces need the gradient of the value, but an HME learns from its likelihood: \
                 use λ-returns (`traces = \"backward\"`) or `meta_pi`"
                    .into(),
            ));
        }
        Ok(self)
    }

    fn state(&mut self) -> Result<Vec<Tensor>, ModelError> {
        let mut state = self.tensors()?;
        let program = self.program();
        for (name, moment) in self.optimiser.moments().iter().zip(self.moments()) {
            state.extend(program.tensors(&format!("optimiser.{name}."), &moment));
        }
        state.extend(self.bases.iter().flat_map(Bases::tensors));
        state.push(Tensor::u64("optimiser.steps", vec![1], vec![self.steps]));
        if self.own_steps.iter().any(|&steps| steps != self.steps) {
            let own = self.own_steps.clone();
            state.push(Tensor::u64(OWN_STEPS, vec![own.len()], own));
        }
        if self.gathered.iter().any(|&rows| rows > 0) {
            state.push(Tensor::u64(GATHERED_ROWS, vec![self.gathered.len()], self.gathered.clone()));
            state.extend(program.tensors(GATHERED, &self.forward.plan.unpad(&self.grad)));
        }
        state.extend(self.held.tensors());
        if !self.input_steps.is_empty() {
            let own = self.input_steps.clone();
            state.push(Tensor::u64(INPUT_STEPS, vec![own.len()], own));
        }
        Ok(state)
    }

    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError> {
        let program = self.program().clone();
        let read = |prefix: &str| Ok::<_, ModelError>(self.forward.plan.pad(&program.flat(prefix, state)?));
        let params = read("")?;
        program.refuse_unknown(state.iter().filter(|tensor| !is_of_training(&tensor.name)))?;
        let found = ByName::new(state);
        let (mut moments, mut steps) = (vec![Aligned::zeros(params.len()); self.moments.len()], 0);
        if let Some(number) = found.integers("optimiser.steps", 1)? {
            steps = number[0];
            let names = self.optimiser.moments();
            for (moment, name) in moments.iter_mut().zip(names) {
                *moment = read(&format!("optimiser.{name}."))?;
            }
        }
        let mut own_steps = vec![steps; self.own_steps.len()];
        if let Some(own) = found.integers(OWN_STEPS, own_steps.len())? {
            own_steps.copy_from_slice(own);
        }
        let mut input_steps = vec![steps; self.input_steps.len()];
        if let Some(own) = found.integers(INPUT_STEPS, input_steps.len())? {
            input_steps.copy_from_slice(own);
        }
        let (mut gathered, mut grad) = (vec![0; self.gathered.len()], Aligned::zeros(params.len()));
        if !gathered.is_empty()
            && let Some(rows) = found.integers(GATHERED_ROWS, gathered.len())?
        {
            gathered.copy_from_slice(rows);
            grad = read(GATHERED)?;
        }
        let held = Held::read(&program.channels, program.outputs(), &found)?;
        if let Some(bases) = &mut self.bases {
            // A state without training data starts with new bases.
            let mut fresh = bases.fresh(&self.forward.plan);
            if steps > 0 {
                fresh.restore(&found)?;
            }
            *bases = fresh;
        }
        (self.forward.params, self.moments, self.steps) = (params, moments, steps);
        (self.own_steps, self.input_steps) = (own_steps, input_steps);
        (self.gathered, self.grad) = (gathered, grad);
        self.forward.workspace.forget_all();
        self.traces.clear();
        self.held.experts.iter_mut().for_each(Samples::clear);
        if !self.held.experts.is_empty() {
            self.held.add(&mut self.forward, &held);
        }
        Ok(())
    }

    fn worker(&mut self) -> Result<Box<dyn Learner>, ModelError> {
        let (program, never_learns) = (self.program().clone(), Optimiser::default());
        let mut worker = Self::with_isa(program, &self.parameters(), never_learns, self.isa);
        // Its gradients have the rows of experts too.
        worker.gathered.resize(self.gathered.len(), 0);
        Ok(Box::new(worker))
    }

    fn weights(&mut self, flat: &mut Vec<f32>) -> Result<(), ModelError> {
        flat.resize(self.program().parameters(), 0.0);
        self.forward.plan.unpad_into(&self.forward.params, flat);
        Ok(())
    }

    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError> {
        let expected = self.program().parameters();
        if flat.len() != expected {
            let found = flat.len();
            return Err(ModelError::Unsupported(format!(
                "{found} parameters given, the model has {expected}"
            )));
        }
        self.forward.plan.pad_into(flat, &mut self.forward.params);
        self.forward.workspace.forget_all();
        self.held.sort(&mut self.forward);
        Ok(())
    }
}

impl Traces for Network {
    fn accumulate(&mut self, slot: usize, rows: &Rows, row: usize, decay: f32) {
        let _backward = profile::span(Phase::Backward);
        self.set_aside();
        let mut part = std::mem::take(&mut self.part);
        part.copy_range(rows, row, 1);
        // ∇V needs the net inputs, which forward keeps only with targets. Their values do not matter.
        self.no_targets.resize(self.program().outputs(), 0.0);
        self.forward.run(&part, 0..1, Some(&self.no_targets));
        self.forward.backward((&part, &self.no_targets, 0..1), (Derivative::Output, &[1.0]), &mut self.grad);
        if self.traces.len() <= slot {
            self.traces.resize(slot + 1, Aligned::zeros(self.forward.params.len()));
        }
        scale_add(self.isa, decay, &mut self.traces[slot], &self.grad);
        self.grad.fill(0.0);
        self.part = part;
        self.set_aside();
    }

    fn follow(&mut self, slot: usize, error: f32, rate: f32) -> Result<(), ModelError> {
        if !error.is_finite() {
            return Err(self.name_divergence());
        }
        let _optimiser = profile::span(Phase::Optimiser);
        let Some(trace) = self.traces.get(slot) else { return Ok(()) };
        for piece in &self.forward.plan.pieces {
            let (step, span) = (rate * self.program().groups[piece.group].rate * error, piece.span.range());
            add_scaled(self.isa, step, &mut self.forward.params[span.clone()], &trace[span]);
        }
        self.changed();
        Ok(())
    }

    fn cut(&mut self, slot: usize) {
        if let Some(trace) = self.traces.get_mut(slot) {
            trace.fill(0.0);
        }
    }
}

impl Pairwise {
    /// The model prepared to run on pairs of halves, if it is a network whose form gains by it.
    pub fn of_model(model: &(dyn Predictor + 'static)) -> Option<Self> {
        (model as &dyn Any).downcast_ref::<Network>()?.pairwise()
    }
}
