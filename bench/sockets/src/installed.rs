//! Our `libzmq.so.5` under the name by which the loader finds it, with rules for a program that knows nothing of BLAKE3.

use std::fs;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::{env, io, process};

use sealwire::{Generate as _, KeyPair};

use crate::Outcome;
use crate::contender::Mechanism;
use crate::task::Role;

/// A folder of its own; it goes when this does.
pub(crate) struct Installed {
    folder: PathBuf,
    /// Both sides have this key pair: what they say of it to each other takes as long.
    keys: KeyPair,
}

impl Installed {
    pub(crate) fn new(library: &Path) -> Outcome<Self> {
        let library = library.canonicalize().map_err(|error| {
            format!(
                "{}: {error}; `cargo build --release -p sealwire-libzmq` makes it, --libzmq-library says where it is",
                library.display()
            )
        })?;
        let folder = env::temp_dir().join(format!("sealwire-bench-libzmq-{}", process::id()));
        fs::create_dir_all(&folder)?;
        let installed = Installed {
            folder,
            keys: KeyPair::generate(),
        };
        symlink(library, installed.folder.join("libzmq.so.5"))?;
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(installed.secret_key_file())?;
        io::Write::write_all(&mut file, installed.keys.secret().to_z85().as_bytes())?;
        Ok(installed)
    }

    fn secret_key_file(&self) -> PathBuf {
        self.folder.join("bench.key")
    }

    /// The environment of a side.
    pub(crate) fn environment(
        &self,
        role: Role,
        mechanism: Mechanism,
    ) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.display().to_string();
        let mut all = vec![("LD_LIBRARY_PATH", text(&self.folder))];
        if mechanism == Mechanism::Blake3 {
            all.push(("SEALWIRE_SECRET_KEY_FILE", text(&self.secret_key_file())));
            all.push(match role {
                Role::Client => ("SEALWIRE_SERVER_KEY", self.keys.public().to_z85()),
                Role::Server | Role::Both => ("SEALWIRE_ALLOW", "anyone".to_owned()),
            });
        }
        all
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
