//! What can ever hold and what can ever be legal: the least fixpoint of the rules without their negative conditions.
//!
//! Rules are joined over what was found last (semi-naive evaluation). `init`, `next` and `true` share a table, and so do `legal` and
//! `does`: what is found for one of them can hold for the others.

use super::program::{Condition, DOES, INIT, LEGAL, NEXT, Program, ROLE, Relation, Rule, TRUE};
use super::tables::{Cursor, Step, Table, known_term};
use super::terms::{Term, Terms};
use crate::error::{Place, RuleError};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Most memory of all tuples in bytes, and most terms.
const BYTES: usize = 1 << 29;
const TERMS: usize = 8_000_000;
/// Most tuples that the search may look at.
const WORK: u64 = 80_000_000;

/// Most results that are kept of a step.
const SEEN: usize = 1 << 20;

/// The table of a relation.
pub(crate) fn table_of(relation: usize) -> usize {
    match relation {
        INIT | NEXT => TRUE,
        LEGAL => DOES,
        other => other,
    }
}

/// Work that was done, and how much may be.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) work: u64,
    most: u64,
    /// Bytes of all tuples before the rule that is being joined.
    kept: usize,
}

impl Budget {
    pub(crate) fn new(most: u64) -> Self {
        Self { work: 0, most, kept: 0 }
    }

    /// Counts a step of work for a rule.
    #[inline]
    pub(crate) fn spend(&mut self, rule: &Rule) -> Result<(), RuleError> {
        self.work += 1;
        if self.work <= self.most {
            return Ok(());
        }
        let what = format!(
            "this rule has too many cases: more than {} combinations were tried in all; bind its variables by conditions \
             with few tuples",
            self.most
        );
        Err(RuleError::new(rule.place, what))
    }
}

/// A test of what is bound.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Differ(usize),
    /// A negated condition on a relation that never changes.
    Fails(usize),
}

/// The order in which a rule is joined.
struct Plan {
    /// Tests without variables.
    first: Vec<Test>,
    steps: Vec<(Step, Vec<Test>)>,
    /// Before each step, the bound variables that matter from there on, if there are others.
    needed: Vec<Option<Vec<usize>>>,
    /// Number of steps that bind the head.
    cut: usize,
}

/// The tables of all relations, when nothing new follows.
pub(crate) fn reach(program: &mut Program) -> Result<Vec<Table>, RuleError> {
    let mut tables: Vec<Table> =
        program.relations.iter().map(|relation| Table::new(relation.arity)).collect();
    let is_last = |program: &Program, relation: usize| {
        program.relations[relation].changes || matches!(relation, INIT | NEXT | LEGAL)
    };
    for &role in &program.roles {
        tables[ROLE].add(&[role]);
    }
    let mut budget = Budget::new(WORK);
    let late = |group: &Vec<usize>| group.iter().any(|&relation| is_last(program, relation));
    let order: Vec<(Vec<usize>, bool)> =
        program.order.iter().map(|(group, _)| (group.clone(), late(group))).collect();
    let mut last = Vec::new();
    let Program { terms, relations, rules, .. } = program;
    for (group, is_late) in order {
        let group =
            group.iter().flat_map(|&relation| relations[relation].rules.iter().map(|&rule| &rules[rule]));
        match is_late {
            true => last.extend(group),
            false => fixpoint(terms, relations, &group.collect::<Vec<_>>(), &mut tables, &mut budget)?,
        }
    }
    fixpoint(terms, relations, &last, &mut tables, &mut budget)?;
    Ok(tables)
}

