//! How sessions end, and who hears of it.

use std::io;

use sealwire_zmtp::Error as ProtocolError;
use sealwire_zmtp::error::CloseKind;

use super::standing::{Attached, Standing};
use super::{End, Session};
use crate::account::Kind;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::guard;
use crate::limits::WRITES_PER_TIME_SLICE;
use crate::monitor::{Event, add};
#[cfg(feature = "ws")]
use crate::transport::WebSocketError;

impl Session {
    pub(super) fn fail(&mut self, error: sealwire_zmtp::Error) -> End {
        self.flush_error();
        error.into()
    }

    /// An ERROR for the peer, if there is one and the transport takes it at once.
    pub(super) fn flush_error(&mut self) {
        for _ in 0..WRITES_PER_TIME_SLICE {
            if !matches!(self.write_once(), Ok(true)) {
                break;
            }
        }
        self.stream.finish_writing();
    }

    pub(super) fn end_of_stream(&mut self) -> End {
        if self.phase.is_finished() {
            return End::Clean;
        }
        match self.protocol.end_of_stream() {
            Some(sealwire_zmtp::Error::Closed(CloseKind::Clean))
                if self.inbound.input.is_empty() =>
            {
                End::Clean
            }
            Some(error) => error.into(),
            None => End::Clean,
        }
    }

    pub(super) fn transport_failed(&mut self, error: io::Error) -> End {
        if self.phase.is_finished() {
            return End::Clean;
        }
        End::Failed(FailureCause::of_transport(error))
    }

    /// Lets the socket know that the connection is over, and everybody else why.
    pub(in crate::engine) fn ended(self, end: End) {
        let Session {
            core,
            key,
            endpoint,
            address,
            standing,
            outbound,
            stream,
            direct,
            mut protocol,
            ..
        } = self;
        let output = protocol.output_progress();
        let undelivered = outbound.ledger.close(output);
        if direct.was_begun() {
            // A thread that still polls must not keep the connection open.
            stream.shut_down();
        }
        drop((stream, direct));
        let peer = match standing {
            Standing::Attached(attached) => {
                let Attached { pipe, peer, .. } = attached;
                peer.account().set(Kind::Arriving, 0);
                if matches!(&end, End::Failed(cause) if is_too_large(cause)) {
                    peer.account().note_excess(Kind::Arriving);
                }
                core.count_unsent(undelivered.unsent);
                add(&core.counters.unconfirmed, undelivered.unconfirmed);
                // They found no room in the socket's queue, and the connection goes with them.
                add(&core.counters.dropped_unread, protocol.drop_messages());
                // What the application queued goes with it.
                guard::contain("dropping messages", || core.detach(pipe));
                add(&core.counters.disconnects, 1);
                Some(peer)
            }
            Standing::Reviewed(_) => {
                add(&core.counters.handshakes_failed, 1);
                None
            }
        };
        match (end, peer) {
            (End::Failed(cause), peer) => core.hub.emit(Event::Failed(ConnectionFailure {
                connection: Some(key.connection),
                endpoint,
                address,
                peer,
                cause,
            })),
            (End::Clean, Some(peer)) => core.hub.emit(Event::Disconnected { peer }),
            // A socket that closes gives up its unfinished handshakes silently.
            (End::Clean, None) => {}
        }
        core.remove_attachment();
    }
}

/// Whether a message grew over its bound before it was complete.
fn is_too_large(cause: &FailureCause) -> bool {
    match cause {
        FailureCause::Protocol(error) => matches!(
            error,
            ProtocolError::MessageTooLarge { .. } | ProtocolError::TooManyFrames { .. }
        ),
        #[cfg(feature = "ws")]
        FailureCause::WebSocket(error) => matches!(
            error,
            WebSocketError::TooLarge | WebSocketError::TooManyPieces
        ),
        _ => false,
    }
}
