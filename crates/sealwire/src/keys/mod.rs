//! Key pairs on disk: generation, seeds, files, and CZMQ certificates.
//!
//! A public key is 32 bytes, written in Z85 (40 characters, ZeroMQ's convention) or hex. Files have
//! the layout of CZMQ certificates, so that other ZeroMQ tools read them. A bare key on a line of
//! its own is read as well.

mod certificate;
mod reading;
mod seed;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sealwire_zmtp::limits::MAX_CREDENTIAL;
use sealwire_zmtp::{KeyPair, PublicKey, SecretKey};
use zeroize::Zeroizing;

use certificate::Certificate;
pub(crate) use reading::{MAX_FILE_SIZE, check_mode, read_bounded, read_opened_secret};
pub use reading::{Readers, open_regular, read_public_file, read_secret_file};
pub use seed::key_pair_from_seed;

/// A key file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// Reading failed.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing failed; existing files are never overwritten.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others than those who should may read or change a secret, or everybody may change a public key or a list.
    #[error("{} may be {} by others (mode {mode:03o}): {}", .path.display(), reading::exposed_to(*.mode, *.readers), reading::advice(*.mode, *.readers))]
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// The users that may read it.
        readers: Readers,
    },
    /// No key where one should be.
    #[error("{}, line {line}: expected a key of 40 (Z85) or 64 (hex) characters", .path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The file has no key of the wanted kind.
    #[error("{} holds no {wanted} key: give the file that has it", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// `public` or `secret`.
        wanted: &'static str,
    },
    /// The file has more than one line where its key should be, and nothing says which of them counts.
    #[error("{}, line {line}: more than one line for the {wanted} key: leave one", .path.display())]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// That of the second one, counted from 1.
        line: usize,
        /// `public` or `secret`.
        wanted: &'static str,
    },
    /// The two halves of a certificate do not belong together.
    #[error("{}: public and secret key do not belong together: make the certificate again", .path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
    },
    /// Not text.
    #[error("{} is not a key file: it is not text", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A line of a file of passwords is not understood.
    #[error("{}, line {line}: expected a username and a password of at most {MAX_CREDENTIAL} bytes each", .path.display())]
    NotAPassword {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// More files than a list of keys may have.
    #[error("{} is not a list of keys: it has more than {limit} files", .path.display())]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// Files that are read.
        limit: usize,
    },
    /// Larger than any file of keys.
    #[error("{} is not a key file: it has more than {limit} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the largest file that is read, in bytes.
        limit: u64,
    },
}

impl KeyFileError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        KeyFileError::Read {
            path: path.into(),
            source,
        }
    }
}

/// Makes key pairs from the randomness of the operating system.
pub trait Generate: Sized {
    /// A fresh key pair.
    ///
    /// # Panics
    ///
    /// When the operating system has no randomness to give; there is no safe way on from there.
    fn generate() -> Self;
}

impl Generate for KeyPair {
    fn generate() -> Self {
        let mut secret = Zeroizing::new([0; 32]);
        crate::entropy::fill(&mut secret[..]);
        KeyPair::from_secret(SecretKey::from_bytes(*secret))
    }
}

/// Writes `<stem>.pub` and `<stem>.key`, the latter readable by its owner alone (mode 0600), and
/// returns both paths. Existing files are left alone.
///
/// # Errors
///
/// [`KeyFileError::Write`], also when one of the files exists.
pub fn write_key_pair(
    stem: impl AsRef<Path>,
    keys: &KeyPair,
) -> Result<(PathBuf, PathBuf), KeyFileError> {
    write_pair(stem.as_ref(), [".pub", ".key"], keys)
}

/// Writes the two files of a CZMQ certificate: `<stem>.key` with the public key, and
/// `<stem>.key_secret` with both, readable by its owner alone (mode 0600). Returns both paths.
/// Existing files are left alone.
///
/// **Mind the names:** what CZMQ and pyzmq call `.key` is public, while
/// [`write_key_pair`]'s `.key` is the secret.
///
/// # Errors
///
/// [`KeyFileError::Write`], also when one of the files exists.
pub fn write_czmq_certificate(
    stem: impl AsRef<Path>,
    keys: &KeyPair,
) -> Result<(PathBuf, PathBuf), KeyFileError> {
    write_pair(stem.as_ref(), [".key", ".key_secret"], keys)
}

