//! A rule file whose names are resolved and checked.

use crate::error::Place;
use rustc_hash::{FxHashMap, FxHashSet};

/// An object by number.
pub(crate) type Object = u16;
/// Arguments of a relation or an operator.
pub(crate) type Tuple = Vec<Object>;

/// A declared game.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) about: Option<String>,
    /// Paragraphs of the rules for people.
    pub(crate) rules: Vec<String>,
    pub(crate) players: usize,
    pub(crate) objects: Vec<String>,
    /// The number that an object is, if it is one.
    pub(crate) values: Vec<Option<i32>>,
    pub(crate) by_value: FxHashMap<i32, Object>,
    pub(crate) types: Vec<Type>,
    pub(crate) relations: Vec<Relation>,
    /// Relations with rules, each after those that it is made of. Relations that depend on each other are one group.
    pub(crate) order: Vec<Vec<usize>>,
    /// Those of players first, then those of chance.
    pub(crate) operators: Vec<Operator>,
    /// In the order in which they count: wins, losses, draws, each from the largest amount down.
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
    /// What each object as one player writes it is as the player before writes it; the same for those without an entry.
    pub(crate) flip: FxHashMap<Object, Object>,
    /// Whether the flip exchanges named objects, such as the players, and is not `reversed`.
    pub(crate) is_exchanged: bool,
}

/// How a relation gets its tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They never change.
    Static,
    /// They are the state.
    Dynamic,
    /// They follow from the state.
    Derived,
}

/// A relation.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) name: String,
    /// Where it is declared.
    pub(crate) place: Place,
    pub(crate) arity: usize,
    /// Type of each argument; empty for relations that are derived.
    pub(crate) types: Vec<usize>,
    pub(crate) kind: Kind,
    /// Tuples of a static relation, or those with which a dynamic one begins.
    pub(crate) tuples: Vec<Tuple>,
    /// Whether nothing changes a dynamic relation: see [`Relation::names_players`].
    pub(crate) is_fixed: bool,
    pub(crate) rules: Vec<Rule>,
}

impl Type {
    /// The object that the flip makes of this one.
    pub(crate) fn flipped(&self, object: Object) -> Object {
        self.flip.get(&object).copied().unwrap_or(object)
    }

    /// Whether the flip exchanges one object for each player, and leaves all others as they are: `flip player x o`.
    fn is_of_players(&self) -> bool {
        let Some((&first, &second)) = self.flip.iter().next().filter(|_| self.is_exchanged) else {
            return false;
        };
        let mut cycle = std::iter::successors(Some(second), |&object| Some(self.flipped(object)));
        let length = 1 + cycle.position(|object| object == first).unwrap_or_default();
        length > 1 && self.flip.len() == length
    }
}

impl Relation {
    /// Whether an argument is a player, and the tuples name each of the players there: `target(player, place) = x a, o b`. A
    /// relation that names only some of them is written for the player to move, like a rule.
    pub(crate) fn names_players(&self, types: &[Type]) -> bool {
        self.types.iter().enumerate().any(|(at, &of)| {
            let is_named = |object| self.tuples.iter().any(|tuple| tuple[at] == object);
            types[of].is_of_players() && types[of].flip.keys().all(|&object| is_named(object))
        })
    }

    /// A tuple of this relation as the flip changes it.
    pub(crate) fn flipped(&self, types: &[Type], tuple: &[Object]) -> Tuple {
        tuple.iter().zip(&self.types).map(|(&object, &of)| types[of].flipped(object)).collect()
    }

    /// Whether the flip leaves the tuples as they are.
    pub(crate) fn is_same_flipped(&self, types: &[Type]) -> bool {
        let known: FxHashSet<&Tuple> = self.tuples.iter().collect();
        self.tuples.iter().all(|tuple| known.contains(&self.flipped(types, tuple)))
    }

    /// The tuples, and what any number of flips makes of them.
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

/// Conditions, and what they prove or change.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) place: Place,
    pub(crate) head: Vec<Expression>,
    /// Number of variables.
    pub(crate) variables: usize,
    /// In an order in which every variable is bound before it is tested.
    pub(crate) body: Vec<Condition>,
}

/// An operator, or an outcome of chance.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) types: Vec<usize>,
    /// Its head holds the parameters, its body the preconditions.
    pub(crate) rule: Rule,
    pub(crate) effects: Vec<Effect>,
    /// How likely an outcome of chance is beside others. None for what a player does.
    pub(crate) weight: Option<(Expression, Place)>,
    /// After what a player does, when the same player moves on; after chance, when the turn passes. One of them is enough. The
    /// first variables are the parameters.
    pub(crate) turns: Vec<Rule>,
}

/// A tuple that an operator adds or deletes. The first variables of its rule are the parameters of the operator.
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

/// A sum; one summand alone is an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression(pub(crate) Vec<(bool, Summand)>);

/// A summand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Summand {
    Variable(usize),
    Object(Object),
    Number(i32),
}

/// The result for the player who moved or, if stuck, cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Win,
    Lose,
    Draw,
}

/// A result, and how much it counts, in hundredths. A draw counts nothing.
pub(crate) type Grade = (Ending, u16);

/// What a win or a loss counts if no amount is said.
pub(crate) const ONE: u16 = 100;

/// How positions are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(crate) relation: usize,
    /// Argument that is drawn.
    pub(crate) mark: usize,
    /// Arguments of each cell, row by row from the top; the argument that is drawn is not set.
    pub(crate) rows: Vec<Vec<Tuple>>,
    /// Character of each object that is drawn.
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
    /// What an object of this type, as a player writes it, is as the player so many turns before writes it.
    pub(crate) fn turned(&self, of: usize, object: Object, turns: usize) -> Object {
        (0..turns).fold(object, |object, _| self.types[of].flipped(object))
    }

    /// Whether a player moves after each other in a fixed order, without chance.
    pub(crate) fn alternates(&self) -> bool {
        self.operators.iter().all(|operator| operator.weight.is_none() && operator.turns.is_empty())
    }

    /// What wins and losses may count, in hundredths, in ascending order.
    pub(crate) fn amounts(&self) -> Vec<u16> {
        let limit = (self.limit.is_some() && self.players == 1).then_some((Ending::Lose, ONE));
        let grades = self.endings.iter().map(|(grade, _)| *grade).chain([self.stuck]).chain(limit);
        let amounts = grades.filter(|(ending, _)| *ending != Ending::Draw).map(|(_, amount)| amount);
        let mut amounts: Vec<u16> = amounts.collect();
        amounts.sort_unstable();
        amounts.dedup();
        amounts
    }

    /// The value of an expression. None if a variable is not bound, or a summand of several is not a number.
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

    /// A relation or an operator with its arguments, as text.
    pub(crate) fn shown(&self, name: &str, tuple: &[Object]) -> String {
        if tuple.is_empty() {
            return name.into();
        }
        let args: Vec<&str> =
            tuple.iter().map(|&object| self.objects[usize::from(object)].as_str()).collect();
        format!("{name}({})", args.join(","))
    }
}
