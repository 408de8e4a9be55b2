//! The bear-off's valuations as evaluators and agents.

use adept_arena::{Agent, ByValuation, Decision, Evaluator, GameModel, Successors, open};
use adept_builtin::bearoff::two_sided::{Settings, Table};
use adept_builtin::bearoff::{Action, Bearoff, Distribution, ROLLS, Stage, State};
use adept_game::Kit;
use adept_game::{Game, stream};
use adept_model::{Architecture, Head, Optimiser, build};
use std::collections::HashSet;

const CHECKERS: u8 = 4;

/// Decisions with more than one move, and their values in the exact table.
fn decisions(table: &Table) -> Vec<(State, Vec<Action>, Vec<f64>)> {
    let game = Bearoff::new(CHECKERS).unwrap();
    let mut rng = stream(1, "test", 0);
    let mut found = Vec::new();
    for k in 0..400 {
        let mut state = game.start();
        game.apply(&mut state, &Action::Setup(Distribution::Table.sample(CHECKERS, &mut rng)));
        // Each player to move.
        state.player = k % 2;
        game.apply(&mut state, &Action::Roll(ROLLS[k % ROLLS.len()]));
        let mut actions = Vec::new();
        game.actions(&state, &mut actions);
        let value = |action: &Action| {
            let mut after = state;
            game.apply(&mut after, action);
            assert_eq!(after.stage, Stage::Roll);
            -table.value(after.position()).unwrap()
        };
        let values = actions.iter().map(value).collect();
        if actions.len() > 1 {
            found.push((state, actions, values));
        }
    }
    assert!(found.len() > 100);
    found
}

fn table() -> Table {
    Table::solve(Settings::new(CHECKERS), &mut |_| {}).unwrap().0
}

#[test]
fn the_oracle_values_moves_for_the_player_who_moves() {
    let (game, table) = (Bearoff::new(CHECKERS).unwrap(), table());
    let mut oracle = ByValuation(game.values().valuations.open("oracle").unwrap().unwrap());
    let mut values = Vec::new();
    for (state, actions, expected) in decisions(&table) {
        oracle.values(Decision::new(&game, &state, state.player), &actions, &mut values);
        let expected: Vec<f32> = expected.iter().map(|&v| v as f32).collect();
        assert_eq!(values, expected);
    }
}

#[test]
fn the_oracle_plays_the_best_move_and_the_convolution_hardly_a_worse_one() {
    let (game, table) = (Bearoff::new(CHECKERS).unwrap(), table());
    let mut loss = |name: &str| {
        let mut agent = open::agent(&game, name).unwrap();
        let mut policy = Vec::new();
        let mut loss = 0.0;
        let decisions = decisions(&table);
        for (state, actions, values) in &decisions {
            agent.policy(Decision::new(&game, state, state.player), actions, &mut policy);
            let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            loss += policy.iter().zip(values).map(|(p, v)| p * (best - v)).sum::<f64>();
        }
        loss / decisions.len() as f64
    };
    assert_eq!(loss("oracle"), 0.0);
    let [convolution, normal, kleinman, random] =
        ["convolution", "normal", "kleinman", "random"].map(&mut loss);
    assert!(convolution < 1e-4, "{convolution}");
    assert!(convolution <= normal && normal < kleinman && kleinman < random, "{normal} {kleinman} {random}");
}

#[test]
fn a_table_that_cannot_be_had_is_named() {
    let game = Bearoff::default();
    let error = |name: &str| open::agent(&game, name).err().unwrap().to_string();
    assert!(
        error("oracle:no-such.table").starts_with("no-such.table: "),
        "{}",
        error("oracle:no-such.table")
    );
    let unknown = error("oracel");
    assert!(unknown.ends_with("did you mean `oracle`?"), "{unknown}");
}

/// The expectation over 21 rolls is that of one decision after the other, and equal afterstates share a row.
#[test]
fn successors_of_chance_are_those_of_each_roll() {
    let game = Bearoff::new(CHECKERS).unwrap();
    let encoder = game.encoders().open("race").unwrap();
    let mlp: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [6]}}"#).unwrap();
    let mut rng = stream(2, "test", 0);
    let learner = build(&mlp, encoder.channels(), &Head::Value, Optimiser::default(), &mut rng).unwrap();
    let mut bound = GameModel::new(&game, encoder.clone(), learner);
    let mut found = Successors::new(&game, &*bound.model);
    let (mut outcomes, mut actions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut shared = 0;
    for k in 0..200 {
        let mut state = game.start();
        game.apply(&mut state, &Action::Setup(Distribution::Table.sample(CHECKERS, &mut rng)));
        state.player = k % 2;
        let (mut mean, mut all, mut afterstates) = (0.0, 0, HashSet::new());
        assert!(game.outcomes(&state, &mut outcomes));
        for (roll, p) in &outcomes {
            let mut rolled = state;
            game.apply(&mut rolled, roll);
            game.actions(&rolled, &mut actions);
            bound.values(Decision::new(&game, &rolled, rolled.player), &actions, &mut values);
            mean -= p * values.iter().copied().map(f64::from).fold(f64::NEG_INFINITY, f64::max);
            all += actions.len();
            for action in &actions {
                let mut after = rolled;
                game.apply(&mut after, action);
                if game.turn(&after) != adept_game::Turn::Over {
                    afterstates.insert(after);
                }
            }
        }
        found.expand(&game, &*encoder, &state).unwrap();
        found.evaluate(&mut *bound.model);
        let mut target = Vec::new();
        found.expectation(&mut target);
        assert!((f64::from(target[0]) - mean).abs() < 1e-6, "{target:?} instead of {mean}");
        assert_eq!((found.actions.len(), found.rows.len()), (all, afterstates.len()));
        assert_eq!(found.branches().len(), outcomes.len());
        assert!((found.branches().map(|(p, _)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        shared += all - afterstates.len();
        if let Some(next) = found.draw(0.5, &mut rng) {
            assert!(afterstates.contains(next));
        }
    }
    assert!(shared > 1000, "{shared}");
}
