//! Liar's dice as a [`Game`].

use super::dice::Dice;
use super::rules::{Action, LiarsDice, RuleSet, Target};
use super::state::{Phase, Said, State};
use super::{speech, text};
use adept_game::{Game, GameError, Texts, Turn};
use rand::{Rng, RngExt};

/// Rolls with more outcomes than this can only be sampled.
pub(super) const MOST_OUTCOMES: u64 = 10_000;

/// A player's knowledge in a round: the state without the dice under other cups, and without the truth of other
/// players' passes. Earlier rounds do not affect later ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Info {
    /// The player who has this knowledge.
    pub player: u8,
    /// The state. Other players' cups are empty and their passes are marked true.
    pub seen: State,
}

impl Game for LiarsDice {
    type State = State;
    type Action = Action;
    type Info = Info;

    fn name(&self) -> &str {
        &self.name
    }

    fn players(&self) -> usize {
        self.dice.len()
    }

    fn start(&self) -> State {
        self.first()
    }

    fn turn(&self, state: &State) -> Turn {
        match state.phase {
            Phase::Draw | Phase::Roll => Turn::Chance,
            Phase::Act => Turn::Player(state.mover.into()),
            Phase::Over => Turn::Over,
        }
    }

    /// Bids in ascending order, each with all its possible pushes; then pass, challenges and exact.
    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.clear();
        if state.phase != Phase::Act {
            return;
        }
        let mut bids = Vec::new();
        self.bids(state, &mut bids);
        let cup = state.seats[usize::from(state.mover)].cup;
        for bid in bids {
            actions.push(Action::Bid { bid, push: Dice::default() });
            if self.rules == RuleSet::Soar {
                cup.proper_parts(|push| actions.push(Action::Bid { bid, push }));
            }
        }
        let others =
            [Action::Pass, Target::Bid.into(), Target::Pass.into(), Target::PassBefore.into(), Action::Exact];
        actions.extend(others.into_iter().filter(|action| self.refuses(state, action).is_none()));
    }

    fn apply(&self, state: &mut State, action: &Action) {
        self.advance(state, action);
    }

    fn outcomes(&self, state: &State, outcomes: &mut Vec<(Action, f64)>) -> bool {
        outcomes.clear();
        match state.phase {
            Phase::Draw => {
                let n = self.dice.len();
                outcomes.extend((0..n).map(|p| (Action::Starter(p as u8), 1.0 / n as f64)));
            }
            Phase::Roll => {
                let n = state.unrolled();
                if Dice::count_outcomes(n, self.faces) > MOST_OUTCOMES {
                    return false;
                }
                outcomes.extend(Dice::outcomes(n, self.faces).into_iter().map(|(d, p)| (Action::Roll(d), p)));
            }
            Phase::Act | Phase::Over => {}
        }
        true
    }

    fn sample(&self, state: &State, rng: &mut dyn Rng) -> Action {
        match state.phase {
            Phase::Draw => Action::Starter(rng.random_range(0..self.dice.len()) as u8),
            _ => Action::Roll(Dice::roll(state.unrolled(), self.faces, rng)),
        }
    }

    /// The last player with dice wins 1. The others share the loss: −1/(n − 1) each.
    fn utility(&self, state: &State, player: usize) -> f64 {
        if state.seats[player].dice > 0 { 1.0 } else { -1.0 / (self.dice.len() - 1) as f64 }
    }

    fn zero_sum(&self) -> bool {
        self.dice.len() == 2
    }

    fn hides(&self) -> bool {
        true
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        let last = state.acts.last()?;
        let rolled_again = matches!(last.said, Said::Bid { push, .. } if !push.is_empty());
        (!rolled_again || state.phase == Phase::Roll).then_some(last.player.into())
    }

    fn info(&self, state: &State, player: usize) -> Info {
        Info { player: player as u8, seen: self.shown_to(state, player) }
    }

    fn shown_to(&self, state: &State, player: usize) -> State {
        let mut seen = state.clone();
        for (p, seat) in seen.seats.iter_mut().enumerate() {
            if p != player {
                seat.cup = Dice::default();
            }
        }
        for act in &mut seen.acts {
            if let (Said::Pass { valid }, true) = (&mut act.said, usize::from(act.player) != player) {
                *valid = true;
            }
        }
        seen
    }

    fn position_text(&self, state: &State) -> String {
        text::position(state)
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<Action>), GameError> {
        let state = text::parse_position(self, text).map_err(|why| {
            GameError::new(format!(
                "`{text}` is not a position of {}: {why}; write the cups, +pushed dice, who began, and the \
                 bids and passes, such as {}",
                self.name,
                text::example(self)
            ))
        })?;
        Ok((state, None))
    }

    fn action_text(&self, _: &State, action: &Action) -> String {
        text::action(action)
    }

    fn parse_action(&self, state: &State, text: &str) -> Result<Action, GameError> {
        let action = text::parse_action(self, text).map_err(GameError::new)?;
        match self.refuses(state, &action) {
            Some(why) => Err(GameError::new(format!("`{}` is not legal: {why}", text.trim()))),
            None => Ok(action),
        }
    }
}

/// Liar's dice in words and pictures.
pub(super) struct Words;

impl Texts<LiarsDice> for Words {
    fn rules(&self, game: &LiarsDice) -> Option<String> {
        Some(speech::rules(game))
    }

    fn board(&self, game: &LiarsDice, state: &State, marks: &[(Action, String)], _: usize) -> String {
        speech::board(game, state, marks)
    }

    fn told(&self, _: &LiarsDice, _: &State, action: &Action, who: &str, you: bool) -> String {
        speech::describe(action, who, you)
    }

    fn chance(&self, _: &LiarsDice, _: &State, action: &Action, seat: usize) -> String {
        match action {
            Action::Starter(p) => match speech::who(*p, seat) {
                you if usize::from(*p) == seat => format!("{you} begin."),
                player => format!("{player} begins."),
            },
            Action::Roll(_) => String::new(),
            _ => text::action(action),
        }
    }

    fn event(&self, game: &LiarsDice, state: &State, action: &Action, seat: usize) -> Option<String> {
        speech::event(game, state, action, seat)
    }
}

impl From<Target> for Action {
    fn from(target: Target) -> Self {
        Self::Challenge(target)
    }
}

impl State {
    /// Number of dice of the mover to roll.
    pub(super) fn unrolled(&self) -> u8 {
        let seat = &self.seats[usize::from(self.mover)];
        seat.dice - seat.pushed.total()
    }
}
