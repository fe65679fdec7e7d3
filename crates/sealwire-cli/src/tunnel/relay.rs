//! What an established connection does: plain bytes on one side, blocks on the other.

use std::io::{self, ErrorKind};

use sealwire_tunnel::{Incoming, NotAuthentic, Opened, Outgoing};

use super::failure::Failed;
use super::world::Stream;

/// Blocks that a connection may move each way before the time slices of others.
const BLOCKS_PER_TIME_SLICE: usize = 8;

/// How far the connection has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pumped {
    /// Nothing more can be done before a socket is ready.
    Waiting,
    /// Its time slice is over and it could go on.
    Again,
    /// Both directions ended, as both sides meant it.
    Ended,
}

/// Both directions of a connection.
#[derive(Debug)]
pub(super) struct Relay {
    pub(super) outgoing: Outgoing,
    incoming: Incoming,
    /// The peer ended its direction, and the plain side was told.
    received_all: bool,
    /// Our end was sent, and the peer's side was told.
    sent_all: bool,
    /// Plaintext bytes that went out and came in.
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// Handles an operation that failed. Returns whether to try it again without waiting for its socket, which
/// will not be reported as ready a second time.
fn later(error: io::Error, broken: impl FnOnce(io::Error) -> Failed) -> Result<bool, Failed> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(true),
        ErrorKind::WouldBlock => Ok(false),
        _ => Err(broken(error)),
    }
}

impl Relay {
    pub(super) fn new(outgoing: Outgoing, incoming: Incoming) -> Self {
        Relay {
            outgoing,
            incoming,
            received_all: false,
            sent_all: false,
            sent: 0,
            received: 0,
        }
    }

    /// Whether a direction has ended.
    pub(super) const fn is_closing(&self) -> bool {
        self.received_all || self.outgoing.is_closed()
    }

    /// Moves what can be moved.
    pub(super) fn pump(
        &mut self,
        sealed: &mut impl Stream,
        plain: &mut impl Stream,
    ) -> Result<Pumped, Failed> {
        for _ in 0..BLOCKS_PER_TIME_SLICE {
            let came = self.receive(sealed, plain)?;
            let went = self.send(sealed, plain)?;
            if self.received_all && self.sent_all {
                return Ok(Pumped::Ended);
            }
            if !came && !went {
                return Ok(Pumped::Waiting);
            }
        }
        Ok(Pumped::Again)
    }

    /// One step from the peer to the plain side. Whether there may be more to do.
    fn receive(
        &mut self,
        sealed: &mut impl Stream,
        plain: &mut impl Stream,
    ) -> Result<bool, Failed> {
        if self.received_all {
            return Ok(false);
        }
        if !self.incoming.text().is_empty() {
            return match plain.write(self.incoming.text()) {
                Ok(count) => {
                    self.incoming.take(count);
                    self.received += count as u64;
                    Ok(true)
                }
                Err(error) => later(error, Failed::Plain),
            };
        }
        match self.incoming.open() {
            Ok(Opened::Text) => Ok(true),
            Ok(Opened::NeedsMore) => match sealed.read(self.incoming.room()) {
                Ok(0) => Err(Failed::CutOff),
                Ok(count) => {
                    self.incoming.received(count);
                    Ok(true)
                }
                Err(error) => later(error, Failed::Sealed),
            },
            Ok(Opened::End) => {
                self.received_all = true;
                // It may have closed its socket already.
                plain.finish();
                Ok(true)
            }
            Ok(Opened::BrokenOff(reason)) => Err(Failed::Told(reason)),
            Err(NotAuthentic) => Err(Failed::Forged),
        }
    }

    /// One step from the plain side to the peer. Whether there may be more to do.
    fn send(&mut self, sealed: &mut impl Stream, plain: &mut impl Stream) -> Result<bool, Failed> {
        if !self.outgoing.unsent().is_empty() {
            return self.flush(sealed);
        }
        if self.outgoing.is_ready() {
            return match plain.read(self.outgoing.room()) {
                Ok(0) => {
                    self.outgoing.end();
                    Ok(true)
                }
                Ok(count) => {
                    self.outgoing.seal(count);
                    self.sent += count as u64;
                    Ok(true)
                }
                Err(error) => later(error, Failed::Plain),
            };
        }
        if !self.sent_all {
            self.sent_all = true;
            // The end is in the stream; this spares the peer's buffers the wait.
            sealed.finish();
        }
        Ok(false)
    }

    /// Sends what is sealed. Whether there may be more to do.
    pub(super) fn flush(&mut self, sealed: &mut impl Stream) -> Result<bool, Failed> {
        match sealed.write(self.outgoing.unsent()) {
            Ok(count) => {
                self.outgoing.sent(count);
                Ok(true)
            }
            Err(error) => later(error, Failed::Sealed),
        }
    }
}
