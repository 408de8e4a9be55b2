//! The blind learner: it sees bits without meaning and the choices of each decision, and finds structure on its own.
//!
//! Levinson, "General game-playing and reinforcement learning" (1996), "Blind learning". The paper measured weights of bits
//! (stage 1) and random sets of bits (stage 2). Variables (3), relations of pairs (4) and reliable tuples as new bits (5) are
//! proposed there and not measured, as are parity sets; it prints no equations, so the details are our reading.

mod features;
mod parity;
mod sight;
mod state;
mod variables;

use crate::architecture::Blind;
use crate::describe::{Description, TensorInfo};
use crate::error::ModelError;
use crate::head::Head;
use crate::learner::{Learner, Traces};
use crate::names::suggest;
use crate::optimiser::{Optimiser, Sgd};
use crate::predictor::{Explanation, Predictor};
use crate::tensor::Tensor;
use adept_ground::limits;
use adept_rows::{Channel, ChannelKind, Layout, Rows, Samples};
use features::{Features, Literal};
use sight::Sight;
use std::ops::Range;

/// A [`Learner`] that hands a bits channel of its rows, and nothing else, to the blind learner.
#[derive(Clone, Debug)]
pub struct BlindLearner {
    channels: Vec<Channel>,
    /// Columns of the bits.
    columns: Range<usize>,
    settings: Blind,
    features: Features,
}

impl BlindLearner {
    /// A learner that knows nothing, over the bits channel that the settings name, or the only one.
    ///
    /// # Errors
    /// [`ModelError::Architecture`] if there is no such channel, or a setting cannot work.
    pub fn new(
        settings: &Blind,
        channels: &[Channel],
        head: &Head,
        optimiser: Optimiser,
    ) -> Result<Self, ModelError> {
        let fail = |key: &str, message: String| {
            let dot = if key.is_empty() { "" } else { "." };
            Err(ModelError::Architecture { path: format!("blind{dot}{key}"), message })
        };
        if head.classes().is_some() {
            return fail("", "adds up weights to one number: it needs `head = \"value\"`".into());
        }
        if optimiser != Optimiser::Sgd(Sgd::default()) {
            return fail("", "learns by plain steps: remove `optimiser`".into());
        }
        let bits = |c: &usize| matches!(channels[*c].kind, ChannelKind::Bits(_));
        let known: Vec<usize> = (0..channels.len()).filter(bits).collect();
        let names: Vec<&str> = known.iter().map(|&c| &*channels[c].name).collect();
        let channel = match (&settings.input, &known[..]) {
            (Some(name), _) => match names.iter().position(|known| known == name) {
                Some(at) => known[at],
                None => {
                    let message =
                        format!("the encoder has no bits channel `{name}`{}", suggest(name, &names));
                    return fail("input", message);
                }
            },
            (None, [one]) => *one,
            (None, []) => return fail("", "the encoder has no bits channel".into()),
            (None, _) => return fail("input", format!("name the bits channel, one of {}", names.join(", "))),
        };
        let width = channels[channel].kind.dense_width();
        if width > limits::BLIND_BITS {
            let most = limits::BLIND_BITS;
            return fail(
                "",
                format!("reads at most {most} bits, channel `{}` has {width}", channels[channel].name),
            );
        }
        if !(1..=limits::BLIND_FEATURES).contains(&settings.most) {
            return fail(
                "most",
                format!("write 1 to {} features, found {}", limits::BLIND_FEATURES, settings.most),
            );
        }
        if settings.sets > settings.most {
            return fail(
                "sets",
                format!("must be at most `most`, {}, found {}", settings.most, settings.sets),
            );
        }
        let any = settings.bits || settings.sets > 0 || settings.variables || settings.parity;
        if !any {
            return fail("bits", "nothing is left to learn: turn on at least one stage".into());
        }
        if settings.tuples && !settings.relations {
            return fail("tuples", "builds on `relations`: turn both on or both off".into());
        }
        if !(settings.rate >= 0.0 && settings.rate.is_finite()) {
            return fail(
                "rate",
                format!("a learning-rate factor must be at least 0, found {}", settings.rate),
            );
        }
        let first = Layout::new(channels).offsets[channel];
        Ok(Self {
            channels: channels.to_vec(),
            columns: first..first + width,
            settings: settings.clone(),
            features: Features::new(settings, width),
        })
    }

