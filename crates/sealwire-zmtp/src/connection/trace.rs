//! The steps of a handshake, for programs that show them.

use alloc::collections::VecDeque;

/// One greeting or handshake command that was sent or received.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HandshakeStep {
    /// `GREETING` or the name of the command.
    pub command: &'static str,
    /// Which way it went.
    pub direction: Direction,
    /// Bytes on the wire, flags and length included.
    pub wire_size: usize,
}

/// Which way something travels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From here to the peer.
    Sent,
    /// From the peer to here.
    Received,
}

/// The commands that a trace can name.
const COMMANDS: [&str; 5] = ["HELLO", "WELCOME", "INITIATE", "READY", "ERROR"];

/// Steps not yet taken. A handshake has few, so the list stays short by itself.
#[derive(Debug)]
pub(super) struct Trace(VecDeque<HandshakeStep>);

/// Steps of the longest handshake that succeeds, with the greetings.
const STEPS: usize = 6;

impl Trace {
    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(STEPS))
    }

    pub(super) fn sent(&mut self, command: &'static str, wire_size: usize) {
        self.0.push_back(HandshakeStep {
            command,
            direction: Direction::Sent,
            wire_size,
        });
    }

    pub(super) fn received(&mut self, name: &[u8], wire_size: usize) {
        let known = COMMANDS.into_iter().find(|known| known.as_bytes() == name);
        let command = known.unwrap_or("unknown command");
        self.0.push_back(HandshakeStep {
            command,
            direction: Direction::Received,
            wire_size,
        });
    }

    pub(super) fn greeting_received(&mut self, wire_size: usize) {
        let step = HandshakeStep {
            command: "GREETING",
            direction: Direction::Received,
            wire_size,
        };
        self.0.push_back(step);
    }

    pub(super) fn poll(&mut self) -> Option<HandshakeStep> {
        self.0.pop_front()
    }
}
