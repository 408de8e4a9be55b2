//! Conditions of each tuple as a circuit over facts and moves.
//!
//! A rule is a sum of products over the values of its variables. It is factored like an algebraic expression: factors
//! without a variable move out of its sum, parts without common variables are summed separately, and each part is
//! computed once per value of the variables that it shares with the rest.

use super::program::{Condition, DOES, LEGAL, Pattern, Program, Relation, Rule, TRUE};
use super::reach::{Budget, table_of};
use super::tables::{IndexedTuples, Memo, Step, known_term};
use super::terms::{Symbol, Term, Terms};
use crate::circuit::{Builder, FALSE, Literal, TRUE as ALWAYS};
use crate::error::RuleError;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// Bytes of a gate's input in a circuit: inputs, and who reads them.
pub(super) const GATE: usize = 16;

/// Limit on inputs of all gates.
const INPUTS: usize = 6_000_000;

/// Conditions of the tuples of each relation.
pub(crate) struct Gates {
    pub(crate) builder: Builder,
    /// For each changing relation, the literal of each tuple of its table.
    literals: Vec<Vec<Literal>>,
    /// Relation and tuple of each open gate.
    pub(crate) opened: FxHashMap<Literal, (usize, u32)>,
}

/// Rules of a relation, indexed by one argument of their heads, so that few rules are tried per tuple.
struct Heads {
    column: usize,
    /// Rules with a constant term there, by term.
    ground: FxHashMap<Term, Vec<usize>>,
    /// Rules with a function there, by function.
    built: FxHashMap<Symbol, Vec<usize>>,
    /// Rules with a variable there.
    any: Vec<usize>,
}

impl Heads {
    fn new(relation: &Relation, rules: &[Rule]) -> Self {
        let is_ground =
            |rule: usize, column: usize| matches!(rules[rule].head.args[column], Pattern::Ground(_));
        let count = |&column: &usize| relation.rules.iter().filter(|&&rule| is_ground(rule, column)).count();
        let column = (0..relation.arity).max_by_key(count).unwrap_or_default();
        let mut heads =
            Self { column, ground: FxHashMap::default(), built: FxHashMap::default(), any: Vec::new() };
        for &rule in &relation.rules {
            let list = match rules[rule].head.args.get(column) {
                Some(Pattern::Ground(term)) => heads.ground.entry(*term).or_default(),
                Some(Pattern::Compound(head, _)) => heads.built.entry(*head).or_default(),
                _ => &mut heads.any,
            };
            list.push(rule);
        }
        heads
    }

    /// Rules whose head may match a tuple.
    fn fitting(&self, terms: &Terms, tuple: &[Term]) -> impl Iterator<Item = usize> {
        let term = tuple.get(self.column);
        let ground = term.and_then(|term| self.ground.get(term));
        let built = term.and_then(|&term| self.built.get(&terms.head(term)));
        ground.into_iter().chain(built).flatten().chain(&self.any).copied()
    }
}

impl Gates {
    /// The literal of a tuple of a changing relation, if it was requested.
    pub(crate) fn known(&self, relation: usize, tuple: u32) -> Option<Literal> {
        self.literals[relation].get(tuple as usize).copied().filter(|&literal| literal != UNKNOWN)
    }
}

/// Index of a condition that is tested once its variables are bound.
type Check = usize;

/// Factors of one term of a sum.
#[derive(Default)]
struct Product {
    /// Static factors come first, because a failing one skips the rest.
    fixed: Factors,
    changing: Factors,
}

#[derive(Default)]
struct Factors {
    checks: Vec<Check>,
    parts: Vec<SubSum>,
}

/// A sum over the tuples of a join step.
struct Sum {
    step: Step,
    relation: usize,
    product: Product,
}

/// A sum that depends on some of the variables bound before.
struct SubSum {
    on: Vec<usize>,
    sum: Box<Sum>,
    /// Results by the values of these variables, if they may recur.
    known: Option<Memo>,
    /// Work counted per tuple of the sum.
    weight: usize,
}

