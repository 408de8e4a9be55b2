//! Search against plain recursion, exact solvers and oracles.

use adept_arena::inspect::inspect_by;
use adept_arena::matches::{Deals, opening_plies, orders, replay};
use adept_arena::search::{Budget, Search, SearchOptions, fits};
use adept_arena::{Agent, Decision, Evaluator, Greedy, Minimax, Reach, each_after};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::bearoff::Bearoff;
use adept_builtin::connect_four::ConnectFour;
use adept_builtin::tictactoe::TicTacToe;
use adept_game::{Game, Kit, OutcomeClass, Stream, Turn, outcome_classes, outcome_of, stream};
use rand::RngExt;
use serde_json::json;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Some value of every state, the same each time, and the exact one of a finished game.
#[derive(Clone, Copy)]
struct Whim;

impl<G: Game> Evaluator<G> for Whim {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        each_after(at.game, at.state, actions, |after, _| values.push(whim(at.game, after, at.player)));
    }
}

fn whim<G: Game>(game: &G, after: &G::State, player: usize) -> f32 {
    if game.turn(after) == Turn::Over {
        return (game.utility(after, player) / game.scale()) as f32;
    }
    let mut hasher = std::hash::DefaultHasher::new();
    after.hash(&mut hasher);
    let value = (hasher.finish() >> 40) as f32 / (1 << 24) as f32 * 1.8 - 0.9;
    if player == 0 { value } else { -value }
}

/// The value of a state after `player` acted, by plain recursion.
fn plain<G: Game>(game: &G, after: &G::State, player: usize, plies: u32) -> f64 {
    match game.turn(after) {
        Turn::Over => game.utility(after, player) / game.scale(),
        _ if plies == 0 => f64::from(whim(game, after, player)),
        Turn::Chance => {
            let mut outcomes = Vec::new();
            assert!(game.outcomes(after, &mut outcomes));
            let value = |(outcome, p): &(G::Action, f64)| {
                let mut next = after.clone();
                game.apply(&mut next, outcome);
                p * plain(game, &next, player, plies)
            };
            outcomes.iter().map(value).sum()
        }
        Turn::Player(next) => {
            let mut actions = Vec::new();
            game.actions(after, &mut actions);
            let mut best = f64::NEG_INFINITY;
            let left = plies - u32::from(game.counts_as_ply(after));
            each_after(game, after, &actions, |state, _| best = best.max(plain(game, state, next, left)));
            if next == player { best } else { -best }
        }
    }
}

/// A decision after some random moves.
fn decision<G: Game>(game: &G, moves: u32, rng: &mut Stream) -> Option<(G::State, usize, Vec<G::Action>)> {
    let (mut state, mut actions) = (game.start(), Vec::new());
    for n in 0.. {
        match game.turn(&state) {
            Turn::Over => return None,
            Turn::Chance => {
                let outcome = game.sample(&state, rng);
                game.apply(&mut state, &outcome);
            }
            Turn::Player(player) => {
                game.actions(&state, &mut actions);
                if n >= moves {
                    return Some((state, player, actions));
                }
                let i = rng.random_range(0..actions.len());
                game.apply(&mut state, &actions[i]);
            }
        }
    }
    None
}

fn first_highest(values: &[f32]) -> usize {
    (0..values.len()).rev().max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap()
}

/// With all actions of a decision considered, search is plain recursion.
fn agrees<G: Kit>(game: &G, plies: u32, decisions: u64, moves: u32) {
    fits(game).unwrap();
    let mut options = SearchOptions::from(Budget::Plies(plies));
    options.filter.keep = vec![10_000];
    let mut best_only = Search::new(game, Whim, options.clone());
    options.all = true;
    let mut all = Search::new(game, Whim, options);
    let mut seen = 0;
    for seed in 0..decisions {
        let mut rng = stream(seed, "search test", 0);
        let Some((state, player, actions)) = decision(game, rng.random_range(0..=moves), &mut rng) else {
            continue;
        };
        let mut wanted = Vec::new();
        each_after(game, &state, &actions, |after, _| {
            wanted.push(plain(game, after, player, plies - 1) as f32)
        });
        let found = all.search(Decision::new(game, &state, player), &actions);
        for (found, wanted) in found.values.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-6, "seed {seed}: {:?} instead of {wanted:?}", found);
        }
        assert_eq!(found.plies.min(plies), found.plies);
        let most = wanted.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let found = best_only.search(Decision::new(game, &state, player), &actions);
        let chosen = first_highest(&found.values);
        assert!((wanted[chosen] - most).abs() < 1e-6, "seed {seed}: {:?} of {wanted:?}", found.values);
        if actions.len() > 1 {
            assert!(
                (found.values[chosen] - most).abs() < 1e-6,
                "seed {seed}: {:?} of {wanted:?}",
                found.values
            );
            assert_eq!(found.line.first(), Some(&actions[chosen]));
        }
        seen += 1;
    }
    assert!(seen > decisions / 2);
}

