//! A plain interpreter of declarations, the referee of the compiled rules. It tries all objects for all variables.

use crate::declaration::{
    Condition, Declaration, Ending, Expression, Kind, Object, Rule, Summand, Tuple, Value,
};
use std::collections::{BTreeMap, BTreeSet};

type Facts = BTreeSet<(usize, Tuple)>;

/// A position as the player to move sees it: after each move of two players all facts are flipped.
pub(crate) struct Plain<'a> {
    declaration: &'a Declaration,
    pub(crate) facts: Facts,
    /// Tuples of relations with rules, and of static ones.
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

    /// Legal operators with their arguments.
    pub(crate) fn legal(&self) -> BTreeSet<(usize, Tuple)> {
        let operators = self.declaration.operators.iter().enumerate();
        operators
            .flat_map(|(o, operator)| self.heads(&operator.rule, &[]).into_iter().map(move |t| (o, t)))
            .collect()
    }

    /// Makes a move. Returns how the game ends by it for the player who moved, if it does.
    pub(crate) fn apply(&mut self, operator: usize, tuple: &Tuple) -> Option<Ending> {
        let declaration = self.declaration;
        let effects = &declaration.operators[operator].effects;
        let changes = |adds: bool| -> Vec<(usize, Tuple)> {
            let effects = effects.iter().filter(|effect| effect.adds == adds);
            effects
                .flat_map(|e| self.heads(&e.rule, tuple).into_iter().map(move |t| (e.relation, t)))
                .collect()
        };
        let (deleted, added) = (changes(false), changes(true));
        deleted.iter().for_each(|fact| {
            self.facts.remove(fact);
        });
        self.facts.extend(added);
        self.derive();
        let mut ending = None;
        for of in [Ending::Draw, Ending::Lose, Ending::Win] {
            let rules = declaration.endings.iter().filter(|(ending, _)| *ending == of);
            if rules.into_iter().any(|(_, rule)| !self.heads(rule, &[]).is_empty()) {
                ending = Some(of);
            }
        }
        if declaration.players == 2 {
            let flipped = |(relation, tuple): &(usize, Tuple)| {
                let types = &declaration.relations[*relation].types;
                (*relation, tuple.iter().zip(types).map(|(&o, &of)| declaration.flipped(of, o)).collect())
            };
            self.facts = self.facts.iter().map(flipped).collect();
            self.derive();
        }
        ending
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
