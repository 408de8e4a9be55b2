//! Pig, a game with dice, with every command of adept: `cargo run --release -p dice-game -- train pig.toml`, then `value`,
//! `play`, `evaluate`, …
//!
//! Two players race to 100 points. In a turn a player rolls a die as often as they like. A roll of 2 to 6 adds to the points of
//! the turn; a 1 loses them and ends the turn. To hold banks them and ends the turn.

mod solution;

use adept::prelude::*;
use solution::Solution;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Position {
    scores: [u8; 2],
    turn: u8, // points of this turn, which are not banked yet
    mover: usize,
    rolling: bool, // the mover chose to roll, and the die is in the air
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Act {
    Roll,
    Hold,
    Die(u8), // an outcome of chance, 1 to 6
}

#[derive(Clone)]
struct Pig {
    name: &'static str,
    target: u8,
    solution: Arc<OnceLock<Solution>>, // solved when somebody asks
}

impl Pig {
    fn new(name: &'static str, target: u8) -> Self {
        Self { name, target, solution: Arc::default() }
    }

    /// Whether the mover wins by holding.
    fn can_win(&self, at: &Position) -> bool {
        at.scores[at.mover] + at.turn >= self.target
    }
}

impl Game for Pig {
    type State = Position;
    type Action = Act;
    type Info = Position;
    fn name(&self) -> &str {
        self.name
    }
    fn players(&self) -> usize {
        2
    }
    fn start(&self) -> Position {
        Position { scores: [0, 0], turn: 0, mover: 0, rolling: false }
    }
    fn turn(&self, at: &Position) -> Turn {
        match at.scores.iter().any(|score| *score >= self.target) {
            true => Turn::Over,
            false if at.rolling => Turn::Chance,
            false => Turn::Player(at.mover),
        }
    }
    fn actions(&self, at: &Position, actions: &mut Vec<Act>) {
        actions.clear();
        match self.turn(at) {
            Turn::Player(_) if at.turn == 0 => actions.push(Act::Roll),
            Turn::Player(_) if self.can_win(at) => actions.push(Act::Hold),
            Turn::Player(_) => actions.extend([Act::Roll, Act::Hold]),
            Turn::Chance | Turn::Over => {}
        }
    }
    fn outcomes(&self, at: &Position, outcomes: &mut Vec<(Act, f64)>) -> bool {
        outcomes.clear();
        if at.rolling {
            outcomes.extend((1..=6).map(|die| (Act::Die(die), 1.0 / 6.0)));
        }
        true
    }
    fn apply(&self, at: &mut Position, act: &Act) {
        match act {
            Act::Roll => at.rolling = true,
            Act::Die(die @ 2..) => (at.rolling, at.turn) = (false, at.turn + die),
            Act::Die(_) | Act::Hold => {
                at.scores[at.mover] += if *act == Act::Hold { at.turn } else { 0 };
                (at.rolling, at.turn, at.mover) = (false, 0, 1 - at.mover);
            }
        }
    }
    fn utility(&self, at: &Position, player: usize) -> f64 {
        if at.scores[player] >= self.target { 1.0 } else { -1.0 }
    }
    fn just_acted(&self, at: &Position) -> Option<usize> {
        match at.turn {
            _ if at.rolling => Some(at.mover),
            0 if at.scores != [0, 0] => Some(1 - at.mover),
            _ => None,
        }
    }
    fn info(&self, at: &Position, _: usize) -> Position {
        *at
    }
    fn position_text(&self, at: &Position) -> String {
        let Position { scores: [first, second], turn, mover, rolling } = at;
        format!("{first} {second} +{turn} @{}{}", mover + 1, if *rolling { " rolls" } else { "" })
    }
    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        let (numbers, rolling) = match text.trim().strip_suffix("rolls") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let words = numbers.split([' ', '+', '@']).filter(|word| !word.is_empty());
        let numbers: Result<Vec<u8>, _> = words.map(str::parse).collect();
        match numbers.as_deref() {
            // The roll that wins may lead beyond the target.
            Ok(&[a, b, turn, mover @ 1..=2])
                if a.max(b) < self.target
                    && [a, b][usize::from(mover) - 1].saturating_add(turn) < self.target + 6 =>
            {
                let at = Position { scores: [a, b], turn, mover: usize::from(mover) - 1, rolling };
                Ok((at, None))
            }
            _ => Err(GameError::new(format!(
                "`{text}`: write both scores below {}, the points of this turn, which win if they are enough, and who is to move, such as 12 30 +5 @1",
                self.target
            ))),
        }
    }
    fn action_text(&self, _: &Position, act: &Act) -> String {
        match act {
            Act::Roll => "roll".into(),
            Act::Hold => "hold".into(),
            Act::Die(die) => die.to_string(),
        }
    }
}

