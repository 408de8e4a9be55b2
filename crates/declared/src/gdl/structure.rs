//! The structure of a description as modules: facts, relations, moves, goals and the end, each after its parts.
//!
//! If the roles play the same game under other names, a position is read from the first role's view, and the
//! counterparts of a condition rename only the names that stand for roles. Otherwise each input has a copy for each
//! role that may have moved.

use super::compiled::{Compiled, Inputs};
use super::gates::Grounder;
use super::program::{Atom, Condition, DOES, GOAL, INIT, LEGAL, NEXT, Pattern, Program, TERMINAL, TRUE};
use super::reach::{self, Budget, Reached, bindings, reach, table_of};
use super::symmetry::{self, Names, Symmetry, constants, renamed};
use super::tables::IndexedTuples;
use super::terms::{Symbol, Term, Terms};
use crate::circuit::{Builder, FALSE, Literal};
use crate::modules::{Column, Modules, OUTPUTS, Structure, TUPLES, View};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Limit on inspected tuples for the bindings of a rule, and of all rules. Rules beyond it are omitted.
const WORK: u64 = 2_000_000;
const WORK_IN_ALL: u64 = 40_000_000;
/// Limit on conditions of all bindings of a rule; rules beyond it are omitted. Also the limit for all rules before
/// duplicates are removed.
const CONDITIONS: usize = OUTPUTS / 4;
const CONDITIONS_IN_ALL: usize = OUTPUTS * 8;
/// Limit on relations and on kinds of facts.
const MODULES: usize = 1024;

/// Properties of bindings that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    /// Index of the first mark among the values of the variables.
    mark: Option<usize>,
    conditions: Vec<Shape>,
}

/// A condition without its variables and numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    negated: bool,
    relation: usize,
    functor: Option<Symbol>,
    names: Vec<Symbol>,
}

/// For one binding, the tuples of its conditions and then of their counterparts, where such tuples exist.
type Row = Vec<Option<u32>>;

/// Remaining limits of all rules.
struct Limits {
    work: u64,
    conditions: usize,
}

/// A relation with its rules, or the moves with the same first word.
struct Section {
    name: String,
    rules: Vec<usize>,
    relation: usize,
    tuples: Vec<u32>,
    rows: BTreeMap<Kind, Vec<Row>>,
}

impl Compiled {
    /// The structure of the rules, which were read from `source`; `hides` says whether roles choose at the same time.
    ///
    /// # Errors
    /// In words: too many conditions to read, or none.
    pub(super) fn structure(&self, source: &str, hides: bool) -> Result<Structure, String> {
        let mut program = Program::read(source).map_err(|e| e.to_string())?;
        let Reached { mut tables, .. } = reach(&mut program, &Arc::default()).map_err(|e| e.to_string())?;
        let inputs = Inputs::new(&program, &tables);
        let symmetry = symmetry::find(&mut program, &mut tables, &inputs).map_err(|e| e.to_string())?;
        let mut sections = sections(&program, &tables, &inputs);
        if sections.len() > MODULES {
            return Err(format!("more than {MODULES} relations to read; use the encoder `bits`"));
        }
        let mut limits = Limits { work: WORK_IN_ALL, conditions: CONDITIONS_IN_ALL };
        for section in &mut sections {
            section.bind(&mut program, &mut tables, symmetry.as_ref(), &mut limits)?;
        }
        let mut grounder = Grounder::new(
            &mut program,
            &mut tables,
            &inputs.facts,
            &inputs.moves,
            Budget::new(reach::WORK, &Arc::default()),
        );
        let mut literals: FxHashMap<(usize, u32), Literal> = FxHashMap::default();
        for section in &sections {
            let tuples = section.tuples.iter().map(|&tuple| (section.relation, tuple));
            let conditions = section.rows.iter().flat_map(|(kind, rows)| {
                let relations = kind.conditions.iter().map(|shape| shape.relation).cycle();
                let all = rows.iter().flat_map(move |row| row.iter().copied().zip(relations.clone()));
                all.filter_map(|(tuple, relation)| Some((relation, tuple?)))
            });
            for (relation, tuple) in tuples.chain(conditions) {
                if let Entry::Vacant(entry) = literals.entry((relation, tuple)) {
                    entry.insert(grounder.literal(relation, tuple).map_err(|e| e.to_string())?);
                }
            }
        }
        let end = match grounder.count(TERMINAL) {
            0 => FALSE,
            _ => grounder.literal(TERMINAL, 0).map_err(|e| e.to_string())?,
        };
        let gates = grounder.finish().map_err(|e| e.to_string())?;
        let known = known_before(&gates.builder, end);
        for literal in literals.values_mut() {
            *literal = fixed(&known, *literal);
        }
        let copies = if symmetry.is_some() { 1 } else { program.roles.len() };
        let views = symmetry.as_ref().map_or(1, |_| program.roles.len());
        let mut maker = Maker {
            program: &program,
            tables: &tables,
            literals,
            known,
            copies,
            views,
            modules: Modules::default(),
            made: Vec::new(),
        };
        maker.facts(&inputs)?;
        if hides {
            maker.moves(self, symmetry.is_some());
        }
        for section in &sections {
            maker.section(section)?;
        }
        let modules = maker.modules;
        if modules.list.is_empty() {
            let what = "positions before the end do not differ, or in too many facts; use the encoder `bits`";
            return Err(what.into());
        }
        let views = symmetry.map_or_else(Vec::new, |symmetry| views_of(&symmetry));
        Structure::new(modules, &gates.builder, inputs.facts.len(), copies, views)
    }
}

