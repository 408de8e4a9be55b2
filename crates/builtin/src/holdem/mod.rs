//! Texas hold'em: cards and the strength of hands.

mod cards;
mod strength;

pub use cards::{Card, CardSet, DECK, parse_cards};
pub use strength::{Category, Hand, Strength, Strengths};
