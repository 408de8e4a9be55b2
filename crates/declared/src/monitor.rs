//! A game that is followed move by move: only what a move changes is computed again, and moves can be taken back.
//!
//! Each gate counts its inputs that are false; it holds while there are none. A fact that changes is handed to the gates that read
//! it, and on from each of them that changes. This is the network of the paper (after Rete), with a gate for each tuple of a
//! table: Levinson, "General game-playing and reinforcement learning" (1996), section on monitoring.
//!
//! Where relations depend on themselves and on the state, all gates are computed again after each move instead: gates of a circle that hold
//! each other up would not notice that nothing else does.

use crate::circuit::Cone;
use crate::declaration::Grade;
use crate::game::{Declared, State, Status};
use crate::ground::Effects;
use adept_game::{Game, Turn};
use std::sync::Arc;

/// The circuit, arranged by what reads each node.
#[derive(Debug)]
pub(crate) struct Net {
    /// For each node, the end of its readers and of its outputs.
    ends: Vec<(u32, u32)>,
    /// Gates that read a node: gate · 2 + negated.
    readers: Vec<u32>,
    /// Outputs that show a node: bit · 2 + negated.
    shown: Vec<u32>,
    /// First bit of the legal moves of each player, which is a multiple of 64.
    legal: Vec<u32>,
    /// First bit of the outcomes of chance in the turn of each player; a multiple of 64 too.
    chance: Vec<u32>,
    /// First bit of what ends the game after a move of each player; a multiple of 64 too.
    over: Vec<u32>,
    /// First bit of what is asked before each move of each player.
    conditions: Vec<Vec<u32>>,
    /// The start: gates' false inputs, and the output bits.
    counts: Vec<u32>,
    outputs: Vec<u64>,
    /// The bit of each output of the circuit.
    bits: Vec<u32>,
}

impl Net {
    fn of(game: &Declared) -> Self {
        let rules = &game.rules;
        let cone = &rules.whole;
        let results = rules.views[0].results.len();
        // The outputs of each player begin at a word.
        let (mut bits, mut next) = (Vec::new(), 0_u32);
        let (mut legal, mut chance, mut over) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = |count: usize, bits: &mut Vec<u32>| {
            let first = next;
            bits.extend((0..count as u32).map(|i| first + i));
            next = (first + count as u32).next_multiple_of(64);
            first
        };
        for _ in &rules.views {
            legal.push(take(rules.acts, &mut bits));
            chance.push(take(rules.moves.len() - rules.acts, &mut bits));
            over.push(take(results, &mut bits));
        }
        let all: usize = cone.outputs().len() - bits.len();
        let mut condition = take(all, &mut bits);
        let conditions = rules.views.iter().map(|view| {
            let first = |effects: &Effects| {
                let first = condition;
                condition += effects.conditional.as_ref().map_or(0, |(cone, _)| cone.outputs().len() as u32);
                first
            };
            view.effects.iter().map(first).collect()
        });
        let conditions = conditions.collect();
        let nodes = 1 + cone.facts() + cone.len();
        let (mut readers, mut shown) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        let mut begin = 0;
        for (gate, &end) in cone.ends().iter().enumerate() {
            for &input in &cone.inputs()[begin as usize..end as usize] {
                readers[input as usize / 2].push(gate as u32 * 2 + input % 2);
            }
            begin = end;
        }
        for (&output, bit) in cone.outputs().iter().zip(&bits) {
            shown[output as usize / 2].push(bit * 2 + output % 2);
        }
        let mut net = Self {
            ends: Vec::new(),
            readers: Vec::new(),
            shown: Vec::new(),
            legal,
            chance,
            over,
            conditions,
            counts: Vec::new(),
            outputs: vec![0; (next as usize).div_ceil(64)],
            bits,
        };
        for (readers, shown) in readers.into_iter().zip(shown) {
            net.readers.extend(readers);
            net.shown.extend(shown);
            net.ends.push((net.readers.len() as u32, net.shown.len() as u32));
        }
        let start = game.start();
        if !cone.circles().is_empty() {
            let mut outputs = std::mem::take(&mut net.outputs);
            net.show(cone, &start, &mut outputs);
            return Self { outputs, ..net };
        }
        let mut values = vec![false];
        values.extend((0..cone.facts()).map(|fact| start.holds(fact)));
        begin = 0;
        for &end in cone.ends() {
            let inputs = &cone.inputs()[begin as usize..end as usize];
            let fails =
                inputs.iter().filter(|&&input| values[input as usize / 2] == (input % 2 == 1)).count();
            net.counts.push(fails as u32);
            values.push(fails == 0);
            begin = end;
        }
        for (&output, bit) in cone.outputs().iter().zip(&net.bits) {
            let holds = values[output as usize / 2] != (output % 2 == 1);
            net.outputs[*bit as usize / 64] |= u64::from(holds) << (bit % 64);
        }
        net
    }

