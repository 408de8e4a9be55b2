//! Laird, Derbinsky and Tinkerhess (2011): the agents that deliberate, and those that learn, in liar's dice.

mod figure2;
mod learning;

pub use figure2::{Relation, SoarFigure2, soar_figure2};
pub use learning::{SoarFigure, SoarLearning, SoarRow, soar_learning};
