//! A rule file after name resolution and checks.

use crate::error::Place;
use rustc_hash::{FxHashMap, FxHashSet};

/// Index of an object.
pub(crate) type Object = u16;
/// Arguments of a relation or an operator.
pub(crate) type Tuple = Vec<Object>;

/// A declared game.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) about: Option<String>,
    /// Paragraphs of the rules in prose.
    pub(crate) rules: Vec<String>,
    pub(crate) players: usize,
    pub(crate) objects: Vec<String>,
    /// The number that an object stands for, if any.
    pub(crate) values: Vec<Option<i32>>,
    pub(crate) by_value: FxHashMap<i32, Object>,
    pub(crate) types: Vec<Type>,
    pub(crate) relations: Vec<Relation>,
    /// Groups of derived relations, each after those that it depends on. Mutually recursive relations are one group.
    pub(crate) order: Vec<Vec<usize>>,
    /// Operators of players, then those of chance.
    pub(crate) operators: Vec<Operator>,
    /// Endings in order of precedence: wins, losses, draws, each by descending amount.
    pub(crate) endings: Vec<(Grade, Rule)>,
    pub(crate) stuck: Grade,
    pub(crate) limit: Option<u32>,
    pub(crate) board: Option<Board>,
}

/// A type of objects.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) members: Vec<Object>,
    /// Maps each object to the same object in the previous player's notation. Objects without an entry stay.
    pub(crate) flip: FxHashMap<Object, Object>,
    /// Whether the flip exchanges named objects, such as the players, and is not `reversed`.
    pub(crate) is_exchanged: bool,
}

/// Source of a relation's tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tuples never change.
    Static,
    /// Tuples are part of the state.
    Dynamic,
    /// Tuples follow from the state.
    Derived,
}

/// A relation.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) name: String,
    /// Place of its declaration.
    pub(crate) place: Place,
    pub(crate) arity: usize,
    /// Type of each argument; empty for derived relations.
    pub(crate) types: Vec<usize>,
    pub(crate) kind: Kind,
    /// Tuples of a static relation, or initial tuples of a dynamic one.
    pub(crate) tuples: Vec<Tuple>,
    /// Whether no operator changes this dynamic relation: see [`Relation::names_players`].
    pub(crate) is_fixed: bool,
    pub(crate) rules: Vec<Rule>,
}

impl Type {
    /// The object after the flip.
    pub(crate) fn flipped(&self, object: Object) -> Object {
        self.flip.get(&object).copied().unwrap_or(object)
    }

    /// The objects that the flip exchanges with this one, which comes first.
    fn cycle(&self, object: Object) -> Vec<Object> {
        let next = |&object: &Object| Some(self.flipped(object));
        let others = std::iter::successors(next(&object), next).take_while(|&other| other != object);
        std::iter::once(object).chain(others).collect()
    }

    /// Whether the flip exchanges one object for each player and leaves all others: `flip player x o`.
    fn is_of_players(&self) -> bool {
        let first = self.flip.keys().next().filter(|_| self.is_exchanged);
        first.is_some_and(|&first| self.flip.len() > 1 && self.cycle(first).len() == self.flip.len())
    }

    /// Whether the flip exchanges objects in several cycles, such as the pieces of both players, and `is_named` holds for one
    /// object of each cycle.
    pub(crate) fn is_of_pieces(&self, is_named: impl Fn(Object) -> bool) -> bool {
        let names = |&object: &Object| self.cycle(object).into_iter().any(&is_named);
        self.is_exchanged && !self.is_of_players() && !self.flip.is_empty() && self.flip.keys().all(names)
    }
}

impl Relation {
    /// Whether some argument is a player and the tuples name every player there: `target(player, place) = x a, o b`. A
    /// relation that names only some of them is written for the player to move, like a rule.
    pub(crate) fn names_players(&self, types: &[Type]) -> bool {
        let mut args = self.types.iter().enumerate();
        args.any(|(at, &of)| types[of].is_of_players() && self.names_all(types, at))
    }

    /// Whether the tuples name every object that the flip of this argument's type exchanges.
    pub(crate) fn names_all(&self, types: &[Type], at: usize) -> bool {
        let is_named = |object| self.tuples.iter().any(|tuple| tuple[at] == object);
        types[self.types[at]].flip.keys().all(|&object| is_named(object))
    }

    /// A tuple of this relation after the flip.
    pub(crate) fn flipped(&self, types: &[Type], tuple: &[Object]) -> Tuple {
        tuple.iter().zip(&self.types).map(|(&object, &of)| types[of].flipped(object)).collect()
    }

    /// Whether the flip leaves the tuples unchanged.
    pub(crate) fn is_same_flipped(&self, types: &[Type]) -> bool {
        let known: FxHashSet<&Tuple> = self.tuples.iter().collect();
        self.tuples.iter().all(|tuple| known.contains(&self.flipped(types, tuple)))
    }

