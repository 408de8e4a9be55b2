//! A description in GDL as rules over terms.

use super::kif::{Expression, expressions};
use super::terms::{Symbol, Term, Terms};
use crate::components::components;
use crate::error::{Place, RuleError, unknown};
use rustc_hash::{FxHashMap, FxHashSet};

/// Built-in relations of GDL.
pub(crate) const TRUE: usize = 0;
pub(crate) const DOES: usize = 1;
pub(crate) const INIT: usize = 2;
pub(crate) const NEXT: usize = 3;
pub(crate) const LEGAL: usize = 4;
pub(crate) const GOAL: usize = 5;
pub(crate) const TERMINAL: usize = 6;
pub(crate) const ROLE: usize = 7;
const KNOWN: [(&str, usize); 8] = [
    ("true", 1),
    ("does", 2),
    ("init", 1),
    ("next", 1),
    ("legal", 2),
    ("goal", 2),
    ("terminal", 0),
    ("role", 1),
];

/// Limit on rules, counting each case of an `or`.
const RULES: usize = 1 << 16;
/// Limit on rules that the `or`s of one rule expand to.
const CASES: usize = 1024;
/// Limit on conditions of all rules, counting each case of an `or`.
const CONDITIONS: usize = 1 << 20;
/// Limit on variables, and on conditions, of a rule.
const WIDTH: usize = 256;
/// Limit on arguments of a relation or function.
const ARGUMENTS: usize = 255;
/// Limit on terms visited in unifications.
const EQUATIONS: usize = 1 << 20;
/// Most relations without a rule that are reported.
const NOTES: usize = 50;
/// Most roles.
const ROLES: usize = 64;

/// A term with variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Variable(usize),
    Ground(Term),
    Compound(Symbol, Vec<Pattern>),
}

impl Pattern {
    /// Calls `visit` with each occurrence of a variable.
    pub(crate) fn variables(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Variable(v) => visit(*v),
            Self::Ground(_) => {}
            Self::Compound(_, args) => args.iter().for_each(|arg| arg.variables(visit)),
        }
    }

    /// Number of variables, constants and functions.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Variable(_) | Self::Ground(_) => 1,
            Self::Compound(_, args) => 1 + args.iter().map(Self::size).sum::<usize>(),
        }
    }

    pub(crate) fn is_bound(&self, bound: &[bool]) -> bool {
        let mut all = true;
        self.variables(&mut |v| all &= bound[v]);
        all
    }
}

/// A relation with arguments.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) relation: usize,
    pub(crate) args: Vec<Pattern>,
    pub(crate) place: Place,
}

/// A condition of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Holds(Atom),
    Fails(Atom),
    Differ(Pattern, Pattern),
}

impl Condition {
    /// Number of variables, constants and functions.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Holds(atom) | Self::Fails(atom) => atom.args.iter().map(Pattern::size).sum(),
            Self::Differ(left, right) => left.size() + right.size(),
        }
    }

    pub(crate) fn variables(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Holds(atom) | Self::Fails(atom) => atom.args.iter().for_each(|arg| arg.variables(visit)),
            Self::Differ(left, right) => {
                left.variables(visit);
                right.variables(visit);
            }
        }
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) place: Place,
    pub(crate) head: Atom,
    pub(crate) body: Vec<Condition>,
    pub(crate) variables: usize,
}

/// A relation.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) name: String,
    pub(crate) arity: usize,
    pub(crate) place: Place,
    /// Whether tuples depend on the state or the moves; otherwise the relation is static.
    pub(crate) changes: bool,
    pub(crate) rules: Vec<usize>,
}

/// A description.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) terms: Terms,
    pub(crate) relations: Vec<Relation>,
    pub(crate) rules: Vec<Rule>,
    /// Groups of mutually dependent relations, each after its dependencies. Recursive groups are marked.
    pub(crate) order: Vec<(Vec<usize>, bool)>,
    pub(crate) roles: Vec<Term>,
    /// Names and arities of facts that persist once they hold.
    pub(crate) fixed: FxHashSet<(Symbol, usize)>,
    /// Probable mistakes.
    pub(crate) notes: Vec<String>,
    /// Unused relations with their places.
    pub(crate) unused: Vec<String>,
}

