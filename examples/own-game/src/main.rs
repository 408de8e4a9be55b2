//! Nim with every command of adept. `cargo run --release -- train nim.toml`, then `list`, `play`, `sweep`, `export`, …
//!
//! Heaps of 3, 4 and 5 things; a move takes any number from one heap; who takes the last thing wins.

use adept::prelude::*;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Clone)]
struct Nim;

/// Things left in each heap, and who is to move.
type State = ([u8; 3], usize);
/// A heap, and how many things are taken from it.
type Action = (u8, u8);

impl Game for Nim {
    type State = State;
    type Action = Action;
    type Info = State;

    fn name(&self) -> &str {
        "nim"
    }
    fn players(&self) -> usize {
        2
    }
    fn start(&self) -> State {
        ([3, 4, 5], 0)
    }
    fn turn(&self, (heaps, mover): &State) -> Turn {
        if *heaps == [0; 3] { Turn::Over } else { Turn::Player(*mover) }
    }
    fn actions(&self, (heaps, _): &State, actions: &mut Vec<Action>) {
        actions.clear();
        actions.extend((0..3).flat_map(|h| (1..=heaps[usize::from(h)]).map(move |n| (h, n))));
    }
    fn apply(&self, (heaps, mover): &mut State, (heap, taken): &Action) {
        heaps[usize::from(*heap)] -= taken;
        *mover = 1 - *mover;
    }
    fn utility(&self, (_, mover): &State, player: usize) -> f64 {
        if player == *mover { -1.0 } else { 1.0 }
    }
    fn info(&self, state: &State, _: usize) -> State {
        *state
    }
    fn position_text(&self, ([a, b, c], mover): &State) -> String {
        format!("{a} {b} {c} @{}", mover + 1)
    }
    fn parse_position(&self, text: &str) -> Result<Read<Self>, GameError> {
        let numbers: Vec<u8> = text.split([' ', '@']).filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [a @ 0..=3, b @ 0..=4, c @ 0..=5, mover @ 1..=2] => {
                Ok((([a, b, c], usize::from(mover) - 1), None))
            }
            _ => Err(GameError(format!("`{text}`: write three heaps and who is to move, such as 3 4 5 @1"))),
        }
    }
    fn action_text(&self, _: &State, (heap, taken): &Action) -> String {
        format!("{taken} from {}", heap + 1)
    }
}

impl Kit for Nim {
    fn about(&self) -> String {
        "Nim with heaps of 3, 4 and 5".into()
    }
    fn encoders(&self) -> Vec<Named> {
        Named::list(&[("heaps", "an input for each size of each heap")])
    }
    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        let channel = Channel::fixed("heaps", ChannelKind::Bits(18), "6 h + n: heap h has n things left");
        let write = |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            (0..3).for_each(|h| row.dense[6 * h + usize::from(after.state.0[h])] = 1.0);
        };
        (name == "heaps").then(|| Arc::new(EncoderFn::new(name, vec![channel], write)) as _)
    }
    fn is_small(&self) -> bool {
        true
    }
}

fn main() -> ExitCode {
    adept::main_with(&(adept::Builtin, adept::One(Nim)))
}
