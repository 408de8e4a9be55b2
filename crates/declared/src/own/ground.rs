//! Compiles a declaration: binds all variables, removes static conditions, and makes circuits of the rest.
//!
//! Rules are written for the player to move. For each other player, the same rules are bound to flipped facts.

use super::declaration::{
    Condition, Declaration, Expression, Kind, Object, Operator, Relation, Rule, Summand, Tuple, Value,
};
use super::followed::Followed;
use super::resolve::PLAYERS;
use crate::circuit::{Builder, Cone, FALSE, Literal, TRUE};
use crate::error::RuleError;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Limit on facts of a state.
const FACTS: usize = 1 << 14;
/// Limit on operators with all their arguments.
const MOVES: usize = 1 << 16;
/// Limit on tuples of a relation.
const TUPLES: usize = 1 << 20;
/// The largest weight of an outcome of chance.
const WEIGHT: i32 = 1_000_000;
/// Limit on gates of a cycle times its tuples: a tenth of a second at worst, and usually much less.
const CYCLE: usize = 1 << 27;
/// Limit on gates in the conditions of all moves, counted per move.
const CONES: usize = 1 << 25;
/// Limit on gates.
const GATES: usize = 1 << 21;
/// Limit on binding steps: about a second.
const STEPS: u64 = 40_000_000;
/// Memory limit of the proofs of a relation or operator before gates are made of them, in bytes.
const HELD: usize = 1 << 28;
/// Memory limit of the tuples of all relations and of their indexes, in bytes.
const BYTES: usize = 1 << 30;

/// A compiled game.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) declaration: Declaration,
    /// Relation and arguments of each fact.
    pub(crate) facts: Vec<(usize, Tuple)>,
    /// Index of each fact.
    pub(crate) numbers: FxHashMap<(usize, Tuple), u32>,
    /// For each player, maps each fact in this player's notation to a fact. The identity for the first player.
    pub(crate) turned: Vec<Vec<u32>>,
    /// Facts that hold at the start.
    pub(crate) start: Vec<u32>,
    /// Moves of players, then outcomes of chance.
    pub(crate) moves: Vec<Move>,
    /// Number of moves of players.
    pub(crate) acts: usize,
    /// Whether the players move in a fixed order, without chance.
    pub(crate) alternates: bool,
    /// Possible amounts of wins and losses, in hundredths, ascending.
    pub(crate) amounts: Vec<u16>,
    /// One view per player.
    pub(crate) views: Vec<View>,
    /// The circuit for incremental evaluation.
    pub(crate) followed: Followed,
}

/// An operator or an outcome of chance with its arguments, in the first player's notation.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) operator: usize,
    pub(crate) tuple: Tuple,
    /// Relative weight of an outcome of chance.
    pub(crate) weight: u32,
}

/// Moves of players, then outcomes of chance. For each player, whether each move is legal, and whether each outcome is
/// possible in this player's turn.
pub(crate) struct Moves {
    pub(crate) moves: Vec<Move>,
    pub(crate) legal: Vec<Vec<Literal>>,
    chance: Vec<Vec<Literal>>,
}

/// The rules from one player's view.
#[derive(Debug)]
pub(crate) struct View {
    /// One output per move of players: whether it is legal.
    pub(crate) legal: Cone,
    /// One output per outcome of chance: whether it is possible in this player's turn.
    pub(crate) chance: Cone,
    /// One output per ending: whether it holds after a move of this player. The first one that does counts.
    pub(crate) over: Cone,
    pub(crate) effects: Vec<Effects>,
}

/// Effects of a move. Facts are cleared first, then set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) clear: Vec<u32>,
    pub(crate) set: Vec<u32>,
    /// Facts that are cleared or set if their condition holds before the move.
    pub(crate) conditional: Option<Conditional>,
    pub(crate) stays: Stays,
}

/// Conditions, and for each the fact that it sets (true) or clears.
pub(crate) type Conditional = (Cone, Vec<(u32, bool)>);

/// Whether the same player moves again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stays {
    #[default]
    Never,
    Always,
    /// If the last output of the conditions holds before the move. It belongs to no fact.
    Asked,
}

impl Effects {
    /// Whether the same player moves again. `last` evaluates the last condition.
    #[inline]
    pub(crate) fn keeps_turn(&self, last: impl FnOnce() -> bool) -> bool {
        match self.stays {
            Stays::Never => false,
            Stays::Always => true,
            Stays::Asked => last(),
        }
    }
}

