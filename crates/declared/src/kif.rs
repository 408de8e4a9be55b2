//! Games in GDL, the game description language of general game playing (GDL-I, `.kif` files).
//!
//! A file is read into the same relations and rules as a rule file of ours: `true (f …)` is a dynamic relation f, `does r (m …)` a
//! relation of the moves just made, and `next`, `legal`, `goal` and the rest are derived.

use crate::error::{Place, RuleError, unknown};
use crate::parse::{Atom, Condition, Source, Statement, Sum, Word};
use std::collections::BTreeMap;

/// Type of all constants. Like the names of relations made here it has a space, so no name of a file is the same.
const OBJECT: &str = "any object";
/// Deepest nesting of brackets.
const DEPTH: usize = 64;
/// Most rules.
const RULES: usize = 1 << 16;
/// Most rules that `or` may make of one.
const CASES: usize = 1024;

/// A description: its rules, and what has a meaning of its own.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) source: Source,
    pub(crate) roles: Vec<String>,
    /// Names of the dynamic relations, of the moves, each with its number of arguments.
    pub(crate) facts: BTreeMap<String, usize>,
    pub(crate) moves: BTreeMap<String, usize>,
}

/// An expression in brackets, or a word.
#[derive(Clone, Debug)]
enum Expression {
    Word(Word),
    List(Vec<Expression>, Place),
}

impl Expression {
    fn place(&self) -> Place {
        match self {
            Self::Word(word) => word.place,
            Self::List(_, place) => *place,
        }
    }

    /// The first word, and what follows.
    fn parts(&self) -> Result<(&Word, &[Expression]), RuleError> {
        match self {
            Self::Word(word) => Ok((word, &[])),
            Self::List(parts, place) => match &parts[..] {
                [Self::Word(word), rest @ ..] => Ok((word, rest)),
                _ => Err(RuleError::new(*place, "brackets begin with the name of a relation or function")),
            },
        }
    }
}

/// Reads a description.
pub(crate) fn parse(name: &str, text: &str) -> Result<Description, RuleError> {
    let mut reader = Reader::default();
    for expression in expressions(text)? {
        reader.rule(&expression)?;
    }
    reader.finish(name)
}

/// The expressions of a file. A comment begins with `;`.
fn expressions(text: &str) -> Result<Vec<Expression>, RuleError> {
    let mut open: Vec<(Vec<Expression>, Place)> = Vec::new();
    let mut done = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split(';').next().unwrap_or_default();
        let mut at = 0;
        while let Some(c) = code[at..].chars().next() {
            let place = Place { line: number, column: code[..at].chars().count() as u32 + 1 };
            let mut found = None;
            match c {
                '(' if open.len() == DEPTH => {
                    return Err(RuleError::new(place, format!("more than {DEPTH} brackets in each other")));
                }
                '(' => open.push((Vec::new(), place)),
                ')' => {
                    let Some((list, begin)) = open.pop() else {
                        return Err(RuleError::new(place, "a bracket closes that was not opened"));
                    };
                    found = Some(Expression::List(list, begin));
                }
                c if c.is_whitespace() => {}
                _ => {
                    let rest = &code[at..];
                    let end =
                        rest.find(|c: char| c.is_whitespace() || "()".contains(c)).unwrap_or(rest.len());
                    let text = rest[..end].to_lowercase();
                    if text.chars().count() > 64 || text.chars().any(char::is_control) {
                        return Err(RuleError::new(
                            place,
                            "a word of more than 64 characters, or with control characters",
                        ));
                    }
                    found = Some(Expression::Word(Word { text, place }));
                    at += end - c.len_utf8();
                }
            }
            at += c.len_utf8();
            if let Some(found) = found {
                match open.last_mut() {
                    Some((list, _)) => list.push(found),
                    None => done.push(found),
                }
            }
        }
    }
    match open.pop() {
        Some((_, place)) => Err(RuleError::new(place, "this bracket is not closed")),
        None => Ok(done),
    }
}

