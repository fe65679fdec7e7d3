//! Failures of handshakes in libzmq's three classes, and what it tells of data that do not open.

use std::io;

use sealwire::auth::zap::Fault;
use sealwire::protocol::{HandshakeError, Incompatible, WireError};
use sealwire::{FailureCause, ProtocolError};

const NO_DETAIL: u16 = 0x0800;
const PROTOCOL: u16 = 0x2000;
const AUTH: u16 = 0x4000;

const ZMTP_UNSPECIFIED: u32 = 0x1000_0000;
const ZMTP_UNEXPECTED_COMMAND: u32 = 0x1000_0001;
const ZMTP_MALFORMED_UNSPECIFIED: u32 = 0x1000_0011;
const ZMTP_MALFORMED_HELLO: u32 = 0x1000_0013;
const ZMTP_MALFORMED_INITIATE: u32 = 0x1000_0014;
const ZMTP_MALFORMED_ERROR: u32 = 0x1000_0015;
const ZMTP_MALFORMED_READY: u32 = 0x1000_0016;
const ZMTP_MALFORMED_WELCOME: u32 = 0x1000_0017;
const ZMTP_INVALID_METADATA: u32 = 0x1000_0018;
const ZMTP_CRYPTOGRAPHIC: u32 = 0x1100_0001;
const ZMTP_MECHANISM_MISMATCH: u32 = 0x1100_0002;
const ZAP_UNSPECIFIED: u32 = 0x2000_0000;
const ZAP_MALFORMED_REPLY: u32 = 0x2000_0001;
const ZAP_BAD_REQUEST_ID: u32 = 0x2000_0002;
const ZAP_BAD_VERSION: u32 = 0x2000_0003;
const ZAP_INVALID_STATUS_CODE: u32 = 0x2000_0004;
const ZAP_INVALID_METADATA: u32 = 0x2000_0005;
const WS_UNSPECIFIED: u32 = 0x3000_0000;

/// The event of a handshake that failed, with its value; `None` where libzmq tells of the end alone.
pub(super) fn of_handshake(cause: &FailureCause) -> Option<(u16, u32)> {
    match cause {
        FailureCause::Transport(error) => Some(no_detail(number_of(error))),
        FailureCause::RefusedByZap {
            fault: Some(fault), ..
        } => Some(of_fault(*fault)),
        FailureCause::RefusedByZap { status, .. } => Some((AUTH, u32::from(*status))),
        FailureCause::Protocol(error) => of_protocol(error),
        FailureCause::WebSocket(_) => Some((PROTOCOL, WS_UNSPECIFIED)),
        // The handshake was well, and the socket had no use for the peer.
        FailureCause::Rejected(_) => None,
        _ => Some(no_detail(libc::ECONNABORTED)),
    }
}

/// The same for a connection that was ready.
pub(super) fn of_data(cause: &FailureCause) -> Option<(u16, u32)> {
    match cause {
        FailureCause::Protocol(ProtocolError::FrameNotVerified { .. }) => {
            Some((PROTOCOL, ZMTP_CRYPTOGRAPHIC))
        }
        _ => None,
    }
}

fn no_detail(number: i32) -> (u16, u32) {
    (NO_DETAIL, number.cast_unsigned())
}

fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EPIPE)
}

/// libzmq asks nobody where there is no handler, and waits for one that went away until the client gives up.
fn of_fault(fault: Fault) -> (u16, u32) {
    match fault {
        Fault::NoHandler => no_detail(libc::EFAULT),
        Fault::Gone | Fault::NoAnswer | Fault::NotAsked => no_detail(libc::EPIPE),
        Fault::Frames => (PROTOCOL, ZAP_MALFORMED_REPLY),
        Fault::RequestId => (PROTOCOL, ZAP_BAD_REQUEST_ID),
        Fault::Version => (PROTOCOL, ZAP_BAD_VERSION),
        Fault::Status => (PROTOCOL, ZAP_INVALID_STATUS_CODE),
        Fault::Metadata => (PROTOCOL, ZAP_INVALID_METADATA),
        _ => (PROTOCOL, ZAP_UNSPECIFIED),
    }
}

fn of_protocol(error: &ProtocolError) -> Option<(u16, u32)> {
    let number = match error {
        ProtocolError::HandshakeTimeout { .. } => return Some(no_detail(libc::ETIMEDOUT)),
        ProtocolError::Closed(_) => return Some(no_detail(libc::EPIPE)),
        ProtocolError::PeerRefused { reason, .. } => {
            let status = ["300", "400", "500"].contains(&reason.as_str());
            let status = status.then(|| reason.parse().ok()).flatten();
            return status.map(|status| (AUTH, status));
        }
        ProtocolError::Handshake(error) => of_command(error),
        ProtocolError::Incompatible(Incompatible::MechanismMismatch { .. }) => {
            ZMTP_MECHANISM_MISMATCH
        }
        // Each waits for what the other does not send.
        ProtocolError::Incompatible(Incompatible::BothServers | Incompatible::BothClients) => {
            ZMTP_UNEXPECTED_COMMAND
        }
        ProtocolError::Incompatible(Incompatible::SocketTypes { .. }) => ZMTP_INVALID_METADATA,
        ProtocolError::Wire(error) => of_bytes(error),
        _ => ZMTP_UNSPECIFIED,
    };
    Some((PROTOCOL, number))
}

