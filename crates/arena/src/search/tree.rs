//! The search itself: alpha-beta over decisions, means over chance.

use super::options::{Budget, SearchOptions};
use super::table::{Bound, Table, What};
use crate::values::{Decision, Evaluator, Reach};
use adept_game::{Game, Kit, OutcomeClass, Turn, outcome_of, stream};
use adept_ground::limits;
use adept_ground::order::places_by;
use rand::RngExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// What a search found at a decision.
#[derive(Clone, Debug)]
pub struct Found<G: Game> {
    /// Value after each action for the player to move, in [−1, 1]. Unless all were asked for, only the highest is exact.
    pub values: Vec<f32>,
    /// The actions that both players are expected to take, as far as no chance comes between them; the best one first.
    pub line: Vec<G::Action>,
    /// Plies that were searched completely.
    pub plies: u32,
    /// Positions that were valued.
    pub nodes: u64,
    /// Whether every line was searched to the end of the game, so that the highest value is exact.
    pub solved: bool,
}

/// What was found of an action at the root.
struct Tried<G: Game> {
    score: f32,
    /// The actions expected after it.
    line: Vec<G::Action>,
}

/// Buffers of one level of the recursion.
struct Frame<G: Game> {
    state: G::State,
    actions: Vec<G::Action>,
    values: Vec<f32>,
    order: Vec<u32>,
    outcomes: Vec<(G::Action, f64)>,
    line: Vec<G::Action>,
}

/// An evaluator that looks ahead with another one.
pub struct Search<G: Game, E> {
    /// The evaluator of the leaves.
    pub evaluator: E,
    /// How far it looks.
    pub options: SearchOptions,
    /// When every question must be answered, whatever the budget: then what has been found so far counts.
    pub until: Option<Instant>,
    /// Ends a search early when it becomes true.
    pub stop: Arc<AtomicBool>,
    has_chance: bool,
    found: Found<G>,
    /// The standard errors of the values that were found, if they are the evaluator's own; empty once a deeper search replaced any.
    errors: Vec<f32>,
    frames: Vec<Frame<G>>,
    table: Table<G::State>,
    /// Plies of the present search.
    plies: u32,
    limit: u64,
    deadline: Option<Instant>,
    until_clock: u32,
    stopped: bool,
    open: bool,
    /// Copies that search on other threads, made when they are first needed.
    copies: Vec<Search<G, Box<dyn Evaluator<G>>>>,
    /// Index of the best action of the last decision.
    chosen: u32,
    /// Whether exact entries of the table answer for the whole window.
    reads: bool,
}

/// A won game has this score, less [`LATER`] a ply, so that a fast win is better than a slow one, and any win better than what
/// an evaluator thinks.
const WON: f32 = 3.0;
const LATER: f32 = 1.0 / 1024.0;

/// An evaluator's value beyond ±1, as networks without a bound give it, in the same order between 1 and 1.25: no value is as good
/// as a win. Other values stay.
fn bounded(value: f32) -> f32 {
    let size = value.abs();
    if size > 1.0 { (1.0 + 0.25 * (1.0 - 1.0 / size)).copysign(value) } else { value }
}

/// Decisions between two looks at the clock.
const CLOCK: u32 = 16;

/// What an action is ordered by: its value, or infinity if it is known to be good.
fn merit(values: &[f32], known: Option<u32>, action: u32) -> f32 {
    if Some(action) == known { f32::INFINITY } else { values[action as usize] }
}

/// Puts the action that is known to be good first, then the others by value.
fn by_merit(order: &mut [u32], values: &[f32], known: Option<u32>) {
    let of = |action: &u32| merit(values, known, *action);
    order.sort_by(|a, b| of(b).total_cmp(&of(a)));
}

impl<G: Game, E> Search<G, E> {
    /// Looks ahead with this evaluator in a game that [`fits`](super::fits).
    pub fn new(game: &G, evaluator: E, options: SearchOptions) -> Self {
        Self {
            evaluator,
            options,
            until: None,
            stop: Arc::default(),
            has_chance: has_chance(game),
            found: Found { values: Vec::new(), line: Vec::new(), plies: 0, nodes: 0, solved: false },
            errors: Vec::new(),
            frames: Vec::new(),
            table: Table::new(),
            plies: 0,
            limit: u64::MAX,
            deadline: None,
            until_clock: 0,
            stopped: false,
            open: false,
            copies: Vec::new(),
            chosen: 0,
            reads: false,
        }
    }

