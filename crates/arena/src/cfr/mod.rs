//! Exact solutions of small games with hidden information: counterfactual regret minimisation on the public tree.
//!
//! A game that implements [`PublicTree`](adept_game::PublicTree) is unrolled once into a [`Tree`].
//! [`CfrPlus`] and [`Mccfr`] converge to an equilibrium of this tree. The result is a [`Policy`]. It gives its own
//! exploitability ([`Policy::exploitability`]), and [`Tabular`] plays it as an agent. [`Policy::of_agent`] measures any
//! other agent in the same way.
//!
//! Two parts are for networks. [`Decisions`] holds all information sets as rows, so that a model can give a complete
//! policy in one batch. [`Policy::advantages`] gives the advantages of a policy at each information set.
//!
//! Values are utilities in units of the game, for player 0 unless stated otherwise. A node's table holds one number for
//! each private index of the player to move and each action.

mod advantage;
mod decisions;
mod lanes;
mod mccfr;
mod plus;
mod policy;
mod response;
mod solve;
mod tree;

pub use advantage::Advantages;
pub use decisions::Decisions;
pub use mccfr::Mccfr;
pub use plus::CfrPlus;
pub use policy::{Policy, Tabular};
pub use solve::{Measured, Point, SolveOptions, Solved, SolverKind, solve};
pub use tree::Tree;
