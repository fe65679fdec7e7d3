//! A pattern of endpoints and an endpoint, each of any text: nothing panics or takes long, and a star reaches
//! over no dot of a host and no slash of a path.

#![no_main]
#![allow(dead_code, reason = "only the comparison is driven")]

use libfuzzer_sys::fuzz_target;
use sealwire::Endpoint;

// Not part of any crate's interface, and needs nothing of the crate around it but these.
#[path = "../../crates/sealwire-policy/src/host.rs"]
mod host;
#[path = "../../crates/sealwire-policy/src/pattern.rs"]
mod pattern;
#[path = "../../crates/sealwire-policy/src/socket_file.rs"]
mod socket_file;
#[path = "../../crates/sealwire-policy/src/wildcard.rs"]
mod wildcard;

use pattern::{Pattern, Subject};

/// Transport, host, port and path of a text.
fn parts(text: &str) -> (&str, &str, &str, Option<&str>) {
    let (transport, rest) = text.split_once("://").expect("a transport");
    if transport == "ipc" {
        return (transport, "", "", Some(rest));
    }
    let (authority, path) = match rest.find('/').filter(|_| transport == "ws") {
        Some(slash) => (&rest[..slash], Some(&rest[slash..])),
        None => (rest, None),
    };
    let authority = authority.rsplit(';').next().unwrap_or_default();
    let (host, port) = authority.rsplit_once(':').expect("a port");
    (transport, host, port, path)
}

/// Without its star, a part is the same in length at least; with one that has company, in what it may not pass.
fn check(pattern: &str, text: &str, end: char) {
    if pattern == "*" {
        return;
    }
    let count = |text: &str| text.matches(end).count();
    assert_eq!(count(pattern), count(text), "{pattern} {text}");
    let fixed = pattern.bytes().filter(|octet| *octet != b'*').count();
    assert!(fixed <= text.len(), "{pattern} {text}");
}

fn bare(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fuzz_target!(|input: &str| {
    let Some((text, endpoint)) = input.split_once('\n') else {
        return;
    };
    let Ok(pattern) = text.parse::<Pattern>() else {
        return;
    };
    assert_eq!(pattern.to_string(), text);
    let Ok(endpoint) = endpoint.parse::<Endpoint>() else {
        return;
    };
    // Any file may be a link to what is named.
    let is_file = matches!(endpoint, Endpoint::Ipc(_));
    if !matches!(pattern.fits(&Subject::of(&endpoint), false), Ok(true)) || is_file {
        return;
    }
    let written = endpoint.to_string();
    let (ours, theirs) = (parts(text), parts(&written));
    assert_eq!(ours.0, theirs.0);
    // An address has many spellings, and a name may end with a dot.
    let is_address = theirs
        .1
        .starts_with(|first: char| first == '[' || first.is_ascii_digit());
    if !is_address {
        check(bare(ours.1), bare(theirs.1), '.');
    }
    if let (Some(ours), Some(theirs)) = (ours.3, theirs.3) {
        check(ours, theirs, '/');
    }
});
