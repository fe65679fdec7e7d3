//! The commands of a proxy's control socket, and their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use sealwire_zmtp::{Frame, SocketType};

use crate::error::Error;
use crate::message::Message;
use crate::socket::blocking::Socket;

const RUNNING: u8 = 0;
const PAUSED: u8 = 1;
const TERMINATED: u8 = 2;

/// Whether a proxy runs, and what it has done.
#[derive(Default)]
pub(crate) struct Steering {
    state: AtomicU8,
    /// Messages and bytes received, messages and bytes sent: of the frontend, then of the backend.
    counts: [AtomicU64; 8],
}

/// One direction of a proxy, for what is to be counted.
pub(super) struct Direction {
    pub(super) steering: Arc<Steering>,
    received: usize,
    sent: usize,
}

impl Direction {
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
    pub(super) fn directions(self: &Arc<Self>) -> [Direction; 2] {
        [(0, 6), (4, 2)].map(|(received, sent)| Direction {
            steering: self.clone(),
            received,
            sent,
        })
    }

    /// `None` once the proxy is to end, else whether it may take messages.
    pub(super) fn reading(&self) -> Option<bool> {
        match self.state.load(Ordering::SeqCst) {
            TERMINATED => None,
            state => Some(state == RUNNING),
        }
    }

    pub(crate) fn terminated(&self) -> bool {
        self.reading().is_none()
    }

    /// Messages and bytes received, messages and bytes sent: of the frontend, then of the backend.
    pub(crate) fn counts(&self) -> [u64; 8] {
        std::array::from_fn(|count| self.counts[count].load(Ordering::Relaxed))
    }

    pub(super) fn terminate(&self) {
        self.state.store(TERMINATED, Ordering::SeqCst);
    }

    /// Does what the control socket says until the proxy ends. Blocks. Without a control socket that can
    /// be read the proxy goes on.
    pub(super) fn run(&self, control: &Socket, sides: &[&Socket]) {
        let handle = || match self.terminated() {
            true => Ok(Some(false)),
            false => Ok(self.handle(control, sides)?.then_some(true)),
        };
        while let Ok(true) = control.wait_to_receive(handle) {}
    }

    /// Carries out a command if there is one, and says whether there was.
    pub(crate) fn handle(&self, control: &Socket, sides: &[&Socket]) -> Result<bool, Error> {
        let command = match control.try_recv() {
            Ok(command) => command,
            Err(Error::WouldBlock) => return Ok(false),
            Err(error) => return Err(error),
        };
        let answer = self.carry_out(command.as_bytes());
        for socket in sides {
            socket.wake();
        }
        let tells = answer.len() > 1 || control.socket_type() == SocketType::Rep;
        if tells && !matches!(control.socket_type(), SocketType::Pull | SocketType::Sub) {
            // The peer that asked may have left.
            let _ = control.try_send(answer);
        }
        Ok(true)
    }

    fn carry_out(&self, command: &[u8]) -> Message {
        match command {
            b"PAUSE" => self.state.store(PAUSED, Ordering::SeqCst),
            b"RESUME" => self.state.store(RUNNING, Ordering::SeqCst),
            b"TERMINATE" => self.terminate(),
            b"STATISTICS" => {
                let counts = self.counts().map(u64::to_ne_bytes);
                return Message::multipart(counts.map(|count| Frame::copy_from_slice(&count)));
            }
            _ => return Message::from("ERROR: send PAUSE, RESUME, TERMINATE or STATISTICS"),
        }
        Message::from("")
    }
}
