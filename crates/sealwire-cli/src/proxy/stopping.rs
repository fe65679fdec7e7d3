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
pub(super) fn pass_on_what_came(sides: &[Socket]) {
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
    for side in sides {
        let _ = side.clone().close_with_linger(interrupt::left());
    }
}

/// Messages that came and did not go on: those nobody read, and those that were in hand.
fn not_passed_on(side: &Socket) -> u64 {
    let counters = side.counters();
    let in_hand = match side.socket_type() {
        // They drop what a peer has no room for, also without being told to stop.
        SocketType::Router | SocketType::XPub => 0,
        _ => counters.dropped_at_send,
    };
    counters.dropped_unread + in_hand
}

/// What a proxy had lost when the stop began.
pub(super) struct Before {
    not_passed_on: u64,
    unsent: u64,
}

impl Before {
    /// As of now, of all of its sockets, the two sides first.
    pub(super) fn of(all: &[Socket]) -> Self {
        let unsent = all.iter().map(|socket| socket.counters().dropped_unsent);
        Before {
            not_passed_on: all.iter().take(2).map(not_passed_on).sum(),
            unsent: unsent.sum(),
        }
    }
}

/// Closes the sockets within what is left of the time, and counts what was given up.
pub(super) fn close(
    sides: [Socket; 2],
    beside: [Option<Socket>; 2],
    before: &Before,
    outcome: &Result<(), Error>,
) {
    if let Err(Error::Drained { cut_off }) = outcome {
        given_up::count(Kind::CutOff, *cut_off as u64);
    }
    let mut unsent = 0;
    for socket in sides.iter().chain(beside.iter().flatten()) {
        let closed = socket.clone().close_with_linger(interrupt::left());
        if let Err(Error::Unsent(messages)) = closed {
            unsent += messages as u64;
        }
    }
    given_up::count(Kind::Unsent, unsent.saturating_sub(before.unsent));
    let unread: u64 = sides.iter().map(not_passed_on).sum();
    given_up::count(Kind::Unread, unread.saturating_sub(before.not_passed_on));
}
