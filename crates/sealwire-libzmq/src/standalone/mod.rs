//! What zmq.h offers without a context: keys and their text, counters, timers, the clock.

pub(crate) mod capabilities;
pub(crate) mod clock;
pub(crate) mod counter;
pub(crate) mod keys;
pub(crate) mod timers;
