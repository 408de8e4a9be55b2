//! Tests of the whole crate, in one binary: linking one for each file takes longer than the tests.

mod acpc;
mod commands;
mod common;
mod devices;
mod holdem;
mod limits;
mod naming;
mod page;
mod portable;
mod sweeps;
