//! The structure of the rules: relations, operators and endings as modules, each after those that it is made of.
//!
//! This is what the informed learner is told (Levinson, "General game-playing and reinforcement learning", 1996, "Generating a
//! reinforcement hierarchy from the rules of a domain"). A module reads one of two things of a position:
//!
//! - *Tuples* of a relation: which of them hold. Each tuple gets a weight of its own.
//! - *Bindings* of a rule: for every choice of its variables, which of its conditions hold. What holds is a pattern. The module
//!   reads how often each pattern occurs, so all bindings share its weight: two crosses and an empty square count the same in
//!   all eight lines of tic-tac-toe.
//!
//! Each condition is asked for all players. Its *counterpart* is the same condition as another player writes it about the same
//! place: `on(o, a)` for `on(x, a)`.

use crate::circuit::{Cone, FALSE, Literal, TRUE};
use crate::declaration::{Condition, Declaration, Ending, Expression, Kind, Object, Rule, Summand};
use crate::error::RuleError;
use crate::game::Declared;
use crate::ground::{Grounder, Rules, tuple_of};
use adept_game::Game;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Conditions of a rule, with counterparts, whose patterns are told apart. More are only counted.
const PATTERN: usize = 8;
/// Pairs of counts of a rule up to which crossings are told apart.
const CROSSING: usize = 36;
/// Most bindings that share a condition and are compared with each other. A condition that more of them share says little about
/// any two.
const MEETING: usize = 64;
/// Most outputs.
const OUTPUTS: usize = 1 << 18;
/// Most tuples of a relation that get weights of their own. A relation with more is read through its rules only.
const TUPLES: usize = 4_096;

