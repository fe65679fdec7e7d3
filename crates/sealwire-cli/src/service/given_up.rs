//! What a command that was told to stop did not finish.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::exit::Failure;
use crate::interrupt;

/// How long the last line of a program may take that nobody reads.
const LAST_LINE: Duration = Duration::from_millis(100);

/// Kinds of work that can be given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Messages that were read from the input, or given on the command line.
    Unsent,
    /// Messages that came and were not handled.
    Unread,
    /// Requests that were sent.
    Unanswered,
    /// Connections whose peer still had something to say.
    CutOff,
    /// Messages of `--count` that did not come.
    Missing,
    /// Calls whose program was ended.
    Calls,
    /// Connections through a tunnel.
    Connections,
    /// Tasks without an outcome.
    Tasks,
}

const KINDS: [(Kind, &str, &str, &str); 8] = [
    (Kind::Unsent, "unsent", "message", "not sent"),
    (
        Kind::Unread,
        "unread",
        "message",
        "received and not handled",
    ),
    (Kind::Unanswered, "unanswered", "request", "not answered"),
    (
        Kind::CutOff,
        "cut_off",
        "connection",
        "cut off before its end",
    ),
    (
        Kind::Missing,
        "missing",
        "message",
        "of --count that did not come",
    ),
    (Kind::Calls, "calls", "call", "not finished"),
    (Kind::Connections, "connections", "connection", "broken off"),
    (Kind::Tasks, "tasks", "task", "not done"),
];

static COUNTS: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];

/// Counts what is not finished.
pub(crate) fn count(kind: Kind, number: u64) {
    COUNTS[kind as usize].fetch_add(number, Ordering::SeqCst);
}

/// The numbers by their names, without those that are 0.
fn counts() -> BTreeMap<&'static str, u64> {
    let numbers = COUNTS.iter().map(|count| count.load(Ordering::SeqCst));
    let named = KINDS
        .iter()
        .zip(numbers)
        .map(|(kind, number)| (kind.1, number));
    named.filter(|(_, number)| *number > 0).collect()
}

fn in_words(counts: &BTreeMap<&'static str, u64>) -> String {
    let parts = KINDS.iter().filter_map(|(_, name, noun, what)| {
        let number = *counts.get(name)?;
        let plural = if number == 1 { "" } else { "s" };
        Some(format!("{number} {noun}{plural} {what}"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// How the program ends that was told to stop, where nothing failed before: in order, or with what was given up.
pub(crate) fn verdict() -> Result<(), Failure> {
    let counts = counts();
    match counts.is_empty() {
        true => Ok(()),
        false => Err(failure(&in_words(&counts), counts)),
    }
}

fn failure(what: &str, counts: BTreeMap<&'static str, u64>) -> Failure {
    Failure::gave_up(
        format!("stopped before everything was finished: {what}"),
        counts,
    )
}

/// Tells of a program whose threads did not end within the time.
pub(crate) fn stuck(grace: Duration, json: bool) {
    let counts = counts();
    let what = match counts.is_empty() {
        true => format!("something is held up, beyond --grace {grace:?}"),
        false => in_words(&counts),
    };
    // Perhaps by this very line.
    interrupt::for_at_most(LAST_LINE, move || {
        failure(&what, counts).report(json);
    });
}

/// Takes the result of a command that was told to stop: a failure of its own counts more than the stop.
pub(crate) fn settle(outcome: Result<(), Failure>) -> Result<(), Failure> {
    match outcome {
        Err(failure) if !failure.is_stop() => Err(failure),
        _ if interrupt::requested() => verdict(),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_where_they_are_counted() {
        for (at, (kind, ..)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, at, "{kind:?}");
        }
    }

    #[test]
    fn numbers_are_told_in_words() {
        let counts = BTreeMap::from([("unsent", 3), ("cut_off", 1)]);
        assert_eq!(
            in_words(&counts),
            "3 messages not sent, 1 connection cut off before its end"
        );
    }
}
