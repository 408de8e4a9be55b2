//! A lookup table that adds an entry for each new key.

use crate::architecture::Lookup;
use crate::describe::{Description, TensorInfo};
use crate::error::ModelError;
use crate::learner::{Explanation, Learner, Tensor, Traces, Usage, find};
use crate::lower::check_top_lookup;
use crate::names::suggest;
use crate::optimiser::{Optimiser, Sgd};
use adept_rows::Samples;
use adept_rows::{Channel, ChannelKind, Layout, Rows};
use rustc_hash::FxHashMap;

/// One value for each key seen in training: V ← V + rate · (target − V).
///
/// Evaluating a row does not add an entry. A key without an entry has the initial value.
#[derive(Clone, Debug)]
pub struct Table {
    channels: Vec<Channel>,
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
    pub fn new(lookup: &Lookup, channels: &[Channel], optimiser: Optimiser) -> Result<Self, ModelError> {
        check_top_lookup(lookup)?;
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
        let layout = Layout::of(channels);
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
        Ok(Self {
            channels: channels.to_vec(),
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

    fn value(&self, rows: &Rows, row: usize) -> f32 {
        let known = self.entries.get(&self.key(rows, row));
        known.map_or_else(|| self.first(rows, row), |&e| self.values[e as usize])
    }

    /// The value of a row without an entry.
    fn first(&self, rows: &Rows, row: usize) -> f32 {
        self.initial_from.map_or(self.initial, |column| rows.dense_row(row)[column])
    }

    fn entry(&mut self, rows: &Rows, row: usize) -> usize {
        let key = self.key(rows, row);
        let next = self.keys.len() as u32;
        let entry = *self.entries.entry(key).or_insert(next);
        if entry == next {
            self.keys.push(key);
            self.values.push(self.first(rows, row));
        }
        entry as usize
    }

    /// Keys and values, in insertion order.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, f32)> {
        self.keys.iter().copied().zip(self.values.iter().copied())
    }
}

impl Learner for Table {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
        values.clear();
        values.extend((0..rows.len()).map(|r| self.value(rows, r)));
    }

    fn entries(&self) -> Option<usize> {
        Some(self.len())
    }

    fn weighed(&mut self, rows: &Rows) {
        if self.add_weighed {
            (0..rows.len()).for_each(|row| {
                self.entry(rows, row);
            });
        }
    }

    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError> {
        let mut loss = 0.0;
        for (r, (&target, &weight)) in samples.targets.iter().zip(&samples.weights).enumerate() {
            let error = target - self.value(&samples.rows, r);
            loss += 0.5 * f64::from(weight) * f64::from(error) * f64::from(error);
        }
        if !loss.is_finite() {
            return Err(ModelError::Diverged { what: "loss".into() });
        }
        for (r, (&target, &weight)) in samples.targets.iter().zip(&samples.weights).enumerate() {
            let entry = self.entry(&samples.rows, r);
            self.values[entry] += rate * self.rate * weight * (target - self.values[entry]);
        }
        Ok(loss)
    }

    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError> {
        Ok(self)
    }

    fn explain(&mut self, rows: &Rows) -> Explanation {
        let value = if rows.is_empty() { self.initial } else { self.value(rows, 0) };
        Explanation { value, ..Explanation::default() }
    }

    fn usage(&self) -> Option<Usage> {
        None
    }

    fn reset_usage(&mut self) {}

    fn describe(&self) -> Description {
        let n = self.len();
        Description {
            parameters: n,
            multiply_adds: 0,
            multiply_adds_least: 0,
            bytes: n * 12,
            tensors: vec![TensorInfo {
                name: "values".into(),
                shape: vec![n],
                group: "table".into(),
                rate: self.rate,
            }],
            ops: vec![format!("table of {n} by {}", self.channels_name())],
        }
    }

    fn state(&mut self, _training: bool) -> Result<Vec<Tensor>, ModelError> {
        Ok(vec![
            Tensor::u64("keys", vec![self.len()], self.keys.clone()),
            Tensor::f32("values", vec![self.len()], self.values.clone()),
        ])
    }

    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError> {
        let n = state.iter().find(|t| t.name == "keys").map_or(0, |t| t.shape.iter().product());
        let keys = find(state, "keys", &[n])?.integers()?.to_vec();
        let values = find(state, "values", &[n])?.floats()?.to_vec();
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

    fn player(&mut self) -> Result<Box<dyn Learner>, ModelError> {
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
