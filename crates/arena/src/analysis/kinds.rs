//! Decisions of reviewed games by class of position and by kind of decision, and their best actions.

use super::judging::{Verdict, Weighed};
use super::review::Tally;
use adept_game::{DecisionKind, Kit, Standard};
use std::collections::BTreeMap;

/// Names of the kinds of decisions, in the order of [`Tally::lost`].
pub const KINDS: [&str; 3] = ["move", "double", "answer"];

/// The index among [`KINDS`] of a decision; that of moves in games whose players have no [standard](adept_game::Records::standard).
pub(super) fn kind_of(standard: Option<Standard>) -> usize {
    match standard.map(|standard| standard.kind) {
        Some(DecisionKind::Move) | None => 0,
        Some(DecisionKind::Double { .. }) => 1,
        Some(DecisionKind::Answer) => 2,
    }
}

/// Sums of the decisions of one class of positions and one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KindSum {
    /// Decisions with more than one action.
    pub decisions: u64,
    /// Decisions that lost something.
    pub wrong: u64,
    /// Utility lost.
    pub loss: f64,
    /// Decisions that count for the performance rating, if players of the game count errors.
    pub counted: u64,
    /// Points lost, if players of the game count errors.
    pub points: f64,
}

/// The sums of a player by class of position, as [`Positions::class`](adept_game::Positions::class) numbers it, and by index of the
/// kind among [`KINDS`].
pub type ByKind = BTreeMap<(u64, usize), KindSum>;

impl KindSum {
    /// Adds a decision of a game of this scale.
    pub(super) fn decide<G: Kit>(
        &mut self,
        weighed: &Weighed<'_, G>,
        standard: Option<Standard>,
        scale: f64,
    ) {
        let is_wrong = weighed.verdict() == Verdict::Wrong;
        let loss = if is_wrong { weighed.lost * scale } else { 0.0 };
        self.decisions += 1;
        self.wrong += u64::from(is_wrong);
        self.loss += loss;
        if let Some(standard) = standard {
            let (mut one, (behind, is_last_best)) = (Tally::default(), weighed.spread());
            one.decide(standard, loss, behind * scale, is_last_best);
            self.counted += one.counted()[1];
            self.points += one.total();
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            wrong: self.wrong + other.wrong,
            loss: self.loss + other.loss,
            counted: self.counted + other.counted,
            points: self.points + other.points,
        }
    }
}

/// An action of a decision that was an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The action.
    pub action: String,
    /// Its value for the player, in units of utility.
    pub value: f64,
    /// The standard error of the value; 0 if it is not an estimate from samples.
    pub error: f64,
}

/// The best actions of a decision, the best first, and the one that was played.
pub(super) fn candidates<G: Kit>(game: &G, weighed: &Weighed<'_, G>) -> Vec<Candidate> {
    let candidate = |(action, value, error): (&G::Action, f32, f32)| Candidate {
        action: game.action_text(weighed.state, action),
        value: f64::from(value).clamp(-1.0, 1.0) * game.scale(),
        error: f64::from(error) * game.scale(),
    };
    weighed.candidates().0.into_iter().map(candidate).collect()
}
