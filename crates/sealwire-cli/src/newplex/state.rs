//! Files that can be used once: the nonces of a signer, and what a client or an initiator keeps until
//! its answer comes.
//!
//! ```text
//! create ─▶ claim (locked: nobody else has it) ─▶ consume (overwritten, removed) ─▶ the result is told
//! ```
//!
//! A result that is told after [`State::consume`] is told once. A failure before it leaves the file as it
//! was, and nothing has been told. A copy of the file is beyond this, and the help says so.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use sealwire_newplex::files::{self, Kind};
use sealwire_newplex::schemes::randomness::{RANDOMNESS_SIZE, Randomness};
use zeroize::Zeroizing;

use super::{failed, keys};
use crate::exit::Failure;
use crate::file::key::create_private;
use crate::secrets;

/// Writes a new file of fresh random bytes, readable by its owner alone, and gives them.
pub(super) fn create(path: &Path, kind: Kind, comment: &str) -> Result<Randomness, Failure> {
    let bytes = keys::random::<RANDOMNESS_SIZE>()?;
    let randomness = Randomness::from_bytes(&bytes).map_err(|error| failed(error.to_string()))?;
    let text = Zeroizing::new(format!("#   {comment}\n{}\n", kind.line(&*bytes).as_str()));
    create_private(path, &text)?;
    Ok(randomness)
}

/// The content of a file that can be used once, which nobody else has as long as this lives.
pub(super) struct State {
    file: File,
    path: PathBuf,
    bytes: Zeroizing<[u8; RANDOMNESS_SIZE]>,
}

impl State {
    /// Opens the file for this process alone.
    pub(super) fn claim(path: &Path, kind: Kind) -> Result<Self, Failure> {
        let file = File::options().read(true).write(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => keys::at(
                path,
                "not there: it can be used once, and is removed then; begin again with another",
            ),
            _ => keys::at(path, &format!("cannot be opened to be used up: {error}")),
        })?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => keys::at(path, "another process is using it up"),
            TryLockError::Error(error) => keys::at(path, &format!("cannot be locked: {error}")),
        })?;
        let text = secrets::read_text(path)?.unwrap_or_default();
        is_the_only_name(&file, path)?;
        let bytes =
            files::parse_state(kind, &text).map_err(|problem| keys::invalid(path, problem))?;
        Ok(State {
            file,
            path: path.to_owned(),
            bytes,
        })
    }

    /// The random bytes that make the step again.
    pub(super) fn randomness(&self) -> Result<Randomness, Failure> {
        Randomness::from_bytes(&self.bytes)
            .map_err(|problem| keys::at(&self.path, &problem.to_string()))
    }

    /// Overwrites the file and removes it. It is gone from the disk's tables when this returns.
    pub(super) fn consume(mut self) -> Result<(), Failure> {
        let used_up = self.overwrite().and_then(|()| {
            fs::remove_file(&self.path)?;
            sync_folder(&self.path)
        });
        used_up.map_err(|error| {
            keys::at(
                &self.path,
                &format!("cannot be used up, so nothing is made from it: {error}"),
            )
        })
    }

    fn overwrite(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        self.file.rewind()?;
        io::copy(
            &mut io::Read::take(io::repeat(b'#'), length),
            &mut self.file,
        )?;
        self.file.flush()?;
        self.file.sync_all()
    }
}

/// Fails unless `path` leads to the locked file, and nothing else does: somebody else may have used
/// it up between opening and locking, and another name of it would outlive it.
#[cfg(unix)]
fn is_the_only_name(file: &File, path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let both = file
        .metadata()
        .and_then(|locked| Ok((locked, fs::metadata(path)?)));
    let (locked, named) =
        both.map_err(|error| keys::at(path, &format!("cannot be read: {error}")))?;
    if (locked.dev(), locked.ino()) != (named.dev(), named.ino()) {
        return Err(keys::at(path, "another process has used it up"));
    }
    if locked.nlink() > 1 {
        return Err(keys::at(
            path,
            "has other names (hard links), under which it could be used again: remove them",
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn is_the_only_name(_: &File, _: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Waits until the disk knows that the file is gone.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
