//! Hold'em as a [`Game`].

use super::rules::Holdem;
use super::state::{Action, Phase, State};
use super::text;
use adept_game::{Counting, Game, GameError, Texts, Turn, Unit};
use rand::Rng;

impl Game for Holdem {
    type State = State;
    type Action = Action;
    /// The state without the other players' cards.
    type Info = State;

    fn name(&self) -> &str {
        &self.name
    }

    fn players(&self) -> usize {
        self.seats()
    }

    fn start(&self) -> State {
        State::new()
    }

    #[inline]
    fn turn(&self, state: &State) -> Turn {
        match state.phase {
            Phase::Deal => Turn::Chance,
            Phase::Act => Turn::Player(state.mover.into()),
            Phase::Over => Turn::Over,
        }
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.clear();
        if state.phase != Phase::Act {
            return;
        }
        if state.to_call(state.mover.into()) > 0 {
            actions.push(Action::Fold);
        }
        actions.push(Action::Call);
        if self.may_raise(state) {
            actions.push(Action::Raise);
        }
    }

    fn apply(&self, state: &mut State, action: &Action) {
        match (action, state.phase) {
            (Action::Deal(deal), Phase::Deal) => self.deal(state, deal),
            (action, Phase::Act) => self.act(state, *action),
            _ => {}
        }
    }

    /// There are too many deals to list.
    fn outcomes(&self, state: &State, outcomes: &mut Vec<(Action, f64)>) -> bool {
        outcomes.clear();
        state.phase != Phase::Deal
    }

    fn sample(&self, state: &State, rng: &mut dyn Rng) -> Action {
        Action::Deal(self.draw(state, rng))
    }

    /// In chips.
    fn utility(&self, state: &State, player: usize) -> f64 {
        self.payoffs(state)[player] as f64
    }

    fn utilities(&self, state: &State, utilities: &mut Vec<f64>) {
        utilities.clear();
        utilities.extend(self.payoffs(state)[..self.seats()].iter().map(|net| *net as f64));
    }

    /// Largest possible win: one player's largest loss times the number of other players.
    fn scale(&self) -> f64 {
        let most = self.stakes.most_paid();
        let most = most.min(self.stakes.stacks[..self.seats()].iter().copied().max().unwrap_or(most));
        f64::from(most) * (self.seats() - 1) as f64
    }

    /// Thousandths of a small bet.
    fn counting(&self) -> Counting {
        Counting::Unit(Unit { name: "mbb".into(), size: f64::from(self.stakes.bets[0]) / 1000.0 })
    }

    fn hides(&self) -> bool {
        true
    }

    fn shown_to(&self, state: &State, player: usize) -> State {
        let mut shown = state.clone();
        let in_hand = (0..self.seats()).filter(|seat| !state.has_folded(*seat)).count();
        let showdown = state.phase == Phase::Over && in_hand > 1;
        for seat in 0..self.seats() {
            if seat != player && (!showdown || state.has_folded(seat)) {
                shown.hide(seat);
            }
        }
        shown
    }

    fn info(&self, state: &State, player: usize) -> State {
        self.shown_to(state, player)
    }

    fn position_text(&self, state: &State) -> String {
        text::position(self, state)
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<Action>), GameError> {
        text::parse(self, text).map(|state| (state, None))
    }

    fn action_text(&self, state: &State, action: &Action) -> String {
        text::action(state, *action)
    }

    fn parse_action(&self, state: &State, text: &str) -> Result<Action, GameError> {
        text::parse_action(self, state, text)
    }
}

/// Hold'em in words and pictures.
pub(super) struct Words;

impl Texts<Holdem> for Words {
    fn rules(&self, _: &Holdem) -> Option<String> {
        Some(
            "Texas hold'em with fixed bets: two hidden cards each and five on the table, which come\n\
             three, one and one, with a round of bets before the first and after each. In turn,\n\
             players check or bet, and call, raise or fold after a bet. The best five of seven cards\n\
             take the pot. Bets are larger in the last two rounds.\n\n\
             How to write a move: `c` checks or calls, `r` bets or raises, `f` folds."
                .into(),
        )
    }

    fn board(&self, game: &Holdem, state: &State, marks: &[(Action, String)], _: usize) -> String {
        text::board(game, state, marks)
    }

    fn told(&self, _: &Holdem, state: &State, action: &Action, who: &str, you: bool) -> String {
        format!("{who} {}{}.", text::action(state, *action), if you { "" } else { "s" })
    }

    fn chance(&self, _: &Holdem, state: &State, action: &Action, seat: usize) -> String {
        match action {
            Action::Deal(deal) => text::dealt(state, deal, seat),
            _ => String::new(),
        }
    }

    fn event(&self, game: &Holdem, state: &State, action: &Action, seat: usize) -> Option<String> {
        text::event(game, state, *action, seat)
    }

    fn missing(&self, _: &Holdem, state: &State, player: usize) -> Option<&'static str> {
        state.hole(player).is_none().then_some("its cards")
    }
}
