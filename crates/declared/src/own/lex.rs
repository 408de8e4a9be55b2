//! Lexer of rule files.

use crate::error::{Place, RuleError};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Name(String),
    /// An integer.
    Number(i32),
    /// A decimal number, as written.
    Decimal(String),
    /// A string in double quotes.
    Text(String),
    /// A sign, such as `(` or `<=`.
    Sign(&'static str),
    /// The end of the file.
    End,
}

impl Token {
    /// The token as shown in errors.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Decimal(number) => format!("`{number}`"),
            Self::Text(text) => format!("\"{text}\""),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the file".into(),
        }
    }
}

/// Longer signs come before their prefixes.
const SIGNS: [&str; 14] = ["..", "<=", ">=", "!=", "(", ")", ",", "=", "<", ">", "+", "-", ":", "/"];

/// Longest name, in characters: names are printed in positions and messages.
const NAME: usize = 64;

/// Splits a source into tokens with their places, ending with [`Token::End`]. A comment runs from # to the end of the
/// line.
pub(crate) fn words(source: &str) -> Result<Vec<(Token, Place)>, RuleError> {
    let mut words = Vec::new();
    let (mut line, mut begin) = (1, 0);
    let mut at = 0;
    // Columns are counted in characters, incrementally from the last queried place.
    let (mut known, mut column) = (0, 1);
    let mut place = |line: u32, begin: usize, at: usize| {
        if known < begin {
            (known, column) = (begin, 1);
        }
        column += source[known..at].chars().count() as u32;
        known = at;
        Place { line, column }
    };
    while let Some(c) = source[at..].chars().next() {
        let here = place(line, begin, at);
        let rest = &source[at..];
        let length = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        match c {
            '\n' => {
                (line, begin) = (line + 1, at + 1);
                at += 1;
            }
            c if c.is_whitespace() => at += c.len_utf8(),
            '#' => at += rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                let end = rest[1..].find(['"', '\n']).filter(|&end| rest.as_bytes()[1 + end] == b'"');
                let Some(end) = end else {
                    return Err(RuleError::new(here, "a text without its closing quote on the same line"));
                };
                words.push((Token::Text(rest[1..=end].into()), here));
                at += end + 2;
            }
            c if c.is_ascii_digit() => {
                let mut end = length(|c| c.is_ascii_alphanumeric() || c == '_');
                // Two dots make a range.
                let digits = rest[end..]
                    .strip_prefix('.')
                    .filter(|more| more.starts_with(|c: char| c.is_ascii_digit()));
                if let Some(digits) = digits {
                    end += 1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                    words.push((Token::Decimal(rest[..end].into()), here));
                    at += end;
                    continue;
                }
                let number = rest[..end].parse().map_err(|_| {
                    let what = format!("`{}` is not a whole number up to {}", &rest[..end], i32::MAX);
                    RuleError::new(here, what)
                })?;
                words.push((Token::Number(number), here));
                at += end;
            }
            c if c.is_alphabetic() || c == '_' => {
                let end = length(|c| c.is_alphanumeric() || c == '_');
                if rest[..end].chars().count() > NAME {
                    return Err(RuleError::new(here, format!("a name of more than {NAME} characters")));
                }
                words.push((Token::Name(rest[..end].into()), here));
                at += end;
            }
            c => {
                let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
                    return Err(RuleError::new(here, format!("`{}` has no meaning here", c.escape_debug())));
                };
                words.push((Token::Sign(sign), here));
                at += sign.len();
            }
        }
    }
    words.push((Token::End, place(line, begin, at)));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{Token, words};

    #[test]
    fn words_have_places() {
        let words = words("game \"α\" # all\n  on(x, c+1)").unwrap();
        let shown: Vec<_> =
            words.iter().map(|(w, p)| format!("{} {}:{}", w.shown(), p.line, p.column)).collect();
        assert_eq!(
            shown.join(" "),
            "`game` 1:1 \"α\" 1:6 `on` 2:3 `(` 2:5 `x` 2:6 `,` 2:7 `c` 2:9 `+` 2:10 `1` 2:11 `)` 2:12 the end of the file 2:13"
        );
        assert_eq!(words.last().unwrap().0, Token::End);
    }

    #[test]
    fn points_make_decimals_and_ranges() {
        let shown: Vec<_> = words("1..9 2.5 3").unwrap().iter().map(|(word, _)| word.shown()).collect();
        assert_eq!(shown.join(" "), "`1` `..` `9` `2.5` `3` the end of the file");
    }

    #[test]
    fn faults_have_places() {
        let fault = |source: &str| words(source).unwrap_err().to_string();
        assert_eq!(
            fault("game \"a\nb\""),
            "line 1, column 6: a text without its closing quote on the same line"
        );
        assert_eq!(fault("\n 12a"), "line 2, column 2: `12a` is not a whole number up to 2147483647");
        assert_eq!(fault("€"), "line 1, column 1: `€` has no meaning here");
    }
}
