//! Strength of poker hands of five to seven cards.
//!
//! A hand is summed up incrementally: a sum that is unique to its multiset of ranks, the number of cards of each suit,
//! and the ranks of each suit. Five cards of a suit decide by the ranks of that suit. Otherwise the sum is looked up in
//! a displaced table: rows of 2048 entries overlap where they have gaps, so that 74,000 strengths take about as many
//! entries.

use super::cards::{Card, DECK};
use std::cmp::Reverse;
use std::sync::OnceLock;

/// Strength of the best five cards of a hand: the number of its class, from 0 (7-5-4-3-2) to 7461 (a royal flush).
/// Higher wins, equal ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Strength(u16);

/// Category of five cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// No combination: the highest cards count.
    HighCard,
    /// Two of a rank.
    Pair,
    /// Two pairs.
    TwoPair,
    /// Three of a rank.
    Trips,
    /// Five consecutive ranks.
    Straight,
    /// Five cards of a suit.
    Flush,
    /// Three of a rank and two of another.
    FullHouse,
    /// Four of a rank.
    Quads,
    /// Five consecutive ranks of a suit.
    StraightFlush,
}

/// Number of classes of each category.
const CLASSES: [(Category, u16); 9] = [
    (Category::HighCard, 1277),
    (Category::Pair, 2860),
    (Category::TwoPair, 858),
    (Category::Trips, 858),
    (Category::Straight, 10),
    (Category::Flush, 1277),
    (Category::FullHouse, 156),
    (Category::Quads, 156),
    (Category::StraightFlush, 10),
];

/// Number of the lowest flush: the sum of all lower classes.
const LOWEST_FLUSH: u16 = 1277 + 2860 + 858 + 858 + 10;

impl Category {
    /// Its usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::HighCard => "a high card",
            Self::Pair => "a pair",
            Self::TwoPair => "two pairs",
            Self::Trips => "three of a kind",
            Self::Straight => "a straight",
            Self::Flush => "a flush",
            Self::FullHouse => "a full house",
            Self::Quads => "four of a kind",
            Self::StraightFlush => "a straight flush",
        }
    }

    /// The category of the class with this number, from 0 to 7461.
    pub fn from_number(number: u16) -> Self {
        let mut first = 0;
        let category = CLASSES.iter().find(|(_, classes)| {
            first += classes;
            number < first
        });
        category.map_or(Self::StraightFlush, |(category, _)| *category)
    }
}

impl Strength {
    /// Category of the best five cards.
    pub fn category(self) -> Category {
        Category::from_number(self.0)
    }

    /// Number of the class, from 0 to 7461.
    pub fn number(self) -> u16 {
        self.0
    }
}

const SUITS: usize = 4;
const RANKS: usize = 13;

/// Keys of ranks. Sums of at most seven of them, each at most four times, are unique among multisets of the same size.
const KEYS: [u32; RANKS] = [0, 1, 5, 22, 98, 453, 2031, 8698, 22854, 83661, 262_349, 636_345, 1_479_181];

/// Added for each card so that sums of five, six and seven cards differ: more than the largest sum of seven keys.
const SIZE: u64 = 1 << 23;
/// Range of hashed sums. A quarter of it is for each hand size.
const PLACES: u64 = 1 << 25;
/// Odd factor that scrambles sums, for an evenly filled table.
const SPREAD: u64 = 0x9E37_79B1;

/// The table index of a sum of five to seven entries of [`ADDS`].
#[inline]
fn place(sum: u64) -> u32 {
    (sum & (PLACES - 1)) as u32
}

/// Contribution of a rank to the sum of a hand. Seven of them stay below 32 bits.
const fn added(rank: usize) -> u64 {
    (KEYS[rank] as u64 + SIZE).wrapping_mul(SPREAD) % PLACES
}

/// Contribution of each card: its rank's key in the lowest 32 bits, then four bits per suit for the number of its
/// cards; and its rank, sixteen bits per suit. The table has 256 entries so that no index is out of range.
static ADDS: [(u64, u64); 256] = {
    let mut adds = [(0, 0); 256];
    let mut number = 0;
    while number < DECK {
        let (rank, suit) = (number / SUITS, number % SUITS);
        adds[number] = (added(rank) | 1 << (32 + 4 * suit), 1 << (16 * suit + rank));
        number += 1;
    }
    adds
};

/// A hand of at most seven cards, built card by card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hand {
    /// Sum of `ADDS`. Suit counts begin at 3, so that bit 3 flags five or more.
    sum: u64,
    /// Ranks of each suit, sixteen bits per suit.
    ranks: u64,
}

impl Default for Hand {
    fn default() -> Self {
        Self { sum: 0x3333 << 32, ranks: 0 }
    }
}