    /// Computes all outputs of a position.
    fn show(&self, cone: &Cone, state: &State, outputs: &mut [u64]) {
        outputs.fill(0);
        cone.find(&state.facts, |output| {
            let bit = self.bits[output];
            outputs[bit as usize / 64] |= 1 << (bit % 64);
            false
        });
    }
}

/// A game and its position.
#[derive(Clone, Debug)]
pub struct Monitor {
    game: Declared,
    net: Arc<Net>,
    state: State,
    counts: Vec<u32>,
    outputs: Vec<u64>,
    /// Nodes that changed and still have to be handed on, with their new values.
    open: Vec<(u32, bool)>,
    /// Facts that each move changed.
    changed: Vec<u32>,
    past: Vec<Past>,
}

/// What is not in the facts of a position before a move.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// First of the facts that the move changed.
    first: u32,
    mover: u8,
    last: u8,
    moves: u32,
    status: Status,
}

impl Monitor {
    /// A game at its start.
    pub fn new(game: &Declared) -> Self {
        let net = Arc::clone(game.facts.net.get_or_init(|| Arc::new(Net::of(game))));
        let (counts, outputs) = (net.counts.clone(), net.outputs.clone());
        let state = game.start();
        Self {
            game: game.clone(),
            net,
            state,
            counts,
            outputs,
            open: Vec::new(),
            changed: Vec::new(),
            past: Vec::new(),
        }
    }

    /// The position.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Back to the start. Moves before it cannot be taken back.
    pub fn restart(&mut self) {
        self.state = self.game.start();
        self.counts.copy_from_slice(&self.net.counts);
        self.outputs.copy_from_slice(&self.net.outputs);
        self.changed.clear();
        self.past.clear();
    }

    /// Whose turn it is.
    pub fn turn(&self) -> Turn {
        self.game.turn(&self.state)
    }

    /// Number of legal moves; 0 if the game is over or chance is to move.
    #[inline]
    pub fn count(&self) -> usize {
        match self.state.status {
            Status::Going => self.legal_words().iter().map(|word| word.count_ones() as usize).sum(),
            _ => 0,
        }
    }

    /// The legal move with this place in ascending order, from 0. None if there are fewer.
    #[inline]
    pub fn legal(&self, mut place: usize) -> Option<u32> {
        for (w, &word) in self.legal_words().iter().enumerate() {
            let here = word.count_ones() as usize;
            if place < here {
                let mut word = word;
                for _ in 0..place {
                    word &= word - 1;
                }
                return Some(w as u32 * 64 + word.trailing_zeros());
            }
            place -= here;
        }
        None
    }

    #[inline]
    fn legal_words(&self) -> &[u64] {
        let first = self.net.legal[usize::from(self.state.mover)] as usize / 64;
        &self.outputs[first..][..self.game.rules.acts.div_ceil(64)]
    }

    #[inline]
    fn chance_words(&self) -> &[u64] {
        let first = self.net.chance[usize::from(self.state.mover)] as usize / 64;
        let rules = &self.game.rules;
        &self.outputs[first..][..(rules.moves.len() - rules.acts).div_ceil(64)]
    }

