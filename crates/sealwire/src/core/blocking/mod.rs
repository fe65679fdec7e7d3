//! Threads that block: until there is a message, room for one, or a signal, up to a time limit.

mod sending;
mod spinning;
mod waiting;
