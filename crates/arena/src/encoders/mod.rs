//! Parts of encoders that come from names: priors, experts and tables.

mod experts;
pub(crate) mod parts;
mod prior;
mod tables;

pub(crate) use experts::WithExperts;
pub(crate) use parts::{KNOWN, file_of, known_part};
pub(crate) use prior::{Frozen, WithPrior};
pub(crate) use tables::WithKnown;
