//! Connect Four's [`Kit`]: encoders, a script, the exact oracle and positions for tests.

use super::encoders::{Cells, Threats};
use super::{Board, COLUMNS, ConnectFour, Solver};
use crate::{Family, lines};
use adept_game::{
    Afterstate, Distribution, Encoder, Found, Game, GameError, Kit, Named, OutcomeClass, OutcomeMask,
    Positions, Script, Suite, Valuation,
};
use rand::{Rng, RngExt};
use std::sync::{Arc, Mutex, PoisonError};

impl Family for ConnectFour {
    const USUAL: &str = "connect-four";

    fn named(name: &str) -> Found<Self> {
        (name == Self::USUAL).then_some(Ok(Self))
    }
}

impl Kit for ConnectFour {
    fn about(&self) -> String {
        "Connect Four, 7×6; exact values for positions of at least 16 stones".into()
    }

    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        Ok(OutcomeClass::loss_draw_win())
    }

    #[inline]
    fn possible_outcomes(&self, classes: &[OutcomeClass], board: &Board, player: usize) -> OutcomeMask {
        lines::possible(classes, [player, 1 - player].map(|player| board.can_win(player)))
    }

    fn impossible_outcomes(&self) -> Option<&'static str> {
        Some(lines::IMPOSSIBLE)
    }

    fn encoders(&self) -> Vec<Named> {
        Named::list(&[("threats", "stones and the empty cells that complete four"), ("cells", "stones only")])
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        match name {
            "threats" => Some(Arc::new(Threats)),
            "cells" => Some(Arc::new(Cells)),
            _ => None,
        }
    }

    fn action_space(&self) -> Option<usize> {
        Some(COLUMNS)
    }

    #[inline]
    fn action_number(&self, _: &Board, &column: &u8) -> usize {
        column.into()
    }

    fn usual_suites(&self) -> Vec<Suite> {
        vec![Suite::Matches]
    }

    fn starter(&self) -> Option<String> {
        Some(include_str!("starter.toml").into())
    }

    fn scripts(&self) -> Vec<Named> {
        Named::list(&[("tactical", "wins if possible, otherwise blocks, otherwise moves at random")])
    }

    fn script(&self, name: &str) -> Option<Script<Self>> {
        if name == "tactical" { Some(Arc::new(tactical)) } else { None }
    }

    fn valuations(&self) -> Vec<Named> {
        Named::list(&[(
            "oracle",
            "exact values for positions of at least 16 stones; none for earlier positions",
        )])
    }

    fn valuation(&self, name: &str) -> Found<Arc<dyn Valuation<Self>>> {
        (name == "oracle").then(|| Ok(Arc::new(Exact::default()) as _))
    }

    fn positions(&self) -> Positions<Self> {
        let about = "unfinished positions of 16 to 36 stones, reached by random moves";
        Positions {
            class: |board| board.count().into(),
            class_name: "stones on the board",
            ..Positions::new(vec![Distribution::new("late", about, late)], |board| board.key())
        }
    }
}

/// Solving positions with fewer stones takes seconds.
const SOLVED_FROM: u32 = 16;

/// An unfinished position of 16 to 36 stones, reached by random moves.
fn late(rng: &mut dyn Rng) -> Board {
    let stones = rng.random_range(SOLVED_FROM..=36);
    let (mut board, mut columns) = (Board::default(), Vec::with_capacity(COLUMNS));
    while board.count() < stones || board.is_over() {
        if board.is_over() {
            board = Board::default();
        }
        ConnectFour.actions(&board, &mut columns);
        board = board.play(usize::from(columns[rng.random_range(0..columns.len())]));
    }
    board
}

/// The rule-based player.
fn tactical(_: &ConnectFour, board: &Board, actions: &[u8], probabilities: &mut Vec<f64>) {
    let completing = |player: usize| {
        let cells = board.winning_cells(player) & board.possible();
        move |column: &u8| cells & column_mask(usize::from(*column)) != 0
    };
    let (wins, blocks) = (completing(board.mover()), completing(1 - board.mover()));
    let best: &dyn Fn(&u8) -> bool = match () {
        () if actions.iter().any(&wins) => &wins,
        () if actions.iter().any(&blocks) => &blocks,
        () => &|_| true,
    };
    let n = actions.iter().filter(|action| best(action)).count() as f64;
    probabilities.clear();
    probabilities.extend(actions.iter().map(|action| f64::from(u8::from(best(action))) / n));
}

fn column_mask(column: usize) -> u64 {
    (0..super::ROWS).fold(0, |mask, row| mask | Board::cell(column, row))
}

/// Exact values by search, with one solver per concurrent thread.
#[derive(Default)]
struct Exact(Mutex<Vec<Solver>>);

impl Exact {
    fn solvers(&self) -> std::sync::MutexGuard<'_, Vec<Solver>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Valuation<ConnectFour> for Exact {
    fn value(&self, game: &ConnectFour, after: Afterstate<'_, ConnectFour>) -> f64 {
        let board = after.state;
        if board.is_over() {
            return game.utility(board, after.player);
        }
        if board.count() < SOLVED_FROM {
            return f64::NAN;
        }
        let free = self.solvers().pop();
        let mut solver = free.unwrap_or_default();
        let value = f64::from(solver.solve(board));
        self.solvers().push(solver);
        if after.player == board.mover() { value } else { -value }
    }
}
