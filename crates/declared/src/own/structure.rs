//! The structure of the rules as modules: relations, operators and endings, each after its parts.
//!
//! This is the input of the informed learner (Levinson, "General game-playing and reinforcement learning", 1996,
//! "Generating a reinforcement hierarchy from the rules of a domain"). `modules` describes what modules read.

use super::declaration::{Condition, Declaration, Ending, Expression, Kind, Object, Rule, Summand};
use super::ground::{Grounder, Moves, Rules, tuple_of};
use crate::circuit::{FALSE, Literal};
use crate::error::RuleError;
use crate::modules::{Bindings, Column, Module, Modules, Structure, TUPLES};
use std::collections::BTreeSet;

impl Rules {
    /// The structure of the rules as modules.
    ///
    /// # Errors
    /// As for compiling, or too many conditions to read.
    pub(crate) fn structure(&self) -> Result<Structure, String> {
        let (modules, grounder) = self.modules().map_err(|e| e.to_string())?;
        Structure::new(modules, &grounder.builder, self.facts.len(), 1, Vec::new())
    }

    fn modules(&self) -> Result<(Modules, Grounder<'_>), RuleError> {
        let declaration = &self.declaration;
        let mut grounder = Grounder::from_declaration(declaration, &self.facts, &self.turned);
        grounder.derive()?;
        let types = types_of(declaration);
        let mut maker = Maker { declaration, types, grounder, modules: Modules::default() };
        for (number, relation) in declaration.relations.iter().enumerate() {
            if relation.kind == Kind::Dynamic {
                let tuples = &maker.grounder.tables[number];
                let texts = tuples.tuples.iter().map(|t| declaration.shown(&relation.name, t));
                let all = tuples.holds[0].iter().copied().zip(texts);
                maker.modules.tuples(&relation.name, Vec::new(), all, TUPLES);
            }
        }
        for &number in declaration.order.iter().flatten() {
            let relation = &declaration.relations[number];
            if relation.kind == Kind::Derived {
                let rules: Vec<&Rule> = relation.rules.iter().collect();
                let table = &maker.grounder.tables[number];
                let tuples = table.tuples.iter().map(|t| declaration.shown(&relation.name, t)).collect();
                let holds = table.holds[..declaration.players].to_vec();
                maker.rules(&relation.name, &rules, Some((holds, tuples)))?;
            }
        }
        let Moves { moves, legal, .. } = maker.grounder.moves()?;
        for (number, operator) in declaration.operators.iter().enumerate() {
            if operator.weight.is_some() {
                continue;
            }
            let own: Vec<usize> = (0..moves.len()).filter(|&place| moves[place].operator == number).collect();
            let holds = legal.iter().map(|legal| own.iter().map(|&place| legal[place]).collect()).collect();
            let texts =
                own.iter().map(|&place| declaration.shown(&operator.name, &moves[place].tuple)).collect();
            let name = match declaration.relations.iter().any(|relation| relation.name == operator.name) {
                true => format!("operator-{}", operator.name),
                false => operator.name.clone(),
            };
            maker.rules(&name, &[&operator.rule], Some((holds, texts)))?;
        }
        for ending in [Ending::Win, Ending::Lose, Ending::Draw] {
            // A name in a rule file has no `-`.
            let name = match ending {
                Ending::Win => "ending-win",
                Ending::Lose => "ending-lose",
                Ending::Draw => "ending-draw",
            };
            let rules: Vec<&Rule> = declaration
                .endings
                .iter()
                .filter(|((of, _), _)| *of == ending)
                .map(|(_, rule)| rule)
                .collect();
            maker.rules(name, &rules, None)?;
        }
        Ok((maker.modules, maker.grounder))
    }
}

/// The type of each argument of each relation, if known: derived relations inherit it from their conditions.
fn types_of(declaration: &Declaration) -> Vec<Vec<Option<usize>>> {
    let relations = declaration.relations.iter().enumerate();
    let mut types: Vec<Vec<Option<usize>>> = relations
        .map(|(number, relation)| match relation.types[..] {
            // Types are the first relations, in their order.
            [] if number < declaration.types.len() => vec![Some(number)],
            [] => vec![None; relation.arity],
            _ => relation.types.iter().map(|&of| Some(of)).collect(),
        })
        .collect();
    for &number in declaration.order.iter().flatten() {
        for at in 0..declaration.relations[number].arity {
            let rules = &declaration.relations[number].rules;
            let mut found = rules.iter().map(|rule| type_in(&types, rule, rule.head.get(at)?));
            let first = found.next().flatten();
            if types[number][at].is_none() && found.all(|other| other == first) {
                types[number][at] = first;
            }
        }
    }
    types
}

/// The type of a variable in a rule, as far as its conditions determine it.
fn type_in(types: &[Vec<Option<usize>>], rule: &Rule, expression: &Expression) -> Option<usize> {
    let [(false, Summand::Variable(_))] = expression.0[..] else { return None };
    rule.body.iter().find_map(|condition| match condition {
        Condition::Holds { relation, args, .. } => {
            let at = args.iter().position(|arg| arg == expression)?;
            *types[*relation].get(at)?
        }
        Condition::Compare { .. } => None,
    })
}

