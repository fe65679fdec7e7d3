//! WebSocket framing as seen on the wire (RFC 6455): the head of an upgrade, then frames.

/// A whole binary message.
const BINARY: u8 = 0x82;
/// A mask of four bytes follows the length.
const MASKED: u8 = 0x80;
/// What clients mask with here, which is the example of RFC 6455, section 5.7.
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// The size of a head (`index` 0) or frame that begins like this, once that is known.
pub(crate) fn unit_size(index: usize, beginning: &[u8]) -> Option<usize> {
    if index == 0 {
        return beginning.ends_with(b"\r\n\r\n").then_some(beginning.len());
    }
    let (&[_, second], rest) = beginning.split_first_chunk()?;
    let (length, extra) = match second & !MASKED {
        126 => (u16::from_be_bytes(*rest.first_chunk()?).into(), 2),
        127 => (u64::from_be_bytes(*rest.first_chunk()?), 8),
        short => (short.into(), 0),
    };
    let mask = if second & MASKED == 0 { 0 } else { 4 };
    Some(2 + extra + mask + usize::try_from(length).expect("an honest sender"))
}

/// A frame that is a whole binary message.
#[must_use]
pub fn message(by_client: bool, payload: &[u8]) -> Vec<u8> {
    frame(BINARY, by_client, payload)
}

/// A frame that begins with this byte, masked where a client sends it: always in the same way, but not with zeros,
/// which would hide what is masked twice or not at all.
#[must_use]
pub fn frame(first: u8, by_client: bool, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    let masked = if by_client { MASKED } else { 0 };
    match payload.len() {
        short @ 0..=125 => frame.push(masked | short as u8),
        long @ 126..=0xffff => {
            frame.push(masked | 126);
            frame.extend((long as u16).to_be_bytes());
        }
        longer => {
            frame.push(masked | 127);
            frame.extend((longer as u64).to_be_bytes());
        }
    }
    if by_client {
        frame.extend(MASK);
        let masked = payload.iter().zip(MASK.into_iter().cycle());
        frame.extend(masked.map(|(byte, mask)| byte ^ mask));
    } else {
        frame.extend_from_slice(payload);
    }
    frame
}
