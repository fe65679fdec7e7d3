//! What of a list counts, look by look: additions at once, removals once they have settled, and of
//! what cannot be read the last that could. Knows no file system and no clock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::look::{Content, Entries, Found};
use crate::auth::AllowedKeys;
use crate::keys::KeyFileError;

/// A removal counts when it is seen again this long after.
pub(super) const SETTLE: Duration = Duration::from_millis(300);
/// It counts after this time in any case, also where the file is never the same twice.
pub(super) const SETTLE_AT_MOST: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct List {
    files: BTreeMap<PathBuf, Listed>,
    /// Why the list as a whole could not be read.
    problem: Option<String>,
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
}

/// What became of a look.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Whether other keys count now.
    pub(super) changed: bool,
    /// Whether some of the list could not be read.
    pub(super) incomplete: bool,
    pub(super) remarks: Vec<Remark>,
}

/// Something for the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    Unreadable(String),
    Readable,
    FileBroken(String),
    FileMended(PathBuf),
}

impl List {
    /// The first look has to find no fault.
    pub(super) fn new(found: Vec<Found>, now: Instant) -> Result<Self, KeyFileError> {
        let mut sound = Vec::with_capacity(found.len());
        for file in found {
            match file.content {
                Content::Failed(error) => return Err(error),
                _ => sound.push(file),
            }
        }
        let mut list = List::default();
        list.take(Ok(sound), now);
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

    /// Takes in what a look found.
    pub(super) fn take(&mut self, look: Result<Vec<Found>, KeyFileError>, now: Instant) -> Outcome {
        let mut outcome = Outcome::default();
        match look {
            Err(error) => {
                let problem = error.to_string();
                if self.problem.is_none() {
                    outcome.remarks.push(Remark::Unreadable(problem.clone()));
                }
                self.problem = Some(problem);
            }
            Ok(found) => {
                if self.problem.take().is_some() {
                    outcome.remarks.push(Remark::Readable);
                }
                self.take_files(found, now, &mut outcome);
            }
        }
        let broken = |file: &Listed| file.problem.is_some();
        outcome.incomplete = self.problem.is_some() || self.files.values().any(broken);
        outcome
    }

    fn take_files(&mut self, found: Vec<Found>, now: Instant, outcome: &mut Outcome) {
        let mut missing = std::mem::take(&mut self.files);
        for Found { path, content } in found {
            let mut file = missing.remove(&path).unwrap_or_default();
            file.gone = None;
            let problem = match &content {
                Content::Failed(error) => Some(error.to_string()),
                Content::Keys(_) | Content::Same => None,
            };
            match (&problem, &file.problem) {
                (Some(problem), before) if before.as_ref() != Some(problem) => {
                    outcome.remarks.push(Remark::FileBroken(problem.clone()));
                }
                (None, Some(_)) => outcome.remarks.push(Remark::FileMended(path.clone())),
                _ => {}
            }
            file.problem = problem;
            outcome.changed |= match content {
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
                outcome.changed |= !file.keys.is_empty();
            } else {
                self.files.insert(path, file);
            }
        }
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
