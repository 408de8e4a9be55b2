//! Experiments with the built-in games, from configs to results. One binary, so that it is linked once.

mod common;
mod config_faults;
mod configs;
mod first_runs;
mod fuzz;
mod laws;
mod levels;
mod liars_dice;
mod outcomes;
mod own_games;
mod portable;
mod positions;
mod ranks;
mod regrets;
mod runs;
mod survival;
mod sweeps;
