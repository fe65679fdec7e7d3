//! Admission at a server: handshakes by address, and descriptors.

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use sealwire::account::{AddressLimits, Addresses, DescriptorLimit, Place, Source};

use crate::lock::lock;

pub(super) struct Gate {
    state: Mutex<State>,
    limits: AddressLimits,
    max_connections: usize,
    descriptors: DescriptorLimit,
}

#[derive(Default)]
struct State {
    book: Addresses,
    handshakes: HashMap<u64, Arc<TcpStream>>,
    numbers: u64,
}

/// A connection that was let in, until it is dropped.
pub(super) struct Entry {
    gate: Arc<Gate>,
    number: u64,
    place: Place,
}

impl Gate {
    /// No more handshakes than the process may have descriptors for.
    pub(super) fn new(max_handshakes: usize, max_connections: usize) -> Arc<Self> {
        let descriptors = DescriptorLimit::current();
        let handshakes = max_handshakes.min(descriptors.handshakes());
        Self::with_limits(handshakes, max_connections, descriptors)
    }

    fn with_limits(
        handshakes: usize,
        max_connections: usize,
        descriptors: DescriptorLimit,
    ) -> Arc<Self> {
        Arc::new(Gate {
            state: Mutex::default(),
            limits: AddressLimits::for_handshakes(handshakes),
            max_connections,
            descriptors,
        })
    }

    /// Lets a connection begin its handshake. The oldest handshake gives way when there are too
    /// many. `None` when all places are taken.
    pub(super) fn enter(
        self: &Arc<Self>,
        stream: &Arc<TcpStream>,
        address: SocketAddr,
    ) -> Option<Entry> {
        let place = self.descriptors.place()?;
        let mut state = lock(&self.state);
        if state.book.connections() - state.book.handshakes() >= self.max_connections {
            return None;
        }
        state.numbers += 1;
        let number = state.numbers;
        state.handshakes.insert(number, stream.clone());
        let displaced = state
            .book
            .began(number, Source::from(address), &self.limits);
        if let Some(eviction) = displaced {
            state.end(eviction.connection);
        }
        drop(state);
        Some(Entry {
            gate: self.clone(),
            number,
            place,
        })
    }

    /// Ends the oldest handshake of the address that has most.
    pub(super) fn make_room(&self) {
        let mut state = lock(&self.state);
        if let Some((oldest, _)) = state.book.first_to_give_way() {
            state.end(oldest);
        }
    }
}

impl State {
    /// The thread that waits for the key notices.
    fn end(&mut self, number: u64) {
        if let Some(stream) = self.handshakes.remove(&number) {
            // Closed already is as good.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.book.became_ready(number);
    }
}

impl Entry {
    /// The handshake is done.
    pub(super) fn became_ready(&mut self) {
        let mut state = lock(&self.gate.state);
        state.handshakes.remove(&self.number);
        state.book.became_ready(self.number);
        drop(state);
        self.place.became_ready();
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = lock(&self.gate.state);
        state.handshakes.remove(&self.number);
        state.book.ended(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;

    use super::*;

    /// Connections as they were accepted, with their other ends.
    struct Accepted(TcpListener);

    impl Accepted {
        fn next(&self) -> (Arc<TcpStream>, TcpStream) {
            let client = TcpStream::connect(self.0.local_addr().unwrap()).unwrap();
            (self.0.accept().unwrap().0.into(), client)
        }
    }

    fn accepted() -> Accepted {
        Accepted(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn gate(handshakes: usize, connections: usize) -> Arc<Gate> {
        Gate::with_limits(handshakes, connections, DescriptorLimit::current())
    }

    /// Whether this side has shut it down. The other one sends nothing.
    fn is_shut_down(mut stream: &TcpStream) -> bool {
        stream.set_nonblocking(true).unwrap();
        matches!(stream.read(&mut [0]), Ok(0))
    }

    fn from(host: u8) -> SocketAddr {
        ([192, 0, 2, host], 1).into()
    }

    #[test]
    fn one_address_has_a_quarter_of_the_handshakes() {
        let (gate, accepted) = (gate(16, 100), accepted());
        let (honest, _client) = accepted.next();
        let _entry = gate.enter(&honest, from(1)).unwrap();
        let many: Vec<_> = (0..5).map(|_| accepted.next()).collect();
        let _entries: Vec<_> = many
            .iter()
            .map(|(stream, _)| gate.enter(stream, from(2)).unwrap())
            .collect();
        let ended: Vec<_> = many
            .iter()
            .map(|(stream, _)| is_shut_down(stream))
            .collect();
        assert_eq!(ended, [true, false, false, false, false]);
        assert!(!is_shut_down(&honest));
    }

    #[test]
    fn the_address_with_most_handshakes_makes_room() {
        let (gate, accepted) = (gate(16, 100), accepted());
        let streams = [1, 2, 2].map(|host| (accepted.next(), host));
        let _entries = streams
            .each_ref()
            .map(|((stream, _), host)| gate.enter(stream, from(*host)).unwrap());
        gate.make_room();
        let ended = streams
            .each_ref()
            .map(|((stream, _), _)| is_shut_down(stream));
        assert_eq!(ended, [false, true, false]);
    }

    #[test]
    fn connections_are_counted_until_they_end() {
        let (gate, accepted) = (gate(4, 3), accepted());
        let (stream, _client) = accepted.next();
        for _ in 0..10 {
            let mut entries: Vec<_> = (0..3)
                .map(|_| {
                    let mut entry = gate.enter(&stream, from(1)).unwrap();
                    entry.became_ready();
                    entry
                })
                .collect();
            assert!(gate.enter(&stream, from(2)).is_none());
            entries.pop();
            assert!(gate.enter(&stream, from(2)).is_some());
        }
        // None was a handshake for long enough to displace another.
        assert!(!is_shut_down(&stream));
        let state = lock(&gate.state);
        assert_eq!((state.book.connections(), state.handshakes.len()), (0, 0));
    }
}
