//! A circuit indexed by the readers of each node, and its incremental evaluation.
//!
//! Each gate counts its false inputs; it holds when the count is 0. A changed input is propagated to the gates that
//! read it: the network of Levinson, "General game-playing and reinforcement learning" (1996), section on monitoring,
//! after Rete. Recursive gates are least fixpoints: when external support disappears, all gates of their cycle are
//! reset and derived again.

use crate::circuit::{Builder, FALSE, Literal};
use crate::components::components;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

const NONE: u32 = u32::MAX;
/// Kinds of effects, stored in the highest bits. The node is an output: bit · 2 + negated.
const OUTPUT: u32 = 0;
/// The node defines an open gate: number · 2 + negated.
const DEFINES: u32 = 1;
/// A cycle loses support when the node takes a value: cycle · 2 + value.
const SUPPORT: u32 = 2;
const KIND: u32 = 30;

/// An indexed circuit.
#[derive(Debug, Default)]
pub(crate) struct Net {
    /// Unique identifier within this process, also among circuits that no longer exist.
    id: u64,
    inputs: usize,
    /// For each node, the end of its readers and of its effects.
    ends: Vec<[u32; 2]>,
    /// Gates that read a node: gate · 2 + negated.
    readers: Vec<u32>,
    /// Effects of each node: see [`OUTPUT`], [`DEFINES`], [`SUPPORT`].
    effects: Vec<u32>,
    /// For each gate whose only effect is one output: bit · 2 + negated. [`NONE`] for others.
    leaves: Vec<u32>,
    /// Node and cycle of each open gate.
    opens: Vec<(u32, u32)>,
    /// Open gates of each cycle, in topological order of cycles.
    cycles: Vec<Vec<u32>>,
    /// Number of false inputs of each node while all facts are false, and the outputs then.
    counts: Vec<u32>,
    outputs: Vec<u64>,
    definitions: Vec<bool>,
    values: Vec<bool>,
}

/// An open gate that depends on its own negation.
#[derive(Debug)]
pub(crate) struct Contradiction(pub(crate) Literal);

/// The part of a circuit that some outputs need, in topological order, with only the open gates of cycles left.
pub(crate) struct Arranged {
    pub(crate) builder: Builder,
    pub(crate) outputs: Vec<Literal>,
    cycles: Vec<Cycle>,
}

/// A set of mutually recursive gates.
struct Cycle {
    /// Open gates with their definitions.
    opens: Vec<(Literal, Literal)>,
    /// External literals. When one of them becomes false, open gates may become false.
    supports: Vec<Literal>,
}

pub(crate) fn arrange(old: &Builder, outputs: &[Literal]) -> Result<Arranged, Contradiction> {
    let first = old.facts() + 1;
    let count = first + old.len();
    // Only gates that the outputs need are visited: the root reaches them.
    let needed = old.needed(outputs);
    let next = |node: usize, n: usize| -> Option<usize> {
        if node < first || !needed[node - first] {
            return None;
        }
        match old.definition(node) {
            Some(definition) => (n == 0).then_some(definition as usize / 2),
            None => old.inputs(node).and_then(|inputs| inputs.get(n)).map(|&input| input as usize / 2),
        }
    };
    let mut builder = Builder::new(old.facts());
    let mut renamed: Vec<Literal> = vec![FALSE; count];
    for (node, literal) in renamed.iter_mut().enumerate().take(first) {
        *literal = node as Literal * 2;
    }
    let mut cycles = Vec::new();
    let rename = |renamed: &[Literal], literal: Literal| renamed[literal as usize / 2] ^ (literal & 1);
    for component in components(count, next) {
        let node = component[0];
        if node < first || !needed[node - first] {
            continue;
        }
        if component.len() == 1 {
            renamed[node] = match old.definition(node) {
                Some(definition) if definition as usize == node * 2 + 1 => {
                    return Err(Contradiction(node as Literal * 2));
                }
                // A gate that only depends on itself is false.
                Some(definition) if definition as usize == node * 2 => FALSE,
                Some(definition) => rename(&renamed, definition),
                None => {
                    let inputs = old.inputs(node).unwrap_or_default().iter();
                    builder.all(inputs.map(|&input| rename(&renamed, input)).collect())
                }
            };
            continue;
        }
        cycles.push(cycle(old, &mut builder, &component, &mut renamed)?);
    }
    let outputs = outputs.iter().map(|&output| rename(&renamed, output)).collect();
    Ok(Arranged { builder, outputs, cycles })
}

