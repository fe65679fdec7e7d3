//! The accounts of peers: bytes and objects held, by kind, and how often bounds were reached.

use std::ffi::{CString, c_char, c_void};
use std::ptr::null;
use std::sync::OnceLock;

use sealwire::account::Kind;

use crate::context::{sealwire_metric, sealwire_metric_fn};
use crate::panics::{guard, value};
use crate::peer::sealwire_peer;
use crate::pointers::{c_text, output, required};
use crate::socket::sealwire_socket;
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, sealwire_status};

/// Kind of what a peer makes this process hold: messages received and not read, in bytes.
pub const SEALWIRE_KIND_RECEIVED: i32 = 0;
/// Kind: unread messages of ended connections of one address, in bytes.
pub const SEALWIRE_KIND_LEFT_BEHIND: i32 = 1;
/// Kind: a message that has arrived in part, in bytes.
pub const SEALWIRE_KIND_ARRIVING: i32 = 2;
/// Kind: topics and groups of a subscriber, in bytes.
pub const SEALWIRE_KIND_SUBSCRIPTIONS: i32 = 3;
/// Kind: requests of a caller that are not answered, in bytes.
pub const SEALWIRE_KIND_REQUESTS: i32 = 4;
/// Kind: one-way messages and stream items without a handler yet, in bytes.
pub const SEALWIRE_KIND_UNHANDLED: i32 = 5;
/// Kind: messages queued for a peer, in bytes.
pub const SEALWIRE_KIND_QUEUED: i32 = 6;
/// Kind: subscriptions and cancellations for a publisher, in bytes.
pub const SEALWIRE_KIND_SUBSCRIPTION_CHANGES: i32 = 7;
/// Kind: answers for a caller that does not read, in bytes.
pub const SEALWIRE_KIND_ANSWERS: i32 = 8;
/// Kind: connections of one key or address.
pub const SEALWIRE_KIND_CONNECTIONS: i32 = 9;
/// Kind: handshakes of one address.
pub const SEALWIRE_KIND_HANDSHAKES: i32 = 10;
/// Kind: connections of one address to a tunnel.
pub const SEALWIRE_KIND_TUNNELS: i32 = 11;
/// Kind: timers of a connection or listener.
pub const SEALWIRE_KIND_TIMERS: i32 = 12;
/// Kind: log lines of one cause.
pub const SEALWIRE_KIND_LOG_LINES: i32 = 13;

/// Complete without a wildcard: a kind without its number does not compile.
const fn number(kind: Kind) -> i32 {
    match kind {
        Kind::Received => SEALWIRE_KIND_RECEIVED,
        Kind::LeftBehind => SEALWIRE_KIND_LEFT_BEHIND,
        Kind::Arriving => SEALWIRE_KIND_ARRIVING,
        Kind::Subscriptions => SEALWIRE_KIND_SUBSCRIPTIONS,
        Kind::Requests => SEALWIRE_KIND_REQUESTS,
        Kind::Unhandled => SEALWIRE_KIND_UNHANDLED,
        Kind::Queued => SEALWIRE_KIND_QUEUED,
        Kind::SubscriptionChanges => SEALWIRE_KIND_SUBSCRIPTION_CHANGES,
        Kind::Answers => SEALWIRE_KIND_ANSWERS,
        Kind::Connections => SEALWIRE_KIND_CONNECTIONS,
        Kind::Handshakes => SEALWIRE_KIND_HANDSHAKES,
        Kind::Tunnels => SEALWIRE_KIND_TUNNELS,
        Kind::Timers => SEALWIRE_KIND_TIMERS,
        Kind::LogLines => SEALWIRE_KIND_LOG_LINES,
    }
}

fn find(wanted: i32) -> Option<Kind> {
    Kind::ALL.into_iter().find(|&kind| number(kind) == wanted)
}

fn known(kind: i32) -> Result<Kind, Failure> {
    find(kind).ok_or_else(|| {
        let text = format!("there is no kind {kind} of what a peer makes this process hold");
        Failure::new(SEALWIRE_ERROR_ARGUMENT, text)
    })
}

