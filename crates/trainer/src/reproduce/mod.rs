//! Published tables and figures, ours beside the paper's.

mod chart;
mod experts;
mod q_post;
mod runs;
mod soar;
mod table1;
mod table2;

pub use experts::{Experts, ExpertsPoint, experts, experts_runs};
pub use q_post::{QPost, QPostRow, q_post};
pub use soar::{Relation, SoarFigure, SoarFigure2, SoarLearning, SoarRow, soar_figure2, soar_learning};
pub use table1::{Reproduced, Row, TABLE1_ROWS, table1};
pub use table2::{BearoffRow, Curve, FIGURE2_ROWS, Figure2, TABLE2_ROWS, Table2, figure2, table2};

use std::path::PathBuf;

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
fn json(value: &impl serde::Serialize) -> Result<String, crate::run::TrainError> {
    let text = serde_json::to_string_pretty(value);
    Ok(text.map_err(|e| adept_model::ModelError::Unsupported(e.to_string()))?)
}
