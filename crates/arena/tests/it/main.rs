//! Tests of the whole crate, in one binary: linking one for each file takes longer than the tests.

mod again;
mod bearoff;
mod cfr;
mod chance;
mod cube;
mod deliberation;
mod endless;
mod exact;
mod known;
mod luck;
mod possible;
mod review;
mod rollout;
mod screen;
mod search;
mod small_poker;
mod uct;
