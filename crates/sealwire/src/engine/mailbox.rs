//! How other threads ask the I/O thread to do something.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::datagrams::Datagrams;
use super::session::SessionKey;
use super::world::World;
use crate::account::LogGate;
use crate::auth::Verdict;
use crate::core::{Engine, SharedCookies, SocketCore};
use crate::endpoint::Endpoint;
use crate::guard;
use crate::options::SocketOptions;
use crate::pattern::Dismissal;
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
    /// The socket is closing: send what is queued, for its linger time.
    CloseSocket(Arc<SocketCore>),
    /// Replace these cookie keys by the clock, for as long as their socket lives.
    RotateCookies(Weak<SharedCookies>),
    /// Ask this socket's authenticator now and then whether it still allows the clients.
    Revise(Weak<SocketCore>),
    /// The context is gone.
    Shutdown,
    #[cfg(test)]
    Fault(Fault),
}

/// What tests break the I/O thread with.
#[cfg(test)]
pub(crate) enum Fault {
    /// A panic that belongs to no source. Where it is to happen `again`, ending the first source
    /// panics as well.
    Panic { again: bool },
    /// One that belongs to the listener, connector or `udp` endpoint with this text. Where it is to
    /// happen `again`, removing the source panics as well.
    PanicIn { endpoint: String, again: bool },
    /// The next poll fails.
    Poll,
}

/// The I/O thread's queue of commands, and what wakes it.
pub(crate) struct Mailbox {
    queue: Mutex<Queue>,
    world: Arc<dyn World>,
}

#[derive(Default)]
struct Queue {
    commands: Vec<Command>,
    /// Sockets of the context, to be told if the thread ends by a fault.
    sockets: Vec<Weak<SocketCore>>,
    /// How many there were when those that are gone were last taken out.
    sockets_kept: usize,
    /// The thread has ended: nothing is carried out any more.
    closed: bool,
}

impl Mailbox {
    pub(super) fn new(world: Arc<dyn World>) -> Self {
        Mailbox {
            queue: Mutex::default(),
            world,
        }
    }

    /// Begins to listen and gives the endpoint with the port that was chosen. May block to resolve a
    /// name.
    ///
    /// # Errors
    ///
    /// Those of the transport.
    pub(crate) fn listen(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<(BoundListener, Endpoint)> {
        self.world.listen(endpoint, options)
    }

    /// The time since the context began.
    pub(crate) fn now(&self) -> Duration {
        self.world.now()
    }

    pub(crate) fn post(&self, command: Command) {
        let mut queue = self.lock();
        if queue.closed {
            drop(queue);
            // Dropped without the lock.
            return drop(command);
        }
        let first = queue.commands.is_empty();
        queue.commands.push(command);
        drop(queue);
        // The thread empties the whole box each time it wakes: only the first has to wake it.
        if first && let Err(error) = self.world.wake() {
            static LINES: LogGate = LogGate::new();
            guard::log_seldom(&LINES, |times| {
                tracing::error!(target: "sealwire", %error, times, "the I/O thread cannot be woken");
            });
        }
    }

    /// Swaps the waiting commands for an empty list.
    pub(super) fn take(&self, into: &mut Vec<Command>) {
        std::mem::swap(&mut self.lock().commands, into);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the thread has ended by a fault.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes no more commands, and gives the sockets that are to be told.
    pub(super) fn close(&self) -> Vec<Weak<SocketCore>> {
        let mut queue = self.lock();
        queue.closed = true;
        let commands = std::mem::take(&mut queue.commands);
        let sockets = std::mem::take(&mut queue.sockets);
        drop(queue);
        guard::contain("dropping commands", || drop(commands));
        sockets
    }
}

impl Engine for Mailbox {
    fn enroll(&self, core: &Arc<SocketCore>) -> bool {
        let mut queue = self.lock();
        if queue.closed {
            return false;
        }
        if queue.sockets.len() > 2 * queue.sockets_kept {
            queue.sockets.retain(|core| core.strong_count() > 0);
            queue.sockets_kept = queue.sockets.len() + 8;
        }
        queue.sockets.push(Arc::downgrade(core));
        true
    }

    fn rotate_cookies(&self, cookies: Weak<SharedCookies>) {
        self.post(Command::RotateCookies(cookies));
    }

    fn revise_clients(&self, core: Weak<SocketCore>) {
        self.post(Command::Revise(core));
    }

    fn shut_down(&self) {
        self.post(Command::Shutdown);
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.world.fill_random(bytes);
    }
}
