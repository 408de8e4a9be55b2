//! Encoders of liar's dice: golden rows, rows of whole decisions compared with single ones, and independence from
//! hidden information.

use adept_builtin::liars_dice::{Action, Dice, LiarsDice, Said, State};
use adept_game::Kit;
use adept_game::{Afterstate, ChannelKind, Encoder, Game, RowMut, RowSink, Turn, stream};
use rand::RngExt;
use std::fmt::Write;

type Row = (Vec<f32>, Vec<u64>);

fn widths(encoder: &dyn Encoder<LiarsDice>) -> (usize, usize) {
    encoder.channels().iter().fold((0, 0), |(dense, index), channel| match channel.kind {
        ChannelKind::Dense(n) | ChannelKind::Bits(n) => (dense + n, index),
        ChannelKind::Value => (dense + 1, index),
        ChannelKind::Index(_) | ChannelKind::Key => (dense, index + 1),
    })
}

fn row(
    encoder: &dyn Encoder<LiarsDice>,
    game: &LiarsDice,
    state: &State,
    action: &Action,
    player: usize,
) -> Row {
    let (dense, index) = widths(encoder);
    let (mut dense, mut index) = (vec![0.0; dense], vec![0; index]);
    let before = Afterstate { state, action: Some(action), player };
    encoder.encode(game, before, RowMut { dense: &mut dense, index: &mut index });
    (dense, index)
}

struct Rows(Vec<Row>, (usize, usize));

impl RowSink for Rows {
    fn push(&mut self) -> RowMut<'_> {
        self.0.push((vec![0.0; self.1.0], vec![0; self.1.1]));
        let (dense, index) = self.0.last_mut().expect("one was pushed");
        RowMut { dense, index }
    }
}

/// The candidates of a decision and their rows.
fn decision(
    encoder: &dyn Encoder<LiarsDice>,
    game: &LiarsDice,
    state: &State,
    player: usize,
) -> (Vec<Action>, Vec<Row>) {
    let mut actions = Vec::new();
    if !encoder.decides() {
        game.actions(state, &mut actions);
        let rows = actions.iter().map(|a| row(encoder, game, state, a, player)).collect();
        return (actions, rows);
    }
    let mut rows = Rows(Vec::new(), widths(encoder));
    encoder.decide(game, state, player, &mut actions, &mut rows);
    (actions, rows.0)
}

/// Calls `each` with the decisions of some random games.
fn decisions(game: &LiarsDice, games: u64, mut each: impl FnMut(&State, usize, &mut adept_game::Stream)) {
    let (mut actions, mut rng) = (Vec::new(), stream(games, "decisions", 0));
    for _ in 0..games {
        let mut state = game.start();
        loop {
            let action = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => game.sample(&state, &mut rng),
                Turn::Player(player) => {
                    each(&state, player, &mut rng);
                    game.actions(&state, &mut actions);
                    actions[rng.random_range(0..actions.len().min(25))]
                }
            };
            game.apply(&mut state, &action);
        }
    }
}

const ALL: [(&str, &str); 12] = [
    ("post", "liars-dice:r-post:4x6"),
    ("dice", "liars-dice:soar:2x5"),
    ("dice", "liars-dice:soar:4x5"),
    ("soar", "liars-dice:soar:2x5"),
    ("soar", "liars-dice:soar:4x5"),
    ("raises", "liars-dice:r-post:4x6"),
    ("raises", "liars-dice:r-post:2x3"),
    ("bids:1-2:6", "liars-dice:openspiel:1-2:6"),
    ("bids:2-2:3", "liars-dice:openspiel:2-2:3:no-wild"),
    ("rules:PM", "liars-dice:soar:2x5"),
    ("rules:PMH0", "liars-dice:soar:4x5"),
    ("rules:B", "liars-dice:soar:3x4"),
];

