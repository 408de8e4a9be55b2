//! The Q-learner of a post on liar's dice in R (Oehm 2018). A table over (total dice, own dice, bucket of
//! probability) decides whether to call or to raise, against three scripted opponents of the rule set `r-post`.
//!
//! After every act of any player, a row records the learner's state s at that time and the learner's own last
//! act a. After a game, for each row k after the first, in order,
//!
//! Q(sₖ₋₁, aₖ) ← (1 − α)·Q(sₖ₋₁, aₖ) + α·(r(sₖ₋₁, sₖ) + γ·max Q(sₖ, ·)).
//!
//! The post's text and its program differ, and the program behaves differently in different versions of R: see
//! [`Reading`].

use adept_arena::{Agent, Scratch, Scripted};
use adept_builtin::liars_dice::{Action, LiarsDice, PostState, PostStates, State, call_or_raise};
use adept_game::{Game, Turn, stream};
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::sync::Arc;

/// The learner's seat.
const LEARNER: usize = 0;
/// The learning rate α.
const ALPHA: f64 = 0.1;
/// The discount γ.
const GAMMA: f64 = 0.9;
/// The share ε of random decisions while learning.
pub(crate) const EPSILON: f64 = 0.1;
/// Decisions whose values differ by less than this are drawn at random.
const TIE: f64 = 1e-6;
/// The share of raises that name a random face.
pub(crate) const BLUFF: f64 = 0.5;

/// The decisions of the learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Raise the bid by one.
    Raise,
    /// Challenge the bid.
    Call,
}

/// Which reading of the post is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reading {
    /// As the text says: the bucket always refers to the current bid.
    Text,
    /// As the program runs from R 4.0 on. The learner's matching dice are counted when it decides, and this
    /// count is kept for later bids of others, whatever their face ([`PostState::carried`]). So the learner
    /// decides before it counts again.
    R4,
    /// As the program ran in the R of its time. `data.frame` turns texts into factors, whose levels are in
    /// alphabetical order, round by round, and a factor used as an index is its code. If the learner ends the
    /// first round of a game with a call, `call` is 1 and `raise` is 2, and each is written to the other's
    /// column.
    R3,
}

impl Reading {
    /// All readings.
    pub(crate) const ALL: [Self; 3] = [Self::Text, Self::R4, Self::R3];

    /// The state on which a player decides, and which is recorded after a raise.
    fn state(self, game: &LiarsDice, state: &State, player: usize) -> Option<PostState> {
        match self {
            Self::Text => PostState::recounted(game, state, player),
            Self::R4 | Self::R3 => PostState::carried(game, state, player),
        }
    }
}

/// Q by state and decision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QTable {
    /// The game of these states.
    pub(crate) game: String,
    /// The reading of the post.
    pub(crate) reading: Reading,
    /// Games it learned from.
    pub(crate) games: u64,
    /// Q of raising and of calling, by number of the state ([`PostStates`]).
    pub(crate) values: Vec<[f64; 2]>,
}

impl QTable {
    /// An empty table.
    ///
    /// # Errors
    /// [`TrainError::Game`] if the game is not of the rule set `r-post`.
    pub(crate) fn new(game: &LiarsDice, reading: Reading) -> Result<Self, TrainError> {
        let values = vec![[0.0; 2]; states(game)?.count()];
        Ok(Self { game: game.name().into(), reading, games: 0, values })
    }

    /// Why it is not a table for this game.
    pub(crate) fn check(&self, game: &LiarsDice) -> Result<(), String> {
        let count = states(game).map_err(|e| e.to_string())?.count();
        if self.game != game.name() || self.values.len() != count {
            let found = (self.values.len(), &self.game);
            return Err(format!("has {} states of {}, {} has {count}", found.0, found.1, game.name()));
        }
        Ok(())
    }
}

fn states(game: &LiarsDice) -> Result<PostStates, TrainError> {
    let alike = game.dice().iter().all(|dice| *dice == game.dice()[LEARNER]);
    let states = PostStates::new(game, LEARNER).filter(|_| alike);
    states
        .ok_or_else(|| TrainError::Suite(format!("{}: a Q table is for liars-dice:r-post:PxD", game.name())))
}

/// Plays by a table in any seat.
pub(crate) struct QAgent {
    name: String,
    states: PostStates,
    table: Arc<QTable>,
    epsilon: f64,
}

