//! What both sides of a failed connection tell, beside what docs/failures.md says of it.
//!
//! A scene makes a connection fail and returns what each side told. The page names for each cause what the other
//! side tells: both must agree in both directions, so that neither a scene nor a row is alone.

mod before;
mod handshake;
mod later;

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use crate::support::await_event;
use sealwire::{Event, Monitor};

/// There was no other side, or it heard of nothing.
const NOTHING: &str = "nothing";
/// The peer left, which does not count as a failure.
const LEFT: &str = "a closed connection";

/// What the system says of an end in its place where bytes were on their way.
const RESET: &str = "transport";

/// A cause, what the other side tells, and what shows that: what each side told first.
struct Scene(&'static str, &'static str, fn() -> [&'static str; 2]);

const SCENES: &[Scene] = &[
    Scene("resolve", NOTHING, before::no_such_name),
    Scene("connect", NOTHING, before::nobody_listens),
    Scene("proxy", NOTHING, before::a_proxy_refuses),
    Scene(
        "too_many_connections",
        "closed_in_handshake",
        before::a_listener_is_full,
    ),
    Scene(
        "address_limit",
        "closed_in_handshake",
        before::an_address_has_its_share,
    ),
    #[cfg(feature = "wss")]
    Scene("tls", "tls", before::a_certificate_is_not_believed),
    #[cfg(feature = "ws")]
    Scene("websocket", "websocket", before::a_host_is_not_allowed),
    #[cfg(feature = "ws")]
    Scene("websocket", LEFT, later::no_frame_of_a_websocket),
    Scene("protocol", "closed_in_handshake", handshake::not_zmtp),
    Scene("incompatible", "incompatible", handshake::other_mechanisms),
    Scene("incompatible", "refused_by_peer", handshake::other_types),
    Scene("handshake", "closed_in_handshake", handshake::another_key),
    Scene(
        "handshake_timeout",
        "closed_in_handshake",
        handshake::nobody_decides,
    ),
    Scene(
        "handshake_evicted",
        "closed_in_handshake",
        handshake::another_comes,
    ),
    Scene("refused", "refused_by_peer", handshake::not_allowed),
    Scene(
        "refused",
        "closed_in_handshake",
        handshake::not_allowed_for_now,
    ),
    Scene(
        "refused_by_zap",
        "refused_by_peer",
        handshake::refused_by_a_handler,
    ),
    Scene(
        "refused_by_zap",
        "closed_in_handshake",
        handshake::refused_by_a_handler_for_now,
    ),
    Scene("rejected", "refused_by_peer", handshake::one_peer_only),
    Scene(
        "key_limit",
        "refused_by_peer",
        handshake::a_key_has_its_share,
    ),
    Scene("transport", "transport", later::reset),
    Scene("transport", LEFT, later::reset_on_one_side),
    Scene("closed", LEFT, later::cut_in_a_message),
    Scene("heartbeat_timeout", LEFT, later::silent),
    Scene("frame_not_verified", LEFT, later::changed_on_its_way),
    Scene("too_large", "refused_by_peer", later::larger_than_allowed),
    Scene("limit_exceeded", "refused_by_peer", later::too_many_topics),
    Scene("key_withdrawn", LEFT, later::key_replaced),
    Scene("internal", LEFT, later::panics),
];

/// Pairs of the page that a test of another place shows, or none can.
const ELSEWHERE: &[(&str, &str)] = &[
    // A process of its own: `tests/descriptors.rs` shows this side.
    ("out_of_descriptors", "closed_in_handshake"),
    // After 2^64 - 1 frames.
    ("counter_exhausted", LEFT),
    // The network, or the other process, is gone: nobody is there to be asked.
    ("transport", NOTHING),
    ("closed", NOTHING),
    ("heartbeat_timeout", NOTHING),
];

/// What this side told first: why its connection failed, or that the peer left.
fn told(monitor: &Monitor) -> &'static str {
    await_event(monitor, "an end", |event| match event {
        Event::Failed(failure) => Some(failure.cause().name()),
        Event::Disconnected { by_peer: true, .. } => Some(LEFT),
        _ => None,
    })
}

#[test]
fn each_side_tells_what_the_page_says() {
    let mut disagree = Vec::new();
    for Scene(here, there, play) in SCENES {
        let may_be_reset = [LEFT, "closed_in_handshake", "refused_by_peer"].contains(there);
        let told = match thread::spawn(play).join() {
            Ok([at, beside]) if at == *here && beside == *there => continue,
            Ok([at, RESET]) if at == *here && may_be_reset => continue,
            Ok(told) => format!("{told:?}"),
            Err(_) => "a panic".to_owned(),
        };
        disagree.push(format!("{here} beside {there}: {told}"));
    }
    assert!(disagree.is_empty(), "{disagree:#?}");
}

#[test]
fn the_page_names_for_each_cause_what_the_other_side_tells() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/failures.md");
    let page = fs::read_to_string(page).unwrap();
    let mut of_page = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let (name, other) = (cells[0].trim_matches(['|', '`', ' ']), cells[2]);
        let causes = other.split('`').skip(1).step_by(2);
        let words = [NOTHING, LEFT].into_iter().filter(|it| other.contains(it));
        of_page.extend(
            causes
                .chain(words)
                .map(|it| (name.to_owned(), it.to_owned())),
        );
    }
    let scenes = SCENES.iter().map(|Scene(here, there, _)| (*here, *there));
    let mut shown = BTreeSet::new();
    for (here, there) in scenes.chain(ELSEWHERE.iter().copied()) {
        shown.insert((here.to_owned(), there.to_owned()));
        if ![NOTHING, LEFT].contains(&there) {
            shown.insert((there.to_owned(), here.to_owned()));
        }
    }
    let unless_built = |pair: &&(String, String)| {
        let has = |cause, feature| feature || pair.0 != cause;
        has("tls", cfg!(feature = "wss")) && has("websocket", cfg!(feature = "ws"))
    };
    let of_page: BTreeSet<_> = of_page.iter().filter(unless_built).collect();
    let shown: BTreeSet<_> = shown.iter().collect();
    let difference: Vec<_> = of_page.symmetric_difference(&shown).collect();
    assert!(difference.is_empty(), "on one side only: {difference:?}");
}
