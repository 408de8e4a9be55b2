//! Tests whether the roles play the same game under other names.
//!
//! A renaming of constants is guessed from rules that are equal up to constants, as `x` and `o` occur where `xplayer`
//! and `oplayer` do, and from rotated boards. The guess is verified: the circuit of legal moves, ends, goals and next
//! facts must be identical after renaming facts and moves. A position then has the same value for the renamed role.

use super::compiled::Inputs;
use super::gates::{Gates, Grounder};
use super::program::{
    Condition, DOES, GOAL, INIT, LEGAL, NEXT, Pattern, Program, ROLE, Rule, TERMINAL, TRUE,
};
use super::reach::{self, Budget, table_of};
use super::tables::IndexedTuples;
use super::terms::{Symbol, Term, Terms};
use crate::circuit::Literal;
use crate::error::RuleError;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Limit on comparisons of rules; beyond it, no symmetry is reported.
const WORK: usize = 4_000_000;
/// No literal.
const NONE: Literal = Literal::MAX;

/// Renaming of constants; others stay.
pub(crate) type Names = FxHashMap<Symbol, Symbol>;

/// A renaming after which each role plays what the previous role played.
#[derive(Debug)]
pub(crate) struct Symmetry {
    /// Powers of the renaming.
    pub(crate) powers: Vec<Names>,
    /// The powers restricted to marks: names that stand for roles, but not for places.
    pub(crate) marks: Vec<Names>,
    /// For each mark, the number of renamings since it belonged to the first role.
    pub(crate) places: FxHashMap<Symbol, usize>,
    /// Facts and moves after one renaming.
    pub(crate) facts: Vec<u32>,
    pub(crate) moves: Vec<u32>,
}

/// A term after renaming constants.
pub(crate) fn renamed(terms: &mut Terms, names: &Names, term: Term) -> Term {
    if names.is_empty() {
        return term;
    }
    let (head, args): (Symbol, SmallVec<[Term; 6]>) =
        (terms.head(term), SmallVec::from_slice(terms.args(term)));
    if args.is_empty() {
        return names.get(&head).map_or(term, |&to| terms.term(to, &[]));
    }
    let args: SmallVec<[Term; 6]> = args.iter().map(|&arg| renamed(terms, names, arg)).collect();
    terms.term(head, &args)
}

/// Calls `visit` with each constant of a term.
pub(crate) fn constants(terms: &Terms, term: Term, visit: &mut impl FnMut(Symbol)) {
    match terms.args(term) {
        [] => visit(terms.head(term)),
        args => args.iter().for_each(|&arg| constants(terms, arg, visit)),
    }
}

fn number(terms: &Terms, symbol: Symbol) -> Option<i64> {
    terms.name(symbol).parse().ok()
}

/// Finds a renaming under which the roles play the same game, if any.
pub(crate) fn find(
    program: &mut Program,
    tables: &mut [IndexedTuples],
    inputs: &Inputs,
) -> Result<Option<Symmetry>, RuleError> {
    let Some(mut guesses) = guesses(program, tables) else { return Ok(None) };
    let count = program.roles.len();
    guesses.retain(|names| {
        names
            .keys()
            .all(|&name| (0..count).fold(name, |name, _| names.get(&name).copied().unwrap_or(name)) == name)
    });
    let Inputs { facts, moves } = inputs;
    let mut asked: Vec<(usize, u32)> = facts.iter().map(|&tuple| (NEXT, tuple)).collect();
    asked.extend(moves.iter().map(|&tuple| (LEGAL, tuple)));
    for relation in [TERMINAL, GOAL] {
        asked.extend((0..tables[relation].len() as u32).map(|tuple| (relation, tuple)));
    }
    let mut grounder =
        Grounder::new(program, tables, facts, moves, Budget::new(reach::WORK, &std::sync::Arc::default()));
    let literals: Vec<Literal> =
        asked.iter().map(|&(relation, tuple)| grounder.literal(relation, tuple)).collect::<Result<_, _>>()?;
    let mut gates = grounder.finish()?;
    let outputs: FxHashMap<(usize, u32), Literal> = asked.iter().copied().zip(literals).collect();
    for names in guesses {
        if let Some((facts, moves)) = check(program, tables, inputs, &names, &mut gates, &outputs) {
            return Ok(Some(Symmetry::new(program, &names, facts, moves)));
        }
    }
    Ok(None)
}