    /// Replaces `outcomes` by the outcomes of chance with their probabilities; there are none if chance is not to move.
    pub fn outcomes(&self, outcomes: &mut Vec<(u32, f64)>) {
        let words = if self.state.status == Status::Chance { self.chance_words() } else { &[] };
        let bits = words.iter().enumerate().flat_map(|(w, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| w * 64 + bit)
        });
        self.game.shares(bits, outcomes);
    }

    /// Makes a legal move, or has an outcome of chance.
    pub fn apply(&mut self, action: u32) {
        let State { mover: player, last, moves, status, .. } = self.state;
        let before = self.changed.len();
        self.past.push(Past { first: before as u32, mover: player, last, moves, status });
        let rules = Arc::clone(&self.game.rules);
        let view = &rules.views[usize::from(player)];
        let effects = &view.effects[action as usize];
        let asked = |place: usize| {
            let bit = self.net.conditions[usize::from(player)][action as usize] as usize + place;
            self.outputs[bit / 64] >> (bit % 64) & 1 == 1
        };
        let count = effects.conditional.as_ref().map_or(0, |(_, changes)| changes.len());
        let stays = effects.keeps_turn(|| asked(count));
        if let Some((_, changes)) = effects.conditional.as_ref().filter(|(_, changes)| !changes.is_empty()) {
            self.conditional(player, action, changes, &effects.clear, &effects.set);
        } else {
            // What is cleared and set again does not change.
            for &fact in &effects.clear {
                if self.state.holds(fact as usize) && !effects.set.contains(&fact) {
                    self.changed.push(fact);
                }
            }
            for &fact in &effects.set {
                if !self.state.holds(fact as usize) {
                    self.changed.push(fact);
                }
            }
        }
        for i in before..self.changed.len() {
            self.toggle(self.changed[i]);
        }
        self.settle();
        self.game.pass_turn(&mut self.state, rules.is_chance(action), stays);
        let status = self.status(player, &view.results);
        self.game.arrive(&mut self.state, player, status);
    }

    /// The changes of a move with conditional effects.
    fn conditional(&mut self, last: u8, action: u32, changes: &[(u32, bool)], clear: &[u32], set: &[u32]) {
        let first = self.net.conditions[usize::from(last)][action as usize];
        let outputs = &self.outputs;
        let holds = |i: usize| {
            let bit = first as usize + i;
            outputs[bit / 64] >> (bit % 64) & 1 == 1
        };
        let mut next: Vec<(u32, bool)> = clear.iter().map(|&fact| (fact, false)).collect();
        let due =
            |adds: bool| changes.iter().enumerate().filter(move |(i, change)| change.1 == adds && holds(*i));
        next.extend(due(false).map(|(_, change)| *change));
        next.extend(set.iter().map(|&fact| (fact, true)));
        next.extend(due(true).map(|(_, change)| *change));
        for (i, &(fact, value)) in next.iter().enumerate() {
            // The last word on a fact counts.
            if next[i + 1..].iter().all(|(other, _)| *other != fact)
                && self.state.holds(fact as usize) != value
            {
                self.changed.push(fact);
            }
        }
    }

    /// Takes the last move back. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(Past { first, mover, last, moves, status }) = self.past.pop() else { return false };
        while self.changed.len() > first as usize {
            if let Some(fact) = self.changed.pop() {
                self.toggle(fact);
            }
        }
        self.settle();
        (self.state.mover, self.state.last, self.state.moves) = (mover, last, moves);
        self.state.status = status;
        true
    }

    /// The status after a move in the turn of `player`.
    fn status(&self, player: u8, results: &[Grade]) -> Status {
        let first = self.net.over[usize::from(player)] as usize / 64;
        for (w, &word) in self.outputs[first..][..results.len().div_ceil(64)].iter().enumerate() {
            if word != 0 {
                return Status::of(results[w * 64 + word.trailing_zeros() as usize], player);
            }
        }
        let any = |words: &[u64]| words.iter().any(|&word| word != 0);
        match self.game.at_limit(self.state.moves) {
            Some(status) => status,
            None if any(self.chance_words()) => Status::Chance,
            None if any(self.legal_words()) => Status::Going,
            None => Status::of(self.game.rules.declaration.stuck, self.state.mover),
        }
    }

    /// Computes what depends on changed facts, where that is not done fact by fact.
    fn settle(&mut self) {
        let cone = &self.game.rules.whole;
        if !cone.circles().is_empty() {
            self.net.show(cone, &self.state, &mut self.outputs);
        }
    }

    /// Changes a fact, and all that depends on it unless there are circles.
    #[inline]
    fn toggle(&mut self, fact: u32) {
        let value = !self.state.holds(fact as usize);
        self.state.write(fact, value);
        if self.net.counts.len() < self.game.rules.whole.len() {
            return;
        }
        let facts = self.game.rules.facts.len() as u32;
        let net = &*self.net;
        self.open.push((fact + 1, value));
        while let Some((node, value)) = self.open.pop() {
            let (begin, end) = (net.ends[node as usize - 1], net.ends[node as usize]);
            for &reader in &net.readers[begin.0 as usize..end.0 as usize] {
                let count = &mut self.counts[reader as usize / 2];
                let gate = 1 + facts + reader / 2;
                if value != (reader % 2 == 1) {
                    *count -= 1;
                    if *count == 0 {
                        self.open.push((gate, true));
                    }
                } else {
                    *count += 1;
                    if *count == 1 {
                        self.open.push((gate, false));
                    }
                }
            }
            for &shown in &net.shown[begin.1 as usize..end.1 as usize] {
                let (bit, holds) = (shown / 2, value != (shown % 2 == 1));
                let word = &mut self.outputs[bit as usize / 64];
                *word = *word & !(1 << (bit % 64)) | u64::from(holds) << (bit % 64);
            }
        }
    }
}