/// Values of nodes that are constant in all unfinished positions, as far as propagation finds them. Networks only
/// evaluate such positions.
fn known_before(builder: &Builder, end: Literal) -> Vec<Option<bool>> {
    let first = builder.facts() + 1;
    let mut known = vec![None; first + builder.len()];
    known[0] = Some(false);
    let mut open = vec![end ^ 1];
    while let Some(literal) = open.pop() {
        let (node, holds) = (literal as usize / 2, literal & 1 == 0);
        if known[node].is_some() {
            continue;
        }
        known[node] = Some(holds);
        match builder.definition(node) {
            Some(definition) => open.push(definition ^ (literal & 1)),
            None if holds => open.extend(builder.inputs(node).unwrap_or_default()),
            None => {}
        }
    }
    for node in first..known.len() {
        if known[node].is_none() && builder.definition(node).is_none() {
            let value = |&input: &Literal| known[input as usize / 2].map(|holds| holds != (input & 1 == 1));
            let inputs = builder.inputs(node).unwrap_or_default();
            known[node] = match inputs.iter().any(|input| value(input) == Some(false)) {
                true => Some(false),
                false => inputs.iter().all(|input| value(input) == Some(true)).then_some(true),
            };
        }
    }
    known
}

/// A literal, or its constant value.
fn fixed(known: &[Option<bool>], literal: Literal) -> Literal {
    known[literal as usize / 2].map_or(literal, |holds| Literal::from(holds) ^ (literal & 1))
}

/// The facts and moves after renaming each role to the first.
fn views_of(symmetry: &Symmetry) -> Vec<View> {
    let count = symmetry.powers.len();
    let again = |places: &[u32], times: usize| -> Vec<u32> {
        let all = 0..places.len() as u32;
        all.map(|place| (0..times).fold(place, |place, _| places[place as usize])).collect()
    };
    (0..count)
        .map(|role| {
            let times = (count - role) % count;
            View { facts: again(&symmetry.facts, times), moves: again(&symmetry.moves, times) }
        })
        .collect()
}