#[test]
fn golden_rows() {
    let mut text = String::new();
    for (encoder, game, position) in [
        ("soar", "soar:3x5", "12455/11235/123+56 @2 4x5 4x6+56"),
        ("soar", "soar:2x5", "3/4o @1 1x3"),
        ("dice", "soar:3x5", "12455/11235/123+56 @2 4x5 4x6+56"),
        ("dice", "soar:2x5", "34/4o @1 pass!"),
        ("raises", "r-post:4x6", "112233/444556/11666/12 @3 4x6 5x1"),
        ("bids:1-1:4", "openspiel:1-1:4", "2/3 @1 1x1 1x4 2x2"),
        ("bids:2-1:3", "openspiel:2-1:3", "13/2 @1"),
        ("post", "r-post:4x6", "112233/444556/11666/12 @3 4x6 5x1"),
        ("rules:PM", "soar:2x5", "12234/5 @2 2x1"),
        ("rules:P", "soar:3x5", "1/3o/22 @1 special 1x3"),
    ] {
        let game = LiarsDice::named(&format!("liars-dice:{game}")).expect("a game");
        let state = game.parse_position(position).unwrap_or_else(|e| panic!("{e}")).0;
        let Turn::Player(player) = game.turn(&state) else { panic!("{position}") };
        let with = game.encoders().open(encoder).expect(encoder);
        writeln!(text, "{encoder}: {position}").unwrap();
        let (actions, rows) = decision(&*with, &game, &state, player);
        for (action, (dense, index)) in actions.iter().zip(&rows) {
            let dense: Vec<String> = dense
                .iter()
                .enumerate()
                .filter(|(_, x)| **x != 0.0)
                .map(|(i, x)| format!("{i}:{}", (f64::from(*x) * 1e4).round() / 1e4))
                .collect();
            let words = index.first().and_then(|key| with.key_text(&game, &with.channels()[0].name, *key));
            let words = words.map_or(String::new(), |w| format!("\n      {w}"));
            let index = if words.is_empty() { format!("{index:?}") } else { String::new() };
            writeln!(text, "  {:<10} {index} {}{words}", game.action_text(&state, action), dense.join(" "))
                .unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn an_encoder_of_bids_is_of_one_game() {
    let with = LiarsDice::named("liars-dice:openspiel:1-2:6")
        .unwrap()
        .encoders()
        .open("bids:1-2:6")
        .expect("an encoder");
    let fits = |name: &str| with.fits(&LiarsDice::named(&format!("liars-dice:{name}")).expect("a game"));
    assert!(fits("openspiel:1-2:6").is_ok() && fits("openspiel:1-2:6:no-wild").is_ok());
    assert!(fits("openspiel:2-1:6").unwrap_err().contains("write `bids:2-1:6`"));
    assert!(fits("soar:2x5").unwrap_err().contains("liars-dice:openspiel"));
    for name in ["bids:", "bids:1-1", "bids:1-1:6:no-wild", "bids:0-1:6", "bids"] {
        assert!(LiarsDice::named("liars-dice:soar:2x5").unwrap().encoders().open(name).is_none(), "{name}");
    }
}

#[test]
fn a_decision_at_once_is_its_rows_one_by_one() {
    for (name, game) in ALL {
        let game = LiarsDice::named(game).expect("a game");
        let encoder = game.encoders().open(name).expect(name);
        decisions(&game, 6, |state, player, _| {
            let (actions, rows) = decision(&*encoder, &game, state, player);
            assert!(!actions.is_empty());
            for (action, expected) in actions.iter().zip(&rows) {
                assert!(game.refuses(state, action).is_none());
                assert_eq!(row(&*encoder, &game, state, action, player), *expected, "{name}");
            }
        });
    }
}

#[test]
fn rows_are_finite_of_order_one_and_of_what_the_player_knows() {
    for (name, game) in ALL {
        let game = LiarsDice::named(game).expect("a game");
        let encoder = game.encoders().open(name).expect(name);
        let bounds: Vec<u64> = encoder
            .channels()
            .iter()
            .filter_map(|c| match c.kind {
                ChannelKind::Index(n) => Some(n),
                ChannelKind::Key => Some(u64::MAX),
                _ => None,
            })
            .collect();
        decisions(&game, 20, |state, player, rng| {
            let mut other = state.clone();
            for (_, seat) in other.seats.iter_mut().enumerate().filter(|(p, _)| *p != player) {
                seat.cup = Dice::roll(seat.cup.total(), game.faces(), rng);
            }
            for act in other.acts.iter_mut().filter(|act| usize::from(act.player) != player) {
                if let Said::Pass { valid } = &mut act.said {
                    *valid = !*valid;
                }
            }
            let found = decision(&*encoder, &game, state, player);
            assert_eq!(
                found,
                decision(&*encoder, &game, &other, player),
                "{name} {}",
                game.position_text(state)
            );
            for (dense, index) in &found.1 {
                assert!(dense.iter().all(|x| x.is_finite() && x.abs() <= 60.0), "{name}: {dense:?}");
                assert!(index.iter().zip(&bounds).all(|(i, n)| i < n));
            }
        });
    }
}
