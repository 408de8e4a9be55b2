//! What a run writes: measurements and checkpoints, then the record that makes them valid.

use super::error::TrainError;
use super::evaluation::Evaluation;
use super::events::EventFile;
use super::folder::{Folder, Record, Score, checkpoint_name};
use super::measuring::Patience;
use super::source::SourceState;
use crate::config::is_usual;
use adept_model::checkpoint::{self, Manifest};
use adept_model::{ModelError, Tensor};
use serde::{Deserialize, Serialize};
use serde_json::{Value, to_value};

/// State of a run outside the learner, as a checkpoint has it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Progress {
    #[serde(flatten)]
    pub(super) source: SourceState,
    /// Sum of losses, and number of samples, since the last measurement.
    pub(super) loss: f64,
    pub(super) samples: u64,
    /// Best measurement, and number of measurements since then.
    #[serde(default)]
    pub(super) patience: Patience,
    /// Hash of the examples, if they come from a file. A resumed run must have the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) examples: Option<u64>,
    /// Measurements in a row that did not tell positions apart.
    #[serde(default, skip_serializing_if = "is_usual", rename = "standing")]
    pub(super) stagnant_evaluations: u64,
}

/// A checkpoint that is written now.
pub(super) struct Save {
    /// Of the model and the run, without step, metrics and training state.
    pub(super) manifest: Manifest,
    pub(super) tensors: Vec<Tensor>,
    pub(super) progress: Progress,
    /// Whether it is kept for good.
    pub(super) is_milestone: bool,
}

/// The best checkpoint so far.
struct Best {
    score: Score,
    tensors: Vec<Tensor>,
}

/// The folder of a run, and what is not yet written to it.
pub(super) struct Saves {
    pub(super) folder: Folder,
    /// The file for TensorBoard, if the run has one.
    pub(super) events: Option<EventFile>,
    /// Measurements, one a line.
    lines: String,
    /// The best checkpoint, if it is newer than the last one that was written.
    best: Option<Best>,
}

impl Saves {
    pub(super) fn new(folder: Folder) -> Self {
        Self { folder, events: None, lines: String::new(), best: None }
    }

    /// Adds a measurement.
    pub(super) fn add(&mut self, evaluation: &Evaluation) -> Result<(), ModelError> {
        self.lines.push_str(&serde_json::to_string(evaluation)?);
        self.lines.push('\n');
        Ok(())
    }

    /// The score of the best checkpoint.
    pub(super) fn best<'a>(&'a self, record: &'a Record) -> Option<&'a Score> {
        self.best.as_ref().map(|best| &best.score).or(record.best.as_ref())
    }

    /// Adds a best checkpoint.
    pub(super) fn add_best(&mut self, score: Score, tensors: Vec<Tensor>) {
        self.best = Some(Best { score, tensors });
    }

    /// Appends the measurements to their files.
    pub(super) fn write_measurements(&mut self, record: &mut Record) -> Result<(), TrainError> {
        record.metrics_bytes = self.folder.append_metrics(&self.lines)?;
        if let Some(events) = &self.events {
            events.append(&self.folder, &self.lines)?;
        }
        self.lines.clear();
        Ok(())
    }

    /// Writes a checkpoint of the step in the record, and the best one; then the record. Removes old checkpoints.
    pub(super) fn write(&mut self, record: &mut Record, save: Save) -> Result<(), TrainError> {
        let Save { manifest, tensors, progress, is_milestone } = save;
        let latest = checkpoint_name(record.step);
        let score = self.best.as_ref().map(|best| &best.score).filter(|score| score.checkpoint == latest);
        let metrics = to_value(score.or(record.r#final.as_ref())).map_err(ModelError::from)?;
        let training = Some(to_value(&progress).map_err(ModelError::from)?);
        let written = Manifest { step: record.step, metrics, training, ..manifest.clone() };
        self.write_checkpoint(&latest, written, &tensors)?;
        // The files at the end do not depend on earlier interruptions.
        let replaced = record.best.as_ref().map(|b| b.checkpoint.clone()).filter(|_| !record.finished);
        if let Some(Best { score, tensors }) = self.best.take() {
            if score.checkpoint != latest {
                let metrics: Value = to_value(&score).map_err(ModelError::from)?;
                let written = Manifest { step: score.step, metrics, training: None, ..manifest };
                self.write_checkpoint(&score.checkpoint, written, &tensors)?;
            }
            record.best = Some(score);
        }
        if is_milestone {
            record.milestones.push(latest.clone());
        }
        record.latest = Some(latest);
        self.folder.write_record(record)?;
        self.folder.prune(record, replaced.as_deref())?;
        Ok(())
    }

    fn write_checkpoint(&self, name: &str, manifest: Manifest, tensors: &[Tensor]) -> Result<(), TrainError> {
        checkpoint::write(&self.folder.files, &self.folder.checkpoint_path(name), manifest, tensors)?;
        Ok(())
    }
}
