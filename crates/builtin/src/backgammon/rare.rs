//! Distributions of positions that games of good players seldom reach, drawn by rules.
//!
//! A rule places what makes the kind, then spreads the checkers that are left over points of the usual zone, two at a time more often
//! than one. What is not a position of the kind is drawn anew, and either side is to roll.

use super::{BAR, Phase, Position, Side, State};
use adept_game::Distribution;
use rand::{Rng, RngExt};
use std::ops::RangeInclusive;

/// Checkers of a side.
const CHECKERS: u8 = 15;

/// The distributions, by kind.
pub(super) fn distributions() -> Vec<Distribution<super::Backgammon>> {
    let all: [(&'static str, &'static str, Rule, Holds); 5] = [
        (
            "back-game",
            "back games: a side holds two or three points in the other's home and is 40 pips or more behind",
            back_game,
            is_back_game,
        ),
        (
            "prime",
            "prime against prime: four or more blocks in a row of each side hold checkers of the other",
            primes,
            has_primes,
        ),
        (
            "crashed",
            "a side with checkers back has crashed: most of the others are on its ace and deuce points",
            crashed,
            |own, opponent| Position { own, opponent }.phase() == Phase::Crashed,
        ),
        (
            "ace-point",
            "a side bears off against checkers on its ace point or on the bar",
            ace_point,
            is_ace_point,
        ),
        (
            "outside-prime",
            "four or more blocks in a row from point 5 on or higher hold checkers of the other side",
            outside_prime,
            |own, opponent| primes_from(own, opponent, 5..=10),
        ),
    ];
    let distribution = |(name, about, rule, holds): (&'static str, &'static str, Rule, Holds)| {
        Distribution::new(name, about, move |rng: &mut dyn Rng| drawn(rule, holds, rng))
    };
    all.into_iter().map(distribution).collect()
}

/// Places checkers of the side that makes the kind, and of the other. None where there is no room for all.
type Rule = fn(&mut Board, &mut dyn Rng) -> Option<()>;

/// Whether the first side makes the kind, with the second as its opponent.
type Holds = fn(Side, Side) -> bool;

/// A position of a kind, before a roll.
fn drawn(rule: Rule, holds: Holds, rng: &mut dyn Rng) -> State {
    loop {
        let mut board = Board { sides: [[0; 26]; 2] };
        if rule(&mut board, rng).is_none() {
            continue;
        }
        let [own, opponent] = board.sides.map(Side::new);
        let position = Position { own, opponent };
        if holds(own, opponent) && position.check(CHECKERS).is_ok() && !position.is_over() {
            return State::to_roll(if rng.random() { position } else { position.swapped() });
        }
    }
}

/// Checkers that are being placed: of the side that makes the kind, and of the other.
struct Board {
    sides: [[u8; 26]; 2],
}

impl Board {
    /// Whether a side may have checkers on a place.
    fn is_free(&self, side: usize, place: u8) -> bool {
        place == 0 || place == BAR || self.sides[1 - side][usize::from(25 - place)] == 0
    }

    /// Places checkers of a side.
    fn put(&mut self, side: usize, place: u8, count: u8) -> Option<()> {
        let fits = self.is_free(side, place) && self.left(side) >= count;
        fits.then(|| self.sides[side][usize::from(place)] += count)
    }

    /// Checkers of a side that are not placed.
    fn left(&self, side: usize) -> u8 {
        CHECKERS - self.sides[side].iter().sum::<u8>()
    }

    /// Spreads checkers of a side over points, of which none gets more than five.
    fn spread(
        &mut self,
        side: usize,
        points: RangeInclusive<u8>,
        count: u8,
        rng: &mut dyn Rng,
    ) -> Option<()> {
        let mut left = count;
        // Points may be too few.
        for _ in 0..100 {
            if left == 0 {
                return Some(());
            }
            let point = rng.random_range(points.clone());
            let some = if rng.random_range(0..4) > 0 { 2 } else { 1 }.min(left);
            if self.is_free(side, point) && self.sides[side][usize::from(point)] + some <= 5 {
                self.put(side, point, some)?;
                left -= some;
            }
        }
        None
    }

