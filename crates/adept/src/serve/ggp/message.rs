//! Messages of game managers: parenthesised expressions.

/// A message of a manager. Words keep their case.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Info,
    /// The rules of a possible future match.
    Preview,
    Start {
        id: &'a str,
        role: &'a str,
        rules: &'a str,
        start: u64,
        play: u64,
    },
    /// The last joint move; none at the beginning.
    Play {
        id: &'a str,
        moves: Vec<&'a str>,
    },
    Stop {
        id: &'a str,
        moves: Vec<&'a str>,
    },
    Abort {
        id: &'a str,
    },
}

/// Longest clock in seconds: an hour.
const CLOCK: u64 = 3_600;
/// Longest id in bytes that an answer repeats.
const SHOWN: usize = 100;

impl<'a> Message<'a> {
    /// Parses a message.
    ///
    /// # Errors
    /// The error in the message.
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        let text = text.trim();
        let inner = inside(text).ok_or("a message is an expression in brackets, such as ( INFO )")?;
        let parts = parts(inner)?;
        let word = parts.first().copied().unwrap_or_default();
        let wrong = |form: &str| Err(format!("write {form}"));
        match (word.to_ascii_lowercase().as_str(), &parts[1.min(parts.len())..]) {
            ("info", _) => Ok(Self::Info),
            ("preview", _) => Ok(Self::Preview),
            ("start", &[id, role, rules, start, play]) => {
                let rules = inside(rules).ok_or("the rules of ( START … ) are a list in brackets")?;
                Ok(Self::Start { id, role, rules, start: clock(start)?, play: clock(play)? })
            }
            ("play", &[id, moves]) => Ok(Self::Play { id, moves: joint(moves)? }),
            ("stop", &[id, moves]) => Ok(Self::Stop { id, moves: joint(moves)? }),
            ("abort", &[id, ..]) => Ok(Self::Abort { id }),
            ("start", _) => wrong("( START ID ROLE ( RULES ) STARTCLOCK PLAYCLOCK )"),
            ("play", _) => wrong("( PLAY ID NIL ) or ( PLAY ID ( MOVE MOVE … ) )"),
            ("stop", _) => wrong("( STOP ID ( MOVE MOVE … ) )"),
            ("abort", _) => wrong("( ABORT ID )"),
            _ => Err(format!("`{}` is not INFO, PREVIEW, START, PLAY, STOP or ABORT", shown(word))),
        }
    }
}

/// An untrusted word, truncated to a displayable length.
pub(super) fn shown(word: &str) -> String {
    let text: String = word.chars().take(SHOWN).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.len() < word.len() { text + "…" } else { text }
}

fn clock(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|seconds| (1..=CLOCK).contains(seconds))
        .ok_or_else(|| format!("`{}`: a clock is a number of seconds, 1 to {CLOCK}", shown(text)))
}

/// The joint move of a step; none for NIL.
fn joint(text: &str) -> Result<Vec<&str>, String> {
    match inside(text) {
        Some(inner) => parts(inner),
        None if text.eq_ignore_ascii_case("nil") => Ok(Vec::new()),
        None => Err(format!("`{}`: moves are a list in brackets, or NIL", shown(text))),
    }
}

/// The content of the parentheses of an expression.
fn inside(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

/// The expressions of a list, in one pass. A comment runs from `;` to the end of the line.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut depth, mut begin, mut in_comment) = (0_u32, None, false);
    for (at, c) in text.char_indices() {
        if in_comment {
            in_comment = c != '\n';
            continue;
        }
        let ends_word = c.is_whitespace() || "();".contains(c);
        if depth == 0
            && ends_word
            && let Some(begin) = begin.take()
        {
            parts.push(&text[begin..at]);
        }
        match c {
            ';' => in_comment = true,
            '(' => {
                if depth == 0 {
                    begin = Some(at);
                }
                depth += 1;
            }
            ')' => {
                depth = depth.checked_sub(1).ok_or("a bracket closes that was not opened")?;
                if depth == 0
                    && let Some(begin) = begin.take()
                {
                    parts.push(&text[begin..=at]);
                }
            }
            _ if depth == 0 && !ends_word && begin.is_none() => begin = Some(at),
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a bracket is not closed".into());
    }
    parts.extend(begin.map(|begin| &text[begin..]));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_managers_write_them() {
        assert_eq!(Message::read("( INFO )"), Ok(Message::Info));
        assert_eq!(Message::read(" (info)\n"), Ok(Message::Info));
        let text = "( START m.game-1 x (( role x ) ( role o )) 10 5)";
        let start =
            Message::Start { id: "m.game-1", role: "x", rules: "( role x ) ( role o )", start: 10, play: 5 };
        assert_eq!(Message::read(text), Ok(start));
        assert_eq!(Message::read("( PLAY m NIL )"), Ok(Message::Play { id: "m", moves: Vec::new() }));
        let moves = vec!["( mark 1 1 )", "noop"];
        assert_eq!(
            Message::read("( PLAY m (( mark 1 1 ) noop ) )"),
            Ok(Message::Play { id: "m", moves: moves.clone() })
        );
        assert_eq!(
            Message::read("(STOP m ((mark 1 1) noop))"),
            Ok(Message::Stop { id: "m", moves: vec!["(mark 1 1)", "noop"] })
        );
        assert_eq!(Message::read("( ABORT m )"), Ok(Message::Abort { id: "m" }));
        assert_eq!(Message::read("(preview ((role x)) 5)"), Ok(Message::Preview));
    }

    #[test]
    fn what_is_no_message_is_refused_with_what_is() {
        for (text, why) in [
            ("", "( INFO )"),
            ("INFO", "( INFO )"),
            ("()", "is not INFO"),
            ("( hello )", "`hello` is not INFO"),
            ("( START m x )", "( START ID ROLE"),
            ("( START m x (( role x )) 0 5 )", "1 to 3600"),
            ("( START m x (( role x )) 5 1e9 )", "`1e9`: a clock"),
            ("( START m x rules 5 5 )", "a list in brackets"),
            ("( PLAY m )", "( PLAY ID NIL )"),
            ("( PLAY m noop )", "or NIL"),
            ("( PLAY m (a (b) )", "not closed"),
            ("( PLAY m ) (a) )", "closes that was not opened"),
            ("( STOP m )", "( STOP ID"),
            ("( ABORT )", "( ABORT ID )"),
        ] {
            let error = Message::read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_message_of_brackets_is_read_once() {
        let text = format!("({})", "(".repeat(5_000_000) + &")".repeat(5_000_000));
        assert!(Message::read(&text).unwrap_err().contains("is not INFO"));
    }
}
