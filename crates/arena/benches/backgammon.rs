//! Speed of backgammon on one core: `cargo bench -p adept-arena --bench backgammon`.
//!
//! Rolls a second that the generator lists; time of each encoder for a position; afterstates a second that networks value in
//! play, the generator included, as floats and quantised, and the decisions a second that makes; and steps of Adam with inputs that
//! are always 0, which denormal numbers would make slow.
//! `-- WORD` measures what has the word in its name: `generator`, `encoders`, `adam`, or an encoder and the hidden layers of a
//! network, such as `[128]` or `expert`.

use adept_arena::{Decision, GameModel};
use adept_builtin::backgammon::{Backgammon, Position, State, results};
use adept_builtin::dice::ROLLS;
use adept_game::{Afterstate, Game, Kit, Stream, Turn, outcome_classes, stream};
use adept_model::{Head, NumberFormat, Optimiser, Predictor, QuantisedNetwork, Samples, build};
use rand::RngExt;
use std::hint::black_box;
use std::time::Instant;

/// Decisions of random games.
fn decisions(game: &Backgammon, count: usize, rng: &mut Stream) -> Vec<State> {
    let (mut found, mut actions, mut state) = (Vec::with_capacity(count), Vec::new(), game.start());
    while found.len() < count {
        match game.turn(&state) {
            Turn::Over => state = game.start(),
            Turn::Chance => {
                let roll = game.sample(&state, rng);
                game.apply(&mut state, &roll);
            }
            Turn::Player(_) => {
                found.push(state);
                game.actions(&state, &mut actions);
                let action = actions[rng.random_range(0..actions.len())];
                game.apply(&mut state, &action);
            }
        }
    }
    found
}

/// The best of three runs of `work`, which returns how much it did: that number a second.
fn rate(mut work: impl FnMut() -> usize) -> f64 {
    let mut once = |_| {
        let begin = Instant::now();
        let done = work();
        done as f64 / begin.elapsed().as_secs_f64()
    };
    (0..3).map(&mut once).fold(0.0, f64::max)
}

/// Rolls that the generator lists.
fn generator(game: &Backgammon, states: &[State]) {
    let mut found: Vec<Position> = Vec::new();
    let mut rolls = || {
        let mut listed = 0;
        for state in states {
            for roll in ROLLS {
                results(state.position(), roll, &mut found);
                listed += black_box(&found).len();
            }
        }
        listed
    };
    let per_roll = rolls() as f64 / (ROLLS.len() * states.len()) as f64;
    let speed = rate(rolls) / 1e6;
    println!("generator, all rolls: {:.2} M rolls/s, {speed:.1} M afterstates/s", speed / per_roll);
    let mut actions = Vec::new();
    let listed = rate(|| {
        states.iter().for_each(|state| {
            game.actions(state, &mut actions);
            black_box(&actions);
        });
        states.len()
    });
    println!("generator, decisions of games: {:.2} M/s", listed / 1e6);
}

/// Positions of random games that each encoder sees.
fn encoders(game: &Backgammon, states: &[State]) {
    for name in ["points", "expert"] {
        let encoder = game.encoders().open(name).expect("an encoder");
        let mut rows = Samples::new(encoder.channels()).rows;
        let speed = rate(|| {
            for state in states {
                rows.clear();
                encoder.encode(
                    game,
                    Afterstate { state, action: None, player: 1 - state.player },
                    rows.push(),
                );
                black_box(&rows);
            }
            states.len()
        });
        println!("encoder {name}: {:.2} µs a position", 1e6 / speed);
    }
}

/// Afterstates that a network values in play.
fn values(game: &Backgammon, states: &[State], encoder: &str, hidden: &str) {
    let name = encoder;
    let encoder = game.encoders().open(name).expect("an encoder");
    let head = Head::Outcomes(outcome_classes(game).expect("classes"));
    for f in ["relu", "sigmoid"] {
        let text = format!(r#"{{"mlp": {{"hidden": {hidden}, "activation": "{f}"}}}}"#);
        let architecture = serde_json::from_str(&text).expect("an architecture");
        let learner =
            build(&architecture, encoder.channels(), &head, Optimiser::default(), &mut stream(2, "bench", 0));
        let mut learner = learner.expect("a network");
        let mut rows = Samples::new(encoder.channels()).rows;
        for state in &states[..2000] {
            encoder.encode(game, Afterstate { state, action: None, player: 1 - state.player }, rows.push());
        }
        let mut weights = Vec::new();
        learner.weights(&mut weights).expect("parameters");
        let program = learner.program().expect("a program").clone();
        let [int8, bf16] = NumberFormat::ALL.map(|format| {
            QuantisedNetwork::convert(format, program.clone(), &weights, &rows).expect("a quantised network")
        });
        let mut speeds = [0.0; 3];
        let models: [Box<dyn Predictor>; 3] = [learner, Box::new(int8), Box::new(bf16)];
        for (model, speed) in models.into_iter().zip(&mut speeds) {
            let mut model = GameModel::new(game, encoder.clone(), model);
            *speed = rate(|| {
                let value =
                    |state: &State| model.weighed(Decision::new(game, state, state.player)).values.len();
                states.iter().take(50_000).map(value).sum()
            });
        }
        let [floats, whole, halves] = speeds.map(|speed| speed / 1e6);
        println!(
            "{name} {hidden} {f}: {floats:.2} M afterstates/s, quantised {whole:.2} M, {:.2} times, bf16 {halves:.2} M, {:.2} times",
            whole / floats,
            halves / floats
        );
    }
}

/// Steps of Adam with inputs that are always 0.
fn adam(game: &Backgammon) {
    let encoder = game.encoders().open("points").expect("an encoder");
    let architecture = serde_json::from_str(r#"{"mlp": {"hidden": [10]}}"#).expect("an architecture");
    let optimiser = Optimiser::Adam(Default::default());
    let learner =
        build(&architecture, encoder.channels(), &Head::Value, optimiser, &mut stream(2, "bench", 0));
    let (mut learner, mut samples) = (learner.expect("a network"), Samples::new(encoder.channels()));
    let mut learn = |inputs: std::ops::Range<usize>| {
        samples.clear();
        samples.rows.push().dense[inputs].fill(1.0);
        samples.targets.push(0.5);
        samples.weights.push(1.0);
        learner.update(&samples, 1e-3).expect("a step");
    };
    // One step with all inputs, so that all moments begin above 0.
    learn(0..202);
    println!("{:>16} {:>12}", "steps of adam", "µs a step");
    for block in 1..=10 {
        let begin = Instant::now();
        for _ in 0..10_000 {
            learn(0..1);
        }
        println!("{:>16} {:>12.2}", block * 10_000, begin.elapsed().as_secs_f64() * 100.0);
    }
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let word = words.next().unwrap_or_default();
    let game = Backgammon::default();
    let states = decisions(&game, 100_000, &mut stream(1, "bench", 0));
    if "generator".contains(&word) {
        generator(&game, &states);
    }
    if "encoders".contains(&word) {
        encoders(&game, &states);
    }
    for encoder in ["points", "expert"] {
        for hidden in ["[40]", "[128]", "[256, 32]", "[512, 64]"] {
            if format!("{encoder} {hidden}").contains(&word) {
                values(&game, &states, encoder, hidden);
            }
        }
    }
    if "adam".contains(&word) {
        adam(&game);
    }
}
