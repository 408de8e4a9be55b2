//! Tic-tac-toe: exact reference values, exact measurement compared with plain recursion, and the agents' policies.

use adept_arena::naming::Play;
use adept_arena::{
    Agent, AgentSpec, BestResponse, Boltzmann, Decision, EpsilonGreedy, Equity, Evaluator, GameModel, Grader,
    Greedy, Minimax, Random, Scripted, WinDrawLoss, equity, expected_utilities, open,
};
use adept_builtin::gdl::Described;
use adept_builtin::tictactoe::{Fields, Position, TicTacToe, ttt_moves};
use adept_game::{Encoder, Game, Turn, draw_index, stream};
use adept_model::Optimiser;
use adept_model::architecture::{Architecture, InitScale, Mlp, OneOrEach};
use adept_model::program::Activation;
use rand::RngExt;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

type Player = Box<dyn Agent<TicTacToe>>;
const GAME: TicTacToe = TicTacToe;

/// The agent with this name.
fn agent(text: &str) -> Player {
    open::agent(&GAME, text).unwrap_or_else(|e| panic!("{e}"))
}

fn at(text: &str) -> Position {
    GAME.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn after(state: &Position, action: u8) -> Position {
    let mut next = *state;
    GAME.apply(&mut next, &action);
    next
}

fn legal(state: &Position) -> Vec<u8> {
    let mut actions = Vec::new();
    GAME.actions(state, &mut actions);
    actions
}

fn policy(agent: &mut dyn Agent<TicTacToe>, state: &Position) -> Vec<f64> {
    let mut p = vec![9.0];
    agent.policy(Decision::new(&GAME, state, state.mover()), &legal(state), &mut p);
    p
}

/// Every position with a player to move.
fn decisions() -> Vec<Position> {
    let (mut seen, mut open) = (HashSet::new(), vec![GAME.start()]);
    while let Some(state) = open.pop() {
        if GAME.turn(&state) != Turn::Over && seen.insert(state) {
            open.extend(legal(&state).into_iter().map(|a| after(&state, a)));
        }
    }
    seen.into_iter().collect()
}

/// Probabilities of a win, a draw and a loss of player 0, by recursion over every game without memoisation.
fn chances(state: &Position, players: &mut [&mut dyn Agent<TicTacToe>; 2]) -> [f64; 3] {
    let Turn::Player(player) = GAME.turn(state) else {
        let utility = GAME.utility(state, 0);
        return [1.0, 0.0, -1.0].map(|u| f64::from(utility == u));
    };
    let p = policy(&mut *players[player], state);
    let mut sum = [0.0; 3];
    for (action, p) in legal(state).into_iter().zip(p).filter(|(_, p)| *p > 0.0) {
        let below = chances(&after(state, action), players);
        (0..3).for_each(|i| sum[i] += p * below[i]);
    }
    sum
}

#[track_caller]
fn assert_close(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "found {found}, expected {expected} to {within}");
}

// ------------------------------------------------------------------------------------ exact references

#[track_caller]
fn assert_against_ttt(agent: &mut dyn Agent<TicTacToe>, first: f64, second: f64, both: f64, within: f64) {
    let Equity { equity, seats } = equity(&GAME, agent, &mut *self::agent("ttt")).expect("the game is small");
    assert_eq!(seats.len(), 2);
    assert_close(seats[0], first, within);
    assert_close(seats[1], second, within);
    assert_close(equity, both, within);
}

#[test]
fn the_optimum_against_ttt_is_637_960ths() {
    assert_against_ttt(&mut *agent("optimal:ttt"), 89.0 / 96.0, 0.4, 637.0 / 960.0, 1e-12);
}

/// The best response to a fixed agent among the moves that keep enough of the minimax value.
struct Restricted {
    minimax: Minimax<TicTacToe>,
    other: Player,
    /// Whether a move must keep the full minimax value, or only avoid losing to perfect play.
    perfect: bool,
    known: HashMap<(Position, usize), f64>,
}

impl Restricted {
    fn new(other: &str, perfect: bool) -> Self {
        let minimax = Minimax::solve(&GAME).expect("the game is small");
        Self { minimax, other: agent(other), perfect, known: HashMap::new() }
    }

    /// Minimax value for the player.
    fn game_value(&mut self, state: &Position, player: usize) -> f64 {
        let value = self.minimax.value(&GAME, state).expect("the game is small");
        match GAME.turn(state) {
            Turn::Player(p) if p == player => value,
            Turn::Player(_) => -value,
            _ => GAME.utility(state, player),
        }
    }