/// The possible tuples of a relation.
#[derive(Default)]
pub(crate) struct TupleTable {
    pub(crate) tuples: Vec<Tuple>,
    pub(crate) numbers: FxHashMap<Tuple, u32>,
    /// For each argument: tuples by object.
    by: Vec<FxHashMap<Object, Vec<u32>>>,
    /// The literal of each tuple for each player. Empty for static relations.
    pub(crate) holds: [Vec<Literal>; PLAYERS],
}

impl TupleTable {
    pub(crate) fn add(&mut self, tuple: Tuple) -> usize {
        if let Some(&number) = self.numbers.get(&tuple) {
            return number as usize;
        }
        let number = self.tuples.len();
        self.by.resize_with(tuple.len(), FxHashMap::default);
        for (by, &object) in self.by.iter_mut().zip(&tuple) {
            by.entry(object).or_default().push(number as u32);
        }
        self.numbers.insert(tuple.clone(), number as u32);
        self.tuples.push(tuple);
        number
    }

    /// Approximate memory in bytes.
    fn bytes(&self) -> usize {
        self.tuples.len() * (2 * tuple_bytes(self.by.len()) + self.by.len() * 8)
    }
}

/// A residual condition on the state: relation, tuple, and whether it is negated.
pub(crate) type Residual = (u32, u32, bool);

/// The tuples that rules can prove, with the residual conditions of each proof.
#[derive(Default)]
pub(crate) struct Proofs {
    heads: Vec<Tuple>,
    numbers: FxHashMap<Tuple, u32>,
    /// The head of each proof, and the end of its conditions.
    proofs: Vec<(u32, u32)>,
    rests: Vec<Residual>,
}

impl Proofs {
    /// Adds a proof. Returns its approximate memory in bytes, including the gates of `views` players.
    fn add(&mut self, tuple: Tuple, rest: &[Residual], views: usize) -> usize {
        let next = self.heads.len() as u32;
        let number = *self.numbers.entry(tuple).or_insert_with_key(|tuple| {
            self.heads.push(tuple.clone());
            next
        });
        self.rests.extend_from_slice(rest);
        self.proofs.push((number, self.rests.len() as u32));
        let of_head =
            if number == next { 2 * tuple_bytes(self.heads[next as usize].len()) + 64 * views } else { 0 };
        of_head + size_of::<(u32, u32)>() + size_of_val(rest) + 2 * size_of::<Literal>() * views
    }

    /// Each head with the conditions of its proofs.
    pub(crate) fn by_head(&self) -> impl Iterator<Item = (&Tuple, Vec<&[Residual]>)> {
        let mut ways = vec![Vec::new(); self.heads.len()];
        for (&(number, _), (_, rest)) in self.proofs.iter().zip(self.iter()) {
            ways[number as usize].push(rest);
        }
        self.heads.iter().zip(ways)
    }

    /// Each proof, in order of discovery.
    fn iter(&self) -> impl Iterator<Item = (&Tuple, &[Residual])> {
        let mut begin = 0;
        self.proofs.iter().map(move |&(number, end)| {
            let rest = &self.rests[std::mem::replace(&mut begin, end as usize)..end as usize];
            (&self.heads[number as usize], rest)
        })
    }
}

/// Approximate memory of a tuple in a list or a map, in bytes.
fn tuple_bytes(arity: usize) -> usize {
    size_of::<Tuple>() + 32 + arity * size_of::<Object>()
}

pub(crate) struct Grounder<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) tables: Vec<TupleTable>,
    pub(crate) builder: Builder,
    steps: u64,
    /// Bytes of the proofs of a relation or operator before gates are made of them.
    pub(crate) held: usize,
    /// Tuples times gates of all recursive relations.
    cycles: usize,
    /// Gates in the conditions of all moves.
    cones: usize,
}

impl Rules {
    /// Reads and compiles a rule file.
    pub(crate) fn read(source: &str) -> Result<Self, RuleError> {
        Self::compile(Declaration::read(source)?)
    }