#[derive(Default)]
struct Reader {
    statements: Vec<(Statement, Place)>,
    roles: Vec<String>,
    facts: BTreeMap<String, (usize, Word)>,
    moves: BTreeMap<String, (usize, Word)>,
    constants: BTreeMap<String, Place>,
    goals: Vec<String>,
    terminal: bool,
}

impl Reader {
    fn rule(&mut self, expression: &Expression) -> Result<(), RuleError> {
        let (first, rest) = expression.parts()?;
        let place = expression.place();
        let (head, body) = match (first.text.as_str(), rest) {
            ("<=", [head, body @ ..]) => (head, body),
            ("<=", []) => return Err(RuleError::new(place, "`<=` without a head")),
            _ => (expression, &[][..]),
        };
        let (relation, args) = head.parts()?;
        match relation.text.as_str() {
            "true" | "does" | "distinct" | "not" | "or" | "and" => {
                let what = format!("`{}` cannot be the head of a rule", relation.text);
                return Err(RuleError::new(relation.place, what));
            }
            "role" => match args {
                [Expression::Word(role)] if body.is_empty() && !role.text.starts_with('?') => {
                    self.roles.push(role.text.clone());
                }
                _ => {
                    return Err(RuleError::new(
                        place,
                        "a role is one name, without conditions: `(role white)`",
                    ));
                }
            },
            "goal" => {
                if let [Expression::Word(role), _] = args {
                    self.goals.push(role.text.clone());
                }
            }
            "terminal" => self.terminal = true,
            _ => {}
        }
        let head = self.atom(head)?;
        let mut cases = vec![Vec::new()];
        for condition in body {
            cases = self.both(cases, condition, false)?;
        }
        if self.statements.len() + cases.len() > RULES {
            return Err(RuleError::new(
                place,
                format!("more than {RULES} rules, each case of an `or` counted"),
            ));
        }
        for when in cases {
            self.statements.push((Statement::Derive { head: head.clone(), when }, place));
        }
        Ok(())
    }

    /// Each case together with each way in which this condition can hold or, negated, fail.
    fn both(
        &mut self,
        cases: Vec<Vec<Condition>>,
        condition: &Expression,
        negated: bool,
    ) -> Result<Vec<Vec<Condition>>, RuleError> {
        let (first, rest) = condition.parts()?;
        let is_or = match first.text.as_str() {
            "not" => {
                let [inner] = rest else {
                    return Err(RuleError::new(first.place, "`not` has one condition"));
                };
                return self.both(cases, inner, !negated);
            }
            "or" => true,
            "and" => false,
            _ => {
                let condition = match (first.text.as_str(), rest) {
                    ("distinct", [left, right]) => Condition::Compare {
                        left: self.sum(left)?,
                        sign: if negated { "=" } else { "!=" },
                        right: self.sum(right)?,
                        place: first.place,
                    },
                    _ => Condition::Holds { negated, atom: self.atom(condition)? },
                };
                return Ok(cases
                    .into_iter()
                    .map(|mut case| {
                        case.push(condition.clone());
                        case
                    })
                    .collect());
            }
        };
        if is_or == negated {
            return rest.iter().try_fold(cases, |cases, part| self.both(cases, part, negated));
        }
        let mut all = Vec::new();
        for part in rest {
            all.extend(self.both(cases.clone(), part, negated)?);
            if all.len() > CASES {
                return Err(RuleError::new(
                    first.place,
                    format!("`or` makes more than {CASES} rules of this one"),
                ));
            }
        }
        Ok(all)
    }

