//! What a session speaks over its transport: ZMTP, or nothing at all (STREAM).

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use sealwire_zmtp::connection::OutputProgress;
use sealwire_zmtp::error::Refusal;
use sealwire_zmtp::{Connection as Protocol, Error, Event, Frames, Mechanism, SocketType};

use super::raw::Raw;
use super::world::World;
use crate::core::SocketCore;
use crate::pattern::{Framed, Item, Room};

/// Slices handed to one write call.
const SLICES_PER_WRITE: usize = 16;

/// An enum that forwards and not a trait object: these calls are made for each message or each batch, are
/// inlined, and one of them is generic over what writes.
pub(super) enum Wire {
    Zmtp(Box<Protocol>),
    Raw(Raw),
}

impl Wire {
    pub(super) fn new(core: &SocketCore, world: &dyn World) -> Self {
        if core.options().socket_type == SocketType::Stream {
            return Wire::Raw(Raw::default());
        }
        let mut random = zeroize::Zeroizing::new([0; sealwire_zmtp::Entropy::SIZE]);
        world.fill_random(&mut random[..]);
        let (config, provider) = (core.protocol().clone(), core.options().provider.clone());
        let entropy = sealwire_zmtp::Entropy::new(*random);
        Wire::Zmtp(Box::new(Protocol::new(
            config,
            provider,
            entropy,
            world.now(),
        )))
    }

    pub(super) fn is_raw(&self) -> bool {
        matches!(self, Wire::Raw(_))
    }

    // ---- time ------------------------------------------------------------------------------------

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        match self {
            Wire::Zmtp(protocol) => protocol.next_timeout(),
            Wire::Raw(_) => None,
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Duration) -> Result<(), Error> {
        match self {
            Wire::Zmtp(protocol) => protocol.handle_timeout(now),
            Wire::Raw(_) => Ok(()),
        }
    }

    /// See [`Protocol::heartbeat_by_transport`].
    pub(super) fn heartbeat_by_transport(&mut self) {
        if let Wire::Zmtp(protocol) = self {
            protocol.heartbeat_by_transport();
        }
    }

    /// See [`Protocol::take_transport_ping`].
    pub(super) fn take_transport_ping(&mut self) -> bool {
        match self {
            Wire::Zmtp(protocol) => protocol.take_transport_ping(),
            Wire::Raw(_) => false,
        }
    }

    /// See [`Protocol::heard`].
    pub(super) fn heard(&mut self, now: Duration) {
        if let Wire::Zmtp(protocol) = self {
            protocol.heard(now);
        }
    }

    pub(super) fn set_reading(&mut self, reading: bool, now: Duration) {
        if let Wire::Zmtp(protocol) = self {
            protocol.set_reading(reading, now);
        }
    }

    // ---- the handshake ---------------------------------------------------------------------------

    /// See [`Protocol::mechanism`].
    pub(super) fn mechanism(&self) -> Option<Mechanism> {
        match self {
            Wire::Zmtp(protocol) => protocol.mechanism(),
            Wire::Raw(_) => None,
        }
    }

