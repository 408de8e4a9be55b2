//! Analysis by another program, as it stands in the file of a game, beside the values of an evaluator.

use super::judging::{Judged, Verdict, Weighed};
use super::review::Tally;
use adept_game::{DecisionKind, Kit, Opinion, Says, Standard, WholeGame};
use adept_ground::order::sort_by_highest;
use std::sync::Arc;

/// The decisions of one player that an evaluator and another program judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Number of decisions.
    pub decisions: u64,
    /// Number of those at which the best action of the program is also one of the best by the evaluator.
    pub agreed: u64,
    /// Errors, and luck on rolls that both judged, by the evaluator.
    pub own: Tally,
    /// The same by the program.
    pub theirs: Tally,
}

impl Comparison {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            agreed: self.agreed + other.agreed,
            own: self.own.and(other.own),
            theirs: self.theirs.and(other.theirs),
        }
    }
}

/// A decision that an evaluator and another program judge differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The number that the file gives to the move.
    pub number: u64,
    /// The player, from 0.
    pub player: usize,
    /// The position before it, as [`Texts::short`](adept_game::Texts::short) writes it.
    pub position: String,
    /// What was played.
    pub played: String,
    /// The program and its depth.
    pub judge: Arc<str>,
    /// The best action by the evaluator, and by the program.
    pub best: [String; 2],
    /// The points that were lost by the evaluator, and by the program.
    pub lost: [f64; 2],
    /// The points that the best action of the program loses by the evaluator; none if it has no value of it.
    pub theirs_loses: Option<f64>,
}

impl Disagreement {
    /// By how many points the judgements differ: those of the action that was played, or of the best action of the program.
    pub fn size(&self) -> f64 {
        (self.lost[0] - self.lost[1]).abs().max(self.theirs_loses.unwrap_or(0.0))
    }
}

/// What both say of a game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opinions {
    /// The decisions of each player.
    pub players: [Comparison; 2],
    /// The judges of these decisions, and how many of each player each judged.
    pub judges: Vec<(Arc<str>, [u64; 2])>,
    /// The largest disagreements, the largest first.
    pub disagreements: Vec<Disagreement>,
}

/// Differences in points that are not told: files round, and so do values.
const LEAST: f64 = 0.001;

/// Most disagreements of a game before the smaller ones are dropped.
const MOST: usize = 1 << 12;

impl Opinions {
    /// Adds an action of a game, in order, if the file has an opinion of it. `left` are the opinions of actions from here on.
    pub(super) fn add<'a, G: Kit>(
        &mut self,
        game: &G,
        whole: &'a WholeGame<G::Action>,
        place: usize,
        judged: &Judged<'_, G>,
        standard: Option<Standard>,
        left: &mut &'a [Opinion<G::Action>],
    ) {
        while let Some((one, rest)) = left.split_first()
            && one.place < place
        {
            *left = rest;
        }
        let says = left.first().filter(|one| one.place == place).map(|one| &one.says);
        let Some(standard) = standard else { return };
        match (judged, says) {
            (Judged::Chance { luck, .. }, Some(Says::Luck(theirs))) => {
                let own = luck / standard.point;
                for (player, sign) in self.players.iter_mut().zip([1.0, -1.0]) {
                    player.own.luck += sign * own;
                    player.theirs.luck += sign * theirs;
                }
            }
            (Judged::Forced { player, .. }, _)
                if standard.kind == DecisionKind::Move && !whole.opinions.is_empty() =>
            {
                let Comparison { own, theirs, .. } = &mut self.players[*player];
                own.moves += 1;
                theirs.moves += 1;
            }
            (Judged::Decision(weighed), Some(Says::Decision { judge, best, lost, behind })) => {
                let found = Found { judge, best, lost: *lost, behind: *behind };
                self.decide(game, whole.actions[place].0, weighed, standard, found);
            }
            _ => {}
        }
    }

    /// Adds a decision that both judged.
    fn decide<G: Kit>(
        &mut self,
        game: &G,
        number: u64,
        weighed: &Weighed<'_, G>,
        standard: Standard,
        found: Found<'_, G::Action>,
    ) {
        let Weighed { state, player, action, actions, values, best, .. } = *weighed;
        let Found { judge, best: their_best, lost, behind } = found;
        let own_lost = if weighed.verdict() == Verdict::Wrong { weighed.lost * game.scale() } else { 0.0 };
        let (own_behind, is_last_best) = weighed.spread();
        let bounded = |i: usize| f64::from(values[i]).clamp(-1.0, 1.0);
        let theirs = actions.iter().position(|other| other == their_best);
        let theirs_loses = theirs.map(|i| (bounded(best) - bounded(i)) * game.scale() / standard.point);
        let is_agreed = theirs_loses.is_some_and(|loses| loses <= 0.0);
        let sum = &mut self.players[player];
        sum.decisions += 1;
        sum.agreed += u64::from(is_agreed);
        sum.own.decide(standard, own_lost, own_behind * game.scale(), is_last_best);
        let is_last_theirs = actions.last() == Some(their_best);
        sum.theirs.decide(standard, lost * standard.point, behind * standard.point, is_last_theirs);
        let place = self.judges.iter().position(|(known, _)| known == judge).unwrap_or_else(|| {
            self.judges.push((judge.clone(), [0; 2]));
            self.judges.len() - 1
        });
        self.judges[place].1[player] += 1;
        let mut one = Disagreement {
            number,
            player,
            position: String::new(),
            played: String::new(),
            judge: judge.clone(),
            best: Default::default(),
            lost: [own_lost / standard.point, lost],
            theirs_loses,
        };
        if one.size() >= LEAST {
            one.position = game.texts().short(game, state);
            one.played = game.action_text(state, action);
            one.best = [&actions[best], their_best].map(|action| game.action_text(state, action));
            self.disagreements.push(one);
            if self.disagreements.len() >= MOST {
                self.keep(MOST / 2);
            }
        }
    }

    /// Keeps this many of the largest disagreements.
    pub(super) fn keep(&mut self, most: usize) {
        sort_by_highest(&mut self.disagreements, &Disagreement::size);
        self.disagreements.truncate(most);
    }
}

/// What the file says of a decision.
struct Found<'a, A> {
    judge: &'a Arc<str>,
    best: &'a A,
    lost: f64,
    behind: f64,
}
