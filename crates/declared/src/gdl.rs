//! Compiles a description in GDL to the same rules as a file of ours.
//!
//! What can ever hold is found first, from the start and from all moves that could be legal if `not` always held. `next` then is a
//! circuit over facts and moves. For each move its inputs are known, and what is left of it says which facts the move changes:
//! most of them not at all.

use crate::circuit::{Builder, FALSE, Literal, TRUE};
use crate::declaration::{Declaration, Ending, Kind, Object, Operator, Rule, Tuple};
use crate::error::{Place, RuleError};
use crate::ground::{Effects, Grounder, Move, Rules, Table, View};
use crate::kif::{self, Description};
use crate::resolve::Reader;
use rustc_hash::FxHashMap;

/// Most facts, and most moves.
const MOST: usize = 1 << 14;

/// Reads and compiles a description.
pub(crate) fn read(name: &str, text: &str) -> Result<Rules, RuleError> {
    let mut description = kif::parse(name, text)?;
    let declaration = Reader::of_gdl().read(description.source.clone())?;
    let rules = Compiler::new(&description, &declaration)?.compile()?;
    let mut start = vec![0_u64; rules.facts.len().div_ceil(64).max(1)];
    for &fact in &rules.start {
        start[fact as usize / 64] |= 1 << (fact % 64);
    }
    // The first player is the one who begins.
    if rules.views[0].legal.find(&start, |number| rules.moves[number].player == Some(1)) {
        description.roles.swap(0, 1);
        return Compiler::new(&description, &declaration)?.compile();
    }
    Ok(rules)
}

struct Compiler<'a> {
    description: &'a Description,
    declaration: &'a Declaration,
    grounder: Grounder<'a>,
    /// Relation, tuple of each fact and of each move (role first), in the order of the inputs of the circuit.
    facts: Vec<(usize, Tuple)>,
    moves: Vec<(usize, Tuple)>,
}

fn fault<T>(what: impl Into<String>) -> Result<T, RuleError> {
    Err(RuleError::new(Place { line: 1, column: 1 }, what))
}

impl<'a> Compiler<'a> {
    /// Finds what can hold.
    fn new(description: &'a Description, declaration: &'a Declaration) -> Result<Self, RuleError> {
        let mut tables: Vec<Table> = Vec::new();
        for relation in &declaration.relations {
            let mut table = Table::default();
            for tuple in &relation.tuples {
                table.add(tuple.clone());
            }
            tables.push(table);
        }
        let mut grounder = Grounder::new(declaration, tables, Builder::new(0));
        grounder.relaxed = true;
        let find = |name: String| declaration.relations.iter().position(|relation| relation.name == name);
        // Where the tuples of a derived relation go.
        let mut feeds = Vec::new();
        for name in description.facts.keys() {
            let to = find(format!("true {name}"));
            feeds.extend(["init", "next"].map(|from| find(format!("{from} {name}")).zip(to)));
        }
        for name in description.moves.keys() {
            feeds.push(find(format!("legal {name}")).zip(find(format!("does {name}"))));
        }
        for group in &declaration.order {
            if declaration.relations[group[0]].kind == Kind::Static {
                grounder.closure(group)?;
            }
        }
        loop {
            let before: usize = grounder.tables.iter().map(|table| table.tuples.len()).sum();
            for group in declaration.order.iter().filter(|g| declaration.relations[g[0]].kind != Kind::Static)
            {
                for &relation in group {
                    for (tuple, _) in grounder.heads(relation)? {
                        grounder.tables[relation].add(tuple);
                    }
                    grounder.check_size(relation)?;
                }
            }
            for &(from, to) in feeds.iter().flatten() {
                for tuple in grounder.tables[from].tuples.clone() {
                    grounder.tables[to].add(tuple);
                }
            }
            if before == grounder.tables.iter().map(|table| table.tuples.len()).sum::<usize>() {
                break;
            }
        }
        grounder.relaxed = false;
        let all = |prefix: &str| -> Vec<(usize, Tuple)> {
            let named = declaration.relations.iter().enumerate().filter(|(_, r)| r.name.starts_with(prefix));
            named
                .flat_map(|(r, _)| grounder.tables[r].tuples.iter().map(move |tuple| (r, tuple.clone())))
                .collect()
        };
        let (facts, moves) = (all("true "), all("does "));
        if facts.len() > MOST || moves.len() > MOST {
            return fault(format!(
                "{} facts and {} moves; a game may have {MOST} of each",
                facts.len(),
                moves.len()
            ));
        }
        // With what can hold known, the gates are made.
        let builder = Builder::new(facts.len() + moves.len());
        for (input, (relation, _)) in facts.iter().chain(&moves).enumerate() {
            let [first, second] = &mut grounder.tables[*relation].holds;
            first.push(builder.fact(input));
            second.push(builder.fact(input));
        }
        grounder.builder = builder;
        for group in &declaration.order {
            for &relation in group {
                if declaration.relations[relation].kind == Kind::Derived {
                    grounder.tables[relation] = Table::default();
                }
            }
        }
        grounder.derive()?;
        Ok(Self { description, declaration, grounder, facts, moves })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.declaration.relations.iter().position(|relation| relation.name == name)
    }

