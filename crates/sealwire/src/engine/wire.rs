//! The protocol that a session speaks over its transport: ZMTP, or none (STREAM).

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::Duration;

use bytes::BytesMut;
use sealwire_zmtp::connection::OutputProgress;
use sealwire_zmtp::error::Refusal;
use sealwire_zmtp::{Error, Event, Frames, Mechanism};

use crate::pattern::{FromPeer, Item, Room};
use crate::transport::WriteSize;

/// Slices handed to one write call.
const SLICES_PER_WRITE: usize = 16;

/// Handed to [`Wire::write_with`]: one call of the transport.
pub(super) type Write<'a> = dyn FnMut(&[IoSlice<'_>]) -> io::Result<usize> + 'a;

/// The two ends of a conversation over a byte stream: bytes on one side, items of a pipe on the other. The
/// rest of a session needs a clock or a handshake, which raw bytes do not have.
///
/// A session calls it for batches, so a dynamic call costs nothing for each message (decision 20).
pub(super) trait Wire: Send {
    // ---- time ------------------------------------------------------------------------------------

    fn next_timeout(&self) -> Option<Duration> {
        None
    }

    fn handle_timeout(&mut self, _now: Duration) -> Result<(), Error> {
        Ok(())
    }

    /// See [`Connection::heartbeat_by_transport`].
    fn heartbeat_by_transport(&mut self) {}

    /// See [`Connection::take_transport_ping`].
    fn take_transport_ping(&mut self) -> bool {
        false
    }

    /// See [`Connection::take_round_trip`].
    fn take_round_trip(&mut self) -> Option<Duration> {
        None
    }

    /// See [`Connection::heard`].
    fn heard(&mut self, _now: Duration) {}

    fn set_reading(&mut self, _reading: bool, _now: Duration) {}

    // ---- the handshake ---------------------------------------------------------------------------

    /// Whether messages flow only once [`poll_event`](Self::poll_event) says so.
    fn has_handshake(&self) -> bool {
        false
    }

    /// See [`Connection::mechanism`].
    fn mechanism(&self) -> Option<Mechanism> {
        None
    }

    /// The next event other than a message.
    fn poll_event(&mut self) -> Option<Event> {
        None
    }

    fn authorize(
        &mut self,
        _decision: Result<Option<String>, Refusal>,
        _now: Duration,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Tells the peer that it is turned away, where there is a way to tell.
    fn reject(&mut self, _reason: &str) {}

    // ---- from the transport ----------------------------------------------------------------------

    fn receive(&mut self, input: &mut BytesMut, now: Duration) -> Result<(), Error>;

    /// See [`Connection::wanted`].
    fn wanted(&self) -> usize {
        0
    }

    /// See [`Connection::arriving`].
    fn arriving(&self) -> usize {
        0
    }

    fn has_events(&self) -> bool;

    /// What there is for the socket. `other` gets what is not.
    fn next_from_peer(&mut self, other: &mut dyn FnMut(Event)) -> Option<FromPeer>;

    /// Moves messages that come next into a queue, as many as it has room for. Returns their
    /// bytes.
    fn take_messages(&mut self, _into: &mut VecDeque<Frames>, _room: Room) -> usize {
        0
    }

    /// Drops the messages that nobody will take any more, and says how many they were.
    fn drop_messages(&mut self) -> usize {
        let messages = std::iter::from_fn(|| self.next_from_peer(&mut drop));
        messages
            .filter(|arrival| matches!(arrival, FromPeer::Message(_)))
            .count()
    }

    /// The transport has ended. `None` where that is the way to end.
    fn end_of_stream(&mut self) -> Option<Error> {
        None
    }

    // ---- to the transport ------------------------------------------------------------------------

    /// Takes items that the socket sends; the handshake is done.
    fn stage(&mut self, items: &mut VecDeque<Item>);

    /// How far the output has come, in bytes.
    fn output_progress(&self) -> OutputProgress;

    /// Bytes that it holds on their way out.
    fn pending_bytes(&self) -> usize;

    /// Hands what is to be sent, up to `size`, to one call of `write`. `false` when there was
    /// nothing.
    fn write_with(&mut self, size: WriteSize, write: &mut Write<'_>) -> io::Result<bool>;
}

/// One call of `write`, for as many of these `pending` bytes as it takes. Returns how many it took. A little more than
/// its size goes at once: the end of a message by itself would take a call, and wake its reader once more.
pub(super) fn write_chunks<'a>(
    chunks: impl Iterator<Item = &'a [u8]>,
    pending: usize,
    size: WriteSize,
    write: &mut Write<'_>,
) -> io::Result<usize> {
    let of = |size: usize| match pending <= size.saturating_add(size / 16) {
        true => pending,
        false => size,
    };
    let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
    let (mut most, mut carried, mut count) = (of(size.usual), 0, 0);
    for (slice, chunk) in slices.iter_mut().zip(chunks) {
        if chunk.len() >= size.of_long / 2 {
            most = of(size.of_long);
        }
        let length = chunk.len().min(most - carried);
        *slice = IoSlice::new(&chunk[..length]);
        carried += length;
        count += 1;
        if carried == most {
            break;
        }
    }
    match write(&slices[..count])? {
        0 => Err(io::ErrorKind::WriteZero.into()),
        written => Ok(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one write carries of a short chunk and a second one.
    fn carried(pending: usize, size: WriteSize) -> usize {
        let bytes = vec![7; pending];
        let chunks = [&bytes[..30], &bytes[30..]];
        let mut calls = Vec::new();
        let write: &mut Write<'_> = &mut |slices| {
            calls.push(slices.iter().map(|slice| slice.len()).sum::<usize>());
            Ok(1)
        };
        let written = write_chunks(chunks.into_iter(), pending, size, write);
        assert_eq!(written.unwrap(), 1);
        let [carried] = calls[..] else {
            panic!("not one call: {calls:?}");
        };
        carried
    }

    #[test]
    fn a_write_carries_what_it_may_and_the_end_of_a_message_with_it() {
        for (pending, expected) in [(50, 50), (100, 100), (106, 106), (107, 100), (1_000, 100)] {
            assert_eq!(carried(pending, WriteSize::of_all(100)), expected);
        }
        let nothing: &mut Write<'_> = &mut |_| Ok(0);
        let size = WriteSize::of_all(usize::MAX);
        let written = write_chunks([&[7][..]].into_iter(), 1, size, nothing);
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    #[test]
    fn a_write_carries_more_where_a_long_payload_goes_on_in_it() {
        let size = WriteSize {
            usual: 100,
            of_long: 1_000,
        };
        for (pending, expected) in [
            (106, 106),
            (529, 100),
            (530, 530),
            (1_062, 1_062),
            (1_063, 1_000),
            (9_000, 1_000),
        ] {
            assert_eq!(carried(pending, size), expected, "{pending}");
        }
    }
}
