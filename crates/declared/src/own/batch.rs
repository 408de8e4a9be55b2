//! Random games of one declared game in 512 parallel lanes.
//!
//! Facts are stored from the view of the player to move and flipped after each move, so that one circuit serves both
//! players, and a finished lane can restart at any time.

use super::declaration::Ending;
use super::ground::{Conditional, Effects, Rules, Stays};
use super::state::State;
use crate::bits::holds;
use crate::counting::LONGEST;
use crate::lanes::{Lanes, Numbers, Random, Wide, Work, choose, restart, value, widest};
use adept_game::Stream;
use smallvec::SmallVec;
use std::sync::Arc;

/// Results of random games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Playouts {
    /// Games won by the first player, or solved in a solitaire.
    pub won: u64,
    /// Games without a winner.
    pub drawn: u64,
    /// Games lost by the first player, or not solved in a solitaire.
    pub lost: u64,
    /// Moves of all games, including unfinished ones.
    pub moves: u64,
}

impl Playouts {
    /// Finished games.
    pub fn games(&self) -> u64 {
        self.won + self.drawn + self.lost
    }

    /// Sum of the first player's utilities.
    pub(crate) fn sum(&self) -> f64 {
        self.won as f64 - self.lost as f64
    }
}

/// What every step reads beside the rules.
#[derive(Debug)]
struct Plan {
    /// Start of a game: the facts from the view of the player to move, whether this is the second player, and the
    /// number of moves.
    start: SmallVec<[u64; 2]>,
    is_second: bool,
    made: u32,
    /// Pairs of facts that the flip exchanges.
    swaps: Vec<(u32, u32)>,
    /// Moves after which the same player moves again.
    again: Vec<usize>,
    /// For each move: facts that it clears and sets, as the end of each list.
    clear: (Vec<u32>, Vec<u32>),
    set: (Vec<u32>, Vec<u32>),
    /// Moves with conditional effects: the move, and its conditions with the facts that they set or clear.
    conditional: Vec<(usize, Conditional)>,
}

/// 512 random games in parallel.
#[derive(Debug)]
pub struct Batch {
    rules: Arc<Rules>,
    plan: Plan,
    random: Random<Wide>,
    /// Values of the nodes: false, the facts, the gates of the last computed cone.
    values: Vec<Wide>,
    /// Legal moves, and legal moves at the start.
    legal: Vec<Wide>,
    first_legal: Vec<bool>,
    chosen: Vec<Wide>,
    changes: Vec<(u32, bool, Wide)>,
    /// Lanes in which the same player moves again.
    stays: Wide,
    /// Lanes in which the second player is to move.
    second: Wide,
    /// Number of moves of each game, if they are limited.
    made: Vec<u32>,
    /// Lanes whose games count, and how many games are still to begin.
    live: Wide,
    left: u64,
    /// Steps since the last game ended.
    quiet: usize,
    results: Playouts,
}

impl Batch {
    /// A batch without running games, for a game of one or two players without chance.
    pub(crate) fn blank(rules: &Arc<Rules>) -> Self {
        let view = &rules.views[0];
        let alone = rules.declaration.players == 1;
        let list = |of: fn(&Effects) -> &Vec<u32>| {
            let (mut facts, mut ends) = (Vec::new(), Vec::new());
            for effects in &view.effects {
                facts.extend(of(effects));
                ends.push(facts.len() as u32);
            }
            (facts, ends)
        };
        let conditional = view.effects.iter().enumerate().filter_map(|(number, effects)| {
            effects.conditional.clone().map(|conditional| (number, conditional))
        });
        let plan = Plan {
            start: SmallVec::new(),
            is_second: false,
            made: 0,
            swaps: if alone {
                Vec::new()
            } else {
                (0..).zip(rules.turned[1].iter().copied()).filter(|(a, b)| a < b).collect()
            },
            again: (0..view.effects.len()).filter(|&m| view.effects[m].stays == Stays::Always).collect(),
            clear: list(|effects| &effects.clear),
            set: list(|effects| &effects.set),
            conditional: conditional.collect(),
        };
        let gates = plan.conditional.iter().map(|(_, (cone, _))| cone.len());
        let gates = gates.chain([view.over.len(), view.legal.len()]).max().unwrap_or(0);
        Self {
            random: Random::default(),
            first_legal: Vec::new(),
            legal: vec![Wide::NONE; rules.moves.len()],
            values: vec![Wide::NONE; 1 + rules.facts.len() + gates],
            chosen: vec![Wide::NONE; rules.moves.len()],
            changes: Vec::new(),
            stays: Wide::NONE,
            second: Wide::NONE,
            made: vec![0; if rules.declaration.limit.is_some() { Wide::COUNT } else { 0 }],
            live: Wide::NONE,
            left: 0,
            quiet: 0,
            results: Playouts::default(),
            rules: rules.clone(),
            plan,
        }
    }

