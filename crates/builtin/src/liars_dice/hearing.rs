//! Parses actions in words, as a person types them.

use super::dice::Dice;
use super::rules::{Action, Target};
use super::state::Bid;

/// Small numbers as words.
pub(super) const NUMBERS: [&str; 21] = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// Largest number of dice of one face in a push.
const MOST_PUSHED: u8 = 120;

/// Words that carry no meaning in a bid.
const FILLERS: [&str; 19] = [
    "i", "we", "you", "bid", "raise", "to", "say", "that", "there", "are", "is", "at", "least", "the", "a",
    "an", "of", "please", "dice",
];

/// Parses an action in words: `three 4s`, `3x4+14`, `3 fours push 1 4`, `liar`, `exact`. None if it is not an action.
pub(super) fn parse(text: &str, faces: u8) -> Option<Action> {
    // `3x4+14` becomes `3 x 4 push 14`.
    let mut spaced = String::new();
    let mut last = ' ';
    for c in text.to_lowercase().chars() {
        match c {
            '+' => spaced.push_str(" push "),
            '\'' | '’' => continue,
            // A negative number is not a bid.
            '-' if last == ' ' => return None,
            'x' | '*' | '×' if last.is_ascii_digit() || last == ' ' => spaced.push_str(" x "),
            _ if c.is_alphanumeric() => spaced.push(c),
            _ => spaced.push(' '),
        }
        last = c;
    }
    let words: Vec<&str> = spaced.split_whitespace().filter(|word| !FILLERS.contains(word)).collect();
    let action = match words[..] {
        ["pass"] => Action::Pass,
        ["liar" | "call" | "challenge" | "doubt" | "dudo" | "lie" | "bluff"]
        | ["challenge" | "call" | "doubt", "it"] => Target::Bid.into(),
        // `challenge the bid` has lost its filler words.
        ["exact" | "exactly" | "calza"] | ["call", "exact"] | ["spot", "on"] => Action::Exact,
        ["challenge" | "call" | "doubt", "pass"] => Target::Pass.into(),
        ["challenge" | "call" | "doubt", "pass", "before"]
        | ["challenge", "pass", "before", "last", "one"] => Target::PassBefore.into(),
        _ => {
            let at = words.iter().position(|word| ["push", "pushing", "with"].contains(word));
            let (claim, push) = words.split_at(at.unwrap_or(words.len()));
            let claim: Vec<&str> =
                claim.iter().copied().filter(|word| *word != "x" && *word != "and").collect();
            let [count, face] = claim[..] else { return None };
            let bid = Bid { count: count_of(count)?, face: face_of(face)? };
            let mut dice = Dice::default();
            let pushed: Vec<&str> = push.iter().skip(1).copied().filter(|word| *word != "and").collect();
            let plural = |word: &str| word != "six" && word.ends_with('s');
            let digits = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
            let one_one = |count: &str, face: &str| !digits(count) && digits(face);
            let mut next = 0;
            while let Some(word) = pushed.get(next) {
                let mut add = |face: u8, times: u8| {
                    let known = (1..=faces).contains(&face);
                    let n = &mut dice.0[usize::from(face.clamp(1, faces)) - 1];
                    *n = n.checked_add(times).filter(|n| known && *n <= MOST_PUSHED)?;
                    Some(())
                };
                // `two 4s` are two dice.
                if let Some(face) = pushed.get(next + 1).filter(|face| plural(face) || one_one(word, face)) {
                    add(face_of(face)?, count_of(word)?)?;
                    next += 2;
                    continue;
                }
                // `14` are two dice as well.
                if digits(word) {
                    word.bytes().try_for_each(|b| add(b - b'0', 1))?;
                } else {
                    add(face_of(word)?, 1)?;
                }
                next += 1;
            }
            if push.len() == 1 {
                return None;
            }
            Action::Bid { bid, push: dice }
        }
    };
    Some(action)
}

fn count_of(word: &str) -> Option<u8> {
    match word.parse() {
        Ok(n) => Some(n),
        Err(_) => NUMBERS.iter().skip(1).position(|number| *number == word).map(|i| i as u8 + 1),
    }
}

/// Parses a face: `4`, `4s`, `four`, `fours`. The rules check whether the dice have it.
fn face_of(word: &str) -> Option<u8> {
    match word {
        "ace" | "aces" => Some(1),
        "sixes" => Some(6),
        _ => count_of(word.strip_suffix('s').unwrap_or(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_bids_in_many_ways() {
        let claim = |count, face, push: &str| Action::Bid {
            bid: Bid { count, face },
            push: Dice::parse(push, 6).unwrap(),
        };
        for (text, action) in [
            ("three 4s", claim(3, 4, "")),
            ("3x4", claim(3, 4, "")),
            ("3 x 4", claim(3, 4, "")),
            ("3*4", claim(3, 4, "")),
            ("3 4s", claim(3, 4, "")),
            ("I bid three 4's!", claim(3, 4, "")),
            ("Three fours", claim(3, 4, "")),
            ("at least twelve sixes", claim(12, 6, "")),
            ("two aces", claim(2, 1, "")),
            ("one six", claim(1, 6, "")),
            ("3x4+14", claim(3, 4, "14")),
            ("3x4 + 1 4", claim(3, 4, "14")),
            ("three 4s push 1 and 4", claim(3, 4, "14")),
            ("three 4s, pushing 4 4", claim(3, 4, "44")),
            ("three 4s with a one and a four", claim(3, 4, "14")),
            ("three 4s push two 4s", claim(3, 4, "44")),
            ("three 4s pushing one 1 and two fours", claim(3, 4, "144")),
            ("pass", Action::Pass),
            ("Liar!", Target::Bid.into()),
            ("call", Target::Bid.into()),
            ("challenge the bid", Target::Bid.into()),
            ("challenge the pass", Target::Pass.into()),
            ("challenge pass before", Target::PassBefore.into()),
            ("exact", Action::Exact),
            ("spot on", Action::Exact),
        ] {
            assert_eq!(parse(text, 6), Some(action), "{text}");
        }
        // The rules check whether dice have the face.
        assert_eq!(parse("three 7s", 6), Some(claim(3, 7, "")));
        for text in ["", "three", "4s", "3x4+", "3x4+7", "-1x6", "three 4s 5s", "banana", "zero 4s", "300x4"]
        {
            assert_eq!(parse(text, 6), None, "{text}");
        }
    }
}