#[test]
fn alpha_beta_finds_what_plain_recursion_finds() {
    (1..=4).for_each(|plies| agrees(&TicTacToe, plies, 200, 6));
    (1..=5).for_each(|plies| agrees(&ConnectFour, plies, 60, 30));
}

#[test]
fn means_over_dice_are_those_of_plain_recursion() {
    agrees(&Bearoff::default(), 1, 40, 8);
    agrees(&Bearoff::default(), 2, 12, 8);
    agrees(&Bearoff::new(4).unwrap(), 3, 6, 4);
}

/// Below the first ply, decisions about the cube do not count as plies.
#[test]
fn decisions_about_the_cube_are_searched_on_the_way() {
    for name in ["hypergammon:money-beavers", "hypergammon:match-3"] {
        agrees(&Backgammon::named(name).unwrap(), 2, 8, 9);
    }
}

/// The distribution whose mean is this value, with draws for what is uncertain.
fn spread(classes: &[OutcomeClass], value: f32) -> Vec<f32> {
    let draw = if classes.len() == 3 { 0.4 * (1.0 - value.abs()) } else { 0.0 };
    let of = |class: &OutcomeClass| match class.utility {
        0.0 => draw,
        sign => (1.0 - draw + sign * value) / 2.0,
    };
    classes.iter().map(of).collect()
}

/// As [`Whim`], with probabilities of classes.
struct Whims(Vec<OutcomeClass>);

impl<G: Game> Evaluator<G> for Whims {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        Whim.values(at, actions, values);
    }

    fn classes(&self) -> &[OutcomeClass] {
        &self.0
    }

    fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
        let mut after = at.state.clone();
        at.game.apply(&mut after, action);
        *outcomes = spread(&self.0, whim(at.game, &after, at.player));
    }
}

/// The value and the distribution of a state after `player` acted, by plain recursion.
fn plain_outcomes<G: Kit>(
    game: &G,
    after: &G::State,
    player: usize,
    plies: u32,
    classes: &[OutcomeClass],
) -> (f64, Vec<f64>) {
    match game.turn(after) {
        Turn::Over => {
            let class = outcome_of(game, classes, after, player).unwrap();
            let sure = (0..classes.len()).map(|i| f64::from(u8::from(i == class))).collect();
            (game.utility(after, player) / game.scale(), sure)
        }
        _ if plies == 0 => {
            let value = whim(game, after, player);
            (value.into(), spread(classes, value).into_iter().map(f64::from).collect())
        }
        Turn::Chance => {
            let mut outcomes = Vec::new();
            assert!(game.outcomes(after, &mut outcomes));
            let (mut value, mut sums) = (0.0, vec![0.0; classes.len()]);
            for (outcome, p) in &outcomes {
                let mut next = after.clone();
                game.apply(&mut next, outcome);
                let (v, d) = plain_outcomes(game, &next, player, plies, classes);
                value += p * v;
                sums.iter_mut().zip(d).for_each(|(sum, d)| *sum += p * d);
            }
            (value, sums)
        }
        Turn::Player(next) => {
            let mut actions = Vec::new();
            game.actions(after, &mut actions);
            let mut best: Option<(f64, Vec<f64>)> = None;
            each_after(game, after, &actions, |state, _| {
                let found = plain_outcomes(game, state, next, plies - 1, classes);
                if best.as_ref().is_none_or(|(most, _)| found.0 > *most) {
                    best = Some(found);
                }
            });
            let (value, sums) = best.unwrap();
            match next == player {
                true => (value, sums),
                false => (-value, classes.iter().map(|class| sums[class.mirror]).collect()),
            }
        }
    }
}

