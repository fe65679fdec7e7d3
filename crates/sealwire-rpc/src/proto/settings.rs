//! SETTINGS: the first message of each side.

use sealwire::Frame;

use super::Violation;
use super::wire::{HEADER, Header, Kind};
use crate::limits::{Limits, MAX_CALLS, MAX_HELLO};

/// The version that SETTINGS carries.
const VERSION: u8 = 3;
/// Bytes of the fixed part of SETTINGS.
pub(super) const SETTINGS_BODY: usize = 25;

/// What one side tells the other at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Calls that the other side may have open at once.
    pub(crate) max_calls: u32,
    /// One-way messages that may be under way before more are asked for.
    pub(crate) one_way_window: u32,
    /// The same for the items of each stream.
    pub(crate) stream_window: u32,
    /// Bytes of a body.
    pub(crate) max_body: u32,
    /// Bytes of the requests of all calls that the other side has open, each counted by
    /// [`cost`](super::budget::cost).
    pub(crate) request_budget: u32,
    /// The same for one-way messages and items under way.
    pub(crate) message_budget: u32,
}

impl Settings {
    /// What a side tells of its limits.
    pub(crate) fn of(limits: &Limits) -> Self {
        Settings {
            max_calls: limits.max_calls.clamp(1, MAX_CALLS),
            one_way_window: limits.one_way_window.max(1),
            stream_window: limits.stream_window.max(1),
            max_body: limits.max_body,
            request_budget: limits.request_budget,
            message_budget: limits.message_budget,
        }
    }

    /// The first message on a connection.
    pub(crate) fn message(self, hello: &[u8]) -> Frame {
        let mut message = Vec::with_capacity(HEADER + SETTINGS_BODY + hello.len());
        message.extend_from_slice(&Header::new(Kind::Settings, 0, 0).to_bytes());
        message.push(VERSION);
        for value in [
            self.max_calls,
            self.one_way_window,
            self.stream_window,
            self.max_body,
            self.request_budget,
            self.message_budget,
        ] {
            message.extend_from_slice(&value.to_be_bytes());
        }
        message.extend_from_slice(hello);
        message.into()
    }

    /// Reads the first message of the peer, and the bytes that its application put behind.
    pub(crate) fn parse(message: &[u8]) -> Result<(Self, &[u8]), Violation> {
        if Header::parse(message)?.kind != Kind::Settings {
            return Err(Violation::NoSettings);
        }
        match message.get(HEADER) {
            Some(&VERSION) => {}
            Some(&other) => return Err(Violation::Version(other)),
            None => return Err(Violation::Truncated),
        }
        let Some((fixed, hello)) = message[HEADER..].split_first_chunk::<SETTINGS_BODY>() else {
            return Err(Violation::Truncated);
        };
        if hello.len() > MAX_HELLO {
            return Err(Violation::TooLarge);
        }
        let value = |index: usize| {
            let at = 1 + 4 * index;
            u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
        };
        let settings = Settings {
            max_calls: value(0),
            one_way_window: value(1),
            stream_window: value(2),
            max_body: value(3),
            request_budget: value(4),
            message_budget: value(5),
        };
        Ok((settings, hello))
    }
}
