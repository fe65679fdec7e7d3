//! What zmq.h offers beside sockets: keys and their text, counters, timers, the clock.

pub(crate) mod capabilities;
pub(crate) mod clock;
pub(crate) mod counter;
pub(crate) mod keys;
pub(crate) mod timers;
