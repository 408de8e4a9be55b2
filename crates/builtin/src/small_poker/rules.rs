//! Rules: cards, betting rounds, payoffs.

use super::text;
use adept_game::{Game, GameError, Texts, Turn};
use std::fmt::Debug;

/// A small poker game of two players. Each antes 1 and gets a private card. In each betting round the players check, bet,
/// call, raise or fold in turn; player 0 begins. Before the second round a card is dealt to the table. At the end the card that
/// pairs the one on the table wins, otherwise the higher card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallPoker {
    name: &'static str,
    /// Cards of each rank in the deck. There are [`RANKS`] ranks.
    pub(super) copies: u8,
    /// Size of a bet in each round.
    pub(super) bets: &'static [u32],
    /// Bets and raises in a round at most.
    pub(super) cap: usize,
}

/// Ranks: jack, queen, king.
pub(super) const RANKS: u8 = 3;
/// What each player pays before the deal.
const ANTE: u32 = 1;

/// A complete position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The rank of each player's card, 0 to 2; none if it is not dealt or not seen.
    pub cards: [Option<u8>; 2],
    /// Number of private cards dealt.
    pub(super) dealt: u8,
    /// The public part.
    pub table: Table,
}

/// What everyone sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Table {
    /// The card on the table.
    pub board: Option<u8>,
    /// The moves of each round begun.
    pub rounds: Vec<Vec<Action>>,
}

/// A move or a chance outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Chance deals a card of this rank, first to each player, then to the table.
    Deal(u8),
    /// Gives up the pot.
    Fold,
    /// Matches the opponent's bet; checks if there is none.
    Call,
    /// Bets, or raises the opponent's bet.
    Raise,
}

/// What a player knows: the own card and the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// Seat of the player.
    pub player: u8,
    /// The own card.
    pub card: Option<u8>,
    /// What everyone sees.
    pub table: Table,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A card goes to the table.
    Board,
    /// The player acts.
    Player(usize),
    /// This player has folded.
    Folded(usize),
    /// The cards are compared.
    Showdown,
}

impl SmallPoker {
    /// Kuhn poker: three cards, one bet of 1.
    pub const KUHN: Self = Self { name: "kuhn", copies: 1, bets: &[1], cap: 1 };
    /// Leduc poker: two cards of each rank, bets of 2 and 4, at most two a round.
    pub const LEDUC: Self = Self { name: "leduc", copies: 2, bets: &[2, 4], cap: 2 };

    /// Moves of a round at most.
    pub(super) fn longest_round(&self) -> usize {
        self.cap + 2
    }

    /// The next step at a table after the private deal.
    pub(super) fn step(&self, table: &Table) -> Step {
        let mut mover = 0;
        for (r, moves) in table.rounds.iter().enumerate() {
            mover = 0;
            for action in moves {
                if *action == Action::Fold {
                    return Step::Folded(mover);
                }
                mover = 1 - mover;
            }
            // A round ends with a call that is not its first move.
            if moves.len() > 1 && moves.last() == Some(&Action::Call) {
                if r + 1 == self.bets.len() {
                    return Step::Showdown;
                }
                if r + 1 == table.rounds.len() {
                    return Step::Board;
                }
            }
        }
        Step::Player(mover)
    }

    /// What each player has paid.
    pub(super) fn paid(&self, table: &Table) -> [u32; 2] {
        let mut paid = [ANTE; 2];
        for (moves, bet) in table.rounds.iter().zip(self.bets) {
            for (k, action) in moves.iter().enumerate() {
                let mover = k % 2;
                match action {
                    Action::Call => paid[mover] = paid[1 - mover],
                    Action::Raise => paid[mover] = paid[1 - mover] + bet,
                    Action::Fold | Action::Deal(_) => {}
                }
            }
        }
        paid
    }

    /// Adds the legal moves at a table where a player acts.
    pub(super) fn moves(&self, table: &Table, actions: &mut Vec<Action>) {
        let moves = table.rounds.last().map_or(&[][..], Vec::as_slice);
        if moves.last() == Some(&Action::Raise) {
            actions.push(Action::Fold);
        }
        actions.push(Action::Call);
        if moves.iter().filter(|a| **a == Action::Raise).count() < self.cap {
            actions.push(Action::Raise);
        }
    }

    /// The table after a move or a card.
    pub(super) fn advance(table: &mut Table, action: Action) {
        match action {
            Action::Deal(rank) => {
                table.board = Some(rank);
                table.rounds.push(Vec::new());
            }
            action => {
                if let Some(moves) = table.rounds.last_mut() {
                    moves.push(action);
                }
            }
        }
    }

    /// Probability of each rank of the next card, given those seen.
    fn next_card(&self, seen: &[Option<u8>]) -> [f64; RANKS as usize] {
        let left = |rank: u8| usize::from(self.copies) - seen.iter().filter(|c| **c == Some(rank)).count();
        let all: usize = (0..RANKS).map(left).sum();
        std::array::from_fn(|rank| left(rank as u8) as f64 / all as f64)
    }

    /// Probability of a deal and of the card on the table, if any.
    pub(super) fn chance(&self, cards: [u8; 2], board: Option<u8>) -> f64 {
        let [first, second] = cards;
        let mut p = self.next_card(&[])[usize::from(first)];
        p *= self.next_card(&[Some(first)])[usize::from(second)];
        match board {
            // Not if the deal takes more cards than there are.
            Some(rank) if p > 0.0 => p * self.next_card(&[Some(first), Some(second)])[usize::from(rank)],
            _ => p,
        }
    }

    /// Utility of a finished game for player 0.
    pub(super) fn pays(&self, table: &Table, cards: [u8; 2]) -> f64 {
        let paid = self.paid(table).map(f64::from);
        match self.step(table) {
            Step::Folded(0) => -paid[0],
            Step::Folded(_) => paid[1],
            _ => {
                let strength = |card: u8| (table.board == Some(card), card);
                match strength(cards[0]).cmp(&strength(cards[1])) {
                    std::cmp::Ordering::Greater => paid[1],
                    std::cmp::Ordering::Less => -paid[0],
                    std::cmp::Ordering::Equal => 0.0,
                }
            }
        }
    }

    fn seen(state: &State) -> [Option<u8>; 3] {
        [state.cards[0], state.cards[1], state.table.board]
    }
}

impl Game for SmallPoker {
    type State = State;
    type Action = Action;
    type Info = Known;

    fn name(&self) -> &str {
        self.name
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> State {
        State { cards: [None; 2], dealt: 0, table: Table::default() }
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

    fn info(&self, state: &State, player: usize) -> Known {
        Known { player: player as u8, card: state.cards[player], table: state.table.clone() }
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
