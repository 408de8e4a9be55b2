//! A naive interpreter of descriptions, the reference for the circuits. It derives everything that follows from a
//! state, rule by rule.

use super::program::{Condition, DOES, Pattern, Program, ROLE, TRUE};
use super::terms::{Term, Terms};
use std::collections::BTreeSet;

/// All tuples of each relation.
pub(crate) type Derived = Vec<BTreeSet<Vec<Term>>>;

/// Derives all tuples that follow from facts and moves of roles.
pub(crate) fn derive(program: &mut Program, facts: &BTreeSet<Term>, moves: &[(Term, Term)]) -> Derived {
    let mut derived: Derived = vec![BTreeSet::new(); program.relations.len()];
    derived[TRUE] = facts.iter().map(|&fact| vec![fact]).collect();
    derived[DOES] = moves.iter().map(|&(role, what)| vec![role, what]).collect();
    derived[ROLE] = program.roles.iter().map(|&role| vec![role]).collect();
    for (group, _) in program.order.clone() {
        loop {
            let mut is_new = false;
            for &relation in &group {
                for number in program.relations[relation].rules.clone() {
                    let rule = program.rules[number].clone();
                    // Negated conditions come last, when all variables are bound.
                    let mut body = rule.body.clone();
                    body.sort_by_key(|condition| !matches!(condition, Condition::Holds(_)));
                    let mut heads = Vec::new();
                    let mut binding = vec![None; rule.variables];
                    join(&mut program.terms, &derived, &body, &mut binding, &mut |terms, binding| {
                        heads.push(
                            rule.head.args.iter().map(|arg| term(terms, arg, binding)).collect::<Vec<_>>(),
                        );
                    });
                    heads.into_iter().for_each(|head| is_new |= derived[relation].insert(head));
                }
            }
            if !is_new {
                break;
            }
        }
    }
    derived
}

/// Number of variable assignments for which all conditions of some rules hold.
pub(crate) fn satisfied(program: &mut Program, derived: &Derived, rules: &[usize]) -> usize {
    let mut count = 0;
    for &number in rules {
        let rule = program.rules[number].clone();
        let mut body = rule.body.clone();
        body.sort_by_key(|condition| !matches!(condition, Condition::Holds(_)));
        join(&mut program.terms, derived, &body, &mut vec![None; rule.variables], &mut |_, _| count += 1);
    }
    count
}

fn term(terms: &mut Terms, pattern: &Pattern, binding: &[Option<Term>]) -> Term {
    match pattern {
        Pattern::Variable(v) => binding[*v].expect("a bound variable"),
        Pattern::Ground(term) => *term,
        Pattern::Compound(head, args) => {
            let args: Vec<Term> = args.iter().map(|arg| term(terms, arg, binding)).collect();
            terms.term(*head, &args)
        }
    }
}

fn join(
    terms: &mut Terms,
    derived: &Derived,
    body: &[Condition],
    binding: &mut Vec<Option<Term>>,
    found: &mut dyn FnMut(&mut Terms, &[Option<Term>]),
) {
    let Some((condition, rest)) = body.split_first() else { return found(terms, binding) };
    match condition {
        Condition::Holds(atom) => {
            for tuple in &derived[atom.relation] {
                let kept = binding.clone();
                if atom.args.iter().zip(tuple).all(|(arg, &value)| fit(terms, arg, value, binding)) {
                    join(terms, derived, rest, binding, found);
                }
                *binding = kept;
            }
        }
        Condition::Fails(atom) => {
            let tuple: Vec<Term> = atom.args.iter().map(|arg| term(terms, arg, binding)).collect();
            if !derived[atom.relation].contains(&tuple) {
                join(terms, derived, rest, binding, found);
            }
        }
        Condition::Differ(left, right) => {
            if term(terms, left, binding) != term(terms, right, binding) {
                join(terms, derived, rest, binding, found);
            }
        }
    }
}

fn fit(terms: &Terms, pattern: &Pattern, value: Term, binding: &mut [Option<Term>]) -> bool {
    match pattern {
        Pattern::Variable(v) => *binding[*v].get_or_insert(value) == value,
        Pattern::Ground(term) => *term == value,
        Pattern::Compound(head, args) => {
            terms.head(value) == *head
                && terms.args(value).len() == args.len()
                && args.iter().zip(terms.args(value)).all(|(arg, &value)| fit(terms, arg, value, binding))
        }
    }
}
