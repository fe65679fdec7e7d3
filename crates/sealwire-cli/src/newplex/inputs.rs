//! What commands read: messages that are held in memory, and lines.

use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::{PIECE_SIZE, failed, keys};
use crate::exit::Failure;
use crate::file::Input;

/// Longest message that is held in memory, in bytes.
const MAX_MESSAGE_SIZE: usize = 64 << 20;
/// Longest line of standard input, in bytes.
const MAX_LINE_SIZE: usize = 4 << 10;

/// Reads all of `input`.
pub(super) fn read_whole(mut input: Input) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let known = input
        .size
        .map_or(0, |size| size.min(MAX_MESSAGE_SIZE as u64));
    let mut message = Zeroizing::new(Vec::with_capacity(known as usize + 1));
    let mut piece = Zeroizing::new(vec![0; PIECE_SIZE]);
    loop {
        let count = input.fill(&mut piece)?;
        if count == 0 {
            return Ok(message);
        }
        if message.len() + count > MAX_MESSAGE_SIZE {
            return Err(failed(format!(
                "{}: more than {MAX_MESSAGE_SIZE} bytes, and all of it is held in memory here: use \
                 its digest ('sealwire newplex digest') in its place",
                input.name
            )));
        }
        if message.capacity() < message.len() + count {
            // Growing in place would leave what was read before behind.
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * (message.len() + count)));
            larger.extend_from_slice(&message);
            message = larger;
        }
        message.extend_from_slice(&piece[..count]);
    }
}

/// The text of a file of one value that others may read. Of standard input it is the next line that
/// is neither empty nor a comment; what follows stays there.
pub(super) fn read_value(path: &Path) -> Result<String, Failure> {
    if path != Path::new("-") {
        return keys::read_public_text(path);
    }
    let mut stdin = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let mut byte = [0];
        let ended = loop {
            match stdin.read(&mut byte) {
                Ok(0) => break true,
                Ok(_) if byte[0] == b'\n' => break false,
                Ok(_) if line.len() < MAX_LINE_SIZE => line.push(byte[0]),
                Ok(_) => return Err(failed("standard input: a line is too long for any value")),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(failed(format!("standard input: cannot be read: {error}")));
                }
            }
        };
        let line = String::from_utf8(line).unwrap_or_default();
        let line = line.trim();
        if ended || !(line.is_empty() || line.starts_with('#')) {
            return Ok(line.to_owned());
        }
    }
}

/// Two of the inputs cannot both be standard input.
pub(super) fn apart(first: &Path, second: &Path) -> Result<(), Failure> {
    if first == Path::new("-") && second == Path::new("-") {
        return Err(Failure::usage(
            "there is one standard input, and two things are to be read from it: name a file",
        ));
    }
    Ok(())
}
