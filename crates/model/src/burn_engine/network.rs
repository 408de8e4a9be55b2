//! A network that learns on a Burn device.

use super::lanes::Stack;
use super::step::{Memory, Stepper};
use super::{BurnEngine, no_result, read};
use crate::describe::Description;
use crate::device::guarded;
use crate::error::ModelError;
use crate::head::Head;
use crate::learner::{Learner, Traces};
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::predictor::{Explanation, Predictor, Usage};
use crate::program::Program;
use crate::tensor::{ByName, Tensor};
use adept_ground::limits::Claim;
use adept_rows::Samples;
use adept_rows::{Channel, Rows};
use burn::tensor::{self, Device, Transaction};
use std::sync::Arc;

/// A network that learns on a device. It evaluates rows with the native engine on the CPU, because the candidates of
/// one decision are too few to be worth a transfer.
pub struct BurnNetwork {
    engine: BurnEngine,
    optimiser: Optimiser,
    /// One for each learning-rate group.
    steppers: Vec<Stepper>,
    /// The parameters by stack, without autodiff history.
    params: Vec<tensor::Tensor<3>>,
    memories: Vec<Memory>,
    steps: u64,
    /// A copy of the network on the CPU.
    mirror: Network,
    /// Whether the copy has the newest parameters.
    mirrored: bool,
    /// Memory that it claims as long as it lives.
    pub(crate) claim: Option<Claim>,
}

/// The loss of a batch, and its gradient by stack.
type Gradient = (tensor::Tensor<1>, Vec<tensor::Tensor<3>>);

/// Parameters and optimiser states by stack.
type Moved = (Vec<tensor::Tensor<3>>, Vec<Memory>);

/// Runs work on the device. Burn panics if a batch does not fit in the device's memory.
fn on_device<T>(work: impl FnOnce() -> Result<T, ModelError>) -> Result<T, ModelError> {
    guarded(|| Ok(work())).map_err(|e| {
        ModelError::Unsupported(format!("the device failed: {e}; a smaller `learn.batch` may help"))
    })?
}

impl BurnNetwork {
    /// Creates a network with these flat parameters (`program.parameters()` numbers, see [`Program::draw`]).
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the number of parameters is wrong, or if only the native engine has the
    /// optimiser.
    pub fn new(
        program: Arc<Program>,
        flat: &[f32],
        optimiser: Optimiser,
        device: Device,
    ) -> Result<Self, ModelError> {
        let engine = BurnEngine::new(program.clone(), device.autodiff());
        let params: Vec<_> = engine.parameters(flat)?.into_iter().map(tensor::Tensor::inner).collect();
        let stepper = Stepper::new(optimiser)?;
        let (fresh, steppers) = (stepper.fresh(), vec![stepper; program.groups.len()]);
        Ok(Self {
            memories: vec![fresh; params.len()],
            params,
            steppers,
            steps: 0,
            // The copy never learns.
            mirror: Network::new(program, flat, Optimiser::default()),
            mirrored: true,
            claim: None,
            optimiser,
            engine,
        })
    }

    /// The program of the network.
    pub fn program(&self) -> &Arc<Program> {
        self.engine.program()
    }

