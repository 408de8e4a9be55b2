//! Tests of the whole crate, in one binary: linking one for each file takes longer than the tests.

mod c;
mod facade;
#[cfg(feature = "tract")]
mod tract;
