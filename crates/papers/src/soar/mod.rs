//! Laird, Derbinsky and Tinkerhess (2011): deliberating and learning agents in liar's dice.

mod figure2;
mod figure7;
mod learning;
mod rows;

pub(crate) use figure2::KNOWLEDGE;
pub(crate) use learning::SoarFigure;
