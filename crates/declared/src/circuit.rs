//! Conditions on the state as a circuit of AND gates and inverters.
//!
//! Node 0 is false, nodes 1 to F are the facts of the state, the others are AND gates over earlier ones. A [`Literal`] is a node,
//! or its negation: node · 2 + negated. Equal gates are made once.

use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A node or its negation.
pub(crate) type Literal = u32;

/// The constants.
pub(crate) const FALSE: Literal = 0;
pub(crate) const TRUE: Literal = 1;

/// Builds a circuit.
#[derive(Debug)]
pub(crate) struct Builder {
    facts: usize,
    /// Inputs of each AND gate.
    gates: Vec<Box<[Literal]>>,
    known: FxHashMap<Box<[Literal]>, Literal>,
}

impl Builder {
    pub(crate) fn new(facts: usize) -> Self {
        Self { facts, gates: Vec::new(), known: FxHashMap::default() }
    }

    /// That a fact holds.
    pub(crate) fn fact(&self, fact: usize) -> Literal {
        (fact as u32 + 1) * 2
    }

    /// That all of these hold.
    pub(crate) fn all(&mut self, mut inputs: Vec<Literal>) -> Literal {
        inputs.retain(|&input| input != TRUE);
        inputs.sort_unstable();
        inputs.dedup();
        // A literal and its negation are neighbours.
        if inputs.first() == Some(&FALSE) || inputs.windows(2).any(|pair| pair[0] ^ 1 == pair[1]) {
            return FALSE;
        }
        match inputs[..] {
            [] => TRUE,
            [one] => one,
            _ => {
                let inputs = inputs.into_boxed_slice();
                *self.known.entry(inputs).or_insert_with_key(|inputs| {
                    self.gates.push(inputs.clone());
                    ((self.facts + self.gates.len()) * 2) as Literal
                })
            }
        }
    }

    /// That one of these holds at least.
    pub(crate) fn any(&mut self, inputs: impl IntoIterator<Item = Literal>) -> Literal {
        self.all(inputs.into_iter().map(|input| input ^ 1).collect()) ^ 1
    }

    /// Number of gates.
    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }

    /// Number of facts.
    pub(crate) fn facts(&self) -> usize {
        self.facts
    }

    /// Inputs of a node that is a gate.
    pub(crate) fn inputs(&self, node: usize) -> Option<&[Literal]> {
        node.checked_sub(self.facts + 1).map(|gate| &*self.gates[gate])
    }

    /// What must be computed for these outputs.
    pub(crate) fn cone(&self, outputs: &[Literal]) -> Cone {
        let mut needed = vec![false; self.gates.len()];
        let gate = |literal: Literal| (literal as usize / 2).checked_sub(self.facts + 1);
        outputs.iter().filter_map(|&output| gate(output)).for_each(|g| needed[g] = true);
        for g in (0..self.gates.len()).rev().filter(|&g| needed[g]).collect::<Vec<_>>() {
            self.mark(g, &mut needed);
        }
        let mut cone = Cone { facts: self.facts, ends: Vec::new(), inputs: Vec::new(), outputs: Vec::new() };
        let mut renamed = vec![0; self.gates.len()];
        let rename = |renamed: &[u32], literal: Literal| match gate(literal) {
            Some(g) => renamed[g] * 2 + literal % 2,
            None => literal,
        };
        for (g, inputs) in self.gates.iter().enumerate().filter(|(g, _)| needed[*g]) {
            cone.inputs.extend(inputs.iter().map(|&input| rename(&renamed, input)));
            cone.ends.push(cone.inputs.len() as u32);
            renamed[g] = (self.facts + cone.ends.len()) as u32;
        }
        cone.outputs = outputs.iter().map(|&output| rename(&renamed, output)).collect();
        cone
    }

    /// Marks what a gate needs.
    fn mark(&self, gate: usize, needed: &mut [bool]) {
        let mut open = vec![gate];
        while let Some(gate) = open.pop() {
            for &input in &self.gates[gate] {
                if let Some(part) = (input as usize / 2).checked_sub(self.facts + 1)
                    && !std::mem::replace(&mut needed[part], true)
                {
                    open.push(part);
                }
            }
        }
    }
}

/// The part of a circuit that some outputs need.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    facts: usize,
    /// End of the inputs of each gate.
    ends: Vec<u32>,
    inputs: Vec<Literal>,
    outputs: Vec<Literal>,
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

    /// Calls `visit` with the number of each output that holds, in ascending order, until it returns true. Returns whether it
    /// did. Bit f of `facts` says whether fact f holds.
    pub(crate) fn find(&self, facts: &[u64], mut visit: impl FnMut(usize) -> bool) -> bool {
        VALUES.with_borrow_mut(|values| {
            values.clear();
            values.push(0);
            for f in 0..self.facts {
                values.push((facts[f / 64] >> (f % 64) & 1) as u8);
            }
            let mut begin = 0;
            for &end in &self.ends {
                let inputs = &self.inputs[begin as usize..end as usize];
                let holds = inputs.iter().all(|&input| holds(values, input));
                values.push(u8::from(holds));
                begin = end;
            }
            self.outputs.iter().enumerate().any(|(number, &output)| holds(values, output) && visit(number))
        })
    }
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