struct Words;
impl Texts<Pig> for Words {
    fn told(&self, game: &Pig, at: &Position, act: &Act, who: &str, you: bool) -> String {
        format!("{who} {}{}.", game.action_text(at, act), if you { "" } else { "s" })
    }
    fn chance(&self, game: &Pig, at: &Position, act: &Act, _: usize) -> String {
        format!("The die shows {}.", game.action_text(at, act))
    }
}

impl Kit for Pig {
    fn card(&self) -> Card {
        Card { about: format!("Pig, a race to {} points with a die", self.target), ..Card::of(self) }
    }
    fn encoders(&self) -> Encoders<'_, Self> {
        let channel = Channel::fixed(
            "race",
            ChannelKind::Dense(5),
            "in targets: own score (0), opponent's (1), points still missing (2), four times the points of the turn (3); \
             1 if the die is in the air (4)",
        );
        let write = |game: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            let (at, target) = (after.state, f32::from(game.target));
            let [own, other] = [after.player, 1 - after.player].map(|p| f32::from(at.scores[p]) / target);
            let turn = f32::from(at.turn) / target;
            let rolling = f32::from(u8::from(at.rolling));
            row.dense.copy_from_slice(&[own, other, 1.0 - own - turn, 4.0 * turn, rolling]);
        };
        EncoderFn::new("race", vec![channel], write)
            .listed("the scores, the points of the turn, and whether the die is in the air")
    }
    fn agents(&self) -> Agents<'_, Self> {
        let play = |_: &Self, at: &Position, acts: &[Act], p: &mut Vec<f64>| {
            let wanted = if at.turn >= 20 { Act::Hold } else { Act::Roll };
            p.clear();
            p.extend(acts.iter().map(|act| f64::from(acts.len() == 1 || *act == wanted)));
        };
        let about = "holds at 20 points, or when that wins: a rule of thumb";
        Agents::scripts(Listing::one("hold-20", about, Arc::new(play)))
    }
    fn values(&self) -> Values<'_, Self> {
        Values::oracle("exact values, by value iteration", || Ok(Arc::new(solution::Oracle)))
    }
    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }
    fn positions(&self) -> Positions<Self> {
        let about = "all scores alike, half after a hold, half before the first to seventh roll of a turn";
        let target = self.target;
        let draw = move |rng: &mut dyn Rng| loop {
            let mut at = Position { scores: [0; 2], turn: 0, mover: 0, rolling: rng.random_bool(0.5) };
            at.scores = at.scores.map(|_| rng.random_range(0..target));
            let rolls = if at.rolling { rng.random_range(0..7) } else { 0 };
            at.turn = (0..rolls).map(|_| rng.random_range(2..=6)).sum();
            // Who can win holds, and nobody has acted yet at the start.
            if at.scores[0] + at.turn < target && (at.rolling || at.scores != [0, 0]) {
                return at;
            }
        };
        let number = |at: &Position| {
            let digits = [at.scores[0], at.scores[1], at.turn, u8::from(at.rolling), at.mover as u8];
            digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit))
        };
        Positions::new(vec![Distribution::new("even", about, draw)], number)
    }
}

fn main() -> std::process::ExitCode {
    adept::main_with(&(One(Pig::new("pig", 100)), One(Pig::new("pig-20", 20))))
}