/// Matches a pattern against a term and binds its variables. Returns whether it matches.
fn fit(terms: &Terms, pattern: &Pattern, term: Term, binding: &mut [Term], bound: &mut [bool]) -> bool {
    match pattern {
        Pattern::Ground(known) => *known == term,
        Pattern::Variable(v) if bound[*v] => binding[*v] == term,
        Pattern::Variable(v) => {
            (binding[*v], bound[*v]) = (term, true);
            true
        }
        Pattern::Compound(head, args) => {
            terms.head(term) == *head
                && terms.args(term).len() == args.len()
                && args.iter().zip(terms.args(term)).all(|(arg, &term)| fit(terms, arg, term, binding, bound))
        }
    }
}

/// Memory limit of memoised results, in bytes.
const KEPT: usize = 1 << 28;
/// Literal of a tuple that is not computed yet.
const UNKNOWN: Literal = Literal::MAX;
/// Depth of nested relations; deeper gates stay open for a while.
const DEPTH: usize = 24;

/// Computes the conditions of requested tuples and of those that they depend on.
pub(crate) struct Grounder<'a> {
    terms: &'a mut Terms,
    relations: &'a [Relation],
    rules: &'a [Rule],
    tables: &'a mut [IndexedTuples],
    pub(crate) gates: Gates,
    /// Whether a relation is recursive.
    is_recursive: Vec<bool>,
    /// First and last input of the moves of each role.
    moves: Vec<(Literal, Literal)>,
    /// The rules of each requested relation.
    heads: Vec<Option<Rc<Heads>>>,
    /// The plan of each rule with its head bound.
    plans: Vec<Option<Product>>,
    /// Open gates whose definition is pending.
    due: Vec<Literal>,
    depth: usize,
    /// Bytes of memoised results.
    kept: usize,
    budget: Budget,
}

impl<'a> Grounder<'a> {
    /// `facts` and `moves` are the tables of `true` and `does` in the order of the inputs; moves are sorted by role.
    pub(crate) fn new(
        program: &'a mut Program,
        tables: &'a mut [IndexedTuples],
        facts: &[u32],
        moves: &[u32],
        budget: Budget,
    ) -> Self {
        let Program { terms, relations, rules, order, roles, .. } = program;
        let builder = Builder::new(facts.len() + moves.len());
        let mut literals = vec![Vec::new(); relations.len()];
        for (relation, inputs, first) in [(TRUE, facts, 0), (DOES, moves, facts.len())] {
            literals[relation] = vec![FALSE; tables[relation].len()];
            for (i, &tuple) in inputs.iter().enumerate() {
                literals[relation][tuple as usize] = builder.fact(first + i);
            }
        }
        for (number, relation) in relations.iter().enumerate() {
            if (relation.changes || number <= LEGAL) && number != TRUE && number != DOES {
                literals[number] = vec![UNKNOWN; tables[table_of(number)].len()];
            }
        }
        let of = |role: Term| moves.iter().filter(|&&tuple| tables[DOES].tuple(tuple)[0] == role).count();
        let mut first = facts.len();
        let ranges = roles.iter().map(|&role| {
            let range = (builder.fact(first), builder.fact(first + of(role)));
            first += of(role);
            range
        });
        let moves = ranges.collect();
        let mut is_recursive = vec![false; relations.len()];
        for (group, cycle) in order.iter().filter(|(_, cycle)| *cycle) {
            group.iter().for_each(|&relation| is_recursive[relation] = *cycle);
        }
        let plans = rules.iter().map(|_| None).collect();
        let heads = vec![None; relations.len()];
        let gates = Gates { builder, literals, opened: FxHashMap::default() };
        let (due, depth, kept) = (Vec::new(), 0, 0);
        Self {
            terms,
            relations,
            rules,
            tables,
            gates,
            is_recursive,
            moves,
            heads,
            plans,
            due,
            depth,
            kept,
            budget,
        }
    }

