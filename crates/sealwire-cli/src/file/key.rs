//! The file of a symmetric key: one line, `sealwire-symmetric-key:` and 64 hexadecimal digits.
//!
//! The name in front of the digits keeps it apart from key pairs: neither kind is ever read as the
//! other.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use sealwire_aead::{Key, generate_key};
use sealwire_zmtp::keys::hex;
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::secrets;

const LABEL: &str = "sealwire-symmetric-key:";

/// Writes a fresh key, readable by its owner alone (mode 0600). An existing file is left alone.
pub(crate) fn generate(path: &Path) -> Result<(), Failure> {
    let key = generate_key().map_err(|error| Failure::new(Code::Failed, error.to_string()))?;
    let digits = Zeroizing::new(hex::encode(key.as_bytes()));
    let text = Zeroizing::new(format!(
        "#   Sealwire SYMMETRIC key: whoever has it can open and make sealed files.\n{LABEL}{}\n",
        digits.as_str()
    ));
    create_private(path, &text)
}

/// Writes a new file, readable by its owner alone (mode 0600): all of it, or none. An existing file
/// is left alone.
pub(crate) fn create_private(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    write_new(&options, path, text)
        .map_err(|error| failure(path, &format!("cannot be written: {error}")))
}

/// Writes a file that is not there yet: all of it, or none.
pub(crate) fn write_new(options: &OpenOptions, path: &Path, text: &str) -> io::Result<()> {
    let mut file = options.open(path)?;
    let written = file.write_all(text.as_bytes());
    written.and_then(|()| file.sync_all()).inspect_err(|_| {
        // A part of it would be in the way of the next attempt.
        let _ = fs::remove_file(path);
    })
}

/// Reads what [`generate`] wrote.
pub(super) fn read(path: &Path) -> Result<Key, Failure> {
    let text = secrets::read_text(path)?.ok_or_else(|| failure(path, NOT_A_KEY))?;
    parse(&text).map_err(|problem| failure(path, problem))
}

const NOT_A_KEY: &str =
    "not the file of a symmetric key: 'sealwire keygen --symmetric FILE' makes one";
const KEY_PAIR: &str = "this file is for connections (a key pair or one half of it), and sealing \
                        files takes a symmetric key: 'sealwire keygen --symmetric FILE' makes one";
const DIGITS: &str = "behind 'sealwire-symmetric-key:' there must be 64 hexadecimal digits";
const MORE: &str = "more than one line that is not a comment: a key file holds one key";

fn parse(text: &str) -> Result<Key, &'static str> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let line = lines.next().ok_or(NOT_A_KEY)?;
    let Some(digits) = line.strip_prefix(LABEL) else {
        let of_a_pair = ["curve", "metadata"].contains(&line) || [40, 64].contains(&line.len());
        return Err(if of_a_pair { KEY_PAIR } else { NOT_A_KEY });
    };
    if lines.next().is_some() {
        return Err(MORE);
    }
    let bytes = Zeroizing::new(hex::decode(digits).map_err(|_| DIGITS)?);
    Ok(Key::from_bytes(*bytes))
}

fn failure(path: &Path, problem: &str) -> Failure {
    Failure::new(Code::Failed, format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_labelled_key_and_nothing_else() {
        let digits = "0a".repeat(32);
        let key = parse(&format!("# comment\n\n  {LABEL}{digits}\n")).unwrap();
        assert_eq!(*key, [10; 32]);
        for (text, problem) in [
            (String::new(), NOT_A_KEY),
            ("hello".to_owned(), NOT_A_KEY),
            (digits.clone(), KEY_PAIR),
            ("curve\n    public-key = \"..\"".to_owned(), KEY_PAIR),
            (format!("{LABEL}{}", &digits[1..]), DIGITS),
            (format!("{LABEL}{}g", &digits[1..]), DIGITS),
            (format!("{LABEL}{digits}\n{LABEL}{digits}"), MORE),
        ] {
            assert_eq!(parse(&text).unwrap_err(), problem, "{text}");
        }
    }
}