/// The modules of a game.
#[derive(Debug)]
pub(crate) struct Structure {
    /// Each after its parts.
    pub(crate) modules: Vec<Module>,
    /// Its outputs are the tuples and conditions that modules read.
    cone: Cone,
}

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
            counts @ 1..=CROSSING if self.own.len() > 1 => counts * (counts + 1) / 2,
            _ => 0,
        }
    }

    /// What its inputs are, in words.
    fn about(&self) -> String {
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
        for (output, negated, bindings) in &self.shared {
            if holds[*output] != *negated {
                continue;
            }
            for (i, &a) in bindings.iter().enumerate() {
                for &b in &bindings[..i] {
                    let (a, b) = (kinds[a as usize], kinds[b as usize]);
                    let (least, most) = (a.min(b), a.max(b));
                    crossings[most * (most + 1) / 2 + least] += 1.0;
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
    /// Number of its inputs.
    pub(crate) fn width(&self) -> usize {
        match &self.reads {
            Reads::Tuples { count, .. } => *count,
            Reads::Rules(rules) => rules.iter().map(Bindings::width).sum(),
        }
    }
}

impl Structure {
    /// The structure of compiled rules.
    ///
    /// # Errors
    /// As compiling, or that there are too many conditions to read.
    pub(crate) fn of(rules: &Rules) -> Result<Self, RuleError> {
        let declaration = &rules.declaration;
        let mut grounder = Grounder::of(declaration, &rules.facts, &rules.turned);
        grounder.derive()?;
        let types = types_of(declaration);
        let mut maker = Maker { declaration, types, grounder, modules: Vec::new(), outputs: Vec::new() };
        for (number, relation) in declaration.relations.iter().enumerate() {
            if relation.kind == Kind::Dynamic {
                let tuples = &maker.grounder.tables[number];
                let (holds, texts) = (
                    tuples.holds[0].clone(),
                    tuples.tuples.iter().map(|t| declaration.shown(&relation.name, t)),
                );
                let texts = texts.collect();
                maker.tuples(relation.name.clone(), Vec::new(), holds, texts);
            }
        }
        for &number in declaration.order.iter().flatten() {
            let relation = &declaration.relations[number];
            if relation.kind == Kind::Derived {
                let rules: Vec<&Rule> = relation.rules.iter().collect();
                let table = &maker.grounder.tables[number];
                let tuples = table.tuples.iter().map(|t| declaration.shown(&relation.name, t)).collect();
                let holds = table.holds[..declaration.players].to_vec();
                maker.rules(&relation.name, &rules, Some((holds, tuples)))?;
            }
        }
        let views = declaration.players;
        for (number, operator) in declaration.operators.iter().enumerate() {
            if operator.weight.is_some() {
                continue;
            }
            let moves = rules.moves.iter().enumerate().filter(|(_, one)| one.operator == number);
            let moves: Vec<(usize, String)> =
                moves.map(|(m, one)| (m, declaration.shown(&operator.name, &one.tuple))).collect();
            let mut holds: Vec<Vec<Literal>> = Vec::with_capacity(views);
            let tuples: Vec<&[Object]> = moves.iter().map(|(m, _)| &rules.moves[*m].tuple[..]).collect();
            for view in 0..views {
                holds.push(maker.legal(number, view, &tuples)?);
            }
            let texts = moves.into_iter().map(|(_, text)| text).collect();
            let name = match declaration.relations.iter().any(|relation| relation.name == operator.name) {
                true => format!("operator-{}", operator.name),
                false => operator.name.clone(),
            };
            maker.rules(&name, &[&operator.rule], Some((holds, texts)))?;
        }
        for ending in [Ending::Win, Ending::Lose, Ending::Draw] {
            // A name in a rule file has no `-`.
            let name = match ending {
                Ending::Win => "ending-win",
                Ending::Lose => "ending-lose",
                Ending::Draw => "ending-draw",
            };
            let rules: Vec<&Rule> = declaration
                .endings
                .iter()
                .filter(|((of, _), _)| *of == ending)
                .map(|(_, rule)| rule)
                .collect();
            maker.rules(name, &rules, None)?;
        }
        let cone = maker.grounder.builder.cone(&maker.outputs);
        Ok(Self { modules: maker.modules, cone })
    }

    /// Fills the inputs of all modules, one after the other, for facts as the player who moved sees them.
    pub(crate) fn fill(&self, facts: &[u64], mut inputs: &mut [f32]) {
        let (mut holds, mut kinds) = (vec![false; self.cone.outputs().len()], Vec::new());
        self.cone.find(facts, |output| {
            holds[output] = true;
            false
        });
        for module in &self.modules {
            let (own, rest) = std::mem::take(&mut inputs).split_at_mut(module.width());
            inputs = rest;
            match &module.reads {
                Reads::Tuples { first, count } => {
                    for (input, &holds) in own.iter_mut().zip(&holds[*first..][..*count]) {
                        *input = f32::from(u8::from(holds));
                    }
                }
                Reads::Rules(rules) => {
                    let mut own = own;
                    for bindings in rules {
                        let (inputs, rest) = own.split_at_mut(bindings.width());
                        own = rest;
                        bindings.fill(&holds, inputs, &mut kinds);
                    }
                }
            }
        }
    }
}

/// The type of each argument of each relation, as far as it is known: derived relations have those of what they are made of.
fn types_of(declaration: &Declaration) -> Vec<Vec<Option<usize>>> {
    let relations = declaration.relations.iter().enumerate();
    let mut types: Vec<Vec<Option<usize>>> = relations
        .map(|(number, relation)| match relation.types[..] {
            // Types are the first relations, in their order.
            [] if number < declaration.types.len() => vec![Some(number)],
            [] => vec![None; relation.arity],
            _ => relation.types.iter().map(|&of| Some(of)).collect(),
        })
        .collect();
    for &number in declaration.order.iter().flatten() {
        for at in 0..declaration.relations[number].arity {
            let rules = &declaration.relations[number].rules;
            let mut found = rules.iter().map(|rule| type_in(&types, rule, rule.head.get(at)?));
            let first = found.next().flatten();
            if types[number][at].is_none() && found.all(|other| other == first) {
                types[number][at] = first;
            }
        }
    }
    types
}

/// The type of a variable in a rule, by what the conditions say.
fn type_in(types: &[Vec<Option<usize>>], rule: &Rule, expression: &Expression) -> Option<usize> {
    let [(false, Summand::Variable(_))] = expression.0[..] else { return None };
    rule.body.iter().find_map(|condition| match condition {
        Condition::Holds { relation, args, .. } => {
            let at = args.iter().position(|arg| arg == expression)?;
            *types[*relation].get(at)?
        }
        Condition::Compare { .. } => None,
    })
}

struct Maker<'a> {
    declaration: &'a Declaration,
    /// The type of each argument of each relation, if it is known.
    types: Vec<Vec<Option<usize>>>,
    grounder: Grounder<'a>,
    modules: Vec<Module>,
    outputs: Vec<Literal>,
}

impl Maker<'_> {
    /// A module of tuples. What is the same in all positions is left out.
    fn tuples(&mut self, name: String, parts: Vec<String>, holds: Vec<Literal>, texts: Vec<String>) {
        let (first, mut about) = (self.outputs.len(), Vec::new());
        for (literal, text) in holds.into_iter().zip(texts) {
            if literal > TRUE {
                self.outputs.push(literal);
                about.push(text);
            }
        }
        let count = about.len();
        if !(1..=TUPLES).contains(&count) {
            self.outputs.truncate(first);
            return;
        }
        self.modules.push(Module {
            name,
            parts,
            reads: Reads::Tuples { first, count },
            about: about.join(" "),
        });
    }

    /// The modules of a relation, an operator or endings: one of the rules, and one of the tuples for all players.
    fn rules(
        &mut self,
        name: &str,
        rules: &[&Rule],
        tuples: Option<(Vec<Vec<Literal>>, Vec<String>)>,
    ) -> Result<(), RuleError> {
        let mut parts = BTreeSet::new();
        let mut found = Vec::new();
        let mut about = Vec::new();
        for rule in rules {
            let conditions = rule.body.iter().filter_map(|condition| match condition {
                Condition::Holds { relation, .. } => Some(*relation),
                Condition::Compare { .. } => None,
            });
            for relation in conditions {
                let name = &self.declaration.relations[relation].name;
                let known = |module: &&Module| module.name == *name || module.name == format!("{name}-rules");
                if let Some(module) = self.modules.iter().rfind(known) {
                    parts.insert(module.name.clone());
                }
            }
            if let Some(bindings) = self.bindings(rule, name)? {
                about.push(bindings.about());
                found.push(bindings);
            }
        }
        let mut parts: Vec<String> = parts.into_iter().collect();
        if !found.is_empty() {
            let named = if tuples.is_some() { format!("{name}-rules") } else { name.to_string() };
            let reads = Reads::Rules(found);
            self.modules.push(Module { name: named.clone(), parts, reads, about: about.join("; ") });
            parts = vec![named];
        }
        if let Some((holds, texts)) = tuples {
            let mut all: Vec<(String, Literal)> = Vec::new();
            let mut known: BTreeSet<Literal> = BTreeSet::new();
            for (view, holds) in holds.into_iter().enumerate() {
                // The other players' tuples, where they are not the same.
                let whose = match (view, self.declaration.players) {
                    (0, _) => String::new(),
                    (_, 2) => "their:".into(),
                    _ => format!("{view}-behind:"),
                };
                let tuples = texts.iter().zip(holds).filter(|(_, literal)| !known.contains(literal));
                let before = all.len();
                all.extend(tuples.map(|(text, literal)| (format!("{whose}{text}"), literal)));
                known.extend(all[before..].iter().map(|(_, literal)| *literal));
            }
            let (texts, holds) = all.into_iter().unzip();
            self.tuples(name.into(), parts, holds, texts);
        }
        Ok(())
    }

    /// When each move of an operator is legal, for a player.
    fn legal(
        &mut self,
        operator: usize,
        view: usize,
        tuples: &[&[Object]],
    ) -> Result<Vec<Literal>, RuleError> {
        let declaration = self.declaration;
        let of = &declaration.operators[operator];
        let mut ways: rustc_hash::FxHashMap<Vec<Object>, Vec<Vec<crate::ground::Rest>>> = Default::default();
        self.grounder.bind(&of.rule, &[], &of.name, |binding, rest| {
            if let Some(tuple) = tuple_of(declaration, &of.rule.head, binding) {
                ways.entry(tuple).or_default().push(rest.to_vec());
            }
        })?;
        let legal = tuples.iter().map(|&tuple| {
            let gates: Vec<Literal> =
                ways.get(tuple).into_iter().flatten().map(|rest| self.grounder.gate(view, rest)).collect();
            self.grounder.builder.any(gates)
        });
        Ok(legal.collect())
    }

    /// The bindings of a rule. None if its conditions never depend on the position.
    fn bindings(&mut self, rule: &Rule, name: &str) -> Result<Option<Bindings>, RuleError> {
        let declaration = self.declaration;
        let state = |condition: &&Condition| match condition {
            Condition::Holds { relation, .. } => declaration.relations[*relation].kind != Kind::Static,
            Condition::Compare { .. } => false,
        };
        let conditions: Vec<&Condition> = rule.body.iter().filter(state).collect();
        let mut found: Vec<Vec<Option<Object>>> = Vec::new();
        self.grounder.bind(rule, &[], name, |binding, _| found.push(binding.to_vec()))?;
        // A column for each condition, and for each counterpart.
        let mut columns: Vec<(bool, bool, Vec<Literal>)> = Vec::new();
        for view in 0..declaration.players {
            for condition in &conditions {
                let Condition::Holds { negated, relation, args } = condition else { continue };
                let literals = found.iter().map(|binding| self.literal(*relation, args, binding, view));
                let Some(literals) = literals.collect::<Option<Vec<Literal>>>() else { continue };
                if literals.iter().all(|&l| l <= TRUE)
                    || columns.iter().any(|(_, _, known)| *known == literals)
                {
                    continue;
                }
                columns.push((view > 0, *negated, literals));
            }
        }
        if columns.is_empty() {
            return Ok(None);
        }
        let first = self.outputs.len();
        if first + found.len() * columns.len() > OUTPUTS {
            let what = format!(
                "more than {OUTPUTS} conditions to read with those of `{name}`; use the encoder `bits`"
            );
            return Err(RuleError::new(rule.place, what));
        }
        for binding in 0..found.len() {
            self.outputs.extend(columns.iter().map(|(_, _, literals)| literals[binding]));
        }
        // Where bindings of several kinds meet.
        let own: Vec<usize> = (0..columns.len()).filter(|&c| !columns[c].0).collect();
        let mut places: BTreeMap<(Literal, bool), (usize, Vec<u32>)> = BTreeMap::new();
        for binding in 0..found.len() {
            for &c in &own {
                let (_, negated, literals) = &columns[c];
                let output = first + binding * columns.len() + c;
                if literals[binding] > TRUE {
                    let (_, bindings) =
                        places.entry((literals[binding], *negated)).or_insert((output, Vec::new()));
                    if bindings.last() != Some(&(binding as u32)) {
                        bindings.push(binding as u32);
                    }
                }
            }
        }
        let shared = places.into_iter().filter(|(_, (_, bindings))| (2..=MEETING).contains(&bindings.len()));
        let shared = shared.map(|((_, negated), (output, bindings))| (output, negated, bindings)).collect();
        let signs = |of: bool| columns.iter().filter(|c| c.0 == of).map(|c| c.1).collect();
        Ok(Some(Bindings { first, count: found.len(), own: signs(false), other: signs(true), shared }))
    }

    /// When a condition holds for a binding, or its counterpart. None if it is not known what becomes of an object when another
    /// player looks.
    fn literal(
        &self,
        relation: usize,
        args: &[Expression],
        binding: &[Option<Object>],
        view: usize,
    ) -> Option<Literal> {
        let Some(mut tuple) = tuple_of(self.declaration, args, binding) else { return Some(FALSE) };
        if view > 0 {
            // Places stay where they are: they are written as that player writes them. Constants are as in the rule.
            for (at, (object, arg)) in tuple.iter_mut().zip(args).enumerate() {
                if arg.0.iter().any(|(_, summand)| matches!(summand, Summand::Variable(_))) {
                    *object = self.seen(relation, at, *object, self.declaration.players - view)?;
                }
            }
        }
        let table = &self.grounder.tables[relation];
        Some(table.numbers.get(&tuple).map_or(FALSE, |&number| table.holds[view][number as usize]))
    }

    /// What an object is so many turns before.
    fn seen(&self, relation: usize, at: usize, object: Object, turns: usize) -> Option<Object> {
        if let Some(of) = self.types[relation].get(at).copied().flatten() {
            return Some(self.declaration.turned(of, object, turns));
        }
        let types = (0..self.declaration.types.len())
            .filter(|&of| self.declaration.types[of].members.contains(&object));
        let mut all = types.map(|of| self.declaration.turned(of, object, turns));
        let first = all.next().unwrap_or(object);
        all.all(|other| other == first).then_some(first)
    }
}

impl Declared {
    /// The structure of the rules, made when it is first asked for. Or why there is none.
    pub(crate) fn structure(&self) -> &Result<Arc<Structure>, String> {
        self.facts.structure.get_or_init(|| {
            Structure::of(&self.rules).map(Arc::new).map_err(|e| format!("{}: {e}", self.name()))
        })
    }
}
