//! Liar's dice's [`Kit`]: encoders, scripts, deliberating agents and starter configs.

use super::deliberation;
use super::rules::{Action, LiarsDice, RuleSet};
use super::state::{Bid, State};
use super::{encoders, post};
use crate::Family;
use adept_game::{
    Deliberator, Encoder, Found, GameError, Kit, Named, OutcomeClass, Recorded, Script, TreeVisitor,
};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Bids that are possible with all dice.
fn most_bids(game: &LiarsDice) -> usize {
    usize::from(game.faces) * game.dice.iter().map(|dice| usize::from(*dice)).sum::<usize>()
}

impl Family for LiarsDice {
    const USUAL: &str = "liars-dice:soar:4x5";

    fn named(name: &str) -> Found<Self> {
        let ours = name == "liars-dice" || name.starts_with("liars-dice:");
        let wrong = || {
            GameError::new(format!(
                "`{name}`: write liars-dice:soar:PxD or liars-dice:r-post:PxD with P players of D dice each, or \
                 liars-dice:openspiel:A-B:F with A and B dice of F faces, optionally followed by :no-wild"
            ))
        };
        ours.then(|| Self::named(name).ok_or_else(wrong))
    }
}

impl Kit for LiarsDice {
    fn about(&self) -> String {
        "liar's dice; rule sets soar:PxD, r-post:PxD, openspiel:A-B:F[:no-wild]".into()
    }

    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        Err(GameError::new(format!(
            "{}: policies and values of challenges are learned here, not results: its classes are not listed",
            self.name
        )))
    }

    /// The bids by count and face, then the challenge. Other rule sets have pushes, or counts without an end.
    fn action_space(&self) -> Option<usize> {
        matches!(self.rules, RuleSet::OpenSpiel { .. }).then(|| most_bids(self) + 1)
    }

    fn action_number(&self, _: &State, action: &Action) -> usize {
        match action {
            Action::Bid { bid: Bid { count, face }, .. } => {
                (usize::from(*count) - 1) * usize::from(self.faces) + usize::from(*face) - 1
            }
            _ => most_bids(self),
        }
    }

    /// In soar a bid comes with each proper part of the own dice, which are most with equal numbers of all faces.
    fn most_actions(&self) -> Option<usize> {
        const OTHERS: usize = 5;
        let dice = usize::from(self.dice.iter().copied().max().unwrap_or(0));
        Some(match self.rules {
            RuleSet::OpenSpiel { .. } => most_bids(self) + 1,
            RuleSet::RPost => usize::from(self.faces) + OTHERS,
            RuleSet::Soar => {
                let parts: usize = (0..6).map(|face| (dice + 5 - face) / 6 + 1).product();
                most_bids(self) * (parts - 1) + OTHERS
            }
        })
    }

    fn encoders(&self) -> Vec<Named> {
        encoders::list(self)
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        encoders::encoder(name)
    }

    fn starter(&self) -> Option<String> {
        Some(match self.rules() {
            RuleSet::Soar => include_str!("starters/soar.toml").into(),
            RuleSet::RPost => include_str!("starters/r-post.toml").into(),
            RuleSet::OpenSpiel { .. } if self.has_public_tree() => {
                let encoder = self.encoders().swap_remove(0).name;
                include_str!("starters/openspiel.toml").replace("{encoder}", &encoder)
            }
            RuleSet::OpenSpiel { .. } => include_str!("starters/openspiel-large.toml").into(),
        })
    }

    fn scripts(&self) -> Vec<Named> {
        Named::list(&post::SCRIPTS)
    }

    fn script(&self, name: &str) -> Option<Script<Self>> {
        post::script(name)
    }

    fn strongest(&self) -> Option<String> {
        Some("PMH".into())
    }

    fn deliberators(&self) -> Vec<Named> {
        deliberation::list(self)
    }

    fn deliberator(&self, name: &str, settings: &Value) -> Found<Arc<dyn Deliberator<Self>>> {
        deliberation::find(self, name, settings)
    }

    fn recorded(&self, agent: &str, path: &Path) -> Found<Recorded> {
        deliberation::recorded(self, agent, path)
    }

    fn has_public_tree(&self) -> bool {
        self.is_listed()
    }

    fn with_public_tree<V: TreeVisitor<Self>>(&self, visitor: V) -> Option<V::Output> {
        self.is_listed().then(|| visitor.visit(self))
    }
}
