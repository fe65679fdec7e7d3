//! The header of a WebSocket frame (RFC 6455, section 5.2).

use bytes::{BufMut as _, BytesMut};

use super::{Role, WebSocketError};

pub(super) const CONTINUATION: u8 = 0x0;
pub(super) const TEXT: u8 = 0x1;
pub(super) const BINARY: u8 = 0x2;
pub(super) const CLOSE: u8 = 0x8;
pub(super) const PING: u8 = 0x9;
pub(super) const PONG: u8 = 0xa;

/// Status code: closed as it should be (section 7.4.1).
pub(super) const NORMAL: u16 = 1000;
/// Status code: the peer broke the protocol.
pub(super) const PROTOCOL_ERROR: u16 = 1002;

/// Longest payload of a control frame.
pub(super) const MAX_CONTROL: usize = 125;

const FIN: u8 = 0x80;
const MASKED: u8 = 0x80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) last: bool,
    pub(super) opcode: u8,
    pub(super) mask: Option<[u8; 4]>,
    pub(super) length: u64,
    /// Bytes of the header itself.
    pub(super) size: usize,
}

impl Header {
    /// Reads the header of a frame of the peer of `role`; `None` while it is incomplete.
    pub(super) fn parse(bytes: &[u8], role: Role) -> Result<Option<Header>, WebSocketError> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let (last, opcode) = (first & FIN != 0, first & 0x0f);
        if first & 0x70 != 0 || !matches!(opcode, CONTINUATION..=BINARY | CLOSE..=PONG) {
            return Err(WebSocketError::BadFrame);
        }
        let masked = second & MASKED != 0;
        if masked != (role == Role::Server) {
            return Err(WebSocketError::Masking);
        }
        let (length, extra) = match second & 0x7f {
            126 => match rest.first_chunk() {
                Some(bytes) => (u64::from(u16::from_be_bytes(*bytes)), 2),
                None => return Ok(None),
            },
            127 => match rest.first_chunk() {
                Some(bytes) => (u64::from_be_bytes(*bytes), 8),
                None => return Ok(None),
            },
            short => (u64::from(short), 0),
        };
        let shortest = match extra {
            0 => true,
            2 => length > 125,
            _ => length > 0xffff && length <= i64::MAX as u64,
        };
        let control = opcode >= CLOSE;
        if !shortest || control && (!last || length > MAX_CONTROL as u64) {
            return Err(WebSocketError::BadFrame);
        }
        let mask = match (masked, rest[extra..].first_chunk()) {
            (false, _) => None,
            (true, Some(mask)) => Some(*mask),
            (true, None) => return Ok(None),
        };
        let size = 2 + extra + if masked { 4 } else { 0 };
        Ok(Some(Header {
            last,
            opcode,
            mask,
            length,
            size,
        }))
    }

    /// Writes the header of a whole message.
    pub(super) fn write(opcode: u8, mask: Option<[u8; 4]>, length: usize, into: &mut BytesMut) {
        into.put_u8(FIN | opcode);
        let masked = if mask.is_some() { MASKED } else { 0 };
        match length {
            0..=125 => into.put_u8(masked | length as u8),
            126..=0xffff => {
                into.put_u8(masked | 126);
                into.put_u16(length as u16);
            }
            _ => {
                into.put_u8(masked | 127);
                into.put_u64(length as u64);
            }
        }
        if let Some(mask) = mask {
            into.put_slice(&mask);
        }
    }
}

/// Masks or unmasks bytes that begin at `position` of a payload (section 5.3).
pub(super) fn apply_mask(bytes: &mut [u8], mask: [u8; 4], position: u64) {
    let mut turned = mask;
    turned.rotate_left((position % 4) as usize);
    let [a, b, c, d] = turned;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(turned.into_iter().cycle()) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        for length in [0, 1, 125, 126, 127, 0xffff, 0x1_0000, 1 << 33] {
            for (role, mask) in [(Role::Client, None), (Role::Server, Some([1, 2, 3, 4]))] {
                let mut bytes = BytesMut::new();
                Header::write(BINARY, mask, length, &mut bytes);
                for end in 0..bytes.len() {
                    assert_eq!(Header::parse(&bytes[..end], role), Ok(None));
                }
                let header = Header::parse(&bytes, role).unwrap().unwrap();
                assert_eq!((header.length, header.mask), (length as u64, mask));
                assert_eq!((header.size, header.last), (bytes.len(), true));
            }
        }
    }

    #[test]
    fn what_the_rfc_forbids_is_refused() {
        use WebSocketError::{BadFrame, Masking};
        for (bytes, error) in [
            (&[0xc2, 0][..], BadFrame),       // a reserved bit
            (&[0x83, 0], BadFrame),           // an unknown opcode
            (&[0x8b, 0], BadFrame),           // an unknown control frame
            (&[0x09, 0], BadFrame),           // a PING in pieces
            (&[0x89, 126, 0, 126], BadFrame), // a PING of 126 bytes
            (&[0x82, 126, 0, 125], BadFrame), // a length in a longer form than needed
            (&[0x82, 127, 0, 0, 0, 0, 0, 0, 255, 255], BadFrame),
            (&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], BadFrame),
            (&[0x82, 0x80], Masking),
        ] {
            assert_eq!(Header::parse(bytes, Role::Client), Err(error), "{bytes:x?}");
        }
        assert_eq!(Header::parse(&[0x82, 0], Role::Server), Err(Masking));
    }

    #[test]
    fn a_mask_goes_on_where_it_stopped() {
        let mask = [1, 2, 3, 4];
        let plain: Vec<u8> = (0..50).collect();
        let mut whole = plain.clone();
        apply_mask(&mut whole, mask, 0);
        let expected: Vec<u8> = plain
            .iter()
            .zip(mask.iter().cycle())
            .map(|(a, b)| a ^ b)
            .collect();
        assert_eq!(whole, expected);
        for cut in 0..50 {
            let mut pieces = plain.clone();
            let (front, back) = pieces.split_at_mut(cut);
            apply_mask(front, mask, 0);
            apply_mask(back, mask, cut as u64);
            assert_eq!(pieces, whole, "{cut}");
        }
    }
}
