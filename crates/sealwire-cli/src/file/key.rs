//! Files of symmetric keys, and other new files that are written whole or not at all.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use sealwire_file::{InvalidKey, Key, generate_key, key_line, parse_key};
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::secrets;

/// Writes a fresh key, readable by its owner alone (mode 0600). An existing file is left alone.
pub(crate) fn generate(path: &Path) -> Result<(), Failure> {
    let key = generate_key().map_err(|error| Failure::new(Code::Failed, error.to_string()))?;
    let text = Zeroizing::new(format!(
        "#   Sealwire SYMMETRIC key: anyone who has it can open and make sealed files.\n{}\n",
        key_line(&key).as_str()
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
        .map_err(|error| failure(path, format_args!("cannot be written: {error}")))
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
    let text = secrets::read_text(path)?.ok_or_else(|| failure(path, InvalidKey::NotAKey))?;
    parse_key(&text).map_err(|problem| failure(path, problem))
}

fn failure(path: &Path, problem: impl Display) -> Failure {
    Failure::new(Code::Failed, format!("{}: {problem}", path.display()))
}
