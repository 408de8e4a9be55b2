//! Possible sums of two roles' goals, as far as the circuit proves.
//!
//! For each pair of goals: can both hold at an end at which each role has exactly one goal, as GDL demands? Unit
//! propagation sets all gates that follow; a contradiction excludes the pair. Of some facts, such as whose turn it is,
//! exactly one holds in every position: one does at the start, and the circuit proves that every step preserves it.

use crate::circuit::{Builder, Literal};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Limit on gates inspected for all pairs: a fraction of a second.
const WORK: usize = 20_000_000;
/// Limit on gates and inputs of the circuit.
const SIZE: usize = 2_000_000;

/// Facts of which exactly one holds at the start, each with its condition to hold next.
pub(crate) type Group = Vec<(Literal, Literal)>;

/// The sums of two roles' goals that could not be excluded. `goals` are role, value and gate. None if it takes too
/// long.
pub(crate) fn possible_sums(
    builder: &Builder,
    end: Literal,
    goals: &[(u8, u8, Literal)],
    groups: &[Group],
) -> Option<BTreeSet<u16>> {
    let of_groups = groups.iter().flatten().flat_map(|&(fact, next)| [fact, next]);
    let literals: Vec<Literal> =
        goals.iter().map(|&(.., literal)| literal).chain([end]).chain(of_groups).collect();
    let mut gates = Gates::new(builder, &literals)?;
    for group in groups {
        if gates.keeps_one(group)? {
            gates.groups.push(group.iter().map(|&(fact, _)| fact).collect());
        }
    }
    let of = |role: u8| goals.iter().enumerate().filter(move |(_, goal)| goal.0 == role);
    let mut sums = BTreeSet::new();
    for (one, &(_, a, _)) in of(0) {
        for (other, &(_, b, _)) in of(1) {
            let sum = u16::from(a) + u16::from(b);
            if sums.contains(&sum) {
                continue;
            }
            let chosen = goals
                .iter()
                .enumerate()
                .map(|(i, &(.., literal))| literal ^ Literal::from(i != one && i != other));
            let may_hold = gates.assume(chosen.chain([end]))?;
            gates.forget();
            if may_hold {
                sums.insert(sum);
            }
        }
    }
    Some(sums)
}

/// The gates that some outputs depend on, with their known values.
struct Gates {
    /// Index of each node.
    places: FxHashMap<u32, u32>,
    /// Inputs of each node, as literals of indices. None for facts.
    inputs: Vec<Option<Vec<Literal>>>,
    /// Whether a node equals its only input: an open gate that was closed.
    is_same: Vec<bool>,
    /// Readers of each node, each with whether it requires the node to hold.
    readers: Vec<Vec<(u32, bool)>>,
    known: Vec<Option<bool>>,
    /// Number of inputs of each node that are not known to hold.
    open: Vec<u32>,
    trail: Vec<u32>,
    /// Groups of facts of which exactly one holds.
    groups: Vec<Vec<Literal>>,
    left: usize,
}

impl Gates {
    fn new(builder: &Builder, outputs: &[Literal]) -> Option<Self> {
        let mut gates = Self {
            places: FxHashMap::default(),
            inputs: Vec::new(),
            is_same: Vec::new(),
            readers: Vec::new(),
            known: Vec::new(),
            open: Vec::new(),
            trail: Vec::new(),
            groups: Vec::new(),
            left: WORK,
        };
        let mut size: usize = 0;
        let mut waiting: Vec<u32> = outputs.iter().map(|output| output / 2).collect();
        let mut nodes = Vec::new();
        while let Some(node) = waiting.pop() {
            if gates.places.contains_key(&node) {
                continue;
            }
            gates.places.insert(node, nodes.len() as u32);
            let definition = builder.definition(node as usize).map(|definition| vec![definition]);
            let is_same = definition.is_some();
            let inputs = definition.or_else(|| builder.inputs(node as usize).map(<[_]>::to_vec));
            waiting.extend(inputs.iter().flatten().map(|input| input / 2));
            size += 1 + inputs.as_ref().map_or(0, Vec::len);
            if size > SIZE {
                return None;
            }
            nodes.push((inputs, is_same));
        }
        gates.readers = vec![Vec::new(); nodes.len()];
        for (place, (inputs, is_same)) in nodes.into_iter().enumerate() {
            let inputs: Option<Vec<Literal>> =
                inputs.map(|inputs| inputs.into_iter().map(|input| gates.place(input)).collect());
            for input in inputs.iter().flatten() {
                gates.readers[*input as usize / 2].push((place as u32, input.is_multiple_of(2)));
            }
            gates.open.push(inputs.as_ref().map_or(0, Vec::len) as u32);
            gates.inputs.push(inputs);
            gates.is_same.push(is_same);
        }
        gates.known = vec![None; gates.inputs.len()];
        Some(gates)
    }