    /// Spreads all checkers of a side that are left.
    fn rest(&mut self, side: usize, points: RangeInclusive<u8>, rng: &mut dyn Rng) -> Option<()> {
        self.spread(side, points, self.left(side), rng)
    }

    /// Places a prime of a side, 4 to 6 blocks in a row from a point on, and 1 to 3 checkers of the other side behind it.
    fn prime(&mut self, side: usize, from: u8, rng: &mut dyn Rng) -> Option<()> {
        for point in from..from + rng.random_range(4..=6) {
            self.put(side, point, 2)?;
        }
        // They stand above, as their side counts; 25 is its bar.
        for _ in 0..rng.random_range(1..=3) {
            self.put(1 - side, rng.random_range(26 - from..=BAR), 1)?;
        }
        Some(())
    }
}

/// Two or three anchors, a few more checkers back, and timing that differs; the opponent brings its checkers home.
fn back_game(board: &mut Board, rng: &mut dyn Rng) -> Option<()> {
    for _ in 0..rng.random_range(2..=3) {
        let point = rng.random_range(19..=24);
        if board.sides[0][usize::from(point)] == 0 {
            board.put(0, point, rng.random_range(2..=3))?;
        }
    }
    let more = rng.random_range(0..=2);
    board.spread(0, 14..=BAR, more, rng)?;
    let highest = rng.random_range(6..=13);
    board.rest(0, 1..=highest, rng)?;
    let highest = rng.random_range(7..=14);
    board.rest(1, 1..=highest, rng)
}

fn is_back_game(own: Side, opponent: Side) -> bool {
    let anchors = (19..=24).filter(|&point| own.on(point) > 1).count();
    let position = Position { own, opponent };
    anchors > 1 && own.pips() >= opponent.pips() + 40 && position.phase() == Phase::Contact
}

/// A prime of each side, from point 2 to 7 on.
fn primes(board: &mut Board, rng: &mut dyn Rng) -> Option<()> {
    for side in 0..2 {
        board.prime(side, rng.random_range(2..=7), rng)?;
    }
    for side in 0..2 {
        board.rest(side, 1..=13, rng)?;
    }
    Some(())
}

fn has_primes(own: Side, opponent: Side) -> bool {
    primes_from(own, opponent, 2..=10) && primes_from(opponent, own, 2..=10)
}

/// Whether a side has four blocks in a row, the lowest on one of these points, and its opponent a checker behind them.
fn primes_from(side: Side, opponent: Side, lowest: RangeInclusive<u8>) -> bool {
    lowest.into_iter().any(|from| (from..from + 4).all(|p| side.on(p) > 1) && opponent.reaches(26 - from))
}

/// Most checkers on the ace and deuce points, some back; the opponent is anywhere.
fn crashed(board: &mut Board, rng: &mut dyn Rng) -> Option<()> {
    let point = rng.random_range(18..=24);
    board.put(0, point, rng.random_range(1..=2))?;
    let more = rng.random_range(0..=1);
    board.spread(0, 14..=BAR, more, rng)?;
    let dead = rng.random_range(10..=board.left(0));
    let ace = rng.random_range(2..=dead - 2);
    board.put(0, 1, ace)?;
    board.put(0, 2, dead - ace)?;
    board.rest(0, 2..=8, rng)?;
    let highest = rng.random_range(6..=22);
    board.rest(1, 1..=highest, rng)
}

/// One to four checkers on the opponent's ace point, or one to three on the bar; the opponent has borne off up to ten.
fn ace_point(board: &mut Board, rng: &mut dyn Rng) -> Option<()> {
    let (place, most) = if rng.random_range(0..3) > 0 { (24, 4) } else { (BAR, 3) };
    board.put(0, place, rng.random_range(1..=most))?;
    board.put(1, 0, rng.random_range(0..=10))?;
    if board.left(1) > 11 {
        // A home that is nearly closed, as it is when the first checkers are borne off.
        for point in 2..=6 {
            board.put(1, point, 2)?;
        }
    }
    board.rest(1, 1..=6, rng)?;
    let highest = rng.random_range(6..=12);
    board.rest(0, 1..=highest, rng)
}

