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
mod profile;
mod recorded;

pub use agent::SoarBot;
pub use flags::{Flag, Flags, Straights, analyse};
pub use profile::Profile;
pub use recorded::agreement;

/// Names of the profiles of the program, with their descriptions.
pub(super) fn profiles() -> impl Iterator<Item = (&'static str, &'static str)> {
    [
        ("soarbot", "SoarBot (Follek 2003): the rules of the thesis, faults mended"),
        ("soarbot-2002", "SoarBot: its published rules of 2002, with their faults"),
        ("soarbot-hutchison", "SoarBot with Hutchison's points before the flop: tight"),
    ]
    .into_iter()
}
