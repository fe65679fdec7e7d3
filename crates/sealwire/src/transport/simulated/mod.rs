//! A network in memory for the tests: streams that behave as TCP does, over links whose delays, short
//! writes and cuts come from a seed. Time passes only when the tests let it.

mod network;
mod stream;

pub use network::{Conditions, DatagramFaults, Network, Random, SimulatedDatagrams, Told};
pub use stream::{SimulatedListener, SimulatedStream};