fn is_ace_point(own: Side, opponent: Side) -> bool {
    own.reaches(24) && !opponent.reaches(7)
}

/// A prime from point 5 to 8 on; some checkers of its side may be back too.
fn outside_prime(board: &mut Board, rng: &mut dyn Rng) -> Option<()> {
    board.prime(0, rng.random_range(5..=8), rng)?;
    let back = rng.random_range(0..=2).min(board.left(0));
    board.spread(0, 14..=24, back, rng)?;
    board.rest(0, 1..=14, rng)?;
    let highest = rng.random_range(6..=18);
    board.rest(1, 1..=highest, rng)
}

#[cfg(test)]
mod tests {
    use super::super::Backgammon;
    use super::*;
    use adept_game::{Game, Kit, Turn, stream};
    use std::collections::HashSet;

    /// Draws of a kind.
    fn some(name: &str, count: usize) -> Vec<Position> {
        let draw = Backgammon::default().positions().draw(name).unwrap();
        let mut rng = stream(1, "test", 0);
        (0..count)
            .map(|_| {
                let state = draw(&mut rng);
                assert_eq!(Backgammon::default().just_acted(&state), Some(1));
                assert_eq!(Backgammon::default().turn(&state), Turn::Chance);
                state.position()
            })
            .collect()
    }

    /// Blocks in a row of a side with a checker of the other behind them, and the lowest point of the first ones.
    fn prime(side: Side, opponent: Side) -> Option<u8> {
        let blocks = |from: u8| (from..=24).take_while(|&p| side.on(p) > 1).count();
        (1..=21).find(|&from| blocks(from) >= 4 && (26 - from..=25).any(|p| opponent.on(p) > 0))
    }

    #[test]
    fn each_position_is_of_its_kind_and_legal() {
        let either = |position: Position, holds: &dyn Fn(Side, Side) -> bool| {
            holds(position.own, position.opponent) || holds(position.opponent, position.own)
        };
        let holds: [(&str, &dyn Fn(Position) -> bool); 5] = [
            ("back-game", &|position| {
                position.is_back_game() && position.own.pips().abs_diff(position.opponent.pips()) >= 40
            }),
            ("prime", &|Position { own, opponent }| {
                prime(own, opponent).is_some() && prime(opponent, own).is_some()
            }),
            ("crashed", &|position| position.phase() == Phase::Crashed),
            ("ace-point", &|position| {
                either(position, &|a, b| a.on(24) + a.on(25) > 0 && (7..=25).all(|p| b.on(p) == 0))
                    && position.has_contact()
            }),
            ("outside-prime", &|position| {
                let from = |a, b| {
                    (5..=10).any(|p| (p..p + 4).all(|q| Side::on(a, q) > 1) && Side::highest(b) > 25 - p)
                };
                either(position, &from)
            }),
        ];
        for (name, holds) in holds {
            let all = some(name, 2000);
            for &position in &all {
                assert_eq!(position.check(15), Ok(()), "{name}: {position}");
                assert!(!position.is_over() && holds(position), "{name}: {position}");
            }
            // Varied: hardly any twice, and either side is to roll.
            assert!(all.iter().collect::<HashSet<_>>().len() > 1950, "{name}");
            let ahead = all.iter().filter(|p| p.own.pips() < p.opponent.pips()).count();
            assert!((700..1300).contains(&ahead), "{name}: {ahead}");
        }
    }

    /// Both sorts are drawn: anchors on the ace point and checkers on the bar, before and after the first are off.
    #[test]
    fn bear_offs_against_contact_differ() {
        let all = some("ace-point", 500);
        let sides = || all.iter().flat_map(|p| [p.own, p.opponent]);
        assert!(sides().filter(|side| side.on(24) > 1).count() > 100);
        assert!(sides().filter(|side| side.on(25) > 0).count() > 100);
        assert!(
            sides().any(|side| side.off() == 10) && all.iter().any(|p| p.own.off() + p.opponent.off() == 0)
        );
    }
}
