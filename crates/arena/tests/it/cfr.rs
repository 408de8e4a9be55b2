//! Exact solutions of small games of liar's dice: reference values, exploitability compared with plain recursion.

use adept_arena::cfr::{Advantages, CfrPlus, Mccfr, Policy, Tabular, Tree};
use adept_arena::{Agent, Decision, ExactError, Random, expected_utilities};
use adept_builtin::liars_dice::{Info, LiarsDice};
use adept_builtin::small_poker::SmallPoker;
use adept_game::{Game, PublicTree, Stream, Turn, stream};
use proptest::prelude::*;
use rand::RngExt;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

fn game(name: &str) -> LiarsDice {
    LiarsDice::named(&format!("liars-dice:openspiel:{name}"))
        .unwrap_or_else(|| panic!("{name} is not a game"))
}

fn tree(name: &str) -> Arc<Tree> {
    Arc::new(Tree::new(&game(name)).unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn solved(name: &str, iterations: u64) -> Policy {
    let mut solver = CfrPlus::on(tree(name));
    solver.iterate(iterations);
    assert_eq!(solver.iterations(), iterations);
    solver.average()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "found {found}, expected {expected} to {within}");
}

/// Random probabilities that sum to 1; some are 0.
fn draw_probabilities(row: &mut [f64], rng: &mut Stream) {
    for p in row.iter_mut() {
        *p = (rng.random::<f64>() - 0.3_f64).max(0.0);
    }
    let total: f64 = row.iter().sum();
    let uniform = 1.0 / row.len() as f64;
    row.iter_mut().for_each(|p| *p = if total > 0.0 { *p / total } else { uniform });
}

fn random_policy(tree: &Arc<Tree>, seed: u64) -> Policy {
    let mut rng = stream(seed, "policy", 0);
    Policy::from_fn(tree, |_, _, row| draw_probabilities(row, &mut rng))
}

/// A random policy from a fixed seed.
struct Hashed(u64);

impl Agent<LiarsDice> for Hashed {
    fn name(&self) -> &str {
        "hashed"
    }

    fn policy(
        &mut self,
        at: Decision<'_, LiarsDice>,
        actions: &[<LiarsDice as Game>::Action],
        probabilities: &mut Vec<f64>,
    ) {
        let mut hasher = DefaultHasher::new();
        at.game.info(at.state, at.player).hash(&mut hasher);
        probabilities.clear();
        probabilities.resize(actions.len(), 0.0);
        draw_probabilities(probabilities, &mut stream(self.0, "hashed", hasher.finish()));
    }
}

// ------------------------------------------------------------------------------------------ advantages

/// v(σ', σ₋ᵢ) − v(σ) = Σ_I πᵢ'(I) π₋ᵢ(I) Σ_a σ'(a | I) A(I, a): the gain of a player from σ' instead of σ (Kakade and
/// Langford 2002, lemma 6.1, for information sets).
#[test]
fn advantages_add_up_to_what_another_policy_gains() {
    for name in ["1-1:3", "2-1:2", "1-2:3:no-wild"] {
        let tree = tree(name);
        for seed in 0..5 {
            let (before, after) = (random_policy(&tree, seed), random_policy(&tree, 100 + seed));
            let (mut found, mut reached) = (Advantages::default(), Advantages::default());
            before.advantages(&mut found);
            after.advantages(&mut reached);
            for player in 0..2 {
                // Only the player's own policy changes.
                let mixed = Policy::from_fn(&tree, |at, private, row| {
                    let from = if tree.mover(at) == Some(player) { &after } else { &before };
                    row.copy_from_slice(from.row(at, private));
                });
                let (mut gain, mut set, mut entry) = (0.0, 0, 0);
                for at in 0..tree.len() {
                    let Some(mover) = tree.mover(at) else { continue };
                    for private in 0..tree.privates(mover).len() {
                        let row = after.row(at, private);
                        if mover == player {
                            let better =
                                row.iter().enumerate().map(|(a, p)| p * f64::from(found.regrets[entry + a]));
                            gain += reached.own[set] * found.other[set] * better.sum::<f64>();
                        }
                        (set, entry) = (set + 1, entry + row.len());
                    }
                }
                let sign = if player == 0 { 1.0 } else { -1.0 };
                assert_close(sign * (mixed.value() - before.value()), gain, 1e-6);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------- the tree

#[test]
fn trees_hold_every_sequence_once() {
    for (name, bids, privates) in [("1-1:2", 4, [2, 2]), ("1-1:4", 8, [4, 4]), ("2-1:3:no-wild", 9, [6, 3])] {
        let tree = tree(name);
        // Each set of bids is a sequence. Each except the empty one can be challenged.
        assert_eq!(tree.len(), 2 * (1 << bids) - 1);
        assert!(!tree.is_empty());
        assert_eq!([0, 1].map(|p| tree.privates(p).len()), privates);
        assert_eq!(tree.information_sets(), (1 << (bids - 1)) * (privates[0] + privates[1]));
        assert_eq!(tree.mover(0), Some(0));
        assert_eq!((tree.mover(tree.len() - 1), tree.mover(tree.len())), (None, None));
        let uniform = Policy::uniform(&tree);
        assert_eq!(uniform.row(0, 0), vec![1.0 / f64::from(bids); bids as usize]);
        assert_eq!([uniform.row(0, privates[0]), uniform.row(tree.len(), 0)], [&[0.0; 0]; 2]);
    }
}

#[test]
fn what_has_no_tree_or_too_large_a_one_is_refused() {
    for (name, error) in [
        ("liars-dice:soar:2x2", ExactError::Chance),
        ("liars-dice:openspiel:60-60:6", ExactError::Chance),
        ("liars-dice:openspiel:5-5:6", ExactError::Size(20_000_000)),
        ("liars-dice:openspiel:12-12:6", ExactError::Size(20_000_000)),
    ] {
        let game = LiarsDice::named(name).expect("a game");
        assert_eq!(Tree::new(&game).map(|_| ()), Err(error.clone()), "{name}");
        assert_eq!(CfrPlus::new(&game).map(|_| ()), Err(error.clone()), "{name}");
        assert_eq!(Mccfr::new(&game, 1).map(|_| ()), Err(error), "{name}");
    }
}

// ------------------------------------------------------------------------------------------ exploitability

/// Expected utility of a best response of the player in `seat`, by recursion over information sets. `states` holds the
/// states of one information set, weighted by the probability of everything except the player's own actions.
fn best_response(
    game: &LiarsDice,
    states: Vec<(<LiarsDice as Game>::State, f64)>,
    seat: usize,
    other: &mut dyn Agent<LiarsDice>,
) -> f64 {
    let (mut value, mut open) = (0.0, states);
    let mut known: HashMap<Info, Vec<(<LiarsDice as Game>::State, f64)>> = HashMap::new();
    let (mut actions, mut p) = (Vec::new(), Vec::new());
    while let Some((state, weight)) = open.pop() {
        let branches: Vec<_> = match game.turn(&state) {
            Turn::Over => {
                value += weight * game.utility(&state, seat);
                continue;
            }
            Turn::Player(player) if player == seat => {
                known.entry(game.info(&state, seat)).or_default().push((state, weight));
                continue;
            }
            Turn::Player(player) => {
                game.actions(&state, &mut actions);
                other.policy(Decision::new(game, &state, player), &actions, &mut p);
                actions.iter().copied().zip(p.iter().copied()).collect()
            }
            Turn::Chance => {
                let mut outcomes = Vec::new();
                assert!(game.outcomes(&state, &mut outcomes));
                outcomes
            }
        };
        for (action, p) in branches {
            let mut next = state.clone();
            game.apply(&mut next, &action);
            open.push((next, weight * p));
        }
    }
    for states in known.into_values() {
        game.actions(&states[0].0, &mut actions);
        let after = |action| {
            let apply = |(state, weight): &(<LiarsDice as Game>::State, f64)| {
                let mut next = state.clone();
                game.apply(&mut next, action);
                (next, *weight)
            };
            best_response(game, states.iter().map(apply).collect(), seat, &mut *other)
        };
        value += actions.iter().map(after).fold(f64::NEG_INFINITY, f64::max);
    }
    value
}

#[test]
fn best_responses_are_those_of_plain_recursion() {
    for (name, seeds) in [("1-1:2", 20), ("1-1:2:no-wild", 20), ("1-1:3", 3), ("2-1:2", 3)] {
        let (game, tree) = (game(name), tree(name));
        for seed in 0..seeds {
            let agent = || Hashed(seed);
            let policy = Policy::of_agent(&game, &tree, &mut agent()).expect("a policy");
            let plain =
                [0, 1].map(|seat| best_response(&game, vec![(game.start(), 1.0)], seat, &mut agent()));
            let found = policy.best_responses();
            assert_close(found[0], plain[0], 1e-12);
            assert_close(found[1], plain[1], 1e-12);
            assert_close(policy.exploitability(), (plain[0] + plain[1]) / 2.0, 1e-12);
            let walked =
                expected_utilities(&game, &game.start(), &mut [Box::new(agent()), Box::new(agent())]);
            assert_close(policy.value(), walked.expect("it is small")[0], 1e-12);
        }
    }
}

#[test]
fn uniform_play_is_exploitable() {
    for (name, expected) in
        [("1-1:4", 0.655), ("1-1:5", 0.721), ("1-1:6", 0.781), ("1-1:6:no-wild", 0.880), ("2-2:3", 0.739)]
    {
        let tree = tree(name);
        let uniform = Policy::uniform(&tree);
        assert_close(uniform.exploitability(), expected, 0.002);
        let asked = Policy::of_agent(&game(name), &tree, &mut Random).expect("a policy");
        assert_close(asked.exploitability(), uniform.exploitability(), 1e-12);
    }
}

/// Returns the probabilities for a number of actions.
type Answer = fn(usize) -> Vec<f64>;

/// An agent with NaN probabilities or too few of them.
struct Broken(Answer);

impl Agent<LiarsDice> for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn policy(
        &mut self,
        _: Decision<'_, LiarsDice>,
        actions: &[<LiarsDice as Game>::Action],
        probabilities: &mut Vec<f64>,
    ) {
        *probabilities = self.0(actions.len());
    }
}

#[test]
fn what_is_no_policy_is_refused() {
    let broken: [(Answer, &str); 3] =
        [(|n| vec![f64::NAN; n], "NaN"), (|n| vec![1.0; n], "8"), (|_| vec![1.0], "1")];
    for (policy, sum) in broken {
        let found = Policy::of_agent(&game("1-1:4"), &tree("1-1:4"), &mut Broken(policy));
        assert_eq!(found.map(|_| ()), Err(ExactError::Policy(sum.into())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A best response wins at least as much as the policy itself.
    #[test]
    fn exploitability_is_never_below_0(seed: u64, game in 0..3_usize) {
        let policy = random_policy(&tree(["1-1:3", "2-1:2", "1-2:3:no-wild"][game]), seed);
        let ([first, second], value) = (policy.best_responses(), policy.value());
        prop_assert!(first >= value - 1e-12 && second >= -value - 1e-12);
        prop_assert!(policy.exploitability() >= -1e-12);
        prop_assert!(policy.exploitability() <= 1.0 + 1e-12);
    }
}

// ------------------------------------------------------------------------------------------------- solvers

#[test]
fn values_and_exploitability_of_cfr_plus() {
    for (name, iterations, value, exploitability) in [
        ("1-1:4", 1000, 0.0625, 1e-4),
        ("1-1:5", 1000, 0.0080, 1e-4),
        ("1-1:6", 1000, -0.027_132, 1.5e-4),
        ("1-1:6:no-wild", 1000, -1.0 / 9.0, 2e-5),
        ("2-2:3", 1000, 0.061_728, 1e-4),
    ] {
        let policy = solved(name, iterations);
        let found = policy.exploitability();
        assert!((0.0..=exploitability).contains(&found), "{name}: {found}");
        assert_close(policy.value(), value, 1e-3);
        // The value lies between the guarantees of both players' policies.
        let [first, second] = policy.best_responses();
        assert!(-second <= value + 1e-4 && value <= first + 1e-4, "{name}: {second} {first}");
    }
}

/// CFR+ as its paper writes it: one private index and one action at a time. It adds in the order of the solver, because noise in
/// the last bit of a regret decides a policy where actions are equally good.
struct Plain<'a, G: PublicTree> {
    game: &'a G,
    /// By node in preorder, action and private index.
    regrets: HashMap<(usize, usize, usize), f64>,
    sums: HashMap<(usize, usize, usize), f64>,
    iteration: f64,
}

impl<G: PublicTree> Plain<'_, G> {
    fn strategy(&self, at: usize, actions: usize, private: usize) -> Vec<f64> {
        let regrets: Vec<f64> =
            (0..actions).map(|a| *self.regrets.get(&(at, a, private)).unwrap_or(&0.0)).collect();
        let total = regrets.iter().fold(0.0, |sum, r| sum + r);
        regrets.iter().map(|r| if total > 0.0 { r * (1.0 / total) } else { 1.0 / actions as f64 }).collect()
    }

    /// Adds the counterfactual values of the player's private indices; `at` becomes the node after this subtree.
    fn visit(
        &mut self,
        public: &G::Public,
        at: &mut usize,
        player: usize,
        [own, other]: [&[f64]; 2],
        value: &mut [f64],
    ) {
        let here = *at;
        *at += 1;
        let mover = match self.game.public_turn(public) {
            Turn::Over => {
                let (mut matrix, sizes) = (Vec::new(), [0, 1].map(|p| self.game.privates(p).len()));
                self.game.payoffs(public, sizes, &mut matrix);
                for (i, v) in value.iter_mut().enumerate() {
                    for (j, p) in other.iter().enumerate() {
                        *v += match player {
                            0 => p * matrix[i * sizes[1] + j],
                            _ => p * -matrix[j * sizes[1] + i],
                        };
                    }
                }
                return;
            }
            Turn::Player(mover) => Some(mover),
            Turn::Chance => None,
        };
        let mut actions = Vec::new();
        self.game.public_actions(public, &mut actions);
        let next = |a: usize| self.game.public_apply(public, &actions[a]);
        let Some(mover) = mover.filter(|_| actions.len() > 1) else {
            for a in 0..actions.len() {
                self.visit(&next(a), at, player, [own, other], value);
            }
            return;
        };
        let reached = if mover == player { own } else { other };
        let policy: Vec<Vec<f64>> =
            (0..reached.len()).map(|i| self.strategy(here, actions.len(), i)).collect();
        let mut values = vec![vec![0.0; value.len()]; actions.len()];
        for (a, below) in values.iter_mut().enumerate() {
            let reach: Vec<f64> = reached.iter().enumerate().map(|(i, p)| p * policy[i][a]).collect();
            if mover == player {
                for (i, p) in reach.iter().enumerate() {
                    *self.sums.entry((here, a, i)).or_default() += self.iteration * p;
                }
                self.visit(&next(a), at, player, [&reach, other], below);
            } else {
                self.visit(&next(a), at, player, [own, &reach], value);
            }
        }
        if mover == player {
            for (i, v) in value.iter_mut().enumerate() {
                let mean = (0..actions.len()).fold(0.0, |sum, a| sum + policy[i][a] * values[a][i]);
                for (a, below) in values.iter().enumerate() {
                    let regret = self.regrets.entry((here, a, i)).or_default();
                    *regret = (*regret + below[i] - mean).max(0.0);
                }
                *v += mean;
            }
        }
    }

    fn iterate(&mut self) {
        self.iteration += 1.0;
        for player in 0..2 {
            let (own, other) = (vec![1.0; self.game.privates(player).len()], self.game.privates(1 - player));
            let mut value = vec![0.0; own.len()];
            self.visit(&self.game.root(), &mut 0, player, [&own, &other], &mut value);
        }
    }
}

fn is_plain_cfr_plus<G: PublicTree>(game: &G) {
    let mut plain = Plain { game, regrets: HashMap::new(), sums: HashMap::new(), iteration: 0.0 };
    let mut solver = CfrPlus::new(game).expect("it is small");
    for _ in 0..12 {
        plain.iterate();
        solver.iterate(1);
    }
    let (policy, tree) = (solver.average(), solver.tree());
    for node in 0..tree.len() {
        let privates = tree.mover(node).map_or(0, |player| tree.privates(player).len());
        for private in 0..privates {
            let found = policy.row(node, private);
            let sum = |a| plain.sums.get(&(node, a, private)).copied().unwrap_or(0.0);
            let total = (0..found.len()).fold(0.0, |total, a| total + sum(a));
            for (a, p) in found.iter().enumerate() {
                let expected = if total > 0.0 { sum(a) / total } else { 1.0 / found.len() as f64 };
                assert_eq!(*p, expected, "node {node}, private index {private}, action {a}");
            }
        }
    }
}

#[test]
fn cfr_plus_is_what_its_paper_writes() {
    ["1-1:3", "1-1:4", "2-1:3", "1-2:2:no-wild", "2-1:4:no-wild"]
        .into_iter()
        .for_each(|name| is_plain_cfr_plus(&game(name)));
    [SmallPoker::KUHN, SmallPoker::LEDUC].iter().for_each(is_plain_cfr_plus);
}

#[test]
fn cfr_plus_after_100_iterations() {
    assert!(solved("1-1:6", 100).exploitability() <= 0.01);
}

#[test]
fn iterations_may_be_made_in_parts() {
    let mut parts = CfrPlus::on(tree("1-1:4"));
    [1, 0, 6, 13].into_iter().for_each(|n| parts.iterate(n));
    assert_eq!(parts.iterations(), 20);
    let (parts, whole) = (parts.average(), solved("1-1:4", 20));
    for node in 0..whole.tree().len() {
        for private in 0..4 {
            assert_eq!(parts.row(node, private), whole.row(node, private));
        }
    }
}

/// After one iteration, both players have played their first policies, which are uniform.
#[test]
fn the_first_average_is_uniform_and_the_second_better() {
    let uniform = Policy::uniform(&tree("1-1:2"));
    let [first, second] = [1, 2].map(|n| solved("1-1:2", n));
    for node in 0..uniform.tree().len() {
        for private in 0..2 {
            for (p, expected) in first.row(node, private).iter().zip(uniform.row(node, private)) {
                assert_close(*p, *expected, 1e-12);
            }
        }
    }
    assert!(second.exploitability() < uniform.exploitability());
}

#[test]
fn mccfr_finds_the_same_and_repeats() {
    let mut solver = Mccfr::new(&game("1-1:4"), 1).expect("it is small");
    solver.iterate(30_000);
    assert_eq!(solver.iterations(), 30_000);
    let found = solver.average();
    assert!((0.0..0.05).contains(&found.exploitability()), "{}", found.exploitability());
    assert_close(found.value(), 0.0625, 0.05);
    let again = |seed| {
        let mut solver = Mccfr::on(tree("1-1:4"), seed);
        (0..3).for_each(|_| solver.iterate(500));
        let policy = solver.average();
        (0..policy.tree().len()).flat_map(|node| policy.row(node, 2).to_vec()).collect::<Vec<f64>>()
    };
    assert_eq!(again(5), again(5));
    assert_ne!(again(5), again(6));
}

// --------------------------------------------------------------------------------------------------- agents

#[test]
fn a_solved_policy_plays_as_it_is_measured() {
    for (name, iterations) in [("1-1:4", 200), ("1-2:2", 50), ("1-1:3:no-wild", 10)] {
        let game = game(name);
        let policy = solved(name, iterations);
        let seat = || -> Box<dyn Agent<LiarsDice>> { Box::new(Tabular::new("cfr+", &game, policy.clone())) };
        let walked = expected_utilities(&game, &game.start(), &mut [seat(), seat()]).expect("it is small");
        assert_close(policy.value(), walked[0], 1e-9);
        assert_close(policy.value(), -walked[1], 1e-9);

        let mut agent = Tabular::new("cfr+", &game, policy.clone());
        assert_eq!(agent.name(), "cfr+");
        let asked = Policy::of_agent(&game, policy.tree(), &mut agent).expect("a policy");
        for node in 0..policy.tree().len() {
            for private in 0..3 {
                assert_eq!(asked.row(node, private), policy.row(node, private));
            }
        }
        assert_eq!(agent.table().exploitability(), policy.exploitability());
    }
}

#[test]
fn a_solved_policy_of_another_game_is_uniform() {
    let (own, other) = (game("1-1:4"), game("1-1:5"));
    let mut agent = Tabular::new("cfr+", &own, solved("1-1:4", 10));
    let asked = Policy::of_agent(&other, &tree("1-1:5"), &mut agent).expect("a policy");
    let root = Policy::uniform(asked.tree());
    assert_eq!(asked.row(0, 4), root.row(0, 4));
}