    /// The allowed moves with their values against the opponent.
    fn allowed(&mut self, state: &Position, player: usize) -> Vec<(u8, f64)> {
        let kept = if self.perfect { self.game_value(state, player) } else { 0.0 };
        let mut left = legal(state);
        left.retain(|&a| self.game_value(&after(state, a), player) >= kept);
        assert!(!left.is_empty(), "a player who has not made a losing move has a move that does not lose");
        left.into_iter().map(|a| (a, self.value(&after(state, a), player))).collect()
    }

    /// Expected utility of a state for `player`, who plays this policy.
    fn value(&mut self, state: &Position, player: usize) -> f64 {
        if GAME.turn(state) == Turn::Over {
            return GAME.utility(state, player);
        }
        if let Some(known) = self.known.get(&(*state, player)) {
            return *known;
        }
        let value = if state.mover() == player {
            self.allowed(state, player).into_iter().map(|(_, v)| v).fold(f64::NEG_INFINITY, f64::max)
        } else {
            let p = policy(&mut *self.other, state);
            let taken: Vec<(u8, f64)> = legal(state).into_iter().zip(p).filter(|(_, p)| *p > 0.0).collect();
            taken.into_iter().map(|(a, p)| p * self.value(&after(state, a), player)).sum()
        };
        self.known.insert((*state, player), value);
        value
    }
}

impl Agent<TicTacToe> for Restricted {
    fn name(&self) -> &str {
        "restricted"
    }

    fn policy(&mut self, at: Decision<'_, TicTacToe>, actions: &[u8], probabilities: &mut Vec<f64>) {
        let allowed = self.allowed(at.state, at.player);
        let best = allowed.into_iter().reduce(|a, b| if b.1 > a.1 + 1e-12 { b } else { a });
        let (best, _) = best.expect("something is allowed");
        probabilities.clear();
        probabilities.extend(actions.iter().map(|&a| f64::from(a == best)));
    }
}

/// With the first move it equals the optimum; with the second it loses .14.
#[test]
fn never_losing_costs_seven_hundredths_of_equity() {
    let mut never_losing = Restricted::new("ttt", false);
    assert_against_ttt(&mut never_losing, 89.0 / 96.0, 0.260_317, 0.593_700, 5e-7);
    let mut ttt = agent("ttt");
    let [_, _, lost] = chances(&GAME.start(), &mut [&mut never_losing, &mut *ttt]);
    let [lost_too, _, _] = chances(&GAME.start(), &mut [&mut *ttt, &mut never_losing]);
    assert_eq!([lost, lost_too], [0.0, 0.0]);
}

/// The perfect play that does best against a random opponent wins 99.48 % of games with the first move and 91.64 % with
/// the second. It draws the others.
#[test]
fn perfect_against_random() {
    let mut perfect = Restricted::new("random", true);
    let mut random = Random;
    let [win, draw, loss] = chances(&GAME.start(), &mut [&mut perfect, &mut random]);
    assert_close(win, 0.9948, 5e-5);
    assert_close(draw, 0.0052, 5e-5);
    assert_eq!(loss, 0.0);
    let [loss, draw, win] = chances(&GAME.start(), &mut [&mut random, &mut perfect]);
    assert_close(win, 0.9164, 5e-5);
    assert_close(draw, 0.0836, 5e-5);
    assert_eq!(loss, 0.0);
    // The best response to random wins more by risking a loss, but only with the second move.
    let mut optimum = agent("optimal:random");
    let best = equity(&GAME, &mut *optimum, &mut random).expect("the game is small");
    let safe = equity(&GAME, &mut perfect, &mut random).expect("the game is small");
    assert_close(best.seats[0], safe.seats[0], 1e-12);
    let [loss, _, win] = chances(&GAME.start(), &mut [&mut random, &mut *optimum]);
    assert!(loss > 0.0 && win > 0.9164 + 0.01 && best.seats[1] > safe.seats[1], "{win} {loss}");
    // Minimax does not know its opponent and draws more often.
    let minimax = equity(&GAME, &mut *agent("minimax"), &mut random).expect("the game is small");
    assert!(minimax.seats[0] < safe.seats[0] && minimax.seats[1] < safe.seats[1]);
}

