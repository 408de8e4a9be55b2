//! Games in GDL, the game description language of general game playing (GDL-I, `.kif` files; Love, Hinrichs, Haley, Schkufza,
//! Genesereth, "General Game Playing: Game Description Language Specification", 2008).

mod audit;
mod compiled;
mod components;
mod effects;
mod game;
mod gates;
mod kif;
mod kit;
mod net;
#[cfg(test)]
mod plain;
mod program;
mod reach;
mod tables;
mod terms;
#[cfg(test)]
mod tests;
mod text;

pub use game::Described;
pub use kit::USUAL_GDL;
