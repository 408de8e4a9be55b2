//! Positions of hold'em, and actions.

use super::cards::{Card, CardSet};

/// Largest number of players.
pub const MAX_PLAYERS: usize = 10;
/// Betting rounds: before the flop, flop, turn, river.
pub const ROUNDS: usize = 4;
/// Cards on the board before the bets of each round.
pub(super) const BOARD: [usize; ROUNDS] = [0, 3, 4, 5];
/// Largest number of raises in a round, whatever the stakes.
pub(super) const MOST_RAISES: u8 = 8;

/// Code of a card that is not dealt or not seen.
const NONE: u8 = u8::MAX;

/// Up to twenty cards that chance deals together, player by player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deal {
    cards: [u8; 2 * MAX_PLAYERS],
    count: u8,
}

impl Deal {
    /// Makes a deal of these cards, at most twenty; `None` for an unseen card.
    pub fn new(cards: impl IntoIterator<Item = Option<Card>>) -> Self {
        let mut deal = Self { cards: [NONE; 2 * MAX_PLAYERS], count: 0 };
        for (place, card) in deal.cards.iter_mut().zip(cards) {
            *place = card.map_or(NONE, Card::byte);
            deal.count += 1;
        }
        deal
    }

    /// The cards; `None` for one that is not seen.
    pub fn cards(&self) -> impl Iterator<Item = Option<Card>> + '_ {
        self.cards[..usize::from(self.count)].iter().map(|card| Card::of_number(*card))
    }
}

/// A move or a chance outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Chance deals two cards to each player, or the next cards of the board.
    Deal(Deal),
    /// Folds.
    Fold,
    /// Matches the bet, with all remaining chips if they are fewer; checks if there is no bet.
    Call,
    /// Bets, or raises the bet.
    Raise,
}

/// Kind of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Chance deals.
    Deal,
    /// A player acts.
    Act,
    /// The hand is over.
    Over,
}

/// All moves of a hand, packed into two bits each, with a mark at the end of each round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    words: [u64; WORDS],
    count: u16,
}

/// Capacity for every hand: in a round, each player moves at most once after the blinds and after each raise.
const WORDS: usize = ((MOST_RAISES as usize + 1) * MAX_PLAYERS * ROUNDS + ROUNDS) / 32 + 1;

/// An entry of a [`History`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A fold.
    Fold,
    /// A check or call.
    Call,
    /// A bet or raise.
    Raise,
    /// The end of a round.
    End,
}

impl History {
    pub(super) fn push(&mut self, entry: Entry) {
        let at = usize::from(self.count);
        if let Some(word) = self.words.get_mut(at / 32) {
            *word |= (entry as u64) << (2 * (at % 32));
            self.count += 1;
        }
    }

    /// The entries in order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..usize::from(self.count)).map(|at| match self.words[at / 32] >> (2 * (at % 32)) & 3 {
            0 => Entry::Fold,
            1 => Entry::Call,
            2 => Entry::Raise,
            _ => Entry::End,
        })
    }
}

/// A complete position.
///
/// Seat 0 is the first one after the button. With three or more players it has the small blind; with two it has the big
/// blind, and the button the small one. Amounts are whole chips.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) hole: [[u8; 2]; MAX_PLAYERS],
    pub(super) board: [u8; 5],
    pub(super) board_cards: u8,
    pub(super) phase: Phase,
    pub(super) round: u8,
    pub(super) mover: u8,
    /// Mask of the seats that have folded.
    pub(super) folded: u16,
    /// Mask of the seats without chips left.
    pub(super) all_in: u16,
    /// Mask of the seats that have acted since the last bet or raise.
    pub(super) acted: u16,
    /// Mask of the seats that have acted in this round.
    pub(super) moved: u16,
    /// Mask of the seats that have checked or called in this round.
    pub(super) called: u16,
    /// Mask of the seats that have raised after a check or call in some round.
    pub(super) raised_late: u16,
    /// Bets and raises of this round; the big blind counts as one.
    pub(super) bets: u8,
    /// Total that a player must have paid in the hand to stay in.
    pub(super) level: u32,
    /// Total that each player has paid.
    pub(super) paid: [u32; MAX_PLAYERS],
    pub(super) history: History,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            hole: [[NONE; 2]; MAX_PLAYERS],
            board: [NONE; 5],
            board_cards: 0,
            phase: Phase::Deal,
            round: 0,
            mover: 0,
            folded: 0,
            all_in: 0,
            acted: 0,
            moved: 0,
            called: 0,
            raised_late: 0,
            bets: 0,
            level: 0,
            paid: [0; MAX_PLAYERS],
            history: History::default(),
        }
    }

    /// A player's own cards; `None` if they are not dealt or not seen.
    pub fn hole(&self, player: usize) -> Option<[Card; 2]> {
        let [a, b] = *self.hole.get(player)?;
        Some([Card::of_number(a)?, Card::of_number(b)?])
    }

    /// The cards on the board.
    pub fn board(&self) -> impl Iterator<Item = Card> + '_ {
        self.board[..usize::from(self.board_cards)].iter().filter_map(|card| Card::of_number(*card))
    }

    /// The round, from 0, before the flop, to 3, the river.
    pub fn round(&self) -> usize {
        usize::from(self.round)
    }

    /// Whether the player has folded.
    pub fn has_folded(&self, player: usize) -> bool {
        self.folded >> player & 1 == 1
    }

    /// Whether the player has paid all chips.
    pub fn is_all_in(&self, player: usize) -> bool {
        self.all_in >> player & 1 == 1
    }

    /// Total that the player has paid in this hand.
    pub fn paid(&self, player: usize) -> u32 {
        self.paid.get(player).copied().unwrap_or(0)
    }

    /// Total that all players have paid.
    pub fn pot(&self) -> u32 {
        self.paid.iter().sum()
    }

    /// Amount that the player must pay to stay in, if the chips suffice.
    pub fn to_call(&self, player: usize) -> u32 {
        self.level.saturating_sub(self.paid(player))
    }

    /// Bets and raises of this round. Before the flop the big blind counts as one.
    pub fn bets(&self) -> u32 {
        self.bets.into()
    }

    /// Whether the player has acted since the last bet or raise of this round.
    pub fn has_acted(&self, player: usize) -> bool {
        self.acted >> player & 1 == 1
    }

    /// Whether the player has acted in this round.
    pub fn has_moved(&self, player: usize) -> bool {
        self.moved >> player & 1 == 1
    }

    /// All moves so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// All cards that are dealt and seen.
    pub fn seen(&self) -> CardSet {
        let all = self.hole.iter().flatten().chain(&self.board);
        all.filter_map(|card| Card::of_number(*card)).collect()
    }

    pub(super) fn hide(&mut self, player: usize) {
        self.hole[player] = [NONE; 2];
    }
}
