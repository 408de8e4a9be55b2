//! Tic-tac-toe's [`Kit`]: encoders, the script TTT and a starter config.

use super::rules::Words;
use super::{Position, TicTacToe, encoders, ttt};
use crate::{Family, lines};
use adept_game::{
    Agents, Card, Encoders, Found, Kit, LevelResult, Listing, Numbering, OutcomeClass, OutcomeMask, Results,
    Texts,
};
use std::sync::Arc;

impl Family for TicTacToe {
    const USUAL: &str = "tictactoe";

    fn named(name: &str) -> Found<Self> {
        (name == "tictactoe").then_some(Ok(Self))
    }
}

/// Results of the levels, 20,000 games.
const LEVELS: &[LevelResult] =
    &[LevelResult::new("easy", 0.2342, 0.0029), LevelResult::new("medium", 0.3801, 0.0025)];

/// The classes that are possible for a player.
#[inline]
fn possible(_: &TicTacToe, classes: &[OutcomeClass], position: &Position, player: usize) -> OutcomeMask {
    lines::possible(classes, [player, 1 - player].map(|player| position.can_win(player)))
}

impl Kit for TicTacToe {
    fn card(&self) -> Card {
        Card {
            about: "tic-tac-toe, 3×3".into(),
            starter: Some(include_str!("starter.toml").into()),
            ..Card::of(self)
        }
    }

    #[inline]
    fn results(&self) -> Results<Self> {
        Results {
            possible,
            impossible: Some(lines::IMPOSSIBLE),
            ..Results::of(|_| Ok(OutcomeClass::loss_draw_win()))
        }
    }

    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::new(9, |_, _, &square: &u8| square.into())
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        Encoders::<Self>::default()
            .with("fields", "the nine squares of Wiering & Kröse, and the last square played", || {
                Arc::new(encoders::Fields)
            })
            .with("stones", "a bit for each square and player", encoders::stones)
            .with("canonical", "the squares up to symmetry, and the threats to complete a line", || {
                Arc::new(encoders::Canonical)
            })
    }

    fn agents(&self) -> Agents<'_, Self> {
        let about = "wins if possible, otherwise blocks, otherwise moves at random (Boyan's TTT)";
        Agents { levels: LEVELS, ..Agents::scripts(Listing::one("ttt", about, Arc::new(ttt::policy))) }
    }

    fn is_small(&self) -> bool {
        true
    }
}
