//! The suite `grade`: exact grades of greedy play in games without chance.

use adept_arena::exact::{alone, shortest, worst};
use adept_arena::{Evaluator, Grade, Grader, Greedy, SoloGrade};
use adept_game::{Kit, Turn};
use adept_trainer::run::TrainError;
use serde::Serialize;

/// Exact grades. Which there are depends on the game.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GradeReport {
    /// Of a small two-player game.
    #[serde(flatten)]
    pub grade: Option<Grade>,
    /// What the policy is sure of in each seat, in a two-player game that is too large for the other grades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sure: Option<Vec<f64>>,
    /// Of a game for one player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<SoloGrade>,
}

/// Grades greedy play.
pub(super) fn grade<G: Kit>(game: &G, evaluator: &mut dyn Evaluator<G>) -> Result<GradeReport, TrainError> {
    let mut greedy = Greedy::new(evaluator);
    let mut report = GradeReport::default();
    if game.players() == 1 {
        report.alone = Some(alone(game, &mut greedy, shortest(game)?));
    } else if game.hides() || !game.zero_sum() || game.turn(&game.start()) == Turn::Chance {
        let message = format!(
            "`grade` needs a game for one player, or a zero-sum game for two, without chance or hidden information; {} has chance, hides something, or has other players",
            game.name()
        );
        return Err(TrainError::Suite(message));
    } else if game.is_small() {
        report.grade = Some(Grader::new(game)?.grade(game, &mut greedy)?);
    } else {
        report.sure = Some(worst(game, &mut greedy)?);
    }
    Ok(report)
}
