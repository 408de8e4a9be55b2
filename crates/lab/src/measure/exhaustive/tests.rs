use super::*;
use adept_builtin::bearoff::Bearoff;
use adept_builtin::tictactoe::TicTacToe;
use adept_model::native::Isa;
use adept_model::{Architecture, Network, Optimiser, Predictor, lower};
use serde_json::{Value, json};
use std::sync::Arc;

const ENCODER: &str = "one-sided+distribution:12+phase:2";

fn game() -> Bearoff {
    Bearoff::new(3).unwrap()
}

/// An untrained network with this encoder.
fn bound(encoder: &str, architecture: &Value, isa: Isa) -> GameModel<Bearoff> {
    let (game, encoder) = (game(), open::encoder(&game(), Some(encoder)).unwrap());
    let architecture: Architecture = serde_json::from_value(architecture.clone()).unwrap();
    let program = Arc::new(lower(&architecture, encoder.channels(), &adept_model::Head::Value).unwrap());
    let parameters = program.draw(&mut stream(1, "test", 0));
    let model: Box<dyn Predictor> =
        Box::new(Network::with_isa(program, &parameters, Optimiser::default(), isa));
    GameModel::new(&game, encoder, model)
}

/// The errors over all pairs, computed one by one with the encoder, the model and valuations.
fn plainly(bound: &mut GameModel<Bearoff>) -> (PositionErrors, PositionErrors) {
    let (game, halves) = (game(), game().values().halves.unwrap()().unwrap());
    let valuation = |name: &str| game.values().valuations.open(name).unwrap().unwrap();
    let (oracle, convolution) = (valuation("oracle"), valuation("convolution"));
    let (mut rows, mut exact, mut known) = (Rows::new(bound.model.channels()), Vec::new(), Vec::new());
    for (mover, roller) in (0..halves.count()).flat_map(|i| (0..halves.count()).map(move |j| (i, j))) {
        let state = &halves.state(mover, roller);
        let after = || Afterstate { state, action: None, player: 1 };
        bound.encoder().encode(&game, after(), rows.push());
        exact.push(oracle.value(&game, after()));
        known.push(convolution.value(&game, after()));
    }
    let mut found = Vec::new();
    bound.model.evaluate(&rows, &mut found);
    let errors = found.iter().zip(&exact).map(|(v, d)| f64::from(*v) - d);
    (PositionErrors::of(errors), PositionErrors::of(known.iter().zip(&exact).map(|(v, d)| v - d)))
}

fn assert_close(found: PositionErrors, expected: PositionErrors, what: &str) {
    let close = |a: f64, b: f64, by: f64| (a - b).abs() <= by;
    assert!(
        found.rows == expected.rows
            && close(found.rms, expected.rms, 1e-6)
            && close(found.mae, expected.mae, 1e-6)
            && close(found.max, expected.max, 4e-6),
        "{what}: {found:?}, not {expected:?}"
    );
}

fn check(encoder: &str, architecture: &Value, by_halves: bool, isa: Isa) {
    let mut bound = bound(encoder, architecture, isa);
    let report = exhaustive(&game(), &mut bound, &|_| {}).unwrap();
    let (expected, convolution) = plainly(&mut bound);
    let what = format!("{isa:?}, {encoder}, {architecture}");
    assert_eq!(report.by_halves, by_halves, "{what}");
    assert_close(report.errors, expected, &what);
    let [(name, errors)] = &report.baselines[..] else { panic!("{:?}", report.baselines) };
    assert_eq!(name, "convolution");
    assert_close(*errors, convolution, &what);
}

#[test]
fn networks_by_halves_have_the_errors_of_rows() {
    for isa in Isa::available() {
        for f in ["tanh", "sigmoid", "relu", "silu", "linear"] {
            for sensitivity in [1.0, 2.5] {
                let mlp = json!({ "mlp": {
                    "inputs": ["one_sided", "bits", "distribution"], "hidden": [10], "activation": f,
                    "output": "tanh", "init": 0.3, "sensitivity": sensitivity,
                } });
                check(ENCODER, &mlp, true, isa);
                let gated = json!({ "symbolic": { "by": "phase", "expert": mlp } });
                check(ENCODER, &gated, true, isa);
                let encoder = format!("{ENCODER}+prior:convolution");
                check(&encoder, &json!({ "residual": { "on": "prior", "net": mlp } }), true, isa);
                check(&encoder, &json!({ "residual": { "on": "prior", "net": gated } }), true, isa);
            }
        }
    }
}

#[test]
fn any_prior_is_corrected() {
    let residual = json!({ "residual": { "net": { "mlp": { "hidden": [3], "output": "linear" } } } });
    for prior in ["normal", "kleinman"] {
        check(&format!("counts+prior:{prior}"), &residual, true, Isa::detect());
    }
}

#[test]
fn other_models_are_asked_row_by_row() {
    let expert = json!({ "mlp": { "hidden": [5] } });
    for architecture in [
        json!({ "mlp": { "hidden": [7, 5] } }),
        json!({ "mlp": { "hidden": [] } }),
        json!({ "hme": { "experts": 3, "expert": expert } }),
        json!({ "symbolic": { "by": "phase", "expert": { "mlp": { "hidden": [5, 4] } } } }),
        // Its inputs are not sums over the halves of a position.
        json!({ "mlp": { "inputs": ["bits", "prior"], "hidden": [6], "init": 1.0 } }),
    ] {
        check(&format!("{ENCODER}+prior:convolution"), &architecture, false, Isa::detect());
    }
}

#[test]
fn errors_do_not_depend_on_the_threads() {
    for hidden in [json!([6]), json!([6, 4])] {
        let mlp = json!({ "mlp": { "hidden": hidden } });
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut bound = bound("one-sided", &mlp, Isa::detect());
            pool.install(|| exhaustive(&game(), &mut bound, &|_| {}).unwrap())
        };
        let (one, three) = (with(1), with(3));
        assert_eq!((one.errors, one.baselines), (three.errors, three.baselines));
    }
}

#[test]
fn a_game_without_halves_says_so() {
    let encoder = open::encoder(&TicTacToe, None).unwrap();
    let architecture: Architecture = serde_json::from_value(json!({ "mlp": { "hidden": [2] } })).unwrap();
    let channels = encoder.channels().to_vec();
    let learner = adept_model::build(
        &architecture,
        &channels,
        &adept_model::Head::Value,
        Optimiser::default(),
        &mut stream(1, "test", 0),
    )
    .unwrap();
    let error =
        exhaustive(&TicTacToe, &mut GameModel::new(&TicTacToe, encoder, learner), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("tictactoe cannot be enumerated"), "{error}");
}
