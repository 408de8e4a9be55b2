//! Exact solutions of small games with hidden information: counterfactual regret minimisation on the public tree.
//!
//! A game that implements [`PublicTree`](adept_game::public_tree::PublicTree) is unrolled once into a [`Tree`].
//! [`CfrPlus`] and [`Mccfr`] approach an equilibrium of it; what they have found is a [`Policy`], which says how much
//! a best response wins from it ([`Policy::exploitability`]) and plays as the agent [`Tabular`]. Any other agent is
//! measured in the same way through [`Policy::of_agent`].
//!
//! For networks there are [`Decisions`], all information sets as rows of an encoder, of which a model makes a whole policy at
//! once, and [`Policy::advantages`], what a policy regrets at each of them.
//!
//! Values are utilities in units of the game, for player 0 where nothing else is said. Tables of a node hold a number
//! for each private index of the player to move and each action.

mod advantage;
mod decisions;
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
pub use solve::{Measured, Method, Point, SolveOptions, Solved, solve};
pub use tree::Tree;
