//! Conditions on the state as a circuit of AND gates and inverters.
//!
//! Node 0 is false, nodes 1 to F are the facts of the state, the others are AND gates of earlier nodes. A [`Literal`]
//! is a node or its negation: node · 2 + negated. Equal gates are shared.

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;
use std::hash::BuildHasher;

/// A node or its negation.
pub(crate) type Literal = u32;

/// The constants.
pub(crate) const FALSE: Literal = 0;
pub(crate) const TRUE: Literal = 1;

/// A circuit under construction.
#[derive(Debug)]
pub(crate) struct Builder {
    facts: usize,
    /// End of the inputs of each gate.
    ends: Vec<u32>,
    inputs: Vec<Literal>,
    known: HashTable<u32>,
    /// Open gates, whose definition is given later. They have no inputs.
    open: FxHashMap<u32, Literal>,
    /// Half-open ranges of the gates of each cycle.
    cycles: Vec<(u32, u32)>,
}

impl Builder {
    pub(crate) fn new(facts: usize) -> Self {
        let (ends, inputs, known, open, cycles) = Default::default();
        Self { facts, ends, inputs, known, open, cycles }
    }

    /// The literal of a fact.
    pub(crate) fn fact(&self, fact: usize) -> Literal {
        (fact as u32 + 1) * 2
    }

    /// AND of `inputs`.
    pub(crate) fn all(&mut self, mut inputs: Vec<Literal>) -> Literal {
        inputs.retain(|&input| input != TRUE);
        inputs.sort_unstable();
        inputs.dedup();
        // A literal and its negation are adjacent.
        if inputs.first() == Some(&FALSE) || inputs.windows(2).any(|pair| pair[0] ^ 1 == pair[1]) {
            return FALSE;
        }
        match inputs[..] {
            [] => TRUE,
            [one] => one,
            _ => {
                let code = FxBuildHasher.hash_one(&inputs[..]);
                let (ends, all) = (&self.ends, &self.inputs);
                let known = self.known.find(code, |&gate| range(ends, all, gate) == inputs);
                let gate = known.copied().unwrap_or_else(|| {
                    let gate = self.ends.len() as u32;
                    self.inputs.extend_from_slice(&inputs);
                    self.ends.push(self.inputs.len() as u32);
                    let (ends, all) = (&self.ends, &self.inputs);
                    let rehash = |&gate: &u32| FxBuildHasher.hash_one(range(ends, all, gate));
                    self.known.insert_unique(code, gate, rehash);
                    gate
                });
                (self.facts as u32 + 1 + gate) * 2
            }
        }
    }

    /// OR of `inputs`.
    pub(crate) fn any(&mut self, inputs: impl IntoIterator<Item = Literal>) -> Literal {
        self.all(inputs.into_iter().map(|input| input ^ 1).collect()) ^ 1
    }

    /// Creates a gate that [`close`](Self::close) defines later. Until then it is false.
    pub(crate) fn open(&mut self) -> Literal {
        let gate = self.ends.len() as u32;
        self.ends.push(self.inputs.len() as u32);
        self.open.insert(gate, FALSE);
        (self.facts as u32 + 1 + gate) * 2
    }

    /// Defines an open gate. It may depend on itself: recursive gates take their least fixpoint.
    pub(crate) fn close(&mut self, open: Literal, definition: Literal) {
        let gate = open / 2 - self.facts as u32 - 1;
        self.open.insert(gate, definition);
    }

    /// Declares that the open gates from gate `first` on are closed and depend on no later gates. Cones iterate the
    /// gates created since as a cycle.
    pub(crate) fn mark_cycle(&mut self, first: usize) {
        self.cycles.push((first as u32, self.ends.len() as u32));
    }

    /// The definition of an open gate.
    pub(crate) fn definition(&self, node: usize) -> Option<Literal> {
        self.open.get(&(node.checked_sub(self.facts + 1)? as u32)).copied()
    }

    /// Number of gates.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Number of inputs of all gates.
    pub(crate) fn size(&self) -> usize {
        self.inputs.len()
    }

    /// Number of facts.
    pub(crate) fn facts(&self) -> usize {
        self.facts
    }

    /// Inputs of a node, if it is a gate.
    pub(crate) fn inputs(&self, node: usize) -> Option<&[Literal]> {
        node.checked_sub(self.facts + 1).map(|gate| range(&self.ends, &self.inputs, gate as u32))
    }

