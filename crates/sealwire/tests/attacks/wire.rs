//! ZMTP framing as seen on the wire: 64-byte greetings, then flags, length and body.

use std::io::{self, Read};

/// Another frame of the message follows.
pub(crate) const MORE: u8 = 0x01;
/// The length takes eight bytes.
pub(crate) const LONG: u8 = 0x02;
/// The frame is a command.
pub(crate) const COMMAND: u8 = 0x04;

pub(crate) const GREETING_SIZE: usize = 64;

/// Reads one greeting (`index` 0) or one frame, every byte of it; `None` at the end of the stream.
pub(crate) fn read_unit(stream: &mut impl Read, index: usize) -> io::Result<Option<Vec<u8>>> {
    let mut unit = vec![0; if index == 0 { GREETING_SIZE } else { 2 }];
    match stream.read_exact(&mut unit) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    if index > 0 {
        if unit[0] & LONG != 0 {
            unit.resize(9, 0);
            stream.read_exact(&mut unit[2..])?;
        }
        let (start, length) = (unit.len(), claimed(&unit));
        unit.resize(
            start + usize::try_from(length).expect("an honest sender"),
            0,
        );
        stream.read_exact(&mut unit[start..])?;
    }
    Ok(Some(unit))
}

/// Bytes that flags and length take.
pub(crate) fn header_size(frame: &[u8]) -> usize {
    if frame[0] & LONG == 0 { 2 } else { 9 }
}

/// The length that the header claims.
pub(crate) fn claimed(frame: &[u8]) -> u64 {
    if frame[0] & LONG == 0 {
        frame[1].into()
    } else {
        u64::from_be_bytes(frame[1..9].try_into().unwrap())
    }
}

/// Flags and length, in eight bytes where one does not do or LONG is among the flags.
pub(crate) fn header(flags: u8, length: u64) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(length) if flags & LONG == 0 => vec![flags, length],
        _ => [&[flags | LONG][..], &length.to_be_bytes()].concat(),
    }
}

/// A whole frame.
pub(crate) fn frame(flags: u8, body: &[u8]) -> Vec<u8> {
    [header(flags, body.len() as u64), body.to_vec()].concat()
}

/// The body of a command.
pub(crate) fn command(name: &str, data: &[u8]) -> Vec<u8> {
    [&[name.len() as u8], name.as_bytes(), data].concat()
}

/// A greeting of ZMTP 3.1.
pub(crate) fn greeting(mechanism: &str, as_server: bool) -> [u8; GREETING_SIZE] {
    let mut greeting = [0; GREETING_SIZE];
    (greeting[0], greeting[9]) = (0xff, 0x7f);
    (greeting[10], greeting[11]) = (3, 1);
    greeting[12..12 + mechanism.len()].copy_from_slice(mechanism.as_bytes());
    greeting[32] = as_server.into();
    greeting
}

/// One metadata property.
pub(crate) fn property(name: &str, value: &[u8]) -> Vec<u8> {
    let mut property = command(name, &(value.len() as u32).to_be_bytes());
    property.extend_from_slice(value);
    property
}

/// Flips bit `bit`, counted from the lowest bit of the first byte.
pub(crate) fn flip(unit: &mut [u8], bit: usize) {
    unit[bit / 8] ^= 1 << (bit % 8);
}