    fn compile(declaration: Declaration) -> Result<Self, RuleError> {
        let facts = facts_of(&declaration)?;
        let numbers: FxHashMap<_, _> = facts.iter().cloned().zip(0..).collect();
        let turned = turned(&declaration, &facts, &numbers);
        let start =
            declaration.relations.iter().enumerate().filter(|(_, relation)| relation.kind == Kind::Dynamic);
        let start =
            start.flat_map(|(r, relation)| relation.tuples.iter().map(move |tuple| (r, tuple.clone())));
        let start = start.map(|fact| numbers[&fact]).collect();
        let mut grounder = Grounder::from_declaration(&declaration, &facts, &turned);
        grounder.derive()?;
        let (moves, views, followed) = grounder.compile(&numbers)?;
        let is_act = |one: &&Move| declaration.operators[one.operator].weight.is_none();
        let acts = moves.iter().filter(is_act).count();
        let (alternates, amounts) = (declaration.alternates(), declaration.amounts());
        Ok(Self {
            facts,
            numbers,
            turned,
            start,
            acts,
            alternates,
            amounts,
            moves,
            views,
            followed,
            declaration,
        })
    }

    /// Number of gates and facts that a move reads.
    pub(crate) fn cost(&self) -> usize {
        let view = &self.views[0];
        let moves = view.legal.outputs().len() + view.chance.outputs().len();
        view.legal.cost() + view.chance.cost() + view.over.cost() + moves + self.facts.len()
    }

    /// The player after this one.
    #[inline]
    pub(crate) fn next(&self, player: u8) -> u8 {
        if usize::from(player) + 1 < self.views.len() { player + 1 } else { 0 }
    }

    /// Whether a move is an outcome of chance.
    #[inline]
    pub(crate) fn is_chance(&self, number: u32) -> bool {
        number as usize >= self.acts
    }

    /// Arguments of a move in this player's notation.
    pub(crate) fn move_tuple(&self, number: usize, player: usize) -> Tuple {
        let Move { operator, tuple, .. } = &self.moves[number];
        let types = &self.declaration.operators[*operator].types;
        tuple.iter().zip(types).map(|(&object, &of)| self.declaration.turned(of, object, player)).collect()
    }
}

/// All tuples of all dynamic relations; for unchanged ones, the tuples that hold for some player.
fn facts_of(declaration: &Declaration) -> Result<Vec<(usize, Tuple)>, RuleError> {
    let mut facts = Vec::new();
    for (number, relation) in declaration.relations.iter().enumerate() {
        if relation.kind != Kind::Dynamic {
            continue;
        }
        let fixed = relation.is_fixed.then(|| relation.tuples_of_all(&declaration.types));
        let sizes = relation.types.iter().map(|&of| declaration.types[of].members.len());
        let size = fixed.as_ref().map_or_else(|| sizes.fold(1_usize, usize::saturating_mul), Vec::len);
        if facts.len().saturating_add(size) > FACTS {
            let total = facts.len().saturating_add(size);
            let what =
                format!("{total} facts with those of `{}`: a state has at most {FACTS}", relation.name);
            return Err(RuleError::new(relation.place, what));
        }
        let tuples = fixed.unwrap_or_else(|| product(declaration, &relation.types));
        facts.extend(tuples.into_iter().map(|tuple| (number, tuple)));
    }
    Ok(facts)
}

/// For each player, maps each fact in this player's notation to a fact.
fn turned(
    declaration: &Declaration,
    facts: &[(usize, Tuple)],
    numbers: &FxHashMap<(usize, Tuple), u32>,
) -> Vec<Vec<u32>> {
    let turned = |player: usize| {
        let of = move |(relation, tuple): &(usize, Tuple)| {
            let types = &declaration.relations[*relation].types;
            let objects = tuple.iter().zip(types);
            let tuple = objects.map(|(&object, &of)| declaration.turned(of, object, player)).collect();
            numbers[&(*relation, tuple)]
        };
        facts.iter().map(of).collect()
    };
    (0..declaration.players).map(turned).collect()
}

/// All tuples of objects of these types.
fn product(declaration: &Declaration, types: &[usize]) -> Vec<Tuple> {
    types.iter().fold(vec![Vec::new()], |tuples, &of| {
        let members = &declaration.types[of].members;
        let longer = |tuple: &Tuple| {
            let tuple = tuple.clone();
            members.iter().map(move |&object| tuple.iter().copied().chain([object]).collect())
        };
        tuples.iter().flat_map(longer).collect()
    })
}

