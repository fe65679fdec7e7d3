//! What a proxy's control socket says, and what it is told.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use sealwire_zmtp::{Frame, SocketType};

use crate::message::Message;
use crate::socket::blocking::Socket;

const RUNNING: u8 = 0;
const PAUSED: u8 = 1;
const TERMINATED: u8 = 2;

/// Whether a proxy runs, and what it has done.
#[derive(Default)]
pub(super) struct Steering {
    state: AtomicU8,
    /// Messages and bytes received, messages and bytes sent: of the frontend, then of the backend.
    counts: [AtomicU64; 8],
}

/// One direction of a proxy, for what is to be counted.
#[derive(Clone, Copy)]
pub(super) struct Direction<'a> {
    pub(super) steering: &'a Steering,
    received: usize,
    sent: usize,
}

impl Direction<'_> {
    pub(super) fn received(&self, bytes: usize) {
        self.count(self.received, bytes);
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.count(self.sent, bytes);
    }

    fn count(&self, at: usize, bytes: usize) {
        let counts = &self.steering.counts;
        counts[at].fetch_add(1, Ordering::Relaxed);
        counts[at + 1].fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Steering {
    /// From the frontend to the backend, and back.
    pub(super) fn directions(&self) -> (Direction<'_>, Direction<'_>) {
        let way = |received, sent| Direction {
            steering: self,
            received,
            sent,
        };
        (way(0, 6), way(4, 2))
    }

    /// `None` once the proxy is to end, else whether it may take messages.
    pub(super) fn reading(&self) -> Option<bool> {
        match self.state.load(Ordering::SeqCst) {
            TERMINATED => None,
            state => Some(state == RUNNING),
        }
    }

    pub(super) fn terminated(&self) -> bool {
        self.reading().is_none()
    }

    pub(super) fn terminate(&self) {
        self.state.store(TERMINATED, Ordering::SeqCst);
    }

    /// Does what the control socket says until the proxy ends. Without a control socket that can
    /// be read the proxy goes on.
    pub(super) fn handle(&self, control: &Socket, sides: &[&Socket]) {
        let mut commands = Vec::new();
        loop {
            let running = || self.reading().map(|_| true);
            match control.recv_many_while(&mut commands, 1, running) {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            }
            for command in commands.drain(..) {
                let answer = self.carry_out(command.as_bytes());
                for socket in sides {
                    socket.wake();
                }
                let tells = answer.len() > 1 || control.socket_type() == SocketType::Rep;
                if tells && !matches!(control.socket_type(), SocketType::Pull | SocketType::Sub) {
                    // The asker may have left.
                    let _ = control.try_send(answer);
                }
            }
        }
    }

    fn carry_out(&self, command: &[u8]) -> Message {
        match command {
            b"PAUSE" => self.state.store(PAUSED, Ordering::SeqCst),
            b"RESUME" => self.state.store(RUNNING, Ordering::SeqCst),
            b"TERMINATE" => self.terminate(),
            b"STATISTICS" => {
                let counts = self
                    .counts
                    .iter()
                    .map(|count| count.load(Ordering::Relaxed));
                return Message::multipart(
                    counts.map(|count| Frame::copy_from_slice(&count.to_ne_bytes())),
                );
            }
            _ => return Message::from("ERROR: send PAUSE, RESUME, TERMINATE or STATISTICS"),
        }
        Message::from("")
    }
}