/// Copies a strongly connected component.
fn cycle(
    old: &Builder,
    builder: &mut Builder,
    component: &[usize],
    renamed: &mut [Literal],
) -> Result<Cycle, Contradiction> {
    let place: FxHashMap<usize, usize> = component.iter().copied().zip(0..).collect();
    // With the open gates as inputs, the others are acyclic.
    let inner: Vec<Vec<usize>> = component
        .iter()
        .map(|&node| match old.definition(node) {
            Some(_) => Vec::new(),
            None => {
                let inputs = old.inputs(node).unwrap_or_default().iter();
                inputs.filter_map(|&input| place.get(&(input as usize / 2)).copied()).collect()
            }
        })
        .collect();
    let order = components(component.len(), |at, n| inner[at].get(n).copied());
    // A gate is negative if it falls when an open gate rises. Open gates must not be negative.
    let mut negative = vec![false; component.len()];
    let mut supports = Vec::new();
    let mut opens = Vec::new();
    for &node in component.iter().filter(|&&node| old.definition(node).is_some()) {
        renamed[node] = builder.open();
        opens.push(node);
    }
    for at in order.into_iter().map(|single| single[0]) {
        let node = component[at];
        if old.definition(node).is_some() {
            continue;
        }
        let inputs = old.inputs(node).unwrap_or_default();
        let signs = inputs.iter().filter_map(|&input| {
            place.get(&(input as usize / 2)).map(|&at| negative[at] != (input & 1 == 1))
        });
        let signs: Vec<bool> = signs.collect();
        if signs.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Contradiction(opens[0] as Literal * 2));
        }
        negative[at] = signs.first().copied().unwrap_or(false);
        let outside = inputs.iter().filter(|&&input| !place.contains_key(&(input as usize / 2)));
        supports.extend(
            outside.map(|&input| renamed[input as usize / 2] ^ (input & 1) ^ u32::from(negative[at])),
        );
        let inputs = inputs.iter().map(|&input| renamed[input as usize / 2] ^ (input & 1)).collect();
        renamed[node] = builder.all(inputs);
    }
    let mut all = Vec::new();
    for node in opens {
        let definition = old.definition(node).unwrap_or(FALSE);
        if let Some(&at) = place.get(&(definition as usize / 2))
            && negative[at] != (definition & 1 == 1)
        {
            return Err(Contradiction(node as Literal * 2));
        }
        let definition = renamed[definition as usize / 2] ^ (definition & 1);
        builder.close(renamed[node], definition);
        all.push((renamed[node], definition));
    }
    supports.sort_unstable();
    supports.dedup();
    Ok(Cycle { opens: all, supports })
}

