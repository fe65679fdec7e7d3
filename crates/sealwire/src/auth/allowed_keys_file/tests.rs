//! Lists under edits, on a real file system where that matters and on a clock of the test's own.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sealwire_zmtp::KeyPair;
use sealwire_zmtp::PublicKey;
use sealwire_zmtp::wire::metadata::Metadata;

use super::list::{List, Remark, SETTLE, SETTLE_AT_MOST};
use super::snapshot::{Bounds, Content, Found, Snapshot};
use super::*;
use crate::keys::Generate as _;
use crate::peer::PeerAddress;

const TICK: Duration = Duration::from_millis(500);

fn key() -> PublicKey {
    KeyPair::generate().public()
}

fn found(path: &str, keys: &[PublicKey]) -> Found {
    Found {
        path: path.into(),
        content: Content::Keys(keys.iter().map(|key| (*key, None)).collect()),
    }
}

fn same(path: &str) -> Found {
    Found {
        path: path.into(),
        content: Content::Same,
    }
}

fn broken(path: &str) -> Found {
    Found {
        path: path.into(),
        content: Content::Failed(KeyFileError::NotText { path: path.into() }),
    }
}

/// A reading of these files.
fn files(files: Vec<Found>) -> Snapshot {
    Snapshot {
        files,
        device: None,
    }
}

fn failed(code: i32) -> KeyFileError {
    KeyFileError::read("list".as_ref(), io::Error::from_raw_os_error(code))
}

fn allows(list: &List, keys: &[PublicKey]) -> Vec<bool> {
    let allowed = list.keys();
    keys.iter()
        .map(|key| allowed.user_id(*key).is_some())
        .collect()
}

#[test]
fn a_list_that_cannot_be_read_stays_as_it_was_and_says_so_once() {
    use rustix::io::Errno;
    let (one, now) = (key(), Instant::now());
    for errno in [
        Errno::MFILE,
        Errno::NFILE,
        Errno::IO,
        Errno::ACCESS,
        Errno::NOENT,
        Errno::NOMEM,
    ] {
        let mut list = List::new(files(vec![found("list", &[one])]), now).unwrap();
        let first = list.take(Err(failed(errno.raw_os_error())), now + TICK);
        assert!(!first.changed && first.incomplete, "{errno}");
        assert!(
            matches!(first.remarks[..], [Remark::Unreadable(_)]),
            "{errno}"
        );
        for readings in 2..100 {
            let next = list.take(Err(failed(errno.raw_os_error())), now + readings * TICK);
            assert!(!next.changed && next.incomplete && next.remarks.is_empty());
        }
        assert_eq!(allows(&list, &[one]), [true], "{errno}");
        let over = list.take(Ok(files(vec![same("list")])), now + 100 * TICK);
        assert_eq!(over.remarks, [Remark::Readable]);
        assert!(!over.changed && !over.incomplete);
    }
}

#[test]
fn a_broken_file_keeps_its_own_key_and_touches_no_other() {
    let ([one, two, three], now) = ([(); 3].map(|()| key()), Instant::now());
    let both = vec![found("one.pub", &[one]), found("two.pub", &[two])];
    let mut list = List::new(files(both), now).unwrap();
    let snapshot = || vec![broken("one.pub"), same("two.pub")];
    let first = list.take(Ok(files(snapshot())), now + TICK);
    assert!(matches!(first.remarks[..], [Remark::FileBroken(_)]));
    for readings in 2..20 {
        let next = list.take(Ok(files(snapshot())), now + readings * TICK);
        assert!(next.remarks.is_empty() && next.incomplete && !next.changed);
    }
    assert_eq!(allows(&list, &[one, two]), [true, true]);
    // A new client beside it gets in at once, and what is whole again counts.
    let snapshot = vec![
        broken("one.pub"),
        found("three.pub", &[three]),
        same("two.pub"),
    ];
    assert!(list.take(Ok(files(snapshot)), now + 20 * TICK).changed);
    assert_eq!(allows(&list, &[one, two, three]), [true; 3]);
    let snapshot = vec![found("one.pub", &[one]), same("three.pub"), same("two.pub")];
    let mended = list.take(Ok(files(snapshot)), now + 21 * TICK);
    assert_eq!(
        mended.remarks,
        [Remark::FileMended(PathBuf::from("one.pub"))]
    );
    assert!(!mended.incomplete);
}

