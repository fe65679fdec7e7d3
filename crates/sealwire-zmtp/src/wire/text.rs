//! A peer's bytes as text that is safe to print.

use alloc::format;
use alloc::string::String;

/// Printable ASCII as it is, the backslash doubled, every other byte as `\xNN`.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str(r"\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_printable_ascii_comes_through() {
        assert_eq!(
            escape(b"the receiver's \"limit\""),
            "the receiver's \"limit\""
        );
        assert_eq!(escape(b"\x1b[2J\n\\\xff"), r"\x1b[2J\x0a\\\xff");
    }
}
