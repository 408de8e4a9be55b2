//! Agents that need no knowledge but the rules: the best mean of random games, and tree search over random games.
//!
//! UCT is the bandit algorithm UCB1 at every decision of a tree: Kocsis & Szepesvári, "Bandit based Monte-Carlo planning" (2006). A
//! player takes the action a with the highest mean utility plus C √(ln N / nₐ), where N counts the visits of the decision and nₐ those
//! of the action. Each game adds a decision to the tree and is played on at random from there. Chance is sampled, so every game with
//! perfect information will do, for any number of players. Choices that players make at the same time are decisions of their own: what
//! a player knows there is the same whatever the others have chosen.

use super::agent::{Agent, Greedy};
use crate::error::OpenError;
use crate::search::Budget;
use crate::values::{Decision, Evaluator, state_after};
use adept_game::{Game, Kit, Stream, Turn, stream};
use adept_ground::limits;
use rand::{Rng, RngExt};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// C, for utilities in [−1, 1], if nothing is said.
const EXPLORATION: f64 = 1.0;
/// Actions after which a random game counts as a draw: some games need never end.
const LONGEST: usize = 20_000;
/// Random games that are played in one go.
const PART: usize = 1_000;
/// Steps between two looks at the clock.
const CLOCK: u32 = 64;
/// Most decisions in a tree, and most actions of all of them.
const NODES: usize = 1_000_000;
const MOST: usize = 8_000_000;

/// The word before the number of random games.
pub(crate) const PLAYOUTS: &str = "playouts";
/// The word before the budget of a tree search.
pub(crate) const UCT: &str = "uct";

/// How an agent learns by random games what its actions are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Playouts {
    /// `playouts:N`: N games in all, as many after each action.
    Even(u64),
    /// `uct:N` or `uct:TIMEms`, also `uct:N,c=1.4`: more games after better actions.
    Tree {
        /// When a decision ends: a number of games or a time.
        budget: Budget,
        /// C of the bound, above 0.
        c: f64,
    },
}

impl Playouts {
    /// Parses the name of an agent. None if it is another agent's.
    ///
    /// # Errors
    /// The form that a wrong number must have.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let (head, number) = text.split_once(':')?;
        let most = limits::PLAYOUTS;
        match head {
            PLAYOUTS => {
                let fault = format!("`{text}`: write playouts:N with N random games a decision, 1 to {most}");
                let count = number.parse().ok().filter(|n| (1..=most).contains(n));
                Some(count.map(Self::Even).ok_or(fault))
            }
            UCT => {
                let (number, c) =
                    number.split_once(",c=").map_or((number, None), |(number, c)| (number, Some(c)));
                let c =
                    c.map_or(Some(EXPLORATION), |c| c.parse().ok().filter(|c| (0.001..=100.0).contains(c)));
                let count = number.parse().ok().filter(|n| (1..=most).contains(n)).map(Budget::Nodes);
                let time = |unit: &str, factor: u64| {
                    let ms = number.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(factor)?;
                    (1..=limits::SEARCH_MS).contains(&ms).then(|| Budget::Time(Duration::from_millis(ms)))
                };
                let budget = count.or_else(|| time("ms", 1)).or_else(|| time("s", 1000));
                let found = budget.zip(c).map(|(budget, c)| Self::Tree { budget, c });
                Some(found.ok_or_else(|| {
                    format!(
                        "`{text}`: write uct:N with N random games a decision, 1 to {most}, or a time, such as uct:500ms, or with \
                         how much it tries what looks bad, such as uct:1000,c=0.7"
                    )
                }))
            }
            _ => None,
        }
    }

    /// Tree search that ends by the clock alone.
    pub fn until_stopped() -> Self {
        Self::Tree { budget: Budget::Time(Duration::from_millis(limits::SEARCH_MS)), c: EXPLORATION }
    }

    /// Opens the agent.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if players of the game do not see all that has happened.
    pub fn open<G: Kit>(self, game: &G) -> Result<PlayoutAgent<G>, OpenError> {
        if game.random_play().before_choices(game, &game.start()).is_none() {
            return Err(OpenError::Unknown(format!(
                "`{UCT}:` and `{PLAYOUTS}:` cannot play {}, which hides information: they need to know the position",
                game.name()
            )));
        }
        Ok(PlayoutAgent::new(self))
    }
}

/// Actions of a decision among those of all, and who chooses.
#[derive(Clone, Debug)]
struct Node {
    player: usize,
    first: usize,
    end: usize,
    visits: u32,
}

