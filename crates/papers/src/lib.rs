//! Reproduces tables and figures of published papers and compares our results with theirs; one file each.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod discontinuous;
mod experts;
mod levinson;
mod picture;
mod q_learner;
mod q_post;
mod runs;
mod soar;
mod soarbot;
mod table1;
mod table2;

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
    &soar::SoarFigure::Figure4,
    &soar::SoarFigure::Figure5,
    &soar::SoarFigure::Figure6,
    &soar::SoarFigure::Figure7,
    &q_post::Post,
    &soarbot::Days,
    &levinson::Learners,
];

/// What finished runs wait for, as it is shown.
const MEASURING: &str = "measuring the networks";

/// Formats a report as JSON.
fn json(value: &impl serde::Serialize) -> Result<String, TrainError> {
    Ok(serde_json::to_string_pretty(value).map_err(adept_model::ModelError::from)?)
}
