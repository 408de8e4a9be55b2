//! Whole games of any players as an evaluator sees them: what each decision lost, and the luck of each player.

pub use super::judgements::judgements;
pub use super::judging::{CI95, Judged, MARKS, Verdict, Weighed, judge_each, mark_of};
pub use super::kinds::{ByKind, Candidate, KINDS, KindSum};
use super::kinds::{candidates, kind_of};
pub use super::opinions::{Comparison, Disagreement, Opinions};
pub use super::steps::{Assessment, Step, StepCandidate, StepKind};
use crate::values::{Evaluator, Luck, Reach};
use adept_game::{DecisionKind, GameError, Kit, Standard, Turn, WholeGame};
use adept_ground::order::sort_by_highest;
use serde::Serialize;

/// What one player did and got, in units of utility.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Decisions with more than one action.
    pub decisions: u64,
    /// Sum of the values of the best actions less those of the actions played, over all decisions but the undecided ones.
    pub loss: f64,
    /// The variance of that sum, if the values are estimates from samples: of all decisions, the undecided ones too.
    pub loss_variance: f64,
    /// Decisions that lost more than [`TIE`](crate::TIE) of the scale, and more than the error of the loss.
    pub wrong: u64,
    /// Decisions whose loss lies within its error: whether they were wrong is not known.
    pub undecided: u64,
    /// Sum of the luck of all chance outcomes.
    pub luck: f64,
    /// The variance of that sum, if the values are estimates from samples.
    pub luck_variance: f64,
    /// Games with a result.
    pub games: u64,
    /// Sum of their results.
    pub result: f64,
    /// Sum of their results, each less the luck of its game.
    pub adjusted: f64,
    /// How far a search looked.
    pub depths: Depths,
    /// Errors as players of the game count them.
    pub tally: Tally,
}

/// Errors and luck of one player as players of a game with [a standard](adept_game::Records::standard) count them, in points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Moves, forced ones too.
    pub moves: u64,
    /// Moves with a choice.
    pub unforced: u64,
    /// Decisions to double that were close or wrong, as GNU Backgammon counts them and as eXtreme Gammon does.
    pub doubles: [u64; 2],
    /// Answers to doubles.
    pub answers: u64,
    /// Points lost by moves, by doubling or not, and by answers.
    pub lost: [f64; 3],
    /// Utility lost by all of them.
    pub lost_utility: f64,
    /// Decisions that lost at least each of [`MARKS`] and less than the next.
    pub marks: [u64; 3],
    /// The luck of all rolls.
    pub luck: f64,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sums = |a: [u64; 3], b: [u64; 3]| std::array::from_fn(|i| a[i] + b[i]);
        Self {
            moves: self.moves + other.moves,
            unforced: self.unforced + other.unforced,
            doubles: std::array::from_fn(|i| self.doubles[i] + other.doubles[i]),
            answers: self.answers + other.answers,
            lost: std::array::from_fn(|i| self.lost[i] + other.lost[i]),
            lost_utility: self.lost_utility + other.lost_utility,
            marks: sums(self.marks, other.marks),
            luck: self.luck + other.luck,
        }
    }

    /// Adds a decision that lost so much utility; `behind` is by how much the worst action is behind the best, and `is_last_best` whether the
    /// last action of the list, which doubles, is the best.
    pub(super) fn decide(&mut self, standard: Standard, loss: f64, behind: f64, is_last_best: bool) {
        let lost = loss / standard.point;
        let is_wrong = lost > 0.0;
        let kind = match standard.kind {
            DecisionKind::Move => {
                (self.moves, self.unforced) = (self.moves + 1, self.unforced + 1);
                0
            }
            DecisionKind::Double { close: [gnubg, xg] } => {
                let behind = behind / standard.point;
                self.doubles[0] += u64::from(is_wrong || is_last_best || behind < gnubg);
                self.doubles[1] += u64::from(is_wrong || behind < xg);
                1
            }
            DecisionKind::Answer => {
                self.answers += 1;
                2
            }
        };
        self.lost[kind] += lost;
        self.lost_utility += loss;
        if let Some(mark) = mark_of(lost) {
            self.marks[mark] += 1;
        }
    }

    /// All points lost.
    pub fn total(&self) -> f64 {
        self.lost.iter().sum()
    }

    /// Decisions that count, as GNU Backgammon counts them and as eXtreme Gammon does.
    pub fn counted(&self) -> [u64; 2] {
        self.doubles.map(|doubles| self.unforced + doubles + self.answers)
    }
}

/// How far a search looked at decisions with more than one action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Depths {
    /// Number of decisions that a search was asked for.
    pub decisions: u64,
    /// Number of these at which it stopped before it looked ahead, so that the values are without a search.
    pub unsearched: u64,
    /// The fewest and the most plies of the other searches that did not reach the end of the game; none if all did.
    pub plies: Option<[u32; 2]>,
}

