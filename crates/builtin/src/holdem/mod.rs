//! Texas hold'em with fixed limits: rules, the strength of hands, exact chances, and SoarBot, a player made of rules.

mod cards;
mod definition;
mod encoder;
mod equity;
mod game;
mod history;
mod kit;
mod rules;
mod soarbot;
mod state;
mod strength;
mod text;

pub use cards::{Card, CardSet, DECK, parse_cards};
pub use encoder::Features;
pub use equity::{Worth, enumerate, preflop, strength_now, worth};
pub use rules::{Holdem, NO_LIMIT, Stakes, named};
pub use soarbot::{Flag, Flags, Profile, SoarBot, Straights, agreement, analyse};
pub use state::{Action, Deal, Entry, History, MAX_PLAYERS, ROUNDS, State};
pub use strength::{Category, Hand, Strength, Strengths};
