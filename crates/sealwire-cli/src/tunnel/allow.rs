//! Whom a listener lets in: keys, files with keys, and folders of such files, read again and again.
//!
//! An added key counts at once. A removed key counts once it has been missing for a moment, so that
//! a file that is being written cuts nobody. A file that cannot be read or understood keeps its last
//! valid keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sealwire_tunnel::PublicKey;

use crate::exit::Failure;
use crate::newplex::keys;

/// A removal counts when it is seen again this long after.
pub(super) const SETTLE: Duration = Duration::from_millis(300);
/// It counts after this time in any case, also where the file is never the same twice.
const SETTLE_AT_MOST: Duration = Duration::from_secs(5);
/// Files of a folder.
const MAX_FILES: usize = 65_536;

/// Public keys, as bytes.
pub(super) type Keys = BTreeSet<[u8; 32]>;

#[derive(Debug)]
pub(super) struct AllowList {
    /// Named on the command line.
    fixed: Keys,
    /// Files and folders.
    paths: Vec<PathBuf>,
    files: BTreeMap<PathBuf, Listed>,
    /// What could not be read, as last told.
    problems: BTreeMap<PathBuf, String>,
}

/// What counts of one file.
#[derive(Debug, Default)]
struct Listed {
    keys: Keys,
    /// What will count when it is the same for long enough: since when it is.
    next: Option<(Keys, Instant)>,
    /// Since when the file lacks some of what counts.
    lacks: Option<Instant>,
}

/// What a reading of the disk found.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// The keys that are let in.
    pub(super) keys: Keys,
    /// Whether all of the list could be read.
    pub(super) is_complete: bool,
    /// Whether keys may have been taken off.
    pub(super) removed: bool,
    /// For the log.
    pub(super) remarks: Vec<String>,
    /// How long it took.
    pub(super) took: Duration,
}

impl Snapshot {
    pub(super) fn allows(&self, key: &PublicKey) -> bool {
        self.keys.contains(&key.to_bytes())
    }
}

impl AllowList {
    /// Reads everything once, so that mistakes show at the start.
    pub(super) fn new(sources: &[String], now: Instant) -> Result<(Self, Snapshot), Failure> {
        let (mut fixed, mut paths) = (Keys::new(), Vec::new());
        for source in sources {
            match keys::parse_public(source) {
                Some(key) => drop(fixed.insert(key.to_bytes())),
                None => paths.push(source.into()),
            }
        }
        let mut list = AllowList {
            fixed,
            paths,
            files: BTreeMap::new(),
            problems: BTreeMap::new(),
        };
        for path in list.paths.clone() {
            for file in files_of(&path)? {
                keys::read_public_list(&file)?;
            }
        }
        let snapshot = list.read(now);
        Ok((list, snapshot))
    }

    /// Reads what is on disk.
    pub(super) fn read(&mut self, now: Instant) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let (mut problems, mut seen) = (BTreeMap::new(), BTreeSet::new());
        for path in self.paths.clone() {
            match files_of(&path) {
                Ok(files) => {
                    for file in files {
                        self.read_file(&file, now, &mut problems, &mut snapshot);
                        seen.insert(file);
                    }
                }
                Err(failure) => {
                    problems.insert(path.clone(), failure.message().to_owned());
                    // All that was there stays, also of a folder.
                    let below = |file: &&PathBuf| file.starts_with(&path);
                    seen.extend(self.files.keys().filter(below).cloned());
                }
            }
        }
        self.files.retain(|path, file| {
            let stays = seen.contains(path) || !file.lack_all(now);
            snapshot.removed |= !stays;
            stays
        });
        for (path, problem) in &problems {
            if !self.problems.contains_key(path) {
                let text = format!("--allow: {problem}: what it said last stays allowed");
                snapshot.remarks.push(text);
            }
        }
        self.problems = problems;
        snapshot.is_complete = self.problems.is_empty();
        let files = self.files.values().flat_map(|file| &file.keys);
        snapshot.keys = self.fixed.iter().chain(files).copied().collect();
        snapshot.took = now.elapsed();
        snapshot
    }

    fn read_file(
        &mut self,
        path: &Path,
        now: Instant,
        problems: &mut BTreeMap<PathBuf, String>,
        snapshot: &mut Snapshot,
    ) {
        let file = self.files.entry(path.to_owned()).or_default();
        match keys::read_public_list(path) {
            Ok(keys) => {
                let keys = keys.iter().map(PublicKey::to_bytes).collect();
                snapshot.removed |= file.take(keys, now);
            }
            Err(failure) => {
                file.next = None;
                problems.insert(path.to_owned(), failure.message().to_owned());
            }
        }
    }
}

impl Listed {
    /// The file says this now. Returns whether keys were taken off.
    fn take(&mut self, keys: Keys, now: Instant) -> bool {
        if self.keys.is_subset(&keys) {
            *self = Listed {
                keys,
                ..Listed::default()
            };
            return false;
        }
        let lacks = *self.lacks.get_or_insert(now);
        let since = match &self.next {
            Some((next, since)) if *next == keys => *since,
            _ => now,
        };
        if now - since >= SETTLE || now - lacks >= SETTLE_AT_MOST {
            *self = Listed {
                keys,
                ..Listed::default()
            };
            return true;
        }
        self.keys.extend(&keys);
        self.next = Some((keys, since));
        false
    }

