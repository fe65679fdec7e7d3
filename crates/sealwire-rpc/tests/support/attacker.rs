//! A peer of the RPC protocol by hand: it sends what it likes, and reads nothing unless told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sealwire::{Endpoint, Frame, Message, PublicKey, Security, SocketType, blocking};

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A peer that speaks the protocol by hand.
pub(crate) struct Attacker {
    socket: blocking::Socket,
    sending: sealwire::Socket,
    routing_id: u32,
}

pub(crate) fn settings(max_body: u32) -> Vec<u8> {
    let mut message = vec![1, 0, 0, 0, 0, 0, 3];
    for value in [4_096, 1_024, 64, max_body, 64 << 20, 64 << 20_u32] {
        message.extend_from_slice(&value.to_be_bytes());
    }
    message
}

pub(crate) fn message(kind: u8, number: u32, body: &[u8]) -> Frame {
    [&[kind, 0][..], &number.to_be_bytes(), body]
        .concat()
        .into()
}

pub(crate) const ONE_WAY: u8 = 2;
pub(crate) const REQUEST: u8 = 3;
pub(crate) const CANCEL: u8 = 7;

impl Attacker {
    /// Connected, and silent so far.
    pub(crate) fn silent(server: PublicKey, endpoint: &Endpoint) -> Self {
        let sending = sealwire::Socket::builder(SocketType::Peer)
            .security(Security::blake3_client(server))
            .omit_routing_id(true)
            .receive_high_water_mark(1)
            .receive_byte_budget(1)
            .max_message_size(8 << 20)
            .build()
            .unwrap();
        let socket = blocking::Socket::from(sending.clone());
        let routing_id = socket.connect_peer(endpoint.clone()).unwrap();
        Attacker {
            socket,
            sending,
            routing_id,
        }
    }

    /// Greeted, so that it can do all that clients can.
    pub(crate) fn greeted(server: PublicKey, endpoint: &Endpoint) -> Self {
        let attacker = Self::silent(server, endpoint);
        attacker.send([settings(8 << 20).into()]);
        attacker
    }

    /// Sends what there is room for, as long as the connection is there.
    pub(crate) fn send(&self, frames: impl IntoIterator<Item = Frame>) -> bool {
        let mut frames: VecDeque<Frame> = frames.into_iter().collect();
        while !frames.is_empty() {
            if self
                .sending
                .try_send_many_to(self.routing_id, &mut frames)
                .is_err()
            {
                return false;
            }
            thread::yield_now();
        }
        true
    }

    pub(crate) fn read(&self) -> Option<Message> {
        self.socket.recv_timeout(TIMEOUT).ok()
    }

    pub(crate) fn is_gone(&self) -> bool {
        let here = |peer: &Arc<sealwire::Peer>| peer.connection_routing_id() == self.routing_id;
        !self.sending.peers().iter().any(here)
    }
}
