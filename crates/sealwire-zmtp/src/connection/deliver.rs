//! From verified frames to events: assembles messages and processes commands.

use bytes::{Buf, Bytes, BytesMut};

use super::receive::Span;
use super::{Connection, Event};
use crate::error::Error;
use crate::message::{Frame, Frames};
use crate::wire::command::subscription::{Change, group};
use crate::wire::command::{Command, heartbeat, missed};

impl Connection {
    /// Takes the frames of `spans` off the front of `input`.
    pub(super) fn deliver(&mut self, input: &mut BytesMut, spans: &[Span]) -> Result<(), Error> {
        let behind = self.receiver.behind_payload();
        // Offset of the first byte not yet taken: moved for copies, while slices cut the input.
        let mut taken = 0;
        for span in spans {
            let start = taken + span.before;
            let end = start + span.payload;
            if span.command {
                self.command(&input[start..end])?;
                taken = end + behind;
            } else if span.payload <= Frame::INLINE {
                let frame = Frame::of_first(&input[start..], span.payload);
                taken = end + behind;
                self.message_frame(frame, span.more);
            } else if self.receiver.worth_slicing(span.payload) {
                input.advance(start);
                let payload = input.split_to(span.payload).freeze();
                taken = behind;
                self.message_frame(Frame::from(payload), span.more);
            } else {
                let payload = self.blocks.copy(&input[start..end]);
                taken = end + behind;
                self.message_frame(Frame::from(payload), span.more);
            }
        }
        input.advance(taken);
        Ok(())
    }

    #[inline]
    fn message_frame(&mut self, frame: Frame, more: bool) {
        if more || !self.assembly.is_empty() {
            if let Some(message) = self.assembly.push(frame, more) {
                self.events.push_message(message);
            }
        } else if self.config.socket_type.takes_subscriptions() {
            self.events.push(subscription_or_message(frame));
        } else {
            self.events.push_message(Frames::single(frame));
        }
    }

    fn command(&mut self, body: &[u8]) -> Result<(), Error> {
        let takes_subscriptions = self.config.socket_type.takes_subscriptions();
        let body = match self.config.cuts_heartbeat_contexts {
            true => heartbeat::with_context_cut(body),
            false => body,
        };
        match Command::parse(body)? {
            Command::Subscribe(topic) if takes_subscriptions => {
                self.events
                    .push(Event::Subscribe(Bytes::copy_from_slice(topic)));
            }
            Command::Cancel(topic) if takes_subscriptions => {
                self.events
                    .push(Event::Cancel(Bytes::copy_from_slice(topic)));
            }
            Command::Join(name) if self.config.socket_type.takes_groups() => {
                let group = group(name, "JOIN")?;
                self.events
                    .push(Event::Subscribe(Bytes::copy_from_slice(group)));
            }
            Command::Leave(name) if self.config.socket_type.takes_groups() => {
                let group = group(name, "LEAVE")?;
                self.events
                    .push(Event::Cancel(Bytes::copy_from_slice(group)));
            }
            Command::Missed(data) if self.config.asks_for_missed => {
                self.events.push(Event::Missed(missed::parse(data)?));
            }
            Command::Ping(ping) => self.liveness.pinged(ping),
            Command::Error(reason) => {
                let verified = self.receiver.verifies();
                return Err(Error::PeerRefused { reason, verified });
            }
            Command::Pong(pong) => self.liveness.ponged(pong, self.output.taken_in_all()),
            Command::Subscribe(_)
            | Command::Cancel(_)
            | Command::Join(_)
            | Command::Leave(_)
            | Command::Missed(_)
            | Command::Unknown => {}
        }
        Ok(())
    }
}

/// A publisher's peer may subscribe by a message of one frame.
fn subscription_or_message(frame: Frame) -> Event {
    match Change::from_message(&frame) {
        Some(Change::Subscribe) => Event::Subscribe(frame.into_bytes().slice(1..)),
        Some(Change::Cancel) => Event::Cancel(frame.into_bytes().slice(1..)),
        None => Event::Message(Frames::single(frame)),
    }
}
