//! Modules for the architecture `modules`, independent of the rule language.
//!
//! A module reads one of two things of a position:
//!
//! - *Tuples* of a relation: which of them hold. Each tuple gets a weight of its own.
//! - *Bindings* of a rule: for every choice of its variables, which of its conditions hold. What holds is a pattern.
//!   The module reads how often each pattern occurs, so all bindings share its weight: two crosses and an empty square
//!   count the same in all eight lines of tic-tac-toe.
//!
//! Both are outputs of a circuit. Each condition is asked for all players. Its *counterparts* are the same condition as
//! the other players write it about the same place: `on(o, a)` for `on(x, a)`.

use crate::circuit::{Literal, TRUE};
use adept_game::{Channel, ChannelKind};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Largest number of conditions of a rule, with counterparts, whose patterns are distinguished. Larger rules are only
/// counted.
const PATTERN: usize = 8;
/// Largest number of pairs of counts of a rule for which crossings are distinguished.
const CROSSING: usize = 36;
/// Largest number of bindings that share a condition and are compared with each other. A condition that more bindings
/// share says little about any two.
const MEETING: usize = 64;
/// Largest number of pairs of bindings of a rule that share a condition. Beyond it they are not compared, which would
/// take too long.
const PAIRS: usize = 1 << 16;
/// Limit on outputs.
pub(crate) const OUTPUTS: usize = 1 << 18;
/// Limit on tuples of a relation with weights of their own. A larger relation is read only through its rules.
pub(crate) const TUPLES: usize = 4_096;

/// A module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    /// Names of the modules that it depends on.
    pub(crate) parts: Vec<String>,
    pub(crate) reads: Reads,
    /// Meaning of its inputs.
    pub(crate) about: String,
}

/// Input of a module.
#[derive(Debug)]
pub(crate) enum Reads {
    /// Whether each of these consecutive outputs holds.
    Tuples { first: usize, count: usize },
    /// For each rule, how often each pattern occurs.
    Rules(Vec<Bindings>),
}

/// The bindings of one rule.
#[derive(Debug)]
pub(crate) struct Bindings {
    /// Index of the first output. Each binding has its conditions, own ones first.
    first: usize,
    count: usize,
    /// For each condition of the player who moved, whether it is satisfied if it does *not* hold.
    own: Vec<bool>,
    /// The same for counterparts that are not themselves conditions.
    other: Vec<bool>,
    /// Whether bindings that share a condition are compared.
    compares: bool,
    /// Conditions that several bindings share: an output, whether it is negated, and the bindings.
    shared: Vec<(usize, bool, Vec<u32>)>,
}

impl Bindings {
    fn conditions(&self) -> usize {
        self.own.len() + self.other.len()
    }

    /// Number of distinguished patterns.
    fn patterns(&self) -> usize {
        if self.conditions() <= PATTERN { 1 << self.conditions() } else { 0 }
    }

    /// Number of pairs of counts. A single condition is its own count.
    fn counts(&self) -> usize {
        if self.conditions() == 1 { 0 } else { (self.own.len() + 1) * (self.other.len() + 1) }
    }

    /// Number of unordered pairs of count pairs, for two bindings that share a condition.
    fn crossings(&self) -> usize {
        match self.counts() {
            counts @ 1..=CROSSING if self.own.len() > 1 && self.compares => counts * (counts + 1) / 2,
            _ => 0,
        }
    }

    /// Describes the inputs.
    pub(crate) fn about(&self) -> String {
        let conditions = self.conditions();
        let mut inputs = Vec::new();
        for (count, what) in [
            (self.patterns(), "patterns"),
            (self.counts(), "pairs of counts"),
            (self.crossings(), "pairs of bindings that meet"),
        ] {
            if count > 0 {
                inputs.push(format!("{count} {what}"));
            }
        }
        let s = |n: usize| if n == 1 { "" } else { "s" };
        format!(
            "{} binding{} with {conditions} condition{}: {}",
            self.count,
            s(self.count),
            s(conditions),
            inputs.join(", ")
        )
    }

    fn width(&self) -> usize {
        self.patterns() + self.counts() + self.crossings()
    }

