//! Lexer and expressions of `.kif` files.

use crate::error::{Place, RuleError};

/// Deepest nesting of parentheses.
const DEPTH: usize = 64;
/// Longest word, in characters.
const WORD: usize = 1024;

/// A parenthesised expression, or a word.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Word(Box<str>, Place),
    List(Vec<Expression>, Place),
}

impl Expression {
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Word(_, place) | Self::List(_, place) => *place,
        }
    }

    /// The first word, its place, and the arguments.
    pub(crate) fn parts(&self) -> Result<(&str, Place, &[Expression]), RuleError> {
        match self {
            Self::Word(word, place) => Ok((word, *place, &[])),
            Self::List(parts, place) => match &parts[..] {
                [Self::Word(word, place), rest @ ..] => Ok((word, *place, rest)),
                _ => Err(RuleError::new(*place, "brackets begin with the name of a relation or function")),
            },
        }
    }
}

/// Parses the expressions of a file in one pass. A comment runs from `;` to the end of the line. Case is ignored.
pub(crate) fn expressions(text: &str) -> Result<Vec<Expression>, RuleError> {
    let mut open: Vec<(Vec<Expression>, Place)> = Vec::new();
    let mut done = Vec::new();
    let mut place = Place { line: 1, column: 1 };
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let here = place;
        place.column += 1;
        let found = match c {
            '\n' => {
                place = Place { line: place.line + 1, column: 1 };
                continue;
            }
            ';' => {
                while letters.next_if(|&c| c != '\n').is_some() {
                    place.column += 1;
                }
                continue;
            }
            c if c.is_whitespace() || c == '\u{feff}' => continue,
            '(' if open.len() == DEPTH => {
                return Err(RuleError::new(here, format!("brackets nested more than {DEPTH} deep")));
            }
            '(' => {
                open.push((Vec::new(), here));
                continue;
            }
            ')' => {
                let Some((list, begin)) = open.pop() else {
                    return Err(RuleError::new(here, "a bracket closes that was not opened"));
                };
                Expression::List(list, begin)
            }
            c => {
                let mut word: String = c.to_lowercase().collect();
                while let Some(c) = letters.next_if(|&c| !c.is_whitespace() && !"();".contains(c)) {
                    word.extend(c.to_lowercase());
                    place.column += 1;
                }
                if word.chars().count() > WORD || word.chars().any(|c| c.is_control() || c == ',') {
                    let what = format!(
                        "a word of more than {WORD} characters, with control characters or with a comma"
                    );
                    return Err(RuleError::new(here, what));
                }
                Expression::Word(word.into(), here)
            }
        };
        open.last_mut().map_or(&mut done, |(list, _)| list).push(found);
    }
    match open.pop() {
        Some((_, place)) => Err(RuleError::new(place, "this bracket is not closed")),
        None => Ok(done),
    }
}

/// Formats an expression like a term.
pub(super) fn written(expression: &Expression) -> String {
    match expression {
        Expression::Word(word, _) => word.to_string(),
        Expression::List(parts, _) => match &parts[..] {
            // A name in parentheses equals the name.
            [one] => written(one),
            _ => format!("({})", parts.iter().map(written).collect::<Vec<_>>().join(" ")),
        },
    }
}
