//! A socket for datagrams: the system's, or, in tests, one of the simulated network.

use std::io;
use std::net::SocketAddr;

use mio::event::Source;
use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};

#[cfg(any(test, feature = "simulation"))]
use crate::transport::simulated::SimulatedDatagrams;

pub(crate) enum DatagramSocket {
    System(UdpSocket),
    #[cfg(any(test, feature = "simulation"))]
    Simulated(SimulatedDatagrams),
}

impl DatagramSocket {
    /// # Errors
    ///
    /// Where the system refuses.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            DatagramSocket::System(socket) => socket.local_addr(),
            #[cfg(any(test, feature = "simulation"))]
            DatagramSocket::Simulated(socket) => Ok(socket.local_address()),
        }
    }

    /// # Errors
    ///
    /// As of a socket that does not block.
    pub(crate) fn send_to(&self, bytes: &[u8], target: SocketAddr) -> io::Result<usize> {
        match self {
            DatagramSocket::System(socket) => socket.send_to(bytes, target),
            #[cfg(any(test, feature = "simulation"))]
            DatagramSocket::Simulated(socket) => socket.send_to(bytes, target),
        }
    }

    /// # Errors
    ///
    /// As of a socket that does not block.
    pub(crate) fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match self {
            DatagramSocket::System(socket) => socket.recv_from(buffer),
            #[cfg(any(test, feature = "simulation"))]
            DatagramSocket::Simulated(socket) => socket.recv_from(buffer),
        }
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            DatagramSocket::System(socket) => socket,
            #[cfg(any(test, feature = "simulation"))]
            DatagramSocket::Simulated(socket) => socket,
        }
    }
}

impl Source for DatagramSocket {
    fn register(
        &mut self,
        registry: &Registry,
        token: Token,
        interests: Interest,
    ) -> io::Result<()> {
        self.source().register(registry, token, interests)
    }

    fn reregister(
        &mut self,
        registry: &Registry,
        token: Token,
        interests: Interest,
    ) -> io::Result<()> {
        self.source().reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.source().deregister(registry)
    }
}
