//! Connect Four's [`Kit`]: encoders, a script, the exact oracle and positions for tests.

use super::encoders::{cells, threats};
use super::rules::Words;
use super::{Board, COLUMNS, ConnectFour, Solver};
use crate::{Family, lines};
use adept_game::{
    Afterstate, Agents, Card, Distribution, Encoders, Found, Game, Kit, LevelResult, Listing, Numbering,
    OutcomeClass, OutcomeMask, Positions, Results, Suite, Texts, Valuation, Values,
};
use rand::{Rng, RngExt};
use std::sync::{Arc, Mutex, PoisonError};

impl Family for ConnectFour {
    const USUAL: &str = "connect-four";

    fn named(name: &str) -> Found<Self> {
        (name == Self::USUAL).then_some(Ok(Self))
    }
}

/// Results of the levels: 2,000 games, of the strongest 400.
const LEVELS: &[LevelResult] = &[
    LevelResult::new("easy", 0.0015, 0.0016),
    LevelResult::new("medium", 0.071, 0.0108),
    LevelResult::new("strongest", 0.8962, 0.0291),
];

/// The classes that are possible for a player.
#[inline]
fn possible(_: &ConnectFour, classes: &[OutcomeClass], board: &Board, player: usize) -> OutcomeMask {
    lines::possible(classes, [player, 1 - player].map(|player| board.can_win(player)))
}

impl Kit for ConnectFour {
    fn card(&self) -> Card {
        Card {
            about: "Connect Four, 7×6; exact values for positions of at least 16 stones".into(),
            suites: vec![Suite::Matches],
            starter: Some(include_str!("starter.toml").into()),
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
        Numbering::new(COLUMNS, |_, _, &column: &u8| column.into())
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        Encoders::<Self>::default()
            .with("threats", "stones and the empty cells that complete four", threats)
            .with("cells", "stones only", cells)
    }

    fn agents(&self) -> Agents<'_, Self> {
        let about = "wins if possible, otherwise blocks, otherwise moves at random";
        Agents { levels: LEVELS, ..Agents::scripts(Listing::one("tactical", about, Arc::new(tactical))) }
    }

    fn values(&self) -> Values<'_, Self> {
        let about = "exact values for positions of at least 16 stones; none for earlier positions";
        Values::oracle(about, || Ok(Arc::new(Exact::default())))
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
