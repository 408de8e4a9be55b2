//! Encoders: rows of what a player knows and an action.

mod bids;
mod raises;
mod rules;
mod soar;

use super::rules::{LiarsDice, RuleSet};
use adept_game::{Encoder, Named};
use std::sync::Arc;

/// The encoders of a rule set, the usual one first.
pub(super) fn list(game: &LiarsDice) -> Vec<Named> {
    let soar = (
        "soar",
        "what a player knows, an action, and what deliberation makes of it; candidates are those of deliberation",
    );
    let rules = (
        "rules:P",
        "the features that a deliberating agent reads, as the key of a rule, and the value it finds: rules:PM, rules:PMH, …",
    );
    match (game.rules(), game.dice()) {
        (RuleSet::OpenSpiel { .. }, [a, b]) => {
            let bids = Named {
                name: format!("bids:{a}-{b}:{}", game.faces()).into(),
                about: "own dice, all bids made, and a bid or a doubt".into(),
            };
            [vec![bids], Named::list(&[rules, soar])].concat()
        }
        (RuleSet::RPost, _) => {
            Named::list(&[("raises", "what a player knows, and a call or a raise of any face"), soar, rules])
        }
        _ => Named::list(&[soar, rules]),
    }
}

/// The encoder of that name.
pub(super) fn encoder(name: &str) -> Option<Arc<dyn Encoder<LiarsDice>>> {
    match name {
        "soar" => Some(Arc::new(soar::Soar::new()?)),
        "raises" => Some(Arc::new(raises::Raises)),
        _ if name.starts_with("bids:") => Some(Arc::new(bids::Bids::new(name)?)),
        _ => Some(Arc::new(rules::Rules::new(name)?)),
    }
}
