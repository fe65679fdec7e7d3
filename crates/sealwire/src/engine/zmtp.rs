//! A connection that speaks ZMTP.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use sealwire_zmtp::connection::OutputProgress;
use sealwire_zmtp::error::Refusal;
use sealwire_zmtp::{Connection, Error, Event, Frames, Mechanism};

use super::wire::{Wire, Write, write_chunks};
use crate::pattern::{Framed, FromPeer, Item, Room};
use crate::transport::WriteSize;

impl Wire for Connection {
    fn next_timeout(&self) -> Option<Duration> {
        Connection::next_timeout(self)
    }

    fn handle_timeout(&mut self, now: Duration) -> Result<(), Error> {
        Connection::handle_timeout(self, now)
    }

    fn heartbeat_by_transport(&mut self) {
        Connection::heartbeat_by_transport(self);
    }

    fn take_transport_ping(&mut self) -> bool {
        Connection::take_transport_ping(self)
    }

    fn take_round_trip(&mut self) -> Option<Duration> {
        Connection::take_round_trip(self)
    }

    fn heard(&mut self, now: Duration) {
        Connection::heard(self, now);
    }

    fn set_reading(&mut self, reading: bool, now: Duration) {
        Connection::set_reading(self, reading, now);
    }

    fn has_handshake(&self) -> bool {
        true
    }

    fn mechanism(&self) -> Option<Mechanism> {
        Connection::mechanism(self)
    }

    fn poll_event(&mut self) -> Option<Event> {
        Connection::poll_event(self)
    }

    fn authorize(
        &mut self,
        decision: Result<Option<String>, Refusal>,
        now: Duration,
    ) -> Result<(), Error> {
        Connection::authorize(self, decision, now)
    }

    fn reject(&mut self, reason: &str) {
        Connection::reject(self, reason);
    }

    fn receive(&mut self, input: &mut BytesMut, now: Duration) -> Result<(), Error> {
        Connection::receive(self, input, now)
    }

    fn wanted(&self) -> usize {
        Connection::wanted(self)
    }

    fn arriving(&self) -> usize {
        Connection::arriving(self)
    }

    fn has_events(&self) -> bool {
        Connection::has_events(self)
    }

    fn next_from_peer(&mut self, other: &mut dyn FnMut(Event)) -> Option<FromPeer> {
        loop {
            match Connection::poll_event(self)? {
                Event::Message(frames) => return Some(FromPeer::Message(frames)),
                Event::Subscribe(topic) => return Some(FromPeer::Subscribe(topic)),
                Event::Cancel(topic) => return Some(FromPeer::Cancel(topic)),
                Event::Missed(count) => return Some(FromPeer::Missed(count)),
                event => other(event),
            }
        }
    }

    fn take_messages(&mut self, into: &mut VecDeque<Frames>, room: Room) -> usize {
        Connection::take_messages(self, into, room.messages, room.bytes)
    }

    fn end_of_stream(&mut self) -> Option<Error> {
        Some(Connection::end_of_stream(self))
    }

    fn stage(&mut self, items: &mut VecDeque<Item>) {
        for item in items.drain(..) {
            match item {
                Item::Message(frames) | Item::OwnMessage(frames) => {
                    // Refused only before the handshake is done or after the end.
                    let sent = self.send(frames);
                    debug_assert!(sent.is_ok(), "an attached protocol takes messages");
                }
                Item::Framed(framed) => send_framed(self, framed),
                Item::Subscribe(topic) => self.subscribe(&topic),
                Item::Cancel(topic) => self.cancel(&topic),
                Item::Missed(count) => self.tell_missed(count),
                // One type for what is queued and what links get: with two, each message would be moved once more
                // between queue and link.
                Item::FramedRange(_) | Item::Changes(_) => {
                    unreachable!("links get what it stands for")
                }
            }
        }
    }

    fn output_progress(&self) -> OutputProgress {
        Connection::output_progress(self)
    }

    fn pending_bytes(&self) -> usize {
        Connection::pending_bytes(self)
    }

    fn write_with(&mut self, size: WriteSize, write: &mut Write<'_>) -> io::Result<bool> {
        let mut transmit = self.transmit();
        if !transmit.has_remaining() {
            return Ok(false);
        }
        let written = write_chunks(transmit.chunks(), transmit.remaining(), size, write)?;
        transmit.advance(written);
        Ok(true)
    }
}

/// Apart from the others, whose way is shorter without it.
#[inline(never)]
fn send_framed(connection: &mut Connection, framed: Framed) {
    let sent = connection.send_framed(framed.into_bytes());
    debug_assert!(sent.is_ok(), "frames go to this peer as they are");
}
