//! Backgammon's [`Kit`].

use super::{Backgammon, Points};
use crate::Family;
use adept_game::{Encoder, Found, GameError, Kit, Named, OutcomeClass, Suite};
use std::sync::Arc;

impl Family for Backgammon {
    const USUAL: &str = "backgammon";

    fn named(name: &str) -> Found<Self> {
        let ours = ["backgammon", "hypergammon"]
            .iter()
            .any(|own| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')));
        let wrong = || {
            GameError::new(format!(
                "`{name}`: write backgammon, hypergammon, which has 3 checkers a side, or backgammon:K with K checkers, 1 to 5"
            ))
        };
        ours.then(|| Self::named(name).ok_or_else(wrong))
    }
}

impl Kit for Backgammon {
    fn about(&self) -> String {
        "backgammon with gammons and backgammons, without the cube; hypergammon, with 3 checkers a side; backgammon:K, with K, \
         1 to 5"
            .into()
    }

    /// Losses and wins of three sizes.
    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        let names = ["loss_backgammon", "loss_gammon", "loss", "win", "win_gammon", "win_backgammon"];
        let points = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];
        let class = |(k, (name, points)): (usize, (&str, f32))| OutcomeClass::new(name, points / 3.0, 5 - k);
        Ok(names.into_iter().zip(points).enumerate().map(class).collect())
    }

    fn encoders(&self) -> Vec<Named> {
        Named::list(&[(
            "points",
            "202 inputs: checkers on each point in units, on the bar and off, of both sides",
        )])
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        (name == "points").then(|| Arc::new(Points) as _)
    }

    fn usual_suites(&self) -> Vec<Suite> {
        vec![Suite::Matches]
    }

    fn starter(&self) -> Option<String> {
        Some(include_str!("starter.toml").into())
    }
}
