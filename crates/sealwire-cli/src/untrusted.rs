//! What others sent, where a terminal may show it: lines are always escaped, messages where they go to a
//! terminal. To files and pipes messages go as they are.

use std::io::{self, Write};

use sealwire::text::is_printable;
pub(crate) use sealwire::text::printable;
use serde::Serialize;

/// Writes bytes of a message. On a terminal, control characters other than tabs and line ends, and
/// bytes that are not UTF-8, are escaped.
pub(crate) fn write_message(
    out: &mut impl Write,
    bytes: &[u8],
    to_terminal: bool,
) -> io::Result<()> {
    if !to_terminal {
        return out.write_all(bytes);
    }
    for chunk in bytes.utf8_chunks() {
        // Lines and columns are harmless.
        for part in chunk.valid().split_inclusive(['\n', '\t']) {
            let text = part.trim_end_matches(['\n', '\t']);
            out.write_all(printable(text).as_bytes())?;
            out.write_all(&part.as_bytes()[text.len()..])?;
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

/// A record as a line of JSON that a terminal may show: what JSON itself lets through is escaped as
/// JSON does it, so that programs read the same.
pub(crate) fn json_line(record: &impl Serialize) -> serde_json::Result<String> {
    let line = serde_json::to_string(record)?;
    if line.chars().all(is_printable) {
        return Ok(line);
    }
    let mut escaped = String::with_capacity(line.len() + 16);
    for character in line.chars() {
        if is_printable(character) {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8], to_terminal: bool) -> Vec<u8> {
        let mut out = Vec::new();
        write_message(&mut out, bytes, to_terminal).unwrap();
        out
    }

    #[test]
    fn a_terminal_is_not_commanded_and_a_pipe_gets_every_byte() {
        let message = b"a\x1b]0;title\x07\tb\nc\xff\xc2\x9b\x7f\xe2\x80\xae.\n\n";
        assert_eq!(written(message, false), message);
        let shown = written(message, true);
        let expected = "a\\u{1b}]0;title\\u{7}\tb\nc\\xff\\u{9b}\\u{7f}\\u{202e}.\n\n";
        assert_eq!(String::from_utf8(shown).unwrap(), expected);
        // A carriage return would let one line show over another.
        assert_eq!(written(b"evil\rgood\n", true), b"evil\\rgood\n");
    }

    #[test]
    fn json_says_the_same_without_control_characters() {
        let text = "\u{1b}[2J\u{9b}\u{7f}\u{202e}\u{e0041}\u{fc}\n";
        let line = json_line(&text).unwrap();
        assert!(line.chars().all(is_printable), "{line}");
        assert!(line.contains('\u{fc}'));
        let read: String = serde_json::from_str(&line).unwrap();
        assert_eq!(read, text);
    }
}
