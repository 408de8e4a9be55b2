//! Reproductions of published tables and figures, for the command `reproduce`.

use crate::Catalogue;
use adept_model::ModelError;
use adept_trainer::run::{Cancel, Observer, TrainError};
use serde::Serialize;
use std::path::PathBuf;

/// A published table or figure, and how to reproduce it.
pub trait Reproduction: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The paper and the result.
    fn paper(&self) -> &'static str;

    /// Default folder of its runs and files below `checkpoints/runs`. Two reproductions may share a folder and its
    /// runs.
    fn folder(&self) -> &'static str {
        self.name()
    }

    /// Number of experiment runs; 0 if there are none.
    fn runs(&self, _seeds: u64) -> u64 {
        0
    }

    /// Runs the reproduction and writes its files.
    ///
    /// # Errors
    /// [`TrainError`] of the first run that fails, or an interruption.
    fn make(&self, work: Work<'_>) -> Result<Made, TrainError>;
}

/// Result of a reproduction.
#[derive(Clone, Debug)]
pub struct Made {
    /// The full report as JSON, with `rows`.
    pub report: serde_json::Value,
    /// The report as text.
    pub text: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Files written.
    pub files: Vec<PathBuf>,
}

impl Made {
    /// A report with this text.
    ///
    /// # Errors
    /// [`TrainError`] if the report has no JSON form.
    pub fn with_text(
        report: &impl Serialize,
        text: String,
        seconds: f64,
        files: &[PathBuf],
    ) -> Result<Self, TrainError> {
        let report = serde_json::to_value(report).map_err(ModelError::from)?;
        Ok(Self { report, text, seconds, files: files.to_vec() })
    }
}

/// Inputs of a reproduction.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The games of the program.
    pub games: &'a dyn Catalogue,
    /// Options of the reproduction.
    pub options: &'a ReproduceOptions,
    /// Receives events of runs.
    pub observer: &'a dyn Observer,
    /// Requests a stop.
    pub cancel: &'a Cancel,
}

/// Options of a reproduction.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Seeds per row.
    pub seeds: u64,
    /// Use a twentieth of the games or samples: for a first look, not for the figures.
    pub quick: bool,
    /// Folder for runs and reports.
    pub out: PathBuf,
    /// Threads.
    pub threads: usize,
    /// Keep finished runs of an earlier call.
    pub resume: bool,
}