/// The distribution of every action is the one that best play leads to.
fn leads_to_outcomes<G: Kit>(game: &G, plies: u32, decisions: u64, moves: u32) {
    let classes = outcome_classes(game).unwrap();
    let mut options = SearchOptions::from(Budget::Plies(plies));
    (options.filter.keep, options.all) = (vec![10_000], true);
    let mut search = Search::new(game, Whims(classes.clone()), options);
    let mut outcomes = Vec::new();
    for seed in 0..decisions {
        let mut rng = stream(seed, "search test", 1);
        let Some((state, player, actions)) = decision(game, rng.random_range(0..=moves), &mut rng) else {
            continue;
        };
        search.search(Decision::new(game, &state, player), &actions);
        // A finished search stops where results are known; deeper lines may differ among results of the same worth.
        let plies = search.found().plies;
        for (i, action) in actions.iter().enumerate() {
            search.outcomes_after(Decision::new(game, &state, player), action, &mut outcomes);
            let value = search.found().values[i];
            let mean: f32 = outcomes.iter().zip(&classes).map(|(p, class)| p * class.utility).sum();
            let sum: f32 = outcomes.iter().sum();
            assert!(
                (mean - value).abs() < 1e-5 && (sum - 1.0).abs() < 1e-5,
                "seed {seed}: {outcomes:?}, {value}"
            );
            let mut after = state.clone();
            game.apply(&mut after, action);
            let (_, wanted) = plain_outcomes(game, &after, player, plies - 1, &classes);
            let far = outcomes.iter().zip(&wanted).any(|(p, wanted)| (f64::from(*p) - wanted).abs() > 1e-5);
            assert!(!far, "seed {seed}: {outcomes:?} instead of {wanted:?}");
        }
    }
}

#[test]
fn probabilities_of_results_are_searched_too() {
    (1..=3).for_each(|plies| leads_to_outcomes(&TicTacToe, plies, 60, 6));
    (1..=4).for_each(|plies| leads_to_outcomes(&ConnectFour, plies, 20, 30));
    (1..=2).for_each(|plies| leads_to_outcomes(&Bearoff::new(6).unwrap(), plies, 6, 4));
}

/// Threads share the actions at the root, and find the same to the bit.
#[test]
fn threads_find_the_same() {
    let game = Bearoff::new(5).unwrap();
    let found = |threads: usize| {
        let mut options = SearchOptions::from(Budget::Plies(3));
        options.threads = threads;
        let mut search = Search::new(&game, Copied(OutcomeClass::loss_win()), options);
        let mut all = Vec::new();
        for seed in 0..8 {
            let mut rng = stream(seed, "search test", 2);
            if let Some((state, player, actions)) = decision(&game, 2, &mut rng) {
                let found = search.search(Decision::new(&game, &state, player), &actions);
                all.push((found.values.clone(), found.nodes, found.line.clone(), Vec::new()));
                // In another order each time.
                for i in (0..actions.len()).map(|i| (i + threads) % actions.len()) {
                    let mut outcomes = Vec::new();
                    search.outcomes_after(Decision::new(&game, &state, player), &actions[i], &mut outcomes);
                    all.last_mut().unwrap().3.push((i, outcomes));
                }
                all.last_mut().unwrap().3.sort_by_key(|(i, _)| *i);
            }
        }
        all
    };
    let one = found(1);
    assert!(one.len() > 4 && one.iter().any(|(values, ..)| values.len() > 3));
    assert_eq!(one, found(2));
    assert_eq!(one, found(5));
}

/// [`Whims`] of losses and wins, for several threads.
struct Copied(Vec<OutcomeClass>);

impl<G: Game> Evaluator<G> for Copied {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        Whim.values(at, actions, values);
    }

    fn classes(&self) -> &[OutcomeClass] {
        &self.0
    }

    fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
        Whims(self.0.clone()).outcomes(at, action, outcomes);
    }

    fn copied(&mut self, _: &G) -> Option<Box<dyn Evaluator<G>>> {
        Some(Box::new(Self(self.0.clone())))
    }
}