const START: Place = Place { line: 1, column: 1 };

impl Program {
    /// Reads a description.
    pub(crate) fn read(text: &str) -> Result<Self, RuleError> {
        let mut reader = Reader::new();
        for expression in expressions(text)? {
            reader.rule(&expression)?;
        }
        reader.finish()
    }
}

/// Whether a rule for `next` keeps every fact of its kind: `(<= (next (wall ?x ?y)) (true (wall ?x ?y)))`.
fn keeps_all(rule: &Rule) -> bool {
    let [Condition::Holds(kept)] = &rule.body[..] else { return false };
    let is_general = match &rule.head.args[0] {
        Pattern::Compound(_, args) => args
            .iter()
            .enumerate()
            .all(|(at, arg)| matches!(arg, Pattern::Variable(_)) && !args[..at].contains(arg)),
        Pattern::Ground(_) => true,
        Pattern::Variable(_) => false,
    };
    kept.relation == TRUE && is_general && kept.args == rule.head.args
}

struct Reader {
    terms: Terms,
    relations: Vec<Relation>,
    by_name: FxHashMap<(String, usize), usize>,
    rules: Vec<Rule>,
    roles: Vec<Term>,
    /// Invalid rules with their relations: errors unless nothing uses the relation.
    faults: Vec<(usize, RuleError)>,
    conditions: usize,
    /// Terms visited in unifications.
    visited: usize,
}

/// The variables of a rule.
#[derive(Default)]
struct Scope {
    names: Vec<String>,
}

/// A condition, or an equation between two terms.
#[derive(Clone)]
enum Case {
    Is(Condition),
    Equal(Pattern, Pattern),
}

impl Reader {
    fn new() -> Self {
        let mut reader = Self {
            terms: Terms::default(),
            relations: Vec::new(),
            by_name: FxHashMap::default(),
            rules: Vec::new(),
            roles: Vec::new(),
            faults: Vec::new(),
            conditions: 0,
            visited: 0,
        };
        for (name, arity) in KNOWN {
            reader.relation(name, arity, START);
        }
        reader
    }

    fn relation(&mut self, name: &str, arity: usize, place: Place) -> usize {
        *self.by_name.entry((name.into(), arity)).or_insert_with(|| {
            self.relations.push(Relation {
                name: name.into(),
                arity,
                place,
                changes: false,
                rules: Vec::new(),
            });
            self.relations.len() - 1
        })
    }

    fn rule(&mut self, expression: &Expression) -> Result<(), RuleError> {
        let (first, _, rest) = expression.parts()?;
        let place = expression.place();
        let (head, body) = match (first, rest) {
            ("<=", [head, body @ ..]) => (head, body),
            ("<=", []) => return Err(RuleError::new(place, "`<=` without a head")),
            _ => (expression, &[][..]),
        };
        let (name, at, args) = head.parts()?;
        if matches!(name, "true" | "does" | "distinct" | "not" | "or" | "and") {
            return Err(RuleError::new(at, format!("`{name}` cannot be the head of a rule")));
        }
        let mut scope = Scope::default();
        let head = self.atom(head, &mut scope)?;
        if head.relation == ROLE {
            let (true, [Pattern::Ground(role)]) = (body.is_empty(), &head.args[..]) else {
                let what = "a role is one name, without conditions: `(role white)`";
                return Err(RuleError::new(place, what));
            };
            if self.terms.shown(*role) == "random" {
                let what = "the role `random` is chance in GDL-II, where `sees` says what the others learn; adept reads GDL-I, \
                            without chance and hidden information: give the role another name if it is a player";
                return Err(RuleError::new(args[0].place(), what));
            }
            if !self.roles.contains(role) {
                self.roles.push(*role);
            }
        }
        if let (GOAL, [_, Pattern::Ground(value)]) = (head.relation, &head.args[..])
            && !self.terms.number(*value).is_some_and(|value| (0..=100).contains(&value))
        {
            let what = format!(
                "`{}` is not a value of a goal, a whole number from 0 to 100",
                self.terms.shown(*value)
            );
            return Err(RuleError::new(args[1].place(), what));
        }
        let relation = head.relation;
        if let Err(fault) = self.body(place, &head, body, &mut scope) {
            self.faults.push((relation, fault));
        }
        Ok(())
    }