impl Grounder<'_> {
    /// Creates a grounder for a declaration, with its static and dynamic relations.
    pub(crate) fn from_declaration<'a>(
        declaration: &'a Declaration,
        facts: &[(usize, Tuple)],
        turned: &[Vec<u32>],
    ) -> Grounder<'a> {
        let mut tables: Vec<TupleTable> = Vec::new();
        for relation in &declaration.relations {
            let mut table = TupleTable::default();
            if relation.kind == Kind::Static {
                for tuple in &relation.tuples {
                    table.add(tuple.clone());
                }
            }
            tables.push(table);
        }
        let builder = Builder::new(facts.len());
        for (fact, (relation, tuple)) in facts.iter().enumerate() {
            let table = &mut tables[*relation];
            table.add(tuple.clone());
            for (holds, turned) in table.holds.iter_mut().zip(turned) {
                holds.push(builder.fact(turned[fact] as usize));
            }
        }
        Grounder { declaration, tables, builder, steps: 0, held: 0, cycles: 0, cones: 0 }
    }

    /// Finds the tuples of all relations with rules.
    pub(crate) fn derive(&mut self) -> Result<(), RuleError> {
        for group in &self.declaration.order {
            if self.declaration.relations[group[0]].kind == Kind::Static {
                self.closure(group)?;
                continue;
            }
            if self.is_recursive(group) {
                self.close(group)?;
                continue;
            }
            for &relation in group {
                for (view, reasons) in self.reasons(relation)?.into_iter().enumerate() {
                    let holds = reasons.into_iter().map(|reasons| self.builder.any(reasons)).collect();
                    self.tables[relation].holds[view] = holds;
                }
            }
        }
        Ok(())
    }

    /// For each player and each tuple of a relation, the gates of its proofs. Adds the tuples that it does not have yet.
    fn reasons(&mut self, relation: usize) -> Result<Vec<Vec<Vec<Literal>>>, RuleError> {
        let views = self.declaration.players;
        let mut reasons = vec![vec![Vec::new(); self.tables[relation].tuples.len()]; views];
        for (tuple, rest) in self.heads(relation)?.iter() {
            let gates: SmallVec<[Literal; 2]> = (0..views).map(|view| self.gate(view, rest)).collect();
            if gates.iter().all(|&gate| gate == FALSE) {
                continue;
            }
            if self.builder.len() > GATES {
                self.check_size(relation)?;
            }
            let number = self.tables[relation].add(tuple.clone());
            for (reasons, gate) in reasons.iter_mut().zip(gates) {
                reasons.resize_with(reasons.len().max(number + 1), Vec::new);
                reasons[number].push(gate);
            }
        }
        self.check_size(relation)?;
        Ok(reasons)
    }

    /// Whether relations are recursive.
    fn is_recursive(&self, group: &[usize]) -> bool {
        let bodies = group.iter().flat_map(|&relation| &self.declaration.relations[relation].rules);
        bodies.flat_map(|rule| &rule.body).any(
            |condition| matches!(condition, Condition::Holds { relation, .. } if group.contains(relation)),
        )
    }

    /// Compiles mutually recursive relations that depend on the state to a least fixpoint.
    fn close(&mut self, group: &[usize]) -> Result<(), RuleError> {
        self.closure(group)?;
        let (views, first) = (self.declaration.players, self.builder.len());
        let mut tuples = 0;
        for &relation in group {
            let table = &mut self.tables[relation];
            tuples += table.tuples.len();
            for holds in &mut table.holds[..views] {
                *holds = table.tuples.iter().map(|_| self.builder.open()).collect();
            }
            self.check_size(relation)?;
        }
        for &relation in group {
            for (view, reasons) in self.reasons(relation)?.into_iter().enumerate() {
                for (number, reasons) in reasons.into_iter().enumerate() {
                    let definition = self.builder.any(reasons);
                    self.builder.close(self.tables[relation].holds[view][number], definition);
                }
            }
            self.check_size(relation)?;
        }
        self.builder.mark_cycle(first);
        let gates = self.builder.len() - first;
        self.cycles = self.cycles.saturating_add(gates.saturating_mul(tuples));
        if self.cycles > CYCLE {
            let Relation { name, place, .. } = &self.declaration.relations[group[0]];
            let what = format!(
                "`{name}` depends on itself and on the state with {tuples} tuples and {gates} gates; the sum of such products is more \
                 than {CYCLE}"
            );
            return Err(RuleError::new(*place, what));
        }
        Ok(())
    }

    /// Adds everything that follows to these relations until nothing new follows: the tuples that hold or, if they
    /// depend on the state, may hold.
    pub(crate) fn closure(&mut self, group: &[usize]) -> Result<(), RuleError> {
        loop {
            let before: usize = group.iter().map(|&r| self.tables[r].tuples.len()).sum();
            for &relation in group {
                for tuple in self.new_heads(relation)? {
                    self.tables[relation].add(tuple);
                }
                self.check_size(relation)?;
            }
            if before == group.iter().map(|&r| self.tables[r].tuples.len()).sum::<usize>() {
                return Ok(());
            }
        }
    }

    pub(crate) fn check_size(&self, relation: usize) -> Result<(), RuleError> {
        let (count, Relation { name, place, .. }) =
            (self.tables[relation].tuples.len(), &self.declaration.relations[relation]);
        if count > TUPLES {
            return Err(RuleError::new(*place, format!("`{name}` has {count} tuples, more than {TUPLES}")));
        }
        if self.tables.iter().map(TupleTable::bytes).sum::<usize>() > BYTES {
            let what =
                format!("the tuples of all relations with those of `{name}` take more than a gigabyte");
            return Err(RuleError::new(*place, what));
        }
        if self.builder.len() > GATES {
            return Err(RuleError::new(*place, format!("more than {GATES} gates with those of `{name}`")));
        }
        Ok(())
    }

    /// The tuples that the rules of a relation can prove, with the residual conditions of each proof.
    fn heads(&mut self, relation: usize) -> Result<Proofs, RuleError> {
        let declaration = self.declaration;
        let of = &declaration.relations[relation];
        let mut proofs = Proofs::default();
        self.held = 0;
        for rule in &of.rules {
            self.prove(rule, &[], &of.name, &mut proofs)?;
        }
        Ok(proofs)
    }

    /// The tuples that the rules of a relation can prove and that it does not have yet.
    fn new_heads(&mut self, relation: usize) -> Result<Vec<Tuple>, RuleError> {
        let declaration = self.declaration;
        let of = &declaration.relations[relation];
        let mut found = Proofs::default();
        self.held = 0;
        for rule in &of.rules {
            self.bind(rule, &[], &of.name, |tables, binding, _| {
                let is_new = |tuple: &Tuple| {
                    !tables[relation].numbers.contains_key(tuple) && !found.numbers.contains_key(tuple)
                };
                let tuple = tuple_of(declaration, &rule.head, binding).filter(is_new);
                tuple.map_or(0, |tuple| found.add(tuple, &[], 0))
            })?;
        }
        Ok(found.heads)
    }

    /// Adds the proofs of a rule.
    pub(crate) fn prove(
        &mut self,
        rule: &Rule,
        given: &[Object],
        name: &str,
        proofs: &mut Proofs,
    ) -> Result<(), RuleError> {
        let declaration = self.declaration;
        self.bind(rule, given, name, |_, binding, rest| {
            let tuple = tuple_of(declaration, &rule.head, binding);
            tuple.map_or(0, |tuple| proofs.add(tuple, rest, declaration.players))
        })
    }

    /// AND of residual conditions, for a player.
    pub(crate) fn gate(&mut self, view: usize, rest: &[Residual]) -> Literal {
        let literal = |&(relation, tuple, negated): &Residual| {
            self.tables[relation as usize].holds[view][tuple as usize] ^ Literal::from(negated)
        };
        let inputs = rest.iter().map(literal).collect();
        self.builder.all(inputs)
    }

    /// Calls `found` with every binding of a rule and its residual conditions. The first variables are given. `found`
    /// returns how many bytes it keeps.
    pub(crate) fn bind(
        &mut self,
        rule: &Rule,
        given: &[Object],
        name: &str,
        found: impl FnMut(&[TupleTable], &[Option<Object>], &[Residual]) -> usize,
    ) -> Result<(), RuleError> {
        let mut binding = vec![None; rule.variables];
        for (slot, &object) in binding.iter_mut().zip(given) {
            *slot = Some(object);
        }
        let mut join = Join {
            declaration: self.declaration,
            tables: &self.tables,
            body: &rule.body,
            rest: Vec::new(),
            steps: self.steps,
            held: self.held,
            found,
        };
        let flow = join.from(0, &mut binding);
        (self.steps, self.held) = (join.steps, join.held);
        match flow {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                let most = match self.held > HELD {
                    true => format!("they take more than {} MiB", HELD >> 20),
                    false => format!("more than {STEPS} were tried"),
                };
                let what = format!(
                    "{name} has too many combinations of objects: {most}; ask for static relations that leave fewer"
                );
                Err(RuleError::new(rule.place, what))
            }
        }
    }

    /// The moves that may be possible, with their conditions.
    pub(crate) fn moves(&mut self) -> Result<Moves, RuleError> {
        let declaration = self.declaration;
        let views = declaration.players;
        let mut moves = Vec::new();
        let (mut legal, mut chance) = (vec![Vec::new(); views], vec![Vec::new(); views]);
        for (operator, of) in declaration.operators.iter().enumerate() {
            // Several derivations may give the same arguments.
            let mut proofs = Proofs::default();
            self.held = 0;
            self.prove(&of.rule, &[], &of.name, &mut proofs)?;
            for (tuple, ways) in proofs.by_head() {
                let mut gates = Vec::new();
                for view in 0..views {
                    gates.push(self.one_of(view, ways.iter().copied()));
                }
                if gates.iter().all(|&gate| gate == FALSE) {
                    continue;
                }
                let weight = match &of.weight {
                    None => 1,
                    Some((weight, place)) => self.weight(of, tuple, weight).ok_or_else(|| {
                        let shown = declaration.shown(&of.name, tuple);
                        let what = format!(
                            "the weight of {shown} is not a whole number from 1 to {WEIGHT}; forbid the outcome by a condition or \
                             change its weight"
                        );
                        RuleError::new(*place, what)
                    })?,
                };
                let all = if of.weight.is_none() { &mut legal } else { &mut chance };
                all.iter_mut().zip(gates).for_each(|(all, gate)| all.push(gate));
                moves.push(Move { operator, tuple: tuple.clone(), weight });
                if moves.len() > MOVES || self.builder.len() > GATES {
                    let what = format!(
                        "more than {MOVES} moves or {GATES} gates with those of operator `{}`",
                        of.name
                    );
                    return Err(RuleError::new(of.place, what));
                }
            }
        }
        if legal.iter().all(Vec::is_empty) {
            return Err(RuleError::new(declaration.operators[0].place, "no operator can ever be legal"));
        }
        Ok(Moves { moves, legal, chance })
    }

    fn compile(
        &mut self,
        numbers: &FxHashMap<(usize, Tuple), u32>,
    ) -> Result<(Vec<Move>, Vec<View>, Followed), RuleError> {
        let declaration = self.declaration;
        let views = declaration.players;
        let Moves { moves, legal, chance } = self.moves()?;
        let mut effects = Vec::with_capacity(views);
        for view in 0..views {
            let mut of_view = Vec::with_capacity(moves.len());
            for one in &moves {
                of_view.push(self.effects(one, view, numbers)?);
                if self.cones > CONES || self.builder.len() > GATES {
                    let Operator { name, place, .. } = &declaration.operators[one.operator];
                    let what = format!(
                        "what the moves of `{name}` change depends on too much: more than {GATES} gates, or {CONES} over all moves"
                    );
                    return Err(RuleError::new(*place, what));
                }
            }
            effects.push(of_view);
        }
        let mut over = vec![Vec::new(); views];
        for (_, rule) in &declaration.endings {
            let ways = self.ways(rule, &[], "an ending")?;
            for (view, over) in over.iter_mut().enumerate() {
                over.push(self.one_of(view, ways.iter().map(|(_, rest)| rest)));
            }
        }
        let followed = Followed::new(&self.builder, &legal, &chance, &over)?;
        let views = effects.into_iter().enumerate().map(|(view, effects)| View {
            legal: self.builder.cone(&legal[view]),
            chance: self.builder.cone(&chance[view]),
            over: self.builder.cone(&over[view]),
            effects,
        });
        Ok((moves, views.collect(), followed))
    }

    /// The relative weight of an outcome with these arguments. None if it is not a number within its bounds.
    fn weight(&self, of: &Operator, tuple: &[Object], weight: &Expression) -> Option<u32> {
        let mut binding = vec![None; of.rule.variables.max(tuple.len())];
        for (slot, &object) in binding.iter_mut().zip(tuple) {
            *slot = Some(object);
        }
        let number = match self.declaration.value(weight, &binding)? {
            Value::Object(object) => self.declaration.values[usize::from(object)]?,
            Value::Number(number) => number,
        };
        (1..=WEIGHT).contains(&number).then_some(number as u32)
    }

    /// Proofs of a rule without a head. The first variables are given.
    fn ways(&mut self, rule: &Rule, given: &[Object], name: &str) -> Result<Proofs, RuleError> {
        let (mut proofs, views) = (Proofs::default(), self.declaration.players);
        self.held = 0;
        self.bind(rule, given, name, |_, _, rest| proofs.add(Tuple::new(), rest, views))?;
        Ok(proofs)
    }

    /// OR of proofs, for a player.
    pub(crate) fn one_of<'r>(
        &mut self,
        view: usize,
        ways: impl IntoIterator<Item = &'r [Residual]>,
    ) -> Literal {
        let any: Vec<Literal> = ways.into_iter().map(|rest| self.gate(view, rest)).collect();
        self.builder.any(any)
    }

    /// Effects of a player's move.
    fn effects(
        &mut self,
        one: &Move,
        view: usize,
        numbers: &FxHashMap<(usize, Tuple), u32>,
    ) -> Result<Effects, RuleError> {
        let declaration = self.declaration;
        let (mut effects, mut gates, mut changed) = (Effects::default(), Vec::new(), Vec::new());
        let operator = &declaration.operators[one.operator];
        for effect in &operator.effects {
            let types = &declaration.relations[effect.relation].types;
            let (mut found, mut outside) = (Vec::new(), false);
            self.held = 0;
            self.bind(&effect.rule, &one.tuple, &operator.name, |_, binding, rest| {
                let tuple = tuple_of(declaration, &effect.rule.head, binding).and_then(|tuple| {
                    let seen =
                        tuple.iter().zip(types).map(|(&object, &of)| declaration.turned(of, object, view));
                    numbers.get(&(effect.relation, seen.collect())).copied()
                });
                match tuple {
                    Some(fact) => found.push((fact, rest.to_vec())),
                    None => outside = true,
                }
                // The list and the memory of its conditions.
                2 * size_of::<(u32, Vec<Residual>)>() + size_of_val(rest)
            })?;
            if outside {
                let shown = declaration.shown(&operator.name, &one.tuple);
                let relation = &declaration.relations[effect.relation].name;
                let verb = if effect.adds { "adds" } else { "deletes" };
                let what = format!(
                    "{shown} {verb} a tuple of `{relation}` with an object that is not of its type; forbid it by a condition"
                );
                return Err(RuleError::new(effect.place, what));
            }
            for (fact, rest) in found {
                match self.gate(view, &rest) {
                    FALSE => {}
                    TRUE if effect.adds => effects.set.push(fact),
                    TRUE => effects.clear.push(fact),
                    gate => {
                        gates.push(gate);
                        changed.push((fact, effect.adds));
                    }
                }
            }
        }
        let mut stays = FALSE;
        for rule in &operator.turns {
            let ways = self.ways(rule, &one.tuple, &operator.name)?;
            let way = self.one_of(view, ways.iter().map(|(_, rest)| rest));
            stays = self.builder.any([stays, way]);
        }
        // After chance, the turn stays unless it passes.
        if operator.weight.is_some() {
            stays ^= 1;
        }
        effects.stays = match stays {
            FALSE => Stays::Never,
            TRUE => Stays::Always,
            gate => {
                gates.push(gate);
                Stays::Asked
            }
        };
        if !gates.is_empty() {
            let cone = self.builder.cone(&gates);
            // Finding a cone visits the whole circuit.
            self.cones += cone.len() + gates.len() + self.builder.len() / 16;
            effects.conditional = Some((cone, changed));
        }
        Ok(effects)
    }
}