/// The changing relations that `legal`, `goal` and `terminal` depend on, then these.
fn sections(program: &Program, tables: &[IndexedTuples], inputs: &Inputs) -> Vec<Section> {
    let mut needed = vec![false; program.relations.len()];
    let mut open = vec![LEGAL, GOAL, TERMINAL];
    while let Some(relation) = open.pop() {
        if std::mem::replace(&mut needed[relation], true) {
            continue;
        }
        let bodies = program.relations[relation].rules.iter().flat_map(|&rule| &program.rules[rule].body);
        open.extend(bodies.filter_map(atom_of).map(|(_, atom)| atom.relation));
    }
    let mut all = Vec::new();
    let mut add = |name: &str, relation: usize, rules: Vec<usize>, mut tuples: Vec<u32>| {
        let table = &tables[table_of(relation)];
        tuples.sort_by(|&a, &b| {
            let pairs = table.tuple(a).iter().zip(table.tuple(b));
            pairs.map(|(&a, &b)| program.terms.compare(a, b)).find(|order| order.is_ne()).unwrap_or(a.cmp(&b))
        });
        all.push(Section { name: name.into(), rules, relation, tuples, rows: BTreeMap::new() });
    };
    for &number in program.order.iter().flat_map(|(group, _)| group) {
        let relation = &program.relations[number];
        let is_known = [TRUE, DOES, INIT, NEXT, LEGAL, GOAL, TERMINAL].contains(&number);
        if needed[number] && relation.changes && !is_known {
            let tuples = (0..tables[number].len() as u32).collect();
            add(&relation.name, number, relation.rules.clone(), tuples);
        }
    }
    // Rules with a variable move, and moves that only these allow, belong to `legal`.
    let mut heads: Vec<(Option<Symbol>, Vec<usize>)> = Vec::new();
    let mut places: FxHashMap<Option<Symbol>, usize> = FxHashMap::default();
    for &rule in &program.relations[LEGAL].rules {
        let head = program.rules[rule].head.args.get(1).and_then(|arg| functor(&program.terms, arg));
        let place = *places.entry(head).or_insert(heads.len());
        if place == heads.len() {
            heads.push((head, Vec::new()));
        }
        heads[place].1.push(rule);
    }
    let mut moves: FxHashMap<Option<Symbol>, Vec<u32>> = FxHashMap::default();
    for &tuple in &inputs.moves {
        let head = Some(program.terms.head(tables[DOES].tuple(tuple)[1]));
        moves.entry(head.filter(|_| places.contains_key(&head))).or_default().push(tuple);
    }
    for (head, rules) in heads {
        let name = head.map_or("legal", |head| program.terms.name(head));
        add(name, LEGAL, rules, moves.remove(&head).unwrap_or_default());
    }
    let goals = (0..tables[GOAL].len() as u32).collect();
    add("goal", GOAL, program.relations[GOAL].rules.clone(), goals);
    // False before the end.
    add("terminal", TERMINAL, program.relations[TERMINAL].rules.clone(), Vec::new());
    all
}

fn atom_of(condition: &Condition) -> Option<(bool, &Atom)> {
    match condition {
        Condition::Holds(atom) => Some((false, atom)),
        Condition::Fails(atom) => Some((true, atom)),
        Condition::Differ(..) => None,
    }
}

/// The first word of a term.
fn functor(terms: &Terms, pattern: &Pattern) -> Option<Symbol> {
    match pattern {
        Pattern::Variable(_) => None,
        Pattern::Ground(term) => Some(terms.head(*term)),
        Pattern::Compound(head, _) => Some(*head),
    }
}

/// Collects the names, but not the numbers, of a pattern.
fn names_in(terms: &Terms, pattern: &Pattern, found: &mut Vec<Symbol>) {
    match pattern {
        Pattern::Variable(_) => {}
        Pattern::Ground(term) => constants(terms, *term, &mut |name| {
            if terms.name(name).parse::<i64>().is_err() {
                found.push(name);
            }
        }),
        Pattern::Compound(_, args) => args.iter().for_each(|arg| names_in(terms, arg, found)),
    }
}

/// A condition from another role's view at the same place: names in the rule are renamed; in the values of variables
/// only marks are.
fn seen(terms: &mut Terms, pattern: &Pattern, binding: &[Term], (names, marks): (&Names, &Names)) -> Term {
    match pattern {
        Pattern::Variable(v) => renamed(terms, marks, binding[*v]),
        Pattern::Ground(term) => renamed(terms, names, *term),
        Pattern::Compound(head, args) => {
            let args: SmallVec<[Term; 6]> =
                args.iter().map(|arg| seen(terms, arg, binding, (names, marks))).collect();
            terms.term(*head, &args)
        }
    }
}