fn write_pair(
    stem: &Path,
    extensions: [&str; 2],
    keys: &KeyPair,
) -> Result<(PathBuf, PathBuf), KeyFileError> {
    let [public, secret] = extensions.map(|extension| {
        let mut name = stem.as_os_str().to_os_string();
        name.push(extension);
        PathBuf::from(name)
    });
    write_new(&secret, 0o600, certificate::secret_text(keys).as_bytes())?;
    if let Err(error) = write_new(&public, 0o644, certificate::public_text(keys).as_bytes()) {
        // Half a key pair would be in the way of the next attempt.
        let _ = fs::remove_file(&secret);
        return Err(error);
    }
    Ok((public, secret))
}

/// Reads a key pair from a secret key file: a CZMQ certificate or a bare secret key.
///
/// # Errors
///
/// [`KeyFileError`]; among them [`Missing`](KeyFileError::Missing) for the certificate of a public key, whatever
/// its mode, and [`Permissions`](KeyFileError::Permissions) when others than the owner may read or change the
/// file.
pub fn read_key_pair(path: impl AsRef<Path>) -> Result<KeyPair, KeyFileError> {
    let path = path.as_ref();
    let file = fs::File::open(path).map_err(|source| KeyFileError::read(path, source))?;
    let private = reading::check_permissions(&file, path, Readers::Owner);
    let text = text_of(path, read_bounded(file, path, MAX_FILE_SIZE)?)?;
    // Before its mode, which would have somebody take a public key for a secret that leaked.
    if let Some(Certificate { secret: None, .. }) = Certificate::parse(&text) {
        return key_pair_in(path, &text);
    }
    private?;
    key_pair_in(path, &text)
}

/// Reads a key pair from text that is not in a file, as that of a secret key file: a CZMQ certificate or a bare secret key.
/// Errors name `origin` as the path.
///
/// # Errors
///
/// [`KeyFileError::Missing`], [`KeyFileError::NotAKey`], [`KeyFileError::Ambiguous`], [`KeyFileError::Mismatch`].
pub fn parse_key_pair(origin: impl AsRef<Path>, text: &str) -> Result<KeyPair, KeyFileError> {
    key_pair_in(origin.as_ref(), text)
}

/// The keys in the text of that file.
fn key_pair_in(path: &Path, text: &str) -> Result<KeyPair, KeyFileError> {
    let missing = || KeyFileError::Missing {
        path: path.into(),
        wanted: "secret",
    };
    if let Some(certificate) = certificate_in(path, text)? {
        return pair_of(path, &certificate)?.ok_or_else(missing);
    }
    bare_key(path, text, "secret").map(KeyPair::from_secret)
}

/// Reads a public key from a file: a CZMQ certificate or a bare key.
///
/// # Errors
///
/// [`KeyFileError`]; among them [`Mismatch`](KeyFileError::Mismatch) for a certificate whose
/// public key does not belong to its secret key.
pub fn read_public_key(path: impl AsRef<Path>) -> Result<PublicKey, KeyFileError> {
    let path = path.as_ref();
    public_key_in(path, &read_text(path)?)
}

/// The key in the text of that file.
pub(crate) fn public_key_in(path: &Path, text: &str) -> Result<PublicKey, KeyFileError> {
    let missing = || KeyFileError::Missing {
        path: path.into(),
        wanted: "public",
    };
    if let Some(certificate) = certificate_in(path, text)? {
        let public = certificate.public.as_ref().ok_or_else(missing)?;
        pair_of(path, &certificate)?;
        return parse_key(path, public.line, public.text);
    }
    bare_key(path, text, "public")
}

/// The public half of a CZMQ certificate, whose name is that of secret keys elsewhere. `None` for
/// whatever is, or may be, a secret: a certificate that holds one, and a bare key.
pub(crate) fn public_certificate_in(
    path: &Path,
    text: &str,
) -> Result<Option<PublicKey>, KeyFileError> {
    match Certificate::parse(text) {
        Some(Certificate { secret: None, .. }) => public_key_in(path, text).map(Some),
        _ => Ok(None),
    }
}

