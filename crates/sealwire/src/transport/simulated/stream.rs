//! Streams and listeners of the network, as the engine uses them.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::time::Duration;

use bytes::Buf as _;

use mio::{Interest, Registry, Token};

use super::network::{Network, Poller, Standing, State};
use super::poller_of;

impl Network {
    /// Begins to listen. The port may be zero.
    ///
    /// # Errors
    ///
    /// Where somebody listens at this address, or the host has no descriptors left.
    pub fn listen(&self, address: SocketAddr) -> io::Result<SimulatedListener> {
        let address = self.lock().listen(address)?;
        Ok(SimulatedListener::new(self.clone(), address))
    }

    /// Begins to connect from this host.
    ///
    /// # Errors
    ///
    /// Where the host has no descriptors left.
    pub fn connect(&self, host: IpAddr, remote: SocketAddr) -> io::Result<SimulatedStream> {
        let number = self.lock().connect(host, remote)?;
        Ok(SimulatedStream::new(self.clone(), number))
    }
}

/// One end of a connection.
pub struct SimulatedStream {
    network: Network,
    number: usize,
}

impl SimulatedStream {
    fn new(network: Network, number: usize) -> Self {
        SimulatedStream { network, number }
    }

    fn with<R>(&self, action: impl FnOnce(&mut State, usize) -> R) -> R {
        action(&mut self.network.lock(), self.number)
    }

    /// Returns whether the connection stands; `None` while that is not known.
    pub fn connected(&self) -> Option<io::Result<()>> {
        self.with(|state, number| match state.ends.get(&number)?.standing {
            Standing::Connecting { .. } => None,
            Standing::Refused => Some(Err(io::ErrorKind::ConnectionRefused.into())),
            Standing::Connected => Some(Ok(())),
        })
    }

    /// Reads what has come, as far as there is room.
    ///
    /// # Errors
    ///
    /// As of a socket that does not block.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.with(|state, number| {
            let end = state.ends.get_mut(&number).expect("it is held");
            if end.reset {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if end.unread.is_empty() {
                return match end.ended {
                    true => Ok(0),
                    false => Err(io::ErrorKind::WouldBlock.into()),
                };
            }
            // All that there is, as far as there is room for it: the engine takes less for the end.
            let mut length = 0;
            while let Some(first) = end.unread.front_mut()
                && length < buffer.len()
            {
                let taken = first.len().min(buffer.len() - length);
                first.copy_to_slice(&mut buffer[length..length + taken]);
                length += taken;
                if first.is_empty() {
                    end.unread.pop_front();
                }
            }
            // The other end has room again.
            if let Some(other) = state.ends.get_mut(&(number ^ 1)) {
                other.watch.writable |= std::mem::take(&mut other.blocked);
            }
            Ok(length)
        })
    }

    /// Sends as much as there is room for on its way, and mostly all of it.
    ///
    /// # Errors
    ///
    /// As of a socket that does not block.
    pub fn write_vectored(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.with(|state, number| {
            let end = state.ends.get(&number).expect("it is held");
            if end.reset || end.finished {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let Some(room) = state.room(number) else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let mut bytes: Vec<u8> = Vec::new();
            for slice in slices {
                let left = room - bytes.len();
                bytes.extend_from_slice(&slice[..slice.len().min(left)]);
            }
            if bytes.is_empty() {
                state.ends.get_mut(&number).expect("it is held").blocked = true;
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Ok(state.send(number, &bytes))
        })
    }

    /// Sends no more.
    ///
    /// # Errors
    ///
    /// None.
    pub fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        self.with(State::finish);
        Ok(())
    }

    /// Ends both directions at once: the other end is told by a reset, and what is under way is lost.
    pub fn reset(self) {
        self.with(State::reset);
    }

    /// Notices within so much time that nothing comes through any more, as TCP does where it is told to
    /// ask a silent peer.
    pub fn keep_alive(&self, time: Duration) {
        self.with(|state, number| {
            state.ends.get_mut(&number).expect("it is held").keep_alive = Some(time);
        });
    }

    /// Makes this poll of its host tell with this token when it is ready.
    pub fn watch(&self, poller: Poller, token: Option<usize>) {
        self.with(|state, number| {
            let room = state.room(number).is_some_and(|room| room > 0);
            let end = state.ends.get_mut(&number).expect("it is held");
            (end.watch.poller, end.watch.token) = (poller, token);
            // Registering tells what holds already.
            end.watch.readable = !end.unread.is_empty() || end.ended || end.reset;
            end.watch.writable = room && end.standing == Standing::Connected;
        });
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        self.with(|state, number| {
            state.finish(number);
            state.ends.remove(&number);
        });
    }
}

impl mio::event::Source for SimulatedStream {
    fn register(&mut self, registry: &Registry, token: Token, _: Interest) -> io::Result<()> {
        self.watch(poller_of(registry), Some(token.0));
        Ok(())
    }

    fn reregister(&mut self, registry: &Registry, token: Token, _: Interest) -> io::Result<()> {
        self.watch(poller_of(registry), Some(token.0));
        Ok(())
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.watch(poller_of(registry), None);
        Ok(())
    }
}

/// Accepts connections to an address.
pub struct SimulatedListener {
    network: Network,
    address: SocketAddr,
}

impl SimulatedListener {
    fn new(network: Network, address: SocketAddr) -> Self {
        SimulatedListener { network, address }
    }

    /// Returns the address at which it listens, with the port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes a connection that has come.
    ///
    /// # Errors
    ///
    /// As of a socket that does not block.
    pub fn accept(&self) -> io::Result<(SimulatedStream, SocketAddr)> {
        let mut state = self.network.lock();
        let exhausted = state.has_descriptors(self.address.ip());
        let listening = state.listeners.get_mut(&self.address).expect("it is held");
        if listening.ready.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        exhausted?;
        let number = listening.ready.pop_front().expect("not empty");
        let remote = state.ends[&number].remote;
        drop(state);
        Ok((SimulatedStream::new(self.network.clone(), number), remote))
    }

    /// Makes this poll of its host tell of connections with this token.
    pub fn register(&self, poller: Poller, token: Token) {
        let mut state = self.network.lock();
        let listening = state.listeners.get_mut(&self.address).expect("it is held");
        (listening.watch.poller, listening.watch.token) = (poller, Some(token.0));
        listening.watch.readable = !listening.ready.is_empty();
    }
}

impl Drop for SimulatedListener {
    fn drop(&mut self) {
        let mut state = self.network.lock();
        let Some(listening) = state.listeners.remove(&self.address) else {
            return;
        };
        // Nobody accepts them any more.
        let left = listening.refused();
        for number in left {
            state.finish(number);
            state.ends.remove(&number);
        }
    }
}
