//! Where the output goes: standard output, or a file that appears when it is complete.

use std::fs::Permissions;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::Direction;
use crate::exit::{Code, Failure};
use crate::interrupt;

/// An output under way. A file that is not finished disappears.
pub(crate) enum Destination {
    Stdout(BufWriter<StdoutLock<'static>>),
    File {
        /// Beside `path`, so that renaming moves no bytes.
        temporary: NamedTempFile,
        path: PathBuf,
        replace: bool,
    },
}

impl Destination {
    pub(crate) fn stdout(direction: Direction) -> Result<Self, Failure> {
        let stdout = io::stdout();
        if direction == Direction::Seal && stdout.is_terminal() {
            return Err(Failure::usage(
                "sealed files are no text for a terminal: give -o FILE, or pipe the output on",
            ));
        }
        Ok(Destination::Stdout(BufWriter::new(stdout.lock())))
    }

    pub(crate) fn file(path: &Path, replace: bool, direction: Direction) -> Result<Self, Failure> {
        if !replace && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sealwire-");
        if let Some(permissions) = permissions(direction) {
            builder.permissions(permissions);
        }
        let temporary = builder
            .tempfile_in(folder)
            .map_err(|error| cannot_write(path, &error))?;
        interrupt::remove_on_signal(temporary.path().to_path_buf())?;
        Ok(Destination::File {
            temporary,
            path: path.to_path_buf(),
            replace,
        })
    }

    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Destination::Stdout(_)) && io::stdout().is_terminal()
    }

    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        match self {
            Destination::Stdout(out) => out,
            Destination::File { temporary, .. } => temporary,
        }
    }

    /// What a failed write means to the user.
    pub(crate) fn failure(&self, error: &io::Error) -> Failure {
        match self {
            Destination::Stdout(_) => Failure::output(error),
            Destination::File { path, .. } => cannot_write(path, error),
        }
    }

    /// Everything is written and right: lets it appear.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Destination::Stdout(mut out) => out.flush().map_err(|error| Failure::output(&error)),
            Destination::File {
                temporary,
                path,
                replace,
            } => {
                let synced = temporary.as_file().sync_all();
                synced.map_err(|error| cannot_write(&path, &error))?;
                let renamed = if replace {
                    temporary.persist(&path)
                } else {
                    temporary.persist_noclobber(&path)
                };
                match renamed {
                    Ok(_) => Ok(()),
                    Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                        Err(exists(&path))
                    }
                    Err(failed) => Err(cannot_write(&path, &failed.error)),
                }
            }
        }
    }
}

/// A sealed file is for anyone whom the user's mask lets read; what comes out of one is not.
#[cfg(unix)]
fn permissions(direction: Direction) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(Permissions::from_mode(match direction {
        Direction::Seal => 0o666,
        Direction::Open => 0o600,
    }))
}

#[cfg(not(unix))]
fn permissions(_direction: Direction) -> Option<Permissions> {
    None
}

fn exists(path: &Path) -> Failure {
    let message = format!("{} exists: --force replaces it", path.display());
    Failure::new(Code::Failed, message)
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write {}: {error}", path.display());
    Failure::new(Code::Failed, message)
}