impl Section {
    /// Finds the bindings of all rules.
    fn bind(
        &mut self,
        program: &mut Program,
        tables: &mut [IndexedTuples],
        symmetry: Option<&Symmetry>,
        limits: &mut Limits,
    ) -> Result<(), String> {
        let Program { terms, relations, rules, roles, .. } = program;
        let as_written = Names::default();
        let views: Vec<(&Names, &Names)> = match symmetry {
            Some(symmetry) => symmetry.powers.iter().zip(&symmetry.marks).collect(),
            None => vec![(&as_written, &as_written)],
        };
        // Without a symmetry, only roles are marks.
        let roles: FxHashMap<Symbol, usize> = roles.iter().map(|&role| terms.head(role)).zip(0..).collect();
        let marks = symmetry.map_or(&roles, |symmetry| &symmetry.places);
        for &number in &self.rules {
            let rule = &rules[number];
            let changes = |atom: &Atom| relations[atom.relation].changes || atom.relation == LEGAL;
            let conditions: Vec<(bool, &Atom)> =
                rule.body.iter().filter_map(atom_of).filter(|(_, atom)| changes(atom)).collect();
            if conditions.is_empty() {
                continue;
            }
            let shapes: Vec<Shape> =
                conditions.iter().map(|&(negated, atom)| Shape::new(terms, negated, atom)).collect();
            let width = conditions.len() * views.len();
            let mut found: BTreeMap<Option<usize>, Vec<Row>> = BTreeMap::new();
            let mut left = CONDITIONS / width;
            let mut visit = |terms: &mut Terms, tables: &[IndexedTuples], binding: &[Term]| {
                if left == 0 {
                    return false;
                }
                left -= 1;
                let mut mark = None;
                for &term in binding {
                    constants(terms, term, &mut |name| mark = mark.or(marks.get(&name).copied()));
                }
                let mut row = Row::with_capacity(width);
                for &view in &views {
                    for (_, atom) in &conditions {
                        let args = atom.args.iter().map(|arg| seen(terms, arg, binding, view));
                        let tuple: SmallVec<[Term; 6]> = args.collect();
                        row.push(tables[table_of(atom.relation)].find(&tuple));
                    }
                }
                found.entry(mark).or_default().push(row);
                true
            };
            let work = WORK.min(limits.work);
            let mut unused = work;
            let is_whole = bindings((terms, relations), rule, tables, &mut unused, &mut visit);
            limits.work -= work - unused;
            if !is_whole {
                continue;
            }
            let conditions = found.values().map(Vec::len).sum::<usize>() * width;
            limits.conditions = limits.conditions.checked_sub(conditions).ok_or_else(|| {
                format!("more than {CONDITIONS_IN_ALL} conditions of rules to read; use the encoder `bits`")
            })?;
            for (mark, rows) in found {
                self.rows.entry(Kind { mark, conditions: shapes.clone() }).or_default().extend(rows);
            }
        }
        Ok(())
    }
}

impl Shape {
    fn new(terms: &Terms, negated: bool, atom: &Atom) -> Self {
        let fact = atom.args.first().filter(|_| atom.relation == TRUE);
        let functor = fact.and_then(|arg| functor(terms, arg));
        let mut names = Vec::new();
        atom.args.iter().for_each(|arg| names_in(terms, arg, &mut names));
        Self { negated, relation: atom.relation, functor, names }
    }
}

struct Maker<'a> {
    program: &'a Program,
    tables: &'a [IndexedTuples],
    /// Literals of tuples.
    literals: FxHashMap<(usize, u32), Literal>,
    /// Values of nodes that are constant before the end.
    known: Vec<Option<bool>>,
    copies: usize,
    /// Number of roles for which each condition is read.
    views: usize,
    modules: Modules,
    /// The module of each relation, or of facts with each first word.
    made: Vec<(usize, Option<Symbol>, String)>,
}

