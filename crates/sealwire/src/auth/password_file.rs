//! Usernames and passwords on disk that take effect as they change.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::time::Instant;

use super::allowed_keys_file::{SETTLE, SETTLE_AT_MOST};
use super::password::decide;
use super::{Decision, MAX_CREDENTIAL, PasswordTable, PlainAuthenticator, PlainClient, Status};
use crate::account::LOG_PERIOD;
use crate::guard;
use crate::keys::{self, KeyFileError, Readers, read_opened_secret};
use crate::standard_error::tell_of_list;

/// A file of usernames and passwords for PLAIN servers, read again when it changes.
///
/// It has a username and a password a line, apart by white space; empty lines and those that start
/// with `#` are comments. It has at most 16 MiB, and nobody but its owner may read or change it
/// (`chmod 600`).
///
/// **A change counts** about a second later: it has to be the same in two readings, 300 ms apart, or to
/// last for five seconds. Then connections of users who are gone, or have another password, end.
/// What counts is the content, whatever size and time the file has. To be quite sure, write a new
/// file beside it and rename it.
///
/// **What cannot be read or understood changes nothing**: those who were allowed last stay so, also
/// after the file was deleted. That is logged once when it begins and when it ends. Until then, and
/// while a change has not settled, others are refused with [`Status::Temporary`]. So to turn
/// everybody away empty the file, do not delete it.
///
/// A pipe is read once and never changes.
pub struct PasswordFile {
    path: PathBuf,
    is_regular: bool,
    current: RwLock<Arc<Snapshot>>,
    watch: Mutex<Watch>,
}

/// What handshakes see.
struct Snapshot {
    table: PasswordTable,
    /// Whether strangers may stand in what was not read or has not settled.
    passing: bool,
    /// How often the table has changed.
    revision: u64,
}

/// What a reading finds: a digest of the content, and what it says.
type Found = Result<(blake3::Hash, PasswordTable), KeyFileError>;

/// What of the file counts, reading by reading. Knows no file system and no clock.
struct Watch {
    counts: blake3::Hash,
    /// What will count when it is the same for long enough: since when it is.
    next: Option<(blake3::Hash, Instant)>,
    /// Since when the file is another one than what counts.
    differs: Option<Instant>,
    problem: Option<String>,
    /// Whether the log says that there is a problem.
    told: bool,
    remarked: Option<Instant>,
}

/// Something for the log, at most once a second.
#[derive(Debug, PartialEq, Eq)]
enum Remark {
    Unreadable(String),
    Readable,
}

impl PasswordFile {
    /// Reads the file for the first time.
    ///
    /// # Errors
    ///
    /// [`KeyFileError`]: when it cannot be read, others than its owner may read or change it
    /// ([`Permissions`](KeyFileError::Permissions)), or a line is not understood
    /// ([`NotAPassword`](KeyFileError::NotAPassword)).
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, KeyFileError> {
        let path = path.into();
        let read = |source| KeyFileError::read(&path, source);
        let file = File::open(&path).map_err(read)?;
        let is_regular = file.metadata().map_err(read)?.is_file();
        let (digest, table) = read_table(file, &path)?;
        let snapshot = Snapshot {
            table,
            passing: false,
            revision: 0,
        };
        Ok(PasswordFile {
            path,
            is_regular,
            current: RwLock::new(Arc::new(snapshot)),
            watch: Mutex::new(Watch::new(digest)),
        })
    }

    /// Returns the number of users, as they were read last.
    pub fn len(&self) -> usize {
        self.snapshot().table.len()
    }

    /// Returns whether there is no user, so that nobody is let in.
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

