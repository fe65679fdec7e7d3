//! From the cause of a failure to what somebody has to mend.

use std::io;

use sealwire::protocol::{CloseKind, HandshakeError, Incompatible, Step as Awaited, WireError};
use sealwire::{
    ConnectionFailure, Endpoint, FailureCause, Mechanism, PeerAddress, ProtocolError, SocketType,
};

use super::steps::Step;
use crate::exit::Code;

/// Where the connection ended, and what to do.
#[derive(Debug, PartialEq)]
pub(super) struct Diagnosis {
    pub(super) step: Step,
    pub(super) code: Code,
    /// A sentence.
    pub(super) mend: String,
}

impl Diagnosis {
    /// `ours` is the type of the socket that connected.
    pub(super) fn of(failure: &ConnectionFailure, ours: SocketType) -> Self {
        if failure.was_ready() {
            return left(failure);
        }
        of_cause(
            failure.cause(),
            failure.endpoint(),
            &failure.address().to_string(),
            ours,
        )
    }

    /// The same once the mechanism of the peer is known, which closed before it had said so.
    pub(super) fn knowing(self, theirs: &str, ours: &[Mechanism], address: &PeerAddress) -> Self {
        if ours.iter().any(|one| one.name() == theirs) {
            return self;
        }
        let mismatch = Incompatible::MechanismMismatch {
            ours: ours.to_vec(),
            theirs: theirs.to_owned(),
        };
        // Types play no part in it.
        misfit(&mismatch, &address.to_string(), SocketType::Pair)
    }
}

fn diagnosis(step: Step, code: Code, mend: impl Into<String>) -> Diagnosis {
    Diagnosis {
        step,
        code,
        mend: mend.into(),
    }
}

/// It had agreed to everything.
fn left(failure: &ConnectionFailure) -> Diagnosis {
    diagnosis(
        Step::Answer,
        Code::Left,
        format!(
            "{} agreed and then broke the connection: see its log; it was: {}",
            failure.address(),
            failure.cause()
        ),
    )
}

fn of_cause(
    cause: &FailureCause,
    endpoint: &Endpoint,
    address: &str,
    ours: SocketType,
) -> Diagnosis {
    match cause {
        FailureCause::Resolve(_) => diagnosis(
            Step::Name,
            Code::Name,
            format!(
                "the name in {endpoint} has no address: correct it, or add it to DNS or /etc/hosts"
            ),
        ),
        FailureCause::Connect(error) => connect(error, endpoint, address),
        FailureCause::Tls(error) => diagnosis(
            Step::Tls,
            Code::Tls,
            format!(
                "TLS with {address} fails ({error}): check the certificate there, and --tls-ca and --tls-host-name here"
            ),
        ),
        FailureCause::WebSocket(error) => diagnosis(
            Step::WebSocket,
            Code::Tls,
            format!(
                "{address} does not agree to a WebSocket ({error}): check the path, and that ZeroMQ is bound there"
            ),
        ),
        FailureCause::Transport(error) => diagnosis(
            Step::Greeting,
            Code::Greeting,
            format!(
                "{address} broke the connection off ({error}): another program listens there, or it refuses this address"
            ),
        ),
        FailureCause::Protocol(error) => protocol(error, address, ours),
        other => diagnosis(
            Step::Greeting,
            Code::Failed,
            format!("the connection failed here: {other}"),
        ),
    }
}

fn connect(error: &io::Error, endpoint: &Endpoint, address: &str) -> Diagnosis {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound,
        PermissionDenied, TimedOut,
    };
    let is_ipc = matches!(endpoint, Endpoint::Ipc(_));
    match error.kind() {
        ConnectionRefused if is_ipc => diagnosis(
            Step::Connection,
            Code::Refused,
            format!("nobody listens at {endpoint}: start the program that binds it"),
        ),
        NotFound => diagnosis(
            Step::Connection,
            Code::Refused,
            format!(
                "{endpoint} does not exist: start the program that binds it, or correct the path"
            ),
        ),
        PermissionDenied if is_ipc => diagnosis(
            Step::Connection,
            Code::Route,
            format!(
                "this user may not write to {endpoint}: bind it with another mode (--ipc-mode), or be of its group"
            ),
        ),
        ConnectionRefused => diagnosis(
            Step::Connection,
            Code::Refused,
            format!(
                "{address} is there, and nothing listens at that port: start the server, correct the port, or look \
                 whether it is bound to another address, such as 127.0.0.1"
            ),
        ),
        TimedOut => diagnosis(
            Step::Connection,
            Code::Silent,
            format!(
                "{address} does not answer: the machine is down, or a firewall drops what is sent to it"
            ),
        ),
        HostUnreachable | NetworkUnreachable | AddrNotAvailable => diagnosis(
            Step::Route,
            Code::Route,
            format!("no route leads from this machine to {address} ({error}): check the network"),
        ),
        PermissionDenied => diagnosis(
            Step::Route,
            Code::Route,
            format!("this machine does not let us connect to {address}: its firewall forbids it"),
        ),
        _ => diagnosis(
            Step::Connection,
            Code::Route,
            format!("this machine could not connect to {address}: {error}"),
        ),
    }
}

