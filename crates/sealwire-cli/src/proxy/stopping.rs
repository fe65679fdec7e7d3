//! The end of a proxy that was told to stop.

use std::thread;
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Error, SocketType};

use crate::interrupt;
use crate::service::given_up::{self, Kind};

/// Between two looks at whether everything has passed through.
const PAUSE: Duration = Duration::from_millis(10);

/// Has what came pass through. A side that only receives takes no new peers and ends its half of each connection.
/// Other sides take no new peers either, and what they have, until nothing waits on either.
pub(super) fn pass_on_what_came(sides: &[Socket; 2]) {
    let pull = sides
        .iter()
        .find(|side| side.socket_type() == SocketType::Pull);
    if let Some(pull) = pull {
        // The proxy ends once all of it has passed, also to workers that come only now.
        let _ = pull.drain(interrupt::left());
        return;
    }
    for side in sides {
        for endpoint in side.bound_endpoints() {
            let _ = side.unbind(endpoint);
        }
    }
    let waits = |side: &Socket| sealwire::Socket::from(side.clone()).ready().receive;
    let mut quiet = 0;
    while quiet < 2 && !interrupt::left().is_zero() {
        quiet = match sides.iter().any(waits) {
            true => 0,
            false => quiet + 1,
        };
        thread::sleep(PAUSE.min(interrupt::left()));
    }
    for side in sides.clone() {
        let _ = side.close_with_linger(interrupt::left());
    }
}

/// Messages that came and did not go on: those nobody read, and those that were in hand.
pub(super) fn not_passed_on(sides: &[Socket; 2]) -> u64 {
    let of = |side: &Socket| {
        let counters = side.counters();
        let in_hand = match side.socket_type() {
            // They drop what a peer has no room for, also without being told to stop.
            SocketType::Router | SocketType::XPub => 0,
            _ => counters.dropped_at_send,
        };
        counters.dropped_unread + in_hand
    };
    sides.iter().map(of).sum()
}

/// Closes the sockets within what is left of the time, and counts what was given up. `before` had not been passed
/// on when the stop began.
pub(super) fn close(
    sides: [Socket; 2],
    beside: [Option<Socket>; 2],
    before: u64,
    outcome: &Result<(), Error>,
) {
    if let Err(Error::Drained { cut_off }) = outcome {
        given_up::count(Kind::CutOff, *cut_off as u64);
    }
    for socket in sides.iter().chain(beside.iter().flatten()) {
        let closed = socket.clone().close_with_linger(interrupt::left());
        if let Err(Error::Unsent(messages)) = closed {
            given_up::count(Kind::Unsent, messages as u64);
        }
    }
    let unread = not_passed_on(&sides).saturating_sub(before);
    given_up::count(Kind::Unread, unread);
}