    /// The flat parameters.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    pub fn parameters(&self) -> Result<Vec<f32>, ModelError> {
        let reads = self.params.iter().fold(Transaction::default(), |t, p| t.register(p.clone()));
        self.flat_of(reads)
    }

    fn flat_of(&self, reads: Transaction) -> Result<Vec<f32>, ModelError> {
        let data = reads.try_execute().map_err(|e| no_result(&e))?;
        let tensors: Result<Vec<Vec<f32>>, _> = data.into_iter().map(|d| d.try_into_vec::<f32>()).collect();
        Ok(self.engine.flatten(&tensors.map_err(|e| no_result(&e))?))
    }

    fn differentiate(&self, samples: &Samples) -> Result<Gradient, ModelError> {
        if samples.is_empty() || samples.rows.len() != samples.len() {
            return Err(ModelError::Rows(format!(
                "{} rows with {} weights, expected equal numbers and at least one row",
                samples.rows.len(),
                samples.len()
            )));
        }
        let params: Vec<tensor::Tensor<3>> =
            self.params.iter().map(|p| p.clone().autodiff().require_grad()).collect();
        let inputs = self.engine.inputs(&samples.rows, Some(&samples.targets))?;
        let weights = self.engine.floats(samples.weights.clone(), [1, samples.len(), 1]);
        let (_, density) = self.engine.forward(&params, &inputs);
        // Not `sum`: on GPUs it adds in no fixed order, and a seed must give the same bits.
        let weighted = (density.expect("there are targets") * weights).reshape([1, samples.len()]);
        let loss = weighted.sum_dim(1).neg().reshape([1]);
        let gradients = loss.backward();
        // A parameter that no row reaches may have no gradient.
        let of = |p: &tensor::Tensor<3>| p.grad(&gradients).unwrap_or_else(|| p.clone().inner().zeros_like());
        Ok((loss.inner(), params.iter().map(of).collect()))
    }

    /// Parameters and optimiser states after a step along this gradient.
    fn moved(&self, gradient: Vec<tensor::Tensor<3>>, rate: f32) -> Moved {
        let (mut params, mut memories) = (Vec::new(), Vec::new());
        for (s, gradient) in gradient.into_iter().enumerate() {
            let stack = &self.engine.stacks[s];
            let rate = f64::from(rate * self.engine.program.groups[stack.group].rate);
            let (before, memory) = (self.params[s].clone(), self.memories[s].clone());
            let (after, memory) = self.steppers[stack.group].step(rate, before, gradient, memory);
            params.push(stack.min.map_or(after.clone(), |min| after.clamp_min(min)));
            memories.push(memory);
        }
        (params, memories)
    }

    /// Takes over the results of a step, if its loss is finite.
    fn arrive(&mut self, loss: f64, (params, memories): Moved) -> Result<(), ModelError> {
        if !loss.is_finite() {
            return Err(self.name_divergence());
        }
        (self.params, self.memories, self.mirrored) = (params, memories, false);
        self.steps = self.steps.saturating_add(1);
        Ok(())
    }

    /// The copy on the CPU, with the newest parameters.
    fn mirror(&mut self) -> Result<&mut Network, ModelError> {
        if !self.mirrored {
            self.mirror.adopt(&self.parameters()?)?;
            self.mirrored = true;
        }
        Ok(&mut self.mirror)
    }

    /// Like [`Self::mirror`], for interfaces without errors: if the device fails, fills `values` with NaN.
    fn mirror_or_nan(&mut self, numbers: usize, values: &mut Vec<f32>) -> Option<&mut Network> {
        values.clear();
        if self.mirror().is_err() {
            values.resize(numbers, f32::NAN);
            return None;
        }
        Some(&mut self.mirror)
    }

    /// The error that names the first non-finite parameter, or the loss.
    fn name_divergence(&self) -> ModelError {
        let Ok(flat) = self.parameters() else { return ModelError::Diverged { what: "loss".into() } };
        self.program().name_divergence(&flat)
    }
}

impl Predictor for BurnNetwork {
    fn head(&self) -> &Head {
        &self.program().head
    }

    fn channels(&self) -> &[Channel] {
        self.mirror.channels()
    }

    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
        if let Some(mirror) = self.mirror_or_nan(rows.len(), values) {
            mirror.evaluate(rows, values);
        }
    }

    fn outputs(&mut self, rows: &Rows, outputs: &mut Vec<f32>) {
        let numbers = rows.len() * self.program().outputs();
        if let Some(mirror) = self.mirror_or_nan(numbers, outputs) {
            mirror.outputs(rows, outputs);
        }
    }

    fn explain(&mut self, rows: &Rows) -> Explanation {
        // If the device fails, this explains the last parameters that were fetched.
        let _ = self.mirror();
        self.mirror.explain(rows)
    }

    fn has_parts(&self) -> bool {
        self.mirror.has_parts()
    }

    fn usage(&self) -> Option<Usage> {
        self.mirror.usage()
    }

    fn reset_usage(&mut self) {
        self.mirror.reset_usage();
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Some(&self.engine.program)
    }

    fn describe(&self) -> Description {
        self.program().describe()
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        self.program().tensors_of(&self.parameters()?)
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(self.worker()?)
    }
}

