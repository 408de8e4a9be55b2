//! Errors of opening agents and of exact measurement.

use adept_game::GameError;
use adept_model::ModelError;
use std::path::PathBuf;

/// Why an agent or evaluator is not available.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The checkpoint belongs to another game, encoder or shape.
    #[error("{}: {message}", path.display())]
    Mismatch {
        /// The checkpoint.
        path: PathBuf,
        /// What was found and what was expected.
        message: String,
    },
    /// A position, a file or a table of the game.
    #[error(transparent)]
    Game(#[from] GameError),
    /// What is asked for cannot be computed exactly.
    #[error(transparent)]
    Exact(#[from] ExactError),
    /// The game has no agent or encoder with this name, or it cannot be computed.
    #[error("{0}")]
    Unknown(String),
}

/// Why a game cannot be measured exactly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExactError {
    /// Its chance outcomes can only be sampled.
    #[error("the game has too many chance outcomes to list; exact computation is not possible")]
    Chance,
    /// It has chance, which this measure does not allow.
    #[error("the game has chance, and this needs a game without chance")]
    Dice,
    /// It may go on for too many moves, or for ever.
    #[error(
        "a game of more than {0} moves: too long to measure exactly; play matches instead, or give the game a limit of moves"
    )]
    Depth(usize),
    /// It has no solution.
    #[error("no sequence of moves reaches the highest result of the game")]
    Unsolvable,
    /// It has too many states.
    #[error("more than {0} states: too many to measure exactly; play matches instead")]
    Size(usize),
    /// An agent's policy is not a probability distribution, for example because its values are NaN.
    #[error("an agent's probabilities sum to {0} instead of 1; its values are not finite numbers")]
    Policy(String),
    /// The rules leave a player without an action.
    #[error("{0}")]
    Rules(String),
}
