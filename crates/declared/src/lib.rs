//! Games declared in a text file.
//!
//! There are two languages for rules. A file in our own form names the objects of a game, its relations, operators and
//! endings; [`Declared`] is such a game. [`Described`] is a game in GDL. Both are compiled to circuits: a gate for every
//! tuple of a relation that depends on the state. The methods of a game follow the state from call to call and compute
//! only what changed; [`Monitor`] does so for one game, and [`Batch`] plays many games in parallel.
//!
//! The circuits, the encoders and the rest of what commands need are the same for both languages.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod bits;
mod circuit;
mod components;
mod counting;
mod encoders;
mod error;
mod gdl;
mod indices;
mod kit;
mod lanes;
mod modules;
mod names;
mod net;
mod own;
#[cfg(test)]
mod random_play;
mod recent;
mod ruled;
mod text;

pub use error::{Place, RuleError};
pub use gdl::{Described, Steps};
pub use names::{SHIPPED, SHIPPED_GDL, USUAL, USUAL_GDL};
pub use own::{Batch, Declared, Monitor, Playouts, State};
