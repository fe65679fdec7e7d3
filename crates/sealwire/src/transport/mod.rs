//! Transports: listening, connecting and byte streams over TCP and Unix sockets. `inproc` moves
//! messages, not bytes, and has a module of its own.

pub(crate) mod inproc;
mod listen;
mod stream;

pub(crate) use listen::{BoundListener, listen};
pub(crate) use stream::{Polled, Stream, Target};
