//! A host of the simulated network, as a tunnel's end sees it.

use std::io::{self, IoSlice, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::time::{Duration, Instant};

use mio::Token;
use sealwire::simulation::{SimulatedListener, SimulatedStream};

use super::{KEEP_ALIVE, Network};
use crate::tunnel::world::{PollEvent, Stream, World};

/// Ids of connections begin with one.
const LISTENER: usize = 0;

pub(in crate::tunnel) struct Simulated {
    network: Network,
    host: IpAddr,
    listener: Option<SimulatedListener>,
    /// When the network's time began.
    epoch: Instant,
    next: Next,
    is_to_stop: bool,
}

/// When the end is to be served again, where nothing happens before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It is about to poll.
    Poll,
    At(Duration),
    Never,
}

impl Simulated {
    pub(super) fn new(network: &Network, host: IpAddr, port: u16) -> Self {
        let listener = network.listen((host, port).into()).unwrap();
        listener.register(None, Token(LISTENER));
        Simulated {
            network: network.clone(),
            host,
            listener: Some(listener),
            epoch: Instant::now(),
            next: Next::Poll,
            is_to_stop: false,
        }
    }

    /// Whether there is something to do.
    pub(super) fn is_due(&self) -> bool {
        let is_time = match self.next {
            Next::Poll => true,
            Next::At(at) => at <= self.network.now(),
            Next::Never => false,
        };
        is_time || self.network.has_ready(self.host, None)
    }

    pub(super) fn stop(&mut self) {
        self.is_to_stop = true;
        self.next = Next::Poll;
    }
}

impl World for Simulated {
    type Stream = Socket;

    fn now(&self) -> Instant {
        self.epoch + self.network.now()
    }

    fn poll(&mut self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()> {
        let told = self.network.take_ready(self.host, None);
        // The effect of events told now, or of timers that are due, is known with the next poll.
        let is_idle = self.next == Next::Poll && told.is_empty();
        self.next = match timeout {
            _ if !is_idle => Next::Poll,
            Some(timeout) => Next::At(self.network.now() + timeout),
            None => Next::Never,
        };
        ready.extend(told.into_iter().map(|(token, ..)| match token {
            LISTENER => PollEvent::Listener,
            id => PollEvent::Connection(id as u64),
        }));
        Ok(())
    }

    fn accept(&self) -> Option<io::Result<(Socket, SocketAddr)>> {
        let accepted = self.listener.as_ref()?.accept();
        Some(accepted.map(|(stream, address)| (Socket::new(stream), address)))
    }

    fn stop_listening(&mut self) -> bool {
        self.listener.take().is_some()
    }

    fn connect(&self, address: SocketAddr) -> io::Result<Socket> {
        self.network.connect(self.host, address).map(Socket::new)
    }

    fn register(&self, stream: &mut Socket, connection: u64) -> io::Result<()> {
        stream.0.watch(None, Some(connection as usize));
        Ok(())
    }

    fn is_to_stop(&self) -> bool {
        self.is_to_stop
    }
}

/// A stream that notices a silent peer.
pub(in crate::tunnel) struct Socket(SimulatedStream);

impl Socket {
    pub(super) fn new(stream: SimulatedStream) -> Self {
        stream.keep_alive(KEEP_ALIVE);
        Socket(stream)
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_vectored(&[IoSlice::new(bytes)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Socket {
    fn connected(&self) -> Option<io::Result<()>> {
        self.0.connected()
    }

    fn finish(&self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }

    fn reset(self) {
        self.0.reset();
    }
}
