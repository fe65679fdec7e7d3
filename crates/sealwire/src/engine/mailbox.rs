//! How other threads ask the I/O thread to do something.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use super::cookies::SharedCookies;
use super::datagrams::Datagrams;
use super::session::SessionKey;
use crate::auth::Verdict;
use crate::endpoint::Endpoint;
use crate::pattern::Dismissal;
use crate::socket::SocketCore;
use crate::transport::{BoundListener, Target};

pub(crate) enum Command {
    /// Serve this listener.
    Listen {
        core: Arc<SocketCore>,
        listener: BoundListener,
        endpoint: Endpoint,
        id: u64,
    },
    /// Keep a connection to this endpoint.
    Connect {
        core: Arc<SocketCore>,
        endpoint: Endpoint,
        id: u64,
    },
    /// Serve this `udp` endpoint.
    Exchange(Box<Datagrams>),
    /// Stop the listener, connector or `udp` endpoint with this id.
    Withdraw { id: u64 },
    /// A name was resolved for the connector with this id.
    Resolved {
        id: u64,
        targets: io::Result<Vec<Target>>,
    },
    /// A pipe has something to send.
    Output(SessionKey),
    /// A pipe has room for input again.
    Input(SessionKey),
    /// A thread of the application has driven this session and left something to do.
    Revisit(SessionKey),
    /// Nobody waits for this session's bytes any more: look after its lease.
    Watch(SessionKey),
    /// The lease of this session ends now.
    EndLease(SessionKey),
    /// The socket turns a peer away.
    Disconnect(SessionKey, Dismissal),
    /// The socket is done with a peer: send what is queued, then end.
    Finish(SessionKey),
    /// An authenticator has decided.
    Decided(SessionKey, Verdict),
    /// The socket is closing: send what is queued, until the deadline.
    CloseSocket {
        core: Arc<SocketCore>,
        deadline: Instant,
    },
    /// Replace these cookie keys by the clock, for as long as their socket lives.
    RotateCookies(Weak<SharedCookies>),
    /// Ask this socket's authenticator now and then whether it still allows the clients.
    Revise(Weak<SocketCore>),
    /// The context is gone.
    Shutdown,
}

/// The I/O thread's queue of commands, and its alarm clock.
pub(crate) struct Mailbox {
    commands: Mutex<Vec<Command>>,
    waker: mio::Waker,
}

impl Mailbox {
    pub(super) fn new(waker: mio::Waker) -> Self {
        Mailbox {
            commands: Mutex::new(Vec::new()),
            waker,
        }
    }

    pub(crate) fn post(&self, command: Command) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        let first = commands.is_empty();
        commands.push(command);
        drop(commands);
        // The thread empties the whole box each time it wakes: only the first has to wake it.
        if first && let Err(error) = self.waker.wake() {
            tracing::error!(target: "sealwire", %error, "the I/O thread cannot be woken");
        }
    }

    /// Swaps the waiting commands for an empty list.
    pub(super) fn take(&self, into: &mut Vec<Command>) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *commands, into);
    }
}
