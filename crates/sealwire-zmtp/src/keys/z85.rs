//! Z85, ZeroMQ's text form for keys (RFC 32), for exactly 32 bytes.
//!
//! Every 4 bytes, as one big-endian number, become 5 digits of base 85: 32 bytes are 40 characters.

use alloc::string::String;

use super::KeyError;

/// Characters in the text form of 32 bytes.
pub const TEXT_SIZE: usize = 40;

const DIGITS: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Writes 32 bytes as 40 characters.
pub fn encode(bytes: &[u8; 32]) -> String {
    let mut text = String::with_capacity(TEXT_SIZE);
    for word in bytes.chunks_exact(4) {
        let value = word
            .iter()
            .fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
        for power in [85_u32.pow(4), 85_u32.pow(3), 85_u32.pow(2), 85, 1] {
            text.push(char::from(DIGITS[(value / power % 85) as usize]));
        }
    }
    text
}

/// Reads 40 characters as 32 bytes.
///
/// # Errors
///
/// [`KeyError::Length`] unless the text has 40 characters, [`KeyError::Character`] for a character
/// outside the alphabet or a group of five beyond 2^32 - 1.
pub fn decode(text: &str) -> Result<[u8; 32], KeyError> {
    if text.len() != TEXT_SIZE {
        return Err(KeyError::Length {
            characters: text.chars().count(),
        });
    }
    let mut bytes = [0; 32];
    for (group, (digits, word)) in text
        .as_bytes()
        .chunks_exact(5)
        .zip(bytes.chunks_exact_mut(4))
        .enumerate()
    {
        let mut value = 0_u64;
        for (place, digit) in digits.iter().enumerate() {
            let digit =
                DIGITS
                    .iter()
                    .position(|known| known == digit)
                    .ok_or(KeyError::Character {
                        position: group * 5 + place,
                    })?;
            value = value * 85 + digit as u64;
        }
        let value = u32::try_from(value).map_err(|_| KeyError::Character {
            position: group * 5,
        })?;
        word.copy_from_slice(&value.to_be_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The server's public key of RFC 26 (CurveZMQ), in both forms.
    const BYTES: [u8; 32] = [
        0xBB, 0x88, 0x47, 0x1D, 0x65, 0xE2, 0x65, 0x9B, 0x30, 0xC5, 0x5A, 0x53, 0x21, 0xCE, 0xBB,
        0x5A, 0xAB, 0x2B, 0x70, 0xA3, 0x98, 0x64, 0x5C, 0x26, 0xDC, 0xA2, 0xB2, 0xFC, 0xB4, 0x3F,
        0xC5, 0x18,
    ];
    const TEXT: &str = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";

    #[test]
    fn agrees_with_the_published_pair() {
        assert_eq!(encode(&BYTES), TEXT);
        assert_eq!(decode(TEXT), Ok(BYTES));
    }

    #[test]
    fn refuses_what_is_not_z85_of_32_bytes() {
        assert_eq!(decode(&TEXT[1..]), Err(KeyError::Length { characters: 39 }));
        assert_eq!(
            decode(&TEXT.replacen('@', "~", 1)),
            Err(KeyError::Character { position: 3 })
        );
        let overflow = "#####00000000000000000000000000000000000";
        assert_eq!(decode(overflow), Err(KeyError::Character { position: 0 }));
        assert!(matches!(
            decode("ééééééééééééééééééééé"),
            Err(KeyError::Length { .. })
        ));
        assert!(matches!(
            decode("éééééééééééééééééééé"),
            Err(KeyError::Character { .. })
        ));
    }
}
