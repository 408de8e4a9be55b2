//! The server from its clients' view, over real connections.

mod api;
mod client;
mod safety;
mod schema;
