//! Games, agents and evaluations over HTTP: a JSON API under `/api/v1`, and a web page.
//!
//! [`serve`] works with any [`Catalogue`](adept_lab::Catalogue). Processor-bound work runs on as many threads as there
//! are processors, and all input is limited. No name in a request reaches the file system: agents are chosen from those
//! named at the start and from published checkpoints.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod api;
mod archive;
mod client;
mod compute;
mod extra;
mod fault;
mod guard;
mod jobs;
mod limits;
mod page;
mod plays;
mod registry;
mod rule_files;
mod server;
mod training;

pub use client::ClientLimits;
pub use extra::Extra;
pub use registry::Named;
pub use server::{ServeError, ServeOptions, serve};