/// At the root, only the best actions of the depth before are searched deeper. Others come after all that are.
#[test]
fn the_root_picks_actions_depth_by_depth() {
    let game = Bearoff::new(6).unwrap();
    let mut several = 0;
    for number in 0..40 {
        let mut rng = stream(number, "test", 0);
        let Some((state, player, actions)) = decision(&game, 2, &mut rng) else { continue };
        let at = Decision::new(&game, &state, player);
        let found = |text: &str| {
            let mut search = Search::new(&game, Whim, text.parse::<SearchOptions>().unwrap());
            search.search(at, &actions).values.clone()
        };
        let best_of = |values: &[f32], count: usize| {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
            order.truncate(count);
            order
        };
        let (all, two, picked) =
            (found("3,keep=9,margin=2"), found("2,keep=9,margin=2"), found("3,root=3/2,keep=9,margin=2"));
        if actions.len() < 4 {
            continue;
        }
        several += 1;
        let first = best_of(&found("1"), 3);
        let mut second = first.clone();
        second.sort_by(|&a, &b| two[b].total_cmp(&two[a]));
        second.truncate(2);
        for i in 0..actions.len() {
            match second.contains(&i) {
                true => assert_eq!(picked[i], all[i]),
                false => assert!(second.iter().all(|&other| picked[i] < picked[other]), "{picked:?}"),
            }
        }
        // For people every action is searched.
        let mut search = Search::new(&game, Whim, "3,root=3/2,keep=9,margin=2".parse().unwrap());
        let (mut listed, mut studied) = (Vec::new(), Vec::new());
        search.study(at, &mut listed, &mut studied);
        assert_eq!(studied, all);
    }
    assert!(several > 10);
}

#[test]
fn deep_search_solves_tictactoe() {
    let game = TicTacToe;
    let mut minimax = Minimax::solve(&game).unwrap();
    let mut search = Search::new(&game, Whim, SearchOptions::from(Budget::Plies(9)));
    for seed in 0..100 {
        let mut rng = stream(seed, "search test", 1);
        let Some((state, player, actions)) = decision(&game, rng.random_range(1..8), &mut rng) else {
            continue;
        };
        let found = search.search(Decision::new(&game, &state, player), &actions);
        assert!(found.solved || actions.len() == 1);
        let mut policy = Vec::new();
        minimax.policy(Decision::new(&game, &state, player), &actions, &mut policy);
        let chosen = first_highest(&found.values);
        assert!(policy[chosen] > 0.0, "seed {seed}");
    }
}

#[test]
fn a_fast_win_is_better_than_a_slow_one() {
    // The first player has three in a row, the other one three above them: column 4 wins at once.
    let game = ConnectFour;
    let mut state = game.start();
    [0, 0, 1, 1, 2, 2].iter().for_each(|column| game.apply(&mut state, column));
    let Turn::Player(player) = game.turn(&state) else { panic!() };
    let mut actions = Vec::new();
    game.actions(&state, &mut actions);
    let mut search = Search::new(&game, Whim, SearchOptions::from(Budget::Plies(6)));
    let found = search.search(Decision::new(&game, &state, player), &actions);
    assert_eq!(found.line[0], actions[3]);
    assert!(found.solved && found.values[3] == 1.0);
}

#[test]
fn searches_repeat_and_obey_their_budgets() {
    let game = ConnectFour;
    let mut rng = stream(3, "search test", 2);
    let (state, player, actions) = decision(&game, 10, &mut rng).unwrap();
    let mut search = Search::new(&game, Whim, SearchOptions::from(Budget::Nodes(5_000)));
    let first = search.search(Decision::new(&game, &state, player), &actions).clone();
    assert!((5_000..5_200).contains(&first.nodes), "{}", first.nodes);
    search.search(Decision::new(&game, &game.start(), 0), &actions);
    assert_eq!(search.search(Decision::new(&game, &state, player), &actions).values, first.values);
    // A table that has grown since does not matter.
    search.options.budget = Budget::Plies(7);
    search.search(Decision::new(&game, &state, player), &actions);
    search.options.budget = Budget::Nodes(5_000);
    let again = search.search(Decision::new(&game, &state, player), &actions);
    assert_eq!((&again.values, again.nodes), (&first.values, first.nodes));
    // A budget that is too small for two plies still gives every action its value.
    let mut short = Search::new(&game, Whim, SearchOptions::from(Budget::Nodes(1)));
    let found = short.search(Decision::new(&game, &state, player), &actions);
    assert!(found.plies == 1 && found.values.iter().all(|value| value.is_finite()));
}

