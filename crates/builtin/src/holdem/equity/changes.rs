//! Transitions of hands from now to the next card: PPot and NPot.

use super::rows::{LANES, Lanes, RANKS, Rows, SUITS, hands, lane, ones, when};
use super::spot::Spot;
use crate::holdem::cards::Card;
use crate::holdem::strength::Strengths;

/// Counts of hands by (now, after the next card), each behind, tied or ahead.
pub(super) type Changes = [[u32; 3]; 3];

pub(super) fn place(mine: i16, other: i16) -> usize {
    match other.cmp(&mine) {
        std::cmp::Ordering::Greater => 0,
        std::cmp::Ordering::Equal => 1,
        std::cmp::Ordering::Less => 2,
    }
}

/// Adds the hands of `n` by their state now and later.
#[inline(never)]
fn count(changes: &mut Changes, now: (&Lanes, i16), later: (&Lanes, i16), n: &Lanes, times: i16) {
    // Hands below, and at or below the own strength now, later, and in both; all other counts follow from these.
    let (mut below, mut up_to, mut all) = (0i16, 0i16, 0i16);
    let (mut later_below, mut later_up_to) = (0i16, 0i16);
    let (mut bb, mut bu, mut ub, mut uu) = (0i16, 0i16, 0i16, 0i16);
    for k in 0..LANES {
        let n = n[k];
        let (a, b) = (n & when(now.0[k] < now.1), n & when(now.0[k] <= now.1));
        let (is_below, is_up_to) = (when(later.0[k] < later.1), when(later.0[k] <= later.1));
        all += n;
        below += a;
        up_to += b;
        later_below += n & is_below;
        later_up_to += n & is_up_to;
        bb += a & is_below;
        bu += a & is_up_to;
        ub += b & is_below;
        uu += b & is_up_to;
    }
    // Behind is 0, tied 1, ahead 2; opponents below the own strength are hands that are ahead.
    let found = [
        [all - up_to - (later_up_to - uu), later_up_to - uu - (later_below - ub), later_below - ub],
        [up_to - below - (uu - bu), uu - bu - (ub - bb), ub - bb],
        [below - bu, bu - bb, bb],
    ];
    for first in 0..3 {
        for second in 0..3 {
            let more = (i32::from(found[first][second]) * i32::from(times)) as u32;
            changes[first][second] = changes[first][second].wrapping_add(more);
        }
    }
}

/// Transitions by the next card, if no suit has three cards on the board yet.
fn changes_by_rank(rows: &Rows, spot: &Spot) -> Changes {
    let mut changes = Changes::default();
    let mine = spot.lane();
    let row = spot.row(rows);
    let now = (row, row[mine]);
    for rank in 0..RANKS {
        if spot.left[rank] == 0 {
            continue;
        }
        let mut left = spot.left;
        left[rank] -= 1;
        let all = hands(&left);
        let mut ranks = spot.board.map(Card::rank);
        ranks[spot.cards] = rank as u8;
        let later_row = rows.row(&mut ranks[..=spot.cards]);
        let mut plain = spot.left[rank];
        for suit in 0..SUITS {
            let Some(card) = Card::new(rank as u8, suit as u8) else { continue };
            if spot.suited[suit].count_ones() != 2 || spot.alive[suit] >> rank & 1 == 0 {
                continue;
            }
            // With this card, opponents with two cards of the suit have a flush.
            plain -= 1;
            let next = spot.with(card);
            let (alive, strength) = (next.alive[suit], next.strength());
            let both = hands(&ones(alive));
            count(&mut changes, now, (later_row, strength), &all, 1);
            count(&mut changes, now, (later_row, strength), &both, -1);
            let table = Strengths::shared();
            for x in (0..RANKS).filter(|x| alive >> x & 1 == 1) {
                for y in (x + 1..RANKS).filter(|y| alive >> y & 1 == 1) {
                    let flush = table.flush(next.suited[suit] | 1 << x | 1 << y) as i16;
                    let (first, second) = (place(now.1, row[lane(x, y)]), place(strength, flush));
                    changes[first][second] = changes[first][second].wrapping_add(1);
                }
            }
        }
        count(&mut changes, now, (later_row, later_row[mine]), &all, plain);
    }
    changes
}