    /// The same search, table and buffers included, with another evaluator; and the evaluator that it had.
    pub fn with<F>(self, evaluator: F) -> (Search<G, F>, E) {
        let Self {
            evaluator: had,
            options,
            until,
            stop,
            has_chance,
            found,
            errors,
            frames,
            table,
            plies,
            limit,
            deadline,
            ..
        } = self;
        let Self { until_clock, stopped, open, chosen, reads, .. } = self;
        let search = Search {
            evaluator,
            options,
            until,
            stop,
            has_chance,
            found,
            errors,
            frames,
            table,
            plies,
            limit,
            deadline,
            until_clock,
            stopped,
            open,
            copies: Vec::new(),
            chosen,
            reads,
        };
        (search, had)
    }

    /// Whether chance comes in games at random.
    pub fn has_chance(&self) -> bool {
        self.has_chance
    }

    /// What the last search found.
    pub fn found(&self) -> &Found<G> {
        &self.found
    }
}

impl<G: Game, E: Evaluator<G>> Search<G, E> {
    /// Prepares a search, and returns the most plies that it takes.
    fn begin(&mut self) -> u32 {
        self.table.start();
        (self.limit, self.deadline, self.stopped, self.until_clock) = (u64::MAX, self.until, false, 0);
        self.found.nodes = 0;
        match self.options.budget {
            Budget::Plies(plies) => plies.min(limits::PLIES),
            Budget::Nodes(nodes) => {
                self.limit = nodes;
                limits::PLIES
            }
            Budget::Time(time) => {
                let own = Instant::now().checked_add(time);
                self.deadline = own.into_iter().chain(self.until).min();
                limits::PLIES
            }
        }
    }

    /// The value of a state before a chance event for `player`: the mean over its outcomes, each followed by a decision of so
    /// many plies.
    pub fn before_chance(&mut self, game: &G, state: &G::State, player: usize) -> f32 {
        let most = self.begin();
        let mut value = 0.0;
        // The first ply is searched whatever the budget is, as at a decision.
        let (limit, deadline) = (self.limit, self.deadline);
        (self.limit, self.deadline) = (u64::MAX, self.until);
        let first = if self.goes_straight() { most } else { 1 };
        (self.found.plies, self.found.solved) = (0, false);
        self.found.values.clear();
        self.found.line.clear();
        self.errors.clear();
        for plies in first..=most {
            self.table.start();
            self.frame(game, 0);
            self.frames[0].state.clone_from(state);
            // The state is one that a player's action led to, as at the first ply below a root.
            (self.open, self.plies) = (false, plies + 1);
            let found = self.after(game, 0, player, plies, f32::NEG_INFINITY, f32::INFINITY);
            if self.stopped {
                break;
            }
            (value, self.found.plies) = (found.clamp(-1.0, 1.0) + 0.0, plies);
            (self.limit, self.deadline) = (limit, deadline);
            if !self.open {
                break;
            }
        }
        value
    }

    /// Searches a decision between these actions.
    pub fn search(&mut self, at: Decision<'_, G>, actions: &[G::Action]) -> &Found<G> {
        let most = self.begin();
        let mut found = std::mem::replace(
            &mut self.found,
            Found { values: Vec::new(), line: Vec::new(), plies: 1, nodes: 0, solved: false },
        );
        self.evaluator.values(at, actions, &mut found.values);
        self.keep_errors();
        (found.plies, found.nodes, found.solved) = (1, 0, false);
        found.line.clear();
        self.found.nodes = actions.len() as u64;
        let best = highest(&found.values);
        found.line.extend(best.map(|best| actions[best].clone()));
        // A forced action needs no search, unless its value is of interest.
        let is_forced = actions.len() < 2 && !self.options.all;
        // Chance makes every depth a search of its own, so that a fixed one begins at once, unless each depth picks actions for the next.
        let picks = self.options.filter.root.len() > 1 && !self.options.all;
        let first = if self.has_chance && self.goes_straight() && !picks { most } else { 2 };
        if first > 1 && !is_forced {
            for plies in first..=most {
                self.deepen(at, actions, plies, &mut found);
                if self.stopped || found.solved {
                    break;
                }
            }
        }
        found.nodes = self.found.nodes;
        self.found = found;
        &self.found
    }

