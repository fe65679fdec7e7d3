//! Files of keys and passwords: each is opened once, and its mode is that of the opened file.

use std::path::Path;

use sealwire::keys::{Readers, read_public_file, read_secret_file};
use zeroize::Zeroizing;

use crate::exit::Failure;

/// The content of a file that only its owner may read; `None` if it is not text.
pub(crate) fn read_text(path: &Path) -> Result<Option<Zeroizing<String>>, Failure> {
    let bytes = read_secret_file(path, Readers::Owner)?;
    Ok(std::str::from_utf8(&bytes)
        .ok()
        .map(|text| Zeroizing::new(text.to_owned())))
}

/// The content of a TLS key, which a group may read.
pub(crate) fn read_tls_key(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    Ok(read_secret_file(path, Readers::OwnerAndGroup)?)
}

/// The content of a file that everybody may read.
pub(crate) fn read_public(path: &Path) -> Result<Vec<u8>, Failure> {
    Ok(read_public_file(path)?)
}