/// Transitions by the next card, if a suit has three or more cards on the board. Opponents are grouped by their number
/// of cards of the suit.
fn changes_by_suit(rows: &Rows, spot: &Spot, suit: usize) -> Changes {
    let table = Strengths::shared();
    let mut changes = Changes::default();
    let (row, mine_now) = (spot.row(rows), spot.strength());
    let (board_now, cards_now) = (spot.suited[suit], spot.suited[suit].count_ones());
    for rank in 0..RANKS {
        let card = |suit: usize| Card::new(rank as u8, suit as u8);
        let is_left = |suit: &usize| spot.alive[*suit] >> rank & 1 == 1;
        // Off-suit cards of a rank are equivalent: count one for all of them.
        let off = (0..SUITS).filter(|other| *other != suit).filter(is_left);
        let times = off.clone().count() as i16;
        let cards = [
            off.clone().next().and_then(card).map(|c| (c, times)),
            card(suit).filter(|_| is_left(&suit)).map(|c| (c, 1)),
        ];
        for (card, times) in cards.into_iter().flatten() {
            let next = spot.with(card);
            let (later_row, mine_later) = (next.row(rows), next.strength());
            let (board_later, cards_later) = (next.suited[suit], next.suited[suit].count_ones());
            let alive = next.alive[suit];
            let mut others = next.left;
            for (rank, n) in others.iter_mut().enumerate() {
                *n -= (alive >> rank & 1) as i16;
            }
            let none = hands(&others);
            match cards_later {
                5 => {
                    let flush = [table.flush(board_later) as i16; LANES];
                    count(&mut changes, (row, mine_now), (&flush, mine_later), &none, times);
                }
                _ => count(&mut changes, (row, mine_now), (later_row, mine_later), &none, times),
            }
            // Adds hands with this many cards of the suit, of these ranks.
            let mut add = |suited: u32, ranks: u16, lane: usize, n: i16| {
                let strength = |cards: u32, board: u16, row: &Lanes| match cards + suited {
                    0..5 => row[lane],
                    _ => table.flush(board | ranks) as i16,
                };
                let first = place(mine_now, strength(cards_now, board_now, row));
                let second = place(mine_later, strength(cards_later, board_later, later_row));
                changes[first][second] += u32::from((n * times) as u16);
            };
            for x in (0..RANKS).filter(|x| alive >> x & 1 == 1) {
                for (y, n) in others.iter().enumerate().filter(|(_, n)| **n > 0) {
                    add(1, 1 << x, lane(x, y), *n);
                }
                for y in (x + 1..RANKS).filter(|y| alive >> y & 1 == 1) {
                    add(2, 1 << x | 1 << y, lane(x, y), 1);
                }
            }
        }
    }
    changes
}

/// Transitions of hands by the next card.
pub(super) fn changes(rows: &Rows, spot: &Spot) -> Changes {
    match spot.flush_suit() {
        None => changes_by_rank(rows, spot),
        Some(suit) => changes_by_suit(rows, spot, suit),
    }
}

/// PPot and NPot (Billings, Papp, Schaeffer and Szafron 1998).
pub(super) fn potentials(changes: &Changes) -> (f64, f64) {
    let all = changes.map(|row| row.map(f64::from));
    let total = all.map(|row| row.iter().sum::<f64>());
    let ratio = |gained: f64, of: f64| if of > 0.0 { gained / of } else { 0.0 };
    let better = all[0][2] + 0.5 * all[0][1] + 0.5 * all[1][2];
    let worse = all[2][0] + 0.5 * all[1][0] + 0.5 * all[2][1];
    (ratio(better, total[0] + 0.5 * total[1]), ratio(worse, total[2] + 0.5 * total[1]))
}
