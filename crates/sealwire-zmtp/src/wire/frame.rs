//! Frames: flags, length, body.
//!
//! Source: ZMTP 3.1 (RFC 37), "traffic".
//!
//! ```text
//! short  +-------+--------+------+          flags  0x01 MORE     another frame of the message follows
//!        | flags | len, 1 | body |                 0x02 LONG     the length takes 8 bytes
//!        +-------+--------+------+                 0x04 COMMAND  for the protocol, not for the user
//! long   +-------+--------------------+------+
//!        | flags | len, 8, big-endian | body |
//!        +-------+--------------------+------+
//! ```

use arrayvec::ArrayVec;

use crate::error::WireError;

/// Another frame of the same message follows.
pub const MORE: u8 = 0x01;
/// The length takes eight bytes.
pub const LONG: u8 = 0x02;
/// The frame is a command.
pub const COMMAND: u8 = 0x04;

/// Most bytes that flags and length take.
pub const MAX_HEADER: usize = 9;

/// Flags and length of one frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The flags as sent.
    pub flags: u8,
    /// Body size in bytes, as the peer claims; at most 2^63 - 1.
    pub body_len: u64,
}

impl Header {
    /// The header of a body of `body_len` bytes, in its shortest form. LONG is set as needed.
    #[inline]
    pub const fn new(flags: u8, body_len: usize) -> Self {
        let long = if body_len > 0xff { LONG } else { 0 };
        Self {
            flags: flags | long,
            body_len: body_len as u64,
        }
    }

    /// Reads flags and length from the front of `bytes`; `None` while they are incomplete.
    ///
    /// # Errors
    ///
    /// [`WireError::ReservedFlags`] as soon as the flags are there, also for a command with MORE;
    /// [`WireError::FrameTooLarge`] for a length of 2^63 and more.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, WireError> {
        let Some((&flags, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        if flags & !(MORE | LONG | COMMAND) != 0 || flags & (COMMAND | MORE) == COMMAND | MORE {
            return Err(WireError::ReservedFlags { flags });
        }
        let body_len = if flags & LONG == 0 {
            rest.first().copied().map(u64::from)
        } else {
            rest.first_chunk().copied().map(u64::from_be_bytes)
        };
        match body_len {
            Some(claimed) if claimed > i64::MAX as u64 => Err(WireError::FrameTooLarge {
                claimed,
                limit: i64::MAX as u64,
            }),
            Some(body_len) => Ok(Some(Self { flags, body_len })),
            None => Ok(None),
        }
    }

    /// Returns the number of bytes that flags and length take: 2 or 9.
    #[inline]
    pub const fn size(self) -> usize {
        if self.flags & LONG == 0 {
            2
        } else {
            MAX_HEADER
        }
    }

    /// Returns whether another frame of the same message follows.
    #[inline]
    pub const fn more(self) -> bool {
        self.flags & MORE != 0
    }

    /// Returns whether the frame is a command.
    #[inline]
    pub const fn command(self) -> bool {
        self.flags & COMMAND != 0
    }

    /// The bytes to send.
    #[inline]
    pub fn encode(self) -> ArrayVec<u8, MAX_HEADER> {
        let mut bytes = ArrayVec::new();
        bytes.push(self.flags);
        if self.flags & LONG == 0 {
            bytes.push(self.body_len as u8);
        } else {
            bytes.extend(self.body_len.to_be_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_on_both_sides_of_the_boundary() {
        for (len, size) in [(0, 2), (1, 2), (255, 2), (256, 9), (1 << 40, 9)] {
            let header = Header::new(MORE, len);
            assert_eq!(header.size(), size);
            let bytes = header.encode();
            assert_eq!(bytes.len(), size);
            assert_eq!(Header::parse(&bytes), Ok(Some(header)));
            for end in 0..size {
                assert_eq!(Header::parse(&bytes[..end]), Ok(None));
            }
        }
    }

    #[test]
    fn a_short_body_may_come_with_a_long_length() {
        let header = Header::parse(&[LONG, 0, 0, 0, 0, 0, 0, 0, 5])
            .unwrap()
            .unwrap();
        assert_eq!((header.body_len, header.size()), (5, 9));
    }

    #[test]
    fn refuses_reserved_flags_and_lengths_with_the_top_bit() {
        for flags in 0..=255_u8 {
            let good = matches!(flags, 0..=4 | 6);
            let parsed = Header::parse(&[flags]);
            assert_eq!(parsed.is_ok(), good, "{flags:#x}");
        }
        let mut bytes = [0xff; 9];
        bytes[0] = LONG;
        assert_eq!(
            Header::parse(&bytes),
            Err(WireError::FrameTooLarge {
                claimed: u64::MAX,
                limit: i64::MAX as u64
            })
        );
        bytes[1] = 0x7f;
        assert!(Header::parse(&bytes).is_ok());
    }
}