/// The arguments of a head. None if one is not an object.
pub(crate) fn tuple_of(
    declaration: &Declaration,
    head: &[Expression],
    binding: &[Option<Object>],
) -> Option<Tuple> {
    let object = |expression| match declaration.value(expression, binding)? {
        Value::Object(object) => Some(object),
        Value::Number(_) => None,
    };
    head.iter().map(object).collect()
}

/// Binds the variables of a rule, condition by condition.
struct Join<'a, F> {
    declaration: &'a Declaration,
    tables: &'a [TupleTable],
    body: &'a [Condition],
    rest: Vec<Residual>,
    steps: u64,
    held: usize,
    found: F,
}

impl<F: FnMut(&[TupleTable], &[Option<Object>], &[Residual]) -> usize> Join<'_, F> {
    fn from(&mut self, at: usize, binding: &mut Vec<Option<Object>>) -> ControlFlow<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return ControlFlow::Break(());
        }
        let Some(condition) = self.body.get(at) else {
            self.held += (self.found)(self.tables, binding, &self.rest);
            return if self.held > HELD { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        };
        match condition {
            Condition::Compare { left, sign, right } => self.compare(at, (left, sign, right), binding),
            Condition::Holds { negated, relation, args } => {
                let values: Vec<Option<Value>> =
                    args.iter().map(|arg| self.declaration.value(arg, binding)).collect();
                if *negated {
                    self.without(at, *relation, &values, binding)
                } else {
                    self.with(at, (*relation, args), &values, binding)
                }
            }
        }
    }

    fn compare(
        &mut self,
        at: usize,
        (left, sign, right): (&Expression, &str, &Expression),
        binding: &mut Vec<Option<Object>>,
    ) -> ControlFlow<()> {
        let free = |e: &Expression| match e.0[..] {
            [(false, Summand::Variable(v))] if binding[v].is_none() => Some(v),
            _ => None,
        };
        let (variable, other) = match (free(left), free(right)) {
            (Some(v), _) => (v, right),
            (_, Some(v)) => (v, left),
            (None, None) => {
                let values = [left, right].map(|e| self.declaration.value(e, binding));
                return match values {
                    [Some(left), Some(right)] if self.declaration.compare(left, sign, right) => {
                        self.from(at + 1, binding)
                    }
                    _ => ControlFlow::Continue(()),
                };
            }
        };
        let Some(Value::Object(object)) = self.declaration.value(other, binding) else {
            return ControlFlow::Continue(());
        };
        binding[variable] = Some(object);
        let flow = self.from(at + 1, binding);
        binding[variable] = None;
        flow
    }

    /// Handles a negated condition with all arguments bound. Impossible tuples do not hold.
    fn without(
        &mut self,
        at: usize,
        relation: usize,
        values: &[Option<Value>],
        binding: &mut Vec<Option<Object>>,
    ) -> ControlFlow<()> {
        let object = |value: &Option<Value>| match value {
            Some(Value::Object(object)) => Some(*object),
            _ => None,
        };
        let tuple: Option<Tuple> = values.iter().map(object).collect();
        let found = tuple.and_then(|tuple| self.tables[relation].numbers.get(&tuple).copied());
        match found {
            None => self.from(at + 1, binding),
            Some(_) if self.declaration.relations[relation].kind == Kind::Static => ControlFlow::Continue(()),
            Some(number) => {
                self.rest.push((relation as u32, number, true));
                let flow = self.from(at + 1, binding);
                self.rest.pop();
                flow
            }
        }
    }

    /// Handles a condition that binds its free variables.
    fn with(
        &mut self,
        at: usize,
        (relation, args): (usize, &[Expression]),
        values: &[Option<Value>],
        binding: &mut Vec<Option<Object>>,
    ) -> ControlFlow<()> {
        let table = &self.tables[relation];
        let is_state = self.declaration.relations[relation].kind != Kind::Static;
        let mut fewest: Option<&[u32]> = None;
        for (place, (value, arg)) in values.iter().zip(args).enumerate() {
            match value {
                Some(Value::Object(object)) => {
                    let tuples = table.by.get(place).and_then(|by| by.get(object)).map_or(&[][..], |t| t);
                    if fewest.is_none_or(|fewest| tuples.len() < fewest.len()) {
                        fewest = Some(tuples);
                    }
                }
                // A number that is not an object, or a sum of terms that are not numbers.
                Some(Value::Number(_)) => return ControlFlow::Continue(()),
                None if arg.0.len() > 1 => return ControlFlow::Continue(()),
                None => {}
            }
        }
        let count = fewest.map_or(table.tuples.len(), <[u32]>::len);
        for i in 0..count {
            let number = fewest.map_or(i, |fewest| fewest[i] as usize);
            let before = binding.clone();
            let fits = args.iter().zip(&table.tuples[number]).all(|(arg, &object)| match arg.0[..] {
                [(false, Summand::Variable(v))] => *binding[v].get_or_insert(object) == object,
                _ => self.declaration.value(arg, binding) == Some(Value::Object(object)),
            });
            self.steps += 1;
            if fits {
                if is_state {
                    self.rest.push((relation as u32, number as u32, false));
                }
                let flow = self.from(at + 1, binding);
                if is_state {
                    self.rest.pop();
                }
                flow?;
            }
            *binding = before;
        }
        ControlFlow::Continue(())
    }
}
