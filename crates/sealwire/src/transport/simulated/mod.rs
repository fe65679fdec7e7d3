//! A network in memory for the tests: streams that behave as TCP does, over links whose delays, short
//! writes and cuts a seed decides about. Time passes only as it is told to.

mod network;
mod stream;

pub use network::{Conditions, DatagramFaults, Network, Random, SimulatedDatagrams, Told};
pub use stream::{SimulatedListener, SimulatedStream};