    /// Looks at the disk, unless another thread does.
    fn read(&self) {
        let mut watch = match self.watch.try_lock() {
            Ok(watch) => watch,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let found = keys::open_regular(&self.path)
            .map_err(|source| KeyFileError::read(&self.path, source))
            .and_then(|file| read_table(file, &self.path));
        let now = Instant::now();
        let settled = watch.take(found, now);
        let before = self.snapshot();
        let (passing, changed) = (watch.is_passing(), settled.is_some());
        if changed || passing != before.passing {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Snapshot {
                table: settled.unwrap_or_else(|| before.table.clone()),
                passing,
                revision: before.revision + u64::from(changed),
            });
        }
        let remark = watch.remark(now);
        drop(watch);
        report(&self.path, remark, changed);
    }
}

fn report(path: &Path, remark: Option<Remark>, changed: bool) {
    let path = path.display();
    if let Some(Remark::Unreadable(error)) = &remark {
        tell_of_list(&format!(
            "passwords in {path} cannot be read: those read last stay allowed: {error}"
        ));
    }
    guard::log(|| match remark {
        Some(Remark::Unreadable(error)) => {
            tracing::error!(target: "sealwire", %path, %error, "passwords cannot be read: those read last stay allowed");
        }
        Some(Remark::Readable) => {
            tracing::info!(target: "sealwire", %path, "passwords can be read again");
        }
        None => {}
    });
    if changed {
        guard::log(|| tracing::info!(target: "sealwire", %path, "passwords changed"));
    }
}

fn read_table(file: File, path: &Path) -> Found {
    let bytes = read_opened_secret(file, path, Readers::Owner)?;
    Ok((blake3::hash(&bytes), parse(path, &bytes)?))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<PasswordTable, KeyFileError> {
    let bad = |line| KeyFileError::NotAPassword {
        path: path.into(),
        line,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        bad(1 + before.iter().filter(|&&byte| byte == b'\n').count())
    })?;
    let mut table = PasswordTable::new();
    for (number, line) in keys::content_lines(text) {
        let (username, password) = line
            .split_once(char::is_whitespace)
            .map(|(username, password)| (username, password.trim_start()))
            .filter(|(username, password)| {
                username.len() <= MAX_CREDENTIAL && password.len() <= MAX_CREDENTIAL
            })
            .ok_or_else(|| bad(number))?;
        table.insert(username, password);
    }
    Ok(table)
}

impl Watch {
    fn new(counts: blake3::Hash) -> Self {
        Watch {
            counts,
            next: None,
            differs: None,
            problem: None,
            told: false,
            remarked: None,
        }
    }

    /// Takes in what a reading found. Returns the table that counts from now on, if it is another one.
    fn take(&mut self, found: Found, now: Instant) -> Option<PasswordTable> {
        let (digest, table) = match found {
            Ok(found) => found,
            Err(error) => {
                self.problem = Some(error.to_string());
                self.next = None;
                return None;
            }
        };
        self.problem = None;
        if digest == self.counts {
            (self.next, self.differs) = (None, None);
            return None;
        }
        let differs = *self.differs.get_or_insert(now);
        let since = match self.next {
            Some((next, since)) if next == digest => since,
            _ => now,
        };
        self.next = Some((digest, since));
        let settled = now.duration_since(since) >= SETTLE;
        if !settled && now.duration_since(differs) < SETTLE_AT_MOST {
            return None;
        }
        self.counts = digest;
        (self.next, self.differs) = (None, None);
        Some(table)
    }

    fn is_passing(&self) -> bool {
        self.problem.is_some() || self.next.is_some()
    }

    /// The difference from what the log said last.
    fn remark(&mut self, now: Instant) -> Option<Remark> {
        let early = |before| now.duration_since(before) < LOG_PERIOD;
        if self.told == self.problem.is_some() || self.remarked.is_some_and(early) {
            return None;
        }
        (self.told, self.remarked) = (!self.told, Some(now));
        Some(match &self.problem {
            Some(problem) => Remark::Unreadable(problem.clone()),
            None => Remark::Readable,
        })
    }
}

impl PlainAuthenticator for PasswordFile {
    fn authenticate(&self, client: &PlainClient<'_>) -> Decision {
        let snapshot = self.snapshot();
        // libzmq's clients never come again after another status.
        let otherwise = if snapshot.passing {
            Status::Temporary
        } else {
            Status::Refused
        };
        decide(&snapshot.table, client.credentials, otherwise)
    }

