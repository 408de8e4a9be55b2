//! Strengths of all 133,784,560 hands of seven cards: checks the number of each category, and times them. Then the
//! worth of random hands on random boards, by enumeration.
//!
//! `cargo bench -p adept-builtin --bench hands`

use adept_builtin::holdem::{Card, CardSet, Category, Hand, Strengths, enumerate, strength_now};
use adept_game::stream;
use rand::RngExt;
use std::time::Instant;

/// The known number of hands of each category.
const EXPECTED: [(Category, u64); 9] = [
    (Category::HighCard, 23_294_460),
    (Category::Pair, 58_627_800),
    (Category::TwoPair, 31_433_400),
    (Category::Trips, 6_461_620),
    (Category::Straight, 6_180_020),
    (Category::Flush, 4_047_644),
    (Category::FullHouse, 3_473_184),
    (Category::Quads, 224_848),
    (Category::StraightFlush, 41_584),
];

/// Calls `each` with every hand that adds `left` cards with numbers below `below`.
fn extend(hand: Hand, left: u32, below: usize, all: &[Card], each: &mut impl FnMut(&Hand)) {
    for at in 0..below {
        let next = hand.with(all[at]);
        if left == 1 {
            each(&next);
        } else {
            extend(next, left - 1, at, all, each);
        }
    }
}

fn main() {
    let start = Instant::now();
    let table = Strengths::shared();
    println!("tables: {:.1} ms, {} KiB", start.elapsed().as_secs_f64() * 1e3, table.bytes() / 1024);
    let all: Vec<Card> = Card::all().collect();
    let mut classes = vec![0u64; 7462];
    let start = Instant::now();
    extend(Hand::default(), 7, all.len(), &all, &mut |hand| {
        classes[usize::from(table.strength(hand).number())] += 1
    });
    let seconds = start.elapsed().as_secs_f64();
    let hands: u64 = classes.iter().sum();
    assert_eq!(hands, 133_784_560);
    for (category, expected) in EXPECTED {
        let of =
            |(number, n): (usize, &u64)| (Category::from_number(number as u16) == category).then_some(*n);
        let found: u64 = classes.iter().enumerate().filter_map(of).sum();
        assert_eq!(found, expected, "{category:?}");
    }
    println!("{hands} hands in {seconds:.2} s: {:.0} million a second", hands as f64 / seconds / 1e6);
    for cards in 3..=5 {
        worths(cards);
    }
}

/// Times boards of this many cards. None repeats, so no cache helps.
fn worths(cards: usize) {
    let mut rng = stream(1, "boards", cards as u64);
    let spots: Vec<Vec<Card>> = (0..20_000)
        .map(|_| {
            let mut seen = CardSet::EMPTY;
            let mut spot = Vec::new();
            while spot.len() < 2 + cards {
                let card = Card::of_number(rng.random_range(0..52)).expect("a card");
                if !seen.contains(card) {
                    seen.insert(card);
                    spot.push(card);
                }
            }
            spot
        })
        .collect();
    let time = |what: &str, of: &dyn Fn([Card; 2], &[Card]) -> f64| {
        let start = Instant::now();
        let sum: f64 = spots.iter().map(|spot| of([spot[0], spot[1]], &spot[2..])).sum();
        let seconds = start.elapsed().as_secs_f64();
        let (mean, rate) = (sum / spots.len() as f64, spots.len() as f64 / seconds);
        println!("boards of {cards}, {what}: {rate:.0} a second, mean {mean:.4}");
        assert!((mean - 0.5).abs() < 0.02);
    };
    time("strength now", &strength_now);
    time("strength, equity, PPot and NPot", &|hole, board| enumerate(hole, board).equity);
}