    /// Parses the conditions of a rule.
    fn body(
        &mut self,
        place: Place,
        head: &Atom,
        body: &[Expression],
        scope: &mut Scope,
    ) -> Result<(), RuleError> {
        let mut cases = vec![Vec::new()];
        for condition in body {
            cases = self.both(cases, condition, false, scope)?;
        }
        if self.rules.len() + cases.len() > RULES {
            let what = format!("more than {RULES} rules, each case of an `or` counted");
            return Err(RuleError::new(place, what));
        }
        for case in cases {
            self.case(place, head, case, scope)?;
        }
        Ok(())
    }

    /// Stores a rule after merging variables that are known to be equal.
    fn case(&mut self, place: Place, head: &Atom, case: Vec<Case>, scope: &Scope) -> Result<(), RuleError> {
        let mut same = vec![None; scope.names.len()];
        let mut body = Vec::new();
        for part in case {
            match part {
                Case::Is(condition) => body.push(condition),
                Case::Equal(left, right) => {
                    if !self.unify(&left, &right, &mut same) {
                        return Ok(());
                    }
                }
            }
        }
        let mut head = head.clone();
        if same.iter().any(Option::is_some) {
            let mut replace = |args: &mut Vec<Pattern>| {
                for arg in args {
                    *arg = self.replaced(arg, &same);
                }
            };
            replace(&mut head.args);
            for condition in &mut body {
                match condition {
                    Condition::Holds(atom) | Condition::Fails(atom) => replace(&mut atom.args),
                    Condition::Differ(left, right) => {
                        let mut both = vec![left.clone(), right.clone()];
                        replace(&mut both);
                        (*right, *left) = (both.remove(1), both.remove(0));
                    }
                }
            }
        }
        if self.visited > EQUATIONS {
            let what = "the conditions `not distinct` make terms that are too large";
            return Err(RuleError::new(place, what));
        }
        let mut kept = Vec::new();
        for condition in body {
            if let Condition::Differ(left, right) = &condition {
                match (left, right) {
                    (left, right) if left == right => return Ok(()),
                    (Pattern::Ground(_), Pattern::Ground(_)) => continue,
                    _ => {}
                }
            }
            kept.push(condition);
        }
        self.check_bound(&head, &kept, scope)?;
        self.conditions += kept.len();
        if self.conditions > CONDITIONS || kept.len() > WIDTH || scope.names.len() > WIDTH {
            let what = format!(
                "too many conditions: more than {WIDTH} in a rule, or than {CONDITIONS} in all, each case of an `or` counted"
            );
            return Err(RuleError::new(place, what));
        }
        self.relations[head.relation].rules.push(self.rules.len());
        self.rules.push(Rule { place, head, body: kept, variables: scope.names.len() });
        Ok(())
    }

    /// Checks that each variable occurs in a positive condition that binds it.
    fn check_bound(&self, head: &Atom, body: &[Condition], scope: &Scope) -> Result<(), RuleError> {
        let mut bound = vec![false; scope.names.len()];
        for condition in body {
            if let Condition::Holds(_) = condition {
                condition.variables(&mut |v| bound[v] = true);
            }
        }
        let mut free = None;
        let mut check = |v: usize| free = free.or((!bound[v]).then_some(v));
        head.args.iter().for_each(|arg| arg.variables(&mut check));
        body.iter().for_each(|condition| condition.variables(&mut check));
        free.map_or(Ok(()), |v| {
            let what = format!(
                "`{}` is unbound: it is in no condition without `not` of this rule, or of one case of an `or`",
                scope.names[v]
            );
            Err(RuleError::new(head.place, what))
        })
    }

