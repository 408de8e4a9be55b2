//! The server as clients see it, over real connections.

mod api;
mod client;
mod safety;
mod schema;
