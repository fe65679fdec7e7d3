//! An allow-list on disk that takes effect as it changes.
//!
//! ```text
//!   handshakes ──▶ snapshot (shared, never waited for)
//!                     ▲
//!   one thread ──▶ read the disk    ──▶ list: what counts and since when
//! ```
//!
//! [`snapshot`] reads and compares, [`list`] decides which entries count. Only one thread reads;
//! the others take the existing snapshot.

mod list;
mod snapshot;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant};

use self::list::{List, Remark};
pub(super) use self::list::{SETTLE, SETTLE_AT_MOST};
use self::snapshot::{BOUNDS, Memory};
use super::{AllowedKeys, Authenticator, Client, Decision, NOT_ALLOWED, Status};
use crate::guard;
use crate::keys::KeyFileError;
use crate::standard_error::tell_of_list;

/// Between two readings that handshakes cause passes this many times the time that the first took, so
/// that strangers cannot make the server read all the time.
const PAUSE: u32 = 9;
/// How long a reading counts: a key that it did not find is not on the list.
const FRESH: Duration = Duration::from_millis(50);
/// Lines in the log in a second. Broken files beyond are counted in a last one.
const MAX_REMARKS: usize = 16;

/// A file or directory of allowed keys, read again when it changes.
///
/// A **file** has one key a line (Z85 or hex), then optionally a user id; other lines that start
/// with `#` are comments. A single CZMQ certificate will do as well. A **directory** has one file
/// per client: a CZMQ certificate or a key; the file's name without extension is the user id. Names
/// that start with a dot or end with `_secret` are passed over, and of those that end with `.key`
/// all but CZMQ's public certificates: elsewhere that is the name of a secret. A list has at most
/// 65,536 files of 16 MiB each and 64 MiB together.
///
/// **A key that is added** is let in at once. **A key that is taken off** the list is refused, and
/// its connections end, about a second later: it has to be missing twice, 300 ms apart, and the
/// content of its file has to be the same both times, or to be without the key for five seconds.
/// So `cp` over a list, which empties it first, cuts nobody. What counts is the content, whatever
/// size and time the file has. To be quite sure, write a new file beside the list and rename it.
///
/// **What cannot be read or understood keeps what it said last**, for as long as that lasts: a file
/// of a directory its own key, a list its own keys, also a list that was deleted. An empty directory
/// that lies on another file system than the keys did counts as unreadable too: the one with the
/// keys is probably not mounted. Errors are logged once when they begin and when they end. Until
/// then, strangers are refused with [`Status::Temporary`], since their key may stand in what could
/// not be read. So to turn everybody away **empty the list, do not delete it**; a server that starts
/// without its list does not start.
#[derive(Debug)]
pub struct AllowedKeysFile {
    path: PathBuf,
    current: RwLock<Arc<Snapshot>>,
    watch: Mutex<Watch>,
}

/// What handshakes see.
#[derive(Debug)]
struct Snapshot {
    keys: AllowedKeys,
    /// Whether some of the list could not be read: strangers may be on it.
    incomplete: bool,
    /// How often the keys have changed.
    revision: u64,
}

/// What belongs to the thread that reads.
#[derive(Debug)]
struct Watch {
    list: List,
    memory: Memory,
    /// When the last reading began.
    read_at: Instant,
    /// When handshakes may cause the next reading.
    due: Instant,
}