    /// The inputs of count pairs, and of bindings that share a condition.
    #[cfg(test)]
    pub(crate) fn counted<'a>(&self, inputs: &'a [f32]) -> &'a [f32] {
        &inputs[self.patterns()..]
    }

    /// Number of bindings whose own conditions are all satisfied.
    #[cfg(test)]
    pub(crate) fn satisfied(&self, inputs: &[f32]) -> f32 {
        match &self.own[..] {
            [negated] if self.other.is_empty() => inputs[usize::from(!negated)],
            own => inputs[self.patterns()..][own.len() * (self.other.len() + 1)..self.counts()].iter().sum(),
        }
    }

    fn fill(&self, holds: &[bool], inputs: &mut [f32], kinds: &mut Vec<usize>) {
        kinds.clear();
        let (patterns, rest) = inputs.split_at_mut(self.patterns());
        let (counts, crossings) = rest.split_at_mut(self.counts());
        for conditions in holds[self.first..].chunks_exact(self.conditions()).take(self.count) {
            if let Some(one) = patterns.get_mut(index(conditions)) {
                *one += 1.0;
            }
            let satisfied = |conditions: &[bool], negated: &[bool]| {
                conditions.iter().zip(negated).filter(|(holds, negated)| holds != negated).count()
            };
            let (own, other) = conditions.split_at(self.own.len());
            let pair = satisfied(own, &self.own) * (self.other.len() + 1) + satisfied(other, &self.other);
            if let Some(one) = counts.get_mut(pair) {
                *one += 1.0;
            }
            kinds.push(pair);
        }
        if crossings.is_empty() {
            return;
        }
        let mut met: SmallVec<[(usize, f32); CROSSING]> = SmallVec::new();
        for (output, negated, bindings) in &self.shared {
            if holds[*output] != *negated {
                continue;
            }
            // Number of previous occurrences of each kind.
            met.clear();
            for &binding in bindings {
                let kind = kinds[binding as usize];
                let mut is_new = true;
                for (other, count) in &mut met {
                    let (least, most) = (kind.min(*other), kind.max(*other));
                    crossings[most * (most + 1) / 2 + least] += *count;
                    if *other == kind {
                        *count += 1.0;
                        is_new = false;
                    }
                }
                if is_new {
                    met.push((kind, 1.0));
                }
            }
        }
    }
}

/// The number of a pattern: bit i says whether condition i holds.
fn index(conditions: &[bool]) -> usize {
    conditions.iter().enumerate().filter(|(_, holds)| **holds).fold(0, |sum, (i, _)| sum | 1 << i.min(63))
}

impl Module {
    /// Its bindings with their inputs.
    #[cfg(test)]
    pub(crate) fn bindings<'a>(&'a self, mut inputs: &'a [f32]) -> Vec<(&'a Bindings, &'a [f32])> {
        let Reads::Rules(rules) = &self.reads else { return Vec::new() };
        let all = rules.iter().map(|bindings| {
            let (own, rest) = inputs.split_at(bindings.width());
            inputs = rest;
            (bindings, own)
        });
        all.collect()
    }

    /// Number of its inputs.
    pub(crate) fn width(&self) -> usize {
        match &self.reads {
            Reads::Tuples { count, .. } => *count,
            Reads::Rules(rules) => rules.iter().map(Bindings::width).sum(),
        }
    }
}

/// A condition of a rule, or a counterpart, in all bindings.
#[derive(Debug)]
pub(crate) struct Column {
    /// Whether it is a counterpart.
    pub(crate) is_other: bool,
    pub(crate) negated: bool,
    /// The literal of each binding.
    pub(crate) holds: Vec<Literal>,
}

/// A list of modules under construction.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// In topological order.
    pub(crate) list: Vec<Module>,
    /// The literals that modules read.
    pub(crate) outputs: Vec<Literal>,
}

impl Modules {
    /// Adds a module of at most `most` tuples. Constant tuples are omitted. Returns whether there is anything to read.
    pub(crate) fn tuples(
        &mut self,
        name: &str,
        parts: Vec<String>,
        tuples: impl IntoIterator<Item = (Literal, String)>,
        most: usize,
    ) -> bool {
        let (first, mut about) = (self.outputs.len(), Vec::new());
        for (literal, text) in tuples {
            if literal > TRUE {
                self.outputs.push(literal);
                about.push(text);
            }
        }
        let count = about.len();
        if !(1..=most.min(OUTPUTS.saturating_sub(first))).contains(&count) {
            self.outputs.truncate(first);
            return false;
        }
        let reads = Reads::Tuples { first, count };
        self.list.push(Module { name: name.into(), parts, reads, about: about.join(" ") });
        true
    }

