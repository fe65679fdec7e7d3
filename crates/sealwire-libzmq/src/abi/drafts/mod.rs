//! The functions that libzmq may still change: those of `ZMQ_BUILD_DRAFT_API` in `zmq.h`.

pub mod contexts;
pub mod messages;
pub mod pollers;
pub mod ppoll;
pub mod sockets;

#[cfg(test)]
mod tests;
