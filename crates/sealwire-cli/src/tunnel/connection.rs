//! One connection through the tunnel, from the moment it is accepted.
//!
//! ```text
//! listener:   greeting ─▶ admission ─▶ dialing the service ─▶ relaying ─▶ leaving
//! connector:  dialing the listener ─▶ greeting ─▶ relaying ─▶ leaving
//! ```

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sealwire::account::is_exhaustion;
use sealwire_tunnel::{Channel, Handshake, PublicKey};

use super::failure::{Failed, hex};
use super::own_keys::{CurrentKeys, OwnKeys};
use super::relay::{Pumped, Relay};
use super::world::{Stream, World};

/// How long what a side is told at last may take.
pub(super) const LEAVE_TIME: Duration = Duration::from_secs(2);

/// Where to go, as an address or as a name that had several.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) addresses: Arc<[SocketAddr]>,
}

/// What a connection has to know of the tunnel.
#[derive(Debug)]
pub(super) struct TunnelSettings {
    pub(super) keys: CurrentKeys,
    pub(super) to: Target,
    pub(super) handshake_timeout: Duration,
    pub(super) half_closed_timeout: Duration,
}

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The connector, on its way to the listener.
    DialingListener,
    Greeting,
    /// The listener, which knows the peer and has not decided yet.
    Admission,
    /// The listener, on its way to the service.
    DialingService,
    Relaying,
    /// Only what the peer is told at last goes out, and what comes in is dropped.
    Leaving,
}

/// A connection being made, to one address after the other.
#[derive(Debug, Default)]
struct Dial {
    tried: usize,
    error: Option<io::Error>,
}

/// A connection and its two sockets.
#[derive(Debug)]
pub(super) struct TunneledConnection<S> {
    /// The address of the program or peer that was accepted.
    pub(super) address: SocketAddr,
    /// Known after the handshake.
    pub(super) peer: Option<PublicKey>,
    sealed: Option<S>,
    plain: Option<S>,
    stage: Stage,
    dial: Dial,
    /// A handshake under way.
    handshake: Option<Box<Handshake>>,
    /// There after the handshake.
    relay: Option<Box<Relay>>,
    /// When the stage has to be over.
    /// Those that it began with.
    keys: Arc<OwnKeys>,
    deadline: Option<Instant>,
}

/// What the server has to do for a connection.
#[derive(Debug)]
pub(super) enum Wants {
    /// Nothing before one of its sockets is ready.
    Nothing,
    /// To go on, after the time slices of the others.
    Again,
    /// To go on once there is a file descriptor for its second socket.
    Descriptor(io::Error),
    /// Its new socket has to be registered, as its sealed one or not.
    Register { sealed: bool },
    /// The peer is known: is it let in? Then [`admit`](TunneledConnection::admit).
    Admission(PublicKey),
    /// It is established.
    Announcement,
    /// It has ended as both sides meant it.
    End,
}

impl<S: Stream> TunneledConnection<S> {
    /// On the listener: the peer begins.
    pub(super) fn accepted(
        socket: S,
        address: SocketAddr,
        settings: &TunnelSettings,
        now: Instant,
    ) -> Self {
        let mut connection = Self::new(address, Stage::Greeting, settings, now);
        connection.sealed = Some(socket);
        connection
    }

    /// On the connector: somebody wants to be connected to the listener.
    pub(super) fn requested(
        socket: S,
        address: SocketAddr,
        settings: &TunnelSettings,
        now: Instant,
    ) -> Self {
        let mut connection = Self::new(address, Stage::DialingListener, settings, now);
        connection.plain = Some(socket);
        connection
    }

    fn new(address: SocketAddr, stage: Stage, settings: &TunnelSettings, now: Instant) -> Self {
        TunneledConnection {
            address,
            peer: None,
            sealed: None,
            plain: None,
            stage,
            dial: Dial::default(),
            handshake: None,
            relay: None,
            deadline: Some(now + settings.handshake_timeout),
            keys: settings.keys.get(),
        }
    }

    /// Its sealed or its plain socket, if there is one.
    pub(super) fn socket(&mut self, sealed: bool) -> Option<&mut S> {
        if sealed {
            self.sealed.as_mut()
        } else {
            self.plain.as_mut()
        }
    }

