//! A network in memory for the tests: streams that behave as TCP does, over links whose delays, short
//! writes and cuts come from a seed. Time passes only when the tests let it.

mod network;
mod stream;

pub(crate) use network::Poller;
pub use network::{Conditions, DatagramFaults, Network, Random, SimulatedDatagrams, Told};
pub use stream::{SimulatedListener, SimulatedStream};

/// The poll behind this registry, which each I/O thread has for itself.
pub(crate) fn poller_of(registry: &mio::Registry) -> Poller {
    #[cfg(unix)]
    return Some(std::os::fd::AsRawFd::as_raw_fd(registry));
    #[cfg(not(unix))]
    return Some(std::ptr::from_ref(registry).addr() as i32);
}