    /// The tuples and their images under repeated flips.
    pub(crate) fn tuples_of_all(&self, types: &[Type]) -> Vec<Tuple> {
        let mut all = self.tuples.clone();
        let mut known: FxHashSet<Tuple> = all.iter().cloned().collect();
        let mut at = 0;
        while at < all.len() {
            let next = self.flipped(types, &all[at]);
            if known.insert(next.clone()) {
                all.push(next);
            }
            at += 1;
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A rule: conditions and their conclusion.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) place: Place,
    pub(crate) head: Vec<Expression>,
    /// Number of variables.
    pub(crate) variables: usize,
    /// Ordered so that every variable is bound before it is tested.
    pub(crate) body: Vec<Condition>,
}

/// An operator of players, or an outcome of chance.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) types: Vec<usize>,
    /// The head holds the parameters, the body the preconditions.
    pub(crate) rule: Rule,
    pub(crate) effects: Vec<Effect>,
    /// Relative weight of an outcome of chance. None for operators of players.
    pub(crate) weight: Option<(Expression, Place)>,
    /// Rules under which a player moves again after an operator, or the turn passes after chance; one is enough. The
    /// first variables are the parameters.
    pub(crate) turns: Vec<Rule>,
}

/// A tuple that an operator adds or deletes. The first variables of its rule are the operator's parameters.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) place: Place,
    pub(crate) adds: bool,
    pub(crate) relation: usize,
    pub(crate) rule: Rule,
}

/// A condition.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Holds { negated: bool, relation: usize, args: Vec<Expression> },
    Compare { left: Expression, sign: &'static str, right: Expression },
}

/// A sum; a single summand may be any object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression(pub(crate) Vec<(bool, Summand)>);

/// A summand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Summand {
    Variable(usize),
    Object(Object),
    Number(i32),
}

/// Result for the player who moved or, if stuck, cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Win,
    Lose,
    Draw,
}

/// A result and its amount in hundredths. A draw has amount 0.
pub(crate) type Grade = (Ending, u16);

/// Default amount of a win or loss.
pub(crate) const ONE: u16 = 100;

/// Layout for drawing positions.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(crate) relation: usize,
    /// Index of the argument that is drawn.
    pub(crate) mark: usize,
    /// Arguments of each cell, row by row from the top, without the drawn argument.
    pub(crate) rows: Vec<Vec<Tuple>>,
    /// Character of each drawn object.
    pub(crate) marks: FxHashMap<Object, char>,
}

/// A value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Object(Object),
    /// A number that is not an object.
    Number(i32),
}

impl Declaration {
    /// An object as the player `turns` turns before writes it.
    pub(crate) fn turned(&self, of: usize, object: Object, turns: usize) -> Object {
        (0..turns).fold(object, |object, _| self.types[of].flipped(object))
    }

    /// Whether the players move in a fixed order, without chance.
    pub(crate) fn alternates(&self) -> bool {
        self.operators.iter().all(|operator| operator.weight.is_none() && operator.turns.is_empty())
    }

    /// Possible amounts of wins and losses, in hundredths, ascending.
    pub(crate) fn amounts(&self) -> Vec<u16> {
        let limit = (self.limit.is_some() && self.players == 1).then_some((Ending::Lose, ONE));
        let grades = self.endings.iter().map(|(grade, _)| *grade).chain([self.stuck]).chain(limit);
        let amounts = grades.filter(|(ending, _)| *ending != Ending::Draw).map(|(_, amount)| amount);
        let mut amounts: Vec<u16> = amounts.collect();
        amounts.sort_unstable();
        amounts.dedup();
        amounts
    }

    /// Evaluates an expression. None if a variable is not bound, or a summand of several is not a number.
    pub(crate) fn value(&self, expression: &Expression, binding: &[Option<Object>]) -> Option<Value> {
        if let [(false, summand)] = expression.0[..] {
            return match summand {
                Summand::Variable(v) => binding[v].map(Value::Object),
                Summand::Object(object) => Some(Value::Object(object)),
                Summand::Number(number) => Some(Value::Number(number)),
            };
        }
        let mut sum = 0_i64;
        for &(subtracted, summand) in &expression.0 {
            let number = match summand {
                Summand::Variable(v) => self.values[usize::from(binding[v]?)]?,
                Summand::Object(object) => self.values[usize::from(object)]?,
                Summand::Number(number) => number,
            };
            sum += if subtracted { -i64::from(number) } else { i64::from(number) };
        }
        let number = i32::try_from(sum).ok()?;
        Some(self.by_value.get(&number).map_or(Value::Number(number), |&object| Value::Object(object)))
    }

    /// Whether a comparison of two values holds.
    pub(crate) fn compare(&self, left: Value, sign: &str, right: Value) -> bool {
        let number = |value| match value {
            Value::Object(object) => self.values[usize::from(object)],
            Value::Number(number) => Some(number),
        };
        let ordered = |test: fn(&i32, &i32) -> bool| {
            number(left).zip(number(right)).is_some_and(|(left, right)| test(&left, &right))
        };
        match sign {
            "=" => left == right,
            "!=" => left != right,
            "<" => ordered(i32::lt),
            "<=" => ordered(i32::le),
            ">" => ordered(i32::gt),
            _ => ordered(i32::ge),
        }
    }

    /// A relation or operator with its arguments, as text.
    pub(crate) fn shown(&self, name: &str, tuple: &[Object]) -> String {
        if tuple.is_empty() {
            return name.into();
        }
        let args: Vec<&str> =
            tuple.iter().map(|&object| self.objects[usize::from(object)].as_str()).collect();
        format!("{name}({})", args.join(","))
    }
}
