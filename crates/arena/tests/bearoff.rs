//! The bear-off's valuations as evaluators and agents.

use adept_arena::{Agent, Evaluator, Known, open};
use adept_builtin::bearoff::two_sided::{Settings, Table};
use adept_builtin::bearoff::{Action, Bearoff, Distribution, ROLLS, Stage, State};
use adept_game::Kit;
use adept_game::{Game, stream};

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
    let mut oracle = Known(game.valuation("oracle").unwrap().unwrap());
    let mut values = Vec::new();
    for (state, actions, expected) in decisions(&table) {
        oracle.values(&game, &state, state.player, &actions, &mut values);
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
            agent.policy(&game, state, state.player, actions, &mut policy);
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
