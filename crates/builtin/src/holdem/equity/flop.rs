//! The exact expected share of the pot on the flop.

use super::rows::{LANES, RANKS, Rows, SUITS, hands, lane, ones, points};
use super::spot::Spot;
use crate::holdem::strength::Strengths;

/// The exact expected share of the pot on the flop: all turns, rivers and hands of the opponent.
pub(super) fn flop_equity(rows: &Rows, spot: &Spot) -> f64 {
    let mine = spot.lane();
    let flop = [0, 1, 2].map(|k: usize| spot.board[k].rank());
    // Sums over the ranks of turn and river, as if there were no flushes.
    let mut all = [[0; LANES]; LANES];
    let mut plain = [0i32; LANES];
    let mut sum = 0i64;
    for t in 0..RANKS {
        for r in t..RANKS {
            let mut left = spot.left;
            let ways = if t == r { left[t] * (left[t] - 1) / 2 } else { left[t] * left[r] };
            if ways <= 0 {
                continue;
            }
            left[t] -= 1;
            left[r] -= 1;
            let row = rows.row(&mut [flop[0], flop[1], flop[2], t as u8, r as u8]);
            let at = lane(t, r);
            all[at] = hands(&left);
            plain[at] = points(row, &all[at], row[mine]);
            sum += i64::from(ways) * i64::from(plain[at]);
        }
    }
    // Corrects the sums for boards with three cards of a suit.
    for suit in 0..SUITS {
        let needed = 3usize.saturating_sub(spot.suited[suit].count_ones() as usize);
        if needed > 2 {
            continue;
        }
        let mut turned = (usize::MAX, u16::MAX);
        let mut both = [0; LANES];
        for turn in spot.rest() {
            let turn_fits = usize::from(turn.suit()) == suit;
            // Ordered pairs of turn and river with enough cards of the suit; with one such card, it comes first.
            if needed > 0 && !turn_fits {
                continue;
            }
            let next = spot.with(turn);
            for river in next.rest() {
                let river_fits = usize::from(river.suit()) == suit;
                let ordered = turn < river || needed == 1 && !river_fits;
                if needed == 2 && !river_fits || !ordered {
                    continue;
                }
                // Off-suit cards of a rank are equivalent: count one for all of them.
                let mut times = 1;
                if needed == 1 && !river_fits {
                    let rank = river.rank();
                    let off = |s: &usize| *s != suit && next.alive[*s] >> rank & 1 == 1;
                    if (0..usize::from(river.suit())).any(|s| off(&s)) {
                        continue;
                    }
                    times = (0..SUITS).filter(off).count() as i64;
                }
                let board = next.with(river);
                let at = lane(turn.rank().into(), river.rank().into());
                if turned != (suit, board.alive[suit]) {
                    turned = (suit, board.alive[suit]);
                    both = hands(&ones(board.alive[suit]));
                }
                let row = board.row(rows);
                let own = board.suited[suit] | board.own[suit];
                let has_flush = own.count_ones() >= 5;
                let lowest = Strengths::lowest_flush() as i16;
                if board.suited[suit].count_ones() == 3 && !has_flush && row[mine] < lowest {
                    // Without a flush of the player, the only change is that opponents with two cards of the suit win.
                    sum -= times * i64::from(points(row, &both, row[mine]));
                    continue;
                }
                let strength = if has_flush { board.strength() } else { row[mine] };
                let found = board.points_by_suit(suit, row, &all[at], &both, strength);
                sum += times * i64::from(found - plain[at]);
            }
        }
    }
    // 1081 turns and rivers, 990 hands, two points each.
    sum as f64 / (1081.0 * 990.0 * 2.0)
}
