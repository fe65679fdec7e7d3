//! A STREAM connection: bytes are messages of one frame, as they come, in both directions. There is
//! no handshake, no framing and no clock.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use sealwire_zmtp::connection::OutputProgress;
use sealwire_zmtp::{Error, Event, Frame, Frames};

use super::wire::{Wire, Write, write_chunks};
use crate::pattern::{FromPeer, Item};
use crate::transport::WriteSize;

/// Part of the buffer's size from which on a message is a slice of it instead of a copy.
const SLICE_FRACTION: usize = 16;

pub(super) struct Raw {
    received: VecDeque<Frames>,
    /// Bytes of a message at most.
    most: usize,
    outgoing: VecDeque<Bytes>,
    pending: usize,
    /// Bytes written since the connection began.
    written: u64,
}

impl Wire for Raw {
    /// Takes all of the input, unless some that came before is still there.
    fn receive(&mut self, input: &mut BytesMut, _now: Duration) -> Result<(), Error> {
        if self.received.is_empty() && !input.is_empty() {
            // A few bytes must not keep a whole buffer in memory.
            let slice = input.len() >= input.capacity() / SLICE_FRACTION;
            let mut received = if slice {
                input.split().freeze()
            } else {
                Bytes::copy_from_slice(input)
            };
            input.clear();
            while !received.is_empty() {
                let message = received.split_to(received.len().min(self.most));
                (self.received).push_back(Frames::single(Frame::from(message)));
            }
        }
        Ok(())
    }

    fn has_events(&self) -> bool {
        !self.received.is_empty()
    }

    fn next_from_peer(&mut self, _other: &mut dyn FnMut(Event)) -> Option<FromPeer> {
        self.received.pop_front().map(FromPeer::Message)
    }

    fn stage(&mut self, items: &mut VecDeque<Item>) {
        for item in items.drain(..) {
            // There is no way to say anything but bytes.
            if let Item::Message(mut frames) | Item::OwnMessage(mut frames) = item {
                while let Some(frame) = frames.pop_front() {
                    self.pending += frame.len();
                    self.outgoing.push_back(frame.into_bytes());
                }
            }
        }
    }

    /// Nothing proves to a STREAM socket what arrived.
    fn output_progress(&self) -> OutputProgress {
        let mut progress = OutputProgress::default();
        progress.taken = self.written;
        progress.staged = self.written + self.pending as u64;
        progress
    }

    fn pending_bytes(&self) -> usize {
        self.pending
    }

    fn write_with(&mut self, size: WriteSize, write: &mut Write<'_>) -> io::Result<bool> {
        if self.pending == 0 {
            return Ok(false);
        }
        let chunks = self.outgoing.iter().map(|chunk| &chunk[..]);
        let written = write_chunks(chunks, self.pending, size, write)?;
        self.advance(written);
        Ok(true)
    }
}

impl Raw {
    /// Gives messages of up to `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Raw {
            received: VecDeque::new(),
            most,
            outgoing: VecDeque::new(),
            pending: 0,
            written: 0,
        }
    }

    /// Removes the first `written` bytes from the output.
    fn advance(&mut self, mut written: usize) {
        self.pending -= written;
        self.written += written as u64;
        while let Some(first) = self.outgoing.front_mut()
            && written > 0
        {
            let step = written.min(first.len());
            first.advance(step);
            written -= step;
            if first.is_empty() {
                self.outgoing.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it writes, if the transport takes `step` bytes with each call.
    fn write_all(raw: &mut Raw, step: usize) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut calls) = (Vec::new(), Vec::new());
        let write = &mut |slices: &[io::IoSlice<'_>]| {
            let offered: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
            let taken = offered.len().min(step);
            bytes.extend_from_slice(&offered[..taken]);
            calls.push(taken);
            Ok(taken)
        };
        while raw.write_with(WriteSize::of_all(100), write).unwrap() {}
        (bytes, calls)
    }

    #[test]
    fn bytes_are_one_message_until_it_is_taken() {
        let mut raw = Raw::new(usize::MAX);
        let mut input = BytesMut::from("first");
        raw.receive(&mut input, Duration::ZERO).unwrap();
        assert!(input.is_empty() && raw.has_events());
        input.extend_from_slice(b"second");
        raw.receive(&mut input, Duration::ZERO).unwrap();
        assert_eq!(&input[..], b"second");
        let arrival = raw.next_from_peer(&mut |_| panic!("no event"));
        assert!(
            matches!(arrival, Some(FromPeer::Message(frames)) if frames == Frames::from("first"))
        );
        assert!(!raw.has_events());
        raw.receive(&mut input, Duration::ZERO).unwrap();
        assert_eq!(raw.drop_messages(), 1);
    }

    #[test]
    fn what_is_longer_than_a_message_may_be_is_several() {
        let mut raw = Raw::new(4);
        for input in ["several", "four", "x"] {
            raw.receive(&mut BytesMut::from(input), Duration::ZERO)
                .unwrap();
            let mut got = Vec::new();
            while let Some(FromPeer::Message(frames)) = raw.next_from_peer(&mut |_| {}) {
                assert!(frames.size() <= 4);
                got.push(frames.frames()[0].as_slice().to_vec());
            }
            assert_eq!(got.concat(), input.as_bytes());
        }
    }

    #[test]
    fn frames_are_written_one_after_the_other_however_little_the_transport_takes() {
        let mut raw = Raw::new(usize::MAX);
        let frames = ["some", "", "bytes"].map(Frame::from);
        let topic = Bytes::from_static(b"topic");
        let mut items = VecDeque::from([
            Item::OwnMessage(Frames::from("own ")),
            Item::Subscribe(topic),
            Item::Message(frames.into_iter().collect()),
        ]);
        raw.stage(&mut items);
        assert!(items.is_empty());
        assert_eq!(raw.pending_bytes(), 13);
        let (bytes, calls) = write_all(&mut raw, 6);
        assert_eq!(bytes, b"own somebytes");
        assert_eq!(calls, [6, 6, 1]);
        let progress = raw.output_progress();
        assert_eq!((progress.taken, progress.staged), (13, 13));
    }
}
