//! One optimiser step with burn-optim.

use crate::error::ModelError;
use crate::optimiser::{Adam, Optimiser, Sgd};
use burn::optim::momentum::{MomentumConfig, MomentumState};
use burn::optim::{
    AdamW, AdamWConfig, AdamWState, AdaptiveMomentumState, Optimizer, RecordState, Sgd as BurnSgd, SgdConfig,
    SgdState, StateSink,
};
use burn::tensor::{Tensor, TensorData};

/// The optimiser of one learning-rate group.
#[derive(Clone)]
pub(super) enum Stepper {
    Sgd { sgd: BurnSgd, decay: f64 },
    Adam(AdamW),
}

/// The optimiser state of one tensor.
#[derive(Clone)]
pub(super) enum Memory {
    Sgd(Option<Box<SgdState<3>>>),
    Adam(Option<Box<AdamWState<3>>>),
}

impl Stepper {
    /// Creates a stepper for an optimiser.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if only the native engine has the optimiser.
    pub(super) fn new(optimiser: Optimiser) -> Result<Self, ModelError> {
        if let Some(why) = optimiser.native_only() {
            return Err(ModelError::Unsupported(why.into()));
        }
        Ok(match optimiser {
            Optimiser::Sgd(Sgd { momentum, decay }) => {
                let config = MomentumConfig::new().with_momentum(momentum.into()).with_dampening(0.0);
                let sgd = SgdConfig::new().with_momentum((momentum > 0.0).then_some(config)).build();
                Self::Sgd { sgd, decay: decay.into() }
            }
            Optimiser::Adam(Adam { beta1, beta2, epsilon, decay, .. }) => Self::Adam(
                AdamWConfig::new()
                    .with_beta_1(beta1)
                    .with_beta_2(beta2)
                    .with_epsilon(epsilon)
                    .with_weight_decay(decay)
                    .build(),
            ),
            Optimiser::Soap(_) => unreachable!("it is refused above"),
        })
    }

    /// The initial state of a tensor.
    pub(super) fn fresh(&self) -> Memory {
        match self {
            Self::Sgd { .. } => Memory::Sgd(None),
            Self::Adam(_) => Memory::Adam(None),
        }
    }

    /// The tensor and its state after a step along `gradient`; the tensors have no autodiff history.
    pub(super) fn step(
        &self,
        rate: f64,
        tensor: Tensor<3>,
        gradient: Tensor<3>,
        memory: Memory,
    ) -> (Tensor<3>, Memory) {
        match (self, memory) {
            (Self::Sgd { sgd, decay }, Memory::Sgd(state)) => {
                // Burn's weight decay goes through the momentum; ours is decoupled, as in Adam.
                let tensor = if *decay > 0.0 { tensor * (1.0 - rate * decay) } else { tensor };
                let (tensor, state) = sgd.step(rate, tensor, gradient, state.map(|s| *s));
                (tensor, Memory::Sgd(state.map(Box::new)))
            }
            (Self::Adam(adam), Memory::Adam(state)) => {
                let (tensor, state) = adam.step(rate, tensor, gradient, state.map(|s| *s));
                (tensor, Memory::Adam(state.map(Box::new)))
            }
            _ => unreachable!("a memory comes from its own stepper"),
        }
    }
}

impl Memory {
    /// The moment vectors, in the order of [`Optimiser::moments`]; empty before the first step.
    pub(super) fn moments(&self) -> Result<Vec<Vec<f32>>, ModelError> {
        match self {
            Self::Sgd(Some(state)) => {
                let Some(momentum) = &state.momentum else { return Ok(Vec::new()) };
                // The velocity is private, but its record is public.
                let mut sink = StateSink::default();
                momentum.state_flatten("", &mut sink);
                let read = |data: TensorData| data.try_to_vec::<f32>().map_err(|e| super::no_result(&e));
                sink.tensors.into_iter().map(|(_, data)| read(data)).collect()
            }
            Self::Adam(Some(state)) => {
                let momentum = &state.momentum;
                [&momentum.moment_1, &momentum.moment_2].into_iter().map(|m| super::read(m.clone())).collect()
            }
            Self::Sgd(None) | Self::Adam(None) => Ok(Vec::new()),
        }
    }

    /// The state after `steps` steps with these moments, in the order of [`Optimiser::moments`].
    pub(super) fn restored(stepper: &Stepper, steps: u64, moments: Vec<Tensor<3>>) -> Self {
        // Burn counts in fewer bits than we do. At this many steps Adam's bias corrections are 1.
        let time = steps.min(1 << 30) as usize;
        let mut moments = moments.into_iter();
        match (stepper, moments.next(), moments.next()) {
            (Stepper::Sgd { .. }, Some(velocity), _) if steps > 0 => {
                let momentum = Some(MomentumState::new(velocity));
                Self::Sgd(Some(Box::new(SgdState { momentum })))
            }
            (Stepper::Adam(_), Some(first), Some(second)) if steps > 0 => {
                let momentum = AdaptiveMomentumState::new(time, first, second);
                Self::Adam(Some(Box::new(AdamWState { momentum })))
            }
            _ => stepper.fresh(),
        }
    }
}
