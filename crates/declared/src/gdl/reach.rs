//! Reachable facts and moves: the least fixpoint of the rules without their negative conditions.
//!
//! Rules are evaluated semi-naively, joining only with newly found tuples. `init`, `next` and `true` share a table, and
//! so do `legal` and `does`: a tuple of one can hold for the others.

use super::program::{Condition, DOES, INIT, LEGAL, NEXT, Pattern, Program, ROLE, Relation, Rule, TRUE};
use super::tables::{Cursor, IndexedTuples, Memo, Step, known_term};
use super::terms::{Term, Terms};
use crate::error::{Place, RuleError};
use adept_ground::limits::{Claim, Short, size};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory limit of all tuples, their indexes and all terms, in bytes.
const BYTES: usize = 1 << 30;
/// Work limit of all joins: see [`Budget`].
pub(crate) const WORK: u64 = 100_000_000;
/// Bytes that are reserved at a time.
const PART: usize = 1 << 25;
/// Work between two checks of the stop flag.
const LOOK: u64 = 1 << 14;
/// Work limit of the search for rules that never apply.
const IDLE: u64 = 2_000_000;

/// Memory limit of memoised results while a rule is joined, in bytes.
const SEEN: usize = 1 << 26;

/// The table of a relation.
pub(crate) fn table_of(relation: usize) -> usize {
    match relation {
        INIT | NEXT => TRUE,
        LEGAL => DOES,
        other => other,
    }
}

/// Work and memory spent, with limits. Each inspected tuple counts 1, plus 1 for every sixteen terms that are compared,
/// bound or built with it.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) work: u64,
    most: u64,
    /// Bytes of all tables.
    pub(crate) bytes: usize,
    /// Bytes of gates and of memoised results.
    pub(crate) gates: usize,
    /// Stops the work once it is set.
    pub(crate) stop: Arc<AtomicBool>,
    /// Work at which the flag is checked next.
    look: u64,
    /// Memory reservations, in units of [`PART`].
    claims: Vec<Claim>,
}

impl Budget {
    pub(crate) fn new(most: u64, stop: &Arc<AtomicBool>) -> Self {
        Self { work: 0, most, bytes: 0, gates: 0, stop: stop.clone(), look: 0, claims: Vec::new() }
    }

    /// Counts work for a rule.
    #[inline]
    pub(crate) fn spend(&mut self, rule: &Rule, work: usize) -> Result<(), RuleError> {
        self.work += work as u64;
        if self.work >= self.look {
            self.look = self.work + LOOK;
            check_stop(&self.stop, rule.place)?;
        }
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

    /// Checks the memory of tuples and terms.
    #[inline]
    pub(crate) fn check(&mut self, rule: &Rule, terms: &Terms) -> Result<(), RuleError> {
        let bytes = self.bytes + terms.bytes();
        if bytes > BYTES {
            let what = "too much can hold: this rule goes beyond a gigabyte of tuples";
            return Err(RuleError::new(rule.place, what));
        }
        while bytes + self.gates > self.claims.len() * PART {
            self.claims.push(Claim::new(PART as u64).map_err(|short| too_little(short, rule.place))?);
        }
        Ok(())
    }

    /// Brings the index of a step up to date.
    pub(crate) fn refresh(
        &mut self,
        rule: &Rule,
        step: &Step,
        tables: &mut [IndexedTuples],
        terms: &Terms,
    ) -> Result<(), RuleError> {
        let before = tables[step.table].bytes();
        let added = step.refresh(tables, terms);
        if added == 0 {
            return Ok(());
        }
        self.bytes = self.bytes + tables[step.table].bytes() - before;
        self.spend(rule, added)?;
        self.check(rule, terms)
    }
}

/// Fails if the caller has requested a stop.
pub(crate) fn check_stop(stop: &AtomicBool, place: Place) -> Result<(), RuleError> {
    match stop.load(Ordering::Relaxed) {
        true => Err(RuleError::new(place, "stopped before the rules had been read")),
        false => Ok(()),
    }
}

/// The error of insufficient memory, given everything that this process reads and holds at the same time.
pub(crate) fn too_little(Short { needed, free }: Short, place: Place) -> RuleError {
    let what = format!(
        "there is too little memory to read these rules: {} are needed with all else that is open here, and {} are free; end other \
         matches or programs first",
        size(needed),
        size(free)
    );
    RuleError::new(place, what)
}

/// A test of bound variables.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Differ(usize),
    /// A negated condition on a static relation.
    Fails(usize),
}

