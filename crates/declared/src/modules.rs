//! Modules for the architecture `modules`, independent of the rule language.
//!
//! A module reads one of two things of a position:
//!
//! - *Tuples* of a relation: which of them hold. Each tuple gets a weight of its own.
//! - *Bindings* of a rule: for every choice of its variables, which of its conditions hold. What holds is a pattern.
//!   The module reads how often each pattern occurs, so all bindings share its weight: two crosses and an empty square
//!   count the same in all eight lines of tic-tac-toe.
//!
//! Both are outputs of the circuit of a [`Structure`]. Each condition is asked for all players. Its *counterparts* are the same condition as
//! the other players write it about the same place: `on(o, a)` for `on(x, a)`.

use crate::bits;
use crate::circuit::{Builder, Literal, TRUE};
use crate::net::{Net, Runner, arrange};
use crate::recent::Recent;
use adept_game::{Channel, ChannelKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
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

    /// Adds what a relation reads: a module of its rules, and one of its tuples, if it is read by tuples at all. Returns
    /// the name of the last module.
    pub(crate) fn relation(
        &mut self,
        name: &str,
        mut parts: Vec<String>,
        rules: Vec<Bindings>,
        tuples: Option<Vec<(Literal, String)>>,
        most: usize,
    ) -> Option<String> {
        let mut last = None;
        if !rules.is_empty() {
            let named = if tuples.is_some() { format!("{name}-rules") } else { name.to_string() };
            let about: Vec<String> = rules.iter().map(Bindings::about).collect();
            self.list.push(Module {
                name: named.clone(),
                parts,
                reads: Reads::Rules(rules),
                about: about.join("; "),
            });
            parts = vec![named.clone()];
            last = Some(named);
        }
        if self.tuples(name, parts, tuples.unwrap_or_default(), most) {
            last = Some(name.to_string());
        }
        last
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

/// The modules of a game, and the circuit that they read.
#[derive(Debug)]
pub(crate) struct Structure {
    /// In topological order.
    pub(crate) modules: Vec<Module>,
    /// Outputs are the literals that modules read, without duplicates.
    net: Net,
    /// The circuit output of each module output: bit · 2 + negated.
    reads: Vec<u32>,
    facts: usize,
    /// Copies of each input: one per role if roles differ.
    pub(crate) copies: usize,
    /// How each player sees facts and moves. Empty if all see the same.
    views: Vec<View>,
}

/// The facts and moves that take the places of all facts and moves for a player.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) facts: Vec<u32>,
    pub(crate) moves: Vec<u32>,
}

/// A circuit that holds a position as a player sees it.
struct Session {
    player: usize,
    runner: Runner,
}

thread_local! {
    /// The sessions that this thread used last.
    static SESSIONS: RefCell<Recent<Session, 8>> = const { RefCell::new(Recent::new()) };
}

impl Structure {
    /// Creates the structure of modules that read a circuit, whose first inputs are `facts` facts.
    ///
    /// # Errors
    /// A gate that depends on its own negation.
    pub(crate) fn new(
        Modules { list, outputs }: Modules,
        builder: &Builder,
        facts: usize,
        copies: usize,
        views: Vec<View>,
    ) -> Result<Self, String> {
        let mut nodes: FxHashMap<Literal, u32> = FxHashMap::default();
        let mut shown = Vec::new();
        let reads = outputs.iter().map(|&output| {
            let bit = *nodes.entry(output & !1).or_insert_with(|| {
                shown.push(output & !1);
                shown.len() as u32 - 1
            });
            bit * 2 + (output & 1)
        });
        let reads = reads.collect();
        let arranged =
            arrange(builder, &shown).map_err(|_| "a relation follows from its own negation".to_string())?;
        let places: Vec<u32> = (0..shown.len() as u32).collect();
        let net = Net::new(&arranged, &places, shown.len());
        Ok(Self { modules: list, net, reads, facts, copies, views })
    }

    /// Fills the inputs of all modules for a position and the player who moved; `action` is the move that the player
    /// has chosen there.
    pub(crate) fn fill(&self, facts: &[u64], player: usize, action: Option<u32>, mut inputs: &mut [f32]) {
        let view = self.views.get(player).filter(|_| player > 0);
        let moved: SmallVec<[u64; 4]>;
        let seen = match view {
            None => facts,
            Some(view) => {
                moved = bits::moved(facts, &view.facts);
                &moved
            }
        };
        let action = action.map(|action| {
            let action = view.map_or(action, |view| view.moves[action as usize]);
            self.facts as u32 + action
        });
        let holds = self.holds(seen, player, action);
        let copy = player % self.copies;
        let mut kinds = Vec::new();
        for module in &self.modules {
            let width = module.width();
            let (all, rest) = std::mem::take(&mut inputs).split_at_mut(width * self.copies);
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
                        bindings.fill(&holds, inputs, &mut kinds);
                    }
                }
            }
        }
    }

    /// The outputs that hold.
    fn holds(&self, facts: &[u64], player: usize, action: Option<u32>) -> Vec<bool> {
        SESSIONS.with_borrow_mut(|sessions| {
            let is_own = |session: &Session| session.runner.is_of(&self.net) && session.player == player;
            let new = || Session { player, runner: Runner::new(&self.net, self.facts) };
            let Session { runner, .. } = sessions.get(is_own, new);
            runner.go(&self.net, facts);
            let choose = |runner: &mut Runner, holds: bool| {
                if let Some(input) = action {
                    runner.set(&self.net, input, holds);
                    runner.settle(&self.net);
                }
            };
            choose(runner, true);
            let holds = |&read: &u32| bits::holds(&runner.outputs, read as usize / 2) != (read & 1 == 1);
            let holds = self.reads.iter().map(holds).collect();
            choose(runner, false);
            holds
        })
    }

    /// The channels of all modules.
    pub(crate) fn channels(&self) -> Vec<Channel> {
        let channel = |module: &Module| {
            let kind = match module.reads {
                Reads::Tuples { count, .. } => ChannelKind::Bits(count * self.copies),
                Reads::Rules(_) => ChannelKind::Dense(module.width() * self.copies),
            };
            let about = match self.copies {
                1 => module.about.clone(),
                _ => format!("for each player who may have moved: {}", module.about),
            };
            Channel::new(module.name.clone(), kind).about(about).made_of(module.parts.clone())
        };
        self.modules.iter().map(channel).collect()
    }
}