/// Where the rules begin that can never apply, in no case of their `or`.
pub(crate) fn fires(program: &mut Program, tables: &[Table]) -> Vec<Place> {
    let Program { terms, relations, rules, .. } = program;
    let mut tables = tables.to_vec();
    let mut budget = Budget::new(WORK);
    let (mut never, mut once): (Vec<Place>, Vec<Place>) = (Vec::new(), Vec::new());
    for rule in rules.iter() {
        // As if nothing of the head mattered: one case is enough.
        let mut plan = plan(terms, relations, rule, None, &mut tables);
        plan.cut = 0;
        plan.steps.iter().for_each(|(step, _)| step.refresh(&mut tables, terms));
        let mut join = Join {
            terms,
            rule,
            plan: &plan,
            tables: &tables,
            range: None,
            binding: vec![0; rule.variables],
            found: Table::new(rule.head.args.len()),
            seen: plan.steps.iter().map(|_| FxHashMap::default()).collect(),
            prunes: false,
            budget: &mut budget,
        };
        let tests = plan.first.iter().all(|test| passes(join.terms, join.tables, rule, test, &join.binding));
        match tests.then(|| join.run(0)) {
            Some(Ok(true)) => once.push(rule.place),
            // Of what takes too long nothing is said.
            Some(Err(_)) => return Vec::new(),
            _ => never.push(rule.place),
        }
    }
    never.dedup();
    never.retain(|place| !once.contains(place));
    never
}

/// Applies some rules until nothing new follows.
fn fixpoint(
    terms: &mut Terms,
    relations: &[Relation],
    rules: &[&Rule],
    tables: &mut [Table],
    budget: &mut Budget,
) -> Result<(), RuleError> {
    let mut grows = vec![false; tables.len()];
    for rule in rules {
        grows[table_of(rule.head.relation)] = true;
    }
    let mut done = vec![0_u32; tables.len()];
    let mut plans: Vec<Option<Vec<Plan>>> = rules.iter().map(|_| None).collect();
    let mut planned = 0;
    let mut is_first = true;
    loop {
        let sizes: Vec<u32> = tables.iter().map(|table| table.len() as u32).collect();
        let all = tables.iter().map(Table::len).sum::<usize>();
        if all > planned * 2 {
            plans.iter_mut().for_each(|plan| *plan = None);
            planned = all;
        }
        let mut is_new = false;
        for (&rule, plans) in rules.iter().zip(&mut plans) {
            if is_frame(rule) {
                continue;
            }
            let parts: Vec<usize> = rule
                .body
                .iter()
                .enumerate()
                .filter_map(|(i, condition)| match condition {
                    Condition::Holds(atom) if grows[table_of(atom.relation)] => Some(i),
                    _ => None,
                })
                .collect();
            if !is_first && parts.iter().all(|&i| !has_new(rule, i, &done, &sizes)) {
                continue;
            }
            let starts: Vec<Option<usize>> = match is_first {
                true => vec![None],
                false => parts.iter().map(|&i| Some(i)).collect(),
            };
            if is_first || plans.is_none() {
                *plans =
                    Some(starts.iter().map(|&start| plan(terms, relations, rule, start, tables)).collect());
            }
            for (&start, plan) in starts.iter().zip(plans.iter().flatten()) {
                let range = match start {
                    None => None,
                    Some(i) if has_new(rule, i, &done, &sizes) => {
                        let Condition::Holds(atom) = &rule.body[i] else { continue };
                        let table = table_of(atom.relation);
                        Some((done[table], sizes[table]))
                    }
                    Some(_) => continue,
                };
                plan.steps.iter().for_each(|(step, _)| step.refresh(tables, terms));
                let head = table_of(rule.head.relation);
                let binding = vec![0; rule.variables];
                let found = Table::new(rule.head.args.len());
                budget.kept = tables.iter().map(Table::bytes).sum();
                let seen = plan.steps.iter().map(|_| FxHashMap::default()).collect();
                let mut join =
                    Join { terms, rule, plan, tables, range, binding, found, seen, prunes: true, budget };
                if plan.first.iter().all(|test| passes(join.terms, join.tables, rule, test, &join.binding)) {
                    join.run(0)?;
                }
                let found = join.found;
                for tuple in 0..found.len() as u32 {
                    is_new |= tables[head].add(found.tuple(tuple));
                }
            }
        }
        if is_first {
            plans.iter_mut().for_each(|plan| *plan = None);
        }
        is_first = false;
        done = sizes;
        if !is_new && tables.iter().zip(&done).all(|(table, &done)| table.len() as u32 == done) {
            return Ok(());
        }
    }
}