impl Hand {
    /// The hand with one more card, which must not be in it yet.
    #[inline]
    #[must_use]
    pub fn with(self, card: Card) -> Self {
        let (add, rank) = ADDS[usize::from(card.byte())];
        Self { sum: self.sum + add, ranks: self.ranks | rank }
    }

    /// The hand of these cards.
    pub fn from_cards(cards: &[Card]) -> Self {
        cards.iter().fold(Self::default(), |hand, card| hand.with(*card))
    }

    /// Number of cards.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranks.count_ones() as usize
    }

    /// Whether there are no cards.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Lookup tables for the strength of a hand.
pub struct Strengths {
    /// Strength of a flush by its ranks.
    flushes: Box<[u16; 1 << RANKS]>,
    /// Strengths of five, six and seven cards without a flush, by their hashed sum.
    plain: Displaced,
}

/// A sparse table: rows of 2048 entries that overlap where they have gaps.
struct Displaced {
    /// For each row, the offset from its indices to those of `values`, modulo 2³².
    rows: Box<[u32; ROWS]>,
    values: Box<[u16; VALUES]>,
}

const COLUMN_BITS: u32 = 11;
/// Powers of two, so that masked indices are in range.
const ROWS: usize = PLACES as usize >> COLUMN_BITS;
const VALUES: usize = 1 << 17;

impl Displaced {
    /// Builds a table of these indices and values; the fullest rows are placed first. None if they do not fit.
    fn from_entries(entries: &[(u32, u16)]) -> Option<Self> {
        let mut rows: Vec<Vec<(usize, u16)>> = vec![Vec::new(); ROWS];
        for &(place, value) in entries {
            let row = rows.get_mut((place >> COLUMN_BITS) as usize)?;
            row.push((place as usize & ((1 << COLUMN_BITS) - 1), value));
        }
        let mut order: Vec<usize> = (0..ROWS).filter(|&r| !rows[r].is_empty()).collect();
        order.sort_by_key(|&r| Reverse(rows[r].len()));
        let mut table = Self { rows: Box::new([0; ROWS]), values: boxed(vec![0; VALUES])? };
        // One bit per occupied value, with padding for reads beyond the end.
        let mut taken = vec![0u64; VALUES / 64 + (1 << COLUMN_BITS) / 64 + 2];
        for r in order {
            let start = first_fit(&taken, &rows[r])?;
            table.rows[r] = (start as u32).wrapping_sub((r as u32) << COLUMN_BITS);
            for &(column, value) in &rows[r] {
                let at = start + column;
                *table.values.get_mut(at)? = value;
                taken[at / 64] |= 1 << (at % 64);
            }
        }
        Some(table)
    }

    #[inline]
    fn get(&self, place: u32) -> u16 {
        let shift = self.rows[(place >> COLUMN_BITS) as usize & (ROWS - 1)];
        self.values[place.wrapping_add(shift) as usize & (VALUES - 1)]
    }
}

fn boxed<const N: usize>(values: Vec<u16>) -> Option<Box<[u16; N]>> {
    values.into_boxed_slice().try_into().ok()
}

/// The first offset at which no value of the row is occupied, searching 64 offsets at a time.
fn first_fit(taken: &[u64], row: &[(usize, u16)]) -> Option<usize> {
    let from = |at: usize| {
        let (word, bit) = (at / 64, at % 64);
        // Two shifts, because a shift by 64 is invalid.
        taken[word] >> bit | taken[word + 1] << 1 << (63 - bit)
    };
    (0..VALUES).step_by(64).find_map(|start| {
        let mut used = 0;
        for (column, _) in row {
            used |= from(start + column);
            if used == u64::MAX {
                return None;
            }
        }
        Some(start + used.trailing_ones() as usize)
    })
}