/// Perfect play is far from optimal against TTT.
#[test]
fn minimax_against_ttt() {
    assert_against_ttt(&mut *agent("minimax"), 0.774_614, 0.165_079, 0.469_847, 1e-6);
}

#[test]
fn ttt_against_itself_is_even_and_the_first_move_is_worth_138_thousandths() {
    assert_against_ttt(&mut *agent("ttt"), 0.137_566, -0.137_566, 0.0, 5e-7);
}

#[test]
fn random_against_ttt() {
    assert_against_ttt(&mut *agent("random"), -0.638_801, -0.882_451, -0.760_626, 1e-6);
}

#[test]
fn opening_values_against_ttt() {
    let mut best = BestResponse::solve(&GAME, agent("ttt")).expect("the game is small");
    assert_eq!(Agent::<TicTacToe>::name(&best), "optimal:ttt");
    let start = GAME.start();
    for (squares, value) in [(&[0, 2, 6, 8][..], 0.9271), (&[1, 3, 5, 7], 0.8490), (&[4], 0.8333)] {
        for square in squares {
            let found = best.after(&GAME, &start, 0, square).expect("the game is small");
            assert_close(found, value, 1e-4);
        }
    }
    // The corners are best, and the policy chooses each equally often.
    assert_close(best.value(&GAME, &start, 0).expect("the game is small"), 89.0 / 96.0, 1e-12);
    assert_eq!(policy(&mut best, &start), [0.25, 0.0, 0.25, 0.0, 0.0, 0.0, 0.25, 0.0, 0.25]);
    // A finished game has its exact utility.
    let won = at("XXXOO....");
    assert_eq!([0, 1].map(|seat| best.value(&GAME, &won, seat)), [Ok(1.0), Ok(-1.0)]);
}

#[test]
fn the_optimum_risks_losing() {
    let mut optimum = agent("optimal:ttt");
    let mut ttt = agent("ttt");
    let [win, draw, loss] = chances(&GAME.start(), &mut [&mut *optimum, &mut *ttt]);
    assert_close(win + draw + loss, 1.0, 1e-12);
    assert_close(win - loss, 89.0 / 96.0, 1e-12);
    assert_eq!(loss, 0.0, "not with the first move");
    let [ttt_wins, _, ttt_loses] = chances(&GAME.start(), &mut [&mut *ttt, &mut *optimum]);
    assert_close(ttt_loses - ttt_wins, 0.4, 1e-12);
    assert_close(ttt_wins, 0.048, 5e-4);
}

// ------------------------------------------------------------------------------------- exact measurement

/// Arbitrary values with only three levels, so that most decisions have ties.
#[derive(Clone)]
struct Coarse(Vec<f32>);

impl Coarse {
    fn new(seed: u64) -> Self {
        let mut rng = stream(seed, "coarse", 0);
        Self((0..3usize.pow(9)).map(|_| rng.random_range(-1..=1) as f32 / 2.0).collect())
    }

    fn of(&self, state: &Position) -> f32 {
        let code = |stones: u16| (0..9).map(|s| usize::from(stones >> s & 1) * 3usize.pow(s)).sum::<usize>();
        self.0[code(state.stones[0]) + 2 * code(state.stones[1])]
    }
}

impl Evaluator<TicTacToe> for Coarse {
    fn values(&mut self, at: Decision<'_, TicTacToe>, actions: &[u8], values: &mut Vec<f32>) {
        values.clear();
        values.extend(actions.iter().map(|&a| self.of(&after(at.state, a))));
    }
}

/// An agent that is uniform over these moves.
type Moves<'a> = &'a dyn Fn(&Position) -> Vec<u8>;

/// Expected utility of player `seat`, by recursion over every game, without memoisation or agents.
fn plain(state: &Position, seat: usize, players: [Moves; 2]) -> f64 {
    let Turn::Player(player) = GAME.turn(state) else { return GAME.utility(state, seat) };
    let moves = players[player](state);
    moves.iter().map(|&a| plain(&after(state, a), seat, players)).sum::<f64>() / moves.len() as f64
}

fn ttt_rule(state: &Position) -> Vec<u8> {
    let set = ttt_moves(state);
    (0..9).filter(|s| set >> s & 1 == 1).collect()
}