impl Net {
    /// Indexes a circuit. `shown` are the bits of its outputs, `bits` is their total number.
    pub(crate) fn new(arranged: &Arranged, shown: &[u32], bits: usize) -> Self {
        let Arranged { builder, outputs: literals, cycles } = arranged;
        let nodes = 1 + builder.facts() + builder.len();
        let first = builder.facts() + 1;
        let mut lists: [Vec<Vec<u32>>; 4] = std::array::from_fn(|_| vec![Vec::new(); nodes]);
        let mut counts = vec![0; builder.len()];
        for gate in 0..builder.len() {
            for &input in builder.inputs(first + gate).unwrap_or_default() {
                lists[0][input as usize / 2].push(gate as u32 * 2 + (input & 1));
            }
        }
        let mut outputs_ = vec![0_u64; bits.div_ceil(64)];
        for (&bit, &literal) in shown.iter().zip(literals) {
            lists[1][literal as usize / 2].push(bit * 2 + (literal & 1));
        }
        let (mut opens, mut members) = (Vec::new(), Vec::new());
        for (number, cycle) in cycles.iter().enumerate() {
            members.push((0..cycle.opens.len() as u32).map(|i| opens.len() as u32 + i).collect());
            for &support in &cycle.supports {
                // Support is lost when its node becomes the opposite of the literal.
                lists[3][support as usize / 2].push(number as u32 * 2 + (support & 1));
            }
            for &(open, definition) in &cycle.opens {
                lists[2][definition as usize / 2].push(opens.len() as u32 * 2 + (definition & 1));
                opens.push((open / 2, number as u32));
            }
        }
        let mut values = vec![false; nodes];
        for (gate, count) in counts.iter_mut().enumerate() {
            let inputs = builder.inputs(first + gate).unwrap_or_default();
            let fails =
                inputs.iter().filter(|&&input| values[input as usize / 2] == (input & 1 == 1)).count();
            *count = fails as u32;
            values[first + gate] = fails == 0 && builder.definition(first + gate).is_none();
        }
        let holds = |literal: Literal| values[literal as usize / 2] != (literal & 1 == 1);
        for (&bit, &literal) in shown.iter().zip(literals) {
            outputs_[bit as usize / 64] |= u64::from(holds(literal)) << (bit % 64);
        }
        let definitions: Vec<bool> =
            cycles.iter().flat_map(|cycle| &cycle.opens).map(|&(_, definition)| holds(definition)).collect();
        // The runner sets open gates, which have no inputs.
        for (gate, count) in counts.iter_mut().enumerate() {
            if builder.definition(first + gate).is_some() {
                *count = u32::MAX / 2;
            }
        }
        static NETS: AtomicU64 = AtomicU64::new(0);
        let mut net = Self {
            id: NETS.fetch_add(1, Ordering::Relaxed),
            inputs: builder.facts(),
            opens,
            cycles: members,
            counts,
            outputs: outputs_,
            definitions,
            values: Vec::new(),
            ..Self::default()
        };
        let [readers, shown, meant, supports] = lists;
        for (node, readers) in readers.into_iter().enumerate() {
            let is_leaf =
                node >= first && readers.is_empty() && meant[node].is_empty() && supports[node].is_empty();
            if node >= first {
                net.leaves.push(if is_leaf && shown[node].len() == 1 { shown[node][0] } else { NONE });
            }
            net.readers.extend(readers);
            for (kind, list) in [(OUTPUT, &shown), (DEFINES, &meant), (SUPPORT, &supports)] {
                net.effects.extend(list[node].iter().map(|effect| kind << KIND | effect));
            }
            net.ends.push([net.readers.len() as u32, net.effects.len() as u32]);
        }
        let mut runner = Runner::new(&net, 0);
        let cycles = net.cycles.len();
        (0..cycles).for_each(|cycle| runner.disturb(cycle as u32));
        runner.settle(&net);
        let Runner { counts, outputs, definitions, open_values, .. } = runner;
        (net.counts, net.outputs, net.definitions, net.values) = (counts, outputs, definitions, open_values);
        net
    }

    /// Keeps the first `words` words of the outputs, and returns the others while all inputs are false.
    pub(crate) fn first_outputs(&mut self, words: usize) -> Vec<u64> {
        self.outputs.split_off(words)
    }

