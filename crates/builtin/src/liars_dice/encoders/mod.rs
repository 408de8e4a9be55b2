//! Encoders of liar's dice: rows for a player's knowledge and an action.

mod bids;
mod post;
mod raises;
mod rules;
mod soar;

use super::rules::{LiarsDice, RuleSet};
use adept_game::{Encoder, Named};
use std::sync::Arc;

/// The encoders of a rule set, the default first.
pub(super) fn list(game: &LiarsDice) -> Vec<Named> {
    let soar = (
        "soar",
        "a player's knowledge, an action, and its deliberated value; candidates come from deliberation",
    );
    let dice =
        ("dice", "soar with the own dice, all exposed dice and the last acts, and with more candidates");
    let rules = (
        "rules:P",
        "the features that a deliberating agent reads, as the key of a rule, and the value it finds: rules:PM, rules:PMH, …",
    );
    match (game.rules(), game.dice()) {
        (RuleSet::OpenSpiel { .. }, [a, b]) => {
            let bids = Named {
                name: format!("bids:{a}-{b}:{}", game.faces()).into(),
                about: "own dice, all bids so far, and a bid or a challenge".into(),
            };
            [vec![bids], Named::list(&[rules, soar])].concat()
        }
        (RuleSet::RPost, _) => {
            let raises = ("raises", "a player's knowledge, and a call or a raise of any face");
            let post = (
                "post",
                "the state of the post's Q-learner, and call, raise or bluff, as the key of a table",
            );
            Named::list(&[raises, post, soar, rules])
        }
        _ => Named::list(&[soar, dice, rules]),
    }
}

/// The encoder named `name`.
pub(super) fn encoder(name: &str) -> Option<Arc<dyn Encoder<LiarsDice>>> {
    match name {
        "soar" => Some(Arc::new(soar::Soar::new(false)?)),
        "dice" => Some(Arc::new(soar::Soar::new(true)?)),
        "post" => Some(Arc::new(post::Post)),
        "raises" => Some(Arc::new(raises::Raises)),
        _ if name.starts_with("bids:") => Some(Arc::new(bids::Bids::new(name)?)),
        _ => Some(Arc::new(rules::Rules::new(name)?)),
    }
}