/// What games after an action brought to the player who chose it.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    visits: u32,
    sum: f64,
}

impl Tally {
    fn mean(self) -> f64 {
        self.sum / f64::from(self.visits.max(1))
    }
}

/// The way to the highest result that a game for one player without chance has shown so far.
struct Way<G: Game> {
    utility: f64,
    steps: Vec<(G::State, G::Action)>,
}

/// Plays by the results of random games.
pub struct PlayoutAgent<G: Game> {
    /// How many games it plays, and where.
    pub playouts: Playouts,
    /// When every decision must be made, whatever the budget.
    pub until: Option<Instant>,
    /// Ends the present decision when it is set.
    pub stop: Arc<AtomicBool>,
    /// When the present decision ends.
    deadline: Option<Instant>,
    /// Steps until the next look at the clock.
    until_clock: u32,
    is_late: bool,
    nodes: Vec<Node>,
    /// What a player knows at each decision, and its number.
    known: FxHashMap<G::Info, u32>,
    actions: Vec<G::Action>,
    tallies: Vec<Tally>,
    /// Decisions and actions of the present game.
    path: Vec<(u32, u32)>,
    line: Vec<G::Action>,
    way: Option<Way<G>>,
    /// All actions of the present game, if one player plays alone.
    trace: Option<Vec<G::Action>>,
    games: u64,
    legal: Vec<G::Action>,
    utilities: Vec<f64>,
    values: Vec<f32>,
    /// The standard error of each value of the present decision.
    errors: Vec<f32>,
    /// The sum of squared utilities after each action at the root of the tree, as shares of the scale.
    squares: Vec<f64>,
}

/// What games after an action brought: their number, and the mean and the mean square of their utilities as shares of the scale.
struct Sampled {
    games: u64,
    mean: f64,
    /// None if only the mean is known.
    square: Option<f64>,
}

impl Sampled {
    /// The standard error of the mean, at most 1. An observation half the range away from the mean is added, so that a few games that end
    /// alike do not look certain; and where squares are not known, the variance is the largest that the mean allows.
    fn error(&self) -> f32 {
        let n = self.games as f64;
        let variance = (self.square.unwrap_or(1.0) - self.mean * self.mean).max(0.0);
        ((variance * n + 1.0) / (n * n)).sqrt().min(1.0) as f32
    }
}

impl<G: Kit> PlayoutAgent<G> {
    fn new(playouts: Playouts) -> Self {
        Self {
            playouts,
            until: None,
            stop: Arc::default(),
            deadline: None,
            until_clock: 0,
            is_late: false,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            actions: Vec::new(),
            tallies: Vec::new(),
            path: Vec::new(),
            line: Vec::new(),
            way: None,
            trace: None,
            games: 0,
            legal: Vec::new(),
            utilities: Vec::new(),
            values: Vec::new(),
            errors: Vec::new(),
            squares: Vec::new(),
        }
    }

    /// Random games that the last decision took.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Replaces `values` by the mean utility after each action, in [−1, 1]. The best action has the highest value: in a tree, it is
    /// the one with the most games.
    fn learn(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>, rng: &mut Stream) {
        self.line.clear();
        values.clear();
        self.errors.clear();
        (self.deadline, self.until_clock, self.is_late) = (self.until, 0, false);
        let before =
            at.game.random_play().before_choices(at.game, at.state).unwrap_or_else(|| at.state.clone());
        match self.playouts {
            Playouts::Even(games) => {
                let each = (games / actions.len().max(1) as u64).max(1);
                self.games = each * actions.len() as u64;
                for action in actions {
                    let sampled = self.mean_after(at, &before, action, each, rng);
                    values.push(sampled.as_ref().map_or_else(|sure| *sure, |sampled| sampled.mean as f32));
                    self.errors.push(sampled.map_or(0.0, |sampled| sampled.error()));
                }
            }
            Playouts::Tree { budget, c } => {
                self.tree(at.game, &before, (budget, c), rng);
                self.tell(at, actions, values);
            }
        }
    }

