//! Names of agents: what they stand for, in every command and config.
//!
//! A text is parsed into a form, [`AgentSpec`]; what its innermost name means is looked up once, as [`Resolved`]; then the agent is
//! built. Every form of a name is known to this module alone.
//!
//! The first of these that exists is meant:
//!
//! 1. the folder at this path, if it holds a checkpoint or a run;
//! 2. an agent of the game, `random`, `minimax`;
//! 3. the run of this name in `checkpoints/runs`, with or without its seed;
//! 4. the published checkpoint of this name, `checkpoints/GAME/NAME`, also as `GAME/NAME`;
//! 5. the best published checkpoint of the game of this name; without one, the game's strongest agent.

mod build;
mod checkpoints;
pub mod levels;
pub mod open;
mod resolve;
mod spec;
mod usual;

pub use build::{
    AnySearch, Judge, build, evaluator, evaluator_for, judge, judge_in_stages, network, search_by, try_out,
    values,
};
pub use resolve::{Meaning, Resolved, checkpoint_at, folder_of, is_own, resolve};
pub use spec::{AGENTS, AgentSpec, Play, ScreenSpec, map_path, path_and_search};
pub use usual::names_game;
