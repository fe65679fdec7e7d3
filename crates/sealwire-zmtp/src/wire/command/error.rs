//! ERROR: the last command of a peer that ends a connection.
//!
//! Source: ZMTP 3.1 (RFC 37), "error". Data: reason length (1) and reason, printable ASCII.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::limits::MAX_ERROR_REASON;
use crate::wire::frame::{COMMAND, Header};
use crate::wire::text::escape;

/// The command's name.
pub const NAME: &[u8] = b"ERROR";

/// Reads the data of ERROR and gives the reason with everything unprintable escaped.
///
/// # Errors
///
/// [`WireError::MalformedCommand`] unless the length is that of the rest.
pub fn parse(data: &[u8]) -> Result<String, WireError> {
    match data.split_first() {
        Some((len, reason)) if usize::from(*len) == reason.len() => Ok(escape(reason)),
        _ => Err(WireError::MalformedCommand { command: "ERROR" }),
    }
}

/// The body of an ERROR command; what is beyond 255 bytes of the reason is left out.
pub(crate) fn body(reason: &str) -> Vec<u8> {
    let reason = &reason.as_bytes()[..reason.len().min(MAX_ERROR_REASON)];
    super::body(NAME, &[&[reason.len() as u8], reason])
}

/// The whole frame of an ERROR command.
pub(crate) fn frame(reason: &str) -> Vec<u8> {
    let body = body(reason);
    [&Header::new(COMMAND, body.len()).encode()[..], &body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_escaped_and_its_length_checked() {
        assert_eq!(parse(b"\x02no").unwrap(), "no");
        assert_eq!(parse(b"\x00").unwrap(), "");
        assert_eq!(parse(b"\x05\x1b[2J\n").unwrap(), r"\x1b[2J\x0a");
        for bad in [&b""[..], b"\x03no", b"\x01no"] {
            assert_eq!(
                parse(bad),
                Err(WireError::MalformedCommand { command: "ERROR" })
            );
        }
    }
}
