//! Experiments from configs to results, with the built-in games: one binary, so that it is linked once.

mod common;
mod config_faults;
mod configs;
mod liars_dice;
mod positions;
mod regrets;
mod runs;
mod survival;
mod sweeps;
