//! The events of a socket as messages of two parts for a socket of the program's: number and value, and the
//! endpoint.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sealwire::protocol::{HandshakeError, Incompatible};
use sealwire::{
    ConnectionFailure, Event, FailureCause, Frame, Message, Monitor, ProtocolError, SocketType,
    signals,
};

use crate::errno::Errno;
use crate::socket::errno_of;

const CONNECTED: u16 = 0x0001;
const CONNECT_RETRIED: u16 = 0x0004;
const LISTENING: u16 = 0x0008;
const ACCEPTED: u16 = 0x0020;
const ACCEPT_FAILED: u16 = 0x0040;
const CLOSED: u16 = 0x0080;
const DISCONNECTED: u16 = 0x0200;
const STOPPED: u16 = 0x0400;
const FAILED_NO_DETAIL: u16 = 0x0800;
const SUCCEEDED: u16 = 0x1000;
const FAILED_PROTOCOL: u16 = 0x2000;
const FAILED_AUTH: u16 = 0x4000;

const ZMTP_UNSPECIFIED: u32 = 0x1000_0000;
const ZMTP_MALFORMED_HELLO: u32 = 0x1000_0013;
const ZMTP_CRYPTOGRAPHIC: u32 = 0x1100_0001;
const ZMTP_MECHANISM_MISMATCH: u32 = 0x1100_0002;

/// The monitor of one socket: a thread reads its events as long as the socket lives, and tells of them where the
/// program last said.
pub(crate) struct Observer {
    target: Arc<Mutex<Option<Target>>>,
}

/// Where events are told.
struct Target {
    socket: sealwire::Socket,
    wanted: u16,
}

impl Target {
    /// Events that nobody reads are dropped at the high-water marks, as peers cause any number of them.
    fn tell(&self, number: u16, value: u32, endpoint: &str) {
        if self.wanted & number == 0 {
            return;
        }
        let mut head = [0; 6];
        head[..2].copy_from_slice(&number.to_ne_bytes());
        head[2..].copy_from_slice(&value.to_ne_bytes());
        let parts = [&head[..], endpoint.as_bytes()];
        let message = Message::multipart(parts.map(Frame::copy_from_slice));
        let _ = self.socket.try_send(message);
    }
}

impl Observer {
    /// # Errors
    ///
    /// `EMTHREAD` where there is no thread.
    pub(crate) fn begin(monitor: Monitor) -> Result<Self, Errno> {
        let target = Arc::<Mutex<Option<Target>>>::default();
        let told_of = target.clone();
        let tell = move || {
            let mut told = Told {
                listening: String::new(),
            };
            while let Some(event) = monitor.wait_next() {
                let target = lock(&told_of);
                for (number, value, endpoint) in told.of(&event) {
                    if let Some(target) = &*target {
                        target.tell(number, value, &endpoint);
                    }
                }
            }
            Self::end(lock(&told_of).take());
        };
        let thread = thread::Builder::new().name("sealwire-monitor".into());
        // Signals are the program's: its handlers do not run on this thread.
        signals::held_back(|| thread.spawn(tell)).map_err(|_| Errno::MTHREAD)?;
        Ok(Observer { target })
    }

    /// Binds a socket of its own there, and tells of the events from now on.
    ///
    /// # Errors
    ///
    /// `EADDRINUSE`, `EMFILE`.
    pub(crate) fn tell_at(
        &self,
        endpoint: &str,
        wanted: u16,
        engine: &sealwire::Context,
    ) -> Result<(), Errno> {
        let builder = sealwire::Socket::builder(SocketType::Pair)
            .context(engine)
            .linger(Duration::ZERO);
        let socket = builder.build().map_err(|error| errno_of(&error))?;
        socket.bind(endpoint).map_err(|error| errno_of(&error))?;
        *lock(&self.target) = Some(Target { socket, wanted });
        Ok(())
    }

    /// Tells of nothing more, and of that.
    pub(crate) fn stop(&self) {
        Self::end(lock(&self.target).take());
    }

