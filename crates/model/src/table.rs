//! A lookup table that adds an entry for each new key.

use crate::architecture::Lookup;
use crate::describe::{Description, TensorInfo};
use crate::error::ModelError;
use crate::head::{Head, LEAST_PROBABILITY, Tilt};
use crate::learner::{Learner, Traces};
use crate::lower::check_top_lookup;
use crate::names::suggest;
use crate::optimiser::{Optimiser, Sgd};
use crate::predictor::{Explanation, Predictor};
use crate::tensor::{ByName, Tensor};
use adept_rows::Samples;
use adept_rows::{Channel, ChannelKind, Layout, Rows};
use rustc_hash::FxHashMap;

/// One value, or one distribution over the classes of outcomes, for each key seen in training: V ← V + rate · (target − V).
///
/// Evaluating a row does not add an entry. A key without an entry has the initial value; a distribution begins with equal
/// probabilities, or with those that a [`Tilt`] makes of the value of a channel.
#[derive(Clone, Debug)]
pub struct Table {
    channels: Vec<Channel>,
    head: Head,
    /// Numbers in an entry.
    width: usize,
    /// Conversion of a value of a channel to a distribution.
    tilt: Tilt,
    /// Column of the key in the index part of a row.
    column: usize,
    initial: f32,
    /// Column of the initial value in the dense part of a row.
    initial_from: Option<usize>,
    add_weighed: bool,
    rate: f32,
    entries: FxHashMap<u64, u32>,
    keys: Vec<u64>,
    values: Vec<f32>,
    /// For each slot: the entries with an eligibility above 0.
    traces: Vec<Vec<(u32, f32)>>,
}

impl Table {
    /// Creates an empty table on the key or index channel of the lookup.
    ///
    /// # Errors
    /// [`ModelError::Architecture`] if the channel does not exist, if several exist and none is named, or if the
    /// optimiser is not plain gradient descent.
    pub fn new(
        lookup: &Lookup,
        channels: &[Channel],
        head: &Head,
        optimiser: Optimiser,
    ) -> Result<Self, ModelError> {
        check_top_lookup(lookup, head)?;
        head.check().map_err(|message| ModelError::Architecture { path: "head".into(), message })?;
        if optimiser != Optimiser::Sgd(Sgd::default()) {
            return Err(ModelError::Architecture {
                path: "lookup".into(),
                message: "a table learns with plain gradient descent: remove `optimiser`".into(),
            });
        }
        let fail = |message: String| Err(ModelError::Architecture { path: "lookup.by".into(), message });
        let keys: Vec<usize> = (0..channels.len()).filter(|&c| channels[c].kind.index_width() > 0).collect();
        let known: Vec<&str> = keys.iter().map(|&c| &*channels[c].name).collect();
        let channel = match &lookup.by {
            Some(name) => match known.iter().position(|k| k == name) {
                Some(i) => keys[i],
                None => {
                    return fail(format!(
                        "the encoder has no index or key channel `{name}`{}",
                        suggest(name, &known)
                    ));
                }
            },
            None => match keys[..] {
                [one] => one,
                [] => return fail("the encoder has no index or key channel".into()),
                _ => {
                    return fail(format!(
                        "name the channel that identifies a position, one of {}",
                        known.join(", ")
                    ));
                }
            },
        };
        let layout = Layout::new(channels);
        let initial_from = match &lookup.initial_from {
            None => None,
            Some(name) => {
                let values: Vec<usize> =
                    (0..channels.len()).filter(|&c| channels[c].kind == ChannelKind::Value).collect();
                let known: Vec<&str> = values.iter().map(|&c| &*channels[c].name).collect();
                let Some(i) = known.iter().position(|k| k == name) else {
                    return Err(ModelError::Architecture {
                        path: "lookup.initial_from".into(),
                        message: format!(
                            "the encoder has no value channel `{name}`{}",
                            suggest(name, &known)
                        ),
                    });
                };
                Some(layout.offsets[values[i]])
            }
        };
        let tilt = head.classes().map_or(Some(Tilt::LossWin), Tilt::of);
        if initial_from.is_some() && tilt.is_none() {
            return Err(ModelError::Architecture {
                path: "lookup.initial_from".into(),
                message: "a value does not say how probable these classes are: remove it".into(),
            });
        }
        Ok(Self {
            channels: channels.to_vec(),
            width: head.outputs(),
            head: head.clone(),
            // Unused where it does not exist.
            tilt: tilt.unwrap_or(Tilt::LossWin),
            column: layout.offsets[channel],
            initial: lookup.initial,
            initial_from,
            add_weighed: lookup.add_weighed,
            rate: lookup.rate,
            entries: FxHashMap::default(),
            keys: Vec::new(),
            values: Vec::new(),
            traces: Vec::new(),
        })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn key(&self, rows: &Rows, row: usize) -> u64 {
        rows.index_row(row)[self.column]
    }

    /// Appends the entry of a row, or the initial one if it has none.
    fn read(&self, rows: &Rows, row: usize, to: &mut Vec<f32>) {
        match self.entries.get(&self.key(rows, row)) {
            Some(&e) => to.extend_from_slice(&self.values[e as usize * self.width..][..self.width]),
            None => self.first(rows, row, to),
        }
    }

    /// Appends the initial entry of a row.
    fn first(&self, rows: &Rows, row: usize, to: &mut Vec<f32>) {
        let given = self.initial_from.map(|column| rows.dense_row(row)[column]);
        match (&self.head, given) {
            (Head::Value | Head::Policy, given) => to.push(given.unwrap_or(self.initial)),
            (Head::Outcomes(classes), Some(value)) => to.extend(self.tilt.distribution(classes, value)),
            (Head::Outcomes(_), None) => to.extend(vec![1.0 / self.width as f32; self.width]),
        }
    }

    fn entry(&mut self, rows: &Rows, row: usize) -> usize {
        let key = self.key(rows, row);
        let next = self.keys.len() as u32;
        let entry = *self.entries.entry(key).or_insert(next);
        if entry == next {
            self.keys.push(key);
            let mut values = std::mem::take(&mut self.values);
            self.first(rows, row, &mut values);
            self.values = values;
        }
        entry as usize
    }

    /// Keys and values, in insertion order.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, f32)> {
        let values = self.values.chunks_exact(self.width).map(|entry| self.head.value_of(entry));
        self.keys.iter().copied().zip(values)
    }
}

