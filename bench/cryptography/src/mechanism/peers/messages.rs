//! MESSAGE: the frames from the client to the server.
//!
//! ```text
//! flags 1, length 1 or 8 | "\x07MESSAGE" 8 | number 8 | tag 16 | sealed: flags 1, payload
//! ```
//!
//! It copies what libzmq copies: the payload behind its flags, and a short frame into the buffer that
//! is to be written. A long one is written from where it was sealed.

use std::mem;

use bytes::{Buf as _, Bytes};
use libsodium_rs::crypto_box::PrecomputedKey;

use super::super::in_memory::Channel;
use super::{nonce, open, refused, seal};
use crate::Error;

const NAME: &[u8; 8] = b"\x07MESSAGE";
const PREFIX: &[u8; 16] = b"CurveZMQMESSAGEC";
/// The frame's flag for a length of eight bytes.
const LONG: u8 = 0x02;
/// libzmq collects short frames in a buffer of this size.
const COLLECTED: usize = 8 << 10;
/// The client's HELLO and INITIATE had the first two.
const FIRST_NUMBER: u64 = 3;

/// One direction of a connection, both of its ends.
pub(super) struct Direction {
    sealing: PrecomputedKey,
    next: u64,
    output: Output,
    wire: Vec<u8>,
    opening: PrecomputedKey,
    /// The highest number so far.
    last: u64,
    received: Vec<Bytes>,
}

/// Bytes to be written, in order.
#[derive(Default)]
struct Output {
    chunks: Vec<Vec<u8>>,
    /// Behind the chunks.
    collected: Vec<u8>,
}

impl Direction {
    pub(super) fn new(sealing: PrecomputedKey, opening: PrecomputedKey) -> Self {
        Direction {
            sealing,
            next: FIRST_NUMBER,
            output: Output::default(),
            wire: Vec::new(),
            opening,
            last: FIRST_NUMBER - 1,
            received: Vec::new(),
        }
    }

    fn seal_one(&mut self, payload: &[u8]) -> Result<(), Error> {
        let number = self.next.to_be_bytes();
        self.next += 1;
        let mut text = Vec::with_capacity(1 + payload.len());
        text.push(0);
        text.extend_from_slice(payload);
        let sealed = seal("MESSAGE", &text, nonce(PREFIX, &number), &self.sealing)?;
        self.output.push(number, sealed);
        Ok(())
    }

    /// Opens the first frame of these bytes: its payload, and the bytes behind it.
    fn open_one<'a>(&mut self, bytes: &'a [u8]) -> Result<(Bytes, &'a [u8]), Error> {
        let (body, rest) = split_frame(bytes).ok_or_else(|| refused("a frame"))?;
        let (number, sealed) = body
            .strip_prefix(NAME)
            .and_then(|body| body.split_first_chunk::<8>())
            .ok_or_else(|| refused("the start of MESSAGE"))?;
        let counter = u64::from_be_bytes(*number);
        if counter <= self.last {
            return Err(refused("a number that comes again in MESSAGE"));
        }
        let text = open("MESSAGE", sealed, nonce(PREFIX, number), &self.opening)?;
        self.last = counter;
        if text.first() != Some(&0) {
            return Err(refused("the flags of MESSAGE"));
        }
        let mut payload = Bytes::from(text);
        payload.advance(1);
        Ok((payload, rest))
    }
}

impl Channel for Direction {
    fn seal(&mut self, payloads: Vec<Bytes>) -> Result<(), Error> {
        payloads
            .into_iter()
            .try_for_each(|payload| self.seal_one(&payload))
    }

    fn carry(&mut self) {
        self.wire = Vec::new();
        for chunk in self.output.chunks.drain(..) {
            self.wire.extend_from_slice(&chunk);
        }
        self.wire.append(&mut self.output.collected);
    }