impl QAgent {
    /// Draws a share `epsilon` of its decisions at random, and breaks ties at random.
    ///
    /// # Errors
    /// [`TrainError::Game`] if the table is for another game.
    pub(crate) fn new(game: &LiarsDice, table: Arc<QTable>, epsilon: f64) -> Result<Self, TrainError> {
        table.check(game).map_err(TrainError::Suite)?;
        Ok(Self { name: format!("q-post:{epsilon}"), states: states(game)?, table, epsilon })
    }

    /// The probability of raising.
    fn raises(&self, state: PostState) -> f64 {
        let [raise, call] = self.table.values[self.states.number(state)];
        if (raise - call).abs() < TIE {
            return 0.5;
        }
        let greedy = if call > raise { 0.0 } else { 1.0 };
        0.5 * self.epsilon + (1.0 - self.epsilon) * greedy
    }
}

impl Agent<LiarsDice> for QAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn policy(
        &mut self,
        at: adept_arena::Decision<'_, LiarsDice>,
        actions: &[Action],
        probabilities: &mut Vec<f64>,
    ) {
        let now = self.table.reading.state(at.game, at.state, at.player);
        let raise = now.map_or(1.0, |now| self.raises(now));
        call_or_raise(at.game, at.state, actions, raise, BLUFF, probabilities);
    }
}

/// A row of the transition table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The player who acted.
    pub(crate) player: usize,
    /// The learner's state at that time.
    pub(crate) state: PostState,
    /// The learner's last act in the round; raising before its first act.
    pub(crate) action: Decision,
}

/// The transition table of a game.
#[derive(Clone, Debug)]
pub(crate) struct Transitions {
    /// The rows so far.
    pub(crate) rows: Vec<Row>,
    reading: Reading,
    last: Decision,
}

impl Transitions {
    /// An empty table.
    pub(crate) fn new(reading: Reading) -> Self {
        Self { rows: Vec::new(), reading, last: Decision::Raise }
    }

    /// Applies a legal action of a player or of chance, and records its rows: none for an opening, one for a
    /// raise, and two for a call, before and after the die is lost.
    pub(crate) fn apply(&mut self, game: &LiarsDice, state: &mut State, action: &Action) {
        let player = usize::from(state.mover);
        match action {
            Action::Bid { .. } => {
                let opening = state.acts.is_empty();
                game.apply(state, action);
                if opening || player == LEARNER {
                    self.last = Decision::Raise;
                }
                if !opening && let Some(now) = self.reading.state(game, state, LEARNER) {
                    self.rows.push(Row { player, state: now, action: self.last });
                }
            }
            Action::Challenge(_) => {
                let before = if player == LEARNER {
                    self.last = Decision::Call;
                    PostState::recounted(game, state, LEARNER)
                } else {
                    self.reading.state(game, state, LEARNER)
                };
                game.apply(state, action);
                let Some(before) = before else { return };
                let (total, own) = (state.dice_in_play(), state.seats[LEARNER].dice);
                for state in [before, PostState { total, own, ..before }] {
                    self.rows.push(Row { player, state, action: self.last });
                }
            }
            _ => game.apply(state, action),
        }
    }

    /// Updates Q with the rows of a finished game, in order.
    fn learn(&self, values: &mut [[f64; 2]], states: &PostStates) {
        let swapped = usize::from(self.reading == Reading::R3 && self.called_first());
        for pair in self.rows.windows(2) {
            let (from, to) = (pair[0].state, pair[1].state);
            let [raise, call] = values[states.number(to)];
            let q = &mut values[states.number(from)][pair[1].action as usize ^ swapped];
            *q = (1.0 - ALPHA) * *q + ALPHA * (reward(from, to) + GAMMA * raise.max(call));
        }
    }

    /// Whether the learner ended the first round with a call.
    fn called_first(&self) -> bool {
        let mut pairs = self.rows.windows(2);
        let end = pairs.find(|pair| pair[1].state.total < pair[0].state.total);
        end.is_some_and(|pair| pair[1].action == Decision::Call)
    }
}

/// r(s, s′): 10 for the opponents' last die, −10 for the learner's last die, 1 and −1 for any other die.
pub(crate) fn reward(from: PostState, to: PostState) -> f64 {
    if to.total + 1 != from.total {
        return 0.0;
    }
    let alone = to.own == to.total;
    match (from.own, to.own) {
        (1, 0) => -10.0,
        (a, b) if a == b && alone => 10.0,
        (a, b) if a == b && a > 0 => 1.0,
        (a, b) if a == b + 1 && !alone => -1.0,
        _ => 0.0,
    }
}