#[test]
fn a_list_that_is_being_written_removes_nobody() {
    let ([one, two, three], now) = ([(); 3].map(|()| key()), Instant::now());
    let mut list = List::new(files(vec![found("list", &[one, two])]), now).unwrap();
    // Emptied, then written bit by bit, with a reading in between each time; an addition counts.
    for (readings, keys) in [(1, &[][..]), (2, &[three]), (3, &[three, one])] {
        list.take(Ok(files(vec![found("list", keys)])), now + readings * TICK);
        assert_eq!(allows(&list, &[one, two]), [true, true]);
    }
    let complete = found("list", &[three, one, two]);
    list.take(Ok(files(vec![complete])), now + 4 * TICK);
    list.take(Ok(files(vec![same("list")])), now + 5 * TICK);
    assert_eq!(allows(&list, &[one, two, three]), [true; 3]);
}

#[test]
fn a_removal_counts_once_it_is_seen_twice_apart() {
    let ([one, two], now) = ([key(), key()], Instant::now());
    for emptied in [false, true] {
        let mut list = List::new(files(vec![found("list", &[one, two])]), now).unwrap();
        let rest = if emptied { &[][..] } else { &[one] };
        let early = now + SETTLE - Duration::from_millis(1);
        assert!(!list.take(Ok(files(vec![found("list", rest)])), now).changed);
        assert!(!list.take(Ok(files(vec![same("list")])), early).changed);
        assert!(
            list.take(Ok(files(vec![same("list")])), now + SETTLE)
                .changed
        );
        assert_eq!(allows(&list, &[one, two]), [!emptied, false]);
    }
    // A file of a directory likewise.
    let both = vec![found("one.pub", &[one]), found("two.pub", &[two])];
    let mut list = List::new(files(both), now).unwrap();
    assert!(!list.take(Ok(files(vec![same("one.pub")])), now).changed);
    assert!(
        list.take(Ok(files(vec![same("one.pub")])), now + SETTLE)
            .changed
    );
    assert_eq!(allows(&list, &[one, two]), [true, false]);
}

#[test]
fn a_file_that_never_rests_cannot_keep_a_key_on_the_list() {
    let ([one, two], now) = ([key(), key()], Instant::now());
    let mut list = List::new(files(vec![found("list", &[one, two])]), now).unwrap();
    list.take(Ok(files(vec![found("list", &[one])])), now);
    list.take(Ok(files(vec![found("list", &[one, key()])])), now + TICK);
    assert_eq!(allows(&list, &[two]), [true]);
    list.take(Ok(files(vec![found("list", &[one])])), now + SETTLE_AT_MOST);
    assert_eq!(allows(&list, &[one, two]), [true, false]);
}

/// Asks a list on disk about a key.
fn ask(list: &AllowedKeysFile, key: PublicKey) -> Decision {
    list.authenticate(&Client {
        public_key: key,
        address: &PeerAddress::Unknown,
        metadata: &Metadata::default(),
        process: None,
    })
}

