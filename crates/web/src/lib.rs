//! Games, agents and evaluations over HTTP: a JSON API under `/api/v1`, and a page on top of it.
//!
//! [`serve`] works over any [`Catalogue`](adept_lab::Catalogue). What takes processor time runs on as many threads as there are processors, and everything
//! that comes from outside has a limit. No name in a request reaches the file system: agents are chosen from those
//! named at the start and from published checkpoints.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod api;
mod client;
mod compute;
mod extra;
mod fault;
mod guard;
mod jobs;
mod limits;
mod page;
mod plays;
mod rule_files;
mod server;
mod shelf;
mod training;

pub use client::ClientLimits;
pub use extra::Extra;
pub use server::{ServeError, ServeOptions, serve};
pub use shelf::Named;