impl Symmetry {
    fn new(program: &Program, names: &Names, facts: Vec<u32>, moves: Vec<u32>) -> Self {
        let (terms, count) = (&program.terms, program.roles.len());
        let mut powers = vec![Names::default()];
        for _ in 1..count {
            let last = &powers[powers.len() - 1];
            let next = names.keys().map(|&name| {
                let before = last.get(&name).copied().unwrap_or(name);
                (name, names.get(&before).copied().unwrap_or(before))
            });
            let next = next.collect();
            powers.push(next);
        }
        let is_mark = |name: Symbol| number(terms, name).is_none();
        let marks: Vec<Names> = powers
            .iter()
            .map(|names| names.iter().filter(|(name, _)| is_mark(**name)).map(|(&a, &b)| (a, b)).collect())
            .collect();
        // A mark belongs to the role with which it occurs in rules most often.
        let mut beside: FxHashMap<Symbol, usize> = FxHashMap::default();
        let first = terms.head(program.roles[0]);
        for rule in &program.rules {
            let form = Form::new(terms, rule);
            if form.constants.contains(&first) {
                form.constants.iter().for_each(|&name| *beside.entry(name).or_default() += 1);
            }
        }
        let mut places = FxHashMap::default();
        let mut all: Vec<Symbol> = names.keys().copied().filter(|&name| is_mark(name)).collect();
        all.sort_unstable();
        for &name in &all {
            let cycle: Vec<Symbol> =
                powers.iter().map(|names| names.get(&name).copied().unwrap_or(name)).collect();
            let own = |at: &usize| {
                let name = cycle[*at];
                (name == first, beside.get(&name).copied().unwrap_or(0), std::cmp::Reverse(name))
            };
            let own = (0..count).max_by_key(own).unwrap_or(0);
            places.insert(name, (count - own) % count);
        }
        Self { powers, marks, places, facts, moves }
    }
}

/// A rule as text, with placeholders for constants.
#[derive(PartialEq, Eq, Hash)]
struct Form {
    shape: Vec<u32>,
    constants: Vec<Symbol>,
}

impl Form {
    fn new(terms: &Terms, rule: &Rule) -> Self {
        let mut form = Self { shape: Vec::new(), constants: Vec::new() };
        let mut order = Vec::new();
        form.shape.push(rule.head.relation as u32);
        for (at, arg) in rule.head.args.iter().enumerate() {
            match arg {
                // Goal values are not names.
                Pattern::Ground(value) if rule.head.relation == GOAL && at == 1 => form.shape.push(*value),
                arg => form.pattern(terms, arg, &mut order),
            }
        }
        for condition in &rule.body {
            let kind = match condition {
                Condition::Holds(_) => 0,
                Condition::Fails(_) => 1,
                Condition::Differ(..) => 2,
            };
            form.shape.extend([u32::MAX, kind]);
            match condition {
                Condition::Holds(atom) | Condition::Fails(atom) => {
                    form.shape.push(atom.relation as u32);
                    atom.args.iter().for_each(|arg| form.pattern(terms, arg, &mut order));
                }
                Condition::Differ(left, right) => {
                    form.pattern(terms, left, &mut order);
                    form.pattern(terms, right, &mut order);
                }
            }
        }
        form
    }

    fn pattern(&mut self, terms: &Terms, pattern: &Pattern, order: &mut Vec<usize>) {
        match pattern {
            Pattern::Variable(v) => {
                let known = order.iter().position(|other| other == v);
                let place = known.unwrap_or_else(|| {
                    order.push(*v);
                    order.len() - 1
                });
                self.shape.extend([0, place as u32]);
            }
            Pattern::Ground(term) => self.term(terms, *term),
            Pattern::Compound(head, args) => {
                self.shape.extend([2, *head, args.len() as u32]);
                args.iter().for_each(|arg| self.pattern(terms, arg, order));
            }
        }
    }

    fn term(&mut self, terms: &Terms, term: Term) {
        match terms.args(term) {
            [] => {
                self.shape.push(1);
                self.constants.push(terms.head(term));
            }
            args => {
                self.shape.extend([2, terms.head(term), args.len() as u32]);
                args.iter().for_each(|&arg| self.term(terms, arg));
            }
        }
    }
}