    /// Unifies two terms. Returns whether that is possible.
    fn unify(&mut self, left: &Pattern, right: &Pattern, same: &mut Vec<Option<Pattern>>) -> bool {
        let (left, right) = (self.replaced(left, same), self.replaced(right, same));
        match (left, right) {
            (left, right) if left == right => true,
            (Pattern::Variable(v), other) | (other, Pattern::Variable(v)) => {
                let mut is_inside = false;
                other.variables(&mut |inner| is_inside |= inner == v);
                if is_inside {
                    return false;
                }
                same[v] = Some(other);
                for u in 0..same.len() {
                    if let Some(pattern) = same[u].clone() {
                        same[u] = Some(self.replaced(&pattern, same));
                    }
                }
                true
            }
            (Pattern::Compound(f, a), Pattern::Compound(g, b)) => {
                f == g && a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.unify(a, b, same))
            }
            (Pattern::Compound(f, a), Pattern::Ground(term))
            | (Pattern::Ground(term), Pattern::Compound(f, a)) => {
                let args: Vec<Pattern> =
                    self.terms.args(term).iter().map(|&arg| Pattern::Ground(arg)).collect();
                self.terms.head(term) == f
                    && a.len() == args.len()
                    && a.iter().zip(&args).all(|(a, b)| self.unify(a, b, same))
            }
            _ => false,
        }
    }

    /// A pattern with variables substituted. Beyond [`EQUATIONS`] it stays unchanged, which [`case`](Self::case)
    /// refuses.
    fn replaced(&mut self, pattern: &Pattern, same: &[Option<Pattern>]) -> Pattern {
        self.visited += 1;
        if self.visited > EQUATIONS {
            return pattern.clone();
        }
        match pattern {
            Pattern::Variable(v) => same[*v].clone().unwrap_or(Pattern::Variable(*v)),
            Pattern::Ground(_) => pattern.clone(),
            Pattern::Compound(head, args) => {
                let args = args.iter().map(|arg| self.replaced(arg, same)).collect();
                self.compound(*head, args)
            }
        }
    }

    /// A compound term, as a single number if it has no variables.
    fn compound(&mut self, head: Symbol, args: Vec<Pattern>) -> Pattern {
        let ground: Option<Vec<Term>> = args
            .iter()
            .map(|arg| match arg {
                Pattern::Ground(term) => Some(*term),
                _ => None,
            })
            .collect();
        match ground {
            Some(args) => Pattern::Ground(self.terms.term(head, &args)),
            None => Pattern::Compound(head, args),
        }
    }

    /// Combines each case with each way that this condition can hold or, if negated, fail.
    fn both(
        &mut self,
        cases: Vec<Vec<Case>>,
        condition: &Expression,
        negated: bool,
        scope: &mut Scope,
    ) -> Result<Vec<Vec<Case>>, RuleError> {
        let (first, place, rest) = condition.parts()?;
        let is_or = match first {
            "not" => {
                let [inner] = rest else {
                    return Err(RuleError::new(place, "`not` has one condition"));
                };
                return self.both(cases, inner, !negated, scope);
            }
            "or" => true,
            "and" => false,
            _ => {
                let case = match (first, rest) {
                    ("distinct", [left, right]) => {
                        let (left, right) = (self.pattern(left, scope)?, self.pattern(right, scope)?);
                        match negated {
                            true => Case::Equal(left, right),
                            false => Case::Is(Condition::Differ(left, right)),
                        }
                    }
                    ("distinct", _) => {
                        let what = format!("`distinct` has 2 arguments, found {}", rest.len());
                        return Err(RuleError::new(place, what));
                    }
                    ("init" | "next", _) => {
                        let what = format!("`{first}` cannot be a condition; `true` asks for what holds");
                        return Err(RuleError::new(place, what));
                    }
                    _ => {
                        let atom = self.atom(condition, scope)?;
                        Case::Is(if negated { Condition::Fails(atom) } else { Condition::Holds(atom) })
                    }
                };
                if cases.len() * (cases.first().map_or(0, Vec::len) + 1) > CONDITIONS / 4 {
                    let what =
                        format!("too many conditions: more than {} in all cases of `or`", CONDITIONS / 4);
                    return Err(RuleError::new(place, what));
                }
                return Ok(cases
                    .into_iter()
                    .map(|mut all| {
                        all.push(case.clone());
                        all
                    })
                    .collect());
            }
        };
        if is_or == negated {
            return rest.iter().try_fold(cases, |cases, part| self.both(cases, part, negated, scope));
        }
        let mut all = Vec::new();
        for part in rest {
            all.extend(self.both(cases.clone(), part, negated, scope)?);
            let conditions: usize = all.iter().map(Vec::len).sum();
            if all.len() > CASES || conditions > CONDITIONS / 4 {
                let what = format!("`or` makes more than {CASES} rules of this one");
                return Err(RuleError::new(place, what));
            }
        }
        Ok(all)
    }

    fn atom(&mut self, expression: &Expression, scope: &mut Scope) -> Result<Atom, RuleError> {
        let (name, place, args) = expression.parts()?;
        if name.starts_with('?') {
            return Err(RuleError::new(place, format!("`{name}` cannot stand for a relation")));
        }
        if let Some((_, arity)) = KNOWN.iter().find(|(known, _)| *known == name)
            && *arity != args.len()
        {
            let s = if *arity == 1 { "" } else { "s" };
            let what = format!("`{name}` has {arity} argument{s}, found {}", args.len());
            return Err(RuleError::new(place, what));
        }
        self.check_count(name, args.len(), place)?;
        let args: Vec<Pattern> = args.iter().map(|arg| self.pattern(arg, scope)).collect::<Result<_, _>>()?;
        Ok(Atom { relation: self.relation(name, args.len(), place), args, place })
    }

    fn check_count(&self, name: &str, count: usize, place: Place) -> Result<(), RuleError> {
        match count {
            0..=ARGUMENTS => Ok(()),
            _ => {
                let what = format!("`{name}` has {count} arguments; it may have {ARGUMENTS}");
                Err(RuleError::new(place, what))
            }
        }
    }

    fn pattern(&mut self, expression: &Expression, scope: &mut Scope) -> Result<Pattern, RuleError> {
        let (name, place, args) = expression.parts()?;
        if name.starts_with('?') {
            if !args.is_empty() {
                return Err(RuleError::new(place, format!("`{name}` cannot stand for a function")));
            }
            let known = scope.names.iter().position(|known| known == name);
            if known.is_none() && scope.names.len() == WIDTH {
                return Err(RuleError::new(place, format!("more than {WIDTH} variables in a rule")));
            }
            return Ok(Pattern::Variable(known.unwrap_or_else(|| {
                scope.names.push(name.into());
                scope.names.len() - 1
            })));
        }
        self.check_count(name, args.len(), place)?;
        let args: Vec<Pattern> = args.iter().map(|arg| self.pattern(arg, scope)).collect::<Result<_, _>>()?;
        let symbol = self.terms.symbol(name);
        Ok(self.compound(symbol, args))
    }

    /// The relations that the game depends on: the built-in ones and all their dependencies.
    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.relations.len()];
        let mut open: Vec<usize> = (0..KNOWN.len()).collect();
        while let Some(relation) = open.pop() {
            if !std::mem::replace(&mut used[relation], true) {
                open.extend(self.parts(relation));
            }
        }
        used
    }

    /// Refuses invalid rules, except for relations that the game does not use. Returns notes on those.
    fn check_faults(&mut self) -> Result<Vec<String>, RuleError> {
        let (faults, used) = (std::mem::take(&mut self.faults), self.used());
        let (fatal, others): (Vec<_>, Vec<_>) = faults.into_iter().partition(|(relation, _)| used[*relation]);
        if let Some((_, fault)) = fatal.into_iter().next() {
            return Err(fault);
        }
        let name = |relation: usize| &self.relations[relation].name;
        let told = others.into_iter().take(NOTES);
        Ok(told.map(|(relation, fault)| format!("{fault}; nothing uses `{}`", name(relation))).collect())
    }

    /// `sees` with two arguments, which no condition reads, defines a role's observations in GDL-II.
    fn check_sees(&self) -> Result<(), RuleError> {
        let Some(&sees) = self.by_name.get(&("sees".to_string(), 2)) else { return Ok(()) };
        let is_asked = (0..self.relations.len()).any(|relation| self.parts(relation).contains(&sees));
        match self.relations[sees].rules.first().filter(|_| !is_asked) {
            None => Ok(()),
            Some(&rule) => {
                let what = "`sees` says in GDL-II what a role learns; adept reads GDL-I, without hidden information, where every role \
                            sees all that holds";
                Err(RuleError::new(self.rules[rule].place, what))
            }
        }
    }

    fn finish(mut self) -> Result<Program, RuleError> {
        let faulty: FxHashSet<usize> = self.faults.iter().map(|(relation, _)| *relation).collect();
        let mut notes = self.check_faults()?;
        self.check_sees()?;
        if self.roles.is_empty() {
            return Err(RuleError::new(START, "no `role`: nobody plays"));
        }
        if self.roles.len() > ROLES {
            let what = format!("{} roles; a game may have {ROLES}", self.roles.len());
            return Err(RuleError::new(START, what));
        }
        for (relation, what) in [
            (TERMINAL, "no rule for `terminal`: the game has no end"),
            (LEGAL, "no rule for `legal`: nobody can move"),
            (GOAL, "no rule for `goal`: nobody wins or loses"),
        ] {
            if self.relations[relation].rules.is_empty() {
                return Err(RuleError::new(START, what));
            }
        }
        let goals = &self.relations[GOAL].rules;
        for &role in &self.roles {
            let has = |&&rule: &&usize| match self.rules[rule].head.args[0] {
                Pattern::Ground(term) => term == role,
                _ => true,
            };
            if !goals.iter().any(|rule| has(&rule)) {
                let name = self.terms.shown(role);
                let what = format!("no rule for the `goal` of {name}");
                let named = goals.iter().filter_map(|&rule| match self.rules[rule].head.args[0] {
                    Pattern::Ground(term) => Some(self.terms.shown(term)),
                    _ => None,
                });
                return Err(RuleError::new(START, unknown(what, &name, named)));
            }
        }
        let mut others = 0;
        let defined = |relation: &Relation| !relation.rules.is_empty();
        for (number, relation) in self.relations.iter().enumerate() {
            if number >= KNOWN.len() && !defined(relation) && !faulty.contains(&number) {
                // Searching for a similar name takes long.
                if notes.len() == NOTES {
                    others += 1;
                    continue;
                }
                let Place { line, column } = relation.place;
                let what = format!("line {line}, column {column}: nothing defines `{}`", relation.name);
                let mut others = self.relations.iter().filter(|other| defined(other));
                notes.push(match others.clone().find(|other| other.name == relation.name) {
                    Some(other) => {
                        format!(
                            "{what} with {} arguments; it is defined with {}",
                            relation.arity, other.arity
                        )
                    }
                    None => unknown(what, &relation.name, others.by_ref().map(|other| &other.name)),
                });
            }
        }
        if others > 0 {
            notes.push(format!("nothing defines {others} other relations"));
        }
        let mut unused = Vec::new();
        let mut used = vec![false; self.relations.len()];
        (0..self.relations.len())
            .flat_map(|relation| self.parts(relation))
            .for_each(|part| used[part] = true);
        for (number, relation) in self.relations.iter().enumerate().skip(KNOWN.len()) {
            if !used[number] && defined(relation) && !matches!(relation.name.as_str(), "base" | "input") {
                let Place { line, column } = relation.place;
                unused.push(format!("line {line}, column {column}: nothing uses `{}`", relation.name));
            }
        }
        // Relations that the game does not use need not be computed.
        let used = self.used();
        for (relation, _) in self.relations.iter_mut().zip(used).filter(|(_, used)| !used) {
            relation.rules.clear();
        }
        let mut order = self.order();
        self.mark_changes(&order);
        self.check_moves()?;
        let fixed = self.fix_facts();
        if !fixed.is_empty() {
            order = self.order();
            self.relations.iter_mut().for_each(|relation| relation.changes = false);
            self.mark_changes(&order);
        }
        Ok(Program {
            terms: self.terms,
            relations: self.relations,
            rules: self.rules,
            order,
            roles: self.roles,
            fixed,
            notes,
            unused,
        })
    }

    /// Replaces conditions on facts that persist once they hold, such as walls, by static relations. The facts
    /// themselves stay. Returns their names and arities.
    fn fix_facts(&mut self) -> FxHashSet<(Symbol, usize)> {
        let mut kinds: FxHashMap<(Symbol, usize), bool> = FxHashMap::default();
        for &rule in &self.relations[NEXT].rules {
            // A variable can match any fact.
            let Some(kind) = self.kind(&self.rules[rule].head.args[0]) else { return FxHashSet::default() };
            // A ground fact is one of several of its kind.
            let is_one = matches!(self.rules[rule].head.args[0], Pattern::Ground(_)) && kind.1 > 0;
            *kinds.entry(kind).or_insert(true) &= keeps_all(&self.rules[rule]) && !is_one;
        }
        let mut begins: Vec<((Symbol, usize), Vec<usize>)> = Vec::new();
        let mut places: FxHashMap<(Symbol, usize), usize> = FxHashMap::default();
        for &rule in &self.relations[INIT].rules {
            let Some(kind) = self.kind(&self.rules[rule].head.args[0]) else { return FxHashSet::default() };
            let place = *places.entry(kind).or_insert(begins.len());
            if place == begins.len() {
                begins.push((kind, Vec::new()));
            }
            begins[place].1.push(rule);
            let changes = |condition: &Condition| match condition {
                Condition::Holds(atom) | Condition::Fails(atom) => self.relations[atom.relation].changes,
                Condition::Differ(..) => false,
            };
            if self.rules[rule].body.iter().any(changes) {
                kinds.insert(kind, false);
            }
        }
        let mut fixed: FxHashMap<(Symbol, usize), usize> = FxHashMap::default();
        for (kind, rules) in begins.into_iter().filter(|(kind, _)| kinds.get(kind) == Some(&true)) {
            let number = self.relations.len();
            let name = self.terms.name(kind.0).to_string();
            let place = self.rules[rules[0]].place;
            let first = self.rules.len();
            for rule in rules {
                let Rule { place, head, body, variables } = self.rules[rule].clone();
                let head = Atom { relation: number, args: self.inner(&head.args[0]), place: head.place };
                self.rules.push(Rule { place, head, body, variables });
            }
            let rules = (first..self.rules.len()).collect();
            self.relations.push(Relation { name, arity: kind.1, place, changes: false, rules });
            fixed.insert(kind, number);
        }
        for rule in 0..self.rules.len() {
            if self.rules[rule].head.relation == NEXT && keeps_all(&self.rules[rule]) {
                continue;
            }
            let mut body = std::mem::take(&mut self.rules[rule].body);
            for condition in &mut body {
                if let Condition::Holds(atom) | Condition::Fails(atom) = condition
                    && atom.relation == TRUE
                    && let Some(kind) = self.kind(&atom.args[0])
                    && let Some(&number) = fixed.get(&kind)
                {
                    (atom.relation, atom.args) = (number, self.inner(&atom.args[0]));
                }
            }
            self.rules[rule].body = body;
        }
        fixed.into_keys().collect()
    }

    /// The name and arity of a fact, if known.
    fn kind(&self, fact: &Pattern) -> Option<(Symbol, usize)> {
        match fact {
            Pattern::Variable(_) => None,
            Pattern::Ground(term) => Some((self.terms.head(*term), self.terms.args(*term).len())),
            Pattern::Compound(head, args) => Some((*head, args.len())),
        }
    }

    /// The arguments of a fact.
    fn inner(&self, fact: &Pattern) -> Vec<Pattern> {
        match fact {
            Pattern::Variable(_) => Vec::new(),
            Pattern::Ground(term) => self.terms.args(*term).iter().map(|&arg| Pattern::Ground(arg)).collect(),
            Pattern::Compound(_, args) => args.clone(),
        }
    }

    /// Relations in the conditions of a relation's rules.
    fn parts(&self, relation: usize) -> Vec<usize> {
        let rules = self.relations[relation].rules.iter();
        let mut parts: Vec<usize> = rules
            .flat_map(|&rule| &self.rules[rule].body)
            .filter_map(|condition| match condition {
                Condition::Holds(atom) | Condition::Fails(atom) => Some(atom.relation),
                Condition::Differ(..) => None,
            })
            .collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    fn order(&self) -> Vec<(Vec<usize>, bool)> {
        let parts: Vec<Vec<usize>> = (0..self.relations.len()).map(|relation| self.parts(relation)).collect();
        let groups = components(parts.len(), |relation, n| parts[relation].get(n).copied());
        groups
            .into_iter()
            .map(|group| {
                let is_recursive = group.len() > 1 || parts[group[0]].contains(&group[0]);
                (group, is_recursive)
            })
            .collect()
    }

    /// Marks the relations that depend on the state, and the static ones that need a fixpoint.
    fn mark_changes(&mut self, order: &[(Vec<usize>, bool)]) {
        self.relations[TRUE].changes = true;
        self.relations[DOES].changes = true;
        // Legal moves are found together with possible facts, even if they never change.
        self.relations[LEGAL].changes = true;
        for (group, is_recursive) in order {
            let negates = |&relation: &usize| {
                let rules = self.relations[relation].rules.iter();
                rules.flat_map(|&rule| &self.rules[rule].body).any(
                    |condition| matches!(condition, Condition::Fails(atom) if group.contains(&atom.relation)),
                )
            };
            let changes = group
                .iter()
                .any(|&relation| self.parts(relation).iter().any(|&part| self.relations[part].changes))
                || *is_recursive && group.iter().any(negates);
            for &relation in group {
                self.relations[relation].changes |= changes;
            }
        }
    }

    /// Checks that the end, the goals and the legal moves do not depend on the moves just made.
    fn check_moves(&self) -> Result<(), RuleError> {
        for (relation, name) in [(TERMINAL, "terminal"), (GOAL, "goal"), (LEGAL, "legal"), (INIT, "init")] {
            let mut open = vec![relation];
            let mut seen = vec![false; self.relations.len()];
            while let Some(from) = open.pop() {
                for part in self.parts(from) {
                    if part == DOES || part == TRUE && relation == INIT {
                        let bodies =
                            self.relations[from].rules.iter().flat_map(|&rule| &self.rules[rule].body);
                        let place = bodies.filter_map(|condition| match condition {
                            Condition::Holds(atom) | Condition::Fails(atom) if atom.relation == part => {
                                Some(atom.place)
                            }
                            _ => None,
                        });
                        let place = { place }.next().unwrap_or(START);
                        let (may, part) = match relation {
                            INIT => ("what never changes", &self.relations[part].name),
                            _ => ("the state", &self.relations[part].name),
                        };
                        let way = match from == relation {
                            true => String::new(),
                            false => format!(" by way of `{}`", self.relations[from].name),
                        };
                        let what = format!("`{name}` depends on `{part}`{way}; it may depend only on {may}");
                        return Err(RuleError::new(place, what));
                    }
                    if !std::mem::replace(&mut seen[part], true) {
                        open.push(part);
                    }
                }
            }
        }
        Ok(())
    }
}