    /// A relation with its arguments. What is said of facts and moves becomes a relation for each of their names.
    fn atom(&mut self, expression: &Expression) -> Result<Atom, RuleError> {
        let (name, args) = expression.parts()?;
        let count = |expected: usize| match args.len() == expected {
            true => Ok(()),
            false => {
                let s = if expected == 1 { "" } else { "s" };
                let what = format!("`{}` has {expected} argument{s}, found {}", name.text, args.len());
                Err(RuleError::new(name.place, what))
            }
        };
        let keyword = name.text.as_str();
        let (role, term) = match keyword {
            "true" | "init" | "next" => {
                count(1)?;
                (None, &args[0])
            }
            "does" | "legal" => {
                count(2)?;
                (Some(&args[0]), &args[1])
            }
            _ => {
                let args = args.iter().map(|arg| self.sum(arg)).collect::<Result<_, _>>()?;
                return Ok(Atom { relation: name.clone(), args });
            }
        };
        let (inner, parts) = term.parts()?;
        if inner.text.starts_with('?') {
            let what = format!(
                "`{}` stands for a whole fact or move; only arguments can be variables here",
                inner.text
            );
            return Err(RuleError::new(inner.place, what));
        }
        let known = if role.is_some() { &mut self.moves } else { &mut self.facts };
        let (expected, _) = known.entry(inner.text.clone()).or_insert((parts.len(), inner.clone()));
        if *expected != parts.len() {
            let s = if *expected == 1 { "" } else { "s" };
            let what =
                format!("`{}` has {expected} argument{s} elsewhere, found {}", inner.text, parts.len());
            return Err(RuleError::new(inner.place, what));
        }
        let args = role.into_iter().chain(parts).map(|arg| self.sum(arg)).collect::<Result<_, _>>()?;
        let text = format!("{keyword} {}", inner.text);
        Ok(Atom { relation: Word { text, place: inner.place }, args })
    }

    /// A constant or a variable.
    fn sum(&mut self, expression: &Expression) -> Result<Sum, RuleError> {
        match expression {
            Expression::Word(word) => {
                if !word.text.starts_with('?') {
                    self.constants.entry(word.text.clone()).or_insert(word.place);
                }
                Ok(vec![(false, word.clone())])
            }
            Expression::List(_, place) => Err(RuleError::new(
                *place,
                "a function inside of a fact, a move or a relation; adept reads names there",
            )),
        }
    }

    fn finish(self, name: &str) -> Result<Description, RuleError> {
        let start = Place { line: 1, column: 1 };
        let missing = |what: &str| RuleError::new(start, what);
        if self.roles.is_empty() || self.roles.len() > 2 {
            let what = format!("{} roles; games of 1 or 2 can be played", self.roles.len());
            return Err(RuleError::new(start, what));
        }
        if !self.terminal {
            return Err(missing("no rule for `terminal`: the game has no end"));
        }
        if self.moves.is_empty() {
            return Err(missing("no rule for `legal`: nobody can move"));
        }
        for role in &self.roles {
            if !self.goals.iter().any(|goal| goal == role || goal.starts_with('?')) {
                let what = format!("no rule for the `goal` of {role}");
                return Err(RuleError::new(start, unknown(what, role, self.goals.iter())));
            }
        }
        let objects = self.constants.into_iter().map(|(text, place)| Word { text, place }).collect();
        let word = |text: &str| Word { text: text.into(), place: start };
        let mut statements = vec![(Statement::Objects { name: word(OBJECT), members: objects }, start)];
        for (name, (arity, at)) in &self.facts {
            let text = format!("true {name}");
            statements
                .push((Statement::Base { name: Word { text, place: at.place }, arity: *arity }, at.place));
        }
        for (name, (arity, at)) in &self.moves {
            let text = format!("does {name}");
            statements
                .push((Statement::Base { name: Word { text, place: at.place }, arity: arity + 1 }, at.place));
        }
        statements.extend(self.statements);
        let sizes = |known: BTreeMap<String, (usize, Word)>| {
            known.into_iter().map(|(name, (n, _))| (name, n)).collect()
        };
        Ok(Description {
            source: Source { name: name.into(), statements },
            roles: self.roles,
            facts: sizes(self.facts),
            moves: sizes(self.moves),
        })
    }
}