    /// Number of possible tuples of a relation.
    pub(crate) fn count(&self, relation: usize) -> usize {
        self.tables[table_of(relation)].len()
    }

    /// The literal of a tuple. Gates that are still open are closed by [`finish`](Self::finish).
    pub(crate) fn literal(&mut self, relation: usize, tuple: u32) -> Result<Literal, RuleError> {
        match self.gates.literals[relation].get(tuple as usize) {
            None => Ok(ALWAYS),
            Some(&UNKNOWN) if self.is_recursive[relation] || self.depth >= DEPTH => {
                let open = self.gates.builder.open();
                self.gates.literals[relation][tuple as usize] = open;
                self.gates.opened.insert(open, (relation, tuple));
                self.due.push(open);
                Ok(open)
            }
            Some(&UNKNOWN) => {
                self.depth += 1;
                let literal = self.definition(relation, tuple)?;
                self.depth -= 1;
                self.gates.literals[relation][tuple as usize] = literal;
                Ok(literal)
            }
            Some(&literal) => Ok(literal),
        }
    }

    /// Defines all open gates.
    pub(crate) fn finish(mut self) -> Result<Gates, RuleError> {
        while let Some(open) = self.due.pop() {
            let (relation, tuple) = self.gates.opened[&open];
            let definition = self.definition(relation, tuple)?;
            self.gates.builder.close(open, definition);
        }
        Ok(self.gates)
    }

    /// Checks the number of gate inputs.
    fn check_inputs(&self, rule: &Rule) -> Result<(), RuleError> {
        if self.gates.builder.size() <= INPUTS {
            return Ok(());
        }
        let what = format!("the rules have more than {INPUTS} cases; this one was being worked on");
        Err(RuleError::new(rule.place, what))
    }

    /// Computes the definition of a tuple.
    fn definition(&mut self, relation: usize, tuple: u32) -> Result<Literal, RuleError> {
        let mut bodies = Vec::new();
        let (relations, rules) = (self.relations, self.rules);
        let heads =
            self.heads[relation].get_or_insert_with(|| Rc::new(Heads::new(&relations[relation], rules)));
        let heads = heads.clone();
        let head: SmallVec<[Term; 8]> = SmallVec::from_slice(self.tables[table_of(relation)].tuple(tuple));
        let fitting: SmallVec<[usize; 8]> = heads.fitting(self.terms, &head).collect();
        for number in fitting {
            let rule = &rules[number];
            self.budget.spend(rule, 1 + (head.len() + rule.variables) / 16)?;
            let mut binding: SmallVec<[Term; 32]> = SmallVec::from_elem(0, rule.variables);
            let mut bound = vec![false; rule.variables];
            let fits = rule
                .head
                .args
                .iter()
                .zip(&head)
                .all(|(pattern, &term)| fit(self.terms, pattern, term, &mut binding, &mut bound));
            if !fits {
                continue;
            }
            // A rule can be requested again while it is being evaluated, by a relation that it depends on.
            let mut plan = match self.plans[number].take() {
                Some(plan) => plan,
                None => {
                    let open: Vec<usize> = (0..rule.body.len()).collect();
                    self.split(rule, &open, &bound)?
                }
            };
            let mut factors = Vec::new();
            let holds = self.factors(rule, &mut plan.fixed, &mut binding, &mut factors)?
                && self.factors(rule, &mut plan.changing, &mut binding, &mut factors)?;
            self.plans[number] = Some(plan);
            self.budget.spend(rule, factors.len() / 16)?;
            if holds {
                bodies.push(self.gates.builder.all(factors));
                self.check_inputs(rule)?;
            }
        }
        Ok(self.any(bodies))
    }

