//! ZeroMQ over WebSocket: a byte stream of ZMTP on one side, an HTTP upgrade and WebSocket frames
//! on the other. No I/O: bytes come in and go out.
//!
//! ```text
//!   protocol ── ZMTP frames ──▶ Outbound ── WebSocket messages ──▶ transport
//!   protocol ◀─ ZMTP frames ─── Inbound ◀── WebSocket frames ───── transport
//! ```
//!
//! Sources: RFC 6455 (WebSocket), ZeroMQ RFC 45 (ZWS 2.0). One ZMTP frame is one binary message:
//! an octet of flags and the body. There is no greeting: the subprotocol names the mechanism. Each
//! side gives its own protocol the greeting that the peer would have sent, as ZMTP 3.0, because ZWS
//! has the subscriptions of that version. BLAKE3 needs both greetings for its transcript, so with
//! BLAKE3 each side sends its greeting first, as a command.

mod frame;
mod inbound;
mod outbound;
mod protocol_bytes;
mod upgrade;

use std::sync::Arc;

use bytes::BytesMut;
use sealwire_zmtp::Mechanism;
use sealwire_zmtp::wire::greeting::Greeting;

use inbound::Inbound;
use outbound::Outbound;
pub(crate) use protocol_bytes::ProtocolBytes;
pub(crate) use upgrade::Address;
use upgrade::Upgrade;

use crate::limits::{
    MAX_BYTES_OF_UNKNOWN_PEER, MAX_UPGRADE_FIELDS, MAX_UPGRADE_HEAD, MAX_WEBSOCKET_PIECES,
};
use crate::options::WebAccess;

/// The octet of flags before a body: another frame of the message follows.
const MORE: u8 = 0x01;
/// The same: the frame is a command.
const COMMAND: u8 = 0x02;

/// A peer broke the rules of WebSocket, or cannot be talked to over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebSocketError {
    /// The request or answer of the upgrade is not HTTP.
    #[error("the upgrade is not HTTP/1.1")]
    NotHttp,
    /// The peer speaks TLS, and this endpoint does not.
    #[error("the peer speaks TLS: use wss on both sides, or ws on both")]
    Tls,
    /// The head of the upgrade is longer than [`MAX_UPGRADE_HEAD`](crate::limits::MAX_UPGRADE_HEAD) bytes, or has
    /// more than [`MAX_UPGRADE_FIELDS`](crate::limits::MAX_UPGRADE_FIELDS) fields.
    #[error(
        "the head of the upgrade has more than {MAX_UPGRADE_HEAD} bytes or {MAX_UPGRADE_FIELDS} fields"
    )]
    HeadTooLarge,
    /// HTTP, but no request for a WebSocket of version 13.
    #[error("the HTTP request does not ask for a WebSocket of version 13")]
    NoUpgrade,
    /// The peer asks for another path than the endpoint's.
    #[error("the request asks for another path than the one that is bound")]
    WrongPath,
    /// A web page asks, and pages of its origin are not allowed.
    #[error("the request comes from a web page whose origin is not allowed: see ws_allow_origin")]
    OriginNotAllowed,
    /// The request asks a loopback address under another name, as pages do that had their own name
    /// resolved to one.
    #[error("the Host of the request is neither a loopback name nor allowed: see ws_allow_host")]
    HostNotAllowed,
    /// The peer knows ZWS 2.0 with other mechanisms, or not at all.
    #[error("no common subprotocol: the mechanisms differ, or the peer knows no ZWS 2.0")]
    NoCommonSubprotocol,
    /// The server answered with another status than 101.
    #[error("the server refuses the upgrade with status {}{}", .0, status_meaning(*.0))]
    Refused(u16),
    /// The server's answer does not belong to the request.
    #[error("the server's answer does not fit the request")]
    WrongAnswer,
    /// A frame with reserved bits, an unknown opcode, a length in a longer form than needed, or a
    /// control frame that is too long or in pieces.
    #[error("a WebSocket frame breaks RFC 6455")]
    BadFrame,
    /// Clients mask their frames, servers do not.
    #[error("a WebSocket frame is masked where it must not be, or not where it must")]
    Masking,
    /// A message of text, or one that is not a ZMTP frame.
    #[error("a WebSocket message is not a ZMTP frame")]
    NotZmtp,
    /// More than may be kept of a message that comes in pieces.
    #[error("a WebSocket message in pieces is larger than allowed")]
    TooLarge,
    /// More pieces of one message than [`MAX_WEBSOCKET_PIECES`](crate::limits::MAX_WEBSOCKET_PIECES).
    #[error("a WebSocket message comes in more than {MAX_WEBSOCKET_PIECES} pieces")]
    TooManyPieces,
}

