//! Flags of a hand that rules can test.

use super::super::cards::Card;

/// Declares the flags, one bit each, with their names in rule files.
macro_rules! flags {
    ($($name:ident = $text:literal,)+) => {
        /// A Boolean property of the cards or the game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Flag {
            $(#[doc = $text] $name,)+
        }

        /// All flags with their names.
        pub(super) const FLAGS: &[(Flag, &str)] = &[$((Flag::$name, $text),)+];
    };
}

flags! {
    Pair = "pair",
    PairInHole = "pair-in-hole",
    HighPair = "high-pair",
    TopPair = "top-pair",
    PairWithOvercard = "pair-with-overcard",
    TwoOvercards = "2-overcards",
    TopTwoPair = "top-2-pair",
    TwoPair = "2-pair",
    Trips = "trips",
    FullHouse = "full-house",
    Quads = "4-of-a-kind",
    Straight = "straight",
    FourStraight = "4-straight",
    InsideStraight = "inside-straight",
    ThreeFlush = "3-flush",
    FourFlush = "4-flush",
    Flush = "flush",
    PairOnBoard = "pair-on-board",
    TwoPairOnBoard = "2-pair-on-board",
    TripsOnBoard = "trips-on-board",
    FullHouseOnBoard = "full-house-on-board",
    QuadsOnBoard = "4-of-a-kind-on-board",
    ThreeStraightOnBoard = "3-straight-on-board",
    FourStraightOnBoard = "4-straight-on-board",
    StraightOnBoard = "straight-on-board",
    ThreeFlushOnBoard = "3-flush-on-board",
    FourFlushOnBoard = "4-flush-on-board",
    FlushOnBoard = "flush-on-board",
    BlankOnBoard = "blank-on-board",
    Suited = "suited",
    Button = "button",
    Blind = "blind",
    Early = "early",
    Middle = "middle",
    Late = "late",
    SmallBlind = "small-blind",
    BigBlind = "big-blind",
    Maybe = "maybe",
    CheckRaiseUsed = "check-raise-used",
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub(super) u64);

impl Flags {
    pub(super) fn set(&mut self, flag: Flag, on: bool) {
        self.0 |= u64::from(on) << flag as u8;
    }

    /// Whether the flag is set.
    pub fn has(self, flag: Flag) -> bool {
        self.0 >> flag as u8 & 1 == 1
    }

    /// Writes the first flags as 0 and 1.
    pub(in super::super) fn write(self, places: &mut [f32]) {
        let bits = (0..64).map(|k| (self.0 >> k & 1) as u8);
        places.iter_mut().zip(bits).for_each(|(place, bit)| *place = f32::from(bit));
    }

    /// The names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        FLAGS.iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| *name)
    }
}

/// Definition of straights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Straights {
    /// By the rules of poker; at least one hole card is needed, and an ace is also low.
    Exact,
    /// By the rules of 2002: straights wrap around the ace and need no hole card, and inside straights have no low ace.
    Around,
}

/// Computes the flags of own cards and a board of three to five cards.
pub fn analyse(hole: [Card; 2], board: &[Card], straights: Straights) -> Flags {
    let mut flags = Flags::default();
    let ranks = |cards: &[Card]| {
        let mut counts = [0u8; 13];
        cards.iter().for_each(|card| counts[usize::from(card.rank())] += 1);
        counts
    };
    let (own, shared) = (ranks(&hole), ranks(board));
    let mut all = shared;
    all.iter_mut().zip(own).for_each(|(all, own)| *all += own);
    let with = |counts: &[u8; 13], least: u8| -> u16 {
        (0..13).filter(|rank| counts[*rank] >= least).fold(0, |mask, rank| mask | 1 << rank)
    };
    let (mine, top) = (with(&own, 1), board.iter().map(|card| card.rank()).max().unwrap_or(0));
    let (pairs, trips, quads) = (with(&all, 2), with(&all, 3), with(&all, 4));
    let my_pairs = pairs & mine;
    // The ranks at or above the highest one on the board.
    let high = u16::MAX << top;
    let has_quads = quads & mine != 0;
    let full = |trips: u16, pairs: u16| {
        (0..13).filter(move |r| trips >> r & 1 == 1).map(move |r| (1 << r, pairs & !(1 << r)))
    };
    let has_full = full(trips, pairs).any(|(three, two)| two != 0 && (three & mine != 0 || two & mine != 0));
    let has_trips = trips & mine != 0;
    let strong = has_quads || has_full || has_trips;
    flags.set(Flag::Quads, has_quads);
    flags.set(Flag::FullHouse, has_full && !has_quads);
    flags.set(Flag::Trips, has_trips && !has_full && !has_quads);
    flags.set(Flag::Pair, my_pairs != 0);
    flags.set(Flag::PairInHole, hole[0].rank() == hole[1].rank());
    flags.set(Flag::HighPair, my_pairs >> 8 != 0);
    let two_pair = my_pairs != 0 && pairs.count_ones() > 1;
    let top_two = two_pair && my_pairs & high != 0;
    flags.set(Flag::TopTwoPair, top_two && !strong);
    flags.set(Flag::TwoPair, two_pair && !top_two && !strong);
    let top_pair = my_pairs & high != 0;
    flags.set(Flag::TopPair, top_pair && !top_two && !strong);
    let beside = (0..2).any(|k| my_pairs >> hole[k].rank() & 1 == 1 && hole[1 - k].rank() >= top);
    flags.set(Flag::PairWithOvercard, my_pairs != 0 && !top_pair && !strong && beside);
    flags.set(Flag::TwoOvercards, my_pairs == 0 && hole.iter().all(|card| card.rank() > top));
    flushes(&mut flags, hole, board);
    sets_on_board(&mut flags, &shared, with);
    match straights {
        Straights::Exact => exact_straights(&mut flags, mine, with(&shared, 1)),
        Straights::Around => straights_around(&mut flags, mine | with(&shared, 1), with(&shared, 1)),
    }
    let on_board = ((1 << (Flag::BlankOnBoard as u8)) - 1) & !((1u64 << (Flag::PairOnBoard as u8)) - 1);
    flags.set(Flag::BlankOnBoard, board.len() > 3 && flags.0 & on_board == 0);
    flags
}