impl Maker<'_> {
    /// A module name that is unique, also among names of bindings.
    fn name(&self, wanted: &str) -> String {
        let is_free = |name: &str| {
            !self.modules.list.iter().any(|known| known.name == name || known.name == format!("{name}-rules"))
        };
        let mut name = wanted.to_string();
        let mut number = 1;
        while !is_free(&name) {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        name
    }

    /// Adds a module for the facts with each first word.
    fn facts(&mut self, inputs: &Inputs) -> Result<(), String> {
        let terms = &self.program.terms;
        let mut heads: Vec<(Symbol, Vec<(Literal, String)>)> = Vec::new();
        for (fact, &tuple) in inputs.facts.iter().enumerate() {
            let term = self.tables[TRUE].tuple(tuple)[0];
            let one = (fixed(&self.known, (fact as Literal + 1) * 2), terms.shown(term));
            // Facts are sorted by first word.
            match heads.last_mut().filter(|(head, _)| *head == terms.head(term)) {
                Some((_, all)) => all.push(one),
                None => heads.push((terms.head(term), vec![one])),
            }
        }
        if heads.len() > MODULES {
            return Err(format!("facts of more than {MODULES} kinds; use the encoder `bits`"));
        }
        for (head, tuples) in heads {
            let name = self.name(terms.name(head));
            if self.modules.tuples(&name, Vec::new(), tuples, TUPLES / self.copies) {
                self.made.push((TRUE, Some(head), name));
            }
        }
        Ok(())
    }

    /// Adds a module for the chosen move, if moves are hidden. With a symmetry, the move is one of the first role.
    fn moves(&mut self, rules: &Compiled, is_alike: bool) {
        let moves = rules.moves.iter().enumerate().filter(|(_, (role, _))| *role == 0 || !is_alike);
        let tuples: Vec<(Literal, String)> = moves
            .map(|(number, &(role, what))| {
                let literal = (rules.facts.len() + number + 1) as Literal * 2;
                (literal, format!("{}:{}", role + 1, rules.terms.shown(what)))
            })
            .collect();
        let name = self.name("chosen");
        self.modules.tuples(&name, Vec::new(), tuples, OUTPUTS);
    }

    fn literal(&self, relation: usize, tuple: Option<u32>) -> Literal {
        tuple.and_then(|tuple| self.literals.get(&(relation, tuple)).copied()).unwrap_or(FALSE)
    }

    /// Adds the modules of a section: one of its rules, and one of its tuples.
    fn section(&mut self, section: &Section) -> Result<(), String> {
        let name = self.name(&section.name);
        let parts = self.parts(section);
        let mut found = Vec::new();
        let mut known: BTreeSet<Vec<Vec<Literal>>> = BTreeSet::new();
        for (kind, rows) in &section.rows {
            let relations = kind.conditions.iter().map(|shape| shape.relation).cycle();
            let literals = rows
                .iter()
                .map(|row| row.iter().zip(relations.clone()).map(|(&t, r)| self.literal(r, t)).collect());
            // Bindings that can never hold are dropped.
            let is_alive = |row: &Vec<Literal>| {
                let mut pairs = row.iter().zip(&kind.conditions);
                pairs.all(|(&literal, shape)| literal != FALSE ^ Literal::from(shape.negated))
            };
            let literals: Vec<Vec<Literal>> = literals.filter(is_alive).collect();
            // Another role's binding equals the counterparts of one that was read.
            if self.views > 1 && !known.insert(signature(&literals, kind.conditions.len())) {
                continue;
            }
            let columns = (0..kind.conditions.len() * self.views).map(|column| Column {
                is_other: column >= kind.conditions.len(),
                negated: kind.conditions[column % kind.conditions.len()].negated,
                holds: literals.iter().map(|row| row[column]).collect(),
            });
            found.extend(self.modules.bindings(columns.collect(), &section.name)?);
        }
        let terms = &self.program.terms;
        let mut seen = FxHashSet::default();
        let tuples = section.tuples.iter().map(|&tuple| {
            let args = self.tables[table_of(section.relation)].tuple(tuple);
            let args: Vec<String> = args.iter().map(|&term| terms.shown(term)).collect();
            let text = match section.relation {
                LEGAL => args.join(":"),
                _ if args.is_empty() => section.name.clone(),
                _ => format!("{}({})", section.name, args.join(",")),
            };
            (self.literal(section.relation, Some(tuple)), text)
        });
        let tuples: Vec<(Literal, String)> = tuples.filter(|(literal, _)| seen.insert(*literal)).collect();
        let tuples = (!section.tuples.is_empty()).then_some(tuples);
        if let Some(name) = self.modules.relation(&name, parts, found, tuples, TUPLES / self.copies) {
            self.made.push((section.relation, None, name));
        }
        Ok(())
    }

    /// The modules that the conditions of a section read.
    fn parts(&self, section: &Section) -> Vec<String> {
        let conditions = section.rows.keys().flat_map(|kind| &kind.conditions);
        let parts = conditions.flat_map(|shape| {
            let made = self.made.iter().filter(|(relation, head, _)| {
                *relation == shape.relation
                    && (head.is_none() || shape.functor.is_none() || *head == shape.functor)
            });
            made.map(|(_, _, name)| name.clone())
        });
        let parts: BTreeSet<String> = parts.collect();
        parts.into_iter().collect()
    }
}

/// A key that is invariant under the order of bindings and the choice of role.
fn signature(rows: &[Vec<Literal>], conditions: usize) -> Vec<Vec<Literal>> {
    let views = rows.first().map_or(1, |row| row.len() / conditions);
    let turned = (0..views).map(|view| {
        let mut rows = rows.to_vec();
        rows.iter_mut().for_each(|row| row.rotate_left(view * conditions));
        rows.sort_unstable();
        rows
    });
    turned.min().unwrap_or_default()
}
