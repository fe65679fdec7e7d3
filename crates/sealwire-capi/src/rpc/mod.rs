//! Calls: clients, servers, and what goes between them.

mod answer;
mod calling;
mod client;
mod conn;
mod metadata;
mod request;
mod server;
mod stream;
mod trace;

pub use answer::*;
pub use client::*;
pub use conn::*;
pub use metadata::*;
pub use request::*;
pub use server::*;
pub use stream::*;
pub use trace::*;