impl Test {
    /// Number of terms that are compared or built.
    fn size(&self, rule: &Rule) -> usize {
        let (Self::Differ(i) | Self::Fails(i)) = self;
        rule.body[*i].size()
    }
}

/// The join order of a rule.
struct Plan {
    /// Tests without variables.
    first: Vec<Test>,
    steps: Vec<(Step, Vec<Test>)>,
    /// Before each step, the bound variables that later steps need, if there are others.
    needed: Vec<Option<Vec<usize>>>,
    /// Number of steps that bind the head.
    cut: usize,
    /// Work counted per tuple of each step.
    weights: Vec<usize>,
}

/// The reachable tuples.
pub(crate) struct Reached {
    pub(crate) tables: Vec<IndexedTuples>,
    /// Rules that applied.
    applied: Vec<bool>,
    pub(crate) budget: Budget,
}

/// Computes the tables of all relations at the fixpoint.
pub(crate) fn reach(program: &mut Program, stop: &Arc<AtomicBool>) -> Result<Reached, RuleError> {
    let mut tables: Vec<IndexedTuples> =
        program.relations.iter().map(|relation| IndexedTuples::new(relation.arity)).collect();
    let is_last = |program: &Program, relation: usize| {
        program.relations[relation].changes || matches!(relation, INIT | NEXT | LEGAL)
    };
    for &role in &program.roles {
        tables[ROLE].add(&[role]);
    }
    let late = |group: &Vec<usize>| group.iter().any(|&relation| is_last(program, relation));
    let order: Vec<(Vec<usize>, bool)> =
        program.order.iter().map(|(group, _)| (group.clone(), late(group))).collect();
    let mut last = Vec::new();
    let Program { terms, relations, rules, .. } = program;
    // Notes omit rules that are left out.
    let applied = rules.iter().map(|rule| relations[rule.head.relation].rules.is_empty()).collect();
    let mut reached = Reached { tables, applied, budget: Budget::new(WORK, stop) };
    let mut grown = Progress {
        done: vec![0; relations.len()],
        sizes: vec![0; relations.len()],
        readers: vec![Vec::new(); relations.len()],
    };
    for (group, is_late) in order {
        let group = group.iter().flat_map(|&relation| relations[relation].rules.iter().copied());
        match is_late {
            true => last.extend(group),
            false => fixpoint(terms, relations, rules, &group.collect::<Vec<_>>(), &mut reached, &mut grown)?,
        }
    }
    fixpoint(terms, relations, rules, &last, &mut reached, &mut grown)?;
    Ok(reached)
}

/// Places of rules that can never apply, in no case of their `or`.
pub(crate) fn idle(program: &mut Program, reached: &mut Reached) -> Result<Vec<Place>, RuleError> {
    let Program { terms, relations, rules, .. } = program;
    let Reached { tables, applied, budget } = reached;
    let mut own = Budget { bytes: budget.bytes, ..Budget::new(IDLE, &budget.stop) };
    for (number, rule) in rules.iter().enumerate() {
        if applied[number] {
            continue;
        }
        // Ignores the head: one case is enough.
        let found = plan(terms, relations, rule, None, tables, &mut own).and_then(|mut plan| {
            plan.cut = 0;
            join(terms, rule, &plan, tables, None, false, &mut own)
        });
        match found {
            Ok(found) => applied[number] = found,
            // Rules that take too long are not reported.
            Err(_) => {
                (budget.bytes, budget.work) = (own.bytes, budget.work + own.work);
                budget.check(rule, terms)?;
                return Ok(Vec::new());
            }
        }
    }
    (budget.bytes, budget.work) = (own.bytes, budget.work + own.work);
    let places = |wanted: bool| {
        rules
            .iter()
            .zip(&*applied)
            .filter(move |(_, applied)| **applied == wanted)
            .map(|(rule, _)| rule.place)
    };
    let once: FxHashSet<Place> = places(true).collect();
    let mut never: Vec<Place> = places(false).filter(|place| !once.contains(place)).collect();
    never.sort_by_key(|place| (place.line, place.column));
    never.dedup();
    Ok(never)
}