fn protocol(error: &ProtocolError, address: &str, ours: SocketType) -> Diagnosis {
    match error {
        ProtocolError::Wire(WireError::BadSignature { position: 0, byte }) => diagnosis(
            Step::Greeting,
            Code::Greeting,
            format!(
                "{address} does not speak ZeroMQ{}: correct host and port",
                resembles(*byte)
            ),
        ),
        ProtocolError::Wire(WireError::UnsupportedVersion { major }) => diagnosis(
            Step::Greeting,
            Code::Greeting,
            format!(
                "{address} speaks ZMTP {major}, which cannot be encrypted: upgrade it to libzmq 4 or newer"
            ),
        ),
        ProtocolError::Closed(CloseKind::DuringHandshake(awaited)) => closed(*awaited, address),
        ProtocolError::HandshakeTimeout { step } => silent(*step, address),
        ProtocolError::Incompatible(incompatible) => misfit(incompatible, address, ours),
        ProtocolError::PeerRefused { reason, .. } => refused(reason, address, ours),
        ProtocolError::Handshake(HandshakeError::WelcomeUnreadable) => wrong_key(address),
        ProtocolError::Handshake(fault) => diagnosis(
            Step::Key,
            Code::Key,
            format!(
                "the handshake with {address} does not verify ({fault}): somebody between changes it, or its keys do not \
                 belong together"
            ),
        ),
        other => diagnosis(
            Step::Greeting,
            Code::Greeting,
            format!("{address} breaks the protocol ({other}): see which program listens there"),
        ),
    }
}

/// What begins with this byte where a ZeroMQ peer sends 0xff.
fn resembles(byte: u8) -> &'static str {
    match byte {
        b'H' => " (it answers as a web server does)",
        b'S' => " (it answers as SSH does)",
        0x15 | 0x16 => " (it answers as TLS does)",
        b'+' | b'-' | b'*' => " (it answers as Redis does)",
        b'2' | b'5' => " (it answers as a mail server does)",
        _ => "",
    }
}

fn wrong_key(address: &str) -> Diagnosis {
    diagnosis(
        Step::Key,
        Code::Key,
        format!(
            "{address} has another key than the one that was given: compare --server-key with the public key there"
        ),
    )
}

fn closed(awaited: Awaited, address: &str) -> Diagnosis {
    match awaited {
        Awaited::Greeting => diagnosis(
            Step::Greeting,
            Code::Greeting,
            format!(
                "{address} accepted and closed without a greeting: another program listens there, it refuses this address, \
                 or it has as many connections as it may have"
            ),
        ),
        Awaited::Welcome => wrong_key(address),
        Awaited::Initiate | Awaited::Authorization | Awaited::Hello => diagnosis(
            Step::Key,
            Code::Key,
            format!(
                "{address}, which is the client of the mechanism, left: compare the server key that it was given with ours"
            ),
        ),
        _ => diagnosis(
            Step::Authorisation,
            Code::NotLetIn,
            format!(
                "{address} closed instead of letting us in: see its log. libzmq closes silently where the key is not let \
                 in, and where the socket types do not fit (--as)"
            ),
        ),
    }
}

fn silent(awaited: Awaited, address: &str) -> Diagnosis {
    match awaited {
        Awaited::Greeting => diagnosis(
            Step::Greeting,
            Code::Greeting,
            format!(
                "{address} accepted and says nothing: another program listens there, or the one that does hangs"
            ),
        ),
        Awaited::Ready => diagnosis(
            Step::Authorisation,
            Code::NotLetIn,
            format!(
                "{address} does not decide whether to let us in: see whether its authenticator (ZAP) runs"
            ),
        ),
        awaited => diagnosis(
            Step::Key,
            Code::Key,
            format!("{address} did not send {awaited} in time: it is overloaded, or hangs"),
        ),
    }
}

fn misfit(incompatible: &Incompatible, address: &str, ours: SocketType) -> Diagnosis {
    match incompatible {
        Incompatible::SocketTypes { theirs, .. } => {
            let fits = SocketType::ALL
                .into_iter()
                .filter(|one| one.accepts(*theirs));
            let names: Vec<_> = fits.map(SocketType::name).collect();
            diagnosis(
                Step::SocketTypes,
                Code::SocketTypes,
                format!(
                    "{address} is a {theirs}, which a {ours} cannot talk to: connect to it with {} (--as says with which to try)",
                    names.join(" or ")
                ),
            )
        }
        Incompatible::MechanismMismatch { ours, theirs } => {
            let ours: Vec<_> = ours.iter().map(|one| one.name()).collect();
            diagnosis(
                Step::Mechanism,
                Code::Mechanism,
                format!(
                    "{address} has the mechanism {theirs} and this side {}: give both sides the same (--mechanism, and keys)",
                    ours.join(" or ")
                ),
            )
        }
        other => diagnosis(
            Step::Mechanism,
            Code::Mechanism,
            format!("{address} and this side do not fit: {other}"),
        ),
    }
}

/// The reason that the peer sent, in words of its own or as a status of ZAP (RFC 27).
fn refused(reason: &str, address: &str, ours: SocketType) -> Diagnosis {
    let not_let_in = |mend: String| diagnosis(Step::Authorisation, Code::NotLetIn, mend);
    match reason {
        "the socket types cannot be connected" => diagnosis(
            Step::SocketTypes,
            Code::SocketTypes,
            format!(
                "{address} is of a type that no {ours} talks to: say with --as which type the program has that is to connect"
            ),
        ),
        "300" => not_let_in(format!(
            "the authenticator of {address} cannot decide now: try again later, and see its log"
        )),
        "500" => not_let_in(format!(
            "the authenticator of {address} failed: see its log"
        )),
        "400" => not_let_in(format!(
            "{address} does not let this key or password in: add it to its allow-list"
        )),
        reason => not_let_in(format!(
            "{address} does not let us in ({reason}): add our public key to its allow-list, or give another --secret-key-file"
        )),
    }
}

#[cfg(test)]
mod tests;
