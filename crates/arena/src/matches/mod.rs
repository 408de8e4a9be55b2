//! Matches: games between agents in all seat orders, their results, and the statistics of these.

mod play;
mod statistics;
mod tally;

pub use play::{
    Deals, Draws, Order, Replayed, Table, compete, compete_from, count_orders, opening_plies, orders, play,
    play_counted, replay,
};
pub use statistics::{Net, Score, binomial_test, holm, ratings, wilson95};
pub use tally::{ByClass, Distinct, Ends, Tally};
