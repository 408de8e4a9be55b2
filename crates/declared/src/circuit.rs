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

    /// The circuit with these gates and no others. See [`mark_cycle`](Self::mark_cycle) about cycles.
    pub(crate) fn from_gates(
        facts: usize,
        ends: Vec<u32>,
        inputs: Vec<Literal>,
        open: FxHashMap<u32, Literal>,
        cycles: Vec<(u32, u32)>,
    ) -> Self {
        Self { facts, ends, inputs, known: HashTable::new(), open, cycles }
    }

    /// The gates that these outputs need.
    pub(crate) fn cone(&self, outputs: &[Literal]) -> Cone {
        let stages: Vec<Option<usize>> =
            self.needed(outputs).into_iter().map(|needed| needed.then_some(0)).collect();
        let [cone] = self.cones(&stages, [outputs]);
        cone
    }

    /// Marks the gates that these outputs need.
    pub(crate) fn needed(&self, outputs: &[Literal]) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        let gate = |literal: &Literal| (*literal as usize / 2).checked_sub(self.facts + 1);
        let mut open: Vec<usize> = outputs.iter().filter_map(gate).collect();
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut needed[number], true) {
                let inputs = range(&self.ends, &self.inputs, number as u32);
                open.extend(inputs.iter().chain(self.open.get(&(number as u32))).filter_map(gate));
            }
        }
        needed
    }

    /// Splits the gates into cones, one for each set of outputs. A cone reads the nodes of earlier cones as facts.
    pub(crate) fn cones<const N: usize>(
        &self,
        stages: &[Option<usize>],
        outputs: [&[Literal]; N],
    ) -> [Cone; N] {
        let first = self.facts + 1;
        let mut renamed: Vec<u32> = (0..(first + self.len()) as u32).collect();
        let mut begin = first;
        std::array::from_fn(|stage| {
            let own = (0..self.len()).filter(|&gate| stages[gate] == Some(stage));
            let (open, gates): (Vec<usize>, Vec<usize>) =
                own.partition(|&gate| self.open.contains_key(&(gate as u32)));
            for (node, gate) in (begin as u32..).zip(gates.iter().chain(&open)) {
                renamed[first + gate] = node;
            }
            let rename = |&literal: &Literal| renamed[literal as usize / 2] * 2 + literal % 2;
            let (mut ends, mut inputs) = (Vec::with_capacity(gates.len()), Vec::new());
            for &gate in &gates {
                inputs.extend(range(&self.ends, &self.inputs, gate as u32).iter().map(rename));
                ends.push(inputs.len() as u32);
            }
            let mut cycles = Vec::new();
            for &(from, to) in &self.cycles {
                let range = |all: &[usize]| {
                    let place = |end: u32| all.partition_point(|&gate| gate < end as usize);
                    place(from)..place(to)
                };
                let (inner, open) = (range(&gates), &open[range(&open)]);
                let opens = open.iter().map(|&gate| {
                    let definition = rename(&self.open[&(gate as u32)]);
                    let known = (definition as usize / 2 + 1).saturating_sub(begin);
                    (known.clamp(inner.start, inner.end) as u32, renamed[first + gate], definition)
                });
                let mut opens: Vec<(u32, u32, Literal)> = opens.collect();
                if !opens.is_empty() {
                    opens.sort_unstable();
                    cycles.push(Cycle { first: inner.start as u32, end: inner.end as u32, opens });
                }
            }
            let outputs = outputs[stage].iter().map(rename).collect();
            let cone = Cone { facts: begin - 1, ends, inputs, outputs, cycles, opens: open.len() };
            begin += cone.len();
            cone
        })
    }
}

fn range<'a>(ends: &[u32], inputs: &'a [Literal], gate: u32) -> &'a [Literal] {
    let begin = if gate == 0 { 0 } else { ends[gate as usize - 1] };
    &inputs[begin as usize..ends[gate as usize] as usize]
}

/// The part of a circuit that some outputs need. Open gates come after all others.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    facts: usize,
    /// End of the inputs of each gate.
    ends: Vec<u32>,
    inputs: Vec<Literal>,
    outputs: Vec<Literal>,
    /// In ascending order.
    cycles: Vec<Cycle>,
    /// Number of open gates.
    opens: usize,
}

/// Mutually recursive gates. Open ones start as false; all are recomputed until nothing changes, which gives the least
/// fixpoint.
#[derive(Clone, Debug)]
struct Cycle {
    first: u32,
    end: u32,
    /// Open gates with the gate before which they take the value of their definition: gate, node, definition.
    opens: Vec<(u32, u32, Literal)>,
}

/// The value of a node in one position, or in many.
pub(crate) trait Signal: Copy + PartialEq {
    /// False everywhere.
    const NONE: Self;

    /// The value of a literal.
    fn value(values: &[Self], literal: Literal) -> Self;

    /// AND of literals.
    fn all(values: &[Self], inputs: &[Literal]) -> Self;
}