    /// When a tuple of a derived relation holds.
    fn gate(&self, name: &str, tuple: &[Object]) -> Literal {
        let Some(relation) = self.find(name) else { return FALSE };
        let table = &self.grounder.tables[relation];
        match table.numbers.get(tuple) {
            Some(&number) => table.holds[0].get(number as usize).copied().unwrap_or(TRUE),
            None => FALSE,
        }
    }

    fn object(&self, name: &str) -> Option<Object> {
        self.declaration.objects.iter().position(|object| object == name).map(|object| object as Object)
    }

    /// What is behind the first word of a name made from GDL.
    fn bare(&self, relation: usize) -> &'a str {
        let name = &self.declaration.relations[relation].name;
        name.split_once(' ').map_or(name, |(_, name)| name)
    }

    fn compile(mut self) -> Result<Rules, RuleError> {
        let roles = &self.description.roles;
        let role_of = |tuple: &Tuple| roles.iter().position(|role| Some(tuple[0]) == self.object(role));
        let start: Vec<u32> = (0..)
            .zip(&self.facts)
            .filter(|(_, (relation, tuple))| {
                self.gate(&format!("init {}", self.bare(*relation)), tuple) == TRUE
            })
            .map(|(number, _)| number)
            .collect();
        // The move of a role while the other one moves.
        let mut waits = Vec::new();
        for (number, role) in roles.iter().enumerate() {
            let alone = |&(m, (_, tuple)): &(usize, &(usize, Tuple))| {
                tuple.len() == 1 && role_of(tuple) == Some(number) && m < usize::MAX
            };
            let mut found: Vec<usize> = self.moves.iter().enumerate().filter(alone).map(|(m, _)| m).collect();
            found.sort_by_key(|&m| self.bare(self.moves[m].0) != "noop");
            match found.first() {
                Some(&wait) if roles.len() == 2 => waits.push(Some(wait)),
                None if roles.len() == 2 => {
                    return fault(format!(
                        "{role} has no move without arguments, such as `noop`, for the turns of the other role; adept plays \
                         games in which the roles move in turn"
                    ));
                }
                _ => waits.push(None),
            }
        }
        let real: Vec<(usize, usize)> = (0..self.moves.len())
            .filter(|m| !waits.contains(&Some(*m)))
            .filter_map(|m| Some((m, role_of(&self.moves[m].1)?)))
            .collect();
        if real.is_empty() {
            return fault("no move can ever be legal");
        }
        let mut folder = Folder::new(&self.grounder.builder, self.facts.len());
        let idle = vec![FALSE; self.moves.len()];
        let mut legal = Vec::new();
        for &(m, _) in &real {
            let (relation, tuple) = &self.moves[m];
            let gate = self.gate(&format!("legal {}", self.bare(*relation)), tuple);
            legal.push(folder.fold(gate, &idle));
        }
        let (over, results) = self.endings(&mut folder, &idle)?;
        let next: Vec<Literal> = self
            .facts
            .iter()
            .map(|(r, tuple)| self.gate(&format!("next {}", self.bare(*r)), tuple))
            .collect();
        let (mut effects, mut conditions) = (Vec::new(), Vec::new());
        for (&(m, role), &legal) in real.iter().zip(&legal) {
            let mut made = idle.clone();
            made[m] = TRUE;
            if let Some(&Some(wait)) = waits.get(1 - role.min(1)) {
                made[wait] = TRUE;
            }
            effects.push(folder.effects(&next, &made, legal, &mut conditions));
        }
        let mut declaration = self.declaration.clone();
        declaration.players = roles.len();
        let whole = [legal.clone(), over.clone()].concat();
        let whole = if roles.len() == 2 { [whole.clone(), whole].concat() } else { whole };
        let conditions =
            if roles.len() == 2 { [conditions.clone(), conditions].concat() } else { conditions };
        let builder = folder.new;
        let view = |results: Vec<Ending>, effects: Vec<Effects>| View {
            legal: builder.cone(&legal),
            over: builder.cone(&over),
            results,
            effects,
        };
        let opposite = |ending: &Ending| match ending {
            Ending::Win => Ending::Lose,
            Ending::Lose => Ending::Win,
            Ending::Draw => Ending::Draw,
        };
        let mut views = vec![view(results.clone(), effects.clone())];
        if roles.len() == 2 {
            views.push(view(results.iter().map(opposite).collect(), effects));
        }
        let whole = builder.cone(&[whole, conditions].concat());
        let mut operators: Vec<usize> = real.iter().map(|&(m, _)| self.moves[m].0).collect();
        operators.sort_unstable();
        operators.dedup();
        declaration.operators = operators
            .iter()
            .map(|&relation| Operator {
                name: self.bare(relation).into(),
                place: declaration.relations[relation].place,
                types: Vec::new(),
                rule: Rule {
                    place: declaration.relations[relation].place,
                    head: Vec::new(),
                    variables: 0,
                    body: Vec::new(),
                },
                effects: Vec::new(),
            })
            .collect();
        let moves = real.iter().map(|&(m, role)| {
            let (relation, tuple) = &self.moves[m];
            let operator = operators.iter().position(|other| other == relation).unwrap_or_default();
            Move { player: Some(role as u8), operator, tuple: tuple[1..].to_vec() }
        });
        let moves = moves.collect();
        for relation in &mut declaration.relations {
            if let Some(name) = relation.name.strip_prefix("true ") {
                relation.name = name.into();
            }
        }
        let facts = std::mem::take(&mut self.facts);
        Ok(Rules {
            numbers: facts.iter().cloned().zip(0..).collect(),
            flip: (0..facts.len() as u32).collect(),
            facts,
            start,
            moves,
            views,
            whole,
            absolute: true,
            declaration,
        })
    }

    /// What ends the game: outputs, and what each of them means for the first player.
    fn endings(
        &self,
        folder: &mut Folder<'_>,
        idle: &[Literal],
    ) -> Result<(Vec<Literal>, Vec<Ending>), RuleError> {
        let terminal = folder.fold(self.gate("terminal", &[]), idle);
        let Some(goal) = self.find("goal") else { return fault("no rule for `goal`") };
        // The value and gate of each goal of a role.
        let mut goals = vec![Vec::new(); self.description.roles.len()];
        for tuple in &self.grounder.tables[goal].tuples {
            let place = self.declaration.relations[goal].place;
            let &[role, value] = &tuple[..] else {
                return Err(RuleError::new(place, "`goal` has two arguments, a role and a value"));
            };
            let Some(number) =
                self.declaration.values[usize::from(value)].filter(|value| (0..=100).contains(value))
            else {
                let what = format!(
                    "`{}` is not a value of a goal, from 0 to 100",
                    self.declaration.objects[usize::from(value)]
                );
                return Err(RuleError::new(place, what));
            };
            let of = self.description.roles.iter().position(|name| self.object(name) == Some(role));
            if let Some(of) = of {
                let gate = folder.fold(self.gate("goal", tuple), idle);
                goals[of].push((number, gate));
            }
        }
        let (mut over, mut results) = (Vec::new(), Vec::new());
        let mut push = |folder: &mut Folder<'_>, gates: Vec<Literal>, ending| {
            over.push(folder.new.all(gates));
            results.push(ending);
        };
        for &(mine, gate) in &goals[0] {
            match goals.get(1) {
                None => {
                    let ending = match mine {
                        100 => Ending::Win,
                        0 => Ending::Lose,
                        _ => Ending::Draw,
                    };
                    push(folder, vec![terminal, gate], ending);
                }
                Some(others) => {
                    for &(other, its) in others {
                        let ending = match mine.cmp(&other) {
                            std::cmp::Ordering::Greater => Ending::Win,
                            std::cmp::Ordering::Less => Ending::Lose,
                            std::cmp::Ordering::Equal => Ending::Draw,
                        };
                        push(folder, vec![terminal, gate, its], ending);
                    }
                }
            }
        }
        // A terminal state in which no goal holds.
        push(folder, vec![terminal], Ending::Draw);
        Ok((over, results))
    }
}

