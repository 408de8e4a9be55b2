//! Exact chances against one opponent with uniformly random cards, by enumeration.
//!
//! Most hands differ only by ranks. For each multiset of ranks on the board there is a row with the strength of all 91 pairs of
//! ranks, and the opponents are counted by their pair: two short loops in place of a thousand lookups. Only where a board has
//! three cards of a suit, hands with that suit are counted again.

use super::cards::Card;
#[cfg(test)]
use super::cards::CardSet;
use super::strength::{Hand, Strengths};
use std::cell::RefCell;
use std::sync::OnceLock;

const RANKS: usize = 13;
const SUITS: usize = 4;
/// Pairs of ranks, (0, 0), (0, 1), … (12, 12), and room to a multiple of 32.
const LANES: usize = 96;

/// A number for each pair of ranks.
type Lanes = [i16; LANES];

/// Cards that may still come, by rank.
type Counts = [i16; RANKS];

/// The place of a pair of ranks.
const fn lane(a: usize, b: usize) -> usize {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    low * RANKS - low * (low + 1) / 2 + high
}

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

/// The strengths of all pairs of ranks, for each multiset of ranks of three to five cards on the board, without flushes.
struct Rows([Vec<Lanes>; 3]);

/// Binomial coefficients C(n, k) for k up to 5.
const fn choose(n: usize, k: usize) -> usize {
    let (mut result, mut i) = (1, 0);
    while i < k {
        result = result * (n - i) / (i + 1);
        i += 1;
    }
    result
}

/// What a rank adds to the number of a multiset of ranks, by its place in ascending order.
static PLACES: [[u16; RANKS]; 5] = {
    let mut places = [[0; RANKS]; 5];
    let mut k = 0;
    while k < 5 {
        let mut rank = 0;
        while rank < RANKS {
            places[k][rank] = if rank + k < k + 1 { 0 } else { choose(rank + k, k + 1) as u16 };
            rank += 1;
        }
        k += 1;
    }
    places
};

/// The number of a multiset of ranks, which are in ascending order.
#[inline]
fn number(ranks: &[u8]) -> usize {
    let mut number = 0;
    for k in 0..ranks.len() {
        number += usize::from(PLACES[k][usize::from(ranks[k])]);
    }
    number
}

impl Rows {
    fn shared() -> &'static Self {
        static SHARED: OnceLock<Rows> = OnceLock::new();
        SHARED.get_or_init(|| Self([3, 4, 5].map(Self::of_boards)))
    }

    fn of_boards(cards: usize) -> Vec<Lanes> {
        let table = Strengths::shared();
        let mut rows = vec![[0; LANES]; choose(RANKS + cards - 1, cards)];
        let mut ranks = vec![0u8; cards];
        loop {
            let mut counts = [0u8; RANKS];
            ranks.iter().for_each(|rank| counts[usize::from(*rank)] += 1);
            if counts.iter().all(|n| *n <= 4) {
                let row = &mut rows[number(&ranks)];
                for a in 0..RANKS {
                    for b in a..RANKS {
                        let mut counts = counts;
                        counts[a] += 1;
                        counts[b] += 1;
                        if counts.iter().all(|n| *n <= 4) {
                            row[lane(a, b)] = table.without_flush(&counts) as i16;
                        }
                    }
                }
            }
            // The next multiset in ascending order.
            let Some(last) = ranks.iter().rposition(|rank| usize::from(*rank) + 1 < RANKS) else { break };
            let next = ranks[last] + 1;
            ranks[last..].fill(next);
        }
        rows
    }

    #[inline]
    fn row(&self, ranks: &mut [u8]) -> &Lanes {
        // Insertion: there are at most five.
        for k in 1..ranks.len() {
            let mut at = k;
            while at > 0 && ranks[at - 1] > ranks[at] {
                ranks.swap(at - 1, at);
                at -= 1;
            }
        }
        &self.0[ranks.len() - 3][number(ranks)]
    }
}

// The loops below count by places, because iterators would not be inlined everywhere.

/// The number of hands of each pair of ranks.
#[inline]
fn hands(counts: &Counts) -> Lanes {
    let mut lanes = [0; LANES];
    let mut at = 0;
    for a in 0..RANKS {
        let n = counts[a];
        lanes[at] = n * (n - 1) / 2;
        for b in a + 1..RANKS {
            lanes[at + b - a] = n * counts[b];
        }
        at += RANKS - a;
    }
    lanes
}

/// All bits or none, so that loops need no branches.
#[inline(always)]
fn when(condition: bool) -> i16 {
    -i16::from(condition)
}