impl Predictor for Table {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
        values.clear();
        let mut entry = Vec::with_capacity(self.width);
        for row in 0..rows.len() {
            entry.clear();
            self.read(rows, row, &mut entry);
            values.push(self.head.value_of(&entry));
        }
    }

    fn outputs(&mut self, rows: &Rows, outputs: &mut Vec<f32>) {
        outputs.clear();
        (0..rows.len()).for_each(|row| self.read(rows, row, outputs));
    }

    fn head(&self) -> &Head {
        &self.head
    }

    fn entries(&self) -> Option<usize> {
        Some(self.len())
    }

    fn explain(&mut self, rows: &Rows) -> Explanation {
        let mut entry = Vec::new();
        if rows.is_empty() {
            return Explanation { value: self.initial, ..Explanation::default() };
        }
        self.read(rows, 0, &mut entry);
        let value = self.head.value_of(&entry);
        let outcomes = if self.head.classes().is_some() { entry } else { Vec::new() };
        Explanation { value, outcomes, ..Explanation::default() }
    }

    fn describe(&self) -> Description {
        let n = self.len();
        Description {
            parameters: n * self.width,
            multiply_adds: 0,
            multiply_adds_least: 0,
            bytes: n * (8 + 4 * self.width),
            tensors: vec![TensorInfo {
                name: "values".into(),
                shape: self.shape(n),
                group: "table".into(),
                rate: self.rate,
            }],
            ops: vec![format!("table of {n} by {}", self.channels_name())],
        }
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        Ok(vec![
            Tensor::u64("keys", vec![self.len()], self.keys.clone()),
            Tensor::f32("values", self.shape(self.len()), self.values.clone()),
        ])
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(self.worker()?)
    }
}

