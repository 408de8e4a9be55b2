//! SoarBot (Follek 2003): a rule-based player.
//!
//! Rules fire in parallel. Each proposes an action with a score, and the highest score wins. Rules read [`Flags`] and
//! numbers of a hand, and are data: a [`Profile`] is a TOML file.
//!
//! A check-raise is a check now and a raise at the next turn. That plan and the flag `maybe` are hidden state. From
//! outside, the player is a policy: probabilities are conditional on its earlier actions in the hand. The policy is
//! therefore a pure function of the position.

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
