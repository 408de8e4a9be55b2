//! The commands; each file has one command or a group of related ones.

pub(crate) mod arena;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod exchange;
pub(crate) mod list;
pub(crate) mod measure;
pub(crate) mod play;
pub(crate) mod reproduce;
pub(crate) mod solve;
pub(crate) mod sweep;
pub(crate) mod train;