struct Maker<'a> {
    declaration: &'a Declaration,
    /// The type of each argument of each relation, if known.
    types: Vec<Vec<Option<usize>>>,
    grounder: Grounder<'a>,
    modules: Modules,
}

impl Maker<'_> {
    /// Adds the modules of a relation, an operator or endings: one of the rules, and one of the tuples for all players.
    fn rules(
        &mut self,
        name: &str,
        rules: &[&Rule],
        tuples: Option<(Vec<Vec<Literal>>, Vec<String>)>,
    ) -> Result<(), RuleError> {
        let mut parts = BTreeSet::new();
        let mut found = Vec::new();
        for rule in rules {
            let conditions = rule.body.iter().filter_map(|condition| match condition {
                Condition::Holds { relation, .. } => Some(*relation),
                Condition::Compare { .. } => None,
            });
            for relation in conditions {
                let name = &self.declaration.relations[relation].name;
                let known = |module: &&Module| module.name == *name || module.name == format!("{name}-rules");
                if let Some(module) = self.modules.list.iter().rfind(known) {
                    parts.insert(module.name.clone());
                }
            }
            found.extend(self.bindings(rule, name)?);
        }
        let tuples = tuples.map(|(holds, texts)| {
            let mut all: Vec<(Literal, String)> = Vec::new();
            let mut known: BTreeSet<Literal> = BTreeSet::new();
            for (view, holds) in holds.into_iter().enumerate() {
                // The other players' tuples, where they differ.
                let whose = match (view, self.declaration.players) {
                    (0, _) => String::new(),
                    (_, 2) => "their:".into(),
                    _ => format!("{view}-behind:"),
                };
                let tuples = texts.iter().zip(holds).filter(|(_, literal)| !known.contains(literal));
                let before = all.len();
                all.extend(tuples.map(|(text, literal)| (literal, format!("{whose}{text}"))));
                known.extend(all[before..].iter().map(|(literal, _)| *literal));
            }
            all
        });
        self.modules.relation(name, parts.into_iter().collect(), found, tuples, TUPLES);
        Ok(())
    }

    /// The bindings of a rule. None if its conditions never depend on the position.
    fn bindings(&mut self, rule: &Rule, name: &str) -> Result<Option<Bindings>, RuleError> {
        let declaration = self.declaration;
        let state = |condition: &&Condition| match condition {
            Condition::Holds { relation, .. } => declaration.relations[*relation].kind != Kind::Static,
            Condition::Compare { .. } => false,
        };
        let conditions: Vec<&Condition> = rule.body.iter().filter(state).collect();
        let mut found: Vec<Vec<Option<Object>>> = Vec::new();
        self.grounder.held = 0;
        self.grounder.bind(rule, &[], name, |_, binding, _| {
            found.push(binding.to_vec());
            2 * size_of::<Vec<Option<Object>>>() + size_of_val(binding)
        })?;
        // A column for each condition and each counterpart.
        let mut columns: Vec<Column> = Vec::new();
        for view in 0..declaration.players {
            for condition in &conditions {
                let Condition::Holds { negated, relation, args } = condition else { continue };
                let holds = found.iter().map(|binding| self.literal(*relation, args, binding, view));
                if let Some(holds) = holds.collect::<Option<Vec<Literal>>>() {
                    columns.push(Column { is_other: view > 0, negated: *negated, holds });
                }
            }
        }
        self.modules.bindings(columns, name).map_err(|what| RuleError::new(rule.place, what))
    }

    /// The literal of a condition, or its counterpart, for a binding. None if the flip of an object is unknown.
    fn literal(
        &self,
        relation: usize,
        args: &[Expression],
        binding: &[Option<Object>],
        view: usize,
    ) -> Option<Literal> {
        let Some(mut tuple) = tuple_of(self.declaration, args, binding) else { return Some(FALSE) };
        if view > 0 {
            // Places stay: they are written in that player's notation. Constants are as in the rule.
            for (at, (object, arg)) in tuple.iter_mut().zip(args).enumerate() {
                if arg.0.iter().any(|(_, summand)| matches!(summand, Summand::Variable(_))) {
                    *object = self.seen(relation, at, *object, self.declaration.players - view)?;
                }
            }
        }
        let table = &self.grounder.tables[relation];
        Some(table.numbers.get(&tuple).map_or(FALSE, |&number| table.holds[view][number as usize]))
    }

    /// An object `turns` turns before.
    fn seen(&self, relation: usize, at: usize, object: Object, turns: usize) -> Option<Object> {
        if let Some(of) = self.types[relation].get(at).copied().flatten() {
            return Some(self.declaration.turned(of, object, turns));
        }
        let types = (0..self.declaration.types.len())
            .filter(|&of| self.declaration.types[of].members.contains(&object));
        let mut all = types.map(|of| self.declaration.turned(of, object, turns));
        let first = all.next().unwrap_or(object);
        all.all(|other| other == first).then_some(first)
    }
}
