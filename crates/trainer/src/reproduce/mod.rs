//! Published tables and figures, ours beside the paper's.

mod chart;
mod table1;

pub use table1::{ReproduceOptions, Reproduced, Row, TABLE1_ROWS, table1};