fn has_new(rule: &Rule, i: usize, done: &[u32], sizes: &[u32]) -> bool {
    match &rule.body[i] {
        Condition::Holds(atom) => done[table_of(atom.relation)] < sizes[table_of(atom.relation)],
        _ => false,
    }
}

/// Whether the head can hold anyway, since a condition says so.
fn is_frame(rule: &Rule) -> bool {
    rule.body.iter().any(|condition| match condition {
        Condition::Holds(atom) => {
            table_of(atom.relation) == table_of(rule.head.relation) && atom.args == rule.head.args
        }
        _ => false,
    })
}

/// The tests of a rule that can be made once all of their variables are bound.
pub(crate) fn due(relations: &[Relation], rule: &Rule, bound: &[bool], left: &mut Vec<usize>) -> Vec<Test> {
    let mut tests = Vec::new();
    left.retain(|&i| {
        let mut ready = true;
        rule.body[i].variables(&mut |v| ready &= bound[v]);
        if ready {
            match &rule.body[i] {
                Condition::Differ(..) => tests.push(Test::Differ(i)),
                Condition::Fails(atom) if !relations[atom.relation].changes && atom.relation != LEGAL => {
                    tests.push(Test::Fails(i));
                }
                _ => {}
            }
        }
        !ready
    });
    tests
}

/// Whether a test holds.
pub(crate) fn passes(
    terms: &mut Terms,
    tables: &[Table],
    rule: &Rule,
    test: &Test,
    binding: &[Term],
) -> bool {
    let mut term = |pattern| known_term(terms, pattern, binding);
    match test {
        Test::Differ(i) => match &rule.body[*i] {
            Condition::Differ(left, right) => term(left) != term(right),
            _ => true,
        },
        Test::Fails(i) => match &rule.body[*i] {
            Condition::Fails(atom) => {
                let tuple: Vec<Term> = atom.args.iter().map(term).collect();
                tables[table_of(atom.relation)].find(&tuple).is_none()
            }
            _ => true,
        },
    }
}

/// The best order of the positive conditions, beginning with one that has new tuples if there is one.
fn plan(
    terms: &Terms,
    relations: &[Relation],
    rule: &Rule,
    start: Option<usize>,
    tables: &mut [Table],
) -> Plan {
    let mut bound = vec![false; rule.variables];
    let mut open: Vec<usize> = Vec::new();
    let mut left: Vec<usize> = Vec::new();
    for (i, condition) in rule.body.iter().enumerate() {
        match condition {
            Condition::Holds(_) => open.push(i),
            _ => left.push(i),
        }
    }
    let is_head_bound = |bound: &[bool]| rule.head.args.iter().all(|arg| arg.is_bound(bound));
    let first = due(relations, rule, &bound, &mut left);
    let mut plan = Plan {
        first,
        steps: Vec::new(),
        needed: Vec::new(),
        cut: if is_head_bound(&bound) { 0 } else { usize::MAX },
    };
    let mut next = start;
    let mut order = Vec::new();
    while !open.is_empty() {
        let chosen = match next.take() {
            Some(i) => i,
            None => {
                let cost = |&i: &usize, tables: &mut [Table]| match &rule.body[i] {
                    Condition::Holds(atom) => {
                        let table = table_of(atom.relation);
                        let step = Step::new(atom, table, &mut tables[table], terms, &bound);
                        step.matches
                    }
                    _ => f64::MAX,
                };
                let costs: Vec<f64> = open.iter().map(|i| cost(i, tables)).collect();
                let best = (0..open.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or_default();
                open[best]
            }
        };
        open.retain(|&i| i != chosen);
        let Condition::Holds(atom) = &rule.body[chosen] else { continue };
        let table = table_of(atom.relation);
        let step = Step::new(atom, table, &mut tables[table], terms, &bound);
        step.binds.iter().for_each(|(_, v)| bound[*v] = true);
        let tests = due(relations, rule, &bound, &mut left);
        order.push(chosen);
        plan.steps.push((step, tests));
        if plan.cut == usize::MAX && is_head_bound(&bound) {
            plan.cut = plan.steps.len();
        }
    }
    // From the last step back: a variable matters if it stands in the head, in a later step or in a later test.
    let mut matters = vec![false; rule.variables];
    rule.head.args.iter().for_each(|arg| arg.variables(&mut |v| matters[v] = true));
    let mut needed = Vec::new();
    for (at, &i) in order.iter().enumerate().rev() {
        let (step, tests) = &plan.steps[at];
        for test in tests {
            let (Test::Differ(i) | Test::Fails(i)) = test;
            rule.body[*i].variables(&mut |v| matters[v] = true);
        }
        rule.body[i].variables(&mut |v| matters[v] = true);
        step.binds.iter().for_each(|(_, v)| bound[*v] = false);
        let all = bound.iter().filter(|bound| **bound).count();
        let list: Vec<usize> = (0..rule.variables).filter(|&v| matters[v] && bound[v]).collect();
        needed.push((list.len() < all && at > 0).then_some(list));
    }
    needed.reverse();
    plan.needed = needed;
    plan
}

struct Join<'a> {
    terms: &'a mut Terms,
    rule: &'a Rule,
    plan: &'a Plan,
    tables: &'a [Table],
    /// The tuples of the first step, if only new ones count.
    range: Option<(u32, u32)>,
    binding: Vec<Term>,
    /// Heads.
    found: Table,
    /// What came of each step with the variables that matter.
    seen: Vec<FxHashMap<SmallVec<[Term; 4]>, bool>>,
    /// Whether heads that are known already are passed over.
    prunes: bool,
    budget: &'a mut Budget,
}