/// What a status means that a server of ours gives.
fn status_meaning(status: u16) -> &'static str {
    match status {
        403 => ": it does not allow this host name, or pages of this origin",
        _ => "",
    }
}

/// Which side of the WebSocket this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Server,
}

/// What the two sides of a connection have to agree about.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) mechanism: Mechanism,
    /// Whether this side is the server of the mechanism.
    pub(crate) as_server: bool,
    /// Most bytes of a message in pieces, once the peer is known.
    pub(crate) max_message_size: usize,
    /// That bounds each part of a message by itself.
    pub(crate) bounds_parts: bool,
    /// Which web pages and host names a server accepts.
    pub(crate) access: Arc<WebAccess>,
}

impl Terms {
    fn subprotocol(&self) -> String {
        format!("ZWS2.0/{}", self.mechanism)
    }

    /// Whether greetings are sent.
    fn greets(&self) -> bool {
        self.mechanism.hashes_greetings()
    }

    /// What the protocol is to take for the peer's greeting.
    fn assumed_greeting(&self) -> [u8; 64] {
        let as_server = !self.as_server && self.mechanism.has_server();
        let mut greeting = Greeting::new(self.mechanism.name(), as_server, [0; 8]);
        greeting.minor = 0;
        greeting.encode()
    }
}

/// One connection.
pub(crate) struct Zws {
    terms: Terms,
    /// `None` once it is done.
    upgrade: Option<Upgrade>,
    inbound: Inbound,
    outbound: Outbound,
}

impl Zws {
    /// `nonce` is random, and so is whatever `masks` gives; a client uses them.
    pub(crate) fn new(
        role: Role,
        terms: Terms,
        address: Address,
        nonce: [u8; 16],
        masks: Box<dyn FnMut() -> [u8; 4] + Send>,
    ) -> Self {
        let mut outbound = Outbound::new(role, terms.greets(), masks);
        let upgrade = Upgrade::new(role, address, &terms, nonce, outbound.buffer());
        Zws {
            inbound: Inbound::new(role, terms.greets(), MAX_BYTES_OF_UNKNOWN_PEER),
            terms,
            upgrade: Some(upgrade),
            outbound,
        }
    }

    /// The peer is known: larger messages may come in pieces.
    pub(crate) fn trust(&mut self) {
        self.leave_room_for(0);
    }

    /// Counts what the protocol holds of an unfinished message as a part of that message.
    pub(crate) fn leave_room_for(&mut self, held: usize) {
        let held = if self.terms.bounds_parts { 0 } else { held };
        let left = self.terms.max_message_size.saturating_sub(held);
        // Room for the flags and for what a mechanism adds to each frame.
        self.inbound.limit = left.saturating_add(MAX_BYTES_OF_UNKNOWN_PEER);
    }

    /// Bytes of memory for a message that has come in part.
    pub(crate) fn arriving(&self) -> usize {
        self.inbound.arriving()
    }

    /// Whether signs of life are asked for with WebSocket's PING: where the protocol speaks ZMTP 3.0.
    pub(crate) fn has_heartbeat(&self) -> bool {
        !self.terms.greets()
    }

    /// Asks for a sign of life.
    pub(crate) fn ping(&mut self) {
        if self.is_open() {
            self.outbound.ping();
        }
    }

    /// Takes bytes of the transport; what they hold for the protocol goes to `into`. Leaves what may be
    /// taken only once the protocol has that.
    ///
    /// # Errors
    ///
    /// What the peer did wrong. An answer to it may wait in [`Zws::pending`].
    pub(crate) fn receive(
        &mut self,
        input: &mut BytesMut,
        into: &mut ProtocolBytes,
    ) -> Result<(), WebSocketError> {
        if let Some(upgrade) = &mut self.upgrade {
            if !upgrade.receive(input, self.outbound.buffer())? {
                return Ok(());
            }
            self.upgrade = None;
            if !self.terms.greets() {
                into.push(&self.terms.assumed_greeting());
            }
        }
        self.inbound.receive(input, into, &mut self.outbound)
    }

    /// Whether ZMTP may be sent.
    pub(crate) fn is_open(&self) -> bool {
        self.upgrade.is_none()
    }

    /// Whether the peer has said that no more will come.
    pub(crate) fn peer_has_closed(&self) -> bool {
        self.inbound.closed
    }

    /// Takes bytes of the protocol.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.outbound.send(bytes);
    }

    /// Says that no more will be sent.
    pub(crate) fn close(&mut self) {
        if self.is_open() {
            self.outbound.close(frame::NORMAL);
        }
    }

    /// Bytes for the transport.
    pub(crate) fn held(&self) -> &[u8] {
        self.outbound.held()
    }

    /// Bytes for the transport. The sender takes them off the front.
    pub(crate) fn pending(&mut self) -> &mut BytesMut {
        self.outbound.buffer()
    }
}
