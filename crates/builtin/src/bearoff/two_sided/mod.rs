//! The two-sided oracle: the exact value of every pair of sides, each with at most n checkers.
//!
//! [`Table::solve`] computes all C(n + 6, 6)² values by backward induction over pairs: 1.5 billion for n = 14 in
//! seconds. [`Table::save`] writes them to a checksummed file. [`Table::open`] maps this file. A table is identical to
//! the last bit on every machine and with any number of threads.
//!
//! | file | content |
//! |---|---|
//! | `order` | sides by level, move lists |
//! | `grid` | layout of the values |
//! | `lanes` | operations on 32 values at a time, for each instruction set |
//! | `dominance`, `program` | which moves can be omitted, and the remaining lists for the kernels |
//! | `pass` | the values of some rows in some columns |
//! | `solve` | the levels in order, on several threads |
//! | `cube` | three tables of values with the doubling cube, and how wrong models of the cube are by them |
//! | `spread` | a table over several ranks of MPI |
//! | `build` | memory, steps and timings of a solution |
//! | `table`, `block` | single lookups, block reads |
//! | `file`, `mapped`, `find` | the file format, checked blocks of a mapped file, finding a file |
//! | `gnubg` | GNU Backgammon's files |

mod block;
mod build;
mod cube;
mod dominance;
mod error;
mod file;
mod find;
pub mod gnubg;
mod grid;
mod lanes;
mod mapped;
mod order;
mod pass;
mod program;
mod solve;
mod spread;
mod table;

pub use build::{Settings, Shared, Timings};
pub use cube::{CubeAction, CubeEquities, CubeOwner, CubePlace, CubeStep, CubeTable};
pub use cube::{ScoreEquities, ScoreTables, ScoreView, StudySettings};
pub use error::TableError;
pub use find::{Source, find, usual_file};
pub use lanes::Isa;
pub use solve::Progress;
pub use table::{Precision, Seconds, Table, TableErrors};

#[cfg(test)]
mod tests;
