//! A naive interpreter of declarations, the reference for the compiled rules. It tries all objects for all variables.

use super::declaration::{
    Condition, Declaration, Expression, Grade, Kind, Object, Rule, Summand, Tuple, Value,
};
use std::collections::{BTreeMap, BTreeSet};

type Facts = BTreeSet<(usize, Tuple)>;

/// A position from the view of the player whose turn it is: when the turn passes, all facts are flipped.
pub(crate) struct Plain<'a> {
    declaration: &'a Declaration,
    pub(crate) facts: Facts,
    /// Tuples of derived and of static relations.
    derived: BTreeMap<usize, BTreeSet<Tuple>>,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(declaration: &'a Declaration) -> Self {
        let relations = declaration.relations.iter().enumerate();
        let dynamic = relations.filter(|(_, relation)| relation.kind == Kind::Dynamic);
        let facts =
            dynamic.flat_map(|(r, relation)| relation.tuples.iter().map(move |tuple| (r, tuple.clone())));
        let mut plain = Self { declaration, facts: facts.collect(), derived: BTreeMap::new() };
        plain.derive();
        plain
    }

    /// Number of tuples of a relation that is not dynamic.
    pub(crate) fn count(&self, name: &str) -> usize {
        let number = self.declaration.relations.iter().position(|relation| relation.name == name);
        number.and_then(|number| self.derived.get(&number)).map_or(0, BTreeSet::len)
    }

    fn derive(&mut self) {
        self.derived.clear();
        for (number, relation) in self.declaration.relations.iter().enumerate() {
            if relation.kind == Kind::Static {
                self.derived.insert(number, relation.tuples.iter().cloned().collect());
            }
        }
        for group in &self.declaration.order {
            let mut changed = true;
            while changed {
                changed = false;
                for &number in group {
                    for rule in &self.declaration.relations[number].rules {
                        for tuple in self.heads(rule, &[]) {
                            changed |= self.derived.entry(number).or_default().insert(tuple);
                        }
                    }
                }
            }
        }
    }

    /// The heads of a rule for all bindings that satisfy it.
    fn heads(&self, rule: &Rule, given: &[Object]) -> BTreeSet<Tuple> {
        let mut heads = BTreeSet::new();
        let mut binding: Vec<Option<Object>> = given.iter().map(|&object| Some(object)).collect();
        binding.resize(rule.variables, None);
        self.try_all(rule, given.len(), &mut binding, &mut heads);
        heads
    }

    fn try_all(
        &self,
        rule: &Rule,
        variable: usize,
        binding: &mut Vec<Option<Object>>,
        heads: &mut BTreeSet<Tuple>,
    ) {
        if rule.body.iter().any(|condition| bound(condition, binding) && !self.holds(condition, binding)) {
            return;
        }
        if variable == rule.variables {
            let head = rule.head.iter().map(|e| match self.declaration.value(e, binding) {
                Some(Value::Object(object)) => Some(object),
                _ => None,
            });
            heads.extend(head.collect::<Option<Tuple>>());
            return;
        }
        for object in 0..self.declaration.objects.len() {
            binding[variable] = Some(object as Object);
            self.try_all(rule, variable + 1, binding, heads);
        }
        binding[variable] = None;
    }

    fn holds(&self, condition: &Condition, binding: &[Option<Object>]) -> bool {
        match condition {
            Condition::Compare { left, sign, right } => {
                let values = [left, right].map(|e| self.declaration.value(e, binding));
                matches!(values, [Some(left), Some(right)] if self.declaration.compare(left, sign, right))
            }
            Condition::Holds { negated, relation, args } => {
                let object = |e| match self.declaration.value(e, binding) {
                    Some(Value::Object(object)) => Some(object),
                    _ => None,
                };
                let tuple: Option<Tuple> = args.iter().map(object).collect();
                let found = tuple.is_some_and(|tuple| match self.declaration.relations[*relation].kind {
                    Kind::Dynamic => self.facts.contains(&(*relation, tuple)),
                    _ => self.derived.get(relation).is_some_and(|tuples| tuples.contains(&tuple)),
                });
                found != *negated
            }
        }
    }

    /// Legal operators of players, or outcomes of chance, with their arguments.
    pub(crate) fn legal(&self, chance: bool) -> BTreeSet<(usize, Tuple)> {
        let operators = self.declaration.operators.iter().enumerate();
        operators
            .filter(|(_, operator)| operator.weight.is_some() == chance)
            .flat_map(|(o, operator)| self.heads(&operator.rule, &[]).into_iter().map(move |t| (o, t)))
            .collect()
    }

    /// The weight of an outcome of chance.
    pub(crate) fn weight(&self, operator: usize, tuple: &Tuple) -> i32 {
        let (weight, _) = self.declaration.operators[operator].weight.as_ref().unwrap();
        let binding: Vec<Option<Object>> = tuple.iter().map(|&object| Some(object)).collect();
        match self.declaration.value(weight, &binding) {
            Some(Value::Object(object)) => self.declaration.values[usize::from(object)].unwrap(),
            Some(Value::Number(number)) => number,
            None => panic!("no weight"),
        }
    }

    /// Applies a move. Returns the result for the player in whose turn it was, if the game ends, and whether the turn
    /// passes.
    pub(crate) fn apply(&mut self, operator: usize, tuple: &Tuple) -> (Option<Grade>, bool) {
        let declaration = self.declaration;
        let of = &declaration.operators[operator];
        let changes = |adds: bool| -> Vec<(usize, Tuple)> {
            let effects = of.effects.iter().filter(|effect| effect.adds == adds);
            effects
                .flat_map(|e| self.heads(&e.rule, tuple).into_iter().map(move |t| (e.relation, t)))
                .collect()
        };
        let (deleted, added) = (changes(false), changes(true));
        let says = of.turns.iter().any(|rule| !self.heads(rule, tuple).is_empty());
        let passes = says == of.weight.is_some();
        deleted.iter().for_each(|fact| {
            self.facts.remove(fact);
        });
        self.facts.extend(added);
        self.derive();
        let holding = declaration.endings.iter().filter(|(_, rule)| !self.heads(rule, &[]).is_empty());
        let grades = holding.map(|(grade, _)| *grade);
        let ending = grades.min_by_key(|&(ending, amount)| (ending, std::cmp::Reverse(amount)));
        if passes {
            // Translates the player's notation to the next player's: one turn back equals this many turns.
            let turns = declaration.players - 1;
            let turned = |(relation, tuple): &(usize, Tuple)| {
                let objects = tuple.iter().zip(&declaration.relations[*relation].types);
                (*relation, objects.map(|(&object, &of)| declaration.turned(of, object, turns)).collect())
            };
            self.facts = self.facts.iter().map(turned).collect();
            self.derive();
        }
        (ending, passes)
    }
}

fn bound(condition: &Condition, binding: &[Option<Object>]) -> bool {
    let is_bound = |e: &Expression| {
        e.0.iter().all(|(_, summand)| !matches!(summand, Summand::Variable(v) if binding[*v].is_none()))
    };
    match condition {
        Condition::Compare { left, right, .. } => is_bound(left) && is_bound(right),
        Condition::Holds { args, .. } => args.iter().all(is_bound),
    }
}
