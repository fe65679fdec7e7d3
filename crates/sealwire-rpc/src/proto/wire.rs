//! The header of a message on the wire (`docs/spec/rpc.md`, "Messages").
//!
//! ```text
//!  0      1      2               6
//!  +------+------+---------------+------ ...
//!  | kind | info | number (u32)  | body
//!  +------+------+---------------+------ ...
//! ```
//!
//! Six bytes, so that a body of 64 bytes fits the part of a frame that needs no allocation.

use std::cmp::Ordering;
use std::time::Duration;

use super::{Violation, failure};

/// Bytes of the header.
pub(crate) const HEADER: usize = 6;
/// In the octet of the kind: metadata stands in front of the body.
const METADATA: u8 = 1 << 7;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Settings = 1,
    OneWay = 2,
    Request = 3,
    Open = 4,
    Reply = 5,
    Error = 6,
    Cancel = 7,
    Item = 8,
    End = 9,
    Credit = 10,
    GoAway = 11,
}

impl Kind {
    fn from_octet(octet: u8) -> Option<Self> {
        use Kind::{
            Cancel, Credit, End, Error, GoAway, Item, OneWay, Open, Reply, Request, Settings,
        };
        [
            Settings, OneWay, Request, Open, Reply, Error, Cancel, Item, End, Credit, GoAway,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == octet)
    }

    /// Whether the protocol sends it by itself, or what an application says is not in it.
    pub(super) fn is_control(octet: u8) -> bool {
        use Kind::{Cancel, Credit, End, Error, GoAway};
        [Cancel, Credit, End, Error, GoAway]
            .into_iter()
            .any(|kind| kind as u8 == octet)
    }

    /// Whether metadata may stand in front of the body.
    fn can_have_metadata(self) -> bool {
        matches!(self, Kind::OneWay | Kind::Request | Kind::Open)
    }

    /// Whether messages of this kind belong to a call.
    fn has_number(self) -> bool {
        !matches!(self, Kind::Settings | Kind::OneWay | Kind::GoAway)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) info: u8,
    pub(super) number: u32,
    pub(super) has_metadata: bool,
}

impl Header {
    pub(super) fn new(kind: Kind, info: u8, number: u32) -> Self {
        Header {
            kind,
            info,
            number,
            has_metadata: false,
        }
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let [a, b, c, d] = self.number.to_be_bytes();
        let metadata = if self.has_metadata { METADATA } else { 0 };
        [self.kind as u8 | metadata, self.info, a, b, c, d]
    }

    pub(super) fn parse(message: &[u8]) -> Result<Self, Violation> {
        let Some(&[kind, info, a, b, c, d]) = message.first_chunk::<HEADER>() else {
            return Err(Violation::Truncated);
        };
        let has_metadata = kind & METADATA != 0;
        let known = Kind::from_octet(kind & !METADATA);
        let kind = known
            .filter(|known| !has_metadata || known.can_have_metadata())
            .ok_or(Violation::UnknownKind(kind))?;
        let number = u32::from_be_bytes([a, b, c, d]);
        // CREDIT without a number is for one-way messages.
        if number != 0 && !kind.has_number()
            || number == 0 && kind.has_number() && kind != Kind::Credit
        {
            return Err(Violation::Number(number));
        }
        Ok(Header {
            kind,
            info,
            number,
            has_metadata,
        })
    }

    /// Whether a message of this kind can have a body of this size.
    pub(super) fn check_body(self, size: usize, max_body: u32) -> Result<(), Violation> {
        let max_body = max_body as usize;
        match self.kind {
            // These have a form of their own.
            Kind::Settings => Ok(()),
            Kind::OneWay | Kind::Request | Kind::Open | Kind::Reply | Kind::Item
                if size > max_body =>
            {
                Err(Violation::TooLarge)
            }
            Kind::OneWay | Kind::Request | Kind::Open | Kind::Reply | Kind::Item => Ok(()),
            Kind::Error if size > failure::FIXED + usize::from(u16::MAX) + max_body => {
                Err(Violation::TooLarge)
            }
            Kind::Error => Ok(()),
            Kind::Cancel | Kind::End | Kind::GoAway if size > 0 => Err(Violation::UnexpectedBody),
            Kind::Cancel | Kind::End | Kind::GoAway => Ok(()),
            Kind::Credit => {
                let expected = if self.number == 0 { 8 } else { 4 };
                match size.cmp(&expected) {
                    Ordering::Less => Err(Violation::Truncated),
                    Ordering::Equal => Ok(()),
                    Ordering::Greater => Err(Violation::UnexpectedBody),
                }
            }
        }
    }
}

/// A time limit in one octet: `(1 + m/8) * 2^e` ms with `e` in the upper five bits and `m` in the
/// lower three, rounded up; 0 stands for none. At most 12.5 % more than what was meant.
pub(super) fn encode_time(time: Option<Duration>) -> u8 {
    let Some(time) = time else { return 0 };
    // In eighths of a millisecond.
    let eighths = time.as_micros().div_ceil(125).max(9);
    for octet in 1..=u8::MAX {
        if eighths <= eighths_of(octet) {
            return octet;
        }
    }
    u8::MAX
}

pub(super) fn decode_time(octet: u8) -> Option<Duration> {
    (octet != 0).then(|| Duration::from_micros((eighths_of(octet) * 125) as u64))
}

fn eighths_of(octet: u8) -> u128 {
    u128::from(8 + (octet & 7)) << (octet >> 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_by_an_eighth_at_most() {
        assert_eq!(encode_time(None), 0);
        assert_eq!(decode_time(0), None);
        for micros in (0..40).flat_map(|bit| [1_u64 << bit, (1 << bit) + 1, (3 << bit) - 1]) {
            let time = Duration::from_micros(micros);
            let decoded = decode_time(encode_time(Some(time))).unwrap();
            assert!(decoded >= time, "{time:?} became {decoded:?}");
            let most = time.max(Duration::from_millis(1)).mul_f64(1.1251);
            assert!(
                decoded <= most + Duration::from_micros(125),
                "{time:?} became {decoded:?}"
            );
        }
        for octet in 1..=u8::MAX {
            assert_eq!(encode_time(decode_time(octet)), octet);
        }
    }

    #[test]
    fn headers_are_read_as_written_and_nothing_else_is() {
        let header = Header::new(Kind::Reply, 0, 77);
        assert_eq!(Header::parse(&header.to_bytes()), Ok(header));
        let mut header = Header::new(Kind::Open, 5, 77);
        header.has_metadata = true;
        assert_eq!(header.to_bytes()[0], 0x84);
        assert_eq!(Header::parse(&header.to_bytes()), Ok(header));
        for kind in (0x80..=0xff).filter(|kind| ![0x82, 0x83, 0x84].contains(kind)) {
            for number in [0, 1] {
                let parsed = Header::parse(&[kind, 0, 0, 0, 0, number]);
                assert_eq!(parsed, Err(Violation::UnknownKind(kind)));
            }
        }
        assert_eq!(Header::parse(&[1, 0, 0, 0, 0]), Err(Violation::Truncated));
        assert_eq!(Header::parse(&[0; 6]), Err(Violation::UnknownKind(0)));
        assert_eq!(
            Header::parse(&[3, 0, 0, 0, 0, 0]),
            Err(Violation::Number(0))
        );
        assert_eq!(
            Header::parse(&[2, 0, 0, 0, 0, 9]),
            Err(Violation::Number(9))
        );
    }
}
