//! Files of keys and passwords: each is opened once, and its mode is that of the opened file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sealwire::keys::{Readers, read_secret_file};
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};

/// Largest file of public keys or certificates, in bytes.
const MAX_PUBLIC_SIZE: u64 = 16 << 20;

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
    let failed = |problem: &dyn std::fmt::Display| {
        Failure::new(
            Code::Failed,
            format!("cannot read {}: {problem}", path.display()),
        )
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_PUBLIC_SIZE + 1).read_to_end(&mut bytes))
        .map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_PUBLIC_SIZE {
        return Err(failed(&format_args!(
            "it has more than {MAX_PUBLIC_SIZE} bytes"
        )));
    }
    Ok(bytes)
}