/// Progress of the fixpoint.
struct Progress {
    /// Number of tuples of each table joined before this round, and before the next.
    done: Vec<u32>,
    sizes: Vec<u32>,
    /// Positions of the rules that read each table, among the applied ones.
    readers: Vec<Vec<usize>>,
}

impl Progress {
    fn has_new(&self, table: usize) -> bool {
        self.done[table] < self.sizes[table]
    }
}

/// Callback with the variable bindings of a rule. Returns whether to continue.
pub(crate) type Visit<'a> = dyn FnMut(&mut Terms, &[IndexedTuples], &[Term]) -> bool + 'a;

/// Calls `visit` with each assignment of variables for which the conditions of a rule can hold. Inspects at most `left`
/// tuples and decrements it. Returns whether all assignments were visited.
pub(crate) fn bindings(
    (terms, relations): (&mut Terms, &[Relation]),
    rule: &Rule,
    tables: &mut [IndexedTuples],
    left: &mut u64,
    visit: &mut Visit<'_>,
) -> bool {
    let mut budget = Budget::new(*left, &Arc::default());
    let Ok(plan) = plan(terms, relations, rule, None, tables, &mut budget) else { return false };
    for (step, _) in &plan.steps {
        step.refresh(tables, terms);
    }
    let binding = vec![0; rule.variables];
    let mut all = Bindings { terms, rule, plan: &plan, tables, binding, left, visit };
    !all.plan.first.iter().all(|test| passes(all.terms, all.tables, rule, test, &all.binding)) || all.run(0)
}

struct Bindings<'a, 'v> {
    terms: &'a mut Terms,
    rule: &'a Rule,
    plan: &'a Plan,
    tables: &'a [IndexedTuples],
    binding: Vec<Term>,
    /// Tuples that may still be inspected.
    left: &'a mut u64,
    visit: &'a mut Visit<'v>,
}

impl Bindings<'_, '_> {
    fn run(&mut self, depth: usize) -> bool {
        let plan = self.plan;
        let Some((step, tests)) = plan.steps.get(depth) else {
            return (self.visit)(self.terms, self.tables, &self.binding);
        };
        let table = &self.tables[step.table];
        let mut cursor = step.begin(table, self.terms, &self.binding);
        while let Some(number) = step.advance(table, &mut cursor) {
            if *self.left == 0 {
                return false;
            }
            *self.left -= 1;
            let fits = step.bind(table, self.terms, number, &mut self.binding)
                && tests.iter().all(|test| passes(self.terms, self.tables, self.rule, test, &self.binding));
            if fits && !self.run(depth + 1) {
                return false;
            }
        }
        true
    }
}