#[test]
fn exact_equity_is_that_of_plain_recursion() {
    let mut ties = 0;
    for seed in 0..5 {
        let coarse = Coarse::new(seed);
        let best = |state: &Position| -> Vec<u8> {
            let value = |a: &u8| coarse.of(&after(state, *a));
            let top = legal(state).iter().map(value).fold(f32::MIN, f32::max);
            legal(state).into_iter().filter(|a| value(a) == top).collect()
        };
        ties += usize::from(best(&GAME.start()).len() > 1);
        let found = equity(&GAME, &mut Greedy::new(coarse.clone()), &mut *agent("ttt")).expect("small");
        let expected =
            [plain(&GAME.start(), 0, [&best, &ttt_rule]), plain(&GAME.start(), 1, [&ttt_rule, &best])];
        assert_close(found.seats[0], expected[0], 1e-12);
        assert_close(found.seats[1], expected[1], 1e-12);
        assert_close(found.equity, (expected[0] + expected[1]) / 2.0, 1e-12);
    }
    assert!(ties > 0, "some evaluator must tie at the start");

    let found = equity(&GAME, &mut Random, &mut *agent("ttt")).expect("small");
    let expected =
        [plain(&GAME.start(), 0, [&legal, &ttt_rule]), plain(&GAME.start(), 1, [&ttt_rule, &legal])];
    assert_close(found.seats[0], expected[0], 1e-12);
    assert_close(found.seats[1], expected[1], 1e-12);
}

#[test]
fn expected_utilities_start_anywhere_and_sum_to_0() {
    for text in [".........", "X...O...X", "XX.OO....", "XXXOO...."] {
        let state = at(text);
        let mut agents = [agent("minimax"), agent("ttt")];
        let found = expected_utilities(&GAME, &state, &mut agents).expect("small");
        let [a, b] = &mut agents;
        let [win, _, loss] = chances(&state, &mut [&mut **a, &mut **b]);
        assert_close(found[0], win - loss, 1e-12);
        assert_close(found[0] + found[1], 0.0, 1e-12);
    }
}

/// No agent does better against a fixed opponent than the best response.
#[test]
fn nothing_beats_the_best_response() {
    for other in ["ttt", "random", "minimax", "optimal:ttt"] {
        let mut best = agent(&format!("optimal:{other}"));
        let top = equity(&GAME, &mut *best, &mut *agent(other)).expect("small");
        let mut tried: Vec<Player> = ["ttt", "random", "minimax", "optimal:ttt"].map(agent).into();
        tried.push(Box::new(Greedy::new(Coarse::new(1))));
        for challenger in &mut tried {
            let found = equity(&GAME, &mut **challenger, &mut *agent(other)).expect("small");
            for seat in 0..2 {
                assert!(
                    found.seats[seat] <= top.seats[seat] + 1e-12,
                    "{} against {other}",
                    challenger.name()
                );
            }
        }
        assert!(top.equity >= 0.0, "copying {other} would be even");
    }
}

#[test]
fn the_game_is_a_draw_and_minimax_keeps_its_value_everywhere() {
    let mut minimax = Minimax::solve(&GAME).expect("small");
    assert_eq!(minimax.value(&GAME, &GAME.start()), Ok(0.0));
    assert_eq!(policy(&mut minimax, &GAME.start()), [1.0 / 9.0; 9], "every opening draws");
    let mut corner = [0.0; 8];
    corner[3] = 1.0;
    assert_eq!(policy(&mut minimax, &at("X........")), corner, "only the centre holds against a corner");
    let own_value = |minimax: &mut Minimax<TicTacToe>, state: &Position, player: usize| {
        let value = minimax.value(&GAME, state).expect("small");
        match GAME.turn(state) {
            Turn::Player(p) if p != player => -value,
            Turn::Player(_) => value,
            _ => GAME.utility(state, player),
        }
    };
    for state in decisions() {
        let player = state.mover();
        let value = own_value(&mut minimax, &state, player);
        let p = policy(&mut minimax, &state);
        let kept: Vec<bool> = legal(&state)
            .into_iter()
            .map(|a| own_value(&mut minimax, &after(&state, a), player) == value)
            .collect();
        let share = 1.0 / kept.iter().filter(|k| **k).count() as f64;
        for (p, kept) in p.iter().zip(kept) {
            assert_eq!(*p, if kept { share } else { 0.0 }, "{}", GAME.position_text(&state));
        }
    }
    // Two perfect players draw.
    let mut other = Minimax::solve(&GAME).expect("small");
    assert_eq!(equity(&GAME, &mut minimax, &mut other).expect("small").seats, [0.0, 0.0]);
}