    /// Starts `games` games from an unfinished state, in as many lanes as possible.
    pub(crate) fn begin(&mut self, state: &State, games: u64, rng: &mut Stream) {
        let (rules, plan) = (&*self.rules, &mut self.plan);
        plan.start = state.seen_by(rules, state.mover.into());
        (plan.is_second, plan.made) = (state.mover == 1, state.moves);
        restart(&mut self.values[1..1 + rules.facts.len()], &plan.start, Wide::ALL);
        let legal = &rules.views[0].legal;
        legal.compute(&mut self.values);
        for (legal, &output) in self.legal.iter_mut().zip(legal.outputs()) {
            *legal = value(&self.values, output);
        }
        self.first_legal = self.legal.iter().map(|legal| legal.any()).collect();
        self.random = Random::new(rng);
        self.second = if plan.is_second { Wide::ALL } else { Wide::NONE };
        self.made.fill(plan.made);
        self.live = Wide::ALL.first(games);
        (self.left, self.quiet) = (games - self.live.count(), 0);
        self.results = Playouts::default();
    }

    /// Results of `games` games from an unfinished state. None if no game ends within 20,000 moves.
    pub(crate) fn games(&mut self, state: &State, games: u64, rng: &mut Stream) -> Option<Playouts> {
        self.begin(state, games, rng);
        while self.live.any() {
            self.step();
            if self.quiet > LONGEST {
                return None;
            }
        }
        Some(self.results)
    }

    /// Makes this many moves in every lane. Finished games restart. Returns the results of all games so far.
    pub fn run(&mut self, steps: u64) -> Playouts {
        for _ in 0..steps {
            self.step();
        }
        self.results
    }

    /// One move in every lane.
    fn step(&mut self) {
        widest(self);
    }

    #[inline(always)]
    fn step_here(&mut self) {
        self.choose();
        self.apply();
        self.results.moves += Wide::COUNT as u64;
        self.quiet += 1;
        self.end();
    }

    /// Draws a legal move in every lane. Each lane has one.
    #[inline(always)]
    fn choose(&mut self) {
        let mut count = Numbers::new();
        self.legal.iter().for_each(|&legal| count.add(legal));
        choose(&count, &mut self.random, &self.legal, Wide::ALL, &mut self.chosen);
    }

    /// Applies the chosen moves.
    #[inline(always)]
    fn apply(&mut self) {
        let plan = &self.plan;
        self.changes.clear();
        self.stays = plan.again.iter().fold(Wide::NONE, |stays, &number| stays.or(self.chosen[number]));
        for (number, (cone, changed)) in &plan.conditional {
            cone.compute(&mut self.values);
            for (i, &output) in cone.outputs().iter().enumerate() {
                let lanes = value(&self.values, output).and(self.chosen[*number]);
                match changed.get(i) {
                    Some(&(fact, adds)) => self.changes.push((fact, adds, lanes)),
                    // The last output, after the conditions of all changes.
                    None => self.stays = self.stays.or(lanes),
                }
            }
        }
        change(&plan.clear, &self.chosen, &mut self.values, Wide::without);
        for &(fact, _, lanes) in self.changes.iter().filter(|(_, adds, _)| !adds) {
            let value = &mut self.values[1 + fact as usize];
            *value = value.without(lanes);
        }
        change(&plan.set, &self.chosen, &mut self.values, Wide::or);
        for &(fact, _, lanes) in self.changes.iter().filter(|(_, adds, _)| *adds) {
            let value = &mut self.values[1 + fact as usize];
            *value = value.or(lanes);
        }
    }

