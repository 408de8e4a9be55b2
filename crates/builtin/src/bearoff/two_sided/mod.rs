//! The two-sided oracle: the exact value of every pair of sides, each with at most n checkers.
//!
//! [`Table::solve`] finds all C(n + 6, 6)² values by backward induction over pairs in one go: 1.5 billion for
//! n = 14 in seconds. [`Table::save`] writes them to a checksummed file, which [`Table::open`] maps. A table is the same
//! to the last bit on every machine and with any number of threads.
//!
//! | file | what it knows |
//! |---|---|
//! | `order` | sides by level, lists of moves |
//! | `grid` | where a value lies |
//! | `lanes` | 32 values at a time on each instruction set |
//! | `dominance`, `program` | which moves can be left out, and what remains as the kernels read it |
//! | `pass` | the values of some rows in some columns |
//! | `solve` | the levels one after the other, on several threads |
//! | `table`, `block`, `file`, `find` | lookups; many values at once; the file; which file |
//! | `gnubg` | GNU Backgammon's files |

mod block;
mod dominance;
mod file;
mod find;
pub mod gnubg;
mod grid;
mod lanes;
mod order;
mod pass;
mod program;
mod solve;
mod table;

pub(super) use file::replace;
pub use find::{Source, find, usual_file};
pub use lanes::Isa;
pub use solve::Progress;
pub use table::{Errors, Precision, Seconds, Settings, Table, TableError, Timings};

#[cfg(test)]
mod tests;