    /// OR of literals. Each role makes exactly one move per step: if most of its moves are listed, the negated AND of
    /// the others is shorter.
    fn any(&mut self, mut list: Vec<Literal>) -> Literal {
        list.sort_unstable();
        list.dedup();
        for &(begin, end) in &self.moves {
            let is_move = |literal: &Literal| (begin..end).contains(literal) && literal.is_multiple_of(2);
            let all = (end - begin) as usize / 2;
            let listed = list.iter().filter(|literal| is_move(literal)).count();
            if listed == 0 || listed * 2 <= all {
                continue;
            }
            if listed == all {
                return ALWAYS;
            }
            let others: Vec<Literal> =
                (begin..end).step_by(2).filter(|move_| list.binary_search(move_).is_err()).collect();
            list.retain(|literal| !is_move(literal));
            let others = self.gates.builder.any(others);
            list.push(others ^ 1);
            list.sort_unstable();
        }
        self.gates.builder.any(list)
    }

    /// The condition with the fewest tuples.
    fn cheapest(&mut self, rule: &Rule, open: &[usize], bound: &[bool]) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for &i in open {
            let Condition::Holds(atom) = &rule.body[i] else { continue };
            let table = table_of(atom.relation);
            let cost = Step::new(atom, table, &mut self.tables[table], self.terms, bound).matches;
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((i, cost));
            }
        }
        best.map(|(i, _)| i)
    }

    /// Splits conditions into checks of bound variables and parts without common variables.
    fn split(&mut self, rule: &Rule, open: &[usize], bound: &[bool]) -> Result<Product, RuleError> {
        let mut product = Product::default();
        let free = |i: usize| {
            let mut free = Vec::new();
            rule.body[i].variables(&mut |v| {
                if !bound[v] {
                    free.push(v);
                }
            });
            free
        };
        let relations = self.relations;
        let changes = |i: usize| match &rule.body[i] {
            Condition::Holds(atom) | Condition::Fails(atom) => {
                relations[atom.relation].changes || atom.relation <= LEGAL
            }
            Condition::Differ(..) => false,
        };
        // Conditions that share free variables belong to the same part.
        let mut part: Vec<usize> = (0..rule.variables).collect();
        for &i in open.iter() {
            let free = free(i);
            if let Some(&least) = free.iter().map(|&v| &part[v]).min() {
                let joined: Vec<usize> = free.iter().map(|&v| part[v]).collect();
                part.iter_mut().filter(|part| joined.contains(part)).for_each(|part| *part = least);
            }
        }
        let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
        for &i in open.iter() {
            match free(i).first().map(|&v| part[v]) {
                None => {
                    let factors = if changes(i) { &mut product.changing } else { &mut product.fixed };
                    factors.checks.push(i);
                }
                Some(number) => match found.iter_mut().find(|(known, _)| *known == number) {
                    Some((_, conditions)) => conditions.push(i),
                    None => found.push((number, vec![i])),
                },
            }
        }
        for (_, conditions) in found {
            let changing = conditions.iter().any(|&i| changes(i));
            let part = self.part(rule, conditions, bound)?;
            let factors = if changing { &mut product.changing } else { &mut product.fixed };
            factors.parts.extend(part);
        }
        Ok(product)
    }

    fn part(
        &mut self,
        rule: &Rule,
        mut open: Vec<usize>,
        bound: &[bool],
    ) -> Result<Option<SubSum>, RuleError> {
        self.budget.spend(rule, open.len())?;
        let Some(chosen) = self.cheapest(rule, &open, bound) else { return Ok(None) };
        let mut on = Vec::new();
        for &i in &open {
            rule.body[i].variables(&mut |v| {
                if bound[v] {
                    on.push(v);
                }
            });
        }
        on.sort_unstable();
        on.dedup();
        open.retain(|&i| i != chosen);
        let Condition::Holds(atom) = &rule.body[chosen] else { return Ok(None) };
        let (relation, table) = (atom.relation, table_of(atom.relation));
        let step = Step::new(atom, table, &mut self.tables[table], self.terms, bound);
        self.budget.refresh(rule, &step, self.tables, self.terms)?;
        let mut bound = bound.to_vec();
        let before = bound.iter().filter(|bound| **bound).count();
        step.binds.iter().for_each(|(_, v)| bound[*v] = true);
        let product = self.split(rule, &open, &bound)?;
        let known = (on.len() < before).then(|| Memo::new(on.len()));
        let checks = product.fixed.checks.iter().chain(&product.changing.checks);
        let size = checks.map(|&check| rule.body[check].size()).sum::<usize>();
        let weight = 1 + (step.size() + on.len() + size) / 16;
        Ok(Some(SubSum { on, sum: Box::new(Sum { step, relation, product }), known, weight }))
    }

    /// Binds a tuple of a sum and collects its factors. Returns whether it can hold.
    fn take(
        &mut self,
        rule: &Rule,
        sum: &mut Sum,
        number: u32,
        binding: &mut [Term],
        factors: &mut Vec<Literal>,
    ) -> Result<bool, RuleError> {
        if !sum.step.bind(&self.tables[sum.step.table], self.terms, number, binding) {
            return Ok(false);
        }
        if !self.factors(rule, &mut sum.product.fixed, binding, factors)? {
            return Ok(false);
        }
        let literal = self.literal(sum.relation, number)?;
        if literal == FALSE {
            return Ok(false);
        }
        factors.push(literal);
        self.factors(rule, &mut sum.product.changing, binding, factors)
    }

    /// Adds conditions to the factors. Returns whether they can hold.
    fn factors(
        &mut self,
        rule: &Rule,
        product: &mut Factors,
        binding: &mut [Term],
        factors: &mut Vec<Literal>,
    ) -> Result<bool, RuleError> {
        for &check in &product.checks {
            let literal = match &rule.body[check] {
                Condition::Differ(left, right) => {
                    let (left, right) =
                        (known_term(self.terms, left, binding), known_term(self.terms, right, binding));
                    if left == right { FALSE } else { ALWAYS }
                }
                Condition::Holds(atom) | Condition::Fails(atom) => {
                    let tuple: SmallVec<[Term; 8]> =
                        atom.args.iter().map(|arg| known_term(self.terms, arg, binding)).collect();
                    let found = self.tables[table_of(atom.relation)].find(&tuple);
                    let holds = match found {
                        Some(number) => self.literal(atom.relation, number)?,
                        None => FALSE,
                    };
                    holds ^ u32::from(matches!(&rule.body[check], Condition::Fails(_)))
                }
            };
            if literal == FALSE {
                return Ok(false);
            }
            factors.push(literal);
        }
        for part in &mut product.parts {
            let literal = self.sum(rule, part, binding)?;
            if literal == FALSE {
                return Ok(false);
            }
            factors.push(literal);
        }
        Ok(true)
    }

    fn sum(&mut self, rule: &Rule, part: &mut SubSum, binding: &mut [Term]) -> Result<Literal, RuleError> {
        let key: SmallVec<[Term; 8]> = match &part.known {
            Some(_) => part.on.iter().map(|&v| binding[v]).collect(),
            None => SmallVec::new(),
        };
        if let Some(literal) = part.known.as_ref().and_then(|known| known.get(&key)) {
            return Ok(literal);
        }
        let sum = &mut *part.sum;
        let mut any = Vec::new();
        let mut cursor = sum.step.begin(&self.tables[sum.step.table], self.terms, binding);
        while let Some(number) = sum.step.advance(&self.tables[sum.step.table], &mut cursor) {
            self.budget.spend(rule, part.weight)?;
            self.budget.gates = self.kept + GATE * self.gates.builder.size();
            self.budget.check(rule, self.terms)?;
            let mut factors = Vec::new();
            if self.take(rule, sum, number, binding, &mut factors)? {
                let literal = self.gates.builder.all(factors);
                if literal == ALWAYS {
                    any = vec![ALWAYS];
                    break;
                }
                any.push(literal);
            }
        }
        let literal = self.any(any);
        self.check_inputs(rule)?;
        if let Some(known) = &mut part.known
            && self.kept < KEPT
        {
            self.kept += known.entry();
            known.keep(&key, literal);
        }
        Ok(literal)
    }
}
