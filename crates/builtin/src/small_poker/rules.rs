//! Rules: cards, betting rounds, payoffs.

use std::fmt::Debug;

/// A small poker game of two players. Each antes 1 and gets a private card. In each betting round the players check, bet,
/// call, raise or fold in turn; player 0 begins. Before the second round a card is dealt to the table. At the end the card that
/// pairs the one on the table wins, otherwise the higher card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallPoker {
    pub(super) name: &'static str,
    /// Cards of each rank in the deck. There are [`RANKS`] ranks.
    pub(super) copies: u8,
    /// Size of a bet in each round.
    pub(super) bets: &'static [u32],
    /// Largest number of bets and raises in a round.
    pub(super) cap: usize,
}

/// Ranks: jack, queen, king.
pub(super) const RANKS: u8 = 3;
/// Ante of each player before the deal.
pub(super) const ANTE: u32 = 1;

/// A complete position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The rank of each player's card, 0 to 2; none if it is not dealt or not seen.
    pub cards: [Option<u8>; 2],
    /// Number of private cards dealt.
    pub(super) dealt: u8,
    /// The public state.
    pub table: PublicState,
}

/// The public state: the public card and the moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PublicState {
    /// The public card.
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

/// A player's knowledge: the own card and the public state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Knowledge {
    /// Seat of the player.
    pub player: u8,
    /// The own card.
    pub card: Option<u8>,
    /// The public state.
    pub table: PublicState,
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

    /// Largest number of moves in a round.
    pub(super) fn longest_round(&self) -> usize {
        self.cap + 2
    }

    /// The next step after the private deal.
    pub(super) fn step(&self, table: &PublicState) -> Step {
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

    /// Total that each player has paid.
    pub(super) fn paid(&self, table: &PublicState) -> [u32; 2] {
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

    /// Adds the legal moves of the player to act.
    pub(super) fn moves(&self, table: &PublicState, actions: &mut Vec<Action>) {
        let moves = table.rounds.last().map_or(&[][..], Vec::as_slice);
        if moves.last() == Some(&Action::Raise) {
            actions.push(Action::Fold);
        }
        actions.push(Action::Call);
        if moves.iter().filter(|a| **a == Action::Raise).count() < self.cap {
            actions.push(Action::Raise);
        }
    }

    /// Applies a move or a card.
    pub(super) fn advance(table: &mut PublicState, action: Action) {
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

    /// Probability of each rank of the next card, given the known cards.
    pub(super) fn next_card(&self, seen: &[Option<u8>]) -> [f64; RANKS as usize] {
        let left = |rank: u8| usize::from(self.copies) - seen.iter().filter(|c| **c == Some(rank)).count();
        let all: usize = (0..RANKS).map(left).sum();
        std::array::from_fn(|rank| left(rank as u8) as f64 / all as f64)
    }

    /// Probability of a deal and, if given, of the public card.
    pub(super) fn chance(&self, cards: [u8; 2], board: Option<u8>) -> f64 {
        let [first, second] = cards;
        let mut p = self.next_card(&[])[usize::from(first)];
        p *= self.next_card(&[Some(first)])[usize::from(second)];
        match board {
            // None if the deal takes more cards than exist.
            Some(rank) if p > 0.0 => p * self.next_card(&[Some(first), Some(second)])[usize::from(rank)],
            _ => p,
        }
    }

    /// Utility of a finished game for player 0.
    pub(super) fn pays(&self, table: &PublicState, cards: [u8; 2]) -> f64 {
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

    pub(super) fn seen(state: &State) -> [Option<u8>; 3] {
        [state.cards[0], state.cards[1], state.table.board]
    }
}