fn of_command(error: &HandshakeError) -> u32 {
    match error {
        HandshakeError::HelloMalformed => ZMTP_MALFORMED_HELLO,
        HandshakeError::InitiateMalformed => ZMTP_MALFORMED_INITIATE,
        HandshakeError::ReadyMalformed => ZMTP_MALFORMED_READY,
        HandshakeError::HelloUnreadable
        | HandshakeError::WelcomeUnreadable
        | HandshakeError::CookieRejected
        | HandshakeError::InitiateUnreadable
        | HandshakeError::VouchInvalid
        | HandshakeError::ReadyUnreadable
        | HandshakeError::KeyNotCanonical
        | HandshakeError::WeakKey => ZMTP_CRYPTOGRAPHIC,
        HandshakeError::UnexpectedCommand { .. } => ZMTP_UNEXPECTED_COMMAND,
        _ => ZMTP_UNSPECIFIED,
    }
}

fn of_bytes(error: &WireError) -> u32 {
    match error {
        WireError::MalformedCommand { command } => match *command {
            "HELLO" => ZMTP_MALFORMED_HELLO,
            "INITIATE" => ZMTP_MALFORMED_INITIATE,
            "ERROR" => ZMTP_MALFORMED_ERROR,
            "READY" => ZMTP_MALFORMED_READY,
            "WELCOME" => ZMTP_MALFORMED_WELCOME,
            _ => ZMTP_MALFORMED_UNSPECIFIED,
        },
        WireError::TruncatedCommand => ZMTP_MALFORMED_UNSPECIFIED,
        WireError::TruncatedMetadata
        | WireError::BadPropertyName
        | WireError::DuplicateProperty
        | WireError::TooManyProperties { .. }
        | WireError::NoSocketType
        | WireError::RoutingIdTooLong { .. } => ZMTP_INVALID_METADATA,
        _ => ZMTP_UNSPECIFIED,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sealwire::Mechanism;
    use sealwire::protocol::{CloseKind, Step};

    use super::*;

    #[test]
    fn faults_of_the_protocol_have_the_numbers_of_zmq_h() {
        let mismatch = Incompatible::MechanismMismatch {
            ours: vec![Mechanism::Curve],
            theirs: "NULL".into(),
        };
        let step = Step::Hello;
        let malformed = |command| WireError::MalformedCommand { command };
        let table: [(ProtocolError, u32); 14] = [
            (mismatch.into(), 0x1100_0002),
            (HandshakeError::HelloUnreadable.into(), 0x1100_0001),
            (HandshakeError::CookieRejected.into(), 0x1100_0001),
            (HandshakeError::VouchInvalid.into(), 0x1100_0001),
            (HandshakeError::WeakKey.into(), 0x1100_0001),
            (HandshakeError::HelloMalformed.into(), 0x1000_0013),
            (HandshakeError::InitiateMalformed.into(), 0x1000_0014),
            (HandshakeError::ReadyMalformed.into(), 0x1000_0016),
            (
                HandshakeError::UnexpectedCommand { expected: step }.into(),
                0x1000_0001,
            ),
            (malformed("ERROR").into(), 0x1000_0015),
            (malformed("WELCOME").into(), 0x1000_0017),
            (malformed("PING").into(), 0x1000_0011),
            (WireError::NoSocketType.into(), 0x1000_0018),
            (
                WireError::UnsupportedVersion { major: 2 }.into(),
                0x1000_0000,
            ),
        ];
        for (error, number) in table {
            let told = of_handshake(&error.clone().into());
            assert_eq!(told, Some((0x2000, number)), "{error}");
        }
    }

    #[test]
    fn faults_of_a_zap_handler_have_the_numbers_of_zmq_h() {
        for (fault, number) in [
            (Fault::Frames, 1),
            (Fault::RequestId, 2),
            (Fault::Version, 3),
            (Fault::Status, 4),
            (Fault::Metadata, 5),
        ] {
            assert_eq!(of_fault(fault), (0x2000, 0x2000_0000 + number), "{fault}");
        }
        for (fault, errno) in [
            (Fault::NoHandler, libc::EFAULT),
            (Fault::Gone, libc::EPIPE),
            (Fault::NoAnswer, libc::EPIPE),
        ] {
            assert_eq!(of_fault(fault), (0x0800, errno.cast_unsigned()), "{fault}");
        }
    }

    #[test]
    fn a_word_of_the_peer_is_a_status_or_nothing() {
        let refused = |reason: &str| {
            let reason = reason.into();
            let verified = false;
            of_protocol(&ProtocolError::PeerRefused { reason, verified })
        };
        for status in [300, 400, 500] {
            assert_eq!(refused(&status.to_string()), Some((0x4000, status)));
        }
        for reason in ["200", "0400", "not you", ""] {
            assert_eq!(refused(reason), None, "{reason}");
        }
    }

    #[test]
    fn the_end_of_the_transport_and_of_the_time_have_an_errno() {
        let broken = io::Error::from_raw_os_error(libc::ECONNRESET);
        let step = Step::Greeting;
        for (cause, errno) in [
            (FailureCause::Transport(Arc::new(broken)), libc::ECONNRESET),
            (
                ProtocolError::Closed(CloseKind::DuringHandshake(step)).into(),
                libc::EPIPE,
            ),
            (
                ProtocolError::HandshakeTimeout { step }.into(),
                libc::ETIMEDOUT,
            ),
        ] {
            assert_eq!(of_handshake(&cause), Some((0x0800, errno.cast_unsigned())));
        }
        assert_eq!(of_handshake(&FailureCause::Rejected("no use")), None);
    }

    #[test]
    fn of_data_only_what_does_not_open_is_told() {
        let first = false;
        let sealed = ProtocolError::FrameNotVerified { index: 3, first };
        assert_eq!(of_data(&sealed.into()), Some((0x2000, 0x1100_0001)));
        let silent = ProtocolError::HeartbeatTimeout;
        assert_eq!(of_data(&silent.into()), None);
    }
}
