//! Makes text from peers safe to show. Names, reasons and messages that a peer chose can hold
//! commands for a terminal, or characters that make it show another text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns whether a terminal shows this character and does nothing else: `false` for control
/// characters (C0, DEL, C1), line and paragraph separators, and those that turn the direction of
/// the text around them.
pub fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns the text on one line, with what is not [printable](is_printable) escaped as in Rust:
/// `\n`, `\u{1b}`. Backslashes stay as they are, so this is for reading and not for parsing.
///
/// ```
/// use sealwire::text::printable;
///
/// assert_eq!(printable("über"), "über");
/// assert_eq!(printable("\u{1b}[2Jx\n"), r"\u{1b}[2Jx\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => escaped.extend(character.escape_default()),
            character if is_printable(character) => escaped.push(character),
            character => {
                write!(escaped, "{}", character.escape_unicode()).expect("strings grow");
            }
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_commands_a_terminal() {
        for character in (0..=char::MAX as u32).filter_map(char::from_u32) {
            let escaped = printable(&character.to_string()).into_owned();
            assert!(escaped.chars().all(is_printable), "{escaped}");
            let code = character as u32;
            if code < 0x20 || (0x7f..0xa0).contains(&code) {
                assert!(escaped.starts_with('\\'), "{code:x}");
            }
        }
        for bidi in
            "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}".chars()
        {
            assert!(!is_printable(bidi));
        }
    }

    #[test]
    fn what_people_read_stays() {
        for text in ["", "plain", "über, 日本語, עברית", "\\ \" '", "😀"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(
            printable("a\tb\r\nc\u{9b}\u{202e}d\u{7f}"),
            r"a\tb\r\nc\u{9b}\u{202e}d\u{7f}"
        );
    }
}