#[test]
fn a_search_that_is_stopped_says_how_far_it_looked() {
    let game = Bearoff::new(5).unwrap();
    let (state, player) = (0..)
        .find_map(|seed| {
            let (state, player, actions) = decision(&game, 2, &mut stream(seed, "search test", 3))?;
            (actions.len() > 1).then_some((state, player))
        })
        .unwrap();
    let at = Decision::new(&game, &state, player);
    let mut search = Search::new(&game, Whim, "3".parse().unwrap());
    let (mut listed, mut whole, mut values) = (Vec::new(), Vec::new(), Vec::new());
    search.study(at, &mut listed, &mut whole);
    assert!(search.looked().is_some_and(|reach| reach.is_finished() && reach.shortfall().is_none()));
    // Where the time may end, each depth comes after the one before. The values are the same.
    search.until = Some(Instant::now() + Duration::from_secs(3600));
    search.study(at, &mut listed, &mut values);
    assert_eq!(values, whole);
    search.until = Some(Instant::now());
    search.study(at, &mut listed, &mut values);
    let reach = search.looked().unwrap();
    assert_eq!((reach.plies, reach.asked, reach.is_finished()), (1, Some(3), false));
    let mut alone = Vec::new();
    Whim.values(at, &listed, &mut alone);
    assert_eq!(values, alone);
    let said = inspect_by(&game, &mut search, &(state, None), "x".into(), false).unwrap();
    let said = serde_json::to_value(said).unwrap();
    assert_eq!((&said["search"]["plies"], &said["search"]["asked_plies"]), (&json!(1), &json!(3)));
    assert_eq!(said["search"]["finished"], false);
    assert!(Greedy::new(search).explain(at).contains("stopped before it looked ahead"));
    let partly = Reach { plies: 2, asked: Some(3), solved: false };
    assert_eq!(partly.shortfall().as_deref(), Some("stopped after 2 of 3 plies"));
    // A network alone was not asked to look ahead.
    let mut alone = Search::new(&game, Whim, SearchOptions::from(Budget::Plies(1)));
    alone.study(at, &mut listed, &mut values);
    assert!(alone.looked().is_none());
}

/// Values with an error that each value tells, as if from samples; it stops the search after some of its decisions.
struct Sampled {
    errors: Vec<f32>,
    left: u32,
    stop: Arc<AtomicBool>,
}

fn error_of(value: f32) -> f32 {
    0.1 + 0.05 * value
}

impl<G: Game> Evaluator<G> for Sampled {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        Whim.values(at, actions, values);
        self.errors = values.iter().map(|value| error_of(*value)).collect();
        self.left = self.left.saturating_sub(1);
        self.stop.store(self.left == 0, Ordering::Relaxed);
    }

    fn errors(&self) -> &[f32] {
        &self.errors
    }
}

/// Wherever a search stops, it shows the errors of the values that it shows, or none if it searched.
#[test]
fn errors_belong_to_the_values_beside_them() {
    fn at_every_stop<G: Kit>(game: &G) {
        let (state, player, actions) =
            (0..).find_map(|seed| decision(game, 1, &mut stream(seed, "search test", 4))).unwrap();
        let at = Decision::new(game, &state, player);
        let (mut kept, mut dropped) = (0, 0);
        for all in [false, true] {
            for left in (1..400).step_by(7) {
                let sampled = Sampled { errors: Vec::new(), left, stop: Arc::default() };
                let stop = sampled.stop.clone();
                let mut options = SearchOptions::from(Budget::Plies(3));
                options.all = all;
                let mut search = Search::new(game, sampled, options);
                (search.stop, search.until) = (stop, Some(Instant::now() + Duration::from_secs(3600)));
                let mut values = Vec::new();
                search.values(at, &actions, &mut values);
                let is_static = search.looked().unwrap().plies == 1;
                let errors = search.errors();
                if errors.is_empty() {
                    dropped += 1;
                    assert!(!is_static || !all);
                } else {
                    kept += 1;
                    assert!(is_static);
                    let expected: Vec<f32> = values.iter().map(|value| error_of(*value)).collect();
                    assert_eq!(errors, expected);
                }
            }
        }
        assert!(kept > 0 && dropped > 0, "{}: {kept} {dropped}", game.name());
    }
    at_every_stop(&ConnectFour);
    at_every_stop(&Bearoff::new(5).unwrap());
}

