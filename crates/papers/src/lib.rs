//! Reproduces tables and figures of published papers and compares our results with theirs, one file each.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod discontinuous;
mod experts;
mod levinson;
mod picture;
mod q_learner;
mod q_post;
mod report;
mod runs;
mod soar;
mod soarbot;
mod table1;
mod table2;

use adept_lab::reproduction::Reproduction;

/// All reproductions.
pub const ALL: [&dyn Reproduction; 13] = [
    &table1::TABLE1,
    &table2::TABLE2,
    &table2::FIGURE2,
    &experts::EXPERTS,
    &discontinuous::DISCONTINUOUS,
    &soar::KNOWLEDGE,
    &soar::SoarFigure::Figure4,
    &soar::SoarFigure::Figure5,
    &soar::SoarFigure::Figure6,
    &soar::SoarFigure::Figure7,
    &q_post::POST,
    &soarbot::DAYS,
    &levinson::LEVINSON,
];

/// Progress label after the runs have finished.
const MEASURING: &str = "measuring the networks";
