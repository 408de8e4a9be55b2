//! A game of your own, learned by a table: `cargo run --release -p adept-games --example own_game_table`.
//! Players take one to three matches in turn; who takes the last one loses.

use adept::prelude::*;

#[derive(Clone)]
struct Matches;

impl Game for Matches {
    type State = (u8, usize); // matches left, and who is to move
    type Action = u8; // matches taken
    type Info = Self::State;
    fn name(&self) -> &str {
        "matches"
    }
    fn players(&self) -> usize {
        2
    }
    fn start(&self) -> Self::State {
        (21, 0)
    }
    fn turn(&self, &(left, mover): &Self::State) -> Turn {
        if left == 0 { Turn::Over } else { Turn::Player(mover) }
    }
    fn actions(&self, &(left, _): &Self::State, actions: &mut Vec<u8>) {
        actions.clear();
        actions.extend(1..=left.min(3));
    }
    fn apply(&self, (left, mover): &mut Self::State, taken: &u8) {
        *left -= taken;
        *mover = 1 - *mover;
    }
    fn utility(&self, (_, mover): &Self::State, player: usize) -> f64 {
        if player == *mover { 1.0 } else { -1.0 }
    }
    fn info(&self, state: &Self::State, _: usize) -> Self::State {
        *state
    }
    fn position_text(&self, state: &Self::State) -> String {
        format!("{}@{}", state.0, state.1 + 1)
    }
    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        match text.split_once('@').map(|(left, mover)| (left.parse(), mover.parse())) {
            Some((Ok(left @ 0..=21), Ok(seat @ 1..=2))) => Ok(((left, seat - 1), None)),
            _ => Err(GameError::new(format!("`{text}`: write the matches and who is to move, such as 21@1"))),
        }
    }
}

impl Kit for Matches {
    fn encoders(&self) -> Encoders<'_, Self> {
        let channels = vec![Channel::fixed("left", ChannelKind::Index(22), "matches left")];
        let write =
            |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| row.index[0] = after.state.0.into();
        EncoderFn::new("left", channels, write).listed("matches left, as the index of a table")
    }
    fn is_small(&self) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "name = \"matches\"\ngame.rules = \"matches\"\narchitecture.lookup.by = \"left\"\n\
                [learn]\nrate = 0.1\n[learn.td]\ngames = 20_000\nexplore = 0.3\n";
    let config = parse(&Source { file: "matches".into(), text: text.into(), set: vec![] }, &One(Matches))?;
    let folder = std::env::temp_dir().join(format!("adept-matches-{}", std::process::id()));
    let options = TrainOptions { out: Some(folder.clone()), ..Default::default() };
    let (run, _) = train(&Matches, &config, 1, &options, &Silent, &Cancel::default())?;
    let ((mut table, _), mut values) = (open::open(&Matches, &run, false)?, vec![]);
    for left in [21, 20, 19, 18] {
        table.values(Decision::new(&Matches, &(left, 0), 0), &[1, 2, 3], &mut values);
        println!("{left} matches: take 1, 2 or 3 is worth {values:.2?}");
    }
    Ok(std::fs::remove_dir_all(folder)?)
}