/// Learns game by game.
pub(crate) struct QLearner {
    game: LiarsDice,
    agent: QAgent,
    others: Vec<Scripted<LiarsDice>>,
    seed: u64,
    transitions: Transitions,
    scratch: Scratch<LiarsDice>,
}

impl QLearner {
    /// The learner sits in the first seat; a script of the game sits in all others.
    ///
    /// # Errors
    /// [`TrainError::Game`] if the game is not of the rule set `r-post`, [`TrainError::Suite`] if it has no
    /// such script.
    pub(crate) fn new(
        game: &LiarsDice,
        reading: Reading,
        script: &str,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let agent = QAgent::new(game, Arc::new(QTable::new(game, reading)?), EPSILON)?;
        let other = || Scripted::new(game, script);
        let others: Option<Vec<_>> = (1..game.players()).map(|_| other()).collect();
        let others = others.ok_or_else(|| TrainError::Suite(format!("no script named `{script}`")))?;
        let (transitions, scratch) = (Transitions::new(reading), Scratch::default());
        Ok(Self { game: game.clone(), agent, others, seed, transitions, scratch })
    }

    /// The table learned so far.
    pub(crate) fn table(&self) -> &Arc<QTable> {
        &self.agent.table
    }

    /// Plays a game and learns from it. Returns whether the learner won. Draws depend on the seed and the
    /// number of the game.
    pub(crate) fn play(&mut self) -> bool {
        let games = self.agent.table.games;
        let (mut dice, mut choices) =
            (stream(self.seed, "q-post dice", games), stream(self.seed, "q-post choices", games));
        let Self { game, agent, others, transitions, scratch, .. } = self;
        transitions.rows.clear();
        let mut state = game.start();
        loop {
            let action = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => Ok(game.sample(&state, &mut dice)),
                Turn::Player(LEARNER) => {
                    agent.choose(adept_arena::Decision::new(game, &state, LEARNER), scratch, &mut choices)
                }
                Turn::Player(player) => others[player - 1].choose(
                    adept_arena::Decision::new(game, &state, player),
                    scratch,
                    &mut choices,
                ),
            };
            // A player of liar's dice always has an action.
            let Ok(action) = action else { break };
            transitions.apply(game, &mut state, &action);
        }
        // If nobody else holds the table, it is not copied.
        let table = Arc::make_mut(&mut agent.table);
        transitions.learn(&mut table.values, &agent.states);
        table.games += 1;
        state.seats[LEARNER].dice > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::liars_dice::{Bid, Dice, Target};

    fn game(name: &str) -> LiarsDice {
        LiarsDice::named(name).unwrap_or_else(|| panic!("{name} is not a game"))
    }

    fn state((total, own, bucket): (u8, u8, u8)) -> PostState {
        PostState { total, own, bucket }
    }

    /// Two players with three dice each; the learner is seat 1. `steps` lists rolls by seat, and acts.
    fn rows(reading: Reading, steps: &str) -> Transitions {
        let game = game("liars-dice:r-post:2x3");
        let mut transitions = Transitions::new(reading);
        let mut state = game.start();
        for step in steps.split_whitespace() {
            let action = match step.split_once(':') {
                Some(("start", seat)) => Action::Starter(seat.parse::<u8>().expect("a seat") - 1),
                Some((_, faces)) => {
                    let mut dice = Dice::default();
                    faces.bytes().for_each(|b| dice.0[usize::from(b - b'1')] += 1);
                    Action::Roll(dice)
                }
                None if step == "call" => Target::Bid.into(),
                None => {
                    let of = |i: usize| step.as_bytes()[i] - b'0';
                    Action::Bid { bid: Bid { count: of(0), face: of(2) }, push: Dice::default() }
                }
            };
            if !matches!(action, Action::Starter(_) | Action::Roll(_)) {
                assert_eq!(game.refuses(&state, &action), None, "{step}");
            }
            transitions.apply(&game, &mut state, &action);
        }
        assert_eq!(game.turn(&state), Turn::Over);
        transitions
    }

