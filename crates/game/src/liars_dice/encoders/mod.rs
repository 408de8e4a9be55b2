//! Encoders: rows of what a player knows and an action.

mod bids;
mod raises;
mod rules;
mod soar;

use super::rules::LiarsDice;
use crate::encoder::Encoder;

/// Names of the encoders, with a line about each.
pub(super) const ENCODERS: [(&str, &str); 4] = [
    (
        "soar",
        "what a player knows, an action, and what deliberation makes of it; candidates are those of deliberation",
    ),
    ("raises", "the rule set r-post: what a player knows, and a call or a raise of any face"),
    (
        "rules:P",
        "the features that a deliberating agent reads, as the key of a rule, and the value it finds: rules:PM, rules:PMH, …",
    ),
    (
        "bids:1-1:6",
        "the rule set openspiel with that many dice and faces: own dice, all bids made, and a bid or a doubt",
    ),
];

/// The encoder of that name.
pub(super) fn encoder(name: &str) -> Option<Box<dyn Encoder<LiarsDice>>> {
    match name {
        "soar" => Some(Box::new(soar::Soar::new()?)),
        "raises" => Some(Box::new(raises::Raises)),
        _ if name.starts_with("bids:") => Some(Box::new(bids::Bids::new(name)?)),
        _ => Some(Box::new(rules::Rules::new(name)?)),
    }
}
