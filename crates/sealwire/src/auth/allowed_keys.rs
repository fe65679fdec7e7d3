//! Allow-lists: a set in memory, and a file or directory that is read again when it changes.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sealwire_zmtp::PublicKey;

use super::{Authenticator, Client, Decision};
use crate::keys::{self, KeyFileError};

/// A fixed set of allowed keys, each with an optional user id.
#[derive(Debug, Clone, Default)]
pub struct AllowedKeys {
    keys: HashMap<PublicKey, Option<String>>,
}

impl AllowedKeys {
    /// Nobody is allowed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a key.
    #[must_use]
    pub fn allow(mut self, key: PublicKey) -> Self {
        self.keys.insert(key, None);
        self
    }

    /// Allows a key under a name.
    #[must_use]
    pub fn allow_as(mut self, key: PublicKey, user_id: impl Into<String>) -> Self {
        self.keys.insert(key, Some(user_id.into()));
        self
    }

    /// How many keys are allowed.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether nobody is allowed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn decide(&self, key: PublicKey) -> Decision {
        match self.keys.get(&key) {
            Some(user_id) => Decision::Allow {
                user_id: user_id.clone(),
            },
            None => false.into(),
        }
    }
}

impl FromIterator<PublicKey> for AllowedKeys {
    fn from_iter<I: IntoIterator<Item = PublicKey>>(keys: I) -> Self {
        AllowedKeys {
            keys: keys.into_iter().map(|key| (key, None)).collect(),
        }
    }
}

impl Authenticator for AllowedKeys {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        self.decide(client.public_key())
    }

    fn may_block(&self) -> bool {
        false
    }
}

/// A file or directory of allowed keys, looked at again for each client and read again when it
/// has changed.
///
/// A **file** has one key a line (Z85 or hex), then optionally a user id; other lines that start
/// with `#` are comments. A single CZMQ certificate will do as well. A **directory** has one file
/// per client: a CZMQ certificate or a key; the file's name without extension is the user id. Names
/// that start with a dot or end with `_secret` are passed over, and of those that end with `.key`
/// all but CZMQ's public certificates: elsewhere that is the name of a secret.
///
/// A list that can no longer be read allows nobody until it can: that is logged as an error.
/// Taking a key off the list keeps its owner from connecting again, and ends the connections it
/// has within about a second.
#[derive(Debug)]
pub struct AllowedKeysFile {
    path: PathBuf,
    cached: Mutex<Cached>,
}

#[derive(Debug)]
struct Cached {
    stamp: Stamp,
    keys: AllowedKeys,
    /// How often the list was read.
    revision: u64,
}

/// What changes when a list is edited: each file with its size and time of modification.
type Stamp = Vec<(PathBuf, u64, Option<SystemTime>)>;

impl AllowedKeysFile {
    /// Reads the list for the first time.
    ///
    /// # Errors
    ///
    /// When it cannot be read or a line is not understood: better now than when the first client
    /// comes.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, KeyFileError> {
        let path = path.into();
        let cached = read(&path)?;
        Ok(AllowedKeysFile {
            path,
            cached: Mutex::new(cached),
        })
    }
}

impl Authenticator for AllowedKeysFile {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        self.current().keys.decide(client.public_key())
    }

    fn revision(&self) -> Option<u64> {
        Some(self.current().revision)
    }
}

impl AllowedKeysFile {
    /// The list as it is now.
    fn current(&self) -> MutexGuard<'_, Cached> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp(&self.path).ok().as_ref() != Some(&cached.stamp) {
            let revision = cached.revision + 1;
            match read(&self.path) {
                Ok(fresh) => {
                    tracing::info!(path = %self.path.display(), keys = fresh.keys.len(), "allowed keys read again");
                    *cached = Cached { revision, ..fresh };
                }
                // Nothing has changed since it could not be read.
                Err(_) if cached.stamp.is_empty() => {}
                Err(error) => {
                    tracing::error!(%error, "allowed keys cannot be read: nobody is let in");
                    *cached = Cached {
                        stamp: Stamp::new(),
                        keys: AllowedKeys::new(),
                        revision,
                    };
                }
            }
        }
        cached
    }
}

fn read(path: &Path) -> Result<Cached, KeyFileError> {
    // The stamp is taken first: a change during the reading is then seen at the next look.
    let stamp = stamp(path).map_err(|source| KeyFileError::read(path, source))?;
    let mut keys = AllowedKeys::new();
    if path.is_dir() {
        for (file, ..) in &stamp[1..] {
            let user_id = file.file_stem().unwrap_or_default().to_string_lossy();
            let key = if file.extension().is_some_and(|extension| extension == "key") {
                keys::read_public_certificate(file)?
            } else {
                Some(keys::read_public_key(file)?)
            };
            if let Some(key) = key {
                keys = keys.allow_as(key, user_id);
            }
        }
    } else {
        for (key, user_id) in keys::read_key_list(path)? {
            keys.keys.insert(key, user_id);
        }
    }
    let revision = 0;
    Ok(Cached {
        stamp,
        keys,
        revision,
    })
}

/// The list itself, then for a directory its files in order.
fn stamp(path: &Path) -> io::Result<Stamp> {
    let of = |path: PathBuf| -> io::Result<_> {
        let metadata = fs::metadata(&path)?;
        Ok((path, metadata.len(), metadata.modified().ok()))
    };
    let mut stamp = vec![of(path.to_path_buf())?];
    if path.is_dir() {
        let mut files = fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()?;
        files.retain(|file| file.is_file() && names_a_client(file));
        files.sort();
        for file in files {
            stamp.push(of(file)?);
        }
    }
    Ok(stamp)
}

fn names_a_client(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    !name.starts_with('.') && !name.ends_with("_secret")
}
