//! Measurements during a run, as they are written down.

use crate::config::{Figure, is_usual};
use crate::positions::PositionErrors;
use adept_arena::matches::{ByClass, Tally};
use adept_arena::{Equity, Guarantee, SoloGrade};
use adept_game::{Kit, outcome_classes};
use adept_model::{ExpertUse, Usage};
use serde::{Deserialize, Serialize};

/// A measurement during a run: one line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Games learned from, or samples.
    pub step: u64,
    /// Mean loss per sample since the last measurement; `None` without samples.
    pub loss: Option<f64>,
    /// Learning rate at this step.
    pub rate: f64,
    /// ε at this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explore: Option<f64>,
    /// λ at this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Exact match equity by opponent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equity: Vec<(String, Equity)>,
    /// What greedy play is sure of in each seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Guarantee>,
    /// Moves to the solution, in games for one player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<SoloGrade>,
    /// Results of played games by opponent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Match>,
    /// What went wrong, such as results worse than those of random play.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Entries of a growing table, if games are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// Mean win of a best response: (br₀ + br₁) / 2, in units of utility.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploitability: Option<f64>,
    /// Errors on the test positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rms: Option<PositionErrors>,
    /// Root mean square error on the validation positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// How often each expert ran during the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How the experts share positions of the run's distribution, or of games of the network with itself if the game has
    /// none; ten times in a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experts: Option<ExpertUse>,
    /// Seconds since the start, over all resumes.
    pub seconds: f64,
}

impl Evaluation {
    /// The figure that is watched while a run learns, with its kind: the first that was measured.
    pub fn watched(&self) -> Option<(Figure, f64)> {
        let order: [Figure; Figure::COUNT] =
            [Figure::Equity, Figure::Exploitability, Figure::Matches, Figure::Rms];
        order.into_iter().find_map(|figure| Some((figure, self.value(figure)?)))
    }

    /// A figure, if it was measured; that against the first opponent.
    fn value(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::Equity => self.equity.first().map(|(_, found)| found.equity),
            Figure::Rms => self.rms.map(|errors| errors.rms),
            Figure::Exploitability => self.exploitability,
            Figure::Matches => self.matches.first().map(|found| found.score),
        }
    }
}

/// Games against one opponent, who takes all other seats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The opponent.
    pub against: String,
    /// Games.
    pub games: u64,
    /// Points per game, 1 for a win, a fraction of 1 if it is shared; or the mean utility in the unit of the game.
    pub score: f64,
    /// 95 % interval of the score, from the spread between deals.
    pub ci95: [f64; 2],
    /// How many of the games differ. None in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Decisions drawn at random at the start of each game.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub random_plies: u32,
    /// The unit; `None` for points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The share of each class of results; empty if the game lists none.
    #[serde(default, skip_serializing_if = "ByClass::is_empty")]
    pub classes: ByClass<f64>,
}

impl Match {
    /// The result of games against one opponent, of which one agent has a single seat.
    pub fn of<G: Kit>(game: &G, against: &str, tally: &Tally, random_plies: u32) -> Self {
        let unit = game.counting().unit();
        let unit = unit.as_ref();
        Self {
            against: against.into(),
            games: tally.games,
            score: tally.score(unit),
            ci95: tally.uncertainty(unit, game.scale(), 1.0 / game.players() as f64).ci95,
            distinct: Some(tally.distinct.count()),
            random_plies,
            unit: unit.map(|unit| unit.name.to_string()),
            classes: tally.ends.shares(&outcome_classes(game).unwrap_or_default(), game.scale()),
        }
    }
}