// --------------------------------------------------------------------------------------------- policies

#[test]
fn every_policy_sums_to_1_and_stays_the_same() {
    let coarse = Coarse::new(3);
    let mut agents: Vec<Player> =
        ["random", "minimax", "ttt", "optimal:ttt", "optimal:minimax", "optimal:optimal:ttt"]
            .map(agent)
            .into();
    agents.push(Box::new(Greedy::new(coarse.clone())));
    agents.push(Box::new(EpsilonGreedy::new(coarse.clone(), 0.25)));
    agents.push(Box::new(Boltzmann::new(coarse, 0.1)));
    for state in decisions() {
        for agent in &mut agents {
            let p = policy(&mut **agent, &state);
            assert_eq!(p.len(), legal(&state).len());
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{} {p:?}", agent.name());
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{} {p:?}", agent.name());
            assert_eq!(policy(&mut **agent, &state), p, "{}", agent.name());
        }
    }
}

#[test]
fn greedy_epsilon_and_boltzmann_are_what_their_names_say() {
    let coarse = Coarse::new(4);
    let mut tied = 0;
    for state in decisions() {
        let actions = legal(&state);
        let n = actions.len() as f64;
        let values: Vec<f64> = actions.iter().map(|&a| coarse.of(&after(&state, a)).into()).collect();
        let top = values.iter().copied().fold(f64::MIN, f64::max);
        let ties = values.iter().filter(|v| **v == top).count();
        tied += usize::from(ties > 1);
        let greedy: Vec<f64> =
            values.iter().map(|v| if *v == top { 1.0 / ties as f64 } else { 0.0 }).collect();
        assert_eq!(policy(&mut Greedy::new(coarse.clone()), &state), greedy);

        for epsilon in [0.0, 0.3, 1.0] {
            let mixed = policy(&mut EpsilonGreedy::new(coarse.clone(), epsilon), &state);
            for (p, g) in mixed.iter().zip(&greedy) {
                assert_close(*p, epsilon / n + (1.0 - epsilon) * g, 1e-15);
            }
        }

        let warm = policy(&mut Boltzmann::new(coarse.clone(), 0.7), &state);
        let total: f64 = values.iter().map(|v| (v / 0.7).exp()).sum();
        for (p, v) in warm.iter().zip(&values) {
            assert_close(*p, (v / 0.7).exp() / total, 1e-14);
        }
        let cold = policy(&mut Boltzmann::new(coarse.clone(), 1e-6), &state);
        let hot = policy(&mut Boltzmann::new(coarse.clone(), 1e6), &state);
        for i in 0..values.len() {
            assert_close(cold[i], greedy[i], 1e-12);
            assert_close(hot[i], 1.0 / n, 1e-6);
        }
    }
    assert!(tied > 1000, "the values must tie often: {tied}");
}

/// χ² of observed counts; infinite if something impossible happened.
fn chi_square(counts: &[u32], p: &[f64]) -> f64 {
    let n = f64::from(counts.iter().sum::<u32>());
    let term = |(&c, &p): (&u32, &f64)| match (c, p) {
        (0, 0.0) => 0.0,
        (_, p) => (f64::from(c) - n * p).powi(2) / (n * p),
    };
    counts.iter().zip(p).map(term).sum()
}

/// χ² quantiles at 0.999: one seed in a thousand exceeds them.
const CHI_SQUARE: [f64; 9] = [0.0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12];

#[test]
fn draws_follow_the_probabilities() {
    let mut rng = stream(1, "draw", 0);
    for p in [&[1.0][..], &[0.5, 0.5], &[0.0, 0.25, 0.0, 0.75, 0.0], &[0.5, 0.25, 0.0, 0.15, 0.1, 0.0]] {
        let mut counts = vec![0; p.len()];
        (0..20_000).for_each(|_| counts[draw_index(p, &mut rng)] += 1);
        let possible = p.iter().filter(|p| **p > 0.0).count();
        assert!(chi_square(&counts, p) <= CHI_SQUARE[possible - 1], "{p:?}: {counts:?}");
    }
    // A rounding remainder goes to the last entry with a positive probability.
    let mut counts = [0; 4];
    (0..20_000).for_each(|_| counts[draw_index([0.25, 0.0, 0.25, 0.0], &mut rng)] += 1);
    assert!(chi_square(&counts, &[0.25, 0.0, 0.75, 0.0]) <= CHI_SQUARE[1], "{counts:?}");
}

