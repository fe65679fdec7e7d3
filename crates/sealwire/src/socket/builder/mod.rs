//! Options of a socket, set before it exists: none of them changes under a running connection.

mod behaviour;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::connection::Heartbeat;
use sealwire_zmtp::{Provider, SocketType};

use super::{Socket, blocking};
use crate::auth::{Admission, Decision, Guest};
use crate::context::Context;
use crate::error::Error;
use crate::options::{SocketOptions, bounded};
use crate::security::Security;
#[cfg(unix)]
use crate::waiting::Interrupt;

/// Sets the options of a socket and makes it.
#[derive(Debug, Clone)]
#[must_use]
pub struct SocketBuilder {
    options: SocketOptions,
    context: Option<Context>,
}

impl SocketBuilder {
    pub(super) fn new(socket_type: SocketType) -> Self {
        SocketBuilder {
            options: SocketOptions::new(socket_type),
            context: None,
        }
    }

    /// Mechanism and keys. Default: none. Such a socket talks in plain text, and only over `inproc`,
    /// `ipc`, `wss` and loopback addresses; other endpoints are [`Unusable::NoSecurity`](crate::Unusable::NoSecurity).
    /// [`Security::plain_text`] admits them.
    pub fn security(mut self, security: impl Into<Security>) -> Self {
        self.options.security = security.into();
        self
    }

    /// Asks the ZAP handler of the context ([`auth::zap`](crate::auth::zap)) about every peer that
    /// this socket is the server of, or that it talks to without a mechanism (NULL), under this
    /// name; not within the process. The authenticator, if there is one, is asked first, and both
    /// must agree. With an empty name NULL peers are let in unasked. Default: nobody is asked, but for
    /// servers with [`AllowAnyone`](crate::auth::AllowAnyone).
    pub fn zap_domain(mut self, domain: impl Into<String>) -> Self {
        self.options.zap_domain = Some(domain.into());
        self
    }

    /// Decides about each peer by address and process, whatever the mechanism, before anybody else
    /// is asked: about every peer without a mechanism (NULL), whichever side connected, and about
    /// the clients of a server; not within the process. A user id in the answer counts for nothing.
    /// The closure may block, up to the [handshake's timeout](SocketBuilder::handshake_timeout): it
    /// runs on a thread for decisions. Refused for STREAM and over `udp`. Default: all are let in.
    ///
    /// ```
    /// # use sealwire::{SocketType, auth::Guest, blocking::Socket};
    /// # fn main() -> Result<(), sealwire::Error> {
    /// let ours = |guest: &Guest<'_>| guest.process().is_some_and(|process| process.user == 1000);
    /// let socket = Socket::builder(SocketType::Pull).admit(ours).build_blocking()?;
    /// # Ok(()) }
    /// ```
    pub fn admit<F, D>(mut self, admit: F) -> Self
    where
        F: Fn(&Guest<'_>) -> D + Send + Sync + 'static,
        D: Into<Decision>,
    {
        self.options.admission = Some(Admission::new(admit));
        self
    }

    /// How long the ZAP handler may take for one peer, which is refused then. Default 5 s.
    pub fn zap_timeout(mut self, limit: Duration) -> Self {
        self.options.zap_timeout = bounded(limit);
        self
    }

    /// The cryptographic primitives to use. Default: [`default_provider`](crate::default_provider),
    /// the fastest that there are on this processor.
    ///
    /// All connections use it: X25519 of BLAKE3ZMQ and CURVE, and BLAKE3 and ChaCha20-BLAKE3 of
    /// BLAKE3ZMQ. It does not replace CURVE's Salsa20 and Poly1305, the random number generator, the
    /// public keys of [`KeyPair`](crate::KeyPair)s, and TLS. What it must guarantee is listed at
    /// [`Provider`](crate::Provider).
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.options.provider = provider;
        self
    }

    /// The context whose I/O thread serves the socket. Default: one for the whole process.
    pub fn context(mut self, context: &Context) -> Self {
        self.context = Some(context.clone());
        self
    }

    /// How ROUTER peers are to call this socket: 1 to 255 bytes, not starting with a zero octet.
    /// Default: they invent a name. It is a name, not a proof.
    pub fn routing_id(mut self, routing_id: impl Into<Vec<u8>>) -> Self {
        self.options.routing_id = routing_id.into();
        self
    }