fn flushes(flags: &mut Flags, hole: [Card; 2], board: &[Card]) {
    let (mut best, mut best_on_board) = (0, 0);
    for suit in 0..4 {
        let own = hole.iter().filter(|card| card.suit() == suit).count();
        let shared = board.iter().filter(|card| card.suit() == suit).count();
        best = best.max(if own > 0 { own + shared } else { 0 });
        best_on_board = best_on_board.max(shared);
    }
    flags.set(Flag::Flush, best >= 5);
    flags.set(Flag::FourFlush, best == 4);
    flags.set(Flag::ThreeFlush, best == 3);
    flags.set(Flag::FlushOnBoard, best_on_board == 5);
    flags.set(Flag::FourFlushOnBoard, best_on_board == 4);
    flags.set(Flag::ThreeFlushOnBoard, best_on_board == 3);
}

fn sets_on_board(flags: &mut Flags, shared: &[u8; 13], with: impl Fn(&[u8; 13], u8) -> u16) {
    let (pairs, trips, quads) = (with(shared, 2), with(shared, 3), with(shared, 4));
    let found = match () {
        () if quads != 0 => Flag::QuadsOnBoard,
        () if trips != 0 && pairs.count_ones() > 1 => Flag::FullHouseOnBoard,
        () if trips != 0 => Flag::TripsOnBoard,
        () if pairs.count_ones() > 1 => Flag::TwoPairOnBoard,
        () if pairs != 0 => Flag::PairOnBoard,
        () => return,
    };
    flags.set(found, true);
}

/// Whether one of the first `windows` windows of five ranks contains at least `least` of `ranks`.
fn in_window(ranks: u16, windows: u32, least: u32) -> bool {
    (0..windows).any(|low| (ranks >> low & 31).count_ones() >= least)
}

/// Flags for three to five of five consecutive ranks on the board.
fn straights_on_board(flags: &mut Flags, shared: u16, windows: u32, whole: bool) {
    let four = in_window(shared, windows, 4);
    flags.set(Flag::StraightOnBoard, whole);
    flags.set(Flag::FourStraightOnBoard, four && !whole);
    flags.set(Flag::ThreeStraightOnBoard, in_window(shared, windows, 3) && !four && !whole);
}

/// Flags for straights and straight draws that need a hole card. Rank r is bit r + 1; the ace is also bit 0.
fn exact_straights(flags: &mut Flags, mine: u16, shared: u16) {
    let low_ace = |ranks: u16| ranks << 1 | ranks >> 12 & 1;
    let (all, shared) = (low_ace(mine | shared), low_ace(shared));
    let needs = |low: u32, count: u32| {
        (all >> low & 31).count_ones() == count && (shared >> low & 31).count_ones() < count
    };
    let straight = (0..10).any(|low| needs(low, 5));
    flags.set(Flag::Straight, straight);
    // Open-ended: four consecutive ranks without an ace. Or double inside: x.xxx.x.
    let open = (1..10).any(|low| all >> low & 15 == 15 && shared >> low & 15 != 15);
    let gaps =
        (0..8).any(|low| all >> low & 0b101_1101 == 0b101_1101 && shared >> low & 0b101_1101 != 0b101_1101);
    flags.set(Flag::FourStraight, (open || gaps) && !straight);
    flags.set(Flag::InsideStraight, (0..10).any(|low| needs(low, 4)) && !open && !gaps && !straight);
    straights_on_board(flags, shared, 10, (0..10).any(|low| shared >> low & 31 == 31));
}

/// Flags for straights by the rules of 2002.
fn straights_around(flags: &mut Flags, all: u16, shared: u16) {
    let has = |ranks: u16, first: u32, step: u32| ranks >> ((first + step) % 13) & 1 == 1;
    let is_ace = |first: u32, step: u32| (first + step) % 13 == 12;
    // Five consecutive ranks, wrapping around the ace.
    let row = |ranks: u16| {
        (0..13).any(|first| (0..5).all(|k| has(ranks, first, k)) && (1..4).all(|k| !is_ace(first, k)))
    };
    let straight = row(all);
    flags.set(Flag::Straight, straight);
    let open = (0..9).any(|low| all >> low & 15 == 15);
    let gaps =
        |first: u32| [0, 2, 3, 4, 6].iter().all(|k| has(all, first, *k)) && (2..5).all(|k| !is_ace(first, k));
    let four = open || (0..13).any(gaps);
    flags.set(Flag::FourStraight, four && !straight);
    flags.set(Flag::InsideStraight, (straight || !four) && in_window(all, 9, 4));
    straights_on_board(flags, shared, 9, row(shared));
}