/// A partial renaming. It stays injective.
#[derive(Clone, Default)]
struct PartialRenaming {
    to: Names,
    from: Names,
}

impl PartialRenaming {
    fn add(&mut self, name: Symbol, to: Symbol) -> bool {
        *self.to.entry(name).or_insert(to) == to && *self.from.entry(to).or_insert(name) == name
    }

    /// Extends the renaming by these pairs, if possible. With two roles, each pair is exchanged.
    fn with(&self, constants: &[Symbol], others: &[Symbol], is_exchange: bool) -> Option<Self> {
        let known = |&(&a, &b): &(&Symbol, &Symbol)| self.to.get(&a).is_some_and(|&to| to != b);
        if constants.iter().zip(others).any(|pair| known(&pair)) {
            return None;
        }
        let mut grown = self.clone();
        let mut pairs = constants.iter().zip(others);
        pairs.all(|(&a, &b)| grown.add(a, b) && (!is_exchange || grown.add(b, a))).then_some(grown)
    }
}

/// Candidate symmetries, the likeliest first. None if roles have arguments.
fn guesses(program: &Program, tables: &[IndexedTuples]) -> Option<Vec<Names>> {
    let (terms, roles) = (&program.terms, &program.roles);
    if roles.len() < 2 || roles.iter().any(|&role| !terms.args(role).is_empty()) {
        return None;
    }
    let is_exchange = roles.len() == 2;
    let mut guess = PartialRenaming::default();
    for (at, &role) in roles.iter().enumerate() {
        guess.add(terms.head(role), terms.head(roles[(at + 1) % roles.len()]));
    }
    let rules = program.rules.iter().filter(|rule| !matches!(rule.head.relation, INIT | ROLE));
    let mut seen = FxHashSet::default();
    let mut forms: Vec<Form> = Vec::new();
    for rule in rules {
        let form = Form::new(terms, rule);
        if seen.insert(Form { shape: form.shape.clone(), constants: form.constants.clone() }) {
            forms.push(form);
        }
    }
    let mut classes: FxHashMap<&[u32], Vec<usize>> = FxHashMap::default();
    forms.iter().enumerate().for_each(|(at, form)| classes.entry(&form.shape).or_default().push(at));
    let mut is_open = vec![true; forms.len()];
    let mut work = 0;
    loop {
        let mut grew = false;
        let mut choice: Option<PartialRenaming> = None;
        for (at, form) in forms.iter().enumerate() {
            let moves = |name: &Symbol| guess.to.get(name).is_some_and(|to| to != name);
            if !is_open[at] || !form.constants.iter().any(moves) {
                continue;
            }
            let same = &classes[&form.shape[..]];
            work += same.len();
            if work > WORK {
                return None;
            }
            let mut ways = same
                .iter()
                .filter_map(|&other| guess.with(&form.constants, &forms[other].constants, is_exchange));
            match (ways.next(), ways.next()) {
                (Some(only), None) => {
                    grew |= only.to.len() > guess.to.len();
                    guess = only;
                    is_open[at] = false;
                }
                (Some(first), Some(second)) if choice.is_none() => {
                    // Among several, prefer the one that moves the fewest constants.
                    let moved = |guess: &PartialRenaming| guess.to.iter().filter(|(a, b)| a != b).count();
                    choice = [first, second].into_iter().chain(ways).min_by_key(moved);
                }
                _ => {}
            }
        }
        if !grew {
            match choice {
                Some(chosen) if chosen.to.len() > guess.to.len() => guess = chosen,
                _ => break,
            }
        }
    }
    let moved: Names = guess.to.into_iter().filter(|(a, b)| a != b).collect();
    Some(with_turns(program, tables, moved))
}