    /// The file is gone from its folder. Returns whether nothing of it counts any more.
    fn lack_all(&mut self, now: Instant) -> bool {
        self.take(Keys::new(), now);
        self.keys.is_empty()
    }
}

/// A file itself, or the files of a folder whose names end with `.pub`.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error| keys::at(path, &format!("cannot be read: {error}"));
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(vec![path.to_owned()]),
        Err(error) => return Err(cannot(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(cannot)?.path();
        if file.extension().is_some_and(|extension| extension == "pub") {
            files.push(file);
        }
        if files.len() > MAX_FILES {
            return Err(keys::at(path, &format!("has more than {MAX_FILES} files")));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use sealwire_tunnel::SecretKey;
    use tempfile::TempDir;

    use super::*;

    struct Scene {
        folder: TempDir,
        now: Instant,
    }

    fn key() -> PublicKey {
        *SecretKey::generate().unwrap().public_key()
    }

    fn line(key: &PublicKey) -> String {
        let digits: String = key.to_bytes().iter().map(|b| format!("{b:02x}")).collect();
        format!("newplex-public-key-v1:{digits}\n")
    }

    impl Scene {
        fn new() -> Self {
            Scene {
                folder: tempfile::tempdir().unwrap(),
                now: Instant::now(),
            }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.path(name), text).unwrap();
        }

        fn list(&self, name: &str) -> AllowList {
            let path = self.path(name).to_str().unwrap().to_owned();
            AllowList::new(&[path], self.now).unwrap().0
        }

        /// The reading `later` milliseconds after the one before.
        fn read(&mut self, list: &mut AllowList, later: u64) -> Snapshot {
            self.now += Duration::from_millis(later);
            list.read(self.now)
        }
    }

    #[test]
    fn what_is_added_counts_at_once_and_what_is_taken_off_once_it_has_settled() {
        let mut scene = Scene::new();
        let (alice, bob) = (key(), key());
        scene.write("list", &line(&alice));
        let mut list = scene.list("list");
        scene.write("list", &line(&bob));
        let snapshot = scene.read(&mut list, 500);
        assert!(!snapshot.removed && snapshot.allows(&alice) && snapshot.allows(&bob));
        let snapshot = scene.read(&mut list, 500);
        assert!(snapshot.removed && !snapshot.allows(&alice) && snapshot.allows(&bob));
    }

    #[test]
    fn a_file_that_is_being_written_cuts_nobody() {
        let mut scene = Scene::new();
        let (alice, bob) = (key(), key());
        let whole = line(&alice) + &line(&bob);
        scene.write("list", &whole);
        let mut list = scene.list("list");
        // Emptied, a part of it, half a line, and all of it again.
        for length in [0, line(&alice).len(), line(&alice).len() + 30, whole.len()] {
            scene.write("list", &whole[..length]);
            let snapshot = scene.read(&mut list, 250);
            assert!(!snapshot.removed, "{length}");
            assert!(snapshot.allows(&alice) && snapshot.allows(&bob), "{length}");
        }
        // One that is never the same twice keeps nobody in for ever.
        let mut removed = false;
        for number in 0..=20 {
            scene.write("list", &(line(&alice) + &line(&key())));
            let snapshot = scene.read(&mut list, 250);
            removed |= snapshot.removed;
            assert_eq!(removed, number * 250 >= 5_000, "{number}");
            assert_eq!(snapshot.allows(&bob), !removed);
        }
    }

    #[test]
    fn what_cannot_be_read_keeps_what_it_said_and_touches_no_other() {
        let mut scene = Scene::new();
        let (alice, bob, carol) = (key(), key(), key());
        fs::create_dir(scene.path("clients")).unwrap();
        scene.write("clients/alice.pub", &line(&alice));
        scene.write("clients/bob.pub", &line(&bob));
        let mut list = scene.list("clients");
        scene.write("clients/alice.pub", "newplex-public-key-v1:0123");
        fs::remove_file(scene.path("clients/bob.pub")).unwrap();
        scene.write("clients/carol.pub", &line(&carol));
        let snapshot = scene.read(&mut list, 500);
        assert_eq!(snapshot.remarks.len(), 1);
        assert!(
            snapshot.remarks[0].contains("alice.pub"),
            "{:?}",
            snapshot.remarks
        );
        assert!(!snapshot.is_complete);
        let snapshot = scene.read(&mut list, 500);
        assert!(snapshot.remarks.is_empty(), "told once");
        assert!(snapshot.allows(&alice) && !snapshot.allows(&bob) && snapshot.allows(&carol));
        scene.write("clients/alice.pub", &line(&alice));
        let snapshot = scene.read(&mut list, 500);
        assert!(snapshot.is_complete && snapshot.allows(&alice));
    }

    #[test]
    fn a_list_that_is_gone_stays_as_it_was() {
        let mut scene = Scene::new();
        let alice = key();
        scene.write("list", &line(&alice));
        let mut list = scene.list("list");
        fs::remove_file(scene.path("list")).unwrap();
        for _ in 0..20 {
            let snapshot = scene.read(&mut list, 500);
            assert!(!snapshot.removed && !snapshot.is_complete && snapshot.allows(&alice));
        }
        // Emptied, it turns everybody away.
        scene.write("list", "");
        scene.read(&mut list, 500);
        let snapshot = scene.read(&mut list, 500);
        assert!(snapshot.removed && snapshot.is_complete && !snapshot.allows(&alice));
    }
}
