//! Calls: clients, servers, and what goes between them.

mod answer;
mod calling;
mod client;
mod conn;
mod request;
mod server;
mod stream;

pub use answer::*;
pub use client::*;
pub use conn::*;
pub use request::*;
pub use server::*;
pub use stream::*;