/// Looks until the number of the list is another one.
fn until_revised(list: &AllowedKeysFile, revision: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while list.revision() == Some(revision) {
        assert!(Instant::now() < deadline, "the change goes unnoticed");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn content_counts_whatever_size_and_time_say() {
    let folder = tempfile::tempdir().unwrap();
    let (stays, goes, comes) = (key(), key(), key());
    let file = folder.path().join("client.pub");
    let list_file = folder.path().join("list");
    fs::write(&file, goes.to_string()).unwrap();
    fs::write(&list_file, format!("{stays}\n{goes}\n")).unwrap();
    for (path, text) in [
        (&file, comes.to_string()),
        (&list_file, format!("{stays}\n{comes}\n")),
    ] {
        let list = AllowedKeysFile::open(path).unwrap();
        assert!(matches!(ask(&list, goes), Decision::Allow { .. }));
        let before = fs::metadata(path).unwrap();
        fs::write(path, text).unwrap();
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
        let after = fs::metadata(path).unwrap();
        assert_eq!(
            (before.len(), before.modified().unwrap()),
            (after.len(), after.modified().unwrap())
        );
        // The new key at once, the removal when it has settled.
        assert_eq!(list.revision(), Some(1));
        assert!(matches!(ask(&list, comes), Decision::Allow { .. }));
        until_revised(&list, 1);
        assert!(matches!(ask(&list, goes), Decision::Refuse { .. }));
    }
}

#[test]
fn a_large_directory_is_read_again_where_it_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (goes, comes) = (key(), key());
    let text = key().to_string();
    for number in 0..1_100 {
        fs::write(folder.path().join(format!("{number}.pub")), &text).unwrap();
    }
    let changing = folder.path().join("500.pub");
    fs::write(&changing, goes.to_string()).unwrap();
    let list = AllowedKeysFile::open(folder.path()).unwrap();
    let before = fs::metadata(&changing).unwrap().modified().unwrap();
    fs::write(&changing, comes.to_string()).unwrap();
    let file = fs::File::options().write(true).open(&changing).unwrap();
    file.set_modified(before).unwrap();
    assert_eq!(list.revision(), Some(1));
    until_revised(&list, 1);
    assert!(matches!(ask(&list, comes), Decision::Allow { .. }));
    assert!(matches!(ask(&list, goes), Decision::Refuse { .. }));
}

#[test]
fn strangers_come_again_while_the_list_is_away_and_friends_are_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("allowed");
    let (friend, stranger) = (key(), key());
    fs::create_dir(&path).unwrap();
    fs::write(path.join("friend.pub"), friend.to_string()).unwrap();
    let list = AllowedKeysFile::open(&path).unwrap();
    let status = |key| match ask(&list, key) {
        Decision::Refuse { status, .. } => Some(status),
        Decision::Allow { .. } => None,
    };
    assert_eq!(list.revision(), Some(0));
    let away = folder.path().join("away");
    fs::rename(&path, &away).unwrap();
    assert_eq!(list.revision(), Some(0));
    assert_eq!(status(friend), None);
    assert_eq!(status(stranger), Some(Status::Temporary));
    fs::rename(&away, &path).unwrap();
    assert_eq!(list.revision(), Some(0));
    let deadline = Instant::now() + Duration::from_secs(60);
    while status(stranger) != Some(Status::Refused) {
        assert!(Instant::now() < deadline, "still a temporary refusal");
    }
    // A file that nobody can open is the same for those who may be in it.
    std::os::unix::fs::symlink("loop.pub", path.join("loop.pub")).unwrap();
    assert_eq!(list.revision(), Some(0));
    assert_eq!(status(friend), None);
    assert_eq!(status(stranger), Some(Status::Temporary));
}

#[test]
fn nobody_waits_for_the_thread_that_reads() {
    let folder = tempfile::tempdir().unwrap();
    let (friend, stranger) = (key(), key());
    fs::write(folder.path().join("friend.pub"), friend.to_string()).unwrap();
    let list = AllowedKeysFile::open(folder.path()).unwrap();
    let reading = list.watch.lock().unwrap();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| (ask(&list, friend), ask(&list, stranger), list.revision()));
        // It ends though the lock is held, or the test hangs.
        let (friend, stranger, revision) = asked.join().unwrap();
        assert_eq!(friend, Decision::allow_as("friend"));
        assert_eq!(
            stranger,
            Decision::refuse_as(Status::Temporary, NOT_ALLOWED)
        );
        assert_eq!(revision, Some(0));
    });
    drop(reading);
}