    /// The gates that these outputs need.
    pub(crate) fn cone(&self, outputs: &[Literal]) -> Cone {
        let mut needed = vec![false; self.len()];
        let gate = |literal: Literal| (literal as usize / 2).checked_sub(self.facts + 1);
        outputs.iter().filter_map(|&output| gate(output)).for_each(|g| needed[g] = true);
        for g in (0..self.len()).rev().filter(|&g| needed[g]).collect::<Vec<_>>() {
            self.mark(g, &mut needed);
        }
        let mut cone = Cone {
            facts: self.facts,
            ends: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            cycles: Vec::new(),
        };
        let mut renamed = vec![0; self.len()];
        let rename = |renamed: &[u32], literal: Literal| match gate(literal) {
            Some(g) => renamed[g] * 2 + literal % 2,
            None => literal,
        };
        for g in (0..self.len()).filter(|&g| needed[g]) {
            let inputs = range(&self.ends, &self.inputs, g as u32);
            cone.inputs.extend(inputs.iter().map(|&input| rename(&renamed, input)));
            cone.ends.push(cone.inputs.len() as u32);
            renamed[g] = (self.facts + cone.ends.len()) as u32;
        }
        cone.outputs = outputs.iter().map(|&output| rename(&renamed, output)).collect();
        for &(first, end) in &self.cycles {
            let needed: Vec<u32> = (first..end).filter(|&g| needed[g as usize]).collect();
            let place = |gate: u32| renamed[gate as usize] - self.facts as u32 - 1;
            let open = needed.iter().filter_map(|gate| Some((*gate, *self.open.get(gate)?)));
            let open: Vec<(u32, Literal)> =
                open.map(|(gate, definition)| (place(gate), rename(&renamed, definition))).collect();
            if let ([first, .., last], false) = (&needed[..], open.is_empty()) {
                cone.cycles.push(Cycle { first: place(*first), end: place(*last) + 1, open });
            }
        }
        cone
    }

    /// Marks the gates that a gate needs.
    fn mark(&self, gate: usize, needed: &mut [bool]) {
        let mut open = vec![gate];
        while let Some(gate) = open.pop() {
            let inputs = range(&self.ends, &self.inputs, gate as u32).iter();
            for &input in inputs.chain(self.open.get(&(gate as u32))) {
                if let Some(part) = (input as usize / 2).checked_sub(self.facts + 1)
                    && !std::mem::replace(&mut needed[part], true)
                {
                    open.push(part);
                }
            }
        }
    }
}

fn range<'a>(ends: &[u32], inputs: &'a [Literal], gate: u32) -> &'a [Literal] {
    let begin = if gate == 0 { 0 } else { ends[gate as usize - 1] };
    &inputs[begin as usize..ends[gate as usize] as usize]
}

/// The part of a circuit that some outputs need.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    facts: usize,
    /// End of the inputs of each gate.
    ends: Vec<u32>,
    inputs: Vec<Literal>,
    outputs: Vec<Literal>,
    cycles: Vec<Cycle>,
}

/// Mutually recursive gates. Open ones start as false; all are recomputed until nothing changes, which gives the least
/// fixpoint.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Open gates with their definitions.
    pub(crate) open: Vec<(u32, Literal)>,
}

