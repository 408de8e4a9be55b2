//! Reproduces tables and figures of published papers and compares our results with theirs, one file each.

mod discontinuous;
mod experts;
mod levinson;
mod picture;
pub mod q_learner;
mod q_post;
mod runs;
mod soar;
mod soarbot;
mod table1;
mod table2;

pub use experts::{ExpertsPoint, ExpertsStudy};
pub use levinson::{LevinsonRow, LevinsonStudy, Transfer};
pub use q_post::{QPost, QPostRow, q_post};
pub use soar::{Relation, SoarFigure, SoarFigure2, SoarLearning, SoarRow};
pub use soarbot::{SoarBotDays, SoarBotRow, SoarBotStudy};
pub use table1::{Reproduced, Row, table1};
pub use table2::{BearoffRow, Curve, Figure2, Table2, figure2, table2};

use adept_lab::reproduction::Reproduction;
use adept_trainer::run::TrainError;

/// All reproductions.
pub const ALL: [&dyn Reproduction; 13] = [
    &table1::Table1,
    &table2::Table2Rows,
    &table2::Curves,
    &experts::WhereExpertsPay,
    &discontinuous::Jumps,
    &soar::Knowledge,
    &SoarFigure::Figure4,
    &SoarFigure::Figure5,
    &SoarFigure::Figure6,
    &SoarFigure::Figure7,
    &q_post::Post,
    &soarbot::Days,
    &levinson::Learners,
];

/// Progress label after the runs have finished.
const MEASURING: &str = "measuring the networks";

/// Formats a report as JSON.
fn json(value: &impl serde::Serialize) -> Result<String, TrainError> {
    Ok(serde_json::to_string_pretty(value).map_err(adept_model::ModelError::from)?)
}
