//! Groups that the test gives to its process, which all threads of it have: a binary of its own.
#![cfg(target_os = "linux")]

use std::os::unix::net::UnixStream;

/// More than most processes have.
const GROUPS: std::ops::Range<u32> = 70_000..70_100;

fn set_groups(groups: &[libc::gid_t]) -> bool {
    // SAFETY: the pointer and the length are of one slice.
    unsafe { libc::setgroups(groups.len(), groups.as_ptr()) == 0 }
}

#[test]
fn a_peer_has_the_groups_of_when_it_connected() {
    let groups: Vec<u32> = GROUPS.collect();
    if !set_groups(&groups) {
        println!("skipped: only the superuser gives itself groups");
        return;
    }
    let (one, _other) = UnixStream::pair().unwrap();
    assert!(set_groups(&groups[..3]));
    let (later, _other) = UnixStream::pair().unwrap();
    assert_eq!(sealwire_unix::peer_groups(&one).unwrap(), groups);
    assert_eq!(sealwire_unix::peer_groups(&later).unwrap(), groups[..3]);
    assert!(set_groups(&[]));
    let (none, _other) = UnixStream::pair().unwrap();
    assert!(sealwire_unix::peer_groups(&none).unwrap().is_empty());
}
