//! Reads files. Each is opened once, and both the checks and the reading use the handle. A path may
//! name another file a moment later, so no path is used twice.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use super::KeyFileError;

/// Size of the largest file that is read as keys, passwords or certificates, in bytes.
pub(crate) const MAX_FILE_SIZE: u64 = 16 << 20;

/// The users that may read a file of keys. Of one that holds a secret nobody but the owner may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// The owner alone: secret keys and passwords (`chmod 600`).
    Owner,
    /// The owner and the group, as for TLS keys that several services read (`chmod 640`).
    OwnerAndGroup,
    /// Everybody: public keys, lists of them, certificates. The owner and the group may change it
    /// (`chmod o-w`), else anybody on the machine could put a key of their own there.
    Everybody,
}

impl Readers {
    /// Permission bits that the file must not have.
    const fn forbidden(self) -> u32 {
        match self {
            Readers::Owner => 0o077,
            Readers::OwnerAndGroup => 0o037,
            Readers::Everybody => 0o002,
        }
    }
}

/// What others may do with a file of this mode.
pub(super) fn exposed_to(mode: u32, readers: Readers) -> &'static str {
    if mode & readers.forbidden() & 0o044 != 0 {
        "read"
    } else {
        "changed"
    }
}

/// What to do about that.
pub(super) fn advice(mode: u32, readers: Readers) -> &'static str {
    match (exposed_to(mode, readers), readers) {
        ("read", Readers::Owner) => "run chmod 600 on it and consider the key leaked",
        ("read", Readers::OwnerAndGroup) => "run chmod 640 on it and consider the key leaked",
        (_, Readers::Owner) => "run chmod 600 on it and look at what it holds",
        (_, Readers::OwnerAndGroup) => "run chmod 640 on it and look at what it holds",
        (_, Readers::Everybody) => "run chmod o-w on it and look at what it holds",
    }
}

/// Reads a file that holds a secret: a key or passwords, up to 16 MiB. Its mode is that of the file
/// that was opened, wherever a symbolic link led. A pipe or a terminal has no mode to check.
///
/// # Errors
///
/// [`KeyFileError::Permissions`] when others than the `readers` may read it, or others than the
/// owner may change it; [`KeyFileError::Read`]; [`KeyFileError::TooLarge`].
pub fn read_secret_file(
    path: impl AsRef<Path>,
    readers: Readers,
) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| KeyFileError::read(path, source))?;
    read_opened_secret(file, path, readers)
}

/// Reads a file that everybody may read, such as certificates or public keys: up to 16 MiB.
///
/// # Errors
///
/// [`KeyFileError::Permissions`] when everybody may change it; [`KeyFileError::Read`]; [`KeyFileError::TooLarge`].
pub fn read_public_file(path: impl AsRef<Path>) -> Result<Vec<u8>, KeyFileError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| KeyFileError::read(path, source))?;
    check_permissions(&file, path, Readers::Everybody)?;
    let mut bytes = read_bounded(file, path, MAX_FILE_SIZE)?;
    Ok(std::mem::take(&mut *bytes))
}

/// The path is for errors only.
pub(crate) fn read_opened_secret(
    file: File,
    path: &Path,
    readers: Readers,
) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    check_permissions(&file, path, readers)?;
    read_bounded(file, path, MAX_FILE_SIZE)
}

/// Opens a file, and nothing but a regular one: a pipe would make the reader wait.
///
/// # Errors
///
/// [`InvalidInput`](io::ErrorKind::InvalidInput) for what is there and not a regular file; those of the system.
pub fn open_regular(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits() as i32,
    );
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    Ok(file)
}

/// Reads to the end of a file that has at most `limit` bytes, whatever its length was said to be.
pub(crate) fn read_bounded(
    file: File,
    path: &Path,
    limit: u64,
) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let read = |source| KeyFileError::read(path, source);
    let size = file.metadata().map_err(read)?.len().min(limit);
    // With room for one more than there should be, or else memory that is not wiped is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(size as usize + 1));
    file.take(limit + 1).read_to_end(&mut bytes).map_err(read)?;
    if bytes.len() as u64 > limit {
        return Err(KeyFileError::TooLarge {
            path: path.into(),
            limit,
        });
    }
    Ok(bytes)
}

pub(super) fn check_permissions(
    file: &File,
    path: &Path,
    readers: Readers,
) -> Result<(), KeyFileError> {
    let metadata = file
        .metadata()
        .map_err(|source| KeyFileError::read(path, source))?;
    check_mode(&metadata, path, readers)
}

/// Looks at the mode of a regular file, or of a directory of public keys; nothing else has one that counts. The path is for
/// errors only.
#[cfg(unix)]
pub(crate) fn check_mode(
    metadata: &Metadata,
    path: &Path,
    readers: Readers,
) -> Result<(), KeyFileError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = metadata.permissions().mode() & 0o777;
    let counts = metadata.is_file() || (metadata.is_dir() && readers == Readers::Everybody);
    if counts && mode & readers.forbidden() != 0 {
        return Err(KeyFileError::Permissions {
            path: path.into(),
            mode,
            readers,
        });
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn check_mode(
    _metadata: &Metadata,
    _path: &Path,
    _readers: Readers,
) -> Result<(), KeyFileError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_file_that_is_checked_is_the_one_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let path = folder.path().join(name);
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let path = file("path", 0o644);
        let exposed = File::open(&path).unwrap();
        fs::rename(file("private", 0o600), &path).unwrap();
        let private = File::open(&path).unwrap();
        fs::rename(file("foreign", 0o644), &path).unwrap();
        // Whatever has come to stand at the path since.
        let refused = read_opened_secret(exposed, &path, Readers::Owner).unwrap_err();
        assert!(matches!(
            refused,
            KeyFileError::Permissions { mode: 0o644, .. }
        ));
        let read = read_opened_secret(private, &path, Readers::Owner).unwrap();
        assert_eq!(*read, b"private");
    }
    #[test]
    fn what_everybody_may_read_has_a_bound_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.pem");
        assert!(matches!(
            read_public_file(&path),
            Err(KeyFileError::Read { .. })
        ));
        fs::write(&path, "a chain").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(read_public_file(&path).unwrap(), b"a chain");
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MAX_FILE_SIZE + 1).unwrap();
        assert!(matches!(
            read_public_file(&path),
            Err(KeyFileError::TooLarge { .. })
        ));
    }
}
