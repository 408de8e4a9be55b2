//! Nim with every command of adept: `cargo run --release -p own-game -- train nim.toml`, then `play`, `sweep`, `export`, `list`, …
//! Heaps of 3, 4 and 5 things; a move takes any number from one heap; who takes the last thing wins.

use adept::prelude::*;

#[derive(Clone)]
struct Nim;

impl Game for Nim {
    type State = ([u8; 3], usize); // things left in each heap, and who is to move
    type Action = (usize, u8); // a heap, and how many things are taken from it
    type Info = Self::State;
    fn name(&self) -> &str {
        "nim"
    }
    fn players(&self) -> usize {
        2
    }
    fn start(&self) -> Self::State {
        ([3, 4, 5], 0)
    }
    fn turn(&self, (heaps, mover): &Self::State) -> Turn {
        if *heaps == [0; 3] { Turn::Over } else { Turn::Player(*mover) }
    }
    fn actions(&self, (heaps, _): &Self::State, actions: &mut Vec<Self::Action>) {
        actions.clear();
        actions.extend((0..3).flat_map(|heap| (1..=heaps[heap]).map(move |taken| (heap, taken))));
    }
    fn apply(&self, (heaps, mover): &mut Self::State, (heap, taken): &Self::Action) {
        heaps[*heap] -= taken;
        *mover = 1 - *mover;
    }
    fn utility(&self, (_, mover): &Self::State, player: usize) -> f64 {
        if player == *mover { -1.0 } else { 1.0 }
    }
    fn info(&self, state: &Self::State, _: usize) -> Self::State {
        *state
    }
    fn position_text(&self, ([a, b, c], mover): &Self::State) -> String {
        format!("{a} {b} {c} @{}", mover + 1)
    }
    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        let numbers: Vec<u8> = text.split([' ', '@']).filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [a @ 0..=3, b @ 0..=4, c @ 0..=5, m @ 1..=2] => Ok((([a, b, c], usize::from(m) - 1), None)),
            _ => Err(GameError::new(format!(
                "`{text}`: write three heaps and who is to move, such as 3 4 5 @1"
            ))),
        }
    }
}

impl Kit for Nim {
    fn encoders(&self) -> Encoders<'_, Self> {
        let channel = Channel::fixed("heaps", ChannelKind::Bits(18), "6 h + n: heap h has n things left");
        let write = |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            (0..3).for_each(|h| row.dense[6 * h + usize::from(after.state.0[h])] = 1.0);
        };
        EncoderFn::new("heaps", vec![channel], write).listed("an input for each size of each heap")
    }
    fn is_small(&self) -> bool {
        true
    }
}

fn main() -> std::process::ExitCode {
    adept::main_with(&(adept::Builtin, adept::One(Nim)))
}