    /// The mean utility of random games after an action, as a share of the scale. An error is the exact value of an action that ends the
    /// game.
    fn mean_after(
        &mut self,
        at: Decision<'_, G>,
        before: &G::State,
        action: &G::Action,
        games: u64,
        rng: &mut Stream,
    ) -> Result<Sampled, f32> {
        let (game, player, scale) = (at.game, at.player, at.game.scale());
        let (mut sum, mut squares) = (0.0, 0.0);
        let sampled = |played: u64, sum: f64, squares: Option<f64>| {
            let n = played as f64;
            Sampled {
                games: played,
                mean: sum / n / scale,
                square: squares.map(|squares| squares / n / (scale * scale)),
            }
        };
        if before != at.state {
            // What others have chosen is not known: every game begins with their choices.
            for _ in 0..games {
                let utility = self.game_of_choices(at, before, action, rng);
                (sum, squares) = (sum + utility, squares + utility * utility);
            }
            return Ok(sampled(games, sum, Some(squares)));
        }
        let after = state_after(game, at.state, action);
        if game.turn(&after) == Turn::Over {
            return Err((game.utility(&after, player) / scale) as f32);
        }
        let (mut state, mut is_single) = (after.clone(), true);
        let mut played = 0;
        // One part at least, so that there is a mean.
        while played < games && (played == 0 || !self.looks_late()) {
            let part = (games - played).min(PART as u64);
            played += part;
            sum += match game.random_play().games(game, &after, part as usize, rng) {
                Some(sums) => {
                    is_single = false;
                    sums[player]
                }
                None => (0..part)
                    .map(|_| {
                        state.clone_from(&after);
                        self.play_on(game, &mut state, rng, LONGEST);
                        squares += self.utilities[player] * self.utilities[player];
                        self.utilities[player]
                    })
                    .sum(),
            };
        }
        Ok(sampled(played, sum, is_single.then_some(squares)))
    }

    /// Whether the time is over, by a look at the clock.
    fn looks_late(&mut self) -> bool {
        self.is_late |= self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.stop.load(Ordering::Relaxed);
        self.is_late
    }

    /// Whether the time is over, as far as is known.
    #[inline]
    fn is_spent(&mut self) -> bool {
        if self.until_clock == 0 {
            self.until_clock = CLOCK;
            self.looks_late();
        }
        self.until_clock -= 1;
        self.is_late
    }

    /// A random game from the beginning of a step in which several players choose, of whom this one takes `own`.
    fn game_of_choices(
        &mut self,
        at: Decision<'_, G>,
        before: &G::State,
        own: &G::Action,
        rng: &mut Stream,
    ) -> f64 {
        let mut state = before.clone();
        while let Turn::Player(player) = at.game.turn(&state) {
            if player == at.player {
                at.game.apply(&mut state, own);
                break;
            }
            self.take_any(at.game, &mut state, rng);
        }
        self.play_on(at.game, &mut state, rng, LONGEST);
        self.utilities[at.player]
    }

    /// Takes a random action.
    #[inline]
    fn take_any(&mut self, game: &G, state: &mut G::State, rng: &mut Stream) {
        game.actions(state, &mut self.legal);
        if !self.legal.is_empty() {
            let action = &self.legal[rng.random_range(0..self.legal.len())];
            game.apply(state, action);
            if let Some(trace) = &mut self.trace {
                trace.push(action.clone());
            }
        }
    }

    /// Plays at random to the end, and keeps the utilities. They are 0 if the game takes more than so many actions.
    fn play_on(&mut self, game: &G, state: &mut G::State, rng: &mut Stream, most: usize) {
        for _ in 0..most {
            match game.turn(state) {
                Turn::Over => return game.utilities(state, &mut self.utilities),
                Turn::Chance => self.throw(game, state, rng),
                Turn::Player(_) => self.take_any(game, state, rng),
            }
            if self.is_spent() {
                break;
            }
        }
        // Nobody knows how it would have ended.
        self.trace = None;
        self.utilities.clear();
        self.utilities.resize(game.players(), 0.0);
    }

    /// Lets chance move. What it brings once, it need not bring again.
    #[inline]
    fn throw(&mut self, game: &G, state: &mut G::State, rng: &mut Stream) {
        let outcome = game.sample(state, rng);
        game.apply(state, &outcome);
        self.trace = None;
    }

    /// Random games along a tree.
    fn tree(&mut self, game: &G, before: &G::State, (budget, c): (Budget, f64), rng: &mut Stream) {
        self.nodes.clear();
        self.known.clear();
        self.actions.clear();
        self.tallies.clear();
        self.squares.clear();
        self.games = 0;
        let most = match budget {
            Budget::Nodes(games) => games,
            Budget::Time(time) => {
                let own = Instant::now().checked_add(time);
                self.deadline = own.into_iter().chain(self.until).min();
                u64::MAX
            }
            Budget::Plies(_) => 1,
        };
        let mut state = before.clone();
        let c = c * game.usual_result() / game.scale();
        while self.games < most && !self.is_spent() {
            state.clone_from(before);
            self.trace = (game.players() == 1).then(Vec::new);
            self.play(game, &mut state, c, rng);
            if self.is_late {
                break;
            }
            self.games += 1;
            if let Some(trace) = self.trace.take() {
                self.keep_way(game, before, &trace);
            }
        }
    }