    fn end(target: Option<Target>) {
        if let Some(target) = target {
            target.tell(STOPPED, 0, "");
        }
    }
}

fn lock(target: &Mutex<Option<Target>>) -> MutexGuard<'_, Option<Target>> {
    target.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state that later events need.
struct Told {
    /// Where the socket listens, which an accepted connection is named by.
    listening: String,
}

impl Told {
    /// libzmq's events for one of the engine's, with their values.
    fn of(&mut self, event: &Event) -> Vec<(u16, u32, String)> {
        let at = |endpoint: &sealwire::Endpoint| endpoint.to_string();
        match event {
            Event::Listening { endpoint } => {
                self.listening = at(endpoint);
                vec![(LISTENING, 0, at(endpoint))]
            }
            Event::Accepted { .. } => vec![(ACCEPTED, 0, self.listening.clone())],
            Event::AcceptFailed { endpoint, .. } => vec![(ACCEPT_FAILED, 0, at(endpoint))],
            Event::Connected { endpoint, .. } => vec![(CONNECTED, 0, at(endpoint))],
            Event::Ready { .. } => vec![(SUCCEEDED, 0, self.listening.clone())],
            Event::Failed(failure) => self.of_failure(failure),
            Event::Disconnected { .. } => vec![(DISCONNECTED, 0, self.listening.clone())],
            Event::Retrying {
                endpoint, delay, ..
            } => {
                let delay = u32::try_from(delay.as_millis()).unwrap_or(u32::MAX);
                vec![(CONNECT_RETRIED, delay, at(endpoint))]
            }
            Event::Unbound { endpoint } => vec![(CLOSED, 0, at(endpoint))],
            _ => Vec::new(),
        }
    }

    fn of_failure(&self, failure: &ConnectionFailure) -> Vec<(u16, u32, String)> {
        let endpoint = failure.endpoint().to_string();
        let (number, value) = match failure.cause() {
            FailureCause::Resolve(_) | FailureCause::Connect(_) | FailureCause::Proxy(_) => {
                return vec![(CLOSED, 0, endpoint)];
            }
            _ if failure.peer().is_some() => return vec![(DISCONNECTED, 0, endpoint)],
            FailureCause::Transport(error) => (FAILED_NO_DETAIL, number_of(error)),
            FailureCause::RefusedByZap { status, .. } => (FAILED_AUTH, u32::from(*status)),
            FailureCause::Protocol(error) => of_protocol(error),
            _ => (FAILED_NO_DETAIL, 0),
        };
        vec![
            (number, value, endpoint.clone()),
            (DISCONNECTED, 0, endpoint),
        ]
    }
}

fn number_of(error: &io::Error) -> u32 {
    let number = error.raw_os_error().unwrap_or(libc::EPIPE);
    u32::try_from(number).unwrap_or(0)
}

fn of_protocol(error: &ProtocolError) -> (u16, u32) {
    let protocol = |value| (FAILED_PROTOCOL, value);
    match error {
        ProtocolError::Handshake(
            HandshakeError::HelloUnreadable
            | HandshakeError::WelcomeUnreadable
            | HandshakeError::InitiateUnreadable
            | HandshakeError::ReadyUnreadable,
        ) => protocol(ZMTP_CRYPTOGRAPHIC),
        ProtocolError::Handshake(HandshakeError::HelloMalformed) => protocol(ZMTP_MALFORMED_HELLO),
        ProtocolError::Incompatible(Incompatible::MechanismMismatch { .. }) => {
            protocol(ZMTP_MECHANISM_MISMATCH)
        }
        ProtocolError::PeerRefused { reason, .. } => match reason.parse() {
            Ok(status) => (FAILED_AUTH, status),
            Err(_) => (FAILED_NO_DETAIL, 0),
        },
        ProtocolError::HandshakeTimeout { .. } => (FAILED_NO_DETAIL, libc::ETIMEDOUT as u32),
        ProtocolError::Closed(_) => (FAILED_NO_DETAIL, libc::EPIPE as u32),
        _ => protocol(ZMTP_UNSPECIFIED),
    }
}
