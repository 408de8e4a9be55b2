//! Liar's dice's [`Kit`]: encoders, scripts, deliberating agents and starter configs.

use super::deliberation;
use super::game::Words;
use super::rules::{Action, LiarsDice, RuleSet};
use super::state::{Bid, State};
use super::{encoders, post};
use crate::Family;
use adept_game::{
    Agents, Card, Encoders, Found, Game, GameError, Kit, Listing, Named, Numbering, Results, Texts,
    TreeVisitor,
};

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

/// The number of a bid or of the challenge.
fn number_of_bid(game: &LiarsDice, _: &State, action: &Action) -> usize {
    match action {
        Action::Bid { bid: Bid { count, face }, .. } => {
            (usize::from(*count) - 1) * usize::from(game.faces) + usize::from(*face) - 1
        }
        _ => most_bids(game),
    }
}

/// 1 for each challenge or exact that a player wins as caller or target, −1 for each that the player loses.
fn reward(game: &LiarsDice, state: &State, action: &Action, player: usize) -> f64 {
    let Some(end) = game.showdown(state, action) else { return 0.0 };
    match end {
        _ if end.loser() == Some(player as u8) => -1.0,
        _ if usize::from(end.caller) == player || end.challenged == Some(player as u8) => 1.0,
        _ => 0.0,
    }
}

impl Kit for LiarsDice {
    fn card(&self) -> Card {
        let starter = match self.rules() {
            RuleSet::Soar => include_str!("starters/soar.toml").into(),
            RuleSet::RPost => include_str!("starters/r-post.toml").into(),
            RuleSet::OpenSpiel { .. } if self.is_listed() => {
                let encoders = self.encoders();
                include_str!("starters/openspiel.toml").replace("{encoder}", &encoders.names()[0].name)
            }
            RuleSet::OpenSpiel { .. } => include_str!("starters/openspiel-large.toml").into(),
        };
        Card {
            about: "liar's dice; rule sets soar:PxD, r-post:PxD, openspiel:A-B:F[:no-wild]".into(),
            starter: Some(starter),
            ..Card::of(self)
        }
    }

    fn results(&self) -> Results<Self> {
        Results {
            reward,
            ..Results::of(|game| {
                Err(GameError::new(format!(
                    "{}: policies and values of challenges are learned here, not results: its classes are not listed",
                    game.name()
                )))
            })
        }
    }

    /// The bids by count and face, then the challenge. Other rule sets have pushes, or counts without an end. In soar a bid comes with each
    /// proper part of the own dice, which are most with equal numbers of all faces.
    fn action_numbers(&self) -> Numbering<Self> {
        const OTHERS: usize = 5;
        let dice = usize::from(self.dice.iter().copied().max().unwrap_or(0));
        match self.rules {
            RuleSet::OpenSpiel { .. } => Numbering::new(most_bids(self) + 1, number_of_bid),
            RuleSet::RPost => Numbering::at_most(usize::from(self.faces) + OTHERS),
            RuleSet::Soar => {
                let parts: usize = (0..6).map(|face| (dice + 5 - face) / 6 + 1).product();
                Numbering::at_most(most_bids(self) * (parts - 1) + OTHERS)
            }
        }
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        Listing::new(encoders::list(self), encoders::encoder)
    }

    fn agents(&self) -> Agents<'_, Self> {
        Agents {
            deliberators: Listing::new(deliberation::list(self), |name| deliberation::find(self, name)),
            strongest: Some("PMH"),
            ..Agents::scripts(Listing::new(Named::list(&post::SCRIPTS), post::script))
        }
    }

    fn with_public_tree<V: TreeVisitor<Self>>(&self, visitor: V) -> Option<V::Output> {
        self.is_listed().then(|| visitor.visit(self))
    }
}
