//! MISSED: how many messages a publisher has dropped for the peer since the last MISSED.
//!
//! Of Sealwire, and only for a peer whose handshake has the property `X-Sealwire-Missed`. Specified in
//! `docs/spec/missed.md`.
//!
//! ```text
//! +----------------------+
//! | messages             |
//! | 8, network byte order|
//! +----------------------+
//! ```

use alloc::vec::Vec;

use crate::error::WireError;

/// The command's name.
pub const NAME: &[u8] = b"MISSED";

/// The property of the handshake by which a socket asks for the command; its value is one octet, 1.
pub const PROPERTY: &str = "X-Sealwire-Missed";

/// The value of the property.
pub(crate) const ASKED: &[u8] = &[1];

/// Reads the data of MISSED.
///
/// # Errors
///
/// [`WireError::MalformedCommand`] unless it is 8 octets.
pub fn parse(data: &[u8]) -> Result<u64, WireError> {
    let count = data.try_into().map(u64::from_be_bytes);
    count.map_err(|_| WireError::MalformedCommand { command: "MISSED" })
}

/// The body of a MISSED command.
pub(crate) fn body(messages: u64) -> Vec<u8> {
    super::body(NAME, &[&messages.to_be_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_written() {
        let body = body(0x0102_0304_0506_0708);
        assert_eq!(body, b"\x06MISSED\x01\x02\x03\x04\x05\x06\x07\x08");
        assert_eq!(parse(&body[7..]), Ok(0x0102_0304_0506_0708));
        for bad in [&b""[..], b"1234567", b"123456789"] {
            assert_eq!(
                parse(bad),
                Err(WireError::MalformedCommand { command: "MISSED" })
            );
        }
    }
}