impl Learner for BurnNetwork {
    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError> {
        if samples.is_empty() {
            return Ok(0.0);
        }
        let (loss, moved) = on_device(|| {
            let (loss, gradient) = self.differentiate(samples)?;
            let moved = self.moved(gradient, rate);
            // Reading the loss waits for the device, so it comes last.
            Ok((f64::from(read(loss)?[0]), moved))
        })?;
        self.arrive(loss, moved)?;
        Ok(loss)
    }

    fn gradient(&mut self, samples: &Samples, gradient: &mut Vec<f32>) -> Result<f64, ModelError> {
        if samples.is_empty() {
            gradient.clear();
            gradient.resize(self.program().parameters(), 0.0);
            return Ok(0.0);
        }
        let (loss, found) = on_device(|| {
            let (loss, gradient) = self.differentiate(samples)?;
            let reads = gradient.into_iter().fold(Transaction::default(), |t, g| t.register(g));
            Ok((f64::from(read(loss)?[0]), self.flat_of(reads)?))
        })?;
        *gradient = found;
        Ok(loss)
    }

    fn descend(&mut self, loss: f64, gradient: &[f32], rate: f32) -> Result<(), ModelError> {
        let moved = on_device(|| {
            let gradient = self.engine.parameters(gradient)?.into_iter().map(tensor::Tensor::inner);
            Ok(self.moved(gradient.collect(), rate))
        })?;
        self.arrive(loss, moved)
    }

    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError> {
        Err(ModelError::Unsupported(
            "online eligibility traces update after every move, which is too slow on a device: use the native engine \
             (`learn.engine = \"native\"`) or λ-returns (`learn.traces = \"backward\"`)"
                .into(),
        ))
    }

    fn state(&mut self) -> Result<Vec<Tensor>, ModelError> {
        let (program, mut state) = (self.program().clone(), self.tensors()?);
        let moments: Result<Vec<_>, _> = self.memories.iter().map(Memory::moments).collect();
        let moments = moments?;
        for (k, name) in self.optimiser.moments().iter().enumerate() {
            let of = |s: usize| {
                let zeros = || vec![0.0; self.engine.stacks[s].entries()];
                moments[s].get(k).cloned().unwrap_or_else(zeros)
            };
            let stacks: Vec<Vec<f32>> = (0..moments.len()).map(of).collect();
            state.extend(program.tensors(&format!("optimiser.{name}."), &self.engine.flatten(&stacks)));
        }
        state.push(Tensor::u64("optimiser.steps", vec![1], vec![self.steps]));
        Ok(state)
    }

    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError> {
        // A native network validates the state.
        let mut twin = Network::new(self.program().clone(), &self.parameters()?, self.optimiser);
        twin.restore(state)?;
        let steps = ByName::new(state).integers("optimiser.steps", 1)?.map_or(0, |steps| steps[0]);
        let moments: Result<Vec<_>, _> = twin.moments().map(|flat| self.engine.parameters(&flat)).collect();
        let moments = moments?;
        let memory = |(s, stack): (usize, &Stack)| {
            let moments = moments.iter().map(|stacks| stacks[s].clone().inner()).collect();
            Memory::restored(&self.steppers[stack.group], steps, moments)
        };
        self.memories = self.engine.stacks.iter().enumerate().map(memory).collect();
        self.steps = steps;
        self.adopt(&twin.parameters())
    }

    fn worker(&mut self) -> Result<Box<dyn Learner>, ModelError> {
        let flat = self.parameters()?;
        Ok(Box::new(Network::new(self.program().clone(), &flat, Optimiser::default())))
    }

    fn weights(&mut self, flat: &mut Vec<f32>) -> Result<(), ModelError> {
        self.mirror()?.weights(flat)
    }

    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError> {
        let params = self.engine.parameters(flat)?;
        self.mirror.adopt(flat)?;
        (self.params, self.mirrored) = (params.into_iter().map(tensor::Tensor::inner).collect(), true);
        Ok(())
    }
}