    fn allows_nobody(&self) -> bool {
        self.snapshot().table.is_empty()
    }

    fn may_block(&self) -> bool {
        false
    }

    fn revision(&self) -> Option<u64> {
        if !self.is_regular {
            return None;
        }
        self.read();
        Some(self.snapshot().revision)
    }
}

impl fmt::Debug for PasswordFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordFile")
            .field("path", &self.path)
            .field("table", &self.snapshot().table)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::PlainCredentials;
    use super::*;

    const TICK: Duration = Duration::from_millis(500);

    fn says(text: &str) -> Found {
        let bytes = text.as_bytes();
        Ok((blake3::hash(bytes), parse("file".as_ref(), bytes)?))
    }

    fn lets_in(table: &PasswordTable, username: &str, password: &str) -> bool {
        table.verifies(&PlainCredentials::new(username, password))
    }

    #[test]
    fn lines_are_usernames_and_passwords() {
        let (_, table) = says("# comment\n\nalice  s3cret \r\n bob\twith white space\n").unwrap();
        assert!(lets_in(&table, "alice", "s3cret"));
        assert!(lets_in(&table, "bob", "with white space"));
        assert!(!lets_in(&table, "bob", "with"));
        let long = "x".repeat(MAX_CREDENTIAL + 1);
        for (text, wrong) in [
            ("alice\n".into(), 1),
            ("# comment\nalice".into(), 2),
            (format!("alice a\nbob {long}"), 2),
            (format!("{long} a"), 1),
        ] {
            match says(&text) {
                Err(KeyFileError::NotAPassword { line, .. }) => assert_eq!(line, wrong),
                other => panic!("{other:?}"),
            }
        }
        let not_text = parse("file".as_ref(), b"alice a\nbob \xff");
        assert!(matches!(
            not_text,
            Err(KeyFileError::NotAPassword { line: 2, .. })
        ));
    }

    #[test]
    fn a_change_counts_once_it_is_seen_twice_apart() {
        let now = Instant::now();
        let (first, _) = says("alice a\nbob b").unwrap();
        let mut watch = Watch::new(first);
        // Emptied, written by halves, then complete: nobody is cut.
        for (readings, text) in [(1, ""), (2, "alice a"), (3, "alice a\nbob b")] {
            assert!(watch.take(says(text), now + readings * TICK).is_none());
        }
        assert!(!watch.is_passing());
        assert!(watch.take(says("alice a"), now + 4 * TICK).is_none());
        assert!(watch.is_passing());
        let table = watch.take(says("alice a"), now + 5 * TICK).unwrap();
        assert!(lets_in(&table, "alice", "a") && !lets_in(&table, "bob", "b"));
        assert!(!watch.is_passing());
        // One that never rests counts too.
        let mut text = String::new();
        for readings in 6..16 {
            text.push_str("# more\n");
            assert!(watch.take(says(&text), now + readings * TICK).is_none());
        }
        assert!(watch.take(says("# end"), now + 16 * TICK).is_some());
    }

    #[test]
    fn what_cannot_be_read_changes_nothing_and_is_told_once_a_second() {
        let now = Instant::now();
        let (first, _) = says("alice a").unwrap();
        let mut watch = Watch::new(first);
        let mut remarks = Vec::new();
        for reading in 0..10_000 {
            let at = now + Duration::from_millis(reading);
            let found = says(if reading % 2 == 0 { "alice" } else { "alice a" });
            assert!(watch.take(found, at).is_none());
            remarks.extend(watch.remark(at));
        }
        assert!(matches!(remarks[0], Remark::Unreadable(_)));
        assert!(remarks.len() <= 10, "{remarks:?}");
        assert!(watch.take(says("alice a"), now + 30 * TICK).is_none());
        remarks.extend(watch.remark(now + 30 * TICK));
        assert_eq!(remarks.last(), Some(&Remark::Readable));
    }
}
