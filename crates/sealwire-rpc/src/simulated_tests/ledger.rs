//! A record of calls and messages as both sides saw them: asked, handled, answered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::service::caller;
use crate::lock::lock;
use crate::{Body, Error};

/// Beyond its limit a call, or a shutdown, ends within this time: those who look at the clock are served by the seed.
pub(super) const SLACK: Duration = Duration::from_secs(5);

#[derive(Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    calls: BTreeMap<u64, Entry>,
    /// One-way messages by sender and number: whether handing them over succeeded.
    sent: BTreeMap<(u64, u64), bool>,
    /// One-way messages as they came: connection, sender, number.
    came: Vec<(u64, u64, u64)>,
    /// Servers that were shut down: whether the limit was enough for what was under way.
    shut_down: BTreeMap<u64, bool>,
    /// The callers of clients that were shut down: likewise.
    clients_shut_down: BTreeMap<u64, bool>,
}

#[derive(Default)]
struct Entry {
    handled: u64,
    /// The server that handled it.
    server: Option<u64>,
    turned_away: u64,
    end: Option<End>,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    Failed {
        may_have_run: bool,
    },
    /// The connection had ended, and the call may have run.
    Lost,
    TakenBack,
}

impl Ledger {
    fn entry<R>(&self, call: u64, note: impl FnOnce(&mut Entry) -> R) -> R {
        note(lock(&self.0).calls.entry(call).or_default())
    }

    /// A handler has the request: a client's own, or that of a server.
    pub(super) fn handled(&self, call: u64, server: Option<u64>) {
        self.entry(call, |entry| {
            entry.handled += 1;
            entry.server = server;
        });
    }

    /// A handler has the request, and says that it did nothing about it.
    pub(super) fn turned_away(&self, call: u64) {
        self.entry(call, |entry| entry.turned_away += 1);
    }

    /// The caller knows how its call ended. Its own answer is `expected`.
    pub(super) fn ended(&self, call: u64, outcome: &Result<Body, Error>, expected: &[u8]) {
        let end = match outcome {
            Ok(answer) => {
                assert_eq!(&answer[..], expected, "call {call} has another answer");
                End::Answered
            }
            Err(
                error @ (Error::EngineFailed
                | Error::Forked
                | Error::WouldDeadlock
                | Error::WouldBlock
                | Error::Malformed(_)
                | Error::Intercepted(_)
                | Error::TooLarge { .. }),
            ) => panic!("call {call}: {error}"),
            Err(Error::ConnectionLost { may_have_run: true }) => End::Lost,
            Err(error) => End::Failed {
                may_have_run: error.may_have_run(),
            },
        };
        self.end(call, end);
    }

    /// The caller has dropped its call.
    pub(super) fn taken_back(&self, call: u64) {
        self.end(call, End::TakenBack);
    }

    fn end(&self, call: u64, end: End) {
        let before = self.entry(call, |entry| entry.end.replace(end));
        assert!(before.is_none(), "call {call} has ended twice");
    }

    /// A one-way message was handed over, or could not be.
    pub(super) fn sent(&self, sender: u64, number: u64, outcome: &Result<(), Error>) {
        lock(&self.0).sent.insert((sender, number), outcome.is_ok());
    }

    pub(super) fn came(&self, connection: u64, sender: u64, number: u64) {
        lock(&self.0).came.push((connection, sender, number));
    }

    pub(super) fn has_come(&self, sender: u64, number: u64) -> bool {
        let state = lock(&self.0);
        let mut came = state.came.iter();
        came.any(|&(_, who, which)| (who, which) == (sender, number))
    }

    /// Asserts what holds whatever has happened.
    pub(super) fn check(&self, turned_away_at_most: u64) {
        let state = lock(&self.0);
        for (call, entry) in &state.calls {
            let end = entry
                .end
                .unwrap_or_else(|| panic!("call {call} has not ended"));
            assert!(
                entry.handled <= 1,
                "call {call} was handled {} times",
                entry.handled
            );
            assert!(
                entry.turned_away <= turned_away_at_most,
                "call {call} was made again {} times",
                entry.turned_away
            );
            match end {
                End::Answered => assert_eq!(entry.handled, 1, "call {call} was not handled"),
                End::Failed { may_have_run } => assert!(
                    may_have_run || entry.handled == 0,
                    "call {call} ran, and its caller was told that it did not"
                ),
                End::Lost | End::TakenBack => {}
            }
        }
        let (mut last, mut all) = (BTreeMap::new(), BTreeSet::new());
        for &(connection, sender, number) in &state.came {
            assert!(
                all.insert((sender, number)),
                "message {number} of {sender} came twice"
            );
            let before = last.insert((connection, sender), number);
            assert!(
                before < Some(number),
                "message {number} of {sender} came behind {before:?}"
            );
            assert_ne!(
                state.sent.get(&(sender, number)),
                Some(&false),
                "message {number} of {sender} came, and its sender was told that it did not leave"
            );
        }
    }

    /// A server was shut down. `finished`: all that was under way had ended within the limit.
    pub(super) fn shut_down(&self, server: u64, finished: bool) {
        let before = lock(&self.0).shut_down.insert(server, finished);
        assert_eq!(before, None, "server {server} was shut down twice");
    }

    /// A client was shut down, which these callers had. `finished` as above.
    pub(super) fn client_shut_down(&self, callers: Range<u64>, finished: bool) {
        let mut state = lock(&self.0);
        for caller in callers {
            let before = state.clients_shut_down.insert(caller, finished);
            assert_eq!(before, None, "the client of {caller} was shut down twice");
        }
    }

    /// Whether all that were shut down had the time that they took.
    pub(super) fn all_finished(&self) -> bool {
        let state = lock(&self.0);
        let mut all = state
            .shut_down
            .values()
            .chain(state.clients_shut_down.values());
        all.all(|finished| *finished)
    }

    /// Asserts that no call was lost for which a server or client that was shut down had the time.
    pub(super) fn check_none_is_cut_off(&self) {
        let state = lock(&self.0);
        let lost = |entry: &Entry| entry.end == Some(End::Lost);
        for (call, entry) in state.calls.iter().filter(|(_, entry)| lost(entry)) {
            let server = entry.server.and_then(|server| state.shut_down.get(&server));
            assert!(
                server != Some(&true),
                "call {call} was cut off by a server that had ended in good order"
            );
            let client = state.clients_shut_down.get(&caller(*call));
            assert!(
                client != Some(&true),
                "call {call} was cut off by a client that had ended in good order"
            );
        }
    }

    /// Asserts that every message which was handed over has come.
    pub(super) fn check_all_came(&self) {
        let state = lock(&self.0);
        let came: BTreeSet<_> = state
            .came
            .iter()
            .map(|&(_, who, which)| (who, which))
            .collect();
        for (message, _) in state.sent.iter().filter(|(_, left)| **left) {
            assert!(came.contains(message), "message {message:?} did not come");
        }
    }
}

/// Asserts that something took no longer than it may.
pub(super) fn check_time(what: impl Display, taken: Duration, limit: Duration) {
    assert!(
        taken <= limit + SLACK,
        "{what} took {taken:?}, and may take {limit:?}"
    );
}
