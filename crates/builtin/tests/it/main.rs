//! Tests of the whole crate, in one binary: linking one for each file takes longer than the tests.

mod bearoff;
mod bearoff_common;
mod bearoff_texts;
mod cube_game;
mod holdem;
mod hypergammon;
mod laws;
mod liars_dice;
mod liars_dice_encoders;
mod small_poker;
mod soar_agents;
mod tictactoe;
