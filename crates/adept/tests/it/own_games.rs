//! The code in `docs/own-games.md` is compiled code: from the examples, the traits, or this file.

use adept::prelude::*;
use std::path::Path;

/// A race: each player advances by the die, and the first at 20 wins.
#[derive(Clone)]
struct MyGame;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct At {
    points: [u8; 2],
    mover: usize,
    die: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Act {
    Die(u8),
    Move,
}

impl Game for MyGame {
    type State = At;
    type Action = Act;
    type Info = At;

    fn name(&self) -> &str {
        "dice-race"
    }
    fn players(&self) -> usize {
        2
    }
    fn start(&self) -> At {
        At { points: [0, 0], mover: 0, die: 0 }
    }
    fn turn(&self, at: &At) -> Turn {
        match at.points.iter().any(|points| *points >= 20) {
            true => Turn::Over,
            false if at.die == 0 => Turn::Chance,
            false => Turn::Player(at.mover),
        }
    }
    fn actions(&self, at: &At, actions: &mut Vec<Act>) {
        actions.clear();
        actions.extend(matches!(self.turn(at), Turn::Player(_)).then_some(Act::Move));
    }
    fn apply(&self, at: &mut At, act: &Act) {
        match act {
            Act::Die(die) => at.die = *die,
            Act::Move => {
                at.points[at.mover] += at.die;
                (at.mover, at.die) = (1 - at.mover, 0);
            }
        }
    }
    fn outcomes(&self, _: &At, outcomes: &mut Vec<(Act, f64)>) -> bool {
        outcomes.clear();
        outcomes.extend((1..=6).map(|die| (Act::Die(die), 1.0 / 6.0)));
        true
    }
    fn utility(&self, at: &At, player: usize) -> f64 {
        if at.points[player] >= 20 { 1.0 } else { -1.0 }
    }
    fn just_acted(&self, at: &At) -> Option<usize> {
        (at.die == 0 && *at != self.start()).then_some(1 - at.mover)
    }
    fn info(&self, at: &At, _: usize) -> At {
        at.clone()
    }
    fn position_text(&self, at: &At) -> String {
        format!("{} {} +{} @{}", at.points[0], at.points[1], at.die, at.mover + 1)
    }
    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        let numbers: Vec<u8> = text.split([' ', '+', '@']).filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [a @ 0..=25, b @ 0..=25, die @ 0..=6, mover @ 1..=2] => {
                Ok((At { points: [a, b], mover: usize::from(mover) - 1, die }, None))
            }
            _ => Err(GameError::new(format!("`{text}`: write a position such as 3 0 +2 @1"))),
        }
    }
}

impl Kit for MyGame {
    fn encoders(&self) -> Encoders<'_, Self> {
        let channel = Channel::fixed("points", ChannelKind::Dense(2), "own points / 20, the other player's");
        let write = |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            for (seat, input) in [after.player, 1 - after.player].into_iter().zip(row.dense) {
                *input = f32::from(after.state.points[seat]) / 20.0;
            }
        };
        EncoderFn::new("points", vec![channel], write).listed("what each player has")
    }
}

#[test]
fn the_game_of_the_page_keeps_the_laws() {
    let report = adept::game::laws::check(&MyGame, &adept::game::laws::Budget::default());
    assert!(report.holds(), "{report}");
}

/// Code without comments, spaces and commas before closing brackets.
fn bare(code: &str) -> String {
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut bare: String = lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    for bracket in ["}", ")", "]"] {
        bare = bare.replace(&format!(",{bracket}"), bracket);
    }
    bare
}

/// The top-level items of the Rust blocks on a page.
fn items(page: &str) -> Vec<String> {
    let (mut items, mut open): (Vec<String>, Option<usize>) = (Vec::new(), None);
    for line in page.lines() {
        let indent = line.len() - line.trim_start().len();
        match line.trim() {
            "```rust" => open = Some(indent),
            "```" => open = None,
            _ => {
                let Some(text) = open.and_then(|indent| line.get(indent..)) else { continue };
                match items.last_mut().filter(|_| text.starts_with([' ', '}', ')', '/'])) {
                    Some(last) => last.push_str(&format!("\n{text}")),
                    None => items.push(text.into()),
                }
            }
        }
    }
    items
}

#[test]
fn code_on_the_page_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let sources = [
        "examples/own-game/src/main.rs",
        "examples/dice-game/src/main.rs",
        "crates/game/src/game.rs",
        "crates/game/src/kit.rs",
        "crates/adept/tests/it/own_games.rs",
    ];
    // Names of parameters that a default does not use begin with `_`.
    let sources = sources.map(|path| bare(&read(path)).replace("(&self,_", "(&self,"));
    let items: Vec<String> =
        items(&read("docs/own-games.md")).into_iter().filter(|item| !bare(item).is_empty()).collect();
    assert!(items.len() > 10, "{items:?}");
    for item in items {
        let wanted = bare(&item);
        assert!(sources.iter().any(|source| source.contains(&wanted)), "no compiled code is\n{item}");
    }
}