/// 0 or 1.
impl Signal for u8 {
    const NONE: Self = 0;

    #[inline(always)]
    fn value(values: &[Self], literal: Literal) -> Self {
        values[literal as usize / 2] ^ (literal % 2) as Self
    }

    #[inline(always)]
    fn all(values: &[Self], inputs: &[Literal]) -> Self {
        Self::from(inputs.iter().all(|&input| Self::value(values, input) != 0))
    }
}

thread_local! {
    /// Values of the nodes, 0 or 1.
    static VALUES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Cone {
    /// Number of gates.
    pub(crate) fn len(&self) -> usize {
        self.ends.len() + self.opens
    }

    /// Number of inputs of all gates.
    pub(crate) fn size(&self) -> usize {
        self.inputs.len()
    }

    pub(crate) fn outputs(&self) -> &[Literal] {
        &self.outputs
    }

    /// Expected number of computed gates; those of cycles count several times.
    pub(crate) fn cost(&self) -> usize {
        const ROUNDS: usize = 8;
        let again = self.cycles.iter().map(|cycle| (cycle.end - cycle.first) as usize + cycle.opens.len());
        self.len() + again.sum::<usize>() * ROUNDS
    }

    /// Computes some gates in order.
    #[inline(always)]
    fn gates<V: Signal>(&self, from: u32, to: u32, values: &mut [V]) {
        let mut begin = if from == 0 { 0 } else { self.ends[from as usize - 1] };
        for (gate, &end) in self.ends[..to as usize].iter().enumerate().skip(from as usize) {
            let inputs = &self.inputs[begin as usize..end as usize];
            values[1 + self.facts + gate] = V::all(values, inputs);
            begin = end;
        }
    }

    /// Computes the values of all gates, which follow those of the facts.
    #[inline(always)]
    pub(crate) fn compute<V: Signal>(&self, values: &mut [V]) {
        let mut next = 0;
        for cycle in &self.cycles {
            self.gates(next, cycle.first, values);
            next = cycle.end;
            cycle.opens.iter().for_each(|&(_, open, _)| values[open as usize] = V::NONE);
            loop {
                let (mut begin, mut changed) = (cycle.first, false);
                for &(end, open, definition) in &cycle.opens {
                    self.gates(begin, end, values);
                    begin = end;
                    let is = V::value(values, definition);
                    changed |= std::mem::replace(&mut values[open as usize], is) != is;
                }
                self.gates(begin, cycle.end, values);
                if !changed {
                    break;
                }
            }
        }
        self.gates(next, self.ends.len() as u32, values);
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
                values.push(u8::all(values, inputs));
                begin = end;
            }
        } else {
            values.resize(1 + self.facts + self.len(), 0);
            self.compute(values);
        }
        let holds = |output: Literal| u8::value(values, output) != 0;
        self.outputs.iter().enumerate().any(|(number, &output)| holds(output) && visit(number))
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

#[cfg(test)]
mod tests {
    use super::{Builder, FALSE, Signal, TRUE};

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

    /// `x` holds if `a` does or both `b` and `y` do, and `y` if both `c` and `x` do. Nothing else supports `y`.
    #[test]
    fn stages_build_on_those_before() {
        let mut builder = Builder::new(3);
        let [a, b, c] = [0, 1, 2].map(|fact| builder.fact(fact));
        let first = builder.len();
        let [x, y] = [builder.open(), builder.open()];
        let both = builder.all(vec![b, y]);
        let of_x = builder.any([a, both]);
        let of_y = builder.all(vec![c, x]);
        builder.close(x, of_x);
        builder.close(y, of_y);
        builder.mark_cycle(first);
        let late = builder.all(vec![x, c ^ 1]);
        let (early, all) = (builder.needed(&[x, y]), builder.needed(&[late]));
        let stages: Vec<Option<usize>> = early
            .iter()
            .zip(&all)
            .map(|(early, all)| if *early { Some(0) } else { all.then_some(1) })
            .collect();
        let cones = builder.cones(&stages, [&[x, y], &[late]]);
        for facts in 0..8_u64 {
            let mut values = vec![0_u8; 1 + 3 + builder.len()];
            (0..3).for_each(|fact| values[1 + fact] = (facts >> fact & 1) as u8);
            let mut found = Vec::new();
            for cone in &cones {
                cone.compute(&mut values);
                found.extend(cone.outputs().iter().map(|&output| u8::value(&values, output) == 1));
            }
            let [a, c] = [facts & 1 == 1, facts & 4 != 0];
            assert_eq!(found, [a, a && c, a && !c], "{facts:b}");
            let mut alone = Vec::new();
            builder.cone(&[x, y, late]).each(&[facts], |output| alone.push(output));
            let expected: Vec<usize> = (0..3).filter(|&output| found[output]).collect();
            assert_eq!(alone, expected, "{facts:b}");
        }
    }
}
