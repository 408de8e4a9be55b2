//! Tables and figures of published papers, ours beside theirs: a file for each.

mod chart;
mod experts;
pub mod q_learner;
mod q_post;
mod runs;
mod soar;
mod table1;
mod table2;

pub use experts::{Experts, ExpertsPoint};
pub use q_post::{QPost, QPostRow, q_post};
pub use soar::{Relation, SoarFigure, SoarFigure2, SoarLearning, SoarRow};
pub use table1::{Reproduced, Row, table1};
pub use table2::{BearoffRow, Curve, Figure2, Table2, figure2, table2};

use adept_lab::Catalogue;
use adept_model::ModelError;
use adept_trainer::run::{Cancel, Observer, TrainError};
use serde::Serialize;
use std::path::PathBuf;

/// A published table or figure, and how ours beside it is made.
pub trait Reproduction: Sync {
    /// Its name in the command.
    fn name(&self) -> &'static str;

    /// The paper, and what of it.
    fn paper(&self) -> &'static str;

    /// Usual folder of its runs and files below `checkpoints/runs`. Two may share one, and then its runs.
    fn folder(&self) -> &'static str {
        self.name()
    }

    /// How many runs of experiments it takes; 0 if it makes none.
    fn runs(&self, _seeds: u64) -> u64 {
        0
    }

    /// Makes it, and writes its files.
    ///
    /// # Errors
    /// [`TrainError`] of the first run that fails, or that it was interrupted.
    fn make(&self, work: Work<'_>) -> Result<Made, TrainError>;
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Everything, with `rows`.
    pub report: serde_json::Value,
    /// The same for people.
    pub text: String,
    /// Seconds it took.
    pub seconds: f64,
    /// Files written.
    pub files: Vec<PathBuf>,
}

impl Made {
    /// A report whose first file is what people read.
    fn of(report: &impl Serialize, seconds: f64, files: &[PathBuf]) -> Result<Self, TrainError> {
        let text = std::fs::read_to_string(&files[0]).map_err(ModelError::io(&files[0]))?;
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

/// What a reproduction works with.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The games, among them the built-in ones.
    pub games: &'a dyn Catalogue,
    /// How the table is made.
    pub options: &'a ReproduceOptions,
    /// Is told what happens in runs.
    pub observer: &'a dyn Observer,
    /// Asks to stop.
    pub cancel: &'a Cancel,
}

/// How a table is made.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Seeds a row.
    pub seeds: u64,
    /// A twentieth of the games or samples: shows the way, not the figures.
    pub quick: bool,
    /// Folder for runs and reports.
    pub out: PathBuf,
    /// Threads.
    pub threads: usize,
    /// Keep finished runs of an earlier call.
    pub resume: bool,
}

/// A report as JSON.
fn json(value: &impl serde::Serialize) -> Result<String, TrainError> {
    let text = serde_json::to_string_pretty(value);
    Ok(text.map_err(|e| adept_model::ModelError::Unsupported(e.to_string()))?)
}
