//! Peers that speak nonsense.

use std::io::IoSlice;
use std::net::IpAddr;

use sealwire_relay::zmtp::{self, GREETING_SIZE};

use crate::transport::simulated::{Network, SimulatedStream};

/// A connection of somebody who does not belong here.
pub(super) struct Stranger {
    network: Network,
    stream: SimulatedStream,
    /// What it begins with: nothing, or what a greeting begins with.
    greeting: Vec<u8>,
    is_over: bool,
}

impl Stranger {
    /// Connects to one of the listeners, if there are any.
    pub(super) fn new(network: &Network) -> Option<Self> {
        let listener = network.any_listener()?;
        let from = IpAddr::from([10, 0, 1, network.below(4) as u8]);
        let mechanism = ["NULL", "CURVE", "BLAKE3", "NOISE"][network.below(4) as usize];
        let mut greeting = zmtp::greeting(mechanism, false).to_vec();
        greeting.truncate(network.below(2 * GREETING_SIZE as u64) as usize);
        Some(Stranger {
            network: network.clone(),
            stream: network.connect(from, listener).ok()?,
            greeting,
            is_over: false,
        })
    }

    /// Reads what there is, and sends noise.
    pub(super) fn go_on(&mut self) {
        if self.is_over || !matches!(self.stream.connected(), Some(Ok(()))) {
            return;
        }
        let mut buffer = [0; 256];
        let read = self.stream.read(&mut buffer);
        let mut noise = std::mem::take(&mut self.greeting);
        noise.resize(noise.len() + self.network.below(200) as usize, 0);
        let start = noise.len().min(GREETING_SIZE);
        if self.network.below(2) == 0 {
            self.network.fill_random(&mut noise[start..]);
        }
        let write = match noise.is_empty() {
            true => Ok(0),
            false => self.stream.write_vectored(&[IoSlice::new(&noise)]),
        };
        let ended = |error: &std::io::Error| error.kind() != std::io::ErrorKind::WouldBlock;
        self.is_over = matches!(read, Ok(0))
            || read.as_ref().is_err_and(ended)
            || write.as_ref().is_err_and(ended);
    }
}
