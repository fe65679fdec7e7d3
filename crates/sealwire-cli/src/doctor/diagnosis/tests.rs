use std::sync::Arc;

use sealwire::protocol::Refusal;

use super::*;

const ADDRESS: &str = "192.0.2.1:5555";

fn found(endpoint: &str, cause: impl Into<FailureCause>) -> Diagnosis {
    let endpoint = endpoint.parse().unwrap();
    of_cause(&cause.into(), &endpoint, ADDRESS, SocketType::Req)
}

fn over_tcp(cause: impl Into<FailureCause>) -> (Step, u8, String) {
    let found = found("tcp://db.example:5555", cause);
    (found.step, found.code as u8, found.mend)
}

fn connecting(endpoint: &str, kind: io::ErrorKind) -> (Step, u8) {
    let found = found(endpoint, FailureCause::Connect(Arc::new(kind.into())));
    assert!(!found.mend.is_empty());
    (found.step, found.code as u8)
}

#[test]
fn each_fault_of_a_connection_has_its_code() {
    use io::ErrorKind as Kind;
    let tcp = |kind| connecting("tcp://db.example:5555", kind);
    let ipc = |kind| connecting("ipc:///run/db", kind);
    assert_eq!(tcp(Kind::ConnectionRefused), (Step::Connection, 12));
    assert_eq!(tcp(Kind::TimedOut), (Step::Connection, 13));
    assert_eq!(tcp(Kind::NetworkUnreachable), (Step::Route, 11));
    assert_eq!(tcp(Kind::HostUnreachable), (Step::Route, 11));
    assert_eq!(tcp(Kind::AddrNotAvailable), (Step::Route, 11));
    assert_eq!(tcp(Kind::PermissionDenied), (Step::Route, 11));
    assert_eq!(tcp(Kind::Other), (Step::Connection, 11));
    assert_eq!(ipc(Kind::ConnectionRefused), (Step::Connection, 12));
    assert_eq!(ipc(Kind::NotFound), (Step::Connection, 12));
    assert_eq!(ipc(Kind::PermissionDenied), (Step::Connection, 11));
    let resolve = FailureCause::Resolve(Arc::new(io::Error::other("no such name")));
    let (step, code, mend) = over_tcp(resolve);
    assert_eq!((step, code), (Step::Name, 10));
    assert!(mend.contains("tcp://db.example:5555"), "{mend}");
}

#[test]
fn who_speaks_something_else_is_named_by_the_first_byte() {
    let mut texts = Vec::new();
    for byte in [b'H', b'S', 0x15, b'-', b'2', 0x00] {
        let fault = WireError::BadSignature { position: 0, byte };
        let (step, code, mend) = over_tcp(ProtocolError::from(fault));
        assert_eq!((step, code), (Step::Greeting, 15));
        texts.push(mend);
    }
    texts.dedup();
    assert_eq!(texts.len(), 6, "{texts:?}");
    assert!(texts[0].contains("web server"), "{texts:?}");
}

#[test]
fn the_end_of_a_handshake_says_at_which_step() {
    use Awaited::{Authorization, Greeting, Hello, Initiate, Ready, Welcome};
    let closed = |step| {
        let (step, code, _) = over_tcp(ProtocolError::Closed(CloseKind::DuringHandshake(step)));
        (step, code)
    };
    assert_eq!(closed(Greeting), (Step::Greeting, 15));
    assert_eq!(closed(Welcome), (Step::Key, 17));
    for of_a_server in [Hello, Initiate, Authorization] {
        assert_eq!(closed(of_a_server), (Step::Key, 17));
    }
    assert_eq!(closed(Ready), (Step::Authorisation, 18));
    let silent = |step| {
        let (step, code, _) = over_tcp(ProtocolError::HandshakeTimeout { step });
        (step, code)
    };
    assert_eq!(silent(Greeting), (Step::Greeting, 15));
    assert_eq!(silent(Welcome), (Step::Key, 17));
    assert_eq!(silent(Ready), (Step::Authorisation, 18));
}