impl Learner for Table {
    fn weighed(&mut self, rows: &Rows) {
        if self.add_weighed {
            (0..rows.len()).for_each(|row| {
                self.entry(rows, row);
            });
        }
    }

    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError> {
        let mut loss = 0.0;
        let mut entry = Vec::with_capacity(self.width);
        let width = self.width;
        for (r, (target, &weight)) in samples.targets.chunks_exact(width).zip(&samples.weights).enumerate() {
            entry.clear();
            self.read(&samples.rows, r, &mut entry);
            let error = match &self.head {
                Head::Value | Head::Policy => {
                    let error = f64::from(target[0] - entry[0]);
                    0.5 * f64::from(weight) * error * error
                }
                Head::Outcomes(_) => {
                    let pairs = target.iter().zip(&entry);
                    let log = |p: f32| f64::from(p.max(LEAST_PROBABILITY)).ln();
                    -f64::from(weight) * pairs.map(|(&t, &p)| f64::from(t) * log(p)).sum::<f64>()
                }
            };
            loss += error;
        }
        if !loss.is_finite() {
            return Err(ModelError::Diverged { what: "loss".into() });
        }
        for (r, (target, &weight)) in samples.targets.chunks_exact(width).zip(&samples.weights).enumerate() {
            let entry = self.entry(&samples.rows, r);
            let step = rate * self.rate * weight;
            let values = &mut self.values[entry * width..][..width];
            values.iter_mut().zip(target).for_each(|(value, target)| *value += step * (target - *value));
        }
        Ok(loss)
    }

    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError> {
        if self.head.classes().is_some() {
            return Err(ModelError::Unsupported(
                "online eligibility traces follow one number, and `head = \"outcomes\"` gives a distribution: use λ-returns \
                 (`traces = \"backward\"`)"
                    .into(),
            ));
        }
        Ok(self)
    }

    fn state(&mut self) -> Result<Vec<Tensor>, ModelError> {
        self.tensors()
    }

    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError> {
        let n = state.iter().find(|t| t.name == "keys").map_or(0, |t| t.shape.iter().product());
        let found = ByName::new(state);
        let keys = found.find("keys", &[n])?.integers()?.to_vec();
        let values = found.find("values", &self.shape(n))?.floats()?.to_vec();
        let entries: FxHashMap<u64, u32> = keys.iter().enumerate().map(|(i, &k)| (k, i as u32)).collect();
        if entries.len() != n {
            return Err(ModelError::Unsupported("the tensor `keys` holds a key twice".into()));
        }
        if let ChannelKind::Index(bound) = self.key_channel().kind
            && let Some(bad) = keys.iter().find(|&&k| k >= bound)
        {
            return Err(ModelError::Unsupported(format!(
                "the tensor `keys` holds {bad}, the channel ends at {bound}"
            )));
        }
        self.traces.clear();
        (self.entries, self.keys, self.values) = (entries, keys, values);
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
    ModelError::Unsupported(
        "a table learns after every game: use one worker without overlap (`learn.workers`, `learn.overlap`)"
            .into(),
    )
}

impl Table {
    /// Shape of the values of `n` entries.
    fn shape(&self, n: usize) -> Vec<usize> {
        match self.head {
            Head::Value | Head::Policy => vec![n],
            Head::Outcomes(_) => vec![n, self.width],
        }
    }

    fn key_channel(&self) -> &Channel {
        let index_like = self.channels.iter().filter(|c| c.kind.index_width() > 0);
        index_like.clone().nth(self.column).unwrap_or(&self.channels[0])
    }

    fn channels_name(&self) -> &str {
        &self.key_channel().name
    }
}

impl Traces for Table {
    fn accumulate(&mut self, slot: usize, rows: &Rows, row: usize, decay: f32) {
        let entry = self.entry(rows, row) as u32;
        if self.traces.len() <= slot {
            self.traces.resize(slot + 1, Vec::new());
        }
        let trace = &mut self.traces[slot];
        trace.iter_mut().for_each(|(_, e)| *e *= decay);
        trace.retain(|(_, e)| *e > 0.0);
        match trace.iter_mut().find(|(i, _)| *i == entry) {
            Some((_, e)) => *e += 1.0,
            None => trace.push((entry, 1.0)),
        }
    }

    fn follow(&mut self, slot: usize, error: f32, rate: f32) -> Result<(), ModelError> {
        if !error.is_finite() {
            return Err(ModelError::Diverged { what: "loss".into() });
        }
        for &(entry, e) in self.traces.get(slot).into_iter().flatten() {
            self.values[entry as usize] += rate * self.rate * error * e;
        }
        Ok(())
    }

    fn cut(&mut self, slot: usize) {
        if let Some(trace) = self.traces.get_mut(slot) {
            trace.clear();
        }
    }
}
