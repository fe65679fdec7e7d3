//! The events of a socket as messages of two parts for a socket of the program's: number and value, and the
//! endpoint.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sealwire::protocol::{HandshakeError, Incompatible};
use sealwire::{
    ConnectionFailure, Event, FailureCause, Message, Monitor, ProtocolError, SocketType,
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

/// The monitor of one socket. It ends with its last owner, or the socket.
pub(crate) struct Observer {
    socket: Arc<sealwire::Socket>,
    wanted: u16,
}

impl Observer {
    /// Binds a socket of its own there, and tells of events from now on.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a type that cannot tell, `EADDRINUSE`, `EMTHREAD` where there is no thread.
    pub(crate) fn begin(
        monitor: Monitor,
        engine: &sealwire::Context,
        socket_type: SocketType,
        endpoint: &str,
        wanted: u16,
    ) -> Result<Self, Errno> {
        let builder = sealwire::Socket::builder(socket_type)
            .context(engine)
            .send_high_water_mark(0)
            .linger(Duration::ZERO);
        let socket = builder.build().map_err(|error| errno_of(&error))?;
        socket.bind(endpoint).map_err(|error| errno_of(&error))?;
        let socket = Arc::new(socket);
        let teller = Arc::downgrade(&socket);
        let tell = move || {
            let mut told = Told {
                listening: String::new(),
            };
            while let Some(event) = monitor.wait_next() {
                let Some(socket) = teller.upgrade() else {
                    return;
                };
                for (number, value, endpoint) in told.of(&event) {
                    if wanted & number != 0 {
                        tell(&socket, number, value, &endpoint);
                    }
                }
            }
            if let Some(socket) = teller.upgrade()
                && wanted & STOPPED != 0
            {
                tell(&socket, STOPPED, 0, "");
            }
        };
        let thread = thread::Builder::new().name("ZMQbg/Monitor".into());
        thread.spawn(tell).map_err(|_| Errno::MTHREAD)?;
        Ok(Observer { socket, wanted })
    }

    /// Ends it, and tells of that.
    pub(crate) fn stop(self) {
        if self.wanted & STOPPED != 0 {
            tell(&self.socket, STOPPED, 0, "");
        }
    }
}

fn tell(socket: &sealwire::Socket, number: u16, value: u32, endpoint: &str) {
    let mut head = [0; 6];
    head[..2].copy_from_slice(&number.to_ne_bytes());
    head[2..].copy_from_slice(&value.to_ne_bytes());
    let message =
        Message::multipart([&head[..], endpoint.as_bytes()].map(sealwire::Frame::copy_from_slice));
    // Nobody who reads is not an error.
    let _ = socket.try_send(message);
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
