//! Which entries of a list count after each reading: additions at once, removals once they have settled.
//! A file that cannot be read counts as it was read last. This module knows no file system and no clock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::snapshot::{Content, Entries, Found, Snapshot};
use crate::account::LOG_PERIOD;
use crate::auth::AllowedKeys;
use crate::keys::KeyFileError;

/// A removal counts when it is seen again this long after.
pub(in crate::auth) const SETTLE: Duration = Duration::from_millis(300);
/// It counts after this time in any case, also where the file is never the same twice.
pub(in crate::auth) const SETTLE_AT_MOST: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct List {
    files: BTreeMap<PathBuf, Listed>,
    /// Of the directory, when it had files.
    device: Option<u64>,
    /// Why the list as a whole could not be read.
    problem: Option<String>,
    /// Whether the log says that it could not be read.
    told: bool,
    /// Of the last remarks.
    remarked: Option<Instant>,
}

/// What counts of one file.
#[derive(Debug, Default)]
struct Listed {
    keys: Entries,
    /// What will count when it is the same for long enough: since when it is.
    next: Option<(Entries, Instant)>,
    /// Since when the file lacks some of what counts.
    lacks: Option<Instant>,
    /// Since when the file is not there.
    gone: Option<Instant>,
    problem: Option<String>,
    /// The problem that the log speaks of.
    told: Option<String>,
}

/// What became of a reading.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Whether other keys count now.
    pub(super) changed: bool,
    /// Whether some of the list could not be read.
    pub(super) incomplete: bool,
    pub(super) remarks: Vec<Remark>,
}

/// Something for the log: what is different from what it said last. A peer that uses up descriptors
/// can make a list readable and unreadable at any rate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    Unreadable(String),
    Readable,
    FileBroken(String),
    FileMended(PathBuf),
}

impl List {
    /// The first reading has to find no fault.
    pub(super) fn new(snapshot: Snapshot, now: Instant) -> Result<Self, KeyFileError> {
        let mut files = Vec::with_capacity(snapshot.files.len());
        for file in snapshot.files {
            match file.content {
                Content::Failed(error) => return Err(error),
                _ => files.push(file),
            }
        }
        let mut list = List::default();
        list.take(Ok(Snapshot { files, ..snapshot }), now);
        Ok(list)
    }

    /// Everybody who is allowed.
    pub(super) fn keys(&self) -> AllowedKeys {
        let mut keys = AllowedKeys::new();
        for (key, user_id) in self.files.values().flat_map(|file| &file.keys) {
            keys.insert(*key, user_id.clone());
        }
        keys
    }

    /// Takes in what a reading found.
    pub(super) fn take(
        &mut self,
        snapshot: Result<Snapshot, KeyFileError>,
        now: Instant,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        match snapshot {
            Err(error) => self.problem = Some(error.to_string()),
            Ok(snapshot) if self.seems_unmounted(&snapshot) => {
                let problem = "the directory is empty and on another file system than before";
                self.problem = Some(problem.into());
            }
            Ok(snapshot) => {
                self.problem = None;
                if !snapshot.files.is_empty() {
                    self.device = snapshot.device;
                }
                outcome.changed = self.take_files(snapshot.files, now);
            }
        }
        let broken = |file: &Listed| file.problem.is_some();
        outcome.incomplete = self.problem.is_some() || self.files.values().any(broken);
        let due = |before| now.duration_since(before) >= LOG_PERIOD;
        if self.remarked.is_none_or(due) {
            outcome.remarks = self.remarks();
            if !outcome.remarks.is_empty() {
                self.remarked = Some(now);
            }
        }
        outcome
    }

    /// Whether an empty directory is more likely to be the place of one that is not mounted.
    fn seems_unmounted(&self, snapshot: &Snapshot) -> bool {
        let elsewhere = snapshot.device.is_some() && snapshot.device != self.device;
        elsewhere && self.device.is_some() && snapshot.files.is_empty() && !self.files.is_empty()
    }

    /// Returns whether other keys count now.
    fn take_files(&mut self, found: Vec<Found>, now: Instant) -> bool {
        let mut changed = false;
        let mut missing = std::mem::take(&mut self.files);
        for Found { path, content } in found {
            let mut file = missing.remove(&path).unwrap_or_default();
            file.gone = None;
            file.problem = match &content {
                Content::Failed(error) => Some(error.to_string()),
                Content::Keys(_) | Content::Same => None,
            };
            changed |= match content {
                Content::Keys(keys) => file.replace(keys, now),
                Content::Same => file.settle(now),
                Content::Failed(_) => {
                    file.next = None;
                    false
                }
            };
            self.files.insert(path, file);
        }
        for (path, mut file) in missing {
            let since = *file.gone.get_or_insert(now);
            if file.keys.is_empty() || now.duration_since(since) >= SETTLE {
                changed |= !file.keys.is_empty();
            } else {
                self.files.insert(path, file);
            }
        }
        changed
    }

    fn remarks(&mut self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if self.told != self.problem.is_some() {
            self.told = !self.told;
            remarks.push(match &self.problem {
                Some(problem) => Remark::Unreadable(problem.clone()),
                None => Remark::Readable,
            });
        }
        for (path, file) in &mut self.files {
            if file.told != file.problem {
                file.told.clone_from(&file.problem);
                remarks.push(match &file.problem {
                    Some(problem) => Remark::FileBroken(problem.clone()),
                    None => Remark::FileMended(path.clone()),
                });
            }
        }
        remarks
    }
}

impl Listed {
    /// The file says something else than before. Returns whether other keys count now.
    fn replace(&mut self, keys: Entries, now: Instant) -> bool {
        let mut before = self.keys.iter();
        let kept = before.all(|(key, user_id)| keys.get(key) == Some(user_id));
        let since = if kept {
            self.lacks = None;
            None
        } else {
            Some(*self.lacks.get_or_insert(now))
        };
        let waits = since.is_some_and(|since| now.duration_since(since) < SETTLE_AT_MOST);
        if !waits {
            return self.become_settled(keys);
        }
        let before = self.keys.len();
        for (key, user_id) in &keys {
            self.keys.entry(*key).or_insert_with(|| user_id.clone());
        }
        self.next = Some((keys, now));
        self.keys.len() > before
    }

    /// The file says the same as before.
    fn settle(&mut self, now: Instant) -> bool {
        match self.next.take() {
            Some((keys, since)) if now.duration_since(since) >= SETTLE => self.become_settled(keys),
            next => {
                self.next = next;
                false
            }
        }
    }

    fn become_settled(&mut self, keys: Entries) -> bool {
        self.next = None;
        self.lacks = None;
        let changed = self.keys != keys;
        self.keys = keys;
        changed
    }
}