/// Applies some rules until nothing new follows.
fn fixpoint(
    terms: &mut Terms,
    relations: &[Relation],
    all: &[Rule],
    rules: &[usize],
    reached: &mut Reached,
    grown: &mut Progress,
) -> Result<(), RuleError> {
    let Reached { tables, applied, budget } = reached;
    let rules: Vec<usize> = rules.iter().copied().filter(|&number| !is_frame(&all[number])).collect();
    let mut heads: Vec<usize> = rules.iter().map(|&number| table_of(all[number].head.relation)).collect();
    heads.sort_unstable();
    heads.dedup();
    // For each rule, its conditions on growing tables.
    let parts: Vec<Vec<(usize, usize)>> = rules
        .iter()
        .map(|&number| {
            let body = all[number].body.iter().enumerate();
            let tables = body.filter_map(|(i, condition)| match condition {
                Condition::Holds(atom) => Some((i, table_of(atom.relation))),
                _ => None,
            });
            tables.filter(|(_, table)| heads.binary_search(table).is_ok()).collect()
        })
        .collect();
    for &head in &heads {
        grown.readers[head].clear();
        grown.sizes[head] = tables[head].len() as u32;
    }
    for (at, parts) in parts.iter().enumerate() {
        parts.iter().for_each(|&(_, table)| grown.readers[table].push(at));
    }
    let mut plans: Vec<Option<Vec<Plan>>> = rules.iter().map(|_| None).collect();
    let mut planned = 0;
    let mut is_first = true;
    let mut round: Vec<usize> = (0..rules.len()).collect();
    loop {
        let size: usize = heads.iter().map(|&head| tables[head].len()).sum();
        if size > planned * 2 {
            plans.iter_mut().for_each(|plan| *plan = None);
            planned = size;
        }
        for &at in &round {
            let (number, parts) = (rules[at], &parts[at]);
            let rule = &all[number];
            let starts: Vec<Option<usize>> = match is_first {
                true => vec![None],
                false => parts.iter().map(|&(i, _)| Some(i)).collect(),
            };
            let known = match plans[at].take() {
                Some(known) => known,
                None => {
                    let plans =
                        starts.iter().map(|&start| plan(terms, relations, rule, start, tables, budget));
                    plans.collect::<Result<_, _>>()?
                }
            };
            for (n, plan) in known.iter().enumerate() {
                let range = match is_first {
                    true => None,
                    false if grown.has_new(parts[n].1) => {
                        let table = parts[n].1;
                        Some((grown.done[table], grown.sizes[table]))
                    }
                    false => continue,
                };
                applied[number] |= join(terms, rule, plan, tables, range, true, budget)?;
            }
            plans[at] = (!is_first).then_some(known);
        }
        round.clear();
        for &head in &heads {
            (grown.done[head], grown.sizes[head]) = (grown.sizes[head], tables[head].len() as u32);
            if grown.has_new(head) {
                round.extend(&grown.readers[head]);
            }
        }
        is_first = false;
        if round.is_empty() {
            return Ok(());
        }
        round.sort_unstable();
        round.dedup();
    }
}

/// Whether the head is implied by one of the conditions.
fn is_frame(rule: &Rule) -> bool {
    rule.body.iter().any(|condition| match condition {
        Condition::Holds(atom) => {
            table_of(atom.relation) == table_of(rule.head.relation) && atom.args == rule.head.args
        }
        _ => false,
    })
}

/// The tests of a rule that become possible once these variables are bound.
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
    tables: &[IndexedTuples],
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
                let tuple: SmallVec<[Term; 8]> = atom.args.iter().map(term).collect();
                tables[table_of(atom.relation)].find(&tuple).is_none()
            }
            _ => true,
        },
    }
}

