//! ZMTP framing as seen on the wire: 64-byte greetings, then flags, length and body.

use std::io::{self, BufReader, Read};

use crate::Format;

/// Another frame of the message follows.
pub const MORE: u8 = 0x01;
/// The length takes eight bytes.
pub const LONG: u8 = 0x02;
/// The frame is a command.
pub const COMMAND: u8 = 0x04;

/// Bytes of a greeting.
pub const GREETING_SIZE: usize = 64;

/// Reads one frame, every byte of it and none behind it; `None` at the end of the stream.
///
/// # Errors
///
/// What the stream says.
pub fn read_frame(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    // A buffer of one byte takes nothing that is not asked for.
    let mut stream = BufReader::with_capacity(1, stream);
    Format::Zmtp.read_unit(&mut stream, 1)
}

/// The size of a greeting (`index` 0) or frame that begins like this, once that is known.
pub(crate) fn unit_size(index: usize, beginning: &[u8]) -> Option<usize> {
    if index == 0 {
        return Some(GREETING_SIZE);
    }
    let header = header_size(beginning.get(..2)?);
    let length = claimed(beginning.get(..header)?);
    Some(header + usize::try_from(length).expect("an honest sender"))
}

/// Bytes that flags and length take.
///
/// # Panics
///
/// If the frame is empty.
#[must_use]
pub fn header_size(frame: &[u8]) -> usize {
    if frame[0] & LONG == 0 { 2 } else { 9 }
}

/// The length that the header claims.
///
/// # Panics
///
/// If the header is not complete.
#[must_use]
pub fn claimed(frame: &[u8]) -> u64 {
    match *frame {
        [flags, length, ..] if flags & LONG == 0 => length.into(),
        _ => u64::from_be_bytes(*frame[1..].first_chunk().expect("a whole header")),
    }
}

/// Flags and length, in eight bytes where one does not do or LONG is among the flags.
#[must_use]
pub fn header(flags: u8, length: u64) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(length) if flags & LONG == 0 => vec![flags, length],
        _ => [&[flags | LONG][..], &length.to_be_bytes()].concat(),
    }
}

/// A whole frame.
#[must_use]
pub fn frame(flags: u8, body: &[u8]) -> Vec<u8> {
    [header(flags, body.len() as u64), body.to_vec()].concat()
}

/// The body of a command. The name has up to 255 bytes.
#[must_use]
pub fn command(name: &str, data: &[u8]) -> Vec<u8> {
    [&[name.len() as u8], name.as_bytes(), data].concat()
}

/// A greeting of ZMTP 3.1. The mechanism's name has up to 20 bytes.
#[must_use]
pub fn greeting(mechanism: &str, as_server: bool) -> [u8; GREETING_SIZE] {
    let mut greeting = [0; GREETING_SIZE];
    (greeting[0], greeting[9]) = (0xff, 0x7f);
    (greeting[10], greeting[11]) = (3, 1);
    greeting[12..12 + mechanism.len()].copy_from_slice(mechanism.as_bytes());
    greeting[32] = as_server.into();
    greeting
}

/// One metadata property.
#[must_use]
pub fn property(name: &str, value: &[u8]) -> Vec<u8> {
    let mut property = command(name, &(value.len() as u32).to_be_bytes());
    property.extend_from_slice(value);
    property
}