/// Twice the number of hands below `mine`, and once those equal to it.
#[inline(never)]
fn points(row: &Lanes, hands: &Lanes, mine: i16) -> i32 {
    let (mut below, mut up_to) = (0i16, 0i16);
    for k in 0..LANES {
        below += hands[k] & when(row[k] < mine);
        up_to += hands[k] & when(row[k] <= mine);
    }
    i32::from(below) + i32::from(up_to)
}

/// Own cards, a board, and what is left in the deck.
#[derive(Clone, Copy, Debug)]
struct Spot {
    hole: [Card; 2],
    board: [Card; 5],
    cards: usize,
    /// Cards left, by rank.
    left: Counts,
    /// Ranks left of each suit.
    alive: [u16; SUITS],
    /// Ranks on the board of each suit.
    suited: [u16; SUITS],
    /// Own ranks of each suit.
    own: [u16; SUITS],
}

impl Spot {
    fn new(hole: [Card; 2], board: &[Card]) -> Self {
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

    fn with(&self, card: Card) -> Self {
        let mut next = *self;
        next.put(card);
        next
    }

    /// The cards that may come.
    fn rest(&self) -> impl Iterator<Item = Card> + '_ {
        Card::all().filter(|card| self.alive[usize::from(card.suit())] >> card.rank() & 1 == 1)
    }