    /// The circuit by the inputs of each gate, and the literal of each output bit.
    pub(crate) fn circuit(&self) -> (Builder, Vec<Literal>) {
        let nodes = self.ends.len();
        let effects = |node: usize| {
            let begin = if node == 0 { 0 } else { self.ends[node - 1][1] };
            self.effects[begin as usize..self.ends[node][1] as usize]
                .iter()
                .map(|&effect| (effect >> KIND, effect & ((1 << KIND) - 1)))
        };
        let mut ends = vec![0_u32; self.len()];
        self.readers.iter().for_each(|&reader| ends[reader as usize / 2] += 1);
        let mut end = 0;
        ends.iter_mut().for_each(|count| {
            end += *count;
            *count = end - *count;
        });
        // Start offsets become ends while inputs are filled in.
        let mut inputs = vec![FALSE; self.readers.len()];
        let mut outputs = vec![FALSE; self.outputs.len() * 64];
        let first = self.inputs as u32 + 1;
        let mut open = FxHashMap::default();
        // The gates of a cycle are contiguous: its open gates, then all up to its last definition.
        let mut cycles = vec![(u32::MAX, 0); self.cycles.len()];
        for node in 0..nodes {
            let begin = if node == 0 { 0 } else { self.ends[node - 1][0] };
            for &reader in &self.readers[begin as usize..self.ends[node][0] as usize] {
                let place = &mut ends[reader as usize / 2];
                inputs[*place as usize] = node as Literal * 2 + (reader & 1);
                *place += 1;
            }
            for (kind, what) in effects(node) {
                let literal = node as Literal * 2 + (what & 1);
                match kind {
                    OUTPUT => {
                        if let Some(output) = outputs.get_mut(what as usize / 2) {
                            *output = literal;
                        }
                    }
                    DEFINES => {
                        let (gate, cycle) = self.opens[what as usize / 2];
                        let gate = gate - first;
                        open.insert(gate, literal);
                        let (begin, end) = &mut cycles[cycle as usize];
                        *begin = gate.min(*begin);
                        *end = (gate + 1).max((node as u32 + 1).saturating_sub(first)).max(*end);
                    }
                    _ => {}
                }
            }
        }
        (Builder::from_gates(self.inputs, ends, inputs, open, cycles), outputs)
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.ends.len()
    }

    /// Number of gates.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Number of cycles.
    pub(crate) fn cycles(&self) -> usize {
        self.cycles.len()
    }

    /// Number of inputs of all gates.
    pub(crate) fn size(&self) -> usize {
        self.readers.len()
    }
}

/// The state of a circuit under incremental evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    net: u64,
    /// The facts that hold: the first inputs.
    pub(crate) facts: SmallVec<[u64; 4]>,
    counts: Vec<u32>,
    pub(crate) outputs: Vec<u64>,
    definitions: Vec<bool>,
    open_values: Vec<bool>,
    /// Changed nodes that are not yet propagated: node · 2 + value.
    changed: Vec<u32>,
    /// Cycles with changed definitions.
    disturbed: Vec<u32>,
    is_disturbed: Vec<bool>,
    /// Cycles whose open gates may have lost support.
    may_fall: Vec<bool>,
    /// Number of propagated nodes, a measure of work.
    pub(crate) work: u64,
    /// Number of inspected gates and cycle members, another measure.
    pub(crate) looks: u64,
}

impl Runner {
    /// Starts with all inputs false. The first `facts` of them are facts.
    pub(crate) fn new(net: &Net, facts: usize) -> Self {
        let open_values =
            if net.values.is_empty() { vec![false; net.opens.len()] } else { net.values.clone() };
        Self {
            net: net.id,
            facts: SmallVec::from_elem(0, facts.div_ceil(64).max(1)),
            counts: net.counts.clone(),
            outputs: net.outputs.clone(),
            definitions: net.definitions.clone(),
            open_values,
            changed: Vec::new(),
            disturbed: Vec::new(),
            is_disturbed: vec![false; net.cycles.len()],
            may_fall: vec![false; net.cycles.len()],
            work: 0,
            looks: 0,
        }
    }

    /// Whether it evaluates this circuit.
    #[inline]
    pub(crate) fn is_of(&self, net: &Net) -> bool {
        self.net == net.id
    }

    /// Changes an input. [`settle`](Self::settle) must follow before outputs are read.
    #[inline]
    pub(crate) fn set(&mut self, net: &Net, input: u32, value: bool) {
        self.changed.push((input + 1) * 2 + u32::from(value));
        self.propagate(net);
    }