impl AllowedKeysFile {
    /// Reads the list for the first time.
    ///
    /// # Errors
    ///
    /// When it cannot be read or a line is not understood: better now than when the first client
    /// comes.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, KeyFileError> {
        let path = path.into();
        let mut memory = Memory::default();
        let now = Instant::now();
        let list = List::new(snapshot::read(&path, &mut memory, &BOUNDS)?, now)?;
        let snapshot = Snapshot {
            keys: list.keys(),
            incomplete: false,
            revision: 0,
        };
        Ok(AllowedKeysFile {
            path,
            current: RwLock::new(Arc::new(snapshot)),
            watch: Mutex::new(Watch {
                list,
                memory,
                read_at: now,
                due: now,
            }),
        })
    }

    /// Returns the number of keys, as they were read last.
    pub fn len(&self) -> usize {
        self.snapshot().keys.len()
    }

    /// Returns whether there is no key, so that nobody is let in.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        // The lock is held to copy or replace the pointer only.
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Looks at the disk, unless another thread does, or a handshake wants to and it is too early.
    /// Returns whether the snapshot is as fresh as can be.
    fn read(&self, for_handshake: bool) -> bool {
        let mut watch = match self.watch.try_lock() {
            Ok(watch) => watch,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let began = Instant::now();
        if for_handshake && began < watch.due {
            return began.duration_since(watch.read_at) < FRESH;
        }
        let Watch {
            list,
            memory,
            read_at,
            due,
        } = &mut *watch;
        *read_at = began;
        let outcome = list.take(snapshot::read(&self.path, memory, &BOUNDS), began);
        let before = self.snapshot();
        let mut changed_to = None;
        if outcome.changed || outcome.incomplete != before.incomplete {
            let keys = if outcome.changed {
                list.keys()
            } else {
                before.keys.clone()
            };
            let changed = keys != before.keys;
            changed_to = changed.then_some(keys.len());
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Snapshot {
                incomplete: outcome.incomplete,
                revision: before.revision + u64::from(changed),
                keys,
            });
        }
        let ended = Instant::now();
        *due = ended + (ended - began) * PAUSE;
        drop(watch);
        report(&self.path, &outcome.remarks, changed_to);
        true
    }
}

fn report(path: &Path, remarks: &[Remark], changed_to: Option<usize>) {
    let path = path.display();
    for remark in remarks.iter().take(MAX_REMARKS) {
        if let Remark::Unreadable(error) | Remark::FileBroken(error) = remark {
            tell_of_list(&format!(
                "allowed keys in {path} cannot be read: those read last stay allowed: {error}"
            ));
        }
        guard::log(|| match remark {
            Remark::Unreadable(error) => {
                tracing::error!(target: "sealwire", %path, %error, "allowed keys cannot be read: those read last stay allowed");
            }
            Remark::Readable => {
                tracing::info!(target: "sealwire", %path, "allowed keys can be read again");
            }
            Remark::FileBroken(error) => {
                tracing::error!(target: "sealwire", %path, %error, "a file of allowed keys cannot be read: what it said last stays allowed");
            }
            Remark::FileMended(file) => {
                tracing::info!(target: "sealwire", %path, file = %file.display(), "a file of allowed keys can be read again");
            }
        });
    }
    let more = remarks.len().saturating_sub(MAX_REMARKS);
    if more > 0 {
        guard::log(|| {
            tracing::error!(target: "sealwire", %path, more, "and as many more files of allowed keys");
        });
    }
    if changed_to == Some(0) {
        guard::log(
            || tracing::warn!(target: "sealwire", %path, "allowed keys changed: nobody is let in now"),
        );
    } else if let Some(keys) = changed_to {
        guard::log(|| tracing::info!(target: "sealwire", %path, keys, "allowed keys changed"));
    }
}

impl Authenticator for AllowedKeysFile {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        let up_to_date = self.read(true);
        let snapshot = self.snapshot();
        snapshot
            .keys
            .decide(client.public_key())
            .unwrap_or_else(|| {
                // libzmq's clients never come again after another status.
                let passing = !up_to_date || snapshot.incomplete;
                let status = if passing {
                    Status::Temporary
                } else {
                    Status::Refused
                };
                Decision::refuse_as(status, NOT_ALLOWED)
            })
    }

    fn revision(&self) -> Option<u64> {
        self.read(false);
        Some(self.snapshot().revision)
    }

    fn allows_nobody(&self) -> bool {
        self.snapshot().keys.is_empty()
    }
}

#[cfg(test)]
mod tests;
