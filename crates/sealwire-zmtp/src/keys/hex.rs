//! Hexadecimal text for exactly 32 bytes: 64 characters, written in lower case, read in any case.

use alloc::string::String;

use super::KeyError;

/// Characters in the text form of 32 bytes.
pub const TEXT_SIZE: usize = 64;

/// Writes 32 bytes as 64 characters.
pub fn encode(bytes: &[u8; 32]) -> String {
    let mut text = String::with_capacity(TEXT_SIZE);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

/// Reads 64 characters as 32 bytes.
///
/// # Errors
///
/// [`KeyError::Length`] unless the text has 64 characters, [`KeyError::Character`] for one that is
/// not a hexadecimal digit.
pub fn decode(text: &str) -> Result<[u8; 32], KeyError> {
    if text.len() != TEXT_SIZE {
        return Err(KeyError::Length {
            characters: text.chars().count(),
        });
    }
    let mut bytes = [0; 32];
    for (position, digit) in text.bytes().enumerate() {
        let value = char::from(digit)
            .to_digit(16)
            .ok_or(KeyError::Character { position })?;
        let byte = &mut bytes[position / 2];
        *byte = *byte << 4 | value as u8;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_in_both_cases() {
        let bytes = core::array::from_fn(|i| (i * 9) as u8);
        let text = encode(&bytes);
        assert_eq!(decode(&text), Ok(bytes));
        assert_eq!(decode(&text.to_uppercase()), Ok(bytes));
        assert!(text.starts_with("0009121b"));
    }

    #[test]
    fn refuses_other_text() {
        assert_eq!(decode("00"), Err(KeyError::Length { characters: 2 }));
        let text = encode(&[0; 32]).replacen('0', "g", 1);
        assert_eq!(decode(&text), Err(KeyError::Character { position: 0 }));
    }
}
