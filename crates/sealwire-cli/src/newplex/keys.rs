//! Key files: [`files`] has the format, and here they are opened and made.

use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::path::Path;

use sealwire_newplex::files::{self, InvalidFile, Kind, SYMMETRIC_KEY_SIZE};
pub(crate) use sealwire_newplex::schemes::keys::PublicKey;
use sealwire_newplex::schemes::keys::SecretKey;
use zeroize::Zeroizing;

use super::failed;
use crate::exit::Failure;
use crate::file::key::{create_private, write_new};
use crate::secret_source::SecretSource;
use crate::secrets;

/// Larger files of one public value are none: the largest is that of a group of 255 signers.
const MAX_FILE_SIZE: u64 = 32 << 10;

/// Fills `N` bytes from the operating system's generator.
pub(super) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, Failure> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| {
        failed(format!(
            "the operating system's random generator failed: {error}"
        ))
    })?;
    Ok(bytes)
}

/// Writes a fresh symmetric key.
pub(super) fn generate_symmetric(path: &Path) -> Result<(), Failure> {
    write_symmetric(path, &*random()?)
}

/// Writes a new file of a symmetric key.
pub(super) fn write_symmetric(path: &Path, key: &[u8; SYMMETRIC_KEY_SIZE]) -> Result<(), Failure> {
    let line = Kind::SymmetricKey.line(key);
    let text = Zeroizing::new(format!(
        "#   Newplex SYMMETRIC key: anyone who has it can make and open what is made with it.\n{}\n",
        line.as_str()
    ));
    create_private(path, &text)
}

/// Writes a fresh key pair: both files or none.
pub(super) fn generate_pair(public_path: &Path, secret_path: &Path) -> Result<PublicKey, Failure> {
    let secret = SecretKey::generate().map_err(|error| failed(error.to_string()))?;
    let public = *secret.public_key();
    let line = Kind::SecretKey.line(&*secret.to_bytes());
    let text = Zeroizing::new(format!(
        "#   Newplex SECRET key: anyone who has it can sign in your name and read what is sealed to you.\n{}\n",
        line.as_str()
    ));
    create_private(secret_path, &text)?;
    let line = Kind::PublicKey.line(public.as_bytes());
    let text = format!("#   Newplex public key\n{}\n", line.as_str());
    let written = write_public(public_path, &text);
    if written.is_err() {
        // A secret key whose public half was never told to anyone is of no use.
        let _ = fs::remove_file(secret_path);
    }
    written.map(|()| public)
}

/// Writes a new file that others may read.
pub(super) fn write_public(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    write_new(options.write(true).create_new(true), path, text)
        .map_err(|error| at(path, &format!("cannot be written: {error}")))
}

/// Fails if there is such a file, before anything is used up whose result it could not take.
pub(super) fn check_new(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => Err(at(path, "exists, and keys are never replaced")),
        Err(_) => Ok(()),
    }
}

pub(super) fn read_symmetric(path: &Path) -> Result<Zeroizing<[u8; SYMMETRIC_KEY_SIZE]>, Failure> {
    let text = secrets::read_text(path)?.unwrap_or_default();
    files::parse_symmetric_key(&text).map_err(|problem| invalid(path, problem))
}

pub(crate) fn read_secret(path: &Path) -> Result<SecretKey, Failure> {
    secret_of(SecretSource::File(path))
}

pub(crate) fn secret_of(source: SecretSource<'_>) -> Result<SecretKey, Failure> {
    let text = source.text()?;
    let invalid = |problem: InvalidFile| failed(format!("{}: {problem}", source.name()));
    files::parse_secret_key(&text).map_err(invalid)
}

pub(super) fn read_public(path: &Path) -> Result<PublicKey, Failure> {
    let text = read_public_text(path)?;
    files::parse_public_key(&text).map_err(|problem| invalid(path, problem))
}

/// A public key in 64 hexadecimal digits.
pub(crate) fn parse_public(digits: &str) -> Option<PublicKey> {
    let bytes = files::decode_hex::<32>(digits)?;
    PublicKey::from_bytes(&*bytes).ok()
}

/// A public key in 64 hexadecimal digits, or that of a file.
pub(crate) fn read_public_or_digits(text: &str) -> Result<PublicKey, Failure> {
    match parse_public(text) {
        Some(key) => Ok(key),
        None => read_public(Path::new(text)),
    }
}

/// Public keys, one a line.
pub(crate) fn read_public_list(path: &Path) -> Result<Vec<PublicKey>, Failure> {
    let text = String::from_utf8(secrets::read_public(path)?)
        .map_err(|_| at(path, "not a list of keys"))?;
    files::parse_public_keys(&text).map_err(|problem| invalid(path, problem))
}

/// The beginning of a file that others may read.
pub(super) fn read_public_text(path: &Path) -> Result<String, Failure> {
    let cannot = |error| at(path, &format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(cannot)?
        .take(MAX_FILE_SIZE)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// The failure for a file whose text is invalid.
pub(super) fn invalid(path: &Path, problem: InvalidFile) -> Failure {
    at(path, &problem.to_string())
}

/// The failure for a file, with the problem.
pub(crate) fn at(path: &Path, problem: &str) -> Failure {
    if path == Path::new("-") {
        return failed(format!("standard input: {problem}"));
    }
    failed(format!("{}: {problem}", path.display()))
}
