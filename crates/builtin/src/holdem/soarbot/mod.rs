//! SoarBot (Follek 2003): a player made of rules.
//!
//! Rules fire in parallel. Each proposes an action with a score, and the highest one wins. They read [`Flags`] and numbers of a
//! hand, and are data: a [`Profile`] is a TOML file.
//!
//! A check-raise is a check now and a raise at the next turn. That plan and the flag `maybe` are hidden in the player. Seen from
//! outside, the player is a policy: what it plays next has the probability that follows from what it did before in the hand. So
//! it is a pure function of the position.

mod agent;
mod attributes;
mod flags;
mod memory;
mod profile;
mod recorded;

pub use agent::SoarBot;
pub use flags::{Flag, Flags, Straights, analyse};
pub(super) use memory::RuleKeys;
pub use profile::Profile;
pub(super) use profile::names;
pub use recorded::agreement;
