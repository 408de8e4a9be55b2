//! Modules for the architecture `modules`, whatever the form of the rules that they read.
//!
//! A module reads one of two things of a position:
//!
//! - *Tuples* of a relation: which of them hold. Each tuple gets a weight of its own.
//! - *Bindings* of a rule: for every choice of its variables, which of its conditions hold. What holds is a pattern. The module
//!   reads how often each pattern occurs, so all bindings share its weight: two crosses and an empty square count the same in
//!   all eight lines of tic-tac-toe.
//!
//! Both are outputs of a circuit. Each condition is asked for all players. Its *counterparts* are the same condition as the other
//! players write it about the same place: `on(o, a)` for `on(x, a)`.

use crate::circuit::{Literal, TRUE};
use adept_game::{Channel, ChannelKind};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Conditions of a rule, with counterparts, whose patterns are told apart. More are only counted.
const PATTERN: usize = 8;
/// Pairs of counts of a rule up to which crossings are told apart.
const CROSSING: usize = 36;
/// Most bindings that share a condition and are compared with each other. A condition that more of them share says little about
/// any two.
const MEETING: usize = 64;
/// Most pairs of bindings of a rule that meet. With more they are not compared: it would take too long.
const PAIRS: usize = 1 << 16;
/// Most outputs.
pub(crate) const OUTPUTS: usize = 1 << 18;
/// Most tuples of a relation that get weights of their own. A relation with more is read through its rules only.
pub(crate) const TUPLES: usize = 4_096;

/// A module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    /// Names of the modules that it is made of.
    pub(crate) parts: Vec<String>,
    pub(crate) reads: Reads,
    /// Meaning of its inputs.
    pub(crate) about: String,
}

/// What a module reads.
#[derive(Debug)]
pub(crate) enum Reads {
    /// Whether each of these outputs holds, from the first on.
    Tuples { first: usize, count: usize },
    /// For each rule, how often each pattern occurs.
    Rules(Vec<Bindings>),
}

/// The bindings of one rule.
#[derive(Debug)]
pub(crate) struct Bindings {
    /// The first of its outputs: for each binding the conditions, own ones first.
    first: usize,
    count: usize,
    /// Whether each condition of the player who moved is satisfied if it does *not* hold.
    own: Vec<bool>,
    /// The same for the counterparts that are not conditions themselves.
    other: Vec<bool>,
    /// Whether bindings that meet are compared.
    compares: bool,
    /// Conditions that several bindings share: an output that holds if it does, whether it is negated, and the bindings.
    shared: Vec<(usize, bool, Vec<u32>)>,
}

impl Bindings {
    fn conditions(&self) -> usize {
        self.own.len() + self.other.len()
    }

    /// Number of patterns that are told apart.
    fn patterns(&self) -> usize {
        if self.conditions() <= PATTERN { 1 << self.conditions() } else { 0 }
    }

    /// Number of pairs of counts. One condition is its own count.
    fn counts(&self) -> usize {
        if self.conditions() == 1 { 0 } else { (self.own.len() + 1) * (self.other.len() + 1) }
    }

    /// Number of unordered pairs of pairs of counts, for two bindings that share a condition.
    fn crossings(&self) -> usize {
        match self.counts() {
            counts @ 1..=CROSSING if self.own.len() > 1 && self.compares => counts * (counts + 1) / 2,
            _ => 0,
        }
    }

    /// What its inputs are, in words.
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

    /// The inputs of pairs of counts, and of bindings that meet.
    #[cfg(test)]
    pub(crate) fn counted<'a>(&self, inputs: &'a [f32]) -> &'a [f32] {
        &inputs[self.patterns()..]
    }

    /// Bindings whose own conditions are all satisfied.
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
            // How often each kind came before.
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
    /// When it holds, for each binding.
    pub(crate) holds: Vec<Literal>,
}

/// Modules that are being made.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// Each after its parts.
    pub(crate) list: Vec<Module>,
    /// What they read.
    pub(crate) outputs: Vec<Literal>,
}

impl Modules {
    /// A module of at most `most` tuples. What is the same in all positions is left out. Returns whether there is anything to read.
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

    /// The bindings of rules with these conditions. Conditions that are the same in all positions, or the same as others, are left
    /// out. None if there is no other.
    ///
    /// # Errors
    /// That there are too many outputs.
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
        // Where bindings of several kinds meet.
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

/// Fills the inputs of all modules, one after the other, from what holds of their outputs: the copy with this number of so many.
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