    fn open(&mut self) -> Result<(usize, usize), Error> {
        let wire = mem::take(&mut self.wire);
        let mut rest = &wire[..];
        while !rest.is_empty() {
            let (payload, behind) = self.open_one(rest)?;
            self.received.push(payload);
            rest = behind;
        }
        let bytes = self.received.iter().map(Bytes::len).sum();
        let count = self.received.len();
        self.received.clear();
        Ok((count, bytes))
    }
}

impl Output {
    fn push(&mut self, number: [u8; 8], sealed: Vec<u8>) {
        let length = NAME.len() + number.len() + sealed.len();
        match u8::try_from(length) {
            Ok(length) => self.collected.extend_from_slice(&[0, length]),
            Err(_) => {
                self.collected.push(LONG);
                self.collected
                    .extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        self.collected.extend_from_slice(NAME);
        self.collected.extend_from_slice(&number);
        if length < COLLECTED {
            self.collected.extend_from_slice(&sealed);
        } else {
            self.chunks.extend([mem::take(&mut self.collected), sealed]);
        }
    }
}

/// The body of the first frame, and what stands behind it.
fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&flags, rest) = bytes.split_first()?;
    let (length, rest) = match flags {
        0 => {
            let (&length, rest) = rest.split_first()?;
            (usize::from(length), rest)
        }
        LONG => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::try_from(u64::from_be_bytes(*length)).ok()?, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use sealwire_nacl::SecretBox;

    use super::super::handshake::Parties;
    use super::*;

    fn connected() -> Direction {
        libsodium_rs::ensure_init().expect("libsodium starts");
        let [client, server] = Parties::new().shake_hands().expect("a handshake");
        assert_eq!(client, server, "both have the same key");
        Direction::new(client, server)
    }

    fn sealed(direction: &mut Direction, sizes: &[usize]) {
        let payloads = sizes.iter().map(|&size| vec![0x5a; size].into()).collect();
        Channel::seal(direction, payloads).expect("sealed");
        direction.carry();
    }

    #[test]
    fn frames_are_those_of_curvezmq() {
        let mut direction = connected();
        let key = SecretBox::new(direction.sealing.as_bytes());
        // Around the longest short frame, and around what is collected.
        let sizes = [0, 1, 222, 223, 8158, 8159, 8160, 100_000, 1];
        sealed(&mut direction, &sizes);
        let mut rest = &direction.wire[..];
        for (size, number) in sizes.into_iter().zip(3_u64..) {
            let (body, behind) = split_frame(rest).expect("a frame");
            let header = rest.len() - behind.len() - body.len();
            assert_eq!(header, if body.len() > 255 { 9 } else { 2 });
            assert_eq!(&body[..8], b"\x07MESSAGE");
            assert_eq!(body[8..16], number.to_be_bytes());
            let nonce = [&b"CurveZMQMESSAGEC"[..], &number.to_be_bytes()].concat();
            let nonce = nonce.try_into().expect("24 bytes");
            let text = key.open(&nonce, &body[16..]).expect("it opens");
            assert_eq!(text, [&[0][..], &vec![0x5a; size]].concat());
            rest = behind;
        }
        assert!(rest.is_empty());
        let (messages, bytes) = Channel::open(&mut direction).expect("opened");
        assert_eq!((messages, bytes), (sizes.len(), sizes.iter().sum()));
    }

    #[test]
    fn changed_and_repeated_messages_do_not_open() {
        let mut direction = connected();
        sealed(&mut direction, &[100]);
        let wire = direction.wire.clone();
        for index in 0..wire.len() {
            direction.wire = wire.clone();
            direction.wire[index] ^= 1;
            assert!(Channel::open(&mut direction).is_err(), "byte {index}");
        }
        direction.wire = wire.clone();
        assert_eq!(Channel::open(&mut direction).expect("opened"), (1, 100));
        direction.wire = wire;
        assert!(Channel::open(&mut direction).is_err(), "it comes again");
    }
}