    /// One game, down the tree and beyond.
    fn play(&mut self, game: &G, state: &mut G::State, c: f64, rng: &mut Stream) {
        self.path.clear();
        let mut steps = 0;
        while steps < LONGEST {
            steps += 1;
            match game.turn(state) {
                Turn::Over => break,
                Turn::Chance => self.throw(game, state, rng),
                Turn::Player(player) => {
                    let info = game.info(state, player);
                    let Some(&node) = self.known.get(&info) else {
                        self.add(game, state, player, info);
                        break;
                    };
                    let edge = self.pick(node, c, rng);
                    let action = &self.actions[edge];
                    game.apply(state, action);
                    self.path.push((node, edge as u32));
                    if let Some(trace) = &mut self.trace {
                        trace.push(action.clone());
                    }
                }
            }
        }
        self.play_on(game, state, rng, LONGEST);
        // A game that is broken off says nothing.
        if self.is_late {
            return;
        }
        let scale = game.scale();
        for &(node, edge) in &self.path {
            let node = &mut self.nodes[node as usize];
            node.visits += 1;
            let tally = &mut self.tallies[edge as usize];
            tally.visits += 1;
            let utility = self.utilities[node.player] / scale;
            tally.sum += utility;
            // The actions of the root come first.
            if let Some(sum) = self.squares.get_mut(edge as usize) {
                *sum += utility * utility;
            }
        }
    }

    /// Goes one step along the way, if a game has gone on as it says.
    fn follow_way(&mut self, state: &G::State) {
        let Some(way) = &mut self.way else { return };
        // A decision that is asked for again is where the way begins.
        if way.steps.first().is_some_and(|(first, _)| first == state) {
            return;
        }
        match way.steps.get(1) {
            Some((next, _)) if next == state => drop(way.steps.remove(0)),
            _ => self.way = None,
        }
    }

    /// Keeps the way of a game that brought more than any before.
    fn keep_way(&mut self, game: &G, before: &G::State, trace: &[G::Action]) {
        let utility = self.utilities[0];
        if self.way.as_ref().is_some_and(|way| way.utility >= utility) {
            return;
        }
        let mut state = before.clone();
        let steps = trace.iter().map(|action| {
            let step = (state.clone(), action.clone());
            game.apply(&mut state, action);
            step
        });
        self.way = Some(Way { utility, steps: steps.collect() });
    }

    /// Adds a decision to the tree, unless it is full.
    fn add(&mut self, game: &G, state: &G::State, player: usize, info: G::Info) {
        if self.actions.len() >= MOST || self.nodes.len() >= NODES {
            return;
        }
        game.actions(state, &mut self.legal);
        // A rule that leaves a player without an action ends the game.
        if self.legal.is_empty() {
            return;
        }
        let first = self.actions.len();
        self.actions.append(&mut self.legal);
        let end = self.actions.len();
        self.tallies.resize(end, Tally::default());
        if first == 0 {
            self.squares.resize(end, 0.0);
        }
        self.known.insert(info, self.nodes.len() as u32);
        self.nodes.push(Node { player, first, end, visits: 0 });
    }

    /// The action of a decision to try next.
    #[inline]
    fn pick(&self, node: u32, c: f64, rng: &mut Stream) -> usize {
        let node = &self.nodes[node as usize];
        let tallies = &self.tallies[node.first..node.end];
        let new = tallies.iter().filter(|tally| tally.visits == 0).count();
        if new > 0 {
            let nth = rng.random_range(0..new);
            let place = tallies.iter().enumerate().filter(|(_, tally)| tally.visits == 0).nth(nth);
            return node.first + place.map_or(0, |(place, _)| place);
        }
        let log = f64::from(node.visits.max(1)).ln();
        let bound = |tally: &Tally| tally.mean() + c * (log / f64::from(tally.visits)).sqrt();
        let mut best = (f64::NEG_INFINITY, 0);
        for (place, tally) in tallies.iter().enumerate() {
            let bound = bound(tally);
            if bound > best.0 {
                best = (bound, place);
            }
        }
        node.first + best.1
    }

    /// The most visited action of a decision in the tree.
    fn favourite(&self, info: &G::Info) -> Option<usize> {
        let node = &self.nodes[*self.known.get(info)? as usize];
        let of = |&edge: &usize| (self.tallies[edge].visits, self.tallies[edge].mean());
        (node.first..node.end)
            .filter(|&edge| self.tallies[edge].visits > 0)
            .max_by(|a, b| of(a).partial_cmp(&of(b)).unwrap_or(std::cmp::Ordering::Equal))
    }