/// Copies gates with known moves into a circuit over facts alone.
struct Folder<'a> {
    old: &'a Builder,
    new: Builder,
    facts: usize,
    /// Whether each gate depends on the moves.
    depends: Vec<bool>,
    /// Copies of gates that do not.
    copies: FxHashMap<usize, Literal>,
}

impl<'a> Folder<'a> {
    fn new(old: &'a Builder, facts: usize) -> Self {
        let first = old.facts() + 1;
        let mut depends = vec![false; first + old.len()];
        depends[facts + 1..first].fill(true);
        for node in first..first + old.len() {
            let inputs = old.inputs(node).unwrap_or_default();
            depends[node] = inputs.iter().any(|&input| depends[input as usize / 2]);
        }
        Self { old, new: Builder::new(facts), facts, depends, copies: FxHashMap::default() }
    }

    /// A literal of the new circuit, with the moves that were made.
    fn fold(&mut self, literal: Literal, made: &[Literal]) -> Literal {
        let mut known = FxHashMap::default();
        self.copy(literal, made, &mut known)
    }

    fn copy(&mut self, literal: Literal, made: &[Literal], known: &mut FxHashMap<usize, Literal>) -> Literal {
        let (node, negated) = (literal as usize / 2, literal % 2);
        // Nodes come after their inputs, so a stack of them in order does without recursion.
        let mut open = vec![node];
        while let Some(&top) = open.last() {
            if self.copied(top, made, known).is_some() {
                open.pop();
                continue;
            }
            let inputs = self.old.inputs(top).unwrap_or_default();
            let missing = |input: &&Literal| self.copied(**input as usize / 2, made, known).is_none();
            let before = open.len();
            open.extend(inputs.iter().filter(missing).map(|input| *input as usize / 2));
            if open.len() > before {
                continue;
            }
            let all = inputs
                .iter()
                .map(|&input| self.copied(input as usize / 2, made, known).unwrap_or(FALSE) ^ (input % 2))
                .collect();
            let copy = self.new.all(all);
            if self.depends[top] {
                known.insert(top, copy)
            } else {
                self.copies.insert(top, copy)
            };
            open.pop();
        }
        self.copied(node, made, known).unwrap_or(FALSE) ^ negated
    }

