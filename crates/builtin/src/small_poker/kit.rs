//! Small poker's [`Kit`]: an encoder, scripts and a starter config.

use super::encoder::Bets;
use super::game::Words;
use super::rules::{Action, SmallPoker, State};
use crate::Family;
use adept_game::{
    Agents, Card, Encoder, Encoders, Found, Game, GameError, Kit, LevelResult, Listing, Numbering, Results,
    Script, Texts, TreeVisitor,
};
use std::sync::Arc;

impl Family for SmallPoker {
    const USUAL: &str = "leduc";

    fn named(name: &str) -> Found<Self> {
        match name {
            "kuhn" => Some(Ok(Self::KUHN)),
            "leduc" => Some(Ok(Self::LEDUC)),
            _ if name.starts_with("kuhn:") || name.starts_with("leduc:") => {
                Some(Err(GameError::new(format!("`{name}`: write kuhn or leduc, which take no parameters"))))
            }
            _ => None,
        }
    }
}

/// Results of the levels of Kuhn poker, 20,000 games.
const KUHN_LEVELS: &[LevelResult] = &[LevelResult::new("easy", 0.3075, 0.0048)];

/// Results of the levels of Leduc poker, 20,000 games.
const LEDUC_LEVELS: &[LevelResult] = &[LevelResult::new("easy", 0.1964, 0.0045)];

/// A policy that takes this action where it is legal, and otherwise calls.
fn always(wanted: Action) -> Script<SmallPoker> {
    Arc::new(move |_: &SmallPoker, _: &State, actions: &[Action], p: &mut Vec<f64>| {
        let chosen = if actions.contains(&wanted) { wanted } else { Action::Call };
        p.clear();
        p.extend(actions.iter().map(|action| f64::from(u8::from(*action == chosen))));
    })
}

impl Kit for SmallPoker {
    fn card(&self) -> Card {
        Card {
            about: "small poker of two players: leduc and kuhn".into(),
            starter: Some(include_str!("starter.toml").replace("{game}", self.name())),
            ..Card::of(self)
        }
    }

    fn results(&self) -> Results<Self> {
        Results::of(|game| {
            Err(GameError::new(format!(
                "{}: a deal wins or loses the chips in the pot, so its results are not a few classes",
                game.name()
            )))
        })
    }

    /// To fold, to call or check, to bet or raise.
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::new(3, |_, _, action| match action {
            Action::Deal(_) | Action::Fold => 0,
            Action::Call => 1,
            Action::Raise => 2,
        })
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let encoder = Bets::new(self);
        let about = "own card, card on the table, all moves so far, and a move";
        Encoders::<Self>::one(encoder.name().to_string(), about, Arc::new(encoder))
    }

    fn agents(&self) -> Agents<'_, Self> {
        let scripts = Listing::default()
            .with("always-call", "checks or calls", || always(Action::Call))
            .with("always-raise", "bets or raises if possible, otherwise calls", || always(Action::Raise));
        let levels = if self.name() == Self::KUHN.name() { KUHN_LEVELS } else { LEDUC_LEVELS };
        Agents { strongest: Some("always-raise"), levels, ..Agents::scripts(scripts) }
    }

    fn with_public_tree<V: TreeVisitor<Self>>(&self, visitor: V) -> Option<V::Output> {
        Some(visitor.visit(self))
    }
}