/// The name of a kind for logs and metrics, for example "left_behind". NULL where there is no such
/// kind: they are numbered from 0 without a gap. Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_kind_name(kind: i32) -> *const c_char {
    // Made once, as C wants a zero octet behind each.
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    value(null(), || {
        let names = NAMES.get_or_init(|| Kind::ALL.map(|kind| c_text(kind.label())).into());
        find(kind).map_or(null(), |kind| names[kind as usize].as_ptr())
    })
}

/// Writes how much is held for the peer now: bytes, or from `SEALWIRE_KIND_CONNECTIONS` on a number.
/// The peers of `sealwire_peers_of_socket` and `sealwire_socket_accounts` are brought up to date by that
/// call.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for an unknown kind, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_held(
    peer: Option<&sealwire_peer>,
    kind: i32,
    held: *mut u64,
) -> sealwire_status {
    guard(|| {
        let account = required(peer, "peer")?.peer().account();
        let out = output(held, "held")?;
        out.write(account.held(known(kind)?) as u64);
        Ok(())
    })
}

/// Writes how often the peer reached the bound of a kind: pauses, refusals or its disconnection.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for an unknown kind, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_exceeded(
    peer: Option<&sealwire_peer>,
    kind: i32,
    times: *mut u64,
) -> sealwire_status {
    guard(|| {
        let account = required(peer, "peer")?.peer().account();
        let out = output(times, "times")?;
        out.write(account.exceeded(known(kind)?));
        Ok(())
    })
}

/// Bytes that the transport has taken for the peer so far: what tells a peer that reads slowly from
/// one that does not read. 0 within the process, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_written(peer: Option<&sealwire_peer>) -> u64 {
    peer.map_or(0, |peer| peer.peer().account().written())
}

/// Calls `take` with `user` for each number of the peer, on this thread and before it returns: `age` in seconds since its
/// handshake was completed, `messages_sent`, `bytes_sent`, `messages_received`, `bytes_received`, `dropped` (copies for it that found
/// its queue full), `outbound_messages`, `outbound_bytes` and `outbound_most_messages` that wait for it, the same three of `inbound`
/// that were not read, and where heartbeats were answered `round_trip_last`, `round_trip_min` and `round_trip_smoothed` in seconds. None
/// has labels. They are brought up to date as the account is, and are zero before. `take` may use the library.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_numbers_each(
    peer: Option<&sealwire_peer>,
    take: sealwire_metric_fn,
    user: *mut c_void,
) -> sealwire_status {
    guard(|| {
        let peer = required(peer, "peer")?;
        let take = required(take, "take")?;
        for (name, amount) in peer.peer().numbers().named() {
            let name = c_text(name);
            let metric = sealwire_metric {
                name: name.as_ptr(),
                labels: 0,
                label_names: null(),
                label_values: null(),
                value: amount.as_f64(),
            };
            take(user, &metric);
        }
        Ok(())
    })
}

/// Writes how often peers of the socket reached the bound of a kind, also those that are gone. Beside
/// `sealwire_socket_counters`.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for an unknown kind, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_exceeded(
    socket: Option<&sealwire_socket>,
    kind: i32,
    times: *mut u64,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = output(times, "times")?;
        out.write(socket.socket.counters().exceeded(known(kind)?));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn kinds_are_numbered_without_a_gap_and_have_names() {
        let mut wanted = 0;
        for kind in Kind::ALL {
            assert_eq!(find(wanted), Some(kind));
            // SAFETY: not null, as the kind is known; texts of this library end with a zero octet.
            let name = unsafe { CStr::from_ptr(sealwire_kind_name(wanted)) };
            assert_eq!(name.to_str(), Ok(kind.label()));
            wanted += 1;
        }
        assert!(sealwire_kind_name(wanted).is_null() && sealwire_kind_name(-1).is_null());
    }
}