    /// What the tree says of a decision.
    fn tell(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        let own = at.game.info(at.state, at.player);
        let node = self.known.get(&own).map(|&node| self.nodes[node as usize].clone());
        let edges = node.map_or(0..0, |node| node.first..node.end);
        let Some(best) = self.favourite(&own) else {
            // There was no time for a single game.
            values.resize(actions.len(), 0.0);
            self.errors.resize(actions.len(), 1.0);
            return;
        };
        let highest = self.tallies[best].mean() as f32;
        for action in actions {
            let edge = edges.clone().find(|&edge| self.actions[edge] == *action);
            let tally = edge.map(|edge| self.tallies[edge]).filter(|tally| tally.visits > 0);
            // The mean of few games may be higher by luck.
            let value = match tally.map(|tally| tally.mean() as f32) {
                Some(mean) if edge == Some(best) || mean < highest => mean,
                Some(_) => highest.next_down(),
                None => -1.0,
            };
            values.push(value.max(-1.0));
            let sampled = edge.zip(tally).map(|(edge, tally)| Sampled {
                games: tally.visits.into(),
                mean: tally.mean(),
                square: self.squares.get(edge).map(|sum| sum / f64::from(tally.visits)),
            });
            self.errors.push(sampled.map_or(1.0, |sampled| sampled.error()));
        }
        if let Some(way) = &self.way
            && let Some((state, next)) = way.steps.first()
            && state == at.state
            && let utility = (way.utility / at.game.scale()) as f32
            && let Some(place) = actions.iter().position(|action| action == next)
            && utility >= highest
        {
            // What a player has found alone can be done again.
            let most = utility.max(highest.next_up()).min(1.0);
            values.iter_mut().for_each(|value| *value = value.min(most.next_down()));
            (values[place], self.errors[place]) = (most, 0.0);
        }
        let mut state = at.state.clone();
        // What others choose at the same time is not known.
        let most = if at.game.hides() { 1 } else { limits::PLIES as usize };
        while self.line.len() < most
            && let Turn::Player(player) = at.game.turn(&state)
            && let Some(edge) = self.favourite(&at.game.info(&state, player))
        {
            let action = self.actions[edge].clone();
            at.game.apply(&mut state, &action);
            self.line.push(action);
        }
    }
}

/// The stream of a decision that is asked for its values: the same for the same decision.
fn own_stream<G: Game>(at: Decision<'_, G>) -> Stream {
    stream(0, "playouts", FxBuildHasher.hash_one(at.game.info(at.state, at.player)))
}

impl<G: Kit> Evaluator<G> for PlayoutAgent<G> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        self.way = None;
        self.learn(at, actions, values, &mut own_stream(at));
    }

    fn line(&self) -> &[G::Action] {
        &self.line
    }

    fn errors(&self) -> &[f32] {
        &self.errors
    }

    fn copied(&mut self, _: &G) -> Option<Box<dyn Evaluator<G>>> {
        Some(Box::new(Self::new(self.playouts)))
    }
}

impl<G: Kit> Agent<G> for PlayoutAgent<G> {
    fn name(&self) -> &str {
        match self.playouts {
            Playouts::Even(_) => PLAYOUTS,
            Playouts::Tree { .. } => UCT,
        }
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        Greedy::new(self).policy(at, actions, probabilities);
    }

    /// Draws new random games for each decision, unlike [`policy`](Self::policy).
    fn act(
        &mut self,
        at: Decision<'_, G>,
        actions: &[G::Action],
        _: &mut Vec<f64>,
        rng: &mut Stream,
    ) -> usize {
        let mut values = std::mem::take(&mut self.values);
        self.follow_way(at.state);
        match actions.len() {
            1 => values.splice(.., [0.0]).for_each(drop),
            _ => self.learn(at, actions, &mut values, &mut stream(rng.next_u64(), "playouts", 0)),
        }
        let best = values.iter().fold(f32::NEG_INFINITY, |best, &value| best.max(value));
        let ties: SmallVec<[usize; 8]> =
            values.iter().enumerate().filter(|(_, value)| **value == best).map(|(place, _)| place).collect();
        self.values = values;
        ties[rng.random_range(0..ties.len())]
    }

    fn explain(&mut self, at: Decision<'_, G>) -> String {
        Greedy::new(self).explain(at)
    }
}
