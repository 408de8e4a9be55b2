//! Every action of a reviewed game: what was played, what was best, and what the position was worth.

use super::judging::{Judged, Verdict, Weighed, mark_of};
use adept_game::{DecisionKind, Kit, Standard, WholeGame, first_side};

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A decision between moves.
    Move,
    /// A decision whether to double.
    Double,
    /// A decision about the answer to a double.
    Answer,
    /// The only action of a player.
    Forced,
    /// A chance event.
    Chance,
}

impl StepKind {
    /// A decision of this kind; a move in games whose players have no [standard](adept_game::Records::standard).
    fn of_decision(standard: Option<Standard>) -> Self {
        match standard.map(|standard| standard.kind) {
            Some(DecisionKind::Double { .. }) => Self::Double,
            Some(DecisionKind::Answer) => Self::Answer,
            Some(DecisionKind::Move) | None => Self::Move,
        }
    }
}

/// An action or a chance event of a game that was reviewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its index among the actions of the game, chance events included.
    pub place: usize,
    /// The number that the file gives to the move.
    pub number: u64,
    /// The player, from 0; none for a chance event.
    pub player: Option<usize>,
    /// The kind.
    pub kind: StepKind,
    /// The position before it, as [`Texts::short`](adept_game::Texts::short) writes it.
    pub position: String,
    /// The player, from 0, whose side this text shows first ([`first_side`]).
    pub side: Option<usize>,
    /// What was played, or what chance gave.
    pub played: String,
    /// The value of the position for player 1 before the action, in units of utility: before a decision with the best action, before a
    /// chance event the mean over its outcomes. None if it is not known, as for chance that is not listed.
    pub value: Option<f64>,
    /// The utility of a point, if players of the game count errors in points.
    pub point: Option<f64>,
    /// The luck for player 1 of a chance event, in units of utility.
    pub luck: Option<f64>,
    /// The judgement of a decision between several actions.
    pub assessment: Option<Assessment>,
}

/// A decision between several actions, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The best actions, the best first, and the one that was played.
    pub candidates: Vec<StepCandidate>,
    /// The index of the action that was played among the candidates.
    pub played: usize,
    /// What is known of the loss.
    pub verdict: Verdict,
    /// The value of the best action less that of the one that was played, in units of utility.
    pub loss: f64,
    /// The standard error of the loss; 0 if the values are not estimates from samples.
    pub error: f64,
    /// The loss in points, if players of the game count so.
    pub points: Option<f64>,
    /// The index of the loss among [`MARKS`](super::judging::MARKS); none for a decision that is not wrong by so much.
    pub mark: Option<usize>,
    /// What players call an error other than a move, such as `missed double`.
    pub name: Option<&'static str>,
    /// The judge, from 0, if several judge one after another.
    pub judge: usize,
    /// Text of [`Reach::shortfall`](crate::Reach::shortfall); none if the search reached its depth.
    pub shortfall: Option<String>,
}

/// An action that a decision allows.
#[derive(Clone, Debug, PartialEq)]
pub struct StepCandidate {
    /// The action.
    pub action: String,
    /// Its value for the player, in units of utility.
    pub value: f64,
    /// The value of the best action less this one, in units of utility.
    pub loss: f64,
    /// The same in points, if players of the game count so.
    pub points: Option<f64>,
}

impl Step {
    /// The step at this place of a game.
    pub(super) fn new<G: Kit>(
        game: &G,
        whole: &WholeGame<G::Action>,
        place: usize,
        judged: &Judged<'_, G>,
        standard: Option<Standard>,
    ) -> Self {
        let (number, action) = &whole.actions[place];
        let for_first =
            |value: f32, player| f64::from(value) * game.scale() * if player == 0 { 1.0 } else { -1.0 };
        let (state, player, kind, value) = match judged {
            Judged::Chance { state, expected, .. } => (*state, None, StepKind::Chance, *expected),
            Judged::Forced { state, player, value } => {
                (*state, Some(*player), StepKind::Forced, Some(for_first(*value, *player)))
            }
            Judged::Decision(Weighed { state, player, values, best, .. }) => {
                let value = for_first(values[*best].clamp(-1.0, 1.0), *player);
                (*state, Some(*player), StepKind::of_decision(standard), Some(value))
            }
        };
        Self {
            place,
            number: *number,
            player,
            kind,
            position: game.texts().short(game, state),
            side: first_side(game, state),
            played: game.action_text(state, action),
            value: value.filter(|value| value.is_finite()),
            point: standard.map(|standard| standard.point),
            luck: if let Judged::Chance { luck, .. } = judged { Some(*luck) } else { None },
            assessment: match judged {
                Judged::Decision(weighed) => Some(Assessment::new(game, weighed, standard)),
                Judged::Chance { .. } | Judged::Forced { .. } => None,
            },
        }
    }
}

impl Assessment {
    fn new<G: Kit>(game: &G, weighed: &Weighed<'_, G>, standard: Option<Standard>) -> Self {
        let Weighed { state, values, best, lost, .. } = weighed;
        let in_points = |loss: f64| standard.map(|standard| loss / standard.point);
        let candidate = |(action, value, _): (&G::Action, f32, f32)| {
            let loss = f64::from(values[*best] - value).max(0.0) * game.scale();
            StepCandidate {
                action: game.action_text(state, action),
                value: f64::from(value) * game.scale(),
                loss,
                points: in_points(loss),
            }
        };
        let (listed, played) = weighed.candidates();
        let candidates = listed.into_iter().map(candidate).collect();
        let verdict = weighed.verdict();
        let loss = lost * game.scale();
        let points = in_points(loss);
        let is_wrong = verdict == Verdict::Wrong;
        Self {
            candidates,
            played,
            verdict,
            loss,
            error: weighed.error * game.scale(),
            points,
            mark: points.filter(|_| is_wrong).and_then(mark_of),
            name: if is_wrong { weighed.error_name(game) } else { None },
            judge: weighed.judge,
            shortfall: weighed.reach.and_then(crate::Reach::shortfall),
        }
    }
}