#[test]
fn agents_act_as_their_policies_say() {
    let mut rng = stream(1, "act", 0);
    let mut scratch = Vec::new();
    let coarse = Coarse::new(4);
    let mut agents: Vec<Player> = ["random", "minimax", "ttt", "optimal:ttt"].map(agent).into();
    agents.push(Box::new(Greedy::new(coarse.clone())));
    agents.push(Box::new(EpsilonGreedy::new(coarse.clone(), 0.5)));
    agents.push(Box::new(Boltzmann::new(coarse, 0.5)));
    for text in [".........", "X........", "X...O...X", "OX.XX.O.."] {
        let (state, actions) = (at(text), legal(&at(text)));
        for agent in &mut agents {
            let p = policy(&mut **agent, &state);
            let mut counts = vec![0; p.len()];
            for _ in 0..5_000 {
                counts[agent.act(
                    Decision::new(&GAME, &state, state.mover()),
                    &actions,
                    &mut scratch,
                    &mut rng,
                )] += 1;
            }
            let possible = p.iter().filter(|p| **p > 0.0).count();
            assert!(
                chi_square(&counts, &p) <= CHI_SQUARE[possible - 1],
                "{} in {text}: {p:?} {counts:?}",
                agent.name()
            );
        }
    }
}

/// The network values unfinished afterstates; a finished game has its exact utility. `decide` gives the same choices
/// for learning, but does not evaluate the network if a move wins at once.
#[test]
fn a_bound_network_values_what_goes_on_and_only_that() {
    let channels = Fields.channels().to_vec();
    let mlp = Mlp {
        inputs: None,
        hidden: vec![5],
        activation: OneOrEach::One(Activation::Tanh),
        output: Activation::Tanh,
        sensitivity: None,
        init: InitScale::Uniform(0.4),
        rate: 1.0,
    };
    let mut rng = stream(1, "init", 0);
    let learner = adept_model::build(
        &Architecture::Mlp(mlp),
        &channels,
        &adept_model::Head::Value,
        Optimiser::default(),
        &mut rng,
    );
    let mut bound = GameModel::new(&GAME, Arc::new(Fields), learner.expect("it can be built"));
    let mut twin = bound.player(&GAME).expect("no device is asked");
    let (mut values, mut single, mut wins) = (Vec::new(), Vec::new(), 0);
    for state in decisions() {
        let (actions, player) = (legal(&state), state.mover());
        bound.values(Decision::new(&GAME, &state, player), &actions, &mut values);
        let decided = twin.decide(Decision::new(&GAME, &state, player));
        assert_eq!(decided.actions, actions);
        assert_eq!(decided.row_of.iter().flatten().count(), decided.rows.len());
        let decided = decided.values.clone();
        for (action, value) in actions.iter().zip(&values) {
            let next = after(&state, *action);
            if GAME.turn(&next) == Turn::Over {
                assert_eq!(f64::from(*value), GAME.utility(&next, player));
            } else {
                let row = bound.encode(&GAME, &next, Some(action), player);
                bound.model.evaluate(&row, &mut single);
                assert!((single[0] - value).abs() < 1e-6 && value.abs() < 1.0);
            }
        }
        if values.contains(&1.0) {
            wins += 1;
            assert!(decided.iter().zip(&values).all(|(d, v)| *d == if *v == 1.0 { 1.0 } else { -1.0 }));
        } else {
            assert_eq!(decided, values);
        }
    }
    assert!(wins > 1000);
}

// ------------------------------------------------------------------------------------------------ names