    /// Keeps the errors of the evaluator's last decision: what it values next has others.
    fn keep_errors(&mut self) {
        self.errors.clear();
        self.errors.extend_from_slice(self.evaluator.errors());
    }

    /// Whether the depth that was asked for is searched at once. Where the time may end before, each depth comes after the one before it, so
    /// that there is something to show.
    fn goes_straight(&self) -> bool {
        matches!(self.options.budget, Budget::Plies(_)) && self.until.is_none()
    }

    /// How far the last search looked; none if it was not asked to look ahead.
    pub fn looked(&self) -> Option<Reach> {
        let asked = match self.options.budget {
            Budget::Plies(1) => return None,
            Budget::Plies(plies) => Some(plies),
            Budget::Time(_) | Budget::Nodes(_) => None,
        };
        Some(Reach { plies: self.found.plies, asked, solved: self.found.solved })
    }

    /// Searches every action at the root to this depth. If the budget is spent before, the actions searched so far count.
    fn deepen(&mut self, at: Decision<'_, G>, actions: &[G::Action], plies: u32, found: &mut Found<G>) {
        let mut order = places_by(&found.values[..actions.len()]);
        let full = self.options.all || self.has_chance;
        if let Some(count) =
            self.options.filter.at_root(plies).filter(|_| self.has_chance && !self.options.all)
        {
            order.truncate(count);
        }
        let (mut alpha, mut best, mut expected) = (f32::NEG_INFINITY, None, Vec::new());
        let mut scores = vec![None; actions.len()];
        (self.open, self.plies) = (false, plies);
        let tried = if self.shares() { self.try_all(at, actions, &order) } else { Vec::new() };
        let mut tried = tried.into_iter();
        for &i in &order {
            let floor = if full { f32::NEG_INFINITY } else { alpha };
            let one = match tried.next() {
                Some(one) => one,
                None => self.try_action(at, &actions[i], floor, best.is_some() && !full),
            };
            let Some(Tried { score, line }) = one else { break };
            scores[i] = Some(score);
            if best.is_none() || score > alpha {
                (alpha, best, expected) = (score, Some(i), line);
            }
        }
        let Some(best) = best else { return };
        if self.stopped && self.options.all {
            // Values to be compared with each other are of one depth.
            return;
        }
        self.errors.clear();
        found.line.clear();
        found.line.push(actions[best].clone());
        found.line.extend(expected);
        // What is not searched is below all that is, so that the next depth picks among those.
        let least = order.iter().filter_map(|&i| scores[i]).fold(f32::INFINITY, f32::min).clamp(-1.0, 1.0);
        let picked = order.len() < actions.len();
        let most = alpha.clamp(-1.0, 1.0);
        for (i, value) in found.values.iter_mut().enumerate() {
            // An action that was not searched keeps what was known of it.
            let score = scores[i].unwrap_or(*value);
            // Adding 0 makes −0, a draw seen from the other side, a plain 0.
            let shown = score.clamp(-1.0, 1.0) + 0.0;
            // Of two depths, no values are compared: what was not searched is not the best.
            let is_less = score < alpha || i != best && !full || scores[i].is_none();
            *value = if is_less && shown >= most { most.next_down() } else { shown };
            if picked && scores[i].is_none() {
                *value = value.min(least.next_down());
            }
        }
        if !self.stopped {
            found.plies = plies;
            // Who wins for sure needs no deeper search for a better move.
            found.solved = !self.open || alpha.abs() > 1.5 && !self.options.all;
        }
    }

    /// The score of an action at the root, if it is above `floor`; none if the budget is spent before.
    fn try_action(
        &mut self,
        at: Decision<'_, G>,
        action: &G::Action,
        floor: f32,
        scouts: bool,
    ) -> Option<Tried<G>> {
        // What is found must not depend on which thread searches which actions.
        if self.has_chance {
            self.table.start();
        }
        self.frame(at.game, 0);
        self.frames[0].state.clone_from(at.state);
        at.game.apply(&mut self.frames[0].state, action);
        let plies = self.plies - 1;
        let score = match scouts {
            true => self.scouted(at.game, 0, at.player, plies, floor, f32::INFINITY),
            false => self.after(at.game, 0, at.player, plies, floor, f32::INFINITY),
        };
        (!self.stopped).then(|| Tried { score, line: self.frames[0].line.clone() })
    }