thread_local! {
    /// Values of the nodes, 0 or 1.
    static VALUES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Cone {
    /// Number of gates.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn facts(&self) -> usize {
        self.facts
    }

    /// End of the inputs of each gate.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    pub(crate) fn inputs(&self) -> &[Literal] {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &[Literal] {
        &self.outputs
    }

    /// In ascending order.
    pub(crate) fn cycles(&self) -> &[Cycle] {
        &self.cycles
    }

    /// Inputs of a gate.
    #[inline(always)]
    pub(crate) fn gate(&self, gate: usize) -> &[Literal] {
        range(&self.ends, &self.inputs, gate as u32)
    }

    /// Expected number of computed gates; those of cycles count several times.
    pub(crate) fn cost(&self) -> usize {
        const ROUNDS: usize = 8;
        let again = self.cycles.iter().map(|cycle| (cycle.end - cycle.first) as usize * ROUNDS);
        self.len() + again.sum::<usize>()
    }

    /// Computes the values of all gates, which follow those of the facts.
    fn compute(&self, values: &mut Vec<u8>) {
        let first = 1 + self.facts;
        let mut next = 0;
        values.resize(first + self.len(), 0);
        let gates = |values: &mut [u8], from: usize, to: usize| {
            for gate in from..to {
                let all = self.gate(gate).iter().all(|&input| holds(values, input));
                values[first + gate] = u8::from(all);
            }
        };
        for cycle in &self.cycles {
            gates(values, next, cycle.first as usize);
            next = cycle.end as usize;
            cycle.open.iter().for_each(|&(gate, _)| values[first + gate as usize] = 0);
            let mut changed = true;
            while changed {
                changed = false;
                // Open gates keep their values during an iteration.
                let mut open = cycle.open.iter().map(|&(gate, _)| gate as usize).peekable();
                for gate in cycle.first as usize..next {
                    if open.next_if_eq(&gate).is_none() {
                        gates(values, gate, gate + 1);
                    }
                }
                for &(gate, definition) in &cycle.open {
                    let is = u8::from(holds(values, definition));
                    changed |= std::mem::replace(&mut values[first + gate as usize], is) != is;
                }
            }
        }
        gates(values, next, self.len());
    }

    /// Calls `visit` with the index of each output that holds, in ascending order.
    #[inline]
    pub(crate) fn each(&self, facts: &[u64], mut visit: impl FnMut(usize)) {
        self.find(facts, |output| {
            visit(output);
            false
        });
    }

    /// Calls `visit` with the index of each output that holds, in ascending order, until it returns true. Returns
    /// whether it did. Bit f of `facts` is fact f.
    pub(crate) fn find(&self, facts: &[u64], visit: impl FnMut(usize) -> bool) -> bool {
        !self.outputs.is_empty() && with_values(facts, self.facts, |values| self.find_by(values, visit))
    }

    /// Like [`find`](Self::find), with unpacked facts that several cones may share.
    #[inline]
    pub(crate) fn find_by(&self, values: &mut Vec<u8>, mut visit: impl FnMut(usize) -> bool) -> bool {
        if self.outputs.is_empty() {
            return false;
        }
        values.truncate(1 + self.facts);
        if self.cycles.is_empty() {
            let mut begin = 0;
            for &end in &self.ends {
                let inputs = &self.inputs[begin as usize..end as usize];
                let holds = inputs.iter().all(|&input| holds(values, input));
                values.push(u8::from(holds));
                begin = end;
            }
        } else {
            self.compute(values);
        }
        self.outputs.iter().enumerate().any(|(number, &output)| holds(values, output) && visit(number))
    }
}

/// Runs `work` with the unpacked values of `count` facts.
#[inline]
pub(crate) fn with_values<R>(facts: &[u64], count: usize, work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    VALUES.with_borrow_mut(|values| {
        values.clear();
        values.push(0);
        for f in 0..count {
            values.push((facts[f / 64] >> (f % 64) & 1) as u8);
        }
        work(values)
    })
}

#[inline]
fn holds(values: &[u8], literal: Literal) -> bool {
    values[literal as usize / 2] ^ (literal % 2) as u8 != 0
}

#[cfg(test)]
mod tests {
    use super::{Builder, FALSE, TRUE};

    #[test]
    fn gates_are_folded_and_shared() {
        let mut builder = Builder::new(3);
        let [a, b, c] = [0, 1, 2].map(|fact| builder.fact(fact));
        assert_eq!(builder.all(vec![a, TRUE, a]), a);
        assert_eq!(builder.all(vec![a, b, a ^ 1]), FALSE);
        assert_eq!(builder.any([a, b, a ^ 1]), TRUE);
        assert_eq!((builder.all(vec![]), builder.any([])), (TRUE, FALSE));
        let both = builder.all(vec![a, b]);
        assert_eq!(builder.all(vec![b, a]), both);
        assert_eq!(builder.len(), 1);
        let either = builder.any([both, c]);
        let unused = builder.all(vec![a, c]);
        assert!(unused != either && builder.len() == 3);
        let cone = builder.cone(&[either, either ^ 1, b]);
        assert_eq!(cone.ends.len(), 2);
        for facts in 0..8_u64 {
            let mut found = Vec::new();
            cone.find(&[facts], |output| {
                found.push(output);
                false
            });
            let holds = facts & 3 == 3 || facts & 4 != 0;
            let mut expected = vec![usize::from(!holds)];
            expected.extend((facts & 2 != 0).then_some(2));
            assert_eq!(found, expected, "{facts:b}");
        }
    }
}