    /// A property for the peers to read ([`Peer::metadata`](crate::Peer::metadata)). Names start
    /// with `X-` by convention (RFC 23). Encrypted where the mechanism encrypts.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.options.metadata.push((name.into(), value.into()));
        self
    }

    /// Messages queued for each peer before sending waits or drops. Default 1,000; 0 for no limit.
    /// The connection holds up to 128 KiB (or one message) more on its way into the transport. A sender that
    /// waits for room goes on once half of the queue is free, as in libzmq.
    pub fn send_high_water_mark(mut self, messages: usize) -> Self {
        self.options.send_high_water_mark = messages;
        self
    }

    /// Messages queued from each peer before its connection is no longer read, so that the
    /// peer's own queue fills up. Default 1,000; 0 for no limit.
    pub fn receive_high_water_mark(mut self, messages: usize) -> Self {
        self.options.receive_high_water_mark = messages;
        self
    }

    /// Payload bytes queued for each peer before sending waits or drops, beside the
    /// [message count](SocketBuilder::send_high_water_mark). A message is taken as long as the
    /// queue holds fewer, so that one always fits. Default 1 GiB; 0 for no limit.
    pub fn send_byte_budget(mut self, bytes: usize) -> Self {
        self.options.send_byte_budget = bytes;
        self
    }

    /// Payload bytes queued from each peer before its connection is no longer read, beside the
    /// [message count](SocketBuilder::receive_high_water_mark). A message is taken as long as the
    /// queue holds fewer, so that one always fits. Default 1 GiB; 0 for no limit.
    pub fn receive_byte_budget(mut self, bytes: usize) -> Self {
        self.options.receive_byte_budget = bytes;
        self
    }

    /// Sending waits for a peer whose handshake is done, even where an endpoint is being
    /// connected to; without it, messages wait in the queue. Default: off.
    pub fn immediate(mut self, immediate: bool) -> Self {
        self.options.immediate = immediate;
        self
    }

    /// Largest message accepted from a peer, all frames together, in bytes. Default 64 MiB. A
    /// peer that sends a larger one is disconnected.
    pub fn max_message_size(mut self, bytes: usize) -> Self {
        self.options.max_message_size = bytes;
        self
    }

    /// How long a blocking send waits. Default: for ever. Async callers use their executor's
    /// timers.
    pub fn send_timeout(mut self, limit: Duration) -> Self {
        self.options.send_timeout = Some(limit);
        self
    }

    /// How long a blocking receive waits. Default: for ever. Async callers use their executor's
    /// timers.
    pub fn receive_timeout(mut self, limit: Duration) -> Self {
        self.options.receive_timeout = Some(limit);
        self
    }

    /// Ends a blocking call with [`Error::Interrupted`] when a signal handler has run on its thread while it
    /// slept: `EINTR` of the system's calls, whatever `SA_RESTART` says. Every call that waits for this socket: to
    /// send, to receive (also [`incoming`](blocking::Socket::incoming), which goes on after it), `connect_peer`
    /// and `close`. Dropping the last handle is not interrupted, nor a proxy. Default: off, signals end nothing.
    ///
    /// A handler that runs before the call, or before it sleeps, ends nothing. Where a
    /// handler sets a flag that the call is to see however early it was set, use
    /// [`interrupted_when`](SocketBuilder::interrupted_when). The system gives a signal to the process to any thread that does
    /// not block it, and only that thread's call ends.
    ///
    /// A thread that waits holds a descriptor for it (two where there is no `eventfd`) from its first such
    /// call to its end. Unix only.
    #[cfg(unix)]
    pub fn interruptible(mut self, interruptible: bool) -> Self {
        self.options.interrupt = interruptible.then_some(Interrupt::AnyHandler);
        self
    }

    /// Ends a blocking call with [`Error::Interrupted`] when this holds. The call asks before it sleeps, and
    /// after each signal handler that has run on its thread meanwhile; other handlers end nothing.
    /// Otherwise as [`interruptible`](SocketBuilder::interruptible), in whose place it is.
    ///
    /// No signal is lost: the thread holds signals back from the question on, and the system lets them in as it falls
    /// asleep. So a flag that a handler sets on this thread ends the call, however early or late it runs. Without
    /// `ppoll` (macOS, NetBSD, OpenBSD) a signal that comes in just that moment ends the next sleep
    /// instead. The condition runs on the thread that waits; it should be short.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use sealwire::{Error, SocketType, blocking::Socket};
    ///
    /// // Set by the handler of SIGTERM.
    /// static STOP: AtomicBool = AtomicBool::new(false);
    ///
    /// let pull = Socket::builder(SocketType::Pull)
    ///     .interrupted_when(|| STOP.load(Ordering::Relaxed))
    ///     .build_blocking()?;
    /// # STOP.store(true, Ordering::Relaxed);
    /// loop {
    ///     match pull.recv() {
    ///         Ok(message) => println!("{message:?}"),
    ///         Err(Error::Interrupted) => break,
    ///         Err(error) => return Err(error),
    ///     }
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(unix)]
    pub fn interrupted_when(
        mut self,
        condition: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.options.interrupt = Some(Interrupt::When(Arc::new(condition)));
        self
    }

    /// How long closing waits for unsent messages. Default 5 s. Zero drops them.
    pub fn linger(mut self, limit: Duration) -> Self {
        self.options.linger = bounded(limit);
        self
    }

    /// How long a handshake may take, from the connection to its end. Default 15 s.
    pub fn handshake_timeout(mut self, limit: Duration) -> Self {
        self.options.handshake_timeout = bounded(limit);
        self
    }

    /// How long a thread that blocks in `recv` on a socket with a single connection spins before it sleeps,
    /// yielding its core to other threads in between. A sleeping thread is woken tens of microseconds late,
    /// so this makes ends that answer each other at once several times as fast, for CPU time: as long as it
    /// pays, that is, and with pauses when it does not. Some tens of microseconds are reasonable. Default:
    /// not at all.
    pub fn spin(mut self, limit: Duration) -> Self {
        self.options.spin = bounded(limit);
        self
    }

    /// Sends a PING after `interval` without traffic and ends the connection when nothing at all
    /// came back within `timeout`; the peer is asked to do the same after `ttl` (rounded to
    /// 100 ms). Default: no heartbeats; those of peers are answered.
    pub fn heartbeat(mut self, interval: Duration, timeout: Duration, ttl: Duration) -> Self {
        self.options.heartbeat = Some(Heartbeat {
            interval: bounded(interval),
            timeout: bounded(timeout),
            ttl: bounded(ttl),
        });
        self
    }

    /// Handshakes one listener serves at the same time; one more ends the oldest of the address that
    /// has most. Default 1,024, and never more than a quarter of the process's soft limit of file
    /// descriptors, which all listeners share.
    pub fn max_handshakes(mut self, connections: usize) -> Self {
        self.options.max_handshakes = connections;
        self
    }

    /// Connections one listener keeps at the same time. When there are as many, a new one ends a
    /// handshake, and is turned away when there is none. Default 65,536, and never more than three
    /// quarters of the process's soft limit of file descriptors, which all listeners share.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.max_connections = connections;
        self
    }

    /// Established connections that one public key, or with PLAIN one user id, has at this socket;
    /// one more is turned away ([`FailureCause::KeyLimit`](crate::FailureCause::KeyLimit)). Those that
    /// this socket made are not counted. Default: a quarter of
    /// [`max_connections`](SocketBuilder::max_connections), at least 64.
    pub fn max_connections_per_key(mut self, connections: usize) -> Self {
        self.options.max_connections_per_key = Some(connections);
        self
    }

    /// Connections from one IP address (IPv6: one /64 network; `ipc`: one user) that a listener keeps
    /// at the same time; more are turned away. Default: only [`max_connections`](SocketBuilder::max_connections) counts.
    pub fn max_connections_per_address(mut self, connections: usize) -> Self {
        self.options.per_address.connections = Some(connections);
        self
    }

    /// Handshakes from one IP address (IPv6: one /64 network; `ipc`: one user) that a listener serves
    /// at the same time; one more ends the oldest of them. Default: a quarter of
    /// [`max_handshakes`](SocketBuilder::max_handshakes), at least one.
    pub fn max_handshakes_per_address(mut self, connections: usize) -> Self {
        self.options.per_address.handshakes = Some(connections);
        self
    }

    /// Connections that one IP address (IPv6: one /64 network) may make to a listener in each
    /// period, with as many at once; more are turned away. Default: no limit.
    pub fn connection_rate_per_address(mut self, connections: u32, period: Duration) -> Self {
        self.options.per_address.rate = Some((connections, period));
        self
    }

    /// Makes the socket.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that cannot work, [`Error::System`] when the first context
    /// of the process cannot be started, [`Error::Forked`] for a context that was made before a
    /// fork.
    pub fn build(self) -> Result<Socket, Error> {
        self.options.validate()?;
        let context = match self.context {
            Some(context) => context.check().map(|()| context)?,
            None => Context::global()?,
        };
        Ok(Socket::open(context, self.options))
    }

    /// Makes the socket with the blocking API.
    ///
    /// # Errors
    ///
    /// As [`build`](SocketBuilder::build).
    pub fn build_blocking(self) -> Result<blocking::Socket, Error> {
        self.build().map(Into::into)
    }
}