    /// The next event that is not a message.
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Wire::Zmtp(protocol) => protocol.poll_event(),
            Wire::Raw(_) => None,
        }
    }

    pub(super) fn authorize(
        &mut self,
        decision: Result<Option<String>, Refusal>,
        now: Duration,
    ) -> Result<(), Error> {
        match self {
            Wire::Zmtp(protocol) => protocol.authorize(decision, now),
            Wire::Raw(_) => Ok(()),
        }
    }

    /// Tells the peer that it is turned away, where there is a way to tell.
    pub(super) fn reject(&mut self, reason: &str) {
        if let Wire::Zmtp(protocol) = self {
            protocol.reject(reason);
        }
    }

    // ---- from the transport ----------------------------------------------------------------------

    pub(super) fn receive(&mut self, input: &mut BytesMut, now: Duration) -> Result<(), Error> {
        match self {
            Wire::Zmtp(protocol) => protocol.receive(input, now),
            Wire::Raw(raw) => {
                raw.receive(input);
                Ok(())
            }
        }
    }

    /// See [`Protocol::wanted`].
    pub(super) fn wanted(&self) -> usize {
        match self {
            Wire::Zmtp(protocol) => protocol.wanted(),
            Wire::Raw(_) => 0,
        }
    }

    /// See [`Protocol::arriving`].
    pub(super) fn arriving(&self) -> usize {
        match self {
            Wire::Zmtp(protocol) => protocol.arriving(),
            Wire::Raw(_) => 0,
        }
    }

    pub(super) fn has_events(&self) -> bool {
        match self {
            Wire::Zmtp(protocol) => protocol.has_events(),
            Wire::Raw(raw) => raw.has_message(),
        }
    }

    /// What there is for the socket. `other` gets what is not.
    pub(super) fn next_item(&mut self, other: &mut dyn FnMut(Event)) -> Option<Item> {
        match self {
            Wire::Raw(raw) => raw.next_message().map(Item::Message),
            Wire::Zmtp(protocol) => loop {
                match protocol.poll_event()? {
                    Event::Message(frames) => return Some(Item::Message(frames)),
                    Event::Subscribe(topic) => return Some(Item::Subscribe(topic)),
                    Event::Cancel(topic) => return Some(Item::Cancel(topic)),
                    event => other(event),
                }
            },
        }
    }

    /// Moves messages that come next into a queue, as many as it has room for. Returns their
    /// bytes.
    pub(super) fn take_messages(&mut self, into: &mut VecDeque<Frames>, room: Room) -> usize {
        match self {
            Wire::Zmtp(protocol) => protocol.take_messages(into, room.messages, room.bytes),
            Wire::Raw(_) => 0,
        }
    }

    /// Drops the messages that nobody will take any more, and says how many they were.
    pub(super) fn drop_messages(&mut self) -> usize {
        let messages = std::iter::from_fn(|| self.next_item(&mut drop));
        messages
            .filter(|item| matches!(item, Item::Message(_)))
            .count()
    }

    /// The transport has ended. `None` where that is the way to end.
    pub(super) fn end_of_stream(&mut self) -> Option<Error> {
        match self {
            Wire::Zmtp(protocol) => Some(protocol.end_of_stream()),
            Wire::Raw(_) => None,
        }
    }

    // ---- to the transport ------------------------------------------------------------------------

    /// Takes an item that the socket sends; the handshake is done.
    pub(super) fn send(&mut self, item: Item) {
        match (self, item) {
            (Wire::Zmtp(protocol), Item::Message(frames) | Item::OwnMessage(frames)) => {
                // Refused only before the handshake is done or after the end.
                let sent = protocol.send(frames);
                debug_assert!(sent.is_ok(), "an attached protocol takes messages");
            }
            (Wire::Zmtp(protocol), Item::Framed(framed)) => send_framed(protocol, framed),
            (Wire::Zmtp(protocol), Item::Subscribe(topic)) => protocol.subscribe(&topic),
            (Wire::Zmtp(protocol), Item::Cancel(topic)) => protocol.cancel(&topic),
            (Wire::Raw(raw), Item::Message(frames) | Item::OwnMessage(frames)) => raw.send(frames),
            (Wire::Raw(_), Item::Framed(_) | Item::Subscribe(_) | Item::Cancel(_)) => {}
            // One type for what is queued and what links get: with two, each message would be moved once more
            // between queue and link.
            (_, Item::FramedRange(_) | Item::Changes(_)) => {
                unreachable!("links get what it stands for")
            }
        }
    }

    /// How far the output has come, in bytes.
    pub(super) fn output_progress(&self) -> OutputProgress {
        match self {
            Wire::Zmtp(protocol) => protocol.output_progress(),
            Wire::Raw(raw) => raw.output_progress(),
        }
    }

    /// Bytes that it holds on their way out.
    pub(super) fn pending_bytes(&self) -> usize {
        match self {
            Wire::Zmtp(protocol) => protocol.pending_bytes(),
            Wire::Raw(raw) => raw.pending_bytes(),
        }
    }

    /// Hands what is to be sent, up to `most` bytes, to one call of `write`. `false` when there was
    /// nothing.
    pub(super) fn write_with(
        &mut self,
        most: usize,
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<bool> {
        match self {
            Wire::Zmtp(protocol) => {
                let mut transmit = protocol.transmit();
                if !transmit.has_remaining() {
                    return Ok(false);
                }
                let written = write_chunks(transmit.chunks(), most, write)?;
                transmit.advance(written);
            }
            Wire::Raw(raw) => {
                if raw.pending_bytes() == 0 {
                    return Ok(false);
                }
                let written = write_chunks(raw.chunks(), most, write)?;
                raw.advance(written);
            }
        }
        Ok(true)
    }
}

/// Apart from the others, whose way is shorter without it.
#[inline(never)]
fn send_framed(protocol: &mut Protocol, framed: Framed) {
    let sent = protocol.send_framed(framed.into_bytes());
    debug_assert!(sent.is_ok(), "frames go to this peer as they are");
}

fn write_chunks<'a>(
    chunks: impl Iterator<Item = &'a [u8]>,
    most: usize,
    write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
    let mut room = most;
    let mut count = 0;
    for (slice, chunk) in slices.iter_mut().zip(chunks) {
        let length = chunk.len().min(room);
        *slice = IoSlice::new(&chunk[..length]);
        room -= length;
        count += 1;
        if room == 0 {
            break;
        }
    }
    match write(&slices[..count])? {
        0 => Err(io::ErrorKind::WriteZero.into()),
        written => Ok(written),
    }
}