impl Depths {
    /// Both together.
    fn and(self, other: Self) -> Self {
        let both = |[a, b]: [u32; 2], [c, d]: [u32; 2]| [a.min(c), b.max(d)];
        Self {
            decisions: self.decisions + other.decisions,
            unsearched: self.unsearched + other.unsearched,
            plies: match (self.plies, other.plies) {
                (Some(own), Some(others)) => Some(both(own, others)),
                (own, others) => own.or(others),
            },
        }
    }

    /// Adds a decision.
    fn add(&mut self, reach: Reach) {
        let plies = (reach.is_searched() && !reach.solved).then_some([reach.plies; 2]);
        *self = self.and(Self { decisions: 1, unsearched: u64::from(!reach.is_searched()), plies });
    }
}

impl Account {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            loss: self.loss + other.loss,
            loss_variance: self.loss_variance + other.loss_variance,
            wrong: self.wrong + other.wrong,
            undecided: self.undecided + other.undecided,
            luck: self.luck + other.luck,
            luck_variance: self.luck_variance + other.luck_variance,
            games: self.games + other.games,
            result: self.result + other.result,
            adjusted: self.adjusted + other.adjusted,
            depths: self.depths.and(other.depths),
            tally: self.tally.and(other.tally),
        }
    }

    /// Adds a decision, in a game of this scale.
    pub fn decide<G: Kit>(&mut self, weighed: &Weighed<'_, G>, scale: f64) {
        self.decisions += 1;
        weighed.reach.into_iter().for_each(|reach| self.depths.add(reach));
        self.loss_variance += (weighed.error * scale).powi(2);
        match weighed.verdict() {
            Verdict::Right => {}
            Verdict::Undecided => self.undecided += 1,
            Verdict::Wrong => {
                self.wrong += 1;
                self.loss += weighed.lost * scale;
            }
        }
    }

    /// Half the widths of the 95 % intervals of the loss and of the luck; none if the values are not estimates from samples.
    pub fn ci95(&self) -> [Option<f64>; 2] {
        [self.loss_variance, self.luck_variance]
            .map(|variance| (variance > 0.0).then(|| CI95 * variance.sqrt()))
    }
}

/// An action that was not the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Slip {
    /// The number that the file gives to the move.
    pub number: u64,
    /// The player, from 0.
    pub player: usize,
    /// The position before it, as [`Texts::short`](adept_game::Texts::short) writes it.
    pub position: String,
    /// What was played.
    pub played: String,
    /// The best action, of equal ones the first.
    pub best: String,
    /// The value of the best action less that of this one, in units of utility.
    pub loss: f64,
    /// The standard error of the loss; 0 if the values are not estimates from samples.
    pub error: f64,
    /// The loss in points, if players of the game count so.
    pub points: Option<f64>,
    /// What players call it, such as `missed double`.
    pub name: Option<&'static str>,
    /// Text of [`Reach::shortfall`]; none if the search reached its depth.
    pub shortfall: Option<String>,
    /// The class of the position, as [`Positions::class`](adept_game::Positions::class) numbers it.
    pub class: u64,
    /// The index of the kind of decision among [`KINDS`].
    pub kind: usize,
    /// The best actions, the best first, and the one that was played.
    pub candidates: Vec<Candidate>,
}

/// A game that was reviewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reviewed {
    /// What each player did and got.
    pub players: [Account; 2],
    /// The actions that lost most, the worst first.
    pub slips: Vec<Slip>,
    /// The decisions of each player by class of position and kind.
    pub kinds: [ByKind; 2],
    /// Every action and chance event; empty unless they were asked for ([`Keep::steps`]).
    pub steps: Vec<Step>,
    /// The analysis by another program in the file, beside this one.
    pub opinions: Opinions,
}

/// The details of a game that a review keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Most slips.
    pub slips: usize,
    /// Whether to keep every action.
    pub steps: bool,
}

/// Adds the luck of an outcome for player 0, with its standard error, to the accounts of both players.
pub fn add_luck(players: &mut [Account; 2], luck: f64, error: f64) {
    for (account, luck) in players.iter_mut().zip([luck, -luck]) {
        account.luck += luck;
        account.luck_variance += error * error;
    }
}