    /// Makes the bindings of rules with these conditions. Constant and duplicate conditions are omitted. None if no
    /// condition remains.
    ///
    /// # Errors
    /// Too many outputs.
    pub(crate) fn bindings(&mut self, columns: Vec<Column>, name: &str) -> Result<Option<Bindings>, String> {
        let mut kept: Vec<Column> = Vec::new();
        for column in columns {
            let is_fixed = column.holds.iter().all(|&literal| literal <= TRUE);
            if !is_fixed && !kept.iter().any(|known| known.holds == column.holds) {
                kept.push(column);
            }
        }
        let Some(count) = kept.first().map(|column| column.holds.len()) else { return Ok(None) };
        let first = self.outputs.len();
        if first + count * kept.len() > OUTPUTS {
            return Err(format!(
                "more than {OUTPUTS} conditions to read with those of `{name}`; use the encoder `bits`"
            ));
        }
        for binding in 0..count {
            self.outputs.extend(kept.iter().map(|column| column.holds[binding]));
        }
        // Conditions at which bindings of several kinds meet.
        let mut places: BTreeMap<(Literal, bool), (usize, Vec<u32>)> = BTreeMap::new();
        for binding in 0..count {
            for (c, column) in kept.iter().enumerate().filter(|(_, column)| !column.is_other) {
                let literal = column.holds[binding];
                let output = first + binding * kept.len() + c;
                if literal > TRUE {
                    let (_, bindings) =
                        places.entry((literal, column.negated)).or_insert((output, Vec::new()));
                    if bindings.last() != Some(&(binding as u32)) {
                        bindings.push(binding as u32);
                    }
                }
            }
        }
        let shared = places.into_iter().filter(|(_, (_, bindings))| (2..=MEETING).contains(&bindings.len()));
        let shared: Vec<(usize, bool, Vec<u32>)> =
            shared.map(|((_, negated), (output, bindings))| (output, negated, bindings)).collect();
        let pairs: usize = shared.iter().map(|(.., all)| all.len() * (all.len() - 1) / 2).sum();
        let compares = pairs <= PAIRS;
        let signs = |of: bool| kept.iter().filter(|c| c.is_other == of).map(|c| c.negated).collect();
        Ok(Some(Bindings { first, count, own: signs(false), other: signs(true), compares, shared }))
    }
}

/// The channels of modules, with `copies` of the inputs of each.
pub(crate) fn channels(modules: &[Module], copies: usize) -> Vec<Channel> {
    let channel = |module: &Module| {
        let kind = match module.reads {
            Reads::Tuples { count, .. } => ChannelKind::Bits(count * copies),
            Reads::Rules(_) => ChannelKind::Dense(module.width() * copies),
        };
        let about = match copies {
            1 => module.about.clone(),
            _ => format!("for each player who may have moved: {}", module.about),
        };
        Channel::new(module.name.clone(), kind).about(about).made_of(module.parts.clone())
    };
    modules.iter().map(channel).collect()
}

/// Fills the inputs of all modules in order, from their outputs: copy `copy` of `copies`.
pub(crate) fn fill(
    modules: &[Module],
    holds: &[bool],
    (copy, copies): (usize, usize),
    mut inputs: &mut [f32],
) {
    let mut kinds = Vec::new();
    for module in modules {
        let width = module.width();
        let (all, rest) = std::mem::take(&mut inputs).split_at_mut(width * copies);
        inputs = rest;
        let mut own = &mut all[copy * width..][..width];
        match &module.reads {
            Reads::Tuples { first, count } => {
                for (input, &holds) in own.iter_mut().zip(&holds[*first..][..*count]) {
                    *input = f32::from(u8::from(holds));
                }
            }
            Reads::Rules(rules) => {
                for bindings in rules {
                    let (inputs, rest) = own.split_at_mut(bindings.width());
                    own = rest;
                    bindings.fill(holds, inputs, &mut kinds);
                }
            }
        }
    }
}