/// The keys of a certificate that holds the secret; both halves belong together.
fn pair_of(path: &Path, certificate: &Certificate<'_>) -> Result<Option<KeyPair>, KeyFileError> {
    let Some(secret) = &certificate.secret else {
        return Ok(None);
    };
    let keys = KeyPair::from_secret(parse_key(path, secret.line, secret.text)?);
    if let Some(public) = &certificate.public
        && parse_key::<PublicKey>(path, public.line, public.text)? != keys.public()
    {
        return Err(KeyFileError::Mismatch { path: path.into() });
    }
    Ok(Some(keys))
}

/// Reads a list of public keys, one a line, each with an optional user id behind it. A
/// certificate is a list of one, with the file's name as its user id.
///
/// # Errors
///
/// [`KeyFileError`] if the file cannot be read, or a line is neither a key nor a comment, so that a slip of
/// the pen does not silently keep someone out.
pub fn read_key_list(
    path: impl AsRef<Path>,
) -> Result<Vec<(PublicKey, Option<String>)>, KeyFileError> {
    let path = path.as_ref();
    key_list_in(path, &read_text(path)?)
}

/// The keys in the text of that file.
pub(crate) fn key_list_in(
    path: &Path,
    text: &str,
) -> Result<Vec<(PublicKey, Option<String>)>, KeyFileError> {
    if Certificate::parse(text).is_some() {
        let user_id = path.file_stem().unwrap_or_default().to_string_lossy();
        return Ok(vec![(
            public_key_in(path, text)?,
            Some(user_id.into_owned()),
        )]);
    }
    let mut keys = Vec::new();
    for (number, line) in content_lines(text) {
        let (key, user_id) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let user_id = user_id.trim();
        let user_id = (!user_id.is_empty()).then(|| user_id.to_owned());
        keys.push((parse_key(path, number, key)?, user_id));
    }
    Ok(keys)
}

/// Lines that are neither empty nor comments. `#` is a digit of Z85 too, but never the first of a
/// key: as the highest digit, 84 · 85⁴ would not fit into 4 bytes.
pub(crate) fn content_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let trimmed = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()));
    trimmed.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The certificate in the text of that file, if it is one.
fn certificate_in<'a>(path: &Path, text: &'a str) -> Result<Option<Certificate<'a>>, KeyFileError> {
    let certificate = Certificate::parse(text);
    match certificate.as_ref().and_then(|found| found.repeated) {
        Some((line, wanted)) => Err(KeyFileError::Ambiguous {
            path: path.into(),
            line,
            wanted,
        }),
        None => Ok(certificate),
    }
}

/// The one key of a file without a certificate.
fn bare_key<K: FromStr>(path: &Path, text: &str, wanted: &'static str) -> Result<K, KeyFileError> {
    let mut lines = content_lines(text);
    let Some((line, key)) = lines.next() else {
        return Err(KeyFileError::Missing {
            path: path.into(),
            wanted,
        });
    };
    let key = parse_key(path, line, key)?;
    match lines.next() {
        None => Ok(key),
        Some((line, _)) => Err(KeyFileError::Ambiguous {
            path: path.into(),
            line,
            wanted,
        }),
    }
}

fn parse_key<K: FromStr>(path: &Path, line: usize, text: &str) -> Result<K, KeyFileError> {
    text.parse().map_err(|_| KeyFileError::NotAKey {
        path: path.into(),
        line,
    })
}

fn read_text(path: &Path) -> Result<Zeroizing<String>, KeyFileError> {
    let read = |source| KeyFileError::read(path, source);
    let file = fs::File::open(path).map_err(read)?;
    reading::check_permissions(&file, path, Readers::Everybody)?;
    text_of(path, read_bounded(file, path, MAX_FILE_SIZE)?)
}

fn text_of(path: &Path, bytes: Zeroizing<Vec<u8>>) -> Result<Zeroizing<String>, KeyFileError> {
    let text =
        std::str::from_utf8(&bytes).map_err(|_| KeyFileError::NotText { path: path.into() })?;
    Ok(Zeroizing::new(text.to_owned()))
}

fn write_new(path: &Path, mode: u32, content: &[u8]) -> Result<(), KeyFileError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let write = |mut file: fs::File| {
        let written = file.write_all(content);
        written.and_then(|()| file.sync_all()).inspect_err(|_| {
            // A part of it would be in the way of the next attempt.
            let _ = fs::remove_file(path);
        })
    };
    options
        .open(path)
        .and_then(write)
        .map_err(|source| KeyFileError::Write {
            path: path.into(),
            source,
        })
}