    fn place(&self, literal: Literal) -> Literal {
        self.places[&(literal / 2)] * 2 + literal % 2
    }

    /// The known value of a literal.
    fn value(&self, literal: Literal) -> Option<bool> {
        // Node 0 is false.
        match literal / 2 {
            0 => Some(literal == 1),
            _ => self.known[self.place(literal) as usize / 2].map(|holds| holds == literal.is_multiple_of(2)),
        }
    }

    /// Whether a step preserves that exactly one fact of the group holds, as far as propagation proves. None if it
    /// takes too long.
    fn keeps_one(&mut self, group: &Group) -> Option<bool> {
        for chosen in 0..group.len() {
            let facts = group.iter().enumerate().map(|(i, &(fact, _))| fact ^ Literal::from(i != chosen));
            let may_hold = self.assume(facts)?;
            let next: Vec<Option<bool>> = group.iter().map(|&(_, next)| self.value(next)).collect();
            self.forget();
            let is_one = next.iter().all(Option::is_some)
                && next.iter().flatten().filter(|holds| **holds).count() == 1;
            if may_hold && !is_one {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Assumes these literals and propagates. Returns whether no contradiction follows. None if it takes too long.
    fn assume(&mut self, literals: impl Iterator<Item = Literal>) -> Option<bool> {
        let mut next: Vec<Literal> = literals.map(|literal| self.place(literal)).collect();
        // Node 0 is false.
        next.extend(self.places.get(&0).map(|place| place * 2 + 1));
        let mut at = 0;
        loop {
            while at < next.len() {
                if !self.set(next[at], &mut next)? {
                    return Some(false);
                }
                at += 1;
            }
            for group in &self.groups {
                self.left = self.left.checked_sub(group.len())?;
                let known: Vec<Option<bool>> = group.iter().map(|&fact| self.value(fact)).collect();
                let count = |wanted: Option<bool>| known.iter().filter(|value| **value == wanted).count();
                let open = group.iter().zip(&known).filter(|(_, value)| value.is_none());
                match (count(Some(true)), count(None)) {
                    (2.., _) | (0, 0) => return Some(false),
                    (1, 1..) => next.extend(open.map(|(&fact, _)| self.place(fact ^ 1))),
                    (0, 1) => next.extend(open.map(|(&fact, _)| self.place(fact))),
                    _ => {}
                }
            }
            if at == next.len() {
                return Some(true);
            }
        }
    }

    /// Retracts all assumptions.
    fn forget(&mut self) {
        for place in self.trail.drain(..) {
            let holds = self.known[place as usize].take() == Some(true);
            for &(reader, wanted) in &self.readers[place as usize] {
                self.open[reader as usize] += u32::from(wanted == holds);
            }
        }
    }

    /// Sets a literal and adds its consequences to `next`. Returns false on a contradiction.
    fn set(&mut self, literal: Literal, next: &mut Vec<Literal>) -> Option<bool> {
        let (place, holds) = (literal as usize / 2, literal.is_multiple_of(2));
        if let Some(known) = self.known[place] {
            return Some(known == holds);
        }
        self.known[place] = Some(holds);
        self.trail.push(place as u32);
        self.follow(place, next)?;
        self.left = self.left.checked_sub(self.readers[place].len())?;
        for i in 0..self.readers[place].len() {
            let (reader, wanted) = self.readers[place][i];
            if wanted != holds {
                next.push(reader * 2 + 1);
                continue;
            }
            self.open[reader as usize] -= 1;
            if self.open[reader as usize] == 0 {
                next.push(reader * 2);
            }
            self.follow(reader as usize, next)?;
        }
        Some(true)
    }

    /// Propagates a known node to its inputs.
    fn follow(&mut self, place: usize, next: &mut Vec<Literal>) -> Option<()> {
        let (Some(holds), Some(inputs)) = (self.known[place], &self.inputs[place]) else { return Some(()) };
        if holds || self.is_same[place] {
            next.extend(inputs.iter().map(|input| input ^ Literal::from(!holds)));
            self.left = self.left.checked_sub(inputs.len())?;
        } else if self.open[place] == 1 {
            // All inputs but one hold, and the gate does not.
            self.left = self.left.checked_sub(inputs.len())?;
            let known = &self.known;
            let last =
                inputs.iter().find(|&&input| known[input as usize / 2] != Some(input.is_multiple_of(2)));
            next.extend(last.map(|input| input ^ 1));
        }
        Some(())
    }
}