#[test]
fn lists_beyond_the_bounds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    fs::write(&path, "# comment\n".repeat((16 << 20) / 10 + 1)).unwrap();
    assert!(matches!(
        AllowedKeysFile::open(&path),
        Err(KeyFileError::TooLarge {
            limit: 16_777_216,
            ..
        })
    ));
    assert_eq!((BOUNDS.files, BOUNDS.size), (65_536, 64 << 20));
    let clients = folder.path().join("clients");
    fs::create_dir(&clients).unwrap();
    let text = key().to_string();
    for number in 0..3 {
        fs::write(clients.join(format!("{number}.pub")), &text).unwrap();
    }
    // These count for nothing.
    fs::write(clients.join(".hidden"), &text).unwrap();
    fs::write(clients.join("0.key_secret"), &text).unwrap();
    let all = 3 * text.len() as u64;
    let read =
        |files, size| snapshot::read(&clients, &mut Memory::default(), &Bounds { files, size });
    assert_eq!(read(3, all).unwrap().files.len(), 3);
    assert!(matches!(
        read(2, all),
        Err(KeyFileError::TooMany { limit: 2, .. })
    ));
    match read(3, all - 1) {
        Err(KeyFileError::TooLarge { limit, .. }) => assert_eq!(limit, all - 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_list_that_comes_and_goes_is_told_of_once_a_second() {
    let (one, now) = (key(), Instant::now());
    let mut list = List::new(files(vec![found("list", &[one])]), now).unwrap();
    let seconds = 10_u64;
    let mut told = Vec::new();
    for reading in 0..1_000 * seconds {
        let at = now + Duration::from_millis(reading);
        let found = match reading % 2 {
            0 => Err(failed(24)),
            _ => Ok(files(vec![broken("list")])),
        };
        told.extend(list.take(found, at).remarks);
    }
    // Of the list and of its file.
    assert!(told.len() <= 2 * seconds as usize, "{}", told.len());
    // How things are in the end is told in any case.
    let over = now + Duration::from_secs(60);
    let last = list.take(Ok(files(vec![found("list", &[one])])), over);
    assert!([Remark::Readable, Remark::FileMended("list".into())].ends_with(&last.remarks));
    assert!(!last.incomplete);
}

#[test]
fn an_empty_directory_counts_where_the_keys_were_and_nowhere_else() {
    let (one, now) = (key(), Instant::now());
    let on = |device, files| {
        Ok(Snapshot {
            files,
            device: Some(device),
        })
    };
    let mut list = List::new(on(1, vec![found("one.pub", &[one])]).unwrap(), now).unwrap();
    // Not mounted: what is seen is the place to mount to.
    for readings in 1..10 {
        let unmounted = list.take(on(2, Vec::new()), now + readings * TICK);
        assert!(!unmounted.changed && unmounted.incomplete);
        assert_eq!(unmounted.remarks.len(), usize::from(readings == 1));
    }
    // Mounted again, from another device by now; then emptied.
    let mounted = list.take(on(3, vec![same("one.pub")]), now + 10 * TICK);
    assert_eq!(mounted.remarks, [Remark::Readable]);
    assert!(!list.take(on(3, Vec::new()), now + 11 * TICK).incomplete);
    assert!(list.take(on(3, Vec::new()), now + 12 * TICK).changed);
    assert_eq!(allows(&list, &[one]), [false]);
    // Nothing is left to be kept.
    assert!(!list.take(on(2, Vec::new()), now + 13 * TICK).incomplete);
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_is_not_mounted_any_more_cuts_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (friend, stranger) = (key(), key());
    let (mounted, path) = (folder.path().join("mounted"), folder.path().join("allowed"));
    fs::create_dir(&mounted).unwrap();
    fs::write(mounted.join("friend.pub"), friend.to_string()).unwrap();
    std::os::unix::fs::symlink(&mounted, &path).unwrap();
    let list = AllowedKeysFile::open(&path).unwrap();
    // A directory of another file system without any file in it, as a place to mount to has.
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/proc/sys", &path).unwrap();
    assert_eq!(list.revision(), Some(0));
    assert_eq!(ask(&list, friend), Decision::allow_as("friend"));
    let temporary = Decision::refuse_as(Status::Temporary, NOT_ALLOWED);
    assert_eq!(ask(&list, stranger), temporary);
}