impl Strengths {
    /// The shared tables, built once in some milliseconds.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Strengths> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    fn new() -> Self {
        // All classes of five cards in ascending order.
        let mut classes: Vec<Order> = Vec::new();
        each_multiset(5, &mut |counts| classes.push(order_of(counts)));
        each_set_of_five(&mut |ranks| classes.push(order_of_flush(ranks)));
        classes.sort_unstable();
        classes.dedup();
        let number = |order: Order| classes.partition_point(|class| *class < order) as u16;
        let mut flushes = Box::new([0; 1 << RANKS]);
        for ranks in (0u16..1 << RANKS).filter(|ranks| (5..=7).contains(&ranks.count_ones())) {
            flushes[usize::from(ranks)] = number(order_of_flush(ranks));
        }
        let mut entries = Vec::new();
        for cards in 5..=7u8 {
            each_multiset(cards, &mut |counts| {
                let adds = counts.iter().enumerate().map(|(rank, n)| u64::from(*n) * added(rank));
                entries.push((place(adds.sum()), number(order_of(counts))));
            });
        }
        let plain = Displaced::from_entries(&entries).expect("the table has room for all hands");
        Self { flushes, plain }
    }

    /// The strength of five to seven cards without a flush, by the number of cards of each rank.
    pub(super) fn without_flush(&self, counts: &[u8; RANKS]) -> u16 {
        let adds = counts.iter().enumerate().map(|(rank, n)| u64::from(*n) * added(rank));
        self.plain.get(place(adds.sum()))
    }

    /// The strength of five to seven cards of a suit, by their ranks.
    #[inline]
    pub(super) fn flush(&self, ranks: u16) -> u16 {
        self.flushes[usize::from(ranks) & ((1 << RANKS) - 1)]
    }

    /// The strength of the lowest flush.
    #[inline]
    pub(super) fn lowest_flush() -> u16 {
        LOWEST_FLUSH
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.flushes) + size_of_val(&*self.plain.rows) + size_of_val(&*self.plain.values)
    }

    /// The strength of a hand of five to seven cards. The result is unspecified for other sizes.
    #[inline]
    pub fn strength(&self, hand: &Hand) -> Strength {
        let full = hand.sum & 0x8888 << 32;
        if full != 0 {
            // Seven cards with a flush have neither four of a kind nor a full house.
            let suit = (full.trailing_zeros() - 32) / 4;
            return Strength(self.flushes[(hand.ranks >> (16 * suit)) as usize & ((1 << RANKS) - 1)]);
        }
        Strength(self.plain.get(place(hand.sum)))
    }
}

/// Sort key of hands: the category, then ranks, most frequent and highest first, four bits each.
type Order = u32;

fn order(category: Category, ranks: impl IntoIterator<Item = usize>) -> Order {
    let ranks = ranks.into_iter().chain(std::iter::repeat(0)).take(5);
    ranks.fold(category as u32, |order, rank| order << 4 | rank as u32)
}

/// The highest rank of five consecutive ones; an ace also counts below the deuce.
fn straight(ranks: u16) -> Option<usize> {
    let with_ace = u32::from(ranks) << 1 | u32::from(ranks) >> (RANKS - 1);
    (4..=RANKS).rev().find(|&top| with_ace >> (top - 4) & 31 == 31).map(|top| top - 1)
}

fn order_of_flush(ranks: u16) -> Order {
    match straight(ranks) {
        Some(top) => order(Category::StraightFlush, [top]),
        None => order(Category::Flush, (0..RANKS).rev().filter(|r| ranks >> r & 1 == 1).take(5)),
    }
}

/// The sort key of the best five cards without a flush, by the number of cards of each rank.
fn order_of(counts: &[u8; RANKS]) -> Order {
    let of = |least: u8| (0..RANKS).rev().filter(move |&rank| counts[rank] >= least);
    let without =
        |taken: [Option<usize>; 2], many: usize| of(1).filter(move |r| !taken.contains(&Some(*r))).take(many);
    let ranks = of(1).fold(0u16, |ranks, rank| ranks | 1 << rank);
    let (quads, trips) = (of(4).next(), of(3).next());
    let pairs: Vec<usize> = of(2).filter(|rank| Some(*rank) != trips).take(2).collect();
    match (quads, trips, &pairs[..], straight(ranks)) {
        (Some(quads), ..) => {
            order(Category::Quads, [quads].into_iter().chain(without([Some(quads), None], 1)))
        }
        (None, Some(trips), [pair, ..], _) => order(Category::FullHouse, [trips, *pair]),
        (None, _, _, Some(top)) => order(Category::Straight, [top]),
        (None, Some(trips), [], None) => {
            order(Category::Trips, [trips].into_iter().chain(without([Some(trips), None], 2)))
        }
        (None, None, [high, low, ..], None) => {
            order(Category::TwoPair, [*high, *low].into_iter().chain(without([Some(*high), Some(*low)], 1)))
        }
        (None, None, [pair], None) => {
            order(Category::Pair, [*pair].into_iter().chain(without([Some(*pair), None], 3)))
        }
        (None, None, [], None) => order(Category::HighCard, of(1).take(5)),
    }
}

/// Calls `each` with every multiset of `cards` ranks, each at most four times.
fn each_multiset(cards: u8, each: &mut impl FnMut(&[u8; RANKS])) {
    fn fill(rank: usize, left: u8, counts: &mut [u8; RANKS], each: &mut impl FnMut(&[u8; RANKS])) {
        if rank == RANKS {
            if left == 0 {
                each(counts);
            }
            return;
        }
        for n in 0..=left.min(SUITS as u8) {
            counts[rank] = n;
            fill(rank + 1, left - n, counts, each);
        }
        counts[rank] = 0;
    }
    fill(0, cards, &mut [0; RANKS], each);
}

