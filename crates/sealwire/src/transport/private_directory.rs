//! A directory that only this user may enter, with an unpredictable name, for the sockets of `ipc://*`.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use crate::entropy;

/// Names that are tried. A taken one is somebody's mistake or attack, not chance.
const ATTEMPTS: usize = 16;

/// Removed, if it is empty, when it is dropped.
pub(crate) struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    /// Makes one, with mode 0700, where the system keeps temporary files (`TMPDIR`, else `/tmp`).
    pub(super) fn create() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        for _ in 0..ATTEMPTS {
            let mut random = [0; 12];
            entropy::fill(&mut random);
            let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            let path = parent.join(format!("sealwire-{name}"));
            // Fails where anything is, also a link to elsewhere.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(PrivateDirectory(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where its socket is.
    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("socket")
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // Somebody of this user put something there; that is theirs.
        let _ = fs::remove_dir(&self.0);
    }
}
