//! Screens: what a small network lets pass, in targets and in play.

use adept_arena::{Decision, Evaluator, GameModel, Screen, Screened, Successors, each_after, open};
use adept_builtin::backgammon::{Backgammon, State};
use adept_game::{Game, Kit, outcome_classes, stream};
use adept_model::{Architecture, Head, Optimiser, build};
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;
use std::hash::BuildHasher;

/// A network with weights that were drawn.
fn network(game: &Backgammon, encoder: &str, hidden: &str, seed: u64) -> GameModel<Backgammon> {
    let encoder = open::encoder(game, Some(encoder)).unwrap();
    let architecture: Architecture =
        serde_json::from_str(&format!(r#"{{"mlp": {{"hidden": {hidden}}}}}"#)).unwrap();
    let head = Head::Outcomes(outcome_classes(game).unwrap());
    let mut rng = stream(seed, "net", 0);
    let learner = build(&architecture, encoder.channels(), &head, Optimiser::default(), &mut rng);
    GameModel::new(game, encoder, learner.unwrap())
}

/// Positions before a roll, from games of random moves.
fn positions(game: &Backgammon, count: usize) -> Vec<State> {
    let draw = game.positions().draw("random").unwrap();
    let mut rng = stream(4, "positions", 0);
    (0..count).map(|_| draw(&mut rng)).collect()
}

/// The target of a position, and the rows that its network valued.
fn target(
    game: &Backgammon,
    large: &mut GameModel<Backgammon>,
    screen: Option<&mut Screen<Backgammon>>,
    state: &State,
) -> (Vec<f32>, Successors<Backgammon>) {
    let mut found = Successors::new(game, &*large.model);
    found.expand_behind(screen, game, &**large.encoder(), state).unwrap();
    found.evaluate(&mut *large.model);
    let mut target = Vec::new();
    found.expectation(&mut target);
    (target, found)
}

#[test]
fn a_screen_that_keeps_all_changes_nothing() {
    let game = Backgammon::default();
    let mut large = network(&game, "points", "[32]", 1);
    let mut screen = Screen::new(&game, network(&game, "expert", "[4]", 2), 10_000).unwrap();
    for state in positions(&game, 50) {
        let (plain, all) = target(&game, &mut large, None, &state);
        let (screened, found) = target(&game, &mut large, Some(&mut screen), &state);
        assert_eq!(plain, screened);
        assert_eq!((all.rows, all.row_of, all.values), (found.rows, found.row_of, found.values));
    }
}

/// The target is the mean over the rolls of the best of what the screen lets pass after any of them.
#[test]
fn only_the_best_of_each_roll_by_the_screen_count() {
    let game = Backgammon::default();
    let mut large = network(&game, "points", "[32]", 1);
    let mut small = network(&game, "expert", "[4]", 2);
    let (mut thought, mut values, mut differ) = (Vec::new(), Vec::new(), 0);
    for keep in [1, 3] {
        let mut screen = Screen::new(&game, network(&game, "expert", "[4]", 2), keep).unwrap();
        for state in positions(&game, 40) {
            let (plain, all) = target(&game, &mut large, None, &state);
            let (screened, found) = target(&game, &mut large, Some(&mut screen), &state);
            assert!(found.rows.len() <= 21 * keep && found.rows.len() <= all.rows.len());
            let (mut rolls, mut wanted, mut actions) = (Vec::new(), 0.0, Vec::new());
            game.outcomes(&state, &mut rolls);
            // What passes after one roll counts after all.
            let (mut passed, mut branches) = (HashSet::new(), Vec::new());
            for (roll, p) in &rolls {
                let mut rolled = state;
                game.apply(&mut rolled, roll);
                game.actions(&rolled, &mut actions);
                let at = Decision::new(&game, &rolled, rolled.player);
                small.values(at, &actions, &mut thought);
                large.values(at, &actions, &mut values);
                let mut after = Vec::new();
                each_after(&game, &rolled, &actions, |state, _| after.push(*state));
                let mut order: Vec<usize> = (0..actions.len()).collect();
                order.sort_by(|a, b| thought[*b].total_cmp(&thought[*a]));
                passed.extend(order.iter().take(keep).map(|&i| after[i]));
                branches.push((p, after, values.clone()));
            }
            for (p, after, values) in &branches {
                let counted = after.iter().zip(values).filter(|(state, _)| passed.contains(*state));
                let best = counted.map(|(_, value)| *value).fold(f32::NEG_INFINITY, f32::max);
                wanted -= *p * f64::from(best);
            }
            // The equity of the distribution over the classes, of which the last is a win of the whole scale.
            let equity = |target: &[f32]| f64::from(large.model.head().value_of(target));
            assert!((equity(&screened) - wanted).abs() < 1e-5, "{} {wanted}", equity(&screened));
            differ += usize::from((equity(&screened) - equity(&plain)).abs() > 1e-5);
        }
    }
    assert!(differ > 20, "{differ}");
}

/// What ends the game and what tables know passes whatever the screen thinks, and games go on from what it drops too.
#[test]
fn results_and_known_values_pass() {
    let game = Backgammon::new(3).unwrap();
    let mut large = network(&game, "points+known:bearoff-2+known:race-8", "[32]", 1);
    let mut screen = Screen::new(&game, network(&game, "points", "[4]", 2), 1).unwrap();
    for text in ["1:1/6:1 3:2", "8:1 3:2/6:1 3:2"] {
        let state = game.parse_position(text).unwrap().0;
        let (plain, _) = target(&game, &mut large, None, &state);
        assert_eq!(plain, target(&game, &mut large, Some(&mut screen), &state).0, "{text}");
    }
    let game = Backgammon::default();
    let mut large = network(&game, "points", "[32]", 1);
    let mut screen = Screen::new(&game, network(&game, "points", "[4]", 2), 1).unwrap();
    let (_, found) = target(&game, &mut large, Some(&mut screen), &positions(&game, 1)[0]);
    let mut rng = stream(1, "draw", 0);
    let drawn: Vec<State> = (0..300).filter_map(|_| found.draw(1.0, &mut rng).copied()).collect();
    assert_eq!(drawn.len(), 300);
    assert!(drawn.iter().collect::<HashSet<_>>().len() > found.rows.len());
}

/// An evaluator behind a screen has the values of the large network for what passes, and lower ones for the rest.
#[test]
fn what_a_screen_drops_is_worse_than_what_it_keeps() {
    let game = Backgammon::default();
    let mut large = network(&game, "points", "[32]", 1);
    let mut small = network(&game, "points", "[4]", 2);
    let screen = Screen::new(&game, network(&game, "points", "[4]", 2), 3).unwrap();
    let mut screened = Screened::new(screen, network(&game, "points", "[32]", 1));
    let (mut actions, mut values, mut thought, mut all) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut dropped = 0;
    for mut state in positions(&game, 40) {
        let roll = game.sample(&state, &mut stream(1, "roll", 0));
        game.apply(&mut state, &roll);
        let at = Decision::new(&game, &state, state.player);
        screened.weigh(at, &mut actions, &mut values);
        small.values(at, &actions, &mut thought);
        large.values(at, &actions, &mut all);
        let mut order: Vec<usize> = (0..actions.len()).collect();
        order.sort_by(|a, b| thought[*b].total_cmp(&thought[*a]));
        let (kept, rest) = order.split_at(order.len().min(3));
        let least = kept.iter().map(|&i| values[i]).fold(f32::INFINITY, f32::min);
        assert!(kept.iter().all(|&i| (values[i] - all[i]).abs() < 1e-5));
        assert!(rest.iter().all(|&i| values[i] < least));
        dropped += rest.len();
    }
    assert!(dropped > 200, "{dropped}");
}

/// Values of an action as if from samples: a number that its state alone decides, with an error that the number decides.
#[derive(Default)]
struct Sampled(Vec<f32>);

fn error_of(value: f32) -> f32 {
    0.1 + 0.05 * value
}

impl Evaluator<Backgammon> for Sampled {
    fn values(
        &mut self,
        at: Decision<'_, Backgammon>,
        actions: &[<Backgammon as Game>::Action],
        values: &mut Vec<f32>,
    ) {
        values.clear();
        each_after(at.game, at.state, actions, |after, _| {
            let hash = FxBuildHasher.hash_one(after);
            values.push((hash % 2001) as f32 / 1000.0 - 1.0);
        });
        self.0 = values.iter().map(|value| error_of(*value)).collect();
    }

    fn errors(&self) -> &[f32] {
        &self.0
    }
}

/// Each value that the evaluator behind a screen gives keeps its error; the values of the screen have none.
#[test]
fn errors_pass_a_screen() {
    let game = Backgammon::default();
    let keep = 3;
    let screen = Screen::new(&game, network(&game, "points", "[4]", 2), keep).unwrap();
    let mut screened = Screened::new(screen, Sampled::default());
    let (mut actions, mut values, mut own) = (Vec::new(), Vec::new(), Vec::new());
    let (mut few, mut many) = (0, 0);
    for mut state in positions(&game, 200) {
        let roll = game.sample(&state, &mut stream(1, "roll", 0));
        game.apply(&mut state, &roll);
        let at = Decision::new(&game, &state, state.player);
        screened.weigh(at, &mut actions, &mut values);
        Sampled::default().values(at, &actions, &mut own);
        let errors = screened.errors();
        assert_eq!(errors.len(), actions.len());
        let sampled = errors.iter().filter(|error| **error > 0.0).count();
        assert_eq!(sampled, actions.len().min(keep));
        for i in (0..actions.len()).filter(|&i| errors[i] > 0.0) {
            assert_eq!((values[i], errors[i]), (own[i], error_of(own[i])));
        }
        if actions.len() > keep {
            many += 1
        } else {
            few += 1
        }
        // For people, everything is valued by the evaluator.
        screened.study(at, &mut actions, &mut values);
        let expected: Vec<f32> = values.iter().map(|value| error_of(*value)).collect();
        assert_eq!(screened.errors(), expected);
    }
    assert!(few > 0 && many > 0, "{few} {many}");
    let screen = Screen::new(&game, network(&game, "points", "[4]", 2), keep).unwrap();
    let mut plain = Screened::new(screen, network(&game, "points", "[32]", 1));
    let mut state = positions(&game, 1)[0];
    let roll = game.sample(&state, &mut stream(1, "roll", 0));
    game.apply(&mut state, &roll);
    plain.weigh(Decision::new(&game, &state, state.player), &mut actions, &mut values);
    assert!(plain.errors().is_empty());
}