#[test]
fn what_does_not_verify_is_the_key() {
    let of = |fault| {
        let (step, code, mend) = over_tcp(ProtocolError::Handshake(fault));
        assert_eq!((step, code), (Step::Key, 17));
        mend
    };
    let welcome = of(HandshakeError::WelcomeUnreadable);
    assert!(welcome.contains("--server-key"), "{welcome}");
    assert_ne!(welcome, of(HandshakeError::ReadyUnreadable));
}

#[test]
fn a_refusal_is_told_by_its_reason() {
    let refused = |reason: &str| {
        over_tcp(ProtocolError::PeerRefused {
            reason: reason.to_owned(),
            verified: false,
        })
    };
    let mut texts = Vec::new();
    for reason in ["300", "400", "500", "this key is not allowed here"] {
        let (step, code, mend) = refused(reason);
        assert_eq!((step, code), (Step::Authorisation, 18), "{reason}");
        texts.push(mend);
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 4, "{texts:?}");
    // The words that this library sends.
    let types = ProtocolError::Incompatible(Incompatible::SocketTypes {
        ours: SocketType::Pub,
        theirs: SocketType::Req,
    });
    let (step, code, _) = refused(types.to_peer().unwrap());
    assert_eq!((step, code), (Step::SocketTypes, 19));
}

#[test]
fn a_misfit_names_what_would_fit() {
    let (step, code, mend) = over_tcp(ProtocolError::Incompatible(Incompatible::SocketTypes {
        ours: SocketType::Req,
        theirs: SocketType::Pub,
    }));
    assert_eq!((step, code), (Step::SocketTypes, 19));
    assert!(mend.contains("SUB or XSUB"), "{mend}");
    let mismatch = Incompatible::MechanismMismatch {
        ours: vec![Mechanism::Blake3],
        theirs: "CURVE".to_owned(),
    };
    let (step, code, mend) = over_tcp(ProtocolError::Incompatible(mismatch));
    assert_eq!((step, code), (Step::Mechanism, 16));
    assert!(mend.contains("CURVE") && mend.contains("BLAKE3"), "{mend}");
    let (step, code, _) = over_tcp(ProtocolError::Incompatible(Incompatible::BothClients));
    assert_eq!((step, code), (Step::Mechanism, 16));
}

#[test]
fn other_protocols_below_and_faults_of_this_side() {
    let (step, code, _) = over_tcp(sealwire::TlsError::NotTls);
    assert_eq!((step, code), (Step::Tls, 14));
    let (step, code, _) = over_tcp(sealwire::WebSocketError::NotHttp);
    assert_eq!((step, code), (Step::WebSocket, 14));
    let broken = FailureCause::Transport(Arc::new(io::ErrorKind::ConnectionReset.into()));
    assert_eq!(over_tcp(broken).1, 15);
    let old = WireError::UnsupportedVersion { major: 2 };
    assert_eq!(over_tcp(ProtocolError::from(old)).1, 15);
    let malformed = WireError::TruncatedCommand;
    assert_eq!(over_tcp(ProtocolError::from(malformed)).1, 15);
    assert_eq!(over_tcp(FailureCause::OutOfDescriptors).1, 1);
    assert_eq!(over_tcp(ProtocolError::Refused(Refusal::new("no"))).1, 15);
}

#[test]
fn a_mechanism_that_was_asked_for_decides_if_it_is_another() {
    let closed = || {
        let closed = CloseKind::DuringHandshake(Awaited::Greeting);
        found("tcp://db.example:5555", ProtocolError::Closed(closed))
    };
    let address = PeerAddress::Tcp(ADDRESS.parse().unwrap());
    let known = closed().knowing("CURVE", &[Mechanism::Blake3], &address);
    assert_eq!((known.step, known.code), (Step::Mechanism, Code::Mechanism));
    assert!(known.mend.contains("CURVE"), "{}", known.mend);
    assert_eq!(
        closed().knowing("BLAKE3", &[Mechanism::Blake3], &address),
        closed()
    );
}