    fn copied(&self, node: usize, made: &[Literal], known: &FxHashMap<usize, Literal>) -> Option<Literal> {
        match node {
            0 => Some(FALSE),
            n if n <= self.facts => Some(n as Literal * 2),
            n if n <= self.old.facts() => Some(made[n - 1 - self.facts]),
            n if self.depends[n] => known.get(&n).copied(),
            n => self.copies.get(&n).copied(),
        }
    }

    /// What the moves made change, if these gates are the next facts and `legal` holds before.
    fn effects(
        &mut self,
        next: &[Literal],
        made: &[Literal],
        legal: Literal,
        conditions: &mut Vec<Literal>,
    ) -> Effects {
        // Facts that a legal move implies are known.
        let mut given = FxHashMap::default();
        let all = self.new.inputs(legal as usize / 2).filter(|_| legal.is_multiple_of(2));
        for &input in all.unwrap_or(&[legal]) {
            if (1..=self.facts).contains(&(input as usize / 2)) {
                given.insert(input as usize / 2, if input % 2 == 0 { TRUE } else { FALSE });
            }
        }
        let (mut effects, mut gates, mut changed) = (Effects::default(), Vec::new(), Vec::new());
        let mut known = FxHashMap::default();
        for (fact, &literal) in next.iter().enumerate() {
            let gate = self.copy(literal, made, &mut known);
            let own = self.new.fact(fact);
            if gate == own {
                continue;
            }
            let (gate, own) = (self.restrict(gate, &mut given), *given.get(&(fact + 1)).unwrap_or(&own));
            let set = self.new.all(vec![gate, own ^ 1]);
            let clear = self.new.all(vec![gate ^ 1, own]);
            match (gate, set, clear) {
                (FALSE, _, clear) if clear != FALSE => effects.clear.push(fact as u32),
                (TRUE, set, _) if set != FALSE => effects.set.push(fact as u32),
                _ => {
                    for (gate, adds) in [(set, true), (clear, false)] {
                        if gate != FALSE {
                            gates.push(gate);
                            changed.push((fact as u32, adds));
                        }
                    }
                }
            }
        }
        if !gates.is_empty() {
            effects.conditional = Some((self.new.cone(&gates), changed));
            conditions.extend(gates);
        }
        effects
    }

    /// A literal of the new circuit where the values of some nodes are given. Those of others are added.
    fn restrict(&mut self, literal: Literal, given: &mut FxHashMap<usize, Literal>) -> Literal {
        let node = literal as usize / 2;
        let mut open = vec![node];
        while let Some(&top) = open.last() {
            if given.contains_key(&top) {
                open.pop();
                continue;
            }
            let Some(inputs) = self.new.inputs(top).map(<[Literal]>::to_vec) else {
                given.insert(top, top as Literal * 2);
                open.pop();
                continue;
            };
            let before = open.len();
            open.extend(
                inputs.iter().map(|input| *input as usize / 2).filter(|input| !given.contains_key(input)),
            );
            if open.len() == before {
                let all = inputs.iter().map(|input| given[&(*input as usize / 2)] ^ (input % 2)).collect();
                let gate = self.new.all(all);
                given.insert(top, gate);
                open.pop();
            }
        }
        given[&node] ^ (literal % 2)
    }
}
