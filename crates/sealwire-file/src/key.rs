//! The text of a key file: one line, `sealwire-symmetric-key:` and 64 hexadecimal digits.
//!
//! The label keeps it apart from key pairs: neither kind is ever read as the other.

use sealwire_aead::{KEY_SIZE, Key};
use zeroize::Zeroizing;

use crate::InvalidKey;

/// The label in front of the digits.
const KEY_LABEL: &str = "sealwire-symmetric-key:";

/// Reads the text of a key file. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
///
/// [`InvalidKey`].
pub fn parse_key(text: &str) -> Result<Key, InvalidKey> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let line = lines.next().ok_or(InvalidKey::NotAKey)?;
    let Some(digits) = line.strip_prefix(KEY_LABEL) else {
        let of_a_pair = ["curve", "metadata"].contains(&line) || [40, 64].contains(&line.len());
        return Err(if of_a_pair {
            InvalidKey::KeyPair
        } else {
            InvalidKey::NotAKey
        });
    };
    if lines.next().is_some() {
        return Err(InvalidKey::SeveralLines);
    }
    let bytes = decode(digits).ok_or(InvalidKey::Digits)?;
    Ok(Key::from_bytes(*bytes))
}

/// The line of a key, without a line break, for a file that only its owner may read.
#[must_use]
pub fn key_line(key: &Key) -> Zeroizing<String> {
    // All at once: growing would leave digits behind.
    let mut line = Zeroizing::new(String::with_capacity(KEY_LABEL.len() + 2 * KEY_SIZE));
    line.push_str(KEY_LABEL);
    for byte in key.as_bytes() {
        for digit in [byte >> 4, byte & 15] {
            line.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    line
}

/// Exactly 64 hexadecimal digits of either case.
fn decode(digits: &str) -> Option<Zeroizing<[u8; KEY_SIZE]>> {
    if digits.len() != 2 * KEY_SIZE {
        return None;
    }
    let mut bytes = Zeroizing::new([0; KEY_SIZE]);
    for (position, digit) in digits.bytes().enumerate() {
        let value = char::from(digit).to_digit(16)?;
        let byte = &mut bytes[position / 2];
        *byte = *byte << 4 | value as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_labelled_key_and_nothing_else() {
        let digits = "0a".repeat(32);
        let key = parse_key(&format!("# comment\n\n  {KEY_LABEL}{digits}\n")).expect("a key");
        assert_eq!(*key, [10; 32]);
        for (text, problem) in [
            (String::new(), InvalidKey::NotAKey),
            ("hello".to_owned(), InvalidKey::NotAKey),
            (digits.clone(), InvalidKey::KeyPair),
            (
                "curve\n    public-key = \"..\"".to_owned(),
                InvalidKey::KeyPair,
            ),
            (format!("{KEY_LABEL}{}", &digits[1..]), InvalidKey::Digits),
            (format!("{KEY_LABEL}{}g", &digits[1..]), InvalidKey::Digits),
            (format!("{KEY_LABEL}{}é", &digits[2..]), InvalidKey::Digits),
            (
                format!("{KEY_LABEL}{digits}\n{KEY_LABEL}{digits}"),
                InvalidKey::SeveralLines,
            ),
        ] {
            assert_eq!(parse_key(&text).err(), Some(problem), "{text}");
        }
    }

    #[test]
    fn a_line_is_read_back() {
        let key = Key::from_bytes(std::array::from_fn(|i| (i * 9) as u8));
        let line = key_line(&key);
        assert!(line.starts_with("sealwire-symmetric-key:0009121b"));
        assert_eq!(parse_key(&line).as_deref(), Ok(&*key));
        let upper = line[KEY_LABEL.len()..].to_uppercase();
        assert_eq!(
            parse_key(&format!("{KEY_LABEL}{upper}")).as_deref(),
            Ok(&*key)
        );
    }
}
