//! Who may come in at a server: handshakes by address, and descriptors.

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

use sealwire::account::{AddressLimits, Addresses, DescriptorLimit, Place, Source};

use crate::hub::lock;

/// Connections at a time of one server whose handshake is done.
const MAX_CONNECTIONS: usize = 1_024;
/// Handshakes at a time; one address has a quarter of them at most.
const MAX_HANDSHAKES: usize = 256;

pub(super) struct Gate {
    state: Mutex<State>,
    limits: AddressLimits,
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
    pub(super) fn new() -> Arc<Self> {
        let descriptors = DescriptorLimit::current();
        let handshakes = MAX_HANDSHAKES.min(descriptors.handshakes());
        Arc::new(Gate {
            state: Mutex::default(),
            limits: AddressLimits::for_handshakes(handshakes),
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
        if state.book.connections() - state.book.handshakes() >= MAX_CONNECTIONS {
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
