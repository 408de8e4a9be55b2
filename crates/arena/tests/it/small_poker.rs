//! Kuhn's and Leduc poker, solved on the public tree: cards that depend on each other, and a card on the table.

use adept_arena::cfr::{Advantages, CfrPlus, Mccfr, Policy, Tabular, Tree};
use adept_arena::{Agent, Random, best_responses, expected_utilities};
use adept_builtin::small_poker::SmallPoker;
use adept_game::{Game, stream};
use rand::RngExt;
use std::sync::Arc;

fn tree(game: &SmallPoker) -> Arc<Tree> {
    Arc::new(Tree::new(game).unwrap_or_else(|e| panic!("{e}")))
}

fn random_policy(tree: &Arc<Tree>, seed: u64) -> Policy {
    let mut rng = stream(seed, "policy", 0);
    Policy::from_fn(tree, |_, _, row| {
        row.iter_mut().for_each(|p| *p = rng.random::<f64>());
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    })
}

#[track_caller]
fn assert_close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "found {found}, expected {expected} to {within}");
}

/// Values and exploitabilities that are known (OpenSpiel; Kuhn 1950).
#[test]
fn solutions_have_the_known_values() {
    for (game, sets, uniform, value, iterations, exploitability) in [
        (SmallPoker::KUHN, 12, 0.4583, -1.0 / 18.0, 1000, 1e-3),
        (SmallPoker::LEDUC, 288, 2.3736, -0.0856, 1000, 5e-3),
    ] {
        let tree = tree(&game);
        // Sets with an own card that the table rules out are counted too: none here, as a rank may lie on the table.
        assert_eq!(tree.information_sets(), sets);
        assert_close(Policy::uniform(&tree).exploitability(), uniform, 1e-4);
        let mut solver = CfrPlus::on(tree.clone());
        solver.iterate(iterations);
        let average = solver.average();
        assert_close(average.value(), value, 1e-4);
        let found = average.exploitability();
        assert!((0.0..=exploitability).contains(&found), "{found}");
    }
}

/// The walk through all histories finds the best responses of the public tree.
#[test]
fn best_responses_by_information_sets_are_those_of_the_public_tree() {
    for game in [SmallPoker::KUHN, SmallPoker::LEDUC] {
        let tree = tree(&game);
        let found = best_responses(&game, Box::new(Random)).unwrap_or_else(|e| panic!("{e}"));
        let uniform = Policy::uniform(&tree).best_responses();
        assert_close(found[0], uniform[0], 1e-12);
        assert_close(found[1], uniform[1], 1e-12);
    }
}

#[test]
fn sampling_converges_too() {
    let mut solver = Mccfr::on(tree(&SmallPoker::LEDUC), 7);
    solver.iterate(1000);
    let early = solver.average().exploitability();
    solver.iterate(30_000);
    let late = solver.average().exploitability();
    assert!(late < 0.25 && late < early / 2.0, "{early} {late}");
}

/// The value on the public tree is that of plain recursion over the states of the game.
#[test]
fn values_are_those_of_plain_recursion() {
    for game in [SmallPoker::KUHN, SmallPoker::LEDUC] {
        let tree = tree(&game);
        for seed in 0..3 {
            let policy = random_policy(&tree, seed);
            let agent =
                || Box::new(Tabular::new("random policy", &game, policy.clone())) as Box<dyn Agent<_>>;
            let utilities = expected_utilities(&game, &game.start(), &mut [agent(), agent()]).unwrap();
            assert_close(policy.value(), utilities[0], 1e-10);
            // A best response does at least as well as any agent.
            let [best, _] = policy.best_responses();
            let other =
                expected_utilities(&game, &game.start(), &mut [Box::new(Random) as _, agent()]).unwrap();
            assert!(best >= utilities[0] - 1e-12 && best >= other[0] - 1e-12);
        }
    }
}

/// An advantage is what a policy gains by taking that action alone, divided by the probability to get there.
#[test]
fn advantages_are_gains_of_single_changes() {
    let game = SmallPoker::LEDUC;
    let tree = tree(&game);
    let policy = random_policy(&tree, 5);
    let value = policy.value();
    let mut found = Advantages::default();
    policy.advantages(&mut found);
    let (mut set, mut entry) = (0, 0);
    for node in 0..tree.len() {
        let Some(player) = tree.mover(node) else { continue };
        for private in 0..3 {
            let actions = policy.row(node, private).len();
            for action in 0..actions {
                let changed = Policy::from_fn(&tree, |at, i, row| {
                    row.copy_from_slice(policy.row(at, i));
                    if (at, i) == (node, private) {
                        row.fill(0.0);
                        row[action] = 1.0;
                    }
                });
                let gain = (changed.value() - value) * if player == 0 { 1.0 } else { -1.0 };
                let reach = found.own[set] * found.other[set];
                assert_close(f64::from(found.regrets[entry]) * reach, gain, 1e-6);
                entry += 1;
            }
            set += 1;
        }
    }
    assert_eq!((set, entry), (found.own.len(), found.regrets.len()));
}