#[test]
fn agents_as_users_write_them() {
    let optimal = |inner| AgentSpec::Optimal(Box::new(inner));
    let named = |name: &str| AgentSpec::Named(name.into());
    let model = |play, name: &str| AgentSpec::Model {
        play,
        search: None,
        screen: None,
        tables: None,
        name: name.into(),
    };
    let accepted = [
        ("random", named("random")),
        ("minimax", named("minimax")),
        ("ttt", named("ttt")),
        ("runs/single-80", named("runs/single-80")),
        ("optimal:ttt", optimal(named("ttt"))),
        ("optimal:optimal:random", optimal(optimal(named("random")))),
        ("optimal:epsilon:0.1:a", optimal(model(Play::Epsilon(0.1), "a"))),
        ("greedy:random", model(Play::Greedy, "random")),
        ("epsilon:0:a", model(Play::Epsilon(0.0), "a")),
        ("epsilon:1:a", model(Play::Epsilon(1.0), "a")),
        ("epsilon:.25:runs/a:b", model(Play::Epsilon(0.25), "runs/a:b")),
        ("boltzmann:0.1:a", model(Play::Boltzmann(0.1), "a")),
        ("boltzmann:1e-6:a", model(Play::Boltzmann(1e-6), "a")),
    ];
    for (text, spec) in accepted {
        assert!(text.ends_with(spec.name()), "{text}");
        assert_eq!(AgentSpec::parse(text), Ok(spec), "{text}");
    }
    let epsilon = "write epsilon:E:CHECKPOINT with E in 0..1";
    let boltzmann = "write boltzmann:T:CHECKPOINT with T in 0.000001..1000000";
    for (text, usage) in [
        ("epsilon:", epsilon),
        ("epsilon:0.1", epsilon),
        ("epsilon:0.1:", epsilon),
        ("epsilon:a:0.1", epsilon),
        ("epsilon:-0.1:a", epsilon),
        ("epsilon:1.1:a", epsilon),
        ("epsilon:nan:a", epsilon),
        ("boltzmann:1", boltzmann),
        ("boltzmann:0:a", boltzmann),
        ("boltzmann:-1:a", boltzmann),
        ("boltzmann:inf:a", boltzmann),
        ("boltzmann::a", boltzmann),
    ] {
        assert_eq!(AgentSpec::parse(text), Err(format!("`{text}`: {usage}")));
    }
    assert_eq!(AgentSpec::parse("optimal:epsilon:2:a"), Err(format!("`epsilon:2:a`: {epsilon}")));
}

#[test]
fn what_cannot_be_opened_says_why() {
    let refusal = |text: &str| open::agent(&GAME, text).map(|_| ()).expect_err(text).to_string();
    let there_is = "is not an agent of tictactoe and not a checkpoint; agents are ttt, random, playouts:N, uct:N, minimax, \
                    optimal:AGENT and any checkpoint folder";
    for name in ["", "no/such/run"] {
        assert_eq!(refusal(name), format!("`{name}` {there_is}"));
        assert_eq!(refusal(&format!("optimal:{name}")), format!("`{name}` {there_is}"));
    }
    for (name, near) in [("tt", "ttt"), ("Random", "random"), ("minmax", "minimax")] {
        let message =
            format!("`{name}` is not an agent of tictactoe and not a checkpoint: did you mean `{near}`?");
        assert_eq!([refusal(name), refusal(&format!("optimal:{name}"))], [message.clone(), message]);
    }
    assert_eq!(refusal("epsilon:2:a"), "`epsilon:2:a`: write epsilon:E:CHECKPOINT with E in 0..1");
    let hint = "give a folder with manifest.json or run.json, the name of a run in `checkpoints/runs` of the working folder, or of a \
                published checkpoint; `adept runs list` shows the runs here. Published checkpoints are looked for in: the working \
                folder (checkpoints), ";
    let values =
        "is not a checkpoint and not a valuation of tictactoe; what has values: any checkpoint folder";
    assert_eq!(refusal("greedy:no/such/run"), format!("`no/such/run` {values}"));
    let none = "`greedy:ttt`: `ttt` is an agent that has no values; what has values: any checkpoint folder";
    assert_eq!(refusal("greedy:ttt"), none);
    // A file that is not a checkpoint, and an unrelated folder.
    let config = "is a config, not a checkpoint: train it, then give the folder of its run";
    assert_eq!(refusal("Cargo.toml"), format!("Cargo.toml: {config}"));
    for path in ["../arena/src/lib.rs", "src"] {
        let message = refusal(path);
        let begin = format!("{path}: is neither a checkpoint nor a run folder; {hint}");
        // Only the command `adept` has networks inside.
        assert!(message.starts_with(&begin) && !message.contains("inside the program"), "{message}");
        assert_eq!(refusal(&format!("boltzmann:1:{path}")), message);
    }
    let encoder =
        |name| open::encoder(&TicTacToe, name).map(|e| e.name().to_string()).map_err(|e| e.to_string());
    assert_eq!(encoder(None), Ok("fields".into()));
    assert_eq!(encoder(Some("canonical")), Ok("canonical".into()));
    assert_eq!(
        encoder(Some("field")),
        Err("tictactoe has no encoder `field`: did you mean `fields`?".into())
    );
}

