//! How other threads ask the I/O thread to do something.

use std::any::Any;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::datagrams::Datagrams;
use super::expiry::Expiry;
use super::inbox::Inbox;
use super::load::{Load, LoadShare};
use super::session_key::{Origin, SessionKey};
use super::task::Task;
use super::world::World;
use crate::account::LogGate;
use crate::auth::Verdict;
use crate::core::{ServerCookies, SocketCore};
use crate::endpoint::Endpoint;
use crate::guard;
use crate::measures::LiveWork;
use crate::options::{CurrentOptions, SocketOptions, Withdrawn};
use crate::pattern::Dismissal;
#[cfg(unix)]
use crate::transport::Listener;
use crate::transport::{BoundListener, Target};

pub(crate) enum Command {
    /// Serve this listener.
    Listen {
        core: Arc<SocketCore>,
        options: Arc<CurrentOptions>,
        listener: BoundListener,
        endpoint: Endpoint,
        id: u64,
        share: LoadShare,
    },
    /// Keep a connection to this endpoint.
    Connect {
        core: Arc<SocketCore>,
        options: Arc<CurrentOptions>,
        endpoint: Endpoint,
        id: u64,
        share: LoadShare,
    },
    /// Serve this `udp` endpoint.
    Exchange(Box<Datagrams>),
    /// Stop the listener, connector or `udp` endpoint with this id.
    Withdraw { id: u64 },
    /// Stop the listener or `udp` endpoint with this id, and end the connections that came through it once what is queued
    /// for them is sent.
    WithdrawWithPeers { core: Arc<SocketCore>, id: u64 },
    /// End the connections that came through the listener with this id, which another thread serves, once what is queued
    /// for them is sent.
    LeaveAccepted { core: Arc<SocketCore>, id: u64 },
    /// The endpoint with this id has other options, which a listener or connector of this thread has to take; and
    /// those of its connections are to end that they do not fit, where that was asked for.
    Renew {
        core: Arc<SocketCore>,
        id: u64,
        withdrawn: Withdrawn,
    },
    /// Serve this session from now on, whose handshake another thread has done. Sessions know the mailbox, which does not know
    /// them.
    Adopt(Box<dyn Any + Send>),
    /// A session that another thread serves has ended.
    AdoptedEnded { origin: Origin, key: SessionKey },
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
    /// The socket is closing, and has less time for that now.
    ShortenLinger(Arc<SocketCore>),
    /// Another thread that served the socket has ended by a fault: end what works for it here.
    Abandon(Arc<SocketCore>),
    /// The socket is being drained: take what its peers have sent, for up to this time.
    DrainSocket(Arc<SocketCore>, Duration),
    /// Replace these cookie keys by the clock, for as long as their socket lives.
    RotateCookies(Weak<ServerCookies>),
    /// Ask this socket's authenticator now and then whether it still allows the clients.
    Revise(Weak<SocketCore>),
    /// This time limit is over when the context is so old.
    SetTimeout {
        number: u64,
        at: Duration,
        expiry: Arc<Expiry>,
    },
    /// Nobody waits for the time limit with this number any more.
    CancelTimeout { number: u64 },
    /// Run this task, at once for the first time.
    StartTask(Arc<Task>),
    /// Run the task with this number: it was woken.
    RunTask { number: u64 },
    /// The task with this number is over.
    EndTask { number: u64 },
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
    inbox: Inbox<Command, SocketCore>,
    world: Arc<dyn World>,
    load: Load,
    work: LiveWork,
}

impl Mailbox {
    pub(super) fn new(world: Arc<dyn World>) -> Self {
        Mailbox {
            inbox: Inbox::default(),
            world,
            load: Load::default(),
            work: LiveWork::default(),
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

    /// Begins to accept on a listening socket that somebody else opened.
    ///
    /// # Errors
    ///
    /// Those of the transport.
    #[cfg(unix)]
    pub(crate) fn take_over(
        &self,
        listener: Listener,
        options: &SocketOptions,
    ) -> io::Result<BoundListener> {
        self.world.take_over(listener, options)
    }

    /// The world of the context.
    pub(super) fn world(&self) -> &dyn World {
        &*self.world
    }

    /// What its thread serves.
    pub(super) fn load(&self) -> &Load {
        &self.load
    }

    /// What its thread has done.
    pub(super) fn work(&self) -> &LiveWork {
        &self.work
    }

    /// The sockets that are told when the thread ends.
    pub(super) fn sockets(&self) -> Vec<Arc<SocketCore>> {
        let sockets = self.inbox.sockets();
        sockets.iter().filter_map(Weak::upgrade).collect()
    }

    /// The time since the context began.
    pub(crate) fn now(&self) -> Duration {
        self.world.now()
    }

    pub(crate) fn post(&self, command: Command) {
        self.inbox.post(command, || {
            if let Err(error) = self.world.wake() {
                static LINES: LogGate = LogGate::new();
                guard::log_seldom(&LINES, |times| {
                    tracing::error!(target: "sealwire", %error, times, "the I/O thread cannot be woken");
                });
            }
        });
    }

    /// Swaps the waiting commands for an empty list.
    pub(super) fn take(&self, into: &mut Vec<Command>) {
        self.inbox.take(into);
    }

    /// Whether the thread has ended by a fault.
    pub(crate) fn is_closed(&self) -> bool {
        self.inbox.is_closed()
    }

    /// Takes no more commands, and gives the sockets that are to be told.
    pub(super) fn close(&self) -> Vec<Weak<SocketCore>> {
        self.inbox.close()
    }

    /// Notes a socket that is told when the thread ends by a fault. `false` when it has.
    pub(super) fn enroll(&self, core: &Arc<SocketCore>) -> bool {
        self.inbox.enroll(Arc::downgrade(core))
    }

    pub(super) fn rotate_cookies(&self, cookies: Weak<ServerCookies>) {
        self.post(Command::RotateCookies(cookies));
    }

    pub(super) fn revise_clients(&self, core: Weak<SocketCore>) {
        self.post(Command::Revise(core));
    }

    pub(super) fn shut_down(&self) {
        self.post(Command::Shutdown);
    }
}
