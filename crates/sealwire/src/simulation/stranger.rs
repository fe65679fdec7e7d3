//! Peers that speak nonsense.

use std::io::IoSlice;
use std::net::IpAddr;

use super::{Network, SimulatedStream};

/// A connection of somebody who does not belong here.
pub struct Stranger {
    network: Network,
    stream: SimulatedStream,
    /// What it begins with, before the noise.
    opening: Vec<u8>,
    is_over: bool,
}

impl Stranger {
    /// Connects to one of the listeners, if there are any.
    pub fn new(network: &Network, opening: fn(&Network) -> Vec<u8>) -> Option<Self> {
        let listener = network.any_listener()?;
        let from = IpAddr::from([10, 0, 1, network.below(4) as u8]);
        let opening = opening(network);
        Some(Stranger {
            network: network.clone(),
            stream: network.connect(from, listener).ok()?,
            opening,
            is_over: false,
        })
    }

    /// Reads what there is, and sends noise.
    pub fn go_on(&mut self) {
        if self.is_over || !matches!(self.stream.connected(), Some(Ok(()))) {
            return;
        }
        let mut buffer = [0; 256];
        let read = self.stream.read(&mut buffer);
        let mut noise = std::mem::take(&mut self.opening);
        let start = noise.len();
        noise.resize(start + self.network.below(200) as usize, 0);
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