    /// Whether its peer is known, and whether it is let in is not decided.
    pub(super) fn awaits_admission(&self) -> bool {
        self.stage == Stage::Admission
    }

    /// The key of a peer that was let in.
    pub(super) fn admitted(&self) -> Option<PublicKey> {
        let inside = matches!(self.stage, Stage::DialingService | Stage::Relaying);
        self.peer.filter(|_| inside)
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.stage == Stage::Leaving
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Plaintext bytes that went out and came in.
    pub(super) fn moved(&self) -> (u64, u64) {
        let relay = self.relay.as_ref();
        relay.map_or((0, 0), |relay| (relay.sent, relay.received))
    }

    /// What the deadline means once it has passed.
    pub(super) fn overdue(&self, settings: &TunnelSettings) -> Failed {
        match self.stage {
            Stage::Relaying => Failed::Idle(settings.half_closed_timeout),
            Stage::DialingListener | Stage::DialingService => Failed::Connect {
                to: settings.to.name.clone(),
                error: ErrorKind::TimedOut.into(),
            },
            _ => Failed::HandshakeTimeout(settings.handshake_timeout),
        }
    }

    /// Does what can be done.
    pub(super) fn drive(
        &mut self,
        settings: &TunnelSettings,
        world: &impl World<Stream = S>,
    ) -> Result<Wants, Failed> {
        match self.stage {
            Stage::DialingListener => {
                match self.dial.step(&mut self.sealed, &settings.to, world)? {
                    Dialled::Waiting => Ok(Wants::Nothing),
                    Dialled::NoDescriptor(error) => Ok(Wants::Descriptor(error)),
                    Dialled::New => Ok(Wants::Register { sealed: true }),
                    Dialled::Connected => {
                        self.stage = Stage::Greeting;
                        Ok(Wants::Again)
                    }
                }
            }
            Stage::Greeting => self.greet(),
            Stage::DialingService => match self.dial.step(&mut self.plain, &settings.to, world)? {
                Dialled::Waiting => Ok(Wants::Nothing),
                Dialled::NoDescriptor(error) => Ok(Wants::Descriptor(error)),
                Dialled::New => Ok(Wants::Register { sealed: false }),
                Dialled::Connected => {
                    self.stage = Stage::Relaying;
                    self.deadline = None;
                    Ok(Wants::Announcement)
                }
            },
            Stage::Relaying => self.pump(settings, world.now()),
            Stage::Leaving => Ok(match (&mut self.relay, &mut self.sealed) {
                (Some(relay), Some(sealed)) => leave(relay, sealed),
                _ => Wants::End,
            }),
            Stage::Admission => Ok(Wants::Nothing),
        }
    }

    /// The peer of [`Wants::Admission`] is let in.
    pub(super) fn admit(&mut self, settings: &TunnelSettings, now: Instant) {
        self.stage = Stage::DialingService;
        self.deadline = Some(now + settings.handshake_timeout);
    }

    /// Ends the connection because of `failed`: the plain side is told by a reset, which nobody takes
    /// for the end of the data, the peer by a reason where there is one. Whether the connection has
    /// to stay until the peer has read it.
    pub(super) fn fail(&mut self, failed: &Failed, now: Instant) -> bool {
        if let Some(plain) = self.plain.take() {
            plain.reset();
        }
        let (Some(reason), Some(relay)) = (failed.reason(), &mut self.relay) else {
            return false;
        };
        relay.outgoing.break_off(reason);
        self.stage = Stage::Leaving;
        self.deadline = Some(now + LEAVE_TIME);
        true
    }

    fn pump(&mut self, settings: &TunnelSettings, now: Instant) -> Result<Wants, Failed> {
        let (Some(relay), Some(sealed), Some(plain)) =
            (&mut self.relay, &mut self.sealed, &mut self.plain)
        else {
            return Ok(Wants::End);
        };
        let before = (relay.sent, relay.received);
        let pumped = relay.pump(sealed, plain)?;
        let moved = before != (relay.sent, relay.received);
        if relay.is_closing() && (moved || self.deadline.is_none()) {
            self.deadline = Some(now + settings.half_closed_timeout);
        }
        Ok(match pumped {
            Pumped::Waiting => Wants::Nothing,
            Pumped::Again => Wants::Again,
            Pumped::Ended => Wants::End,
        })
    }

    /// Begins the handshake, or goes on with it.
    fn greet(&mut self) -> Result<Wants, Failed> {
        let Some(socket) = &mut self.sealed else {
            return Ok(Wants::End);
        };
        let handshake = match &mut self.handshake {
            Some(handshake) => handshake,
            none => none.insert(begin(&self.keys)?),
        };
        let channel = loop {
            match exchange(handshake, socket) {
                Ok(count) => {
                    if let Some(channel) = handshake.received(count)? {
                        break channel;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Wants::Nothing),
                Err(error) => return Err(left(error, &self.keys)),
            }
        };
        self.handshake = None;
        let Channel {
            peer,
            outgoing,
            incoming,
        } = channel;
        self.peer = Some(peer);
        self.relay = Some(Box::new(Relay::new(outgoing, incoming)));
        self.deadline = None;
        if self.keys.server_key.is_some() {
            self.stage = Stage::Relaying;
            Ok(Wants::Announcement)
        } else {
            self.stage = Stage::Admission;
            Ok(Wants::Admission(peer))
        }
    }
}

/// A handshake, as the connector where a server is expected.
fn begin(keys: &OwnKeys) -> Result<Box<Handshake>, Failed> {
    let begun = match keys.server_key {
        Some(server) => Handshake::connect(&keys.identity, server),
        None => Handshake::listen(&keys.identity),
    };
    let handshake = begun.map_err(|error| Failed::System(error.to_string()))?;
    Ok(Box::new(handshake))
}

/// Sends what is unsent, then reads of the message that is awaited, and not a byte more. How many bytes.
fn exchange(handshake: &mut Handshake, socket: &mut impl Stream) -> io::Result<usize> {
    while !handshake.unsent().is_empty() {
        match socket.write(handshake.unsent()) {
            Ok(count) => handshake.sent(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    loop {
        match socket.read(handshake.room()) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// A peer that is gone during the handshake.
fn left(error: io::Error, keys: &OwnKeys) -> Failed {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            Failed::LeftHandshake {
                ours: hex(keys.identity.public_key()),
            }
        }
        _ => Failed::Sealed(error),
    }
}

/// Tells the peer why, then waits until it has left: what it still sends would otherwise reset the
/// connection before it has read the reason.
fn leave(relay: &mut Relay, sealed: &mut impl Stream) -> Wants {
    while !relay.outgoing.unsent().is_empty() {
        match relay.flush(sealed) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => return Wants::End,
        }
    }
    if relay.outgoing.unsent().is_empty() {
        sealed.finish();
    }
    let mut dropped = [0; 4 << 10];
    match sealed.read(&mut dropped) {
        Ok(0) => Wants::End,
        Ok(_) => Wants::Again,
        Err(error) if error.kind() == ErrorKind::Interrupted => Wants::Again,
        Err(error) if error.kind() == ErrorKind::WouldBlock => Wants::Nothing,
        Err(_) => Wants::End,
    }
}

enum Dialled {
    Waiting,
    /// The address was not tried.
    NoDescriptor(io::Error),
    /// There is a new socket.
    New,
    Connected,
}

impl Dial {
    /// Looks what became of the socket, and tries the next address if it failed.
    fn step<W: World>(
        &mut self,
        socket: &mut Option<W::Stream>,
        target: &Target,
        world: &W,
    ) -> Result<Dialled, Failed> {
        if let Some(connecting) = socket {
            match connecting.connected() {
                None => return Ok(Dialled::Waiting),
                Some(Ok(())) => return Ok(Dialled::Connected),
                Some(Err(error)) => self.error = Some(error),
            }
            *socket = None;
        }
        while let Some(address) = target.addresses.get(self.tried) {
            match world.connect(*address) {
                Ok(connecting) => {
                    self.tried += 1;
                    *socket = Some(connecting);
                    return Ok(Dialled::New);
                }
                Err(error) if is_exhaustion(&error) => return Ok(Dialled::NoDescriptor(error)),
                Err(error) => {
                    self.tried += 1;
                    self.error = Some(error);
                }
            }
        }
        Err(Failed::Connect {
            to: target.name.clone(),
            error: self
                .error
                .take()
                .unwrap_or_else(|| ErrorKind::NotFound.into()),
        })
    }
}