/// A renaming, and its combinations with rotated boards.
fn with_turns(program: &Program, tables: &[IndexedTuples], moved: Names) -> Vec<Names> {
    let terms = &program.terms;
    let names: Names =
        moved.iter().filter(|(name, _)| number(terms, **name).is_none()).map(|(&a, &b)| (a, b)).collect();
    let mut numbers: BTreeSet<(i64, Symbol)> = BTreeSet::new();
    for table in [TRUE, DOES] {
        for tuple in 0..tables[table].len() as u32 {
            for &term in tables[table].tuple(tuple) {
                constants(terms, term, &mut |name| numbers.extend(number(terms, name).map(|n| (n, name))));
            }
        }
    }
    let by_value: FxHashMap<i64, Symbol> = numbers.iter().copied().collect();
    let mut sums: Vec<i64> =
        moved.iter().filter_map(|(&a, &b)| number(terms, a)?.checked_add(number(terms, b)?)).collect();
    sums.sort_unstable();
    if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
        sums.extend(first.0.checked_add(last.0));
    }
    let mut all = vec![moved];
    for sum in sums {
        let mut turned = names.clone();
        for &(n, name) in &numbers {
            if let Some(&to) =
                sum.checked_sub(n).and_then(|other| by_value.get(&other)).filter(|to| **to != name)
            {
                turned.insert(name, to);
            }
        }
        all.push(turned);
    }
    all.push(names);
    let mut distinct: Vec<Names> = Vec::new();
    all.into_iter().for_each(|names| {
        if !distinct.contains(&names) {
            distinct.push(names);
        }
    });
    distinct
}

/// Tests whether the circuit is unchanged by a renaming. Returns the renamed facts and moves.
fn check(
    program: &mut Program,
    tables: &[IndexedTuples],
    inputs: &Inputs,
    names: &Names,
    gates: &mut Gates,
    outputs: &FxHashMap<(usize, u32), Literal>,
) -> Option<(Vec<u32>, Vec<u32>)> {
    let terms = &mut program.terms;
    let mut image = |relation: usize, tuple: u32| -> Option<u32> {
        let table = &tables[table_of(relation)];
        let mut args: SmallVec<[Term; 6]> =
            table.tuple(tuple).iter().map(|&term| renamed(terms, names, term)).collect();
        if let (GOAL, [_, value]) = (relation, &mut args[..]) {
            *value = table.tuple(tuple)[1];
        }
        table.find(&args)
    };
    let mut images = |relation: usize, tuples: &[u32]| -> Option<Vec<u32>> {
        let numbers: FxHashMap<u32, u32> = tuples.iter().copied().zip(0..).collect();
        tuples.iter().map(|&tuple| numbers.get(&image(relation, tuple)?).copied()).collect()
    };
    let (facts, moves) = (images(TRUE, &inputs.facts)?, images(DOES, &inputs.moves)?);
    let count = gates.builder.len();
    let first = gates.builder.facts() + 1;
    let mut literals: Vec<Literal> = vec![0];
    literals.extend(facts.iter().map(|&fact| gates.builder.fact(fact as usize)));
    literals.extend(moves.iter().map(|&number| gates.builder.fact(facts.len() + number as usize)));
    let copy = |literals: &[Literal], literal: Literal| match literals[literal as usize / 2] {
        NONE => NONE,
        found => found ^ (literal & 1),
    };
    for node in first..first + count {
        let literal = match gates.opened.get(&(node as Literal * 2)) {
            Some(&(relation, tuple)) => image(relation, tuple).and_then(|tuple| gates.known(relation, tuple)),
            None => {
                let inputs = gates.builder.inputs(node).unwrap_or_default().iter();
                let inputs: Vec<Literal> = inputs.map(|&input| copy(&literals, input)).collect();
                (!inputs.contains(&NONE)).then(|| gates.builder.all(inputs))
            }
        };
        literals.push(literal.unwrap_or(NONE));
    }
    // An open gate maps to the gate that its definition maps to.
    let mut opened = gates.opened.keys();
    let is_same = opened.all(|&open| {
        let to = copy(&literals, open);
        let told = gates.builder.definition(to as usize / 2).map_or(to, |definition| definition ^ (to & 1));
        let definition =
            gates.builder.definition(open as usize / 2).map(|definition| copy(&literals, definition));
        to != NONE && definition == Some(told)
    });
    let mut all = outputs.iter();
    let is_same = is_same
        && all.all(|(&(relation, tuple), &literal)| {
            let to = image(relation, tuple).and_then(|tuple| outputs.get(&(relation, tuple)));
            to.is_some_and(|&to| copy(&literals, literal) == to)
        });
    is_same.then_some((facts, moves))
}
