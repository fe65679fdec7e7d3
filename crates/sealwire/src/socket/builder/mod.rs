//! Options of a socket, set before it exists, or given to one that does.

mod behaviour;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::{Provider, SocketType};

use super::Socket;
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

    /// The options of a socket that exists.
    pub(super) fn of(options: &SocketOptions, context: &Context) -> Self {
        SocketBuilder {
            options: options.clone(),
            context: Some(context.clone()),
        }
    }

    pub(super) fn into_parts(self) -> (SocketOptions, Option<Context>) {
        (self.options, self.context)
    }

    /// Sets the mechanism and its keys. Default: none. Such a socket talks in plain text, and only over
    /// `inproc`, `ipc`, `wss` and loopback addresses; other endpoints are
    /// [`Unusable::NoSecurity`](crate::Unusable::NoSecurity). [`Security::plain_text`] admits them.
    /// [`build`](SocketBuilder::build) refuses a mechanism for STREAM
    /// ([`OptionsError::Unprotected`](crate::options::OptionsError::Unprotected)), more than three additional
    /// keys ([`OptionsError::ServerKeys`](crate::options::OptionsError::ServerKeys)), and a PLAIN username or
    /// password of more than 255 bytes ([`OptionsError::Protocol`](crate::options::OptionsError::Protocol)).
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

    /// Sets how long the ZAP handler may take for one peer, which is refused then. Default 5 s; zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn zap_timeout(mut self, limit: Duration) -> Self {
        self.options.zap_timeout = bounded(limit);
        self
    }

    /// Sets the cryptographic primitives. Default: [`default_provider`](crate::default_provider), the fastest
    /// that there are on this processor.
    ///
    /// All connections use it: X25519 of BLAKE3ZMQ and CURVE, and BLAKE3 and ChaCha20-BLAKE3 of BLAKE3ZMQ. It
    /// does not replace CURVE's Salsa20 and Poly1305, the random number generator, the public keys of
    /// [`KeyPair`](crate::KeyPair)s, and TLS. [`Provider`](crate::Provider) lists its duties.
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.options.provider = provider;
        self
    }

    /// Sets the context whose I/O thread serves the socket. Default: one for the whole process.
    pub fn context(mut self, context: &Context) -> Self {
        self.context = Some(context.clone());
        self
    }

    /// Sets the name by which ROUTER peers address this socket, in bytes: up to 255, not starting with a zero
    /// octet, or [`OptionsError::RoutingId`](crate::options::OptionsError::RoutingId). Default: empty, and
    /// each peer invents a name. It is a name, not a proof.
    pub fn routing_id(mut self, routing_id: impl Into<Vec<u8>>) -> Self {
        self.options.routing_id = routing_id.into();
        self
    }

    /// Adds a property for the peers to read ([`Peer::metadata`](crate::Peer::metadata)). Names start with
    /// `X-` by convention (RFC 23). Encrypted where the mechanism encrypts.
    ///
    /// A name has 1 to 255 letters, digits and `-_.+`, without case; `Socket-Type`, `Identity` and `X-Sealwire-Missed` are taken.
    /// A second value for a name replaces the first. All together take up to 3,584 bytes, with up to 64 properties, those of the protocol included. Anything else is
    /// [`OptionsError::Protocol`](crate::options::OptionsError::Protocol).
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        let (name, value) = (name.into(), value.into());
        let properties = &mut self.options.metadata;
        properties.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        properties.push((name, value));
        self
    }

    /// Sets how many messages are queued for each peer before sending waits or drops. Default 1,000; 0 for no
    /// limit. The connection holds up to 128 KiB (or one message) more on its way into the transport. A
    /// sender that waits for room goes on once half of the queue is free, as in libzmq, or once there is some and the
    /// connection takes no more for now.
    pub fn send_high_water_mark(mut self, messages: usize) -> Self {
        self.options.send_high_water_mark = messages;
        self
    }

    /// Sets how many messages are queued from each peer before its connection is no longer read, so that the
    /// peer's own queue fills up. Default 1,000; 0 for no limit.
    pub fn receive_high_water_mark(mut self, messages: usize) -> Self {
        self.options.receive_high_water_mark = messages;
        self
    }

    /// Sets how many payload bytes are queued for each peer before sending waits or drops, beside the
    /// [message count](SocketBuilder::send_high_water_mark). A message is taken as long as the queue holds
    /// fewer, so that one always fits. Default 1 GiB; 0 for no limit.
    pub fn send_byte_budget(mut self, bytes: usize) -> Self {
        self.options.send_byte_budget = bytes;
        self
    }

    /// Sets how many payload bytes are queued from each peer before its connection is no longer read, beside
    /// the [message count](SocketBuilder::receive_high_water_mark). A message is taken as long as the queue
    /// holds fewer, so that one always fits. Default 1 GiB; 0 for no limit.
    pub fn receive_byte_budget(mut self, bytes: usize) -> Self {
        self.options.receive_byte_budget = bytes;
        self
    }

    /// Makes sending wait for a peer whose handshake is done, even while an endpoint is being connected to;
    /// without it, messages wait in the queue. Default: off.
    pub fn immediate(mut self, immediate: bool) -> Self {
        self.options.immediate = immediate;
        self
    }

    /// Gives each endpoint that is connected to a queue of its own at once, as libzmq does: messages go to all of
    /// them in turn, also to those where nobody is there yet, and wait there. A message that would go out at once
    /// elsewhere may wait so. Without it, messages wait in one queue until the first peer is connected. For PUSH,
    /// DEALER, REQ, PAIR, CLIENT, SCATTER, CHANNEL and STREAM, and endpoints connected to from then on;
    /// [`immediate`](SocketBuilder::immediate) takes precedence. Default: off.
    pub fn queue_per_endpoint(mut self, queue_per_endpoint: bool) -> Self {
        self.options.queue_per_endpoint = queue_per_endpoint;
        self
    }

    /// Sets which I/O threads of the [context](crate::Context::builder) may serve the endpoints that are bound and
    /// connected to from then on, by a bit for each, the lowest for the first. Binding and connecting fail where no bit
    /// is a thread's ([`OptionsError::IoAffinity`](crate::options::OptionsError::IoAffinity)). Default: 0, any of them.
    pub fn io_affinity(mut self, threads: u64) -> Self {
        self.options.io_affinity = threads;
        self
    }

    /// Sets the size of the largest message accepted from a peer, all frames together, in bytes. A peer that
    /// sends a larger one is disconnected. Default 64 MiB; zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn max_message_size(mut self, bytes: usize) -> Self {
        self.options.max_message_size = bytes;
        self
    }

    /// Sets how long a blocking send, and a wait for peers, may take. Default: any time; zero attempts once.
    /// Async callers use their executor's timers.
    pub fn send_timeout(mut self, limit: Duration) -> Self {
        self.options.send_timeout = Some(limit);
        self
    }

    /// Sets how long a blocking receive may take. Default: any time; zero attempts once. Async callers use
    /// their executor's timers.
    pub fn receive_timeout(mut self, limit: Duration) -> Self {
        self.options.receive_timeout = Some(limit);
        self
    }

    /// Ends a blocking call with [`Error::Interrupted`] when a signal handler has run on its thread while it
    /// slept: `EINTR` of the system's calls, whatever `SA_RESTART` says. Every call that waits for this socket: to
    /// send, to receive (also [`incoming`](crate::blocking::Socket::incoming), which goes on after it), `connect_peer`
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

    /// Sets how long closing waits for unsent messages. Default 5 s. Zero drops them.
    pub fn linger(mut self, limit: Duration) -> Self {
        self.options.linger = bounded(limit);
        self
    }

    /// Sets how long a handshake may take, from the connection to its end. Default 15 s; zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn handshake_timeout(mut self, limit: Duration) -> Self {
        self.options.handshake_timeout = bounded(limit);
        self
    }

    /// Sets how long a thread that blocks in `recv` on a socket with a single connection spins before it
    /// sleeps, yielding its core to other threads in between. A sleeping thread is woken tens of microseconds
    /// late, so spinning makes ends that answer each other at once several times as fast, for CPU time. It
    /// stops spinning for a while when that does not pay. Some tens of microseconds are reasonable. Default:
    /// zero, no spinning.
    pub fn spin(mut self, limit: Duration) -> Self {
        self.options.spin = bounded(limit);
        self
    }

    /// Sends a PING after `interval` without traffic, and ends the connection when nothing at all came back
    /// within three intervals ([`HEARTBEAT_TIMEOUT_INTERVALS`](crate::options::HEARTBEAT_TIMEOUT_INTERVALS)).
    /// The peer is asked to do the same. Default: no heartbeats; those of peers are answered. An `interval`
    /// of zero is [`OptionsError::Protocol`](crate::options::OptionsError::Protocol).
    pub fn heartbeat(mut self, interval: Duration) -> Self {
        self.options.heartbeat.interval = Some(interval);
        self
    }

    /// Sets how long after a PING something has to come back. Default: three intervals. Without
    /// [`heartbeat`](Self::heartbeat) there is no PING.
    pub fn heartbeat_timeout(mut self, timeout: Duration) -> Self {
        self.options.heartbeat.timeout = Some(timeout);
        self
    }

    /// Sets after how long without traffic the peer is asked to end the connection, cut to 100 ms and at most
    /// 6,553.5 s. Zero leaves that to the peer. Default: as
    /// [`heartbeat_timeout`](Self::heartbeat_timeout). Without [`heartbeat`](Self::heartbeat) nobody is asked.
    pub fn heartbeat_ttl(mut self, ttl: Duration) -> Self {
        self.options.heartbeat.ttl = Some(ttl);
        self
    }

    /// Sets how many handshakes one listener serves at the same time; one more ends the oldest of the address
    /// that has most. Default 1,024, and never more than a quarter of the process's soft limit of file
    /// descriptors, which all listeners share. Zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn max_handshakes(mut self, connections: usize) -> Self {
        self.options.max_handshakes = connections;
        self
    }

    /// Sets how many connections one listener keeps at the same time. A new one beyond that ends a handshake,
    /// and is turned away if there is none. Default 65,536, and never more than three quarters of the
    /// process's soft limit of file descriptors, which all listeners share. Zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.max_connections = connections;
        self
    }

    /// Sets how many established connections one public key, or with PLAIN one user id, has at this socket;
    /// one more is turned away ([`FailureCause::KeyLimit`](crate::FailureCause::KeyLimit)). Those that this
    /// socket made are not counted. Default: a quarter of
    /// [`max_connections`](SocketBuilder::max_connections), at least 64. Zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn max_connections_per_key(mut self, connections: usize) -> Self {
        self.options.max_connections_per_key = Some(connections);
        self
    }

    /// Sets how many connections from one IP address (IPv6: one /64 network; `ipc`: one user) a listener
    /// keeps at the same time; more are turned away. Default: no limit of its own beside
    /// [`max_connections`](SocketBuilder::max_connections). Zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn max_connections_per_address(mut self, connections: usize) -> Self {
        self.options.per_address.connections = Some(connections);
        self
    }

    /// Sets how many handshakes from one IP address (IPv6: one /64 network; `ipc`: one user) a listener
    /// serves at the same time; one more ends the oldest of them. Default: a quarter of
    /// [`max_handshakes`](SocketBuilder::max_handshakes), at least one. Zero is
    /// [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn max_handshakes_per_address(mut self, connections: usize) -> Self {
        self.options.per_address.handshakes = Some(connections);
        self
    }

    /// Sets how many connections one IP address (IPv6: one /64 network) may make to a listener in each
    /// period, all of them at once if it likes; more are turned away. Default: no limit. Zero connections, or
    /// a period of zero, are [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn connection_rate_per_address(mut self, connections: u32, period: Duration) -> Self {
        self.options.per_address.rate = Some((connections, period));
        self
    }

    /// Makes the socket.
    ///
    /// # Errors
    ///
    /// * [`Error::Options`] for an option out of its range, or one that the socket type does not have; each
    ///   method says which.
    /// * [`Error::System`] if the first context of the process cannot start its thread.
    /// * [`Error::Forked`] for a context that was made before a fork.
    pub fn build(self) -> Result<Socket, Error> {
        self.options.validate()?;
        let context = match self.context {
            Some(context) => context.check().map(|()| context)?,
            None => Context::global()?,
        };
        Socket::open(context, self.options)
    }
}
