//! Small poker's [`Kit`]: an encoder, scripts and a starter config.

use super::encoder::Bets;
use super::rules::{Action, SmallPoker, State};
use crate::Family;
use adept_game::{Encoder, Found, Game, GameError, Kit, Named, OutcomeClass, Script, TreeVisitor};
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

impl Kit for SmallPoker {
    fn about(&self) -> String {
        "small poker of two players: leduc and kuhn".into()
    }

    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        Err(GameError::new(format!(
            "{}: a deal wins or loses the chips in the pot, so its results are not a few classes",
            self.name()
        )))
    }

    /// To fold, to call or check, to bet or raise.
    fn action_space(&self) -> Option<usize> {
        Some(3)
    }

    fn action_number(&self, _: &State, action: &Action) -> usize {
        match action {
            Action::Deal(_) | Action::Fold => 0,
            Action::Call => 1,
            Action::Raise => 2,
        }
    }

    fn encoders(&self) -> Vec<Named> {
        vec![Named {
            name: Bets::new(self).name().to_string().into(),
            about: "own card, card on the table, all moves so far, and a move".into(),
        }]
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        let encoder = Bets::new(self);
        (encoder.name() == name).then(|| Arc::new(encoder) as _)
    }

    fn starter(&self) -> Option<String> {
        Some(include_str!("starter.toml").replace("{game}", self.name()))
    }

    fn strongest(&self) -> Option<String> {
        Some("always-raise".into())
    }

    fn scripts(&self) -> Vec<Named> {
        Named::list(&[
            ("always-call", "checks or calls"),
            ("always-raise", "bets or raises if possible, otherwise calls"),
        ])
    }

    fn script(&self, name: &str) -> Option<Script<Self>> {
        let wanted = match name {
            "always-call" => Action::Call,
            "always-raise" => Action::Raise,
            _ => return None,
        };
        Some(Arc::new(move |_: &Self, _: &State, actions: &[Action], p: &mut Vec<f64>| {
            let chosen = if actions.contains(&wanted) { wanted } else { Action::Call };
            p.clear();
            p.extend(actions.iter().map(|action| f64::from(u8::from(*action == chosen))));
        }))
    }

    fn has_public_tree(&self) -> bool {
        true
    }

    fn with_public_tree<V: TreeVisitor<Self>>(&self, visitor: V) -> Option<V::Output> {
        Some(visitor.visit(self))
    }
}