fn each_set_of_five(each: &mut impl FnMut(u16)) {
    (0u16..1 << RANKS).filter(|ranks| ranks.count_ones() == 5).for_each(each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::holdem::cards::parse_cards;
    use std::collections::HashMap;

    fn strength(text: &str) -> Strength {
        Strengths::shared().strength(&Hand::from_cards(&parse_cards(text).unwrap()))
    }

    #[test]
    fn keys_tell_multisets_of_a_size_apart() {
        for (cards, many) in [(5, 6175), (6, 18_395), (7, 49_205)] {
            let mut keys = HashMap::new();
            each_multiset(cards, &mut |counts| {
                let key: u32 = counts.iter().zip(KEYS).map(|(n, key)| u32::from(*n) * key).sum();
                assert!(keys.insert(key, *counts).is_none(), "{counts:?}");
            });
            assert_eq!(keys.len(), many);
        }
        assert!(u64::from(4 * KEYS[12] + 3 * KEYS[11]) < SIZE);
        // Few entries are wasted.
        let used = Strengths::shared().plain.values.iter().rposition(|v| *v > 0).unwrap();
        assert!(used < 90_000, "{used}");
    }

    #[test]
    fn classes_have_the_known_numbers() {
        assert_eq!(CLASSES.iter().map(|(_, n)| n).sum::<u16>(), 7462);
        assert_eq!(strength("7c 5d 4h 3s 2c").number(), 0);
        assert_eq!(strength("As Ks Qs Js Ts").number(), 7461);
    }

    /// All five-card hands by category: the counts are known.
    #[test]
    fn all_hands_of_five_cards() {
        let (all, table): (Vec<Card>, _) = (Card::all().collect(), Strengths::shared());
        let mut counts = HashMap::new();
        for a in 0..52 {
            for b in 0..a {
                for c in 0..b {
                    let three = Hand::from_cards(&[all[a], all[b], all[c]]);
                    for d in 0..c {
                        let four = three.with(all[d]);
                        for card in &all[..d] {
                            *counts.entry(table.strength(&four.with(*card)).category()).or_insert(0u32) += 1;
                        }
                    }
                }
            }
        }
        let expected = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5108, 3744, 624, 40];
        for ((category, _), n) in CLASSES.iter().zip(expected) {
            assert_eq!(counts[category], n, "{category:?}");
        }
    }

    /// Compares six and seven cards with the best of all five-card subsets.
    #[test]
    fn more_cards_have_the_strength_of_their_best_five() {
        use adept_game::stream;
        use rand::RngExt;
        let (mut rng, table) = (stream(1, "hands", 0), Strengths::shared());
        for _ in 0..20_000 {
            let mut deck: Vec<Card> = Card::all().collect();
            let cards: Vec<Card> =
                (0..7).map(|_| deck.swap_remove(rng.random_range(0..deck.len()))).collect();
            let best = |cards: &[Card]| {
                let sets = (0u32..1 << cards.len()).filter(|set| set.count_ones() == 5);
                let hand = |set: u32| {
                    let chosen = cards.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                    chosen.fold(Hand::default(), |hand, (_, card)| hand.with(*card))
                };
                sets.map(|set| table.strength(&hand(set))).max().unwrap()
            };
            assert_eq!(table.strength(&Hand::from_cards(&cards)), best(&cards), "{cards:?}");
            assert_eq!(table.strength(&Hand::from_cards(&cards[..6])), best(&cards[..6]), "{cards:?}");
        }
    }

    #[test]
    fn golden_hands() {
        use Category::*;
        for (text, category) in [
            ("Ah Kd 9c 7s 5h 3d 2c", HighCard),
            ("Ah Ad 9c 7s 5h 3d 2c", Pair),
            ("Ah Ad 9c 9s 5h 5d 2c", TwoPair),
            ("Ah Ad Ac 9s 7h 5d 2c", Trips),
            ("Ah 2d 3c 4s 5h Kd Kc", Straight),
            ("Ah 3h 5h 9h Jh Js Jd", Flush),
            ("Ah Ad Ac 9s 9h 9d 2c", FullHouse),
            ("Ah Ad Ac As 9h 9d 9c", Quads),
            ("5h 4h 3h 2h Ah Kh Qh", StraightFlush),
        ] {
            assert_eq!(strength(text).category(), category, "{text}");
        }
        // The wheel is the lowest straight; straights do not wrap around the ace.
        assert!(strength("Ah 2d 3c 4s 5h") < strength("2d 3c 4s 5h 6h"));
        assert_eq!(strength("Qh Kd Ac 2s 3h").category(), HighCard);
        assert!(strength("Ah Ad Kc Kd 2h") > strength("Ah Ad Qc Qd Kh"));
        assert_eq!(strength("Ah Ad Kc Kd 2h 3c 4d"), strength("As Ac Ks Kh 4h 2c 3d"));
    }
}
