//! Reproduces tables and figures of published papers and compares our results with theirs; one file each.

mod experts;
pub mod q_learner;
mod q_post;
mod runs;
mod soar;
mod table1;
mod table2;

pub use experts::{ExpertsPoint, ExpertsStudy};
pub use q_post::{QPost, QPostRow, q_post};
pub use soar::{Relation, SoarFigure, SoarFigure2, SoarLearning, SoarRow};
pub use table1::{Reproduced, Row, table1};
pub use table2::{BearoffRow, Curve, Figure2, Table2, figure2, table2};

use adept_lab::Catalogue;
use adept_model::ModelError;
use adept_model::limits;
use adept_trainer::run::{Cancel, Observer, TrainError};
use serde::Serialize;
use std::path::PathBuf;

/// A published table or figure, and how to reproduce it.
pub trait Reproduction: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The paper and the result.
    fn paper(&self) -> &'static str;

    /// Default folder of its runs and files below `checkpoints/runs`. Two reproductions may share one, and then
    /// its runs.
    fn folder(&self) -> &'static str {
        self.name()
    }

    /// Number of experiment runs; 0 if there are none.
    fn runs(&self, _seeds: u64) -> u64 {
        0
    }

    /// Makes the reproduction and writes its files.
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
    /// Seconds it took.
    pub seconds: f64,
    /// Files written.
    pub files: Vec<PathBuf>,
}

impl Made {
    /// A report whose text is read from the first file.
    fn of(report: &impl Serialize, seconds: f64, files: &[PathBuf]) -> Result<Self, TrainError> {
        let text = limits::read_text(&files[0], limits::CONFIG_BYTES).map_err(ModelError::io(&files[0]))?;
        Self::with_text(report, text, seconds, files)
    }

    fn with_text(
        report: &impl Serialize,
        text: String,
        seconds: f64,
        files: &[PathBuf],
    ) -> Result<Self, TrainError> {
        let report = serde_json::to_value(report).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        Ok(Self { report, text, seconds, files: files.to_vec() })
    }
}

/// All reproductions.
pub const ALL: [&dyn Reproduction; 9] = [
    &table1::Table1,
    &table2::Table2Rows,
    &table2::Curves,
    &experts::WhereExpertsPay,
    &soar::Knowledge,
    &SoarFigure::Figure4,
    &SoarFigure::Figure5,
    &SoarFigure::Figure6,
    &q_post::Post,
];

/// Inputs of a reproduction.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The games, including the built-in ones.
    pub games: &'a dyn Catalogue,
    /// Options of the reproduction.
    pub options: &'a ReproduceOptions,
    /// Receives the events of runs.
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

/// Formats a report as JSON.
fn json(value: &impl serde::Serialize) -> Result<String, TrainError> {
    let text = serde_json::to_string_pretty(value);
    Ok(text.map_err(|e| adept_model::ModelError::Unsupported(e.to_string()))?)
}
