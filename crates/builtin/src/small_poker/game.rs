//! Small poker as a game.

use super::rules::{ANTE, Action, Knowledge, PublicState, SmallPoker, State, Step};
use super::text;
use adept_game::{Game, GameError, Texts, Turn};

impl Game for SmallPoker {
    type State = State;
    type Action = Action;
    type Info = Knowledge;

    fn name(&self) -> &str {
        self.name
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> State {
        State { cards: [None; 2], dealt: 0, table: PublicState::default() }
    }

    fn turn(&self, state: &State) -> Turn {
        if state.dealt < 2 {
            return Turn::Chance;
        }
        match self.step(&state.table) {
            Step::Board => Turn::Chance,
            Step::Player(player) => Turn::Player(player),
            Step::Folded(_) | Step::Showdown => Turn::Over,
        }
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.clear();
        if let Turn::Player(_) = self.turn(state) {
            self.moves(&state.table, actions);
        }
    }

    fn apply(&self, state: &mut State, action: &Action) {
        match *action {
            Action::Deal(rank) if state.dealt < 2 => {
                state.cards[usize::from(state.dealt)] = Some(rank);
                state.dealt += 1;
                if state.dealt == 2 {
                    state.table.rounds.push(Vec::new());
                }
            }
            action => Self::advance(&mut state.table, action),
        }
    }

    fn outcomes(&self, state: &State, outcomes: &mut Vec<(Action, f64)>) -> bool {
        outcomes.clear();
        if self.turn(state) == Turn::Chance {
            let cards = self.next_card(&Self::seen(state));
            let all = cards.iter().enumerate().filter(|(_, p)| **p > 0.0);
            outcomes.extend(all.map(|(rank, p)| (Action::Deal(rank as u8), *p)));
        }
        true
    }

    /// In antes.
    fn utility(&self, state: &State, player: usize) -> f64 {
        let cards = state.cards.map(|card| card.unwrap_or(0));
        let first = self.pays(&state.table, cards);
        if player == 0 { first } else { -first }
    }

    fn scale(&self) -> f64 {
        let bets: u32 = self.bets.iter().map(|bet| bet * self.cap as u32).sum();
        f64::from(ANTE + bets)
    }

    fn hides(&self) -> bool {
        true
    }

    fn shown_to(&self, state: &State, player: usize) -> State {
        let mut shown = state.clone();
        // Cards are shown if the game ends without a fold.
        if self.turn(state) != Turn::Over || matches!(self.step(&state.table), Step::Folded(_)) {
            shown.cards[1 - player] = None;
        }
        shown
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        let moves = state.table.rounds.last()?.len();
        moves.checked_sub(1).map(|last| last % 2)
    }

    fn info(&self, state: &State, player: usize) -> Knowledge {
        Knowledge { player: player as u8, card: state.cards[player], table: state.table.clone() }
    }

    fn position_text(&self, state: &State) -> String {
        text::position(state)
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<Action>), GameError> {
        text::parse(self, text).map(|state| (state, None))
    }

    fn action_text(&self, state: &State, action: &Action) -> String {
        text::action(&state.table, *action).into()
    }

    fn parse_action(&self, state: &State, text: &str) -> Result<Action, GameError> {
        text::parse_action(self, state, text)
    }
}

/// Small poker in words and pictures.
pub(super) struct Words;

impl Texts<SmallPoker> for Words {
    fn rules(&self, _: &SmallPoker) -> Option<String> {
        Some(
            "Everybody pays into the pot and gets one hidden card. In turn, players bet or check,\n\
             and call, raise or fold after a bet. Who folds loses what was paid. If nobody does, the\n\
             better card takes the pot; in Leduc a card on the table comes after the first round of\n\
             bets, and a pair with it beats any other card.\n\n\
             How to write a move: as listed by `help`."
                .into(),
        )
    }

    fn board(&self, game: &SmallPoker, state: &State, marks: &[(Action, String)], _: usize) -> String {
        text::board(game, state, marks)
    }

    fn told(&self, _: &SmallPoker, state: &State, action: &Action, who: &str, you: bool) -> String {
        format!("{who} {}{}.", text::action(&state.table, *action), if you { "" } else { "s" })
    }

    fn chance(&self, _: &SmallPoker, state: &State, action: &Action, seat: usize) -> String {
        text::dealt(state, *action, seat)
    }

    fn event(&self, game: &SmallPoker, state: &State, action: &Action, seat: usize) -> Option<String> {
        text::event(game, state, *action, seat)
    }

    fn missing(&self, _: &SmallPoker, state: &State, player: usize) -> Option<&'static str> {
        state.cards[player].is_none().then_some("its cards")
    }
}
