//! How a stream of bytes is cut into units.

use std::io::{self, BufRead, Read as _};

use crate::{websocket, zmtp};

/// What the units of a stream are, as far as anyone can see who has no key.
#[derive(Debug, Clone)]
pub enum Format {
    /// ZMTP: a greeting of 64 bytes, then frames and commands.
    Zmtp,
    /// WebSocket: the head of an HTTP request or response, then frames (RFC 6455).
    WebSocket,
    /// TLS: records (RFC 8446, section 5.1).
    Tls,
    /// Units of known sizes: those of `first`, then all of the size `then`. The last one may be shorter.
    Sized {
        /// Sizes of the first units, in bytes, none of which is 0.
        first: Vec<usize>,
        /// Size of each unit behind them, in bytes, which is not 0.
        then: usize,
    },
    /// The bytes that arrive at once: a unit does not mean anything.
    Pieces,
}

/// Bytes of the header of a TLS record, which ends with its length.
const TLS_HEADER_SIZE: usize = 5;

impl Format {
    /// Reads unit `index`, every byte of it. At the end of the stream the unit may be incomplete, and after that
    /// there is none.
    ///
    /// # Errors
    ///
    /// What the stream says.
    pub fn read_unit(
        &self,
        stream: &mut impl BufRead,
        index: usize,
    ) -> io::Result<Option<Vec<u8>>> {
        let mut unit = Vec::new();
        if let Format::Pieces = self {
            unit.extend_from_slice(stream.fill_buf()?);
            stream.consume(unit.len());
        } else {
            loop {
                // Where the size is not known yet, the next byte is part of what tells it.
                let size = self.unit_size(index, &unit).unwrap_or(unit.len() + 1);
                let missing = size - unit.len();
                let read = stream.take(missing as u64).read_to_end(&mut unit)?;
                if missing == 0 || read < missing {
                    break;
                }
            }
        }
        Ok(Some(unit).filter(|unit| !unit.is_empty()))
    }

    /// The size in bytes of the unit that begins like this, once that is known.
    fn unit_size(&self, index: usize, beginning: &[u8]) -> Option<usize> {
        match self {
            Format::Zmtp => zmtp::unit_size(index, beginning),
            Format::WebSocket => websocket::unit_size(index, beginning),
            Format::Tls => {
                let header = beginning.first_chunk::<TLS_HEADER_SIZE>()?;
                let length = u16::from_be_bytes([header[3], header[4]]);
                Some(TLS_HEADER_SIZE + usize::from(length))
            }
            Format::Sized { first, then } => Some(*first.get(index).unwrap_or(then)),
            Format::Pieces => None,
        }
    }

    /// A unit that looks as if `payload` were protected, and is not: the attacker has no key.
    ///
    /// # Panics
    ///
    /// If the payload does not fit in a record of TLS.
    #[must_use]
    pub fn forge(&self, by_client: bool, payload: &[u8]) -> Vec<u8> {
        match self {
            Format::Zmtp => zmtp::frame(0, payload),
            // The message begins with the flags of ZMTP.
            Format::WebSocket => websocket::message(by_client, &[&[0], payload].concat()),
            Format::Tls => {
                // Application data of TLS 1.2, as every sealed record calls itself.
                let length = u16::try_from(payload.len()).expect("a short payload");
                [&[0x17, 3, 3][..], &length.to_be_bytes(), payload].concat()
            }
            Format::Sized { .. } | Format::Pieces => payload.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(format: &Format, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        (0..)
            .map_while(|index| format.read_unit(&mut bytes, index).expect("memory"))
            .collect()
    }

    #[test]
    fn every_format_finds_its_units_and_an_incomplete_one_behind_them() {
        let sized = Format::Sized {
            first: vec![3, 1],
            then: 4,
        };
        let zmtp = [
            vec![7; 64],
            zmtp::frame(0, b"short"),
            zmtp::frame(4, &[1; 300]),
        ];
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
        let websocket = [
            head,
            websocket::message(true, b"short"),
            websocket::message(false, &[2; 300]),
            websocket::message(true, &[3; 70_000]),
        ];
        let tls = [
            Format::Tls.forge(true, b"record"),
            Format::Tls.forge(false, &[4; 400]),
        ];
        let pieces = [b"all that there is".to_vec()];
        let chunks = [&b"abc"[..], b"d", b"efgh", b"ijkl"].map(<[u8]>::to_vec);
        for (format, expected) in [
            (Format::Zmtp, &zmtp[..]),
            (Format::WebSocket, &websocket),
            (Format::Tls, &tls),
            (Format::Pieces, &pieces),
            (sized, &chunks),
        ] {
            let whole = expected.concat();
            assert_eq!(units(&format, &whole), expected, "{format:?}");
            let cut = units(&format, &whole[..whole.len() - 1]);
            let (last, before) = expected.split_last().expect("units");
            assert_eq!(cut[..cut.len() - 1], *before, "{format:?}");
            assert_eq!(cut[cut.len() - 1], last[..last.len() - 1], "{format:?}");
        }
    }
}
