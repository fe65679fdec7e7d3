//! Stands for the library's session, and for the socket and the pipe behind it: messages go out one by
//! one, and come in as far as there is room.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::BytesMut;

use super::bursts::Bursts;
use super::failure::FailureCause;
use super::pattern::{Link, More};
use super::session_key::SessionKey;
use super::sync::Mutex;
use super::transport::Polled;
use super::waiting::Lease;
use crate::orders::sync::panic_of_others;
use crate::orders::waiting::listening::Signal;

pub(crate) enum End {
    Failed(FailureCause),
}

/// A socket with the queues of its only pipe, as `core` and `pattern` keep them.
#[derive(Default)]
pub(crate) struct Core {
    pub(crate) pipe: Mutex<Pipe>,
    pub(crate) readable: Signal,
    lease: Arc<Lease>,
}

#[derive(Default)]
pub(crate) struct Pipe {
    pub(crate) outbound: usize,
    pub(crate) output_signalled: bool,
    pub(crate) inbound: usize,
    pub(crate) input_paused: bool,
}

impl Core {
    pub(crate) fn id(&self) -> u64 {
        0
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }
}

pub(crate) struct Identity {
    pub(crate) key: SessionKey,
    pub(crate) core: Arc<Core>,
}

pub(crate) struct Session {
    pub(crate) identity: Identity,
    pub(crate) bursts: Arc<Bursts>,
    /// Messages that the peer has sent.
    pub(crate) arrived: usize,
    pub(crate) written: usize,
    /// The number of written messages at which something foreign panics.
    pub(crate) panics_at: Option<usize>,
    output_waiting: bool,
    input_paused: bool,
    over: bool,
}

impl Session {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Session {
            identity: Identity {
                key: SessionKey,
                core,
            },
            bursts: Arc::default(),
            arrived: 0,
            written: 0,
            panics_at: None,
            output_waiting: false,
            input_paused: false,
            over: false,
        }
    }

    pub(crate) fn linked_by(self, _: Weak<dyn Link>) -> Self {
        self
    }

    pub(crate) fn mark_over(&mut self) {
        self.over = true;
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.over
    }

    pub(crate) fn needs_io_thread(&self) -> bool {
        self.output_waiting
    }

    pub(crate) fn output_ready(&mut self) {
        self.output_waiting = true;
    }

    pub(crate) fn input_wanted(&mut self, _: Duration) {
        self.input_paused = false;
    }

    pub(crate) fn write_directly(&mut self, _: usize) {
        self.write();
    }

    pub(crate) fn write_lone_message(&mut self, _: usize) {
        self.write();
    }

    /// One message, or finds that there is none.
    fn write(&mut self) {
        let mut pipe = self.identity.core.pipe.lock().unwrap();
        let taken = pipe.outbound.min(1);
        pipe.outbound -= taken;
        pipe.output_signalled = taken > 0;
        drop(pipe);
        self.output_waiting = taken > 0;
        self.written += taken;
        if self.panics_at == Some(self.written) {
            panic_of_others();
        }
    }

    /// As the I/O thread does it.
    pub(crate) fn drive(&mut self) {
        self.read();
        while self.output_waiting {
            self.write();
        }
    }

    fn read(&mut self) {
        while self.arrived > 0 && !self.input_paused {
            let mut pipe = self.identity.core.pipe.lock().unwrap();
            self.input_paused = pipe.inbound == 1;
            pipe.input_paused = self.input_paused;
            let delivered = usize::from(!self.input_paused);
            pipe.inbound += delivered;
            drop(pipe);
            self.arrived -= delivered;
            if delivered > 0 {
                self.identity.core.readable.notify_more(delivered);
            }
        }
    }

    pub(crate) fn read_directly(&mut self, _: &mut BytesMut, now: Duration) {
        self.input_wanted(now);
        self.read();
    }

    pub(crate) fn transport_event(&mut self, _: bool, _: bool, _: bool) {}

    pub(crate) fn more_to_read(&self) -> More {
        match self.arrived {
            0 => More::Unknown,
            _ => More::AtOnce,
        }
    }

    pub(crate) fn is_leased(&self) -> bool {
        false
    }

    pub(crate) fn peer_has_ended_unseen(&self, _: Duration) -> bool {
        false
    }

    pub(crate) fn lease(&mut self, (): &()) -> io::Result<Polled> {
        Ok(Polled)
    }
}
