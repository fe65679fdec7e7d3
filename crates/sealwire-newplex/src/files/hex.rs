//! Hexadecimal digits.

use std::string::String;
use zeroize::Zeroizing;

/// The bytes that exactly `2 * N` hexadecimal digits stand for.
#[must_use]
pub fn decode<const N: usize>(text: &str) -> Option<Zeroizing<[u8; N]>> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = Zeroizing::new([0; N]);
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    char::from(character)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

/// `bytes` in lower case, appended to `text`, which has room for them.
pub(super) fn encode(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}
