//! What values mean in the terms of a game.

use crate::game::Game;
use serde::Serialize;
use std::borrow::Cow;

/// A score in the unit of a game, with its sign and these digits after the point. Large ones, such as thousandths of a bet, have
/// none, and 0 has no other sign than +.
///
/// ```
/// use adept_game::score_text;
///
/// assert_eq!(score_text(0.6961, 3), "+0.696");
/// assert_eq!(score_text(-1500.4, 3), "-1500");
/// assert_eq!(score_text(-0.0001, 3), "+0.000");
/// ```
pub fn score_text(score: f64, digits: usize) -> String {
    signed_text(score, if score.abs() >= 10.0 { 0 } else { digits })
}

/// A value in [−1, 1] in the terms of its game, as far as the game has any: as a probability of winning, and in the unit of its results.
///
/// ```
/// use adept_game::{Worth, tiny::{Bluff, Nim}};
///
/// assert_eq!(Worth::of(&Nim::default(), -0.5).text(3).as_deref(), Some("P(win) 0.250"));
/// assert_eq!(Worth::of(&Bluff, -0.5).text(3), None); // it has no unit, and its results differ in size
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worth {
    /// The probability of winning, in games that always have one winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub win_probability: Option<f64>,
    /// The value in the unit of the game, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The name of the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
}

impl Worth {
    /// What `value` means in this game.
    pub fn of<G: Game>(game: &G, value: f64) -> Self {
        let counting = game.counting();
        let win_probability = counting.win_probability(value);
        let unit = counting.unit();
        Self {
            win_probability,
            score: unit.as_ref().map(|unit| value * game.scale() / unit.size),
            unit: unit.map(|unit| unit.name),
        }
    }

    /// As text, such as `P(win) 0.246` or `+0.696 points`, with these digits after the point. None if the game has no such terms.
    pub fn text(&self, digits: usize) -> Option<String> {
        match (self.win_probability, self.score, &self.unit) {
            (Some(p), ..) => Some(format!("P(win) {p:.digits$}")),
            (None, Some(score), Some(unit)) => Some(format!("{} {unit}", score_text(score, digits))),
            _ => None,
        }
    }

    /// The text after a comma, or nothing.
    ///
    /// ```
    /// use adept_game::{Worth, tiny::Nim};
    ///
    /// let worth = Worth::of(&Nim::default(), 0.5);
    /// assert_eq!(format!("value +0.500{}", worth.after_comma(2)), "value +0.500, P(win) 0.75");
    /// ```
    pub fn after_comma(&self, digits: usize) -> String {
        self.text(digits).map_or_else(String::new, |text| format!(", {text}"))
    }

    /// What `value` is worth, for people: in the unit of the game if it has one, else the value itself and the probability of winning.
    ///
    /// ```
    /// use adept_game::{Worth, tiny::Nim};
    ///
    /// assert_eq!(Worth::of(&Nim::default(), 0.5).describe(0.5, 2), "+0.50, P(win) 0.75");
    /// ```
    pub fn describe(&self, value: f64, digits: usize) -> String {
        match self.text(digits) {
            Some(text) if self.score.is_some() => text,
            _ => format!("{}{}", signed_text(value, digits), self.after_comma(digits)),
        }
    }
}

/// A value with its sign and these digits after the point; 0 has the sign +.
pub fn signed_text(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => format!("+{rest}"),
        _ => text,
    }
}