    /// Records the results of finished games and restarts them.
    #[inline(always)]
    fn end(&mut self) {
        let (rules, plan) = (&*self.rules, &self.plan);
        let (declaration, view) = (&rules.declaration, &rules.views[0]);
        let alone = declaration.players == 1;
        // By the player who moved: won, lost, drawn.
        let mut results = [Wide::NONE; 3];
        view.over.compute(&mut self.values);
        let mut over = Wide::NONE;
        for (&output, &((ending, _), _)) in view.over.outputs().iter().zip(&declaration.endings) {
            let here = value(&self.values, output).without(over);
            results[ending as usize] = results[ending as usize].or(here);
            over = over.or(here);
        }
        if let Some(limit) = declaration.limit {
            let mut reached = Wide::NONE;
            for (lane, made) in self.made.iter_mut().enumerate() {
                *made += 1;
                reached.0[lane / 64] |= u64::from(*made >= limit) << (lane % 64);
            }
            let ending = if alone { Ending::Lose } else { Ending::Draw };
            results[ending as usize] = results[ending as usize].or(reached.without(over));
            over = over.or(reached);
        }
        // Lanes in which the first player has moved.
        let first = Wide::ALL.without(self.second);
        if !alone {
            let passes = Wide::ALL.without(self.stays);
            for &(a, b) in &plan.swaps {
                let (a, b) = (1 + a as usize, 1 + b as usize);
                if passes == Wide::ALL {
                    self.values.swap(a, b);
                } else {
                    let differ = self.values[a].xor(self.values[b]).and(passes);
                    self.values[a] = self.values[a].xor(differ);
                    self.values[b] = self.values[b].xor(differ);
                }
            }
            self.second = self.second.xor(passes);
        }
        view.legal.compute(&mut self.values);
        let mut going = Wide::NONE;
        for (legal, &output) in self.legal.iter_mut().zip(view.legal.outputs()) {
            *legal = value(&self.values, output);
            going = going.or(*legal);
        }
        let stuck = Wide::ALL.without(going).without(over);
        if stuck.any() {
            // If the turn has passed, the other player is stuck.
            let same = if alone { stuck } else { stuck.and(self.stays) };
            let ending = declaration.stuck.0;
            let mirrored = match ending {
                Ending::Win => Ending::Lose,
                Ending::Lose => Ending::Win,
                Ending::Draw => Ending::Draw,
            };
            for (ending, lanes) in [(ending, same), (mirrored, stuck.without(same))] {
                results[ending as usize] = results[ending as usize].or(lanes);
            }
            over = over.or(stuck);
        }
        if !over.any() {
            return;
        }
        let [won, lost, drawn] = results.map(|lanes| lanes.and(self.live));
        self.results.won += won.and(first).count() + lost.without(first).count();
        self.results.lost += lost.and(first).count() + won.without(first).count();
        self.results.drawn += drawn.count();
        // Lanes whose games no longer count continue harmlessly.
        let ended = over.and(self.live);
        if ended.any() {
            let again = ended.first(self.left);
            self.left -= again.count();
            self.live = self.live.without(ended).or(again);
            self.quiet = 0;
        }
        restart(&mut self.values[1..1 + rules.facts.len()], &plan.start, over);
        for (legal, &holds) in self.legal.iter_mut().zip(&self.first_legal) {
            *legal = if holds { legal.or(over) } else { legal.without(over) };
        }
        self.second = if plan.is_second { self.second.or(over) } else { self.second.without(over) };
        if declaration.limit.is_some() {
            for (lane, made) in self.made.iter_mut().enumerate() {
                if holds(&over.0, lane) {
                    *made = plan.made;
                }
            }
        }
    }

    /// The move drawn last in a lane, as the list of moves whose bit is set.
    #[cfg(test)]
    pub(crate) fn chosen_in(&self, lane: usize) -> Vec<usize> {
        self.chosen
            .iter()
            .enumerate()
            .filter(|(_, lanes)| holds(&lanes.0, lane))
            .map(|(number, _)| number)
            .collect()
    }

    /// Whether a fact holds in a lane, from the view of the player to move.
    #[cfg(test)]
    pub(crate) fn holds(&self, fact: usize, lane: usize) -> bool {
        holds(&self.values[1 + fact].0, lane)
    }
}

impl Work for &mut Batch {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        self.step_here();
    }
}

/// Applies the effects of each move in the lanes that chose it.
#[inline(always)]
fn change(
    (facts, ends): &(Vec<u32>, Vec<u32>),
    chosen: &[Wide],
    values: &mut [Wide],
    change: impl Fn(Wide, Wide) -> Wide,
) {
    let mut begin = 0;
    for (&chosen, &end) in chosen.iter().zip(ends) {
        for &fact in &facts[begin as usize..end as usize] {
            let value = &mut values[1 + fact as usize];
            *value = change(*value, chosen);
        }
        begin = end;
    }
}