    /// Whether threads share the actions at the root. Each is then a search of its own.
    fn shares(&self) -> bool {
        self.has_chance && self.options.threads > 1 && !matches!(self.options.budget, Budget::Nodes(_))
    }

    /// Searches all actions at the root, in this order, on several threads. Where the time is over, nothing is found of the rest.
    fn try_all(
        &mut self,
        at: Decision<'_, G>,
        actions: &[G::Action],
        order: &[usize],
    ) -> Vec<Option<Tried<G>>> {
        // More threads than cores would only take memory.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = self.options.threads.min(actions.len()).min(cores).saturating_sub(1);
        while self.copies.len() < wanted {
            let Some(copy) = self.evaluator.copied(at.game) else { break };
            let mut options = self.options.clone();
            options.threads = 1;
            let stop = self.stop.clone();
            self.copies.push(Search {
                has_chance: self.has_chance,
                stop,
                ..Search::new(at.game, copy, options)
            });
        }
        let next = AtomicUsize::new(0);
        let mut copies = std::mem::take(&mut self.copies);
        for copy in &mut copies {
            (copy.limit, copy.deadline, copy.plies) = (self.limit, self.deadline, self.plies);
            (copy.stopped, copy.open, copy.found.nodes) = (false, false, 0);
        }
        let mut tried: Vec<Option<Tried<G>>> = order.iter().map(|_| None).collect();
        let share = |place: usize| order.get(place).map(|i| &actions[*i]);
        std::thread::scope(|scope| {
            // Where the system gives no more threads, fewer do the same work.
            let others: Vec<_> = copies
                .iter_mut()
                .map_while(|copy| {
                    let work = || copy.try_some(at, &next, &share);
                    std::thread::Builder::new().spawn_scoped(scope, work).ok()
                })
                .collect();
            let mut found = self.try_some(at, &next, &share);
            for other in others {
                match other.join() {
                    Ok(more) => found.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            found.into_iter().for_each(|(place, one)| tried[place] = one);
        });
        for copy in &copies {
            self.found.nodes += copy.found.nodes;
            self.open |= copy.open;
            self.stopped |= copy.stopped;
        }
        self.copies = copies;
        tried
    }

    /// Searches the actions that no other thread has taken.
    fn try_some<'a>(
        &mut self,
        at: Decision<'_, G>,
        next: &AtomicUsize,
        share: &(dyn Fn(usize) -> Option<&'a G::Action> + Sync),
    ) -> Vec<(usize, Option<Tried<G>>)> {
        let mut found = Vec::new();
        while !self.stopped {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(action) = share(place) else { break };
            found.push((place, self.try_action(at, action, f32::NEG_INFINITY, false)));
        }
        found
    }

    /// Whether the budget is spent.
    fn is_spent(&mut self) -> bool {
        if self.found.nodes >= self.limit {
            self.stopped = true;
        }
        if self.until_clock == 0 {
            self.until_clock = CLOCK;
            let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            self.stopped |= self.stop.load(Ordering::Relaxed) || is_late();
        }
        self.until_clock -= 1;
        self.stopped
    }

    /// Makes the buffers of a level.
    fn frame(&mut self, game: &G, level: usize) {
        while self.frames.len() <= level {
            self.frames.push(Frame {
                state: game.start(),
                actions: Vec::new(),
                values: Vec::new(),
                order: Vec::new(),
                outcomes: Vec::new(),
                line: Vec::new(),
            });
        }
    }

    /// Sets the state of the next level to that of this one after an action.
    fn step(&mut self, game: &G, level: usize, action: &G::Action) {
        self.frame(game, level + 1);
        if let [from, to, ..] = &mut self.frames[level..] {
            to.state.clone_from(&from.state);
            game.apply(&mut to.state, action);
        }
    }

    /// The score of the state of this level for `player`, who left it, as far as it lies between `alpha` and `beta`. `plies` more
    /// are searched, at least 1.
    fn after(&mut self, game: &G, level: usize, player: usize, plies: u32, alpha: f32, beta: f32) -> f32 {
        self.frames[level].line.clear();
        match game.turn(&self.frames[level].state) {
            Turn::Over => self.result(game, level, player),
            Turn::Chance => self.chance(game, level, player, plies, alpha, beta),
            Turn::Player(next) if next == player => self.decision(game, level, next, plies, alpha, beta),
            Turn::Player(next) => -self.decision(game, level, next, plies, -beta, -alpha),
        }
    }

    /// The same, if it is expected not to be above `alpha`: a narrow window first.
    fn scouted(&mut self, game: &G, level: usize, player: usize, plies: u32, alpha: f32, beta: f32) -> f32 {
        let narrow = alpha.next_up();
        let score = self.after(game, level, player, plies, alpha, narrow);
        match score > alpha && score < beta && narrow < beta && !self.stopped {
            true => self.after(game, level, player, plies, alpha, beta),
            false => score,
        }
    }

    /// The score of a finished game.
    fn result(&mut self, game: &G, level: usize, player: usize) -> f32 {
        self.found.nodes += 1;
        let value = (game.utility(&self.frames[level].state, player) / game.scale()) as f32;
        self.scored(value, level)
    }

    /// The score of a result that is reached at this level.
    fn scored(&self, value: f32, level: usize) -> f32 {
        match value.abs() >= 1.0 && !self.has_chance {
            true => (WON - LATER * level as f32).copysign(value),
            false => value,
        }
    }

    /// The mean over all outcomes. Values lie in [−1, 1], so that the outcomes that are left bound it (Star1: B. W. Ballard, The
    /// *-minimax search procedure for trees containing chance nodes, 1983).
    fn chance(&mut self, game: &G, level: usize, player: usize, plies: u32, alpha: f32, beta: f32) -> f32 {
        let mut outcomes = std::mem::take(&mut self.frames[level].outcomes);
        if !game.outcomes(&self.frames[level].state, &mut outcomes) {
            // Only a rare event can be one that games at random did not meet: see `fits`.
            outcomes.clear();
            self.open = true;
        }
        let (mut sum, mut left) = (0.0, 1.0);
        let (alpha, beta) = (f64::from(alpha), f64::from(beta));
        for (outcome, p) in &outcomes {
            left -= p;
            let (low, high) = ((alpha - sum - left) / p, (beta - sum + left) / p);
            self.step(game, level, outcome);
            let score = self.after(game, level + 1, player, plies, low as f32, high as f32).clamp(-1.0, 1.0);
            let value = f64::from(score);
            sum += p * value;
            if self.stopped {
                break;
            }
            if value <= low {
                sum += left;
                break;
            }
            if value >= high {
                sum -= left;
                break;
            }
        }
        self.frames[level].outcomes = outcomes;
        self.frames[level].line.clear();
        sum as f32
    }

    /// The score of the best action of `player`, who is to move in the state of this level.
    fn decision(&mut self, game: &G, level: usize, player: usize, plies: u32, alpha: f32, beta: f32) -> f32 {
        if self.is_spent() {
            return 0.0;
        }
        self.frames[level].line.clear();
        let later = LATER * level as f32;
        let mut known = None;
        if let Some(entry) = self.table.find(&self.frames[level].state) {
            let value = match entry.value.abs() > 1.5 {
                true => entry.value - later.copysign(entry.value),
                false => entry.value,
            };
            let is_narrow = alpha.next_up() >= beta;
            let is_enough = match entry.bound {
                Bound::Exact => true,
                Bound::AtLeast => value >= beta,
                Bound::AtMost => value <= alpha,
            };
            // Where the whole window is searched, the line is wanted too.
            if u32::from(entry.plies) == plies && is_enough && (is_narrow || self.has_chance || self.reads) {
                self.open |= entry.open;
                self.chosen = entry.best;
                return value;
            }
            known = Some(entry.best);
        }
        let was_open = std::mem::take(&mut self.open);
        let mut actions = std::mem::take(&mut self.frames[level].actions);
        game.actions(&self.frames[level].state, &mut actions);
        let is_leaf = plies == 1 && game.counts_as_ply(&self.frames[level].state);
        let (score, best) = match () {
            () if actions.is_empty() => {
                self.open = true;
                (0.0, 0)
            }
            () if is_leaf => self.leaves(game, level, player, &actions),
            () => self.branches(game, level, player, plies, (alpha, beta), &actions, known),
        };
        self.chosen = best;
        if is_leaf && let Some(action) = actions.get(best as usize) {
            self.frames[level].line.push(action.clone());
        }
        self.frames[level].actions = actions;
        if !self.stopped {
            let value = if score.abs() > 1.5 { score + later.copysign(score) } else { score };
            let bound = match () {
                () if is_leaf => Bound::Exact,
                () if score <= alpha => Bound::AtMost,
                () if score >= beta => Bound::AtLeast,
                () => Bound::Exact,
            };
            let what = What { value, bound, plies: plies as u16, best, open: self.open };
            self.table.store(&self.frames[level].state, what);
        }
        self.open |= was_open;
        score
    }

    /// The best of the actions by the evaluator, and its index.
    fn leaves(&mut self, game: &G, level: usize, player: usize, actions: &[G::Action]) -> (f32, u32) {
        let mut values = std::mem::take(&mut self.frames[level].values);
        let at = Decision::new(game, &self.frames[level].state, player);
        self.evaluator.values(at, actions, &mut values);
        self.found.nodes += actions.len() as u64;
        let mut best = highest(&values);
        let mut score = best.map_or(0.0, |best| bounded(values[best]));
        let mut is_open = true;
        // Where networks answer ±1 too, what ends the game tells a win or loss for sure.
        if !self.has_chance && score >= 1.0 {
            let wins = |i: &usize| values[*i] >= 1.0;
            if let Some(i) = (0..values.len()).filter(wins).find(|i| self.ends(game, level, &actions[*i])) {
                (best, score, is_open) = (Some(i), self.scored(1.0, level + 1), false);
            }
        } else if !self.has_chance && score <= -1.0 && actions.iter().all(|a| self.ends(game, level, a)) {
            (score, is_open) = (self.scored(-1.0, level + 1), false);
        }
        self.open |= is_open;
        self.frames[level].values = values;
        (score, best.unwrap_or(0) as u32)
    }

    /// Whether an action ends the game.
    fn ends(&mut self, game: &G, level: usize, action: &G::Action) -> bool {
        self.step(game, level, action);
        game.turn(&self.frames[level + 1].state) == Turn::Over
    }

    /// The best of the actions by deeper search, and its index.
    #[expect(clippy::too_many_arguments, reason = "the recursion's own state")]
    fn branches(
        &mut self,
        game: &G,
        level: usize,
        player: usize,
        plies: u32,
        (mut alpha, beta): (f32, f32),
        actions: &[G::Action],
        known: Option<u32>,
    ) -> (f32, u32) {
        let mut order = std::mem::take(&mut self.frames[level].order);
        self.rank(game, (level, plies), player, actions, known, &mut order);
        let (mut score, mut best) = (f32::NEG_INFINITY, 0);
        let left = plies - u32::from(game.counts_as_ply(&self.frames[level].state));
        for (n, &i) in order.iter().enumerate() {
            let action = &actions[i as usize];
            self.step(game, level, action);
            let value = match n {
                0 => self.after(game, level + 1, player, left, alpha, beta),
                _ if self.has_chance => self.after(game, level + 1, player, left, alpha, beta),
                _ => self.scouted(game, level + 1, player, left, alpha, beta),
            };
            if self.stopped {
                break;
            }
            if value > score {
                (score, best) = (value, i);
                if value > alpha {
                    alpha = value;
                    if let [here, next, ..] = &mut self.frames[level..] {
                        here.line.clear();
                        here.line.push(action.clone());
                        here.line.extend(next.line.iter().cloned());
                    }
                }
                if value >= beta {
                    break;
                }
            }
        }
        self.frames[level].order = order;
        (score, best)
    }

    /// The actions to search, the most promising first: the best one of an earlier search, then by the evaluator.
    fn rank(
        &mut self,
        game: &G,
        (level, plies): (usize, u32),
        player: usize,
        actions: &[G::Action],
        known: Option<u32>,
        order: &mut Vec<u32>,
    ) {
        let mut values = std::mem::take(&mut self.frames[level].values);
        let at = Decision::new(game, &self.frames[level].state, player);
        self.evaluator.values(at, actions, &mut values);
        self.found.nodes += actions.len() as u64;
        order.clear();
        order.extend(0..actions.len() as u32);
        by_merit(order, &values, known);
        if self.has_chance && !order.is_empty() {
            let keep = self.options.filter.at(self.plies.saturating_sub(plies) as usize);
            let margin = self.options.filter.margin * (game.usual_result() / game.scale()) as f32;
            let least = highest(&values).map_or(0.0, |best| values[best] - margin);
            let mut n = 0;
            order.retain(|i| {
                n += 1;
                n <= keep || merit(&values, known, *i) >= least
            });
        }
        self.frames[level].values = values;
    }
}

impl<G: Kit, E: Evaluator<G>> Search<G, E> {
    /// Replaces `sums` by the probability of each class of results for the player to move after an action of the decision that was
    /// searched last, as deep as that search was completed. It follows the best play of both sides and averages over chance. Empty if
    /// the evaluator knows values alone, or there was no time for it. This is a search of its own without a budget.
    pub fn outcomes_after(&mut self, at: Decision<'_, G>, action: &G::Action, sums: &mut Vec<f32>) {
        let classes = self.evaluator.classes().to_vec();
        let mut leads = Leads { sums: vec![0.0; classes.len()], classes, of_leaf: Vec::new() };
        // Entries of another action, or of an interrupted depth, must not decide between lines of the same value.
        if self.has_chance {
            self.table.start();
        }
        self.frame(at.game, 0);
        self.frames[0].state.clone_from(at.state);
        at.game.apply(&mut self.frames[0].state, action);
        if self.found.plies < 2 && at.game.turn(&self.frames[0].state) != Turn::Over {
            self.evaluator.outcomes(at, action, sums);
            return;
        }
        (self.limit, self.deadline, self.stopped, self.reads) = (u64::MAX, self.until, false, true);
        (self.plies, self.open) = (self.found.plies, false);
        let nodes = self.found.nodes;
        self.lead(at.game, 0, (at.player, false), self.found.plies - 1, 1.0, &mut leads);
        (self.reads, self.found.nodes) = (false, nodes);
        sums.clear();
        if !self.stopped {
            sums.extend(leads.sums.iter().map(|sum| *sum as f32));
        }
    }

    /// Adds the distribution that the state of this level leads to. `player` acted last; `turned` is true if `player` is not the
    /// root's player.
    fn lead(
        &mut self,
        game: &G,
        level: usize,
        (player, turned): (usize, bool),
        plies: u32,
        weight: f64,
        leads: &mut Leads,
    ) {
        match game.turn(&self.frames[level].state) {
            _ if self.is_spent() => {}
            Turn::Over => {
                let class = outcome_of(game, &leads.classes, &self.frames[level].state, player);
                leads.add(class, turned, weight);
            }
            Turn::Chance => {
                let mut outcomes = std::mem::take(&mut self.frames[level].outcomes);
                if game.outcomes(&self.frames[level].state, &mut outcomes) {
                    for (outcome, p) in &outcomes {
                        self.step(game, level, outcome);
                        self.lead(game, level + 1, (player, turned), plies, weight * p, leads);
                    }
                }
                self.frames[level].outcomes = outcomes;
            }
            Turn::Player(next) => {
                let turned = turned != (next != player);
                self.decision(game, level, next, plies, f32::NEG_INFINITY, f32::INFINITY);
                let best = self.chosen as usize;
                let mut actions = std::mem::take(&mut self.frames[level].actions);
                game.actions(&self.frames[level].state, &mut actions);
                if let Some(action) = actions.get(best) {
                    self.step(game, level, action);
                    if plies > 1 || game.turn(&self.frames[level + 1].state) == Turn::Over {
                        self.lead(game, level + 1, (next, turned), plies.saturating_sub(1), weight, leads);
                    } else {
                        let here = &self.frames[level].state;
                        let at = Decision::new(game, here, next);
                        self.evaluator.outcomes(at, action, &mut leads.of_leaf);
                        leads.add_leaf(turned, weight);
                    }
                }
                self.frames[level].actions = actions;
            }
        }
    }
}

/// Probabilities of classes for the player at the root.
struct Leads {
    classes: Vec<OutcomeClass>,
    sums: Vec<f64>,
    /// Those of the present leaf, for the player who acted there.
    of_leaf: Vec<f32>,
}

impl Leads {
    fn add(&mut self, class: Option<usize>, turned: bool, weight: f64) {
        let seen = class.map(|class| if turned { self.classes[class].mirror } else { class });
        if let Some(sum) = seen.and_then(|class| self.sums.get_mut(class)) {
            *sum += weight;
        }
    }

    fn add_leaf(&mut self, turned: bool, weight: f64) {
        for class in 0..self.of_leaf.len().min(self.sums.len()) {
            self.add(Some(class), turned, weight * f64::from(self.of_leaf[class]));
        }
    }
}

/// The place of the highest value; none if no value is a number.
fn highest(values: &[f32]) -> Option<usize> {
    let numbers = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
    numbers
        .fold(None, |best, (i, value)| match best {
            Some((_, most)) if *value <= most => best,
            _ => Some((i, *value)),
        })
        .map(|(i, _)| i)
}

/// Shows the states that follow a player's decision in a few random games to `visit`, until it returns false. What chance does
/// before, such as setting up a position, is never searched.
pub(super) fn walk<G: Game>(game: &G, mut visit: impl FnMut(&G::State) -> bool) {
    let mut actions = Vec::new();
    for n in 0..4 {
        let mut rng = stream(0, "search", n);
        let (mut state, mut has_decided) = (game.start(), false);
        for _ in 0..200 {
            if has_decided && !visit(&state) {
                return;
            }
            let action = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => game.sample(&state, &mut rng),
                Turn::Player(_) => {
                    has_decided = true;
                    game.actions(&state, &mut actions);
                    if actions.is_empty() {
                        break;
                    }
                    actions.swap_remove(rng.random_range(0..actions.len()))
                }
            };
            game.apply(&mut state, &action);
        }
    }
}

/// Whether chance comes in one of a few games at random.
pub(crate) fn has_chance<G: Game>(game: &G) -> bool {
    let mut found = false;
    walk(game, |state| {
        found |= game.turn(state) == Turn::Chance;
        !found
    });
    found
}

impl<G: Kit, E: Evaluator<G>> Evaluator<G> for Search<G, E> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        self.search(at, actions);
        values.clone_from(&self.found.values);
    }

    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        if self.options.budget == Budget::Plies(1) {
            // Nothing is searched: an evaluator that leaves values open is to find them too.
            self.evaluator.study(at, actions, values);
            self.keep_errors();
            let Found { values: found, line, plies, solved, .. } = &mut self.found;
            found.clone_from(values);
            line.clear();
            line.extend(highest(values).map(|best| actions[best].clone()));
            (*plies, *solved) = (1, false);
            return;
        }
        let all = std::mem::replace(&mut self.options.all, true);
        self.weigh(at, actions, values);
        self.options.all = all;
    }

    /// Searches the actions that a decision of its own would, and the one that was played.
    fn compare(
        &mut self,
        at: Decision<'_, G>,
        played: &G::Action,
        actions: &mut Vec<G::Action>,
        values: &mut Vec<f32>,
    ) {
        let (budget, picks) = (self.options.budget, !self.options.filter.root.is_empty());
        let Budget::Plies(most @ 2..) = budget else { return self.study(at, actions, values) };
        if !(self.has_chance && picks) {
            return self.study(at, actions, values);
        }
        at.game.actions(at.state, actions);
        if actions.len() > 1 {
            self.evaluator.values(at, actions, values);
        }
        let all = std::mem::replace(&mut self.options.all, true);
        // Where each depth picks actions for the next, the depths come one after another.
        let first = if self.options.filter.root.len() > 1 { 2 } else { most };
        for plies in first..=most {
            // A choice between one action is none.
            let count = self.options.filter.at_root(plies).unwrap_or(usize::MAX).max(2);
            if actions.len() > count {
                let mut kept = places_by(values);
                let own = actions.iter().position(|action| action == played);
                kept.truncate(count);
                kept.extend(own.filter(|own| !kept.contains(own)));
                kept.sort_unstable();
                *actions = kept.into_iter().map(|i| actions[i].clone()).collect();
            }
            self.options.budget = Budget::Plies(plies);
            self.search(at, actions);
            values.clone_from(&self.found.values);
        }
        (self.options.all, self.options.budget) = (all, budget);
    }

    fn line(&self) -> &[G::Action] {
        &self.found.line
    }

    fn reach(&self) -> Option<Reach> {
        self.looked()
    }

    /// Those of the evaluator, if the values are its own. The best of several estimates has another error.
    fn errors(&self) -> &[f32] {
        &self.errors
    }

    fn classes(&self) -> &[OutcomeClass] {
        self.evaluator.classes()
    }

    /// A search of its own, as deep as that of the decision, which must be the last one.
    fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
        self.outcomes_after(at, action, outcomes);
    }
}
