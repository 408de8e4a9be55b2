//! Effects of moves that are the same in all positions where the move is legal: facts that it clears, sets and copies.

use crate::circuit::{Builder, FALSE, Literal, TRUE};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// Most facts that a move may copy; above, the circuit is as fast.
const COPIES: usize = 24;
/// Limit on gates read while finding the effects of all moves.
const WORK: usize = 50_000_000;
/// Memory limit of the effects of all moves, in bytes.
const BYTES: usize = 1 << 28;
/// A value that depends on more than one fact.
const MIXED: Literal = Literal::MAX;

/// A set of facts: bit f is fact f.
pub(crate) type Facts = SmallVec<[u64; 4]>;

/// Effects of moves, computed when a move is first made.
#[derive(Debug)]
pub(crate) struct Folder {
    builder: Builder,
    facts: usize,
    next: Vec<Literal>,
    legal: Vec<Literal>,
    /// Gates that `next` needs, in topological order.
    gates: Vec<usize>,
    /// Indexed by the first move of a step.
    known: Vec<OnceLock<Option<Effects>>>,
}

/// Effects of a step.
#[derive(Debug)]
pub(crate) struct Effects {
    moves: SmallVec<[u32; 4]>,
    clear: Facts,
    set: Facts,
    /// A fact and its new value: another fact or its negation.
    copies: Vec<(u32, Literal)>,
}

impl Folder {
    /// Creates effects for a circuit whose inputs are the facts and then the moves. None if it is too large.
    pub(crate) fn new(
        builder: Builder,
        facts: usize,
        next: Vec<Literal>,
        legal: Vec<Literal>,
    ) -> Option<Self> {
        let first = builder.facts() + 1;
        let mut is_needed = vec![false; first + builder.len()];
        next.iter().for_each(|&literal| is_needed[literal as usize / 2] = true);
        for node in (first..is_needed.len()).rev().filter(|&node| builder.definition(node).is_none()) {
            if is_needed[node] {
                let inputs = builder.inputs(node).unwrap_or_default();
                inputs.iter().for_each(|&input| is_needed[input as usize / 2] = true);
            }
        }
        let gates: Vec<usize> = (first..is_needed.len()).filter(|&node| is_needed[node]).collect();
        let known: Vec<_> = legal.iter().map(|_| OnceLock::new()).collect();
        // Resetting a node for a move takes an eighth of the time of a gate.
        let work = (gates.len() + is_needed.len() / 8).saturating_mul(legal.len());
        let is_small = work <= WORK && facts / 4 * legal.len() <= BYTES;
        is_small.then_some(Self { builder, facts, next, legal, gates, known })
    }

    /// The circuit.
    pub(crate) fn builder(&self) -> &Builder {
        &self.builder
    }

    /// Effects of a step in which the roles make these moves. None if they depend on the position.
    #[inline]
    pub(crate) fn effects(&self, moves: &[u32]) -> Option<&Effects> {
        // With two roles, usually one of them waits, so each has slots for the steps in which it moved.
        let kept = |&&number: &&u32| {
            let known = self.known[number as usize].get_or_init(|| self.fold(moves));
            known.as_ref().is_some_and(|effects| effects.moves[..] == *moves)
        };
        let number = moves.iter().find(kept)?;
        self.known[*number as usize].get()?.as_ref()
    }

    fn fold(&self, moves: &[u32]) -> Option<Effects> {
        let mut values: Vec<Literal> =
            (0..1 + self.builder.facts() as Literal).map(|node| node * 2).collect();
        values[1 + self.facts..].fill(FALSE);
        moves.iter().for_each(|&number| values[1 + self.facts + number as usize] = TRUE);
        values.resize(1 + self.builder.facts() + self.builder.len(), MIXED);
        // Conditions that hold wherever the moves are legal.
        for &number in moves {
            let legal = self.legal[number as usize];
            let inputs = self.builder.inputs(legal as usize / 2).filter(|_| legal & 1 == 0);
            for &input in inputs.unwrap_or(&[legal]) {
                if (1..=self.facts).contains(&(input as usize / 2)) {
                    values[input as usize / 2] = TRUE ^ (input & 1);
                }
            }
        }
        let value = |values: &[Literal], literal: Literal| match values[literal as usize / 2] {
            MIXED => MIXED,
            value => value ^ (literal & 1),
        };
        for &node in self.gates.iter().filter(|&&node| self.builder.definition(node).is_none()) {
            let mut found = TRUE;
            for &input in self.builder.inputs(node).unwrap_or_default() {
                found = match (value(&values, input), found) {
                    (FALSE, _) => {
                        found = FALSE;
                        break;
                    }
                    (TRUE, found) => found,
                    (one, TRUE) => one,
                    (one, found) if one == found => found,
                    _ => MIXED,
                };
            }
            values[node] = found;
        }
        let words = self.facts.div_ceil(64).max(1);
        let mut effects = Effects {
            moves: SmallVec::from_slice(moves),
            clear: Facts::from_elem(0, words),
            set: Facts::from_elem(0, words),
            copies: Vec::new(),
        };
        for (fact, &next) in self.next.iter().enumerate() {
            let before = values[1 + fact];
            match value(&values, next) {
                MIXED => return None,
                after if after == before => {}
                FALSE => effects.clear[fact / 64] |= 1 << (fact % 64),
                TRUE => effects.set[fact / 64] |= 1 << (fact % 64),
                other => effects.copies.push((fact as u32, other)),
            }
        }
        (effects.copies.len() <= COPIES).then_some(effects)
    }
}

impl Effects {
    /// The facts after a step.
    #[inline]
    pub(crate) fn apply(&self, facts: &Facts) -> Facts {
        let mut next = facts.clone();
        for (word, (clear, set)) in next.iter_mut().zip(self.clear.iter().zip(&self.set)) {
            *word = *word & !clear | set;
        }
        for &(fact, from) in &self.copies {
            let source = from as usize / 2 - 1;
            let holds = facts[source / 64] >> (source % 64) & 1 ^ u64::from(from & 1);
            let word = &mut next[fact as usize / 64];
            *word = *word & !(1 << (fact % 64)) | holds << (fact % 64);
        }
        next
    }
}