impl Join<'_> {
    /// Goes on with a step. Returns whether the head was found with what is bound.
    fn run(&mut self, depth: usize) -> Result<bool, RuleError> {
        let plan = self.plan;
        let Some((step, tests)) = plan.steps.get(depth) else {
            let head = self.head();
            self.found.add(&head);
            if self.found.bytes() + self.budget.kept > BYTES || self.terms.len() > TERMS {
                let what = "too much can hold: this rule goes beyond half a gigabyte of tuples";
                return Err(RuleError::new(self.rule.place, what));
            }
            if self.terms.is_too_large() {
                let what =
                    "this rule makes terms that are nested more than 100 deep or longer than 10,000 letters";
                return Err(RuleError::new(self.rule.place, what));
            }
            return Ok(true);
        };
        if self.prunes && depth == plan.cut && self.is_known() {
            return Ok(true);
        }
        let key: Option<SmallVec<[Term; 4]>> =
            plan.needed[depth].as_ref().map(|needed| needed.iter().map(|&v| self.binding[v]).collect());
        if let Some(&known) = key.as_ref().and_then(|key| self.seen[depth].get(key)) {
            return Ok(known);
        }
        let table = &self.tables[step.table];
        let range = self.range.filter(|_| depth == 0);
        let mut cursor = match range {
            Some((begin, _)) => Cursor::All(begin),
            None => step.begin(table, self.terms, &self.binding),
        };
        let mut any = false;
        while let Some(number) = step.advance(table, &mut cursor) {
            self.budget.spend(self.rule)?;
            if let Some((_, end)) = range {
                if number >= end {
                    break;
                }
                if !step.fits(table, self.terms, number, &self.binding) {
                    continue;
                }
            }
            if !step.bind(table, self.terms, number, &mut self.binding) {
                continue;
            }
            if !tests.iter().all(|test| passes(self.terms, self.tables, self.rule, test, &self.binding)) {
                continue;
            }
            if self.run(depth + 1)? {
                any = true;
                if depth >= plan.cut {
                    break;
                }
            }
        }
        if let Some(key) = key
            && self.seen.iter().map(FxHashMap::len).sum::<usize>() < SEEN
        {
            self.seen[depth].insert(key, any);
        }
        Ok(any)
    }

    fn head(&mut self) -> Vec<Term> {
        let args = &self.rule.head.args;
        args.iter().map(|arg| known_term(self.terms, arg, &self.binding)).collect()
    }

    fn is_known(&mut self) -> bool {
        let head = self.head();
        self.tables[table_of(self.rule.head.relation)].find(&head).is_some()
            || self.found.find(&head).is_some()
    }
}
