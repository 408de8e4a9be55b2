//! Own cards and a board, and the points against all possible hands of an opponent.

use super::rows::{Counts, Lanes, RANKS, Rows, SUITS, hands, lane, ones, points};
use crate::holdem::cards::Card;
use crate::holdem::strength::{Hand, Strengths};

/// Own cards, a board, and the remaining deck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) hole: [Card; 2],
    pub(super) board: [Card; 5],
    pub(super) cards: usize,
    /// Remaining cards by rank.
    pub(super) left: Counts,
    /// Remaining ranks of each suit.
    pub(super) alive: [u16; SUITS],
    /// Ranks on the board of each suit.
    pub(super) suited: [u16; SUITS],
    /// Own ranks of each suit.
    pub(super) own: [u16; SUITS],
}

impl Spot {
    pub(super) fn new(hole: [Card; 2], board: &[Card]) -> Self {
        let mut spot = Self {
            hole,
            board: [hole[0]; 5],
            cards: 0,
            left: [4; RANKS],
            alive: [(1 << RANKS) - 1; SUITS],
            suited: [0; SUITS],
            own: [0; SUITS],
        };
        for card in hole {
            spot.take(card);
            spot.own[usize::from(card.suit())] |= 1 << card.rank();
        }
        board.iter().for_each(|card| spot.put(*card));
        spot
    }

    fn take(&mut self, card: Card) {
        self.left[usize::from(card.rank())] -= 1;
        self.alive[usize::from(card.suit())] &= !(1 << card.rank());
    }

    /// Puts a card on the board.
    fn put(&mut self, card: Card) {
        self.take(card);
        self.suited[usize::from(card.suit())] |= 1 << card.rank();
        self.board[self.cards] = card;
        self.cards += 1;
    }

    pub(super) fn with(&self, card: Card) -> Self {
        let mut next = *self;
        next.put(card);
        next
    }

    /// The remaining cards.
    pub(super) fn rest(&self) -> impl Iterator<Item = Card> + '_ {
        Card::all().filter(|card| self.alive[usize::from(card.suit())] >> card.rank() & 1 == 1)
    }

    #[inline]
    pub(super) fn row<'r>(&self, rows: &'r Rows) -> &'r Lanes {
        let mut ranks = [0; 5];
        for (rank, card) in ranks.iter_mut().zip(&self.board) {
            *rank = card.rank();
        }
        rows.row(&mut ranks[..self.cards])
    }

    pub(super) fn lane(&self) -> usize {
        lane(self.hole[0].rank().into(), self.hole[1].rank().into())
    }

    pub(super) fn strength(&self) -> i16 {
        let hand = Hand::from_cards(&self.hole);
        let hand = self.board[..self.cards].iter().fold(hand, |hand, card| hand.with(*card));
        Strengths::shared().strength(&hand).number() as i16
    }

    /// The suit with three or more cards on the board.
    pub(super) fn flush_suit(&self) -> Option<usize> {
        (0..SUITS).find(|suit| self.suited[*suit].count_ones() >= 3)
    }

    /// Points against all opponents on this board: two for each hand that loses, one for each tie.
    pub(super) fn points(&self, rows: &Rows) -> i32 {
        let (row, all) = (self.row(rows), hands(&self.left));
        match self.flush_suit() {
            None => points(row, &all, self.strength()),
            Some(suit) => {
                self.points_by_suit(suit, row, &all, &hands(&ones(self.alive[suit])), self.strength())
            }
        }
    }

    /// Points on a board with three or more cards of a suit. `all` are all possible hands, `both` those with two cards
    /// of the suit.
    pub(super) fn points_by_suit(
        &self,
        suit: usize,
        row: &Lanes,
        all: &Lanes,
        both: &Lanes,
        mine: i16,
    ) -> i32 {
        let (alive, board) = (self.alive[suit], self.suited[suit]);
        let on_board = board.count_ones();
        let mut sum = match on_board {
            3 => points(row, all, mine) - points(row, both, mine),
            4 => {
                let mut others = self.left;
                for (rank, n) in others.iter_mut().enumerate() {
                    *n -= (alive >> rank & 1) as i16;
                }
                points(row, &hands(&others), mine)
            }
            _ => 0,
        };
        let table = Strengths::shared();
        // Flushes beat everything below.
        if mine < Strengths::lowest_flush() as i16 {
            return sum;
        }
        let mut add = |ranks: u16, n: i32| {
            let strength = table.flush(board | ranks) as i16;
            sum += n * (i32::from(strength < mine) + i32::from(strength <= mine));
        };
        let mut first = alive;
        while first != 0 {
            let x = first & first.wrapping_neg();
            first &= first - 1;
            let mut second = first;
            while second != 0 {
                add(x | second & second.wrapping_neg(), 1);
                second &= second - 1;
            }
        }
        if on_board > 3 {
            let unsuited: i32 =
                self.left.iter().map(|n| i32::from(*n)).sum::<i32>() - alive.count_ones() as i32;
            (0..RANKS).filter(|rank| alive >> rank & 1 == 1).for_each(|rank| add(1 << rank, unsuited));
            if on_board == 5 {
                add(0, unsuited * (unsuited - 1) / 2);
            }
        }
        sum
    }
}