    #[inline]
    fn row<'r>(&self, rows: &'r Rows) -> &'r Lanes {
        let mut ranks = [0; 5];
        for (rank, card) in ranks.iter_mut().zip(&self.board) {
            *rank = card.rank();
        }
        rows.row(&mut ranks[..self.cards])
    }

    fn lane(&self) -> usize {
        lane(self.hole[0].rank().into(), self.hole[1].rank().into())
    }

    fn strength(&self) -> i16 {
        let hand = Hand::of(&self.hole);
        let hand = self.board[..self.cards].iter().fold(hand, |hand, card| hand.with(*card));
        Strengths::shared().of(&hand).number() as i16
    }

    /// The suit with three or more cards on the board.
    fn flush_suit(&self) -> Option<usize> {
        (0..SUITS).find(|suit| self.suited[*suit].count_ones() >= 3)
    }

    /// Points against all opponents on this board: two for a hand that loses, one for one that shares.
    fn points(&self, rows: &Rows) -> i32 {
        let (row, all) = (self.row(rows), hands(&self.left));
        match self.flush_suit() {
            None => points(row, &all, self.strength()),
            Some(suit) => {
                self.points_by_suit(suit, row, &all, &hands(&ones(self.alive[suit])), self.strength())
            }
        }
    }

    /// The same on a board with three or more cards of a suit. `all` are all hands that may be dealt, `both` those of two cards
    /// of the suit.
    fn points_by_suit(&self, suit: usize, row: &Lanes, all: &Lanes, both: &Lanes, mine: i16) -> i32 {
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
        // Flushes win against all that is less.
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

/// One card for each rank in the set.
#[inline]
fn ones(ranks: u16) -> Counts {
    let mut counts = [0; RANKS];
    for (rank, n) in counts.iter_mut().enumerate() {
        *n = (ranks >> rank & 1) as i16;
    }
    counts
}

/// The exact expected share of the pot on the flop: all turns, rivers and hands of the opponent.
fn flop_equity(rows: &Rows, spot: &Spot) -> f64 {
    let mine = spot.lane();
    let flop = [0, 1, 2].map(|k: usize| spot.board[k].rank());
    // By the ranks of turn and river, as if there were no flushes.
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
    // Boards with three of a suit, once more.
    for suit in 0..SUITS {
        let needed = 3usize.saturating_sub(spot.suited[suit].count_ones() as usize);
        if needed > 2 {
            continue;
        }
        let mut turned = (usize::MAX, u16::MAX);
        let mut both = [0; LANES];
        for turn in spot.rest() {
            let turn_fits = usize::from(turn.suit()) == suit;
            // Pairs of turn and river of which enough have the suit; those with one of the suit begin with it.
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
                // Off the suit only the rank counts: one card stands for all of it.
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
                    // Nothing changes but that hands with two cards of the suit win.
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

/// Pairs of (now, after the next card), each behind, tied or ahead.
type Changes = [[u32; 3]; 3];

fn place(mine: i16, other: i16) -> usize {
    match other.cmp(&mine) {
        std::cmp::Ordering::Greater => 0,
        std::cmp::Ordering::Equal => 1,
        std::cmp::Ordering::Less => 2,
    }
}

/// Counts hands of `n` by where they are now and later.
#[inline(never)]
fn count(changes: &mut Changes, now: (&Lanes, i16), later: (&Lanes, i16), n: &Lanes, times: i16) {
    // Hands below and up to the own strength now, later, and both; all others follow from these.
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
    // Behind is 0, tied 1, ahead 2; ahead now are the hands below.
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

/// Changes by the next card, if no suit has three cards on the board yet.
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
            // With this card, opponents with two of the suit have a flush.
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

/// Changes by the next card, hand by hand.
fn changes_one_by_one(spot: &Spot) -> Changes {
    let table = Strengths::shared();
    let mut changes = Changes::default();
    let board = spot.board[..spot.cards].iter().fold(Hand::default(), |hand, card| hand.with(*card));
    let own = |board: Hand| table.of(&board.with(spot.hole[0]).with(spot.hole[1])).number() as i16;
    let rest: Vec<Card> = spot.rest().collect();
    let later: Vec<(Hand, i16)> =
        rest.iter().map(|card| (board.with(*card), own(board.with(*card)))).collect();
    let mine = own(board);
    for (i, a) in rest.iter().enumerate() {
        for (j, b) in rest.iter().enumerate().skip(i + 1) {
            let first = place(mine, table.of(&board.with(*a).with(*b)).number() as i16);
            let (mut below, mut up_to) = (0, 0);
            for (k, (board, mine)) in later.iter().enumerate() {
                let other = table.of(&board.with(*a).with(*b)).number() as i16;
                // The opponent's cards cannot come.
                let may_come = k != i && k != j;
                below += u32::from(may_come && other < *mine);
                up_to += u32::from(may_come && other <= *mine);
            }
            let all = later.len() as u32 - 2;
            let found = [all - up_to, up_to - below, below];
            for second in 0..3 {
                changes[first][second] += found[second];
            }
        }
    }
    changes
}

/// PPot and NPot (Billings, Papp, Schaeffer and Szafron 1998).
fn potentials(changes: &Changes) -> (f64, f64) {
    let all = changes.map(|row| row.map(f64::from));
    let total = all.map(|row| row.iter().sum::<f64>());
    let ratio = |gained: f64, of: f64| if of > 0.0 { gained / of } else { 0.0 };
    let better = all[0][2] + 0.5 * all[0][1] + 0.5 * all[1][2];
    let worse = all[2][0] + 0.5 * all[1][0] + 0.5 * all[2][1];
    (ratio(better, total[0] + 0.5 * total[1]), ratio(worse, total[2] + 0.5 * total[1]))
}

/// What own cards are worth on a board of three to five cards, by enumeration; see [`worth`] for a cache.
pub fn enumerate(hole: [Card; 2], board: &[Card]) -> Worth {
    let (rows, spot) = (Rows::shared(), Spot::new(hole, board));
    let now = now_of(rows, &spot);
    if board.len() == 5 {
        return Worth { now, equity: now, better: 0.0, worse: 0.0 };
    }
    let changes = match spot.flush_suit() {
        None => changes_by_rank(rows, &spot),
        Some(_) => changes_one_by_one(&spot),
    };
    let (better, worse) = potentials(&changes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::holdem::parse_cards;
    use adept_game::stream;
    use rand::RngExt;

    fn two(text: &str) -> [Card; 2] {
        parse_cards(text).unwrap().try_into().unwrap()
    }

    /// Points on this board, hand by hand.
    fn plain_points(hole: [Card; 2], board: &[Card]) -> i32 {
        let table = Strengths::shared();
        let on = |cards: [Card; 2]| {
            board.iter().chain(&cards).fold(Hand::default(), |hand, card| hand.with(*card))
        };
        let seen: CardSet = board.iter().chain(&hole).copied().collect();
        let rest: Vec<Card> = Card::all().filter(|card| !seen.contains(*card)).collect();
        let mine = table.of(&on(hole));
        let mut sum = 0;
        for (i, a) in rest.iter().enumerate() {
            for b in &rest[i + 1..] {
                let other = table.of(&on([*a, *b]));
                sum += i32::from(other < mine) + i32::from(other <= mine);
            }
        }
        sum
    }

    fn draw(rng: &mut adept_game::Stream, cards: usize, suits: u8) -> Vec<Card> {
        let mut seen = CardSet::EMPTY;
        let mut drawn = Vec::new();
        while drawn.len() < cards {
            let card = Card::new(rng.random_range(0..13), rng.random_range(0..suits)).unwrap();
            if !seen.contains(card) {
                seen.insert(card);
                drawn.push(card);
            }
        }
        drawn
    }

    #[test]
    fn counting_by_ranks_is_counting_hands() {
        let mut rng = stream(1, "boards", 0);
        for round in 0..400 {
            // Few suits make flushes frequent.
            let cards = draw(&mut rng, 2 + 3 + round % 3, 1 + (round % 4) as u8);
            let hole = [cards[0], cards[1]];
            let spot = Spot::new(hole, &cards[2..]);
            assert_eq!(spot.points(Rows::shared()), plain_points(hole, &cards[2..]), "{cards:?}");
        }
    }

    #[test]
    fn the_flop_is_the_mean_of_all_turns_and_rivers() {
        let mut rng = stream(2, "flops", 0);
        let rows = Rows::shared();
        for round in 0..40 {
            let cards = draw(&mut rng, 5, 1 + (round % 4) as u8);
            let spot = Spot::new([cards[0], cards[1]], &cards[2..]);
            let mut sum = 0i64;
            for turn in spot.rest() {
                let next = spot.with(turn);
                sum += next
                    .rest()
                    .filter(|river| turn < *river)
                    .map(|r| i64::from(next.with(r).points(rows)))
                    .sum::<i64>();
            }
            let expected = sum as f64 / (1081.0 * 990.0 * 2.0);
            assert_eq!(flop_equity(rows, &spot), expected, "{cards:?}");
        }
    }

    #[test]
    fn changes_are_the_same_one_by_one() {
        let mut rng = stream(3, "changes", 0);
        let mut seen = 0;
        for round in 0..60 {
            let cards = draw(&mut rng, 5 + round % 2, 2 + (round % 3) as u8);
            let spot = Spot::new([cards[0], cards[1]], &cards[2..]);
            if spot.flush_suit().is_none() {
                seen += 1;
                assert_eq!(changes_by_rank(Rows::shared(), &spot), changes_one_by_one(&spot), "{cards:?}");
            }
        }
        assert!(seen > 20);
    }

    /// Billings et al. (1998): A♦Q♣ on 3♥4♣J♥ is ahead of 58.5 % of all hands. One card ahead, its potentials are .108 and .145.
    #[test]
    fn potentials_of_the_paper() {
        let worth = worth(two("AdQc"), &parse_cards("3h4cJh").unwrap());
        assert!((worth.now - 0.585).abs() < 5e-4, "{worth:?}");
        assert!((worth.better - 0.108).abs() < 5e-4 && (worth.worse - 0.145).abs() < 5e-4, "{worth:?}");
    }

    /// Known figures of all-in hands against random ones.
    #[test]
    fn equities_before_the_flop_are_known() {
        for (cards, expected) in [
            ("AsAh", 0.8520),
            ("KsKh", 0.8240),
            ("AsKs", 0.6704),
            ("7s2h", 0.3458),
            ("3s2h", 0.3230),
            ("JsTs", 0.5753),
        ] {
            assert!((preflop(two(cards)) - expected).abs() < 6e-5, "{cards}: {}", preflop(two(cards)));
        }
    }

    /// One class of hands by enumeration of its flops; the table was made like this.
    #[test]
    fn before_the_flop_is_the_mean_of_all_flops() {
        let hole = two("8s6s");
        assert_eq!(points_before_the_flop(hole), u64::from(PREFLOP[4][6]));
    }

    /// Points before the flop, by all classes of flops.
    fn points_before_the_flop(hole: [Card; 2]) -> u64 {
        let rows = Rows::shared();
        let spot = Spot::new(hole, &[]);
        let rest: Vec<Card> = spot.rest().collect();
        let mut classes: std::collections::HashMap<Class, (f64, Vec<Card>)> =
            std::collections::HashMap::new();
        for (i, a) in rest.iter().enumerate() {
            for (j, b) in rest.iter().enumerate().skip(i + 1) {
                for c in &rest[j + 1..] {
                    classes.entry(class_of(hole, &[*a, *b, *c])).or_insert((0.0, vec![*a, *b, *c])).0 += 1.0;
                }
            }
        }
        let equity = |flop: &[Card]| flop_equity(rows, &Spot::new(hole, flop));
        let sum: f64 = classes.values().map(|(n, flop)| n * equity(flop)).sum();
        // Flop, turn and river in any order: each board comes ten times.
        (sum * 1081.0 * 990.0 * 2.0 / 10.0).round() as u64
    }
}