/// An evaluator without a bound, as a linear network is one.
struct Bold;

impl<G: Game> Evaluator<G> for Bold {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        Whim.values(at, actions, values);
        let mut own = values.iter_mut();
        each_after(at.game, at.state, actions, |after, _| {
            let value = own.next().unwrap();
            *value *= if at.game.turn(after) == Turn::Over { 1.0 } else { 40.0 };
        });
    }
}

#[test]
fn values_without_a_bound_are_not_taken_for_wins() {
    let game = TicTacToe;
    let mut minimax = Minimax::solve(&game).unwrap();
    let mut search = Search::new(&game, Bold, SearchOptions::from(Budget::Plies(9)));
    for seed in 0..100 {
        let mut rng = stream(seed, "search test", 3);
        let Some((state, player, actions)) = decision(&game, rng.random_range(0..8), &mut rng) else {
            continue;
        };
        let chosen = first_highest(&search.search(Decision::new(&game, &state, player), &actions).values);
        let mut policy = Vec::new();
        minimax.policy(Decision::new(&game, &state, player), &actions, &mut policy);
        assert!(policy[chosen] > 0.0, "seed {seed}");
    }
    // Nobody can have won for sure after two plies.
    search.options.budget = Budget::Plies(2);
    let mut actions = Vec::new();
    game.actions(&game.start(), &mut actions);
    assert!(!search.search(Decision::new(&game, &game.start(), 0), &actions).solved);
}

#[test]
fn a_small_budget_before_dice_covers_all_of_them() {
    let game = Bearoff::default();
    let mut rng = stream(5, "search test", 4);
    let (mut state, player, actions) = decision(&game, 4, &mut rng).unwrap();
    game.apply(&mut state, &actions[0]);
    assert_eq!(game.turn(&state), Turn::Chance);
    let found = |budget| {
        let mut search = Search::new(&game, Whim, SearchOptions::from(budget));
        (search.before_chance(&game, &state, 1 - player), search.found().plies)
    };
    assert_eq!(found(Budget::Nodes(1)), found(Budget::Plies(1)));
}

/// A game of three moves opens in 9 · 8 ways after two, and a third of a random game are two moves; Connect Four has 7³ after three.
/// Perfect play shares ties out at random, and dice make games differ.
#[test]
fn games_that_repeat_each_other_open_at_random() {
    fn plies<G: Game>(game: &G, mut agent: impl Agent<G>) -> u32 {
        opening_plies(game, &mut [&mut agent as &mut dyn Agent<G>], &vec![0; game.players()], 1).unwrap()
    }
    assert_eq!(plies(&TicTacToe, Greedy::new(Whim)), 2);
    assert_eq!(plies(&ConnectFour, Greedy::new(Whim)), 3);
    assert_eq!(plies(&TicTacToe, Minimax::solve(&TicTacToe).unwrap()), 0);
    assert_eq!(plies(&Bearoff::default(), Greedy::new(Whim)), 0);
}

#[test]
fn random_openings_vary_the_games_and_are_the_same_in_every_seat_order() {
    let orders = orders(&[1, 1]);
    let openings = |random_plies| {
        let game_of = |g| {
            let mut agents = [Greedy::new(Whim), Greedy::new(Whim)];
            replay(&TicTacToe, &mut agents, &orders, g, Deals { seed: 1, random_plies }).unwrap().actions
        };
        let games: Vec<_> = (0..40).map(game_of).collect();
        for deal in games.chunks(2) {
            let plies = (random_plies as usize).min(deal[0].len());
            assert_eq!(deal[0][..plies], deal[1][..plies]);
        }
        games.into_iter().collect::<std::collections::HashSet<_>>().len()
    };
    assert_eq!(openings(0), 1);
    assert!(openings(2) > 10);
    // More than a game has.
    assert!(openings(9) > 15);
}