    /// Changes the facts, and settles.
    #[inline]
    pub(crate) fn go(&mut self, net: &Net, facts: &[u64]) {
        for (word, &wanted) in facts.iter().enumerate().take(self.facts.len()) {
            let mut different = std::mem::replace(&mut self.facts[word], wanted) ^ wanted;
            while different != 0 {
                let bit = different.trailing_zeros();
                self.set(net, word as u32 * 64 + bit, wanted >> bit & 1 == 1);
                different &= different - 1;
            }
        }
        self.settle(net);
    }

    /// Propagates changes outside cycles.
    #[inline]
    fn propagate(&mut self, net: &Net) {
        let first = net.inputs as u32 + 1;
        while let Some(change) = self.changed.pop() {
            let (node, value) = (change as usize / 2, change & 1);
            self.work += 1;
            let (begin, end) = (net.ends[node - 1], net.ends[node]);
            self.looks += u64::from(end[0] - begin[0]) + u64::from(end[1] - begin[1]);
            for &reader in &net.readers[begin[0] as usize..end[0] as usize] {
                let gate = reader / 2;
                let count = &mut self.counts[gate as usize];
                let flips = if value != reader & 1 {
                    *count -= 1;
                    *count == 0
                } else {
                    *count += 1;
                    *count == 1
                };
                if flips {
                    let value = value ^ (reader & 1);
                    match net.leaves[gate as usize] {
                        NONE => self.changed.push((first + gate) * 2 + value),
                        leaf => self.show(leaf, value),
                    }
                }
            }
            for &effect in &net.effects[begin[1] as usize..end[1] as usize] {
                let (kind, what) = (effect >> KIND, effect & ((1 << KIND) - 1));
                match kind {
                    OUTPUT => self.show(what, value),
                    DEFINES => {
                        let open = what as usize / 2;
                        self.definitions[open] = value != what & 1;
                        if self.definitions[open] != self.open_values[open] {
                            self.disturb(net.opens[open].1);
                        }
                    }
                    _ if value == what & 1 => {
                        self.may_fall[what as usize / 2] = true;
                        self.disturb(what / 2);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Updates an output bit: bit · 2 + negated.
    #[inline]
    fn show(&mut self, shown: u32, value: u32) {
        let (bit, holds) = (shown / 2, value != shown & 1);
        let word = &mut self.outputs[bit as usize / 64];
        *word = *word & !(1 << (bit % 64)) | u64::from(holds) << (bit % 64);
    }

    fn disturb(&mut self, cycle: u32) {
        if !std::mem::replace(&mut self.is_disturbed[cycle as usize], true) {
            self.disturbed.push(cycle);
        }
    }

    /// Propagates changes, and brings all cycles to their least fixpoints.
    #[inline]
    pub(crate) fn settle(&mut self, net: &Net) {
        while !self.disturbed.is_empty() {
            self.settle_first(net);
        }
    }

    fn settle_first(&mut self, net: &Net) {
        // Cycles are in topological order.
        let Some(at) = (0..self.disturbed.len()).min_by_key(|&at| self.disturbed[at]) else { return };
        let cycle = self.disturbed.swap_remove(at);
        let members = &net.cycles[cycle as usize];
        // Gates of a cycle may support each other, so none of them can detect that the last external support is gone.
        if std::mem::take(&mut self.may_fall[cycle as usize]) {
            for &open in members {
                if self.open_values[open as usize] {
                    self.turn(net, open, false);
                }
            }
        }
        loop {
            let mut rises = false;
            self.looks += members.len() as u64;
            for &open in members {
                if self.definitions[open as usize] && !self.open_values[open as usize] {
                    self.turn(net, open, true);
                    rises = true;
                }
            }
            if !rises {
                break;
            }
        }
        self.is_disturbed[cycle as usize] = false;
        self.disturbed.retain(|&other| other != cycle);
    }

    fn turn(&mut self, net: &Net, open: u32, value: bool) {
        self.open_values[open as usize] = value;
        self.changed.push(net.opens[open as usize].0 * 2 + u32::from(value));
        self.propagate(net);
    }
}
