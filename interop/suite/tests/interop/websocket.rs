//! libzmq over WebSocket, by itself and behind OpenSSL's TLS.

use interop::Side::{self, Ours, Theirs};
use interop::{LIBZMQ, Peer, Protection, TLS_RELAY, options};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sealwire::options::{TlsIdentity, TlsTrust};
use sealwire::{Endpoint, SocketType};
use tempfile::NamedTempFile;

const PROTECTIONS: [Protection; 5] = [
    Protection::Null,
    Protection::Plain { server: Ours },
    Protection::Plain { server: Theirs },
    Protection::Curve { server: Ours },
    Protection::Curve { server: Theirs },
];

/// An authority, and a certificate for this machine with its key; all in PEM.
struct Certificates {
    authority: String,
    chain: String,
    key: String,
}

impl Certificates {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // OpenSSL takes a certificate with its issuer's name for a self-signed one.
        let name = &mut params.distinguished_name;
        name.push(DnType::CommonName, "authority of the tests");
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let names = vec!["localhost".into(), "127.0.0.1".into()];
        let params = CertificateParams::new(names).unwrap();
        let key = KeyPair::generate().unwrap();
        let chain = params.signed_by(&key, &issuer).unwrap().pem();
        Certificates {
            authority,
            chain,
            key: key.serialize_pem(),
        }
    }
}

fn file(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// A relay to this port, with its own.
fn relay(to: u16, option: &str, pem: &NamedTempFile) -> (Peer, u16) {
    let to = to.to_string();
    let pem = pem.path().to_str().unwrap();
    let arguments = ["--to", &to, option, pem].map(String::from).to_vec();
    let mut relay = Peer::start(TLS_RELAY, arguments);
    let port = relay.event("ready")["port"].as_u64().unwrap();
    (relay, port.try_into().unwrap())
}

fn port(endpoint: &str) -> u16 {
    match endpoint.parse().unwrap() {
        Endpoint::Ws { port, .. } | Endpoint::Wss { port, .. } => port,
        other => panic!("{other} is no WebSocket"),
    }
}

/// One question and its answer, with either side bound and with TLS in between or not.
fn converse(protection: Protection, binds: Side, certificates: Option<&Certificates>) {
    let sides = protection.sides();
    let mut ours = options(SocketType::Req).security(sides.ours);
    if let Some(Certificates {
        authority,
        chain,
        key,
    }) = certificates
    {
        ours = ours
            .tls_identity(TlsIdentity::from_pem(chain, key).unwrap())
            .tls_trust(TlsTrust::from_pem(authority).unwrap());
    }
    let ours = ours.build_blocking().unwrap();
    let mut arguments = ["--type", "rep", "--recv", "1"].map(String::from).to_vec();
    arguments.extend(sides.theirs);
    // libzmq 4.3.4 connects to another path than it was given when that has several segments.
    let path = "/path";
    let mut running = Vec::new();
    match binds {
        Ours => {
            let scheme = if certificates.is_some() { "wss" } else { "ws" };
            let bound = ours.bind(format!("{scheme}://127.0.0.1:*{path}")).unwrap();
            let mut port = port(&bound.to_string());
            if let Some(certificates) = certificates {
                let (process, its_port) = relay(port, "--tls-out", &file(&certificates.authority));
                running.push(process);
                port = its_port;
            }
            arguments.extend(["--connect".into(), format!("ws://127.0.0.1:{port}{path}")]);
            running.push(Peer::start(LIBZMQ, arguments));
        }
        Theirs => {
            arguments.extend(["--bind".into(), format!("ws://127.0.0.1:*{path}")]);
            let mut peer = Peer::start(LIBZMQ, arguments);
            let mut port = port(&peer.endpoint());
            running.push(peer);
            let mut scheme = "ws";
            if let Some(Certificates { chain, key, .. }) = certificates {
                let pem = file(&format!("{chain}{key}"));
                let (process, its_port) = relay(port, "--tls-in", &pem);
                running.push(process);
                port = its_port;
                scheme = "wss";
            }
            ours.connect(format!("{scheme}://127.0.0.1:{port}{path}"))
                .unwrap();
        }
    }
    let question = vec![b'?'; 100_000];
    ours.send(question.clone()).unwrap();
    let answer = ours.recv().unwrap();
    assert!(answer.as_bytes() == question, "{protection:?} {binds:?}");
}

#[test]
fn libzmq_is_understood_over_websocket() {
    if !LIBZMQ.is_there() {
        return;
    }
    for protection in PROTECTIONS {
        for binds in [Ours, Theirs] {
            converse(protection, binds, None);
        }
    }
}

#[test]
fn libzmq_is_understood_over_websocket_behind_openssl() {
    if !LIBZMQ.is_there() || !TLS_RELAY.is_there() {
        return;
    }
    let certificates = Certificates::new();
    for protection in PROTECTIONS {
        for binds in [Ours, Theirs] {
            converse(protection, binds, Some(&certificates));
        }
    }
}
