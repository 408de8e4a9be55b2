//! Exact chances against one opponent with uniformly random cards, by enumeration.
//!
//! Most hands differ only by ranks. For each multiset of ranks on the board there is a row with the strength of all 91 pairs of
//! ranks, and the opponents are counted by their pair: two short loops in place of a thousand lookups. Only where a board has
//! three cards of a suit, hands with that suit are counted again.

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

/// What own cards are worth on a board.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worth {
    /// The chance to be ahead now, with half of the ties: the strength of the hand.
    pub now: f64,
    /// The expected share of the pot if all cards come and nobody folds.
    pub equity: f64,
    /// PPot: the chance to be ahead after the next card if behind now (Billings et al., one card ahead). 0 on the river.
    pub better: f64,
    /// NPot: the chance to be behind after the next card if ahead now. 0 on the river.
    pub worse: f64,
}

/// What own cards are worth on a board of three to five cards, by enumeration; see [`worth`] for a cache.
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

/// The chance to be ahead of one opponent on a board of three to five cards, with half of the ties.
pub fn strength_now(hole: [Card; 2], board: &[Card]) -> f64 {
    now_of(Rows::shared(), &Spot::new(hole, board))
}

/// What two suits, cards and board have in common: equal for positions that differ by the names of suits alone.
type Class = u128;

fn class_of(hole: [Card; 2], board: &[Card]) -> Class {
    let mut suits = [0u32; SUITS];
    hole.iter().for_each(|card| suits[usize::from(card.suit())] |= 1 << (16 + card.rank()));
    board.iter().for_each(|card| suits[usize::from(card.suit())] |= 1 << card.rank());
    suits.sort_unstable();
    suits.iter().fold(0, |class, suit| class << 32 | u128::from(*suit))
}

/// Places of a cache. Each thread has its own, of 4 MB.
const CACHED: usize = 1 << 16;

thread_local! {
    static CACHE: RefCell<Vec<(Class, Worth)>> = const { RefCell::new(Vec::new()) };
}

/// What own cards are worth on a board of none or of three to five cards. Positions that differ by the names of suits alone are
/// looked up once they are known.
///
/// # Panics
/// If the board has one or two cards.
pub fn worth(hole: [Card; 2], board: &[Card]) -> Worth {
    if board.is_empty() {
        let equity = preflop(hole);
        return Worth { now: equity, equity, better: 0.0, worse: 0.0 };
    }
    assert!((3..=5).contains(&board.len()), "a board of {} cards", board.len());
    // An empty board has class 0, which no position has.
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

/// The exact expected share of the pot of two cards before the flop.
pub fn preflop(hole: [Card; 2]) -> f64 {
    let [a, b] = hole.map(|card| usize::from(card.rank()));
    let (low, high) = (a.min(b), a.max(b));
    // Suited hands above the diagonal, the others on it and below.
    let points = match hole[0].suit() == hole[1].suit() {
        true => PREFLOP[low][high],
        false => PREFLOP[high][low],
    };
    // 50 cards: all opponents, and all boards of the 48 left.
    f64::from(points) / (2.0 * 1225.0 * 1_712_304.0)
}

/// Points of all pairs of own ranks before the flop, against all opponents on all boards: suited at [low][high], others at
/// [high][low].
static PREFLOP: [[u32; RANKS]; RANKS] = include!("preflop.in");
