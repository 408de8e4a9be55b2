//! Analysis by other programs in files of games, beside that of a review.

use crate::review::Errors;
use adept_arena::review::{Comparison, Disagreement};
use serde::Serialize;
use std::path::PathBuf;

/// The decisions that both the reviewer and another program judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BothJudges {
    /// Number of these decisions.
    pub decisions: u64,
    /// Share of them at which both name the same best action, or the reviewer values both actions equally.
    pub agreed_share: f64,
    /// Errors in these decisions by the reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<Errors>,
    /// Errors in the same decisions by the other program, counted in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theirs: Option<Errors>,
}

impl BothJudges {
    /// None if there are no such decisions.
    pub(crate) fn new(sum: &Comparison, is_match: bool) -> Option<Self> {
        (sum.decisions > 0).then(|| Self {
            decisions: sum.decisions,
            agreed_share: sum.agreed as f64 / sum.decisions as f64,
            ours: Errors::new(&sum.own, None, is_match),
            theirs: Errors::new(&sum.theirs, None, is_match),
        })
    }
}

/// Another program that judged decisions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OtherJudge {
    /// The program and its depth, such as `gnubg 2-ply`.
    pub name: String,
    /// Number of decisions that it judged, and the reviewer too.
    pub decisions: u64,
}

/// A decision that the reviewer and another program judge differently. Losses are in points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisagreedDecision {
    /// The file.
    pub file: PathBuf,
    /// Index of the game in the file.
    pub game: usize,
    /// Index of the move in the game.
    #[serde(rename = "move")]
    pub number: u64,
    /// Name of the player.
    pub player: String,
    /// The position before the move, with the roll.
    pub position: String,
    /// The move that was played.
    pub played: String,
    /// The program and its depth.
    pub judge: String,
    /// The best move by the reviewer.
    pub our_best: String,
    /// The best move by the program.
    pub their_best: String,
    /// Loss of the move that was played, by the reviewer.
    pub our_loss: f64,
    /// The same by the program.
    pub their_loss: f64,
    /// Loss of the program's best move, by the reviewer; none if the reviewer does not value it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub our_loss_of_their_best: Option<f64>,
}

impl DisagreedDecision {
    pub(crate) fn new(found: &Disagreement, player: &str, file: PathBuf, game: usize) -> Self {
        let [our_best, their_best] = found.best.clone();
        let [our_loss, their_loss] = found.lost;
        Self {
            file,
            game,
            number: found.number,
            player: player.into(),
            position: found.position.clone(),
            played: found.played.clone(),
            judge: found.judge.to_string(),
            our_best,
            their_best,
            our_loss,
            their_loss,
            our_loss_of_their_best: found.theirs_loses,
        }
    }

    /// By how many points the judgements differ.
    pub(crate) fn size(&self) -> f64 {
        (self.our_loss - self.their_loss).abs().max(self.our_loss_of_their_best.unwrap_or(0.0))
    }
}