/// Reviews a game of two players, zero-sum, by the values of an evaluator and by the luck that the same values tell. None if it was to
/// stop; `stop` is asked at every action that is judged.
///
/// # Errors
/// See [`judge_each`].
pub fn review<G: Kit>(
    game: &G,
    whole: &WholeGame<G::Action>,
    by: (&mut dyn Evaluator<G>, &mut Luck<G>),
    keep: Keep,
    mut stop: impl FnMut() -> bool,
) -> Result<Option<Reviewed>, GameError> {
    let mut players = [Account::default(); 2];
    let (mut slips, mut steps) = (Vec::new(), Vec::new());
    let (mut kinds, class_of) = ([ByKind::new(), ByKind::new()], game.positions().class);
    let (mut opinions, mut left) = (Opinions::default(), &whole.opinions[..]);
    let played = whole.actions.iter().map(|(_, action)| action);
    let start = match &whole.from {
        Some(text) => game.parse_position(text)?.0,
        None => game.start(),
    };
    let last = judge_each(game, start, played, by, |place, judged| {
        let standard = judged.standard(game);
        if keep.steps {
            let (number, action) = &whole.actions[place];
            steps.push(Step::new(game, (place, *number, action), &judged, standard));
        }
        opinions.add(game, whole, place, &judged, standard, &mut left);
        match judged {
            Judged::Chance { luck, error, .. } => {
                add_luck(&mut players, luck, error);
                if let Some(standard) = standard {
                    players[0].tally.luck += luck / standard.point;
                    players[1].tally.luck -= luck / standard.point;
                }
            }
            Judged::Forced { player, .. } => {
                let is_move = standard.is_some_and(|one| one.kind == DecisionKind::Move);
                players[player].tally.moves += u64::from(is_move);
            }
            Judged::Decision(weighed) => {
                players[weighed.player].decide(&weighed, game.scale());
                let is_wrong = weighed.verdict() == Verdict::Wrong;
                let (class, kind) = (class_of(weighed.state), kind_of(standard));
                let sum = kinds[weighed.player].entry((class, kind)).or_default();
                sum.decide(&weighed, standard, game.scale());
                if let Some(standard) = standard {
                    let loss = if is_wrong { weighed.lost * game.scale() } else { 0.0 };
                    let (behind, is_last_best) = weighed.spread();
                    let tally = &mut players[weighed.player].tally;
                    tally.decide(standard, loss, behind * game.scale(), is_last_best);
                }
                if is_wrong {
                    let candidates = candidates(game, &weighed);
                    let name = weighed.error_name(game);
                    let Weighed { state, player, action, actions, best, lost, error, reach, .. } = weighed;
                    slips.push(Slip {
                        number: whole.actions[place].0,
                        player,
                        position: game.texts().short(game, state),
                        played: game.action_text(state, action),
                        best: game.action_text(state, &actions[best]),
                        loss: lost * game.scale(),
                        error: error * game.scale(),
                        points: standard.map(|standard| lost * game.scale() / standard.point),
                        name,
                        shortfall: reach.and_then(Reach::shortfall),
                        class,
                        kind,
                        candidates,
                    });
                }
            }
        }
        !stop()
    })?;
    let Some(state) = last else { return Ok(None) };
    let by_rules = || (game.turn(&state) == Turn::Over).then(|| game.utility(&state, 0));
    let result = whole.result.or_else(by_rules);
    if let Some(result) = result {
        for (account, result) in players.iter_mut().zip([result, -result]) {
            (account.games, account.result, account.adjusted) = (1, result, result - account.luck);
        }
    }
    sort_by_highest(&mut slips, &|slip| slip.points.unwrap_or(slip.loss));
    slips.truncate(keep.slips);
    opinions.keep(keep.slips);
    Ok(Some(Reviewed { players, slips, kinds, steps, opinions }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tally of decisions to double at 2 utility a point: the loss, how far the other action is behind, and whether the double is best.
    fn doubles(decisions: &[(f64, f64, bool)]) -> Tally {
        let mut tally = Tally::default();
        let kind = DecisionKind::Double { close: [0.16, 0.2] };
        for &(loss, behind, is_double_best) in decisions {
            tally.decide(Standard { kind, point: 2.0 }, loss, behind, is_double_best);
        }
        tally
    }

    #[test]
    fn a_decision_to_double_counts_if_it_is_close_or_wrong() {
        for (decision, counts) in [
            // A plain no double, a close one, and one that is close for one program alone.
            ((0.0, 1.0, false), [0, 0]),
            ((0.0, 0.3, false), [1, 1]),
            ((0.0, 0.38, false), [0, 1]),
            // A right double, plain and close.
            ((0.0, 1.0, true), [1, 0]),
            ((0.0, 0.3, true), [1, 1]),
            // A wrong one always.
            ((1.0, 1.0, false), [1, 1]),
            ((1.0, 1.0, true), [1, 1]),
        ] {
            assert_eq!(doubles(&[decision]).doubles, counts, "{decision:?}");
        }
        let tally = doubles(&[(1.0, 1.0, true), (0.0, 1.0, false), (0.07, 0.07, true)]);
        assert_eq!((tally.lost, tally.lost_utility), ([0.0, 0.535, 0.0], 1.07));
        assert_eq!((tally.marks, tally.counted()), ([1, 0, 1], [2, 2]));
    }

    #[test]
    fn marks_begin_where_gnubg_lets_them() {
        for (lost, mark) in
            [(0.0, None), (0.029, None), (0.03, Some(0)), (0.0601, Some(1)), (0.12, Some(2)), (3.0, Some(2))]
        {
            assert_eq!(mark_of(lost), mark, "{lost}");
        }
    }
}