    /// The bits of a row that the learner sees.
    fn sight(&self, rows: &Rows, row: usize) -> Sight {
        Sight::of(&rows.dense_row(row)[self.columns.clone()])
    }
}

impl Predictor for BlindLearner {
    fn head(&self) -> &Head {
        &Head::Value
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
        values.clear();
        for row in 0..rows.len() {
            let sight = self.sight(rows, row);
            values.push(self.features.value(&sight));
        }
    }

    fn entries(&self) -> Option<usize> {
        Some(self.features.features.len())
    }

    fn explain(&mut self, rows: &Rows) -> Explanation {
        let mut values = Vec::new();
        self.evaluate(rows, &mut values);
        Explanation { value: values.first().copied().unwrap_or(0.0), ..Explanation::default() }
    }

    fn describe(&self) -> Description {
        let known = &self.features;
        let n = known.features.len();
        let tensor = |name: &str, length: usize| TensorInfo {
            name: name.into(),
            shape: vec![length],
            group: "weights".into(),
            rate: self.settings.rate,
        };
        let of_size =
            |test: fn(usize) -> bool| known.features.iter().filter(|f| test(f.literals.len())).count();
        let parities = known.literals.iter().filter(|l| matches!(l, Literal::Odd(_))).count();
        Description {
            parameters: n + known.relations.len(),
            multiply_adds: 0,
            multiply_adds_least: 0,
            bytes: 4 * (n + known.relations.len()),
            tensors: vec![tensor("weights", n), tensor("relations", known.relations.len())],
            ops: vec![
                format!("weights of {} single literals, {parities} of them parity sets", of_size(|n| n == 1)),
                format!(
                    "weights of {} pairs and {} longer sets; {} relations",
                    of_size(|n| n == 2),
                    of_size(|n| n > 2),
                    known.relations.len()
                ),
                format!("{} variables", known.variables.len()),
            ],
        }
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        Ok(self.features.tensors())
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(self.worker()?)
    }
}

impl Learner for BlindLearner {
    fn weighed(&mut self, rows: &Rows) {
        let choices: Vec<Sight> = (0..rows.len()).map(|row| self.sight(rows, row)).collect();
        self.features.choices(&choices);
    }

    fn chosen(&mut self, rows: &Rows, row: usize) {
        let sight = self.sight(rows, row);
        self.features.chosen(sight);
    }

    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError> {
        // Before the first step, so that nothing changes if a loss is not finite.
        let mut loss = 0.0;
        for (row, (&target, &weight)) in samples.targets.iter().zip(&samples.weights).enumerate() {
            let error = f64::from(target - self.features.value(&self.sight(&samples.rows, row)));
            loss += 0.5 * f64::from(weight) * error * error;
        }
        if !loss.is_finite() {
            return Err(ModelError::Diverged { what: "loss".into() });
        }
        for (row, (&target, &weight)) in samples.targets.iter().zip(&samples.weights).enumerate() {
            let sight = self.sight(&samples.rows, row);
            self.features.learn(&sight, target, weight, rate * self.settings.rate);
        }
        Ok(loss)
    }

    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError> {
        Err(ModelError::Unsupported(
            "the blind learner learns from returns: write `traces = \"backward\"`".into(),
        ))
    }

    fn state(&mut self) -> Result<Vec<Tensor>, ModelError> {
        Ok(self.features.state())
    }

    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError> {
        self.features = Features::restored(&self.settings, self.columns.len(), state)?;
        Ok(())
    }

    fn worker(&mut self) -> Result<Box<dyn Learner>, ModelError> {
        Ok(Box::new(self.clone()))
    }

    fn weights(&mut self, _: &mut Vec<f32>) -> Result<(), ModelError> {
        Err(no_list())
    }

    fn adopt(&mut self, _: &[f32]) -> Result<(), ModelError> {
        Err(no_list())
    }
}

fn no_list() -> ModelError {
    ModelError::Unsupported("the blind learner grows while it plays: use one worker without overlap".into())
}
