//! Exact chances against one opponent with uniformly random cards, by enumeration.
//!
//! Most hands differ only by ranks. For each multiset of ranks on the board, a row holds the strength of all 91 pairs
//! of ranks, and opponents are counted by their pair: two short loops replace a thousand lookups. Only if a board has
//! three cards of a suit are hands with that suit counted again.

mod changes;
mod flop;
mod rows;
mod spot;
#[cfg(test)]
mod tests;

use super::cards::Card;
use changes::{changes, potentials};
use flop::flop_equity;
use rows::{RANKS, Rows, SUITS};
use spot::Spot;
use std::cell::RefCell;

/// Value of own cards on a board.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worth {
    /// Hand strength: the probability of being ahead now, with half of the ties.
    pub now: f64,
    /// Expected share of the pot if all cards are dealt and nobody folds.
    pub equity: f64,
    /// PPot: the probability of being ahead after the next card if behind now (Billings et al., one card ahead). 0 on
    /// the river.
    pub better: f64,
    /// NPot: the probability of being behind after the next card if ahead now. 0 on the river.
    pub worse: f64,
}

/// Computes the value of own cards on a board of three to five cards by enumeration; [`worth`] adds a cache.
pub fn enumerate(hole: [Card; 2], board: &[Card]) -> Worth {
    let (rows, spot) = (Rows::shared(), Spot::new(hole, board));
    let now = now_of(rows, &spot);
    if board.len() == 5 {
        return Worth { now, equity: now, better: 0.0, worse: 0.0 };
    }
    let (better, worse) = potentials(&changes(rows, &spot));
    let equity = match board.len() {
        3 => flop_equity(rows, &spot),
        _ => {
            let sum: i32 = spot.rest().map(|river| spot.with(river).points(rows)).sum();
            // 46 rivers, 990 hands, two points each.
            f64::from(sum) / (46.0 * 990.0 * 2.0)
        }
    };
    Worth { now, equity, better, worse }
}

fn now_of(rows: &Rows, spot: &Spot) -> f64 {
    let left = 50 - spot.cards as i32;
    f64::from(spot.points(rows)) / f64::from(left * (left - 1))
}

/// Probability of being ahead of one opponent on a board of three to five cards, with half of the ties.
pub fn strength_now(hole: [Card; 2], board: &[Card]) -> f64 {
    now_of(Rows::shared(), &Spot::new(hole, board))
}

/// Canonical key of cards and board, equal for positions that differ only by a permutation of suits.
type Class = u128;

fn class_of(hole: [Card; 2], board: &[Card]) -> Class {
    let mut suits = [0u32; SUITS];
    hole.iter().for_each(|card| suits[usize::from(card.suit())] |= 1 << (16 + card.rank()));
    board.iter().for_each(|card| suits[usize::from(card.suit())] |= 1 << card.rank());
    suits.sort_unstable();
    suits.iter().fold(0, |class, suit| class << 32 | u128::from(*suit))
}

/// Entries of a thread's cache, 4 MB.
const CACHED: usize = 1 << 16;

thread_local! {
    static CACHE: RefCell<Vec<(Class, Worth)>> = const { RefCell::new(Vec::new()) };
}

/// Value of own cards on a board of zero or three to five cards, cached up to permutations of suits.
///
/// # Panics
/// If the board has one or two cards.
pub fn worth(hole: [Card; 2], board: &[Card]) -> Worth {
    if board.is_empty() {
        let equity = preflop(hole);
        return Worth { now: equity, equity, better: 0.0, worse: 0.0 };
    }
    assert!((3..=5).contains(&board.len()), "a board of {} cards", board.len());
    // An empty board has class 0, which no other position has.
    let class = class_of(hole, board);
    let mixed = (class as u64 ^ (class >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let at = (mixed >> 48) as usize & (CACHED - 1);
    CACHE.with_borrow_mut(|cache| {
        if cache.is_empty() {
            cache.resize(CACHED, (0, Worth::default()));
        }
        if cache[at].0 != class {
            cache[at] = (class, enumerate(hole, board));
        }
        cache[at].1
    })
}

/// Exact expected share of the pot of two cards before the flop.
pub fn preflop(hole: [Card; 2]) -> f64 {
    let [a, b] = hole.map(|card| usize::from(card.rank()));
    let (low, high) = (a.min(b), a.max(b));
    // Suited hands are above the diagonal, others on and below it.
    let points = match hole[0].suit() == hole[1].suit() {
        true => PREFLOP[low][high],
        false => PREFLOP[high][low],
    };
    // 50 cards: all opponents, and all boards of the 48 left.
    f64::from(points) / (2.0 * 1225.0 * 1_712_304.0)
}

/// Preflop points of all pairs of own ranks against all opponents on all boards: suited at [low][high], others at
/// [high][low].
static PREFLOP: [[u32; RANKS]; RANKS] = include!("preflop.in");
