//! One connection with its buffers, and two of them with a wire in between.

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::bytes::{Buf, BufMut, BytesMut};
use sealwire_zmtp::error::{Error, Refusal};
use sealwire_zmtp::{Config, Connection, Event, Frames, Provider};

use super::{START, entropy};

pub(crate) struct Side {
    pub(crate) connection: Connection,
    pub(crate) input: BytesMut,
    pub(crate) events: Vec<Event>,
    pub(crate) error: Option<Error>,
    pub(crate) now: Duration,
    /// The authenticator's answer, given at once; `None` leaves the question open.
    pub(crate) decision: Option<Result<Option<String>, Refusal>>,
}

impl Side {
    pub(crate) fn new(config: Config, provider: Arc<dyn Provider>, seed: u8) -> Self {
        Self {
            connection: Connection::new(Arc::new(config), provider, entropy(seed), START),
            input: BytesMut::with_capacity(4096),
            events: Vec::new(),
            error: None,
            now: START,
            decision: Some(Ok(None)),
        }
    }

    /// One whose greeting goes in parts.
    pub(crate) fn greeting_in_parts(config: Config) -> Self {
        let (provider, config) = (super::provider(), Arc::new(config));
        let connection = Connection::greeting_in_parts(config, provider, entropy(1), START);
        Self {
            connection,
            ..Self::new(
                super::null(sealwire_zmtp::SocketType::Pair),
                super::provider(),
                1,
            )
        }
    }

    /// Everything the connection wants to send.
    pub(crate) fn output(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let mut transmit = self.connection.transmit();
            if !transmit.has_remaining() {
                break;
            }
            bytes.put(&mut transmit);
        }
        assert_eq!(self.connection.pending_bytes(), 0);
        bytes
    }

    /// Hands bytes over, answers the authenticator's question and collects events.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let result = self.connection.receive(&mut self.input, self.now);
        self.note(result);
        self.collect();
    }

    pub(crate) fn collect(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            let asked = matches!(event, Event::Authorize(_));
            self.events.push(event);
            if let (true, None, Some(decision)) = (asked, &self.error, self.decision.clone()) {
                let result = self.connection.authorize(decision, self.now);
                self.note(result);
            }
        }
    }

    pub(crate) fn note(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    pub(crate) fn send(&mut self, message: impl Into<Frames>) {
        self.connection.send(message.into()).unwrap();
    }

    /// The messages received so far, taken out of the events.
    pub(crate) fn messages(&mut self) -> Vec<Frames> {
        let mut messages = Vec::new();
        self.events.retain(|event| match event {
            Event::Message(message) => {
                messages.push(message.clone());
                false
            }
            _ => true,
        });
        messages
    }
}

/// Two connections, each the other's peer.
pub(crate) struct Pair {
    pub(crate) a: Side,
    pub(crate) b: Side,
}

impl Pair {
    pub(crate) fn new(a: Config, b: Config, provider: &Arc<dyn Provider>) -> Self {
        Self {
            a: Side::new(a, Arc::clone(provider), 1),
            b: Side::new(b, Arc::clone(provider), 2),
        }
    }

    /// A pair whose handshake is done.
    pub(crate) fn ready(a: Config, b: Config, provider: &Arc<dyn Provider>) -> Self {
        let mut pair = Self::new(a, b, provider);
        pair.settle();
        assert_eq!((&pair.a.error, &pair.b.error), (&None, &None));
        assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
        pair.a.events.clear();
        pair.b.events.clear();
        pair
    }

    /// Moves bytes until neither side has any more to say.
    pub(crate) fn settle(&mut self) {
        loop {
            let (from_a, from_b) = (self.a.output(), self.b.output());
            if from_a.is_empty() && from_b.is_empty() {
                return;
            }
            self.a.feed(&from_b);
            self.b.feed(&from_a);
        }
    }
}