    const GAME: &str = "start:2 roll:335 roll:446 3x4 4x3 call \
                        roll:22 roll:255 3x2 4x5 call \
                        roll:11 roll:66 3x6 call \
                        roll:13 roll:1 2x1 call \
                        roll:5 roll:5 2x5 3x5 call";

    /// Worked out by hand from the post's program; P(Bin(3, 1/6) ≥ 1) = 91/216 is bucket 8, P(≥ 2) = 16/216 is
    /// bucket 1.
    #[test]
    fn rows_are_those_of_the_program() {
        use Decision::{Call, Raise};
        let expected = [
            // Seat 2 opened, which gives no row. The learner holds no 4, and this count is kept after its own
            // 4x3.
            (0, (6, 3, 0), Raise),
            // Seat 2 calls: the learner loses a die.
            (1, (6, 3, 0), Raise),
            (1, (5, 2, 0), Raise),
            // The learner opens 3x2 and holds two 2s. Seat 2 raises to 4x5, and the count of two is kept for 5s
            // until the learner decides.
            (1, (5, 2, 1), Raise),
            (0, (5, 2, 0), Call),
            (0, (4, 2, 0), Call),
            (0, (4, 2, 0), Call),
            (0, (3, 2, 0), Call),
            // Two 1s are on the table.
            (0, (3, 2, 3), Call),
            (0, (2, 1, 3), Call),
            (1, (2, 1, 3), Raise),
            (0, (2, 1, 3), Call),
            (0, (1, 1, 3), Call),
        ];
        let of = |reading| rows(reading, GAME).rows;
        let written = |differ: &[(usize, (u8, u8, u8))]| -> Vec<Row> {
            let mut all =
                expected.map(|(player, s, action)| Row { player, state: state(s), action }).to_vec();
            differ.iter().for_each(|(row, s)| all[*row].state = state(*s));
            all
        };
        assert_eq!(of(Reading::R4), written(&[]));
        assert_eq!(of(Reading::R3), written(&[]));
        // With the face of the current bid: two 3s after 4x3, no 5 after 4x5.
        let differ = [(0, (6, 3, 1)), (1, (6, 3, 1)), (2, (5, 2, 1)), (3, (5, 2, 0))];
        assert_eq!(of(Reading::Text), written(&differ));
    }