#[test]
fn scripts_are_agents_by_their_name() {
    assert_eq!(agent("ttt").name(), "ttt");
    assert!(Scripted::new(&GAME, "ttt").is_some() && Scripted::new(&GAME, "random").is_none());
}

/// The grades of play whose exact results are known: random and perfect play of tic-tac-toe.
#[test]
fn grades_of_known_play_are_exact() {
    let percent = |seats: &[WinDrawLoss]| -> Vec<[f64; 3]> {
        seats.iter().map(|s| [s.win, s.draw, s.loss].map(|share| (1e4 * share).round() / 100.0)).collect()
    };
    let mut grader = Grader::new(&GAME).unwrap();
    let random = grader.grade(&GAME, &mut Random).unwrap();
    assert_eq!(percent(&random.random), [[58.49, 12.7, 28.81], [28.81, 12.7, 58.49]]);
    assert_eq!(percent(&random.perfect), [[0.0, 8.36, 91.64], [0.0, 0.52, 99.48]]);
    // 5,478 reachable states without the 958 that end the game.
    assert_eq!(random.states, 4_520);
    assert!(random.correct > 0.5 && random.correct < 0.9 && !random.best_response.optimal);
    assert!(random.best_response.seats.iter().all(|sure| *sure < -0.9));
    let perfect = grader.grade(&GAME, &mut *agent("minimax")).unwrap();
    assert!((perfect.correct - 1.0).abs() < 1e-9 && perfect.best_response.optimal);
    assert_eq!(percent(&perfect.perfect), [[0.0, 100.0, 0.0]; 2]);
    // What it is sure of is what the best response leaves.
    let mut ttt = agent("ttt");
    let best = BestResponse::solve(&GAME, agent("ttt"))
        .map(|mut best| [1, 0].map(|seat| -best.value(&GAME, &GAME.start(), seat).unwrap()));
    let worst = grader.worst(&GAME, &mut *ttt).unwrap();
    for (sure, left) in worst.seats.iter().zip(best.unwrap()) {
        assert!((sure - left).abs() < 1e-12, "{sure} {left}");
    }
}

/// In a game that is not zero-sum every player maximises its own utility: backward induction.
#[test]
fn perfect_play_of_a_game_that_is_not_zero_sum() {
    let rules = "(role proposer) (role responder) (init open)
        (<= (legal proposer (offer 10)) (true open)) (<= (legal proposer (offer 40)) (true open))
        (<= (legal responder noop) (true open)) (<= (legal proposer noop) (true (offered ?x)))
        (<= (legal responder accept) (true (offered ?x))) (<= (legal responder refuse) (true (offered ?x)))
        (<= (next (offered ?x)) (does proposer (offer ?x)))
        (<= (next (deal ?x)) (true (offered ?x)) (does responder accept)) (<= (next nodeal) (does responder refuse))
        (<= terminal (true (deal ?x))) (<= terminal (true nodeal)) (rest 10 90) (rest 40 60)
        (<= (goal responder ?x) (true (deal ?x))) (<= (goal proposer ?y) (true (deal ?x)) (rest ?x ?y))
        (<= (goal ?r 0) (role ?r) (true nodeal))";
    let game = Described::read("ultimatum", rules).unwrap();
    let mut perfect = open::agent(&game, "minimax").unwrap();
    let (mut state, mut taken) = (game.start(), Vec::new());
    while let Turn::Player(player) = game.turn(&state) {
        let (mut actions, mut p) = (Vec::new(), Vec::new());
        game.actions(&state, &mut actions);
        perfect.policy(Decision::new(&game, &state, player), &actions, &mut p);
        let best = p.iter().position(|&p| p == 1.0).unwrap();
        taken.push(game.action_text(&state, &actions[best]));
        game.apply(&mut state, &actions[best]);
    }
    assert_eq!(taken, ["offer(10)", "accept"]);
    let mut solved = Minimax::solve(&game).unwrap();
    let values = [0, 1].map(|player| solved.value_for(&game, &game.start(), player).unwrap());
    assert!((values[0] - 0.8).abs() < 1e-12 && (values[1] + 0.8).abs() < 1e-12, "{values:?}");
    let players = &mut [perfect, open::agent(&game, "minimax").unwrap()][..];
    assert_eq!(expected_utilities(&game, &game.start(), players).unwrap(), values);
}
