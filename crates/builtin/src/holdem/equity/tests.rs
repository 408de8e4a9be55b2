//! Compares the fast counts with plain ones and with known figures.

use super::changes::{Changes, place};
use super::*;
use crate::holdem::{CardSet, Hand, Strengths, parse_cards};
use adept_game::stream;
use rand::RngExt;

fn two(text: &str) -> [Card; 2] {
    parse_cards(text).unwrap().try_into().unwrap()
}

/// Points on this board, hand by hand.
fn plain_points(hole: [Card; 2], board: &[Card]) -> i32 {
    let table = Strengths::shared();
    let on =
        |cards: [Card; 2]| board.iter().chain(&cards).fold(Hand::default(), |hand, card| hand.with(*card));
    let seen: CardSet = board.iter().chain(&hole).copied().collect();
    let rest: Vec<Card> = Card::all().filter(|card| !seen.contains(*card)).collect();
    let mine = table.strength(&on(hole));
    let mut sum = 0;
    for (i, a) in rest.iter().enumerate() {
        for b in &rest[i + 1..] {
            let other = table.strength(&on([*a, *b]));
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

/// Transitions by the next card, hand by hand.
fn changes_one_by_one(spot: &Spot) -> Changes {
    let table = Strengths::shared();
    let mut changes = Changes::default();
    let board = spot.board[..spot.cards].iter().fold(Hand::default(), |hand, card| hand.with(*card));
    let own = |board: Hand| table.strength(&board.with(spot.hole[0]).with(spot.hole[1])).number() as i16;
    let rest: Vec<Card> = spot.rest().collect();
    let later: Vec<(Hand, i16)> =
        rest.iter().map(|card| (board.with(*card), own(board.with(*card)))).collect();
    let mine = own(board);
    for (i, a) in rest.iter().enumerate() {
        for (j, b) in rest.iter().enumerate().skip(i + 1) {
            let first = place(mine, table.strength(&board.with(*a).with(*b)).number() as i16);
            let (mut below, mut up_to) = (0, 0);
            for (k, (board, mine)) in later.iter().enumerate() {
                let other = table.strength(&board.with(*a).with(*b)).number() as i16;
                // The opponent's cards cannot be dealt.
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

#[test]
fn changes_are_the_same_one_by_one() {
    let mut rng = stream(3, "changes", 0);
    let mut flushes = 0;
    let rounds = 120;
    for round in 0..rounds {
        // With few suits, three cards of one are likely.
        let cards = draw(&mut rng, 5 + round % 2, 1 + (round % 4) as u8);
        let spot = Spot::new([cards[0], cards[1]], &cards[2..]);
        flushes += usize::from(spot.flush_suit().is_some());
        assert_eq!(changes(Rows::shared(), &spot), changes_one_by_one(&spot), "{cards:?}");
    }
    assert!(flushes > 20 && rounds - flushes > 20, "{flushes}");
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

/// A class of hands by enumeration of its flops, as the table was made.
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
    let mut classes: std::collections::HashMap<Class, (f64, Vec<Card>)> = std::collections::HashMap::new();
    for (i, a) in rest.iter().enumerate() {
        for (j, b) in rest.iter().enumerate().skip(i + 1) {
            for c in &rest[j + 1..] {
                classes.entry(class_of(hole, &[*a, *b, *c])).or_insert((0.0, vec![*a, *b, *c])).0 += 1.0;
            }
        }
    }
    let equity = |flop: &[Card]| flop_equity(rows, &Spot::new(hole, flop));
    let sum: f64 = classes.values().map(|(n, flop)| n * equity(flop)).sum();
    // Flop, turn and river in any order: each board is counted ten times.
    (sum * 1081.0 * 990.0 * 2.0 / 10.0).round() as u64
}
