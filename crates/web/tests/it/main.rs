//! The server from its clients' view, over real connections.

mod api;
mod client;
mod restart;
mod safety;
mod schema;
