//! Every action of a reviewed game: what was played, what was best, and what the position was worth.
//!
//! As JSON, players are counted from 1, numbers have six digits, and what is not known is left out.

use super::judging::{Judged, Verdict, Weighed, mark_of};
use adept_game::{DecisionKind, Kit, Standard, first_side};
use serde::{Serialize, Serializer};

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its index among the actions of the game, chance events included.
    pub place: usize,
    /// The number that the file gives to the move; 0 if none, and for a chance event.
    #[serde(skip_serializing_if = "is_zero")]
    pub number: u64,
    /// The player, from 0; none for a chance event.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "from_one")]
    pub player: Option<usize>,
    /// The kind.
    pub kind: StepKind,
    /// The position before it, as [`Texts::short`](adept_game::Texts::short) writes it; empty for a chance event.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub position: String,
    /// The player, from 0, whose side this text shows first ([`first_side`]); none for a chance event.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "from_one")]
    pub side: Option<usize>,
    /// What was played, or what chance gave.
    pub played: String,
    /// The value of the position for player 1 before the action, in units of utility: before a decision with the best action, before a
    /// chance event the mean over its outcomes. None if it is not known, as for chance that is not listed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub value: Option<f64>,
    /// The utility of a point, if players of the game count errors in points.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub point: Option<f64>,
    /// The luck for player 1 of a chance event, in units of utility.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub luck: Option<f64>,
    /// The judgement of a decision between several actions.
    #[serde(flatten)]
    pub assessment: Option<Assessment>,
}

/// A decision between several actions, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// The best actions, the best first, and the one that was played.
    pub candidates: Vec<StepCandidate>,
    /// The index of the action that was played among the candidates.
    #[serde(skip)]
    pub played: usize,
    /// What is known of the loss.
    pub verdict: Verdict,
    /// The value of the best action less that of the one that was played, in units of utility.
    #[serde(serialize_with = "rounded")]
    pub loss: f64,
    /// The standard error of the loss; 0 if the values are not estimates from samples.
    #[serde(skip_serializing_if = "is_exact", serialize_with = "rounded")]
    pub error: f64,
    /// The loss in points, if players of the game count so.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub points: Option<f64>,
    /// The index of the loss among [`MARKS`](super::judging::MARKS); none for a decision that is not wrong by so much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<usize>,
    /// What players call an error other than a move, such as `missed double`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// The judge, from 0, if several judge one after another.
    pub judge: usize,
    /// Text of [`Reach::shortfall`](crate::Reach::shortfall); none if the search reached its depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
}

/// An action that a decision allows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepCandidate {
    /// The action.
    pub action: String,
    /// Its value for the player, in units of utility.
    #[serde(serialize_with = "rounded")]
    pub value: f64,
    /// The value of the best action less this one, in units of utility.
    #[serde(serialize_with = "rounded")]
    pub loss: f64,
    /// The same in points, if players of the game count so.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub points: Option<f64>,
}

/// Rounds to six digits, which is more than anybody reads.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn rounded<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(format!("{value:.5e}").parse().unwrap_or(*value))
}

/// See [`rounded`].
#[allow(clippy::ref_option, reason = "the signature that serde wants")]
fn digits<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => rounded(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[allow(clippy::ref_option, reason = "the signature that serde wants")]
fn from_one<S: Serializer>(player: &Option<usize>, serializer: S) -> Result<S::Ok, S::Error> {
    player.map(|player| player + 1).serialize(serializer)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_exact(error: &f64) -> bool {
    *error <= 0.0
}

impl Step {
    /// The step of an action at this place of a game, to which its file gives a number.
    pub fn new<G: Kit>(
        game: &G,
        (place, number, action): (usize, u64, &G::Action),
        judged: &Judged<'_, G>,
        standard: Option<Standard>,
    ) -> Self {
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
        // Boards show decisions.
        let is_chance = kind == StepKind::Chance;
        Self {
            place,
            number: if is_chance { 0 } else { number },
            player,
            kind,
            position: if is_chance { String::new() } else { game.texts().short(game, state) },
            side: if is_chance { None } else { first_side(game, state) },
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