/// The best order of the positive conditions, starting with one that has new tuples, if any.
fn plan(
    terms: &Terms,
    relations: &[Relation],
    rule: &Rule,
    start: Option<usize>,
    tables: &mut [IndexedTuples],
    budget: &mut Budget,
) -> Result<Plan, RuleError> {
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
        weights: Vec::new(),
    };
    let mut next = start;
    let mut order = Vec::new();
    while !open.is_empty() {
        let chosen = match next.take() {
            Some(i) => i,
            None => {
                let cost = |&i: &usize, tables: &mut [IndexedTuples]| match &rule.body[i] {
                    Condition::Holds(atom) => {
                        let table = table_of(atom.relation);
                        let step = Step::new(atom, table, &mut tables[table], terms, &bound);
                        step.matches
                    }
                    _ => f64::MAX,
                };
                budget.spend(rule, open.len())?;
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
    // Backwards from the last step: a variable matters if it occurs in the head, a later step or a later test.
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
    let sizes = |tests: &[Test]| -> usize { tests.iter().map(|test| test.size(rule)).sum() };
    let head: usize = rule.head.args.iter().map(Pattern::size).sum();
    for (at, (step, tests)) in plan.steps.iter().enumerate() {
        let key = plan.needed.get(at + 1).map_or(head, |needed| needed.as_ref().map_or(0, Vec::len));
        plan.weights.push(1 + (step.size() + sizes(tests) + key) / 16);
    }
    Ok(plan)
}

/// Joins a rule and adds its heads to their table. `range` restricts the first step to new tuples. Returns whether the
/// rule applies, unless pruning of known heads hides it.
fn join(
    terms: &mut Terms,
    rule: &Rule,
    plan: &Plan,
    tables: &mut [IndexedTuples],
    range: Option<(u32, u32)>,
    prunes: bool,
    budget: &mut Budget,
) -> Result<bool, RuleError> {
    budget.spend(rule, 1 + plan.steps.len())?;
    for (step, _) in &plan.steps {
        budget.refresh(rule, step, tables, terms)?;
    }
    let seen = plan.needed.iter().map(|needed| Memo::new(needed.as_ref().map_or(0, Vec::len))).collect();
    let binding = vec![0; rule.variables];
    let tests = plan.first.iter().all(|test| passes(terms, tables, rule, test, &binding));
    let mut join =
        Join { terms, rule, plan, tables, range, binding, seen, kept: 0, applies: false, prunes, budget };
    if tests {
        join.run(0)?;
    }
    Ok(join.applies)
}

struct Join<'a> {
    terms: &'a mut Terms,
    rule: &'a Rule,
    plan: &'a Plan,
    tables: &'a mut [IndexedTuples],
    range: Option<(u32, u32)>,
    binding: Vec<Term>,
    /// Results of each step by the variables that matter.
    seen: Vec<Memo>,
    /// Bytes of `seen`.
    kept: usize,
    /// Whether all conditions have held once.
    applies: bool,
    /// Whether known heads are skipped.
    prunes: bool,
    budget: &'a mut Budget,
}

impl Join<'_> {
    /// Runs a step. Returns whether the head was found with the current bindings.
    fn run(&mut self, depth: usize) -> Result<bool, RuleError> {
        let plan = self.plan;
        let Some((step, tests)) = plan.steps.get(depth) else {
            self.applies = true;
            self.add()?;
            return Ok(true);
        };
        if self.prunes && depth == plan.cut && self.is_known() {
            return Ok(true);
        }
        let key: Option<SmallVec<[Term; 8]>> =
            plan.needed[depth].as_ref().map(|needed| needed.iter().map(|&v| self.binding[v]).collect());
        if let Some(known) = key.as_ref().and_then(|key| self.seen[depth].get(key)) {
            return Ok(known != 0);
        }
        let range = self.range.filter(|_| depth == 0);
        let mut cursor = match range {
            Some((begin, end)) => Cursor::All(begin, end),
            None => step.begin(&self.tables[step.table], self.terms, &self.binding),
        };
        let mut any = false;
        while let Some(number) = step.advance(&self.tables[step.table], &mut cursor) {
            self.budget.spend(self.rule, plan.weights[depth])?;
            self.budget.check(self.rule, self.terms)?;
            let table = &self.tables[step.table];
            if range.is_some() && !step.fits(table, self.terms, number, &self.binding) {
                continue;
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
            && self.kept < SEEN
        {
            self.kept += self.seen[depth].entry();
            self.seen[depth].keep(&key, u32::from(any));
        }
        Ok(any)
    }

    fn head(&mut self) -> SmallVec<[Term; 8]> {
        let args = &self.rule.head.args;
        args.iter().map(|arg| known_term(self.terms, arg, &self.binding)).collect()
    }

    /// Adds the head.
    fn add(&mut self) -> Result<(), RuleError> {
        let head = self.head();
        let table = &mut self.tables[table_of(self.rule.head.relation)];
        let before = table.own_bytes();
        if table.add(&head) {
            self.budget.bytes = self.budget.bytes + table.own_bytes() - before;
        }
        if self.terms.is_too_large() {
            let what =
                "this rule makes terms that are nested more than 100 deep or longer than 10,000 letters";
            return Err(RuleError::new(self.rule.place, what));
        }
        self.budget.check(self.rule, self.terms)
    }

    fn is_known(&mut self) -> bool {
        let head = self.head();
        self.tables[table_of(self.rule.head.relation)].find(&head).is_some()
    }
}
