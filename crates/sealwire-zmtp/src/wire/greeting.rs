//! The greeting: the 64 bytes that both sides send first.
//!
//! Source: ZMTP 3.1 (RFC 37), "greeting". Positions count from 0:
//!
//! ```text
//!  0      1            9      10      11      12              32          33        64
//!  +------+------------+------+-------+-------+---------------+-----------+---------+
//!  | 0xFF | padding, 8 | 0x7F | major | minor | mechanism, 20 | as-server | zeros   |
//!  +------+------------+------+-------+-------+---------------+-----------+---------+
//! ```
//!
//! ZMTP calls the padding not significant, but it is part of the BLAKE3 transcript.

use alloc::string::String;

use super::text::escape;
use crate::error::WireError;

/// Size of a greeting in bytes.
pub const SIZE: usize = 64;

const MAJOR: u8 = 3;
const MINOR: u8 = 1;

/// What a greeting says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The eight octets between the signature's first and last.
    pub padding: [u8; 8],
    /// Minor version: 0 or 1; later ones are read as 1.
    pub minor: u8,
    /// The mechanism's name, padded with zeros.
    pub mechanism: [u8; 20],
    /// Whether the sender is the server of the mechanism.
    pub as_server: bool,
}

impl Greeting {
    /// The greeting of this crate, ZMTP 3.1.
    ///
    /// # Panics
    ///
    /// When the name has more than 20 bytes.
    pub fn new(mechanism: &str, as_server: bool, padding: [u8; 8]) -> Self {
        let mut name = [0; 20];
        name[..mechanism.len()].copy_from_slice(mechanism.as_bytes());
        Self {
            padding,
            minor: MINOR,
            mechanism: name,
            as_server,
        }
    }

    /// The 64 bytes to send.
    pub fn encode(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[0] = 0xff;
        bytes[1..9].copy_from_slice(&self.padding);
        bytes[9] = 0x7f;
        bytes[10] = MAJOR;
        bytes[11] = self.minor;
        bytes[12..32].copy_from_slice(&self.mechanism);
        bytes[32] = u8::from(self.as_server);
        bytes
    }

    /// Reads a greeting from the front of `bytes`; `None` while it is incomplete.
    ///
    /// # Errors
    ///
    /// [`WireError::BadSignature`] if a byte is not one of ZMTP, [`WireError::UnsupportedVersion`] for
    /// versions before 3.0; each as soon as the wrong byte is there.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, WireError> {
        for (position, expected) in [(0, 0xff), (9, 0x7f)] {
            match bytes.get(position) {
                Some(&byte) if byte != expected => {
                    return Err(WireError::BadSignature { position, byte });
                }
                _ => {}
            }
        }
        match bytes.get(10) {
            Some(&major) if major < MAJOR => return Err(WireError::UnsupportedVersion { major }),
            _ => {}
        }
        let Some(bytes) = bytes.first_chunk::<SIZE>() else {
            return Ok(None);
        };
        // A later major version must still understand this one (RFC 37, "version negotiation").
        let minor = if bytes[10] > MAJOR {
            MINOR
        } else {
            bytes[11].min(MINOR)
        };
        Ok(Some(Self {
            padding: core::array::from_fn(|i| bytes[1 + i]),
            minor,
            mechanism: core::array::from_fn(|i| bytes[12 + i]),
            as_server: bytes[32] != 0,
        }))
    }

    /// Returns whether the mechanism is `name`.
    pub fn is_mechanism(&self, name: &str) -> bool {
        let (text, padding) = self
            .mechanism
            .split_at(name.len().min(self.mechanism.len()));
        text == name.as_bytes() && padding.iter().all(|byte| *byte == 0)
    }

    /// The mechanism's name without its padding, unprintable bytes escaped.
    pub fn mechanism_text(&self) -> String {
        let end = self
            .mechanism
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        escape(&self.mechanism[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let greeting = Greeting::new("BLAKE3", true, *b"12345678");
        let bytes = greeting.encode();
        assert_eq!(Greeting::parse(&bytes), Ok(Some(greeting.clone())));
        assert!(greeting.is_mechanism("BLAKE3"));
        assert!(!greeting.is_mechanism("BLAKE"));
        assert!(!greeting.is_mechanism("BLAKE3X"));
        assert_eq!(greeting.mechanism_text(), "BLAKE3");
        for end in 0..SIZE {
            assert_eq!(Greeting::parse(&bytes[..end]), Ok(None));
        }
    }

    #[test]
    fn fails_at_the_first_wrong_byte() {
        assert_eq!(
            Greeting::parse(b"G"),
            Err(WireError::BadSignature {
                position: 0,
                byte: b'G'
            })
        );
        let mut bytes = Greeting::new("NULL", false, [0; 8]).encode();
        bytes[10] = 1;
        assert_eq!(Greeting::parse(&bytes[..10]), Ok(None));
        assert_eq!(
            Greeting::parse(&bytes[..11]),
            Err(WireError::UnsupportedVersion { major: 1 })
        );
        bytes[9] = 0;
        assert_eq!(
            Greeting::parse(&bytes[..10]),
            Err(WireError::BadSignature {
                position: 9,
                byte: 0
            })
        );
    }

    #[test]
    fn older_and_newer_minors() {
        let mut bytes = Greeting::new("NULL", false, [0; 8]).encode();
        for ((major, minor), read) in [((3, 0), 0), ((3, 1), 1), ((3, 9), 1), ((4, 0), 1)] {
            (bytes[10], bytes[11]) = (major, minor);
            assert_eq!(Greeting::parse(&bytes).unwrap().unwrap().minor, read);
        }
    }

    #[test]
    fn a_strange_name_is_escaped() {
        let mut greeting = Greeting::new("NULL", false, [0; 8]);
        greeting.mechanism = [0x1b; 20];
        assert_eq!(greeting.mechanism_text(), r"\x1b".repeat(20));
    }
}