    /// The same game, learned by hand: α times the reward when a die is lost, because all other values are
    /// still 0.
    #[test]
    fn a_game_is_learned_in_the_order_of_its_rows() {
        let game = game("liars-dice:r-post:2x3");
        let states = PostStates::new(&game, 0).expect("r-post");
        type Learned = ((u8, u8, u8), [f64; 2]);
        let learned = |transitions: &Transitions| -> Vec<Learned> {
            let mut values = vec![[0.0; 2]; states.count()];
            transitions.learn(&mut values, &states);
            let all = values.into_iter().enumerate().filter(|(_, q)| *q != [0.0; 2]);
            all.map(|(number, q)| (states.state(number), q))
                .map(|(s, q)| ((s.total, s.own, s.bucket), q))
                .collect()
        };
        let by_hand = [
            ((2, 1, 3), [0.0, 1.0]),
            ((3, 2, 3), [0.0, -0.1]),
            ((4, 2, 0), [0.0, 0.1]),
            ((5, 2, 0), [0.0, 0.1]),
            ((6, 3, 0), [-0.1, 0.0]),
        ];
        let near = |found: Vec<Learned>, expected: &[Learned]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (a, b) in found.iter().zip(expected) {
                assert!(a.0 == b.0 && (0..2).all(|i| (a.1[i] - b.1[i]).abs() < 1e-12), "{found:?}");
            }
        };
        near(learned(&rows(Reading::R4, GAME)), &by_hand);
        // Seat 2 ended the first round: `raise` is the first level.
        near(learned(&rows(Reading::R3, GAME)), &by_hand);
        // The learner ends the first and all other rounds with a call: `call` is the first level.
        let called = "start:2 roll:335 roll:112 3x1 call roll:335 roll:66 3x6 call roll:335 roll:6 2x6 call";
        let in_column = |column: usize| {
            [((4, 3, 3), 1.0), ((5, 3, 0), 0.1), ((6, 3, 0), 0.1)].map(|(state, q)| {
                let mut both = [0.0; 2];
                both[column] = q;
                (state, both)
            })
        };
        near(learned(&rows(Reading::R4, called)), &in_column(1));
        near(learned(&rows(Reading::R3, called)), &in_column(0));
    }

    /// The lines of `generate.reward.matrix`, in order.
    #[test]
    fn rewards_are_those_of_the_matrix() {
        let line_by_line = |from: PostState, to: PostState| {
            let (total, p1) = (i32::from(from.total), i32::from(from.own));
            let (t, p) = (i32::from(to.total), i32::from(to.own));
            let mut reward = 0.0;
            if p1 - p == 1 && total - t == 1 && p != t {
                reward = -1.0;
            }
            if p1 == p && total - t == 1 && p != t && p1 > 0 {
                reward = 1.0;
            }
            if p1 == 1 && total - t == 1 && p == 0 {
                reward = -10.0;
            }
            if total - p1 == 1 && t == p1 && p == p1 {
                reward = 10.0;
            }
            reward
        };
        let states = PostStates::new(&game("liars-dice:r-post:4x3"), 0).expect("r-post");
        let all: Vec<PostState> = (0..states.count()).map(|n| states.state(n)).collect();
        for from in &all {
            for to in all.iter().filter(|to| to.bucket % 10 == 0) {
                assert_eq!(reward(*from, *to), line_by_line(*from, *to), "{from:?} {to:?}");
            }
        }
        let of = |from, to| reward(state(from), state(to));
        assert_eq!(
            [of((12, 3, 9), (11, 2, 9)), of((12, 3, 9), (11, 3, 9)), of((12, 3, 9), (12, 3, 1))],
            [-1.0, 1.0, 0.0]
        );
        assert_eq!(
            [of((9, 1, 0), (8, 0, 0)), of((3, 2, 0), (2, 2, 0)), of((9, 0, 0), (8, 0, 0))],
            [-10.0, 10.0, 0.0]
        );
    }

    #[test]
    fn the_agent_draws_where_the_table_does_not_tell() {
        let game = game("liars-dice:r-post:2x3");
        let position = game.parse_position("134/456 @2 2x4").expect("a position").0;
        let mut table = QTable::new(&game, Reading::Text).expect("r-post");
        // One more of three dice: bucket 8.
        let number = PostStates::new(&game, 0).expect("r-post").number(state((6, 3, 8)));
        let mut call = |q: [f64; 2], epsilon: f64| {
            table.values[number] = q;
            let mut agent = QAgent::new(&game, Arc::new(table.clone()), epsilon).expect("of this game");
            let (mut actions, mut probabilities) = (Vec::new(), Vec::new());
            game.actions(&position, &mut actions);
            agent.policy(adept_arena::Decision::new(&game, &position, 0), &actions, &mut probabilities);
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // Half of the raises name a random face; the learner's own most frequent face is 1.
            assert!((probabilities[0] - 7.0 * probabilities[1]).abs() < 1e-12);
            probabilities[6]
        };
        assert_eq!((call([0.0, 9e-7], 0.0), call([0.0, 2e-6], 0.0), call([2e-6, 0.0], 0.0)), (0.5, 1.0, 0.0));
        assert!((call([0.0, 1.0], 0.1) - 0.95).abs() < 1e-12 && (call([1.0, 0.0], 0.1) - 0.05).abs() < 1e-12);
    }

    /// Draws follow from the seed, so this cannot fail by chance. A random player wins a quarter.
    #[test]
    fn four_hundred_games_are_enough_to_lead() {
        let game = game("liars-dice:r-post:4x6");
        for reading in Reading::ALL {
            let mut learner = QLearner::new(&game, reading, "post-random", 1).expect("a script");
            let wins = (0..400).filter(|_| learner.play()).count();
            assert!(learner.table().games == 400 && wins > 180, "{reading:?}: {wins}");
        }
    }

    #[test]
    fn a_table_of_another_game_is_refused() {
        let table = QTable::new(&game("liars-dice:r-post:2x3"), Reading::R3).expect("a table");
        let refused = |name: &str| {
            let agent = QAgent::new(&game(name), Arc::new(table.clone()), 0.0);
            agent.err().expect(name).to_string()
        };
        let message = refused("liars-dice:r-post:2x4");
        assert!(message.contains("has 315 states of liars-dice:r-post:2x3"), "{message}");
        assert!(refused("liars-dice:soar:2x5").contains("r-post:PxD"));
    }
}
