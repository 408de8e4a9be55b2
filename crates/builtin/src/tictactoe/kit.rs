//! Tic-tac-toe's [`Kit`]: encoders, the script TTT and a starter config.

use super::{Position, TicTacToe, encoders, ttt};
use crate::{Family, lines};
use adept_game::{Encoder, Found, GameError, Kit, Named, OutcomeClass, OutcomeMask, Script};
use std::sync::Arc;

impl Family for TicTacToe {
    const USUAL: &str = "tictactoe";

    fn named(name: &str) -> Found<Self> {
        (name == "tictactoe").then_some(Ok(Self))
    }
}

impl Kit for TicTacToe {
    fn about(&self) -> String {
        "tic-tac-toe, 3×3".into()
    }

    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        Ok(OutcomeClass::loss_draw_win())
    }

    #[inline]
    fn possible_outcomes(&self, classes: &[OutcomeClass], position: &Position, player: usize) -> OutcomeMask {
        lines::possible(classes, [player, 1 - player].map(|player| position.can_win(player)))
    }

    fn impossible_outcomes(&self) -> Option<&'static str> {
        Some(lines::IMPOSSIBLE)
    }

    fn encoders(&self) -> Vec<Named> {
        Named::list(&[
            ("fields", "the nine squares of Wiering & Kröse, and the last square played"),
            ("stones", "a bit for each square and player"),
            ("canonical", "the squares up to symmetry, and the threats to complete a line"),
        ])
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        match name {
            "fields" => Some(Arc::new(encoders::Fields)),
            "stones" => Some(Arc::new(encoders::Stones)),
            "canonical" => Some(Arc::new(encoders::Canonical)),
            _ => None,
        }
    }

    fn is_small(&self) -> bool {
        true
    }

    fn action_space(&self) -> Option<usize> {
        Some(9)
    }

    #[inline]
    fn action_number(&self, _: &Position, &square: &u8) -> usize {
        square.into()
    }

    fn starter(&self) -> Option<String> {
        Some(include_str!("starter.toml").into())
    }

    fn scripts(&self) -> Vec<Named> {
        Named::list(&[("ttt", "wins if possible, otherwise blocks, otherwise moves at random (Boyan's TTT)")])
    }

    fn script(&self, name: &str) -> Option<Script<Self>> {
        if name == "ttt" { Some(Arc::new(ttt::policy)) } else { None }
    }
}
