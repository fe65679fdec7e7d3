//! Certificates in czmq's format: every library reads those of the others, and they open
//! connections in both directions.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path as FilePath, PathBuf};
use std::process::Command;

use interop::Side::{Ours, Theirs};
use interop::{CZMQ, PYZMQ, Path, Program, SEALWIRE, Sides, await_ready, describe, options};
use interop::{Own, Peer};
use sealwire::auth::AllowedKeysFile;
use sealwire::keys::{self, KeyFileError};
use sealwire::{Generate as _, KeyPair, Security, SocketType};
use serde_json::Value;
use tempfile::TempDir;

/// The maker of certificates.
#[derive(Debug, Clone, Copy)]
enum Maker {
    /// The library's function.
    Library,
    /// `sealwire keygen --czmq`.
    Keygen,
    /// `zmq.auth.create_certificates`.
    Pyzmq,
    /// `zcert_save`.
    Czmq,
}

const MAKERS: [Maker; 4] = [Maker::Library, Maker::Keygen, Maker::Pyzmq, Maker::Czmq];

impl Maker {
    fn is_there(self) -> bool {
        match self {
            Maker::Library => true,
            Maker::Keygen => SEALWIRE.is_there(),
            Maker::Pyzmq => PYZMQ.is_there(),
            Maker::Czmq => CZMQ.is_there(),
        }
    }

    fn make(self, folder: &FilePath, name: &str) -> Certificate {
        let stem = folder.join(name);
        let public = stem.with_extension("key");
        let secret = stem.with_extension("key_secret");
        match self {
            Maker::Library => {
                let written = keys::write_czmq_certificate(&stem, &KeyPair::generate()).unwrap();
                assert_eq!(written, (public.clone(), secret.clone()));
            }
            Maker::Keygen => {
                let made = Command::new(SEALWIRE.path())
                    .args(["keygen", "--czmq", "--out"])
                    .arg(&stem)
                    .output()
                    .unwrap();
                assert!(made.status.success(), "{made:?}");
            }
            Maker::Pyzmq => {
                run(PYZMQ, &["--make", text(&stem)]);
                // It leaves the secret readable for all, which is not taken.
                let refused = keys::read_key_pair(&secret);
                let named = matches!(refused, Err(KeyFileError::Permissions { .. }));
                assert!(named, "{refused:?}");
                fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
            }
            Maker::Czmq => {
                run(CZMQ, &["--make", text(&public)]);
            }
        }
        let pair = keys::read_key_pair(&secret).unwrap();
        assert_eq!(keys::read_public_key(&public).unwrap(), pair.public());
        assert_eq!(keys::read_public_key(&secret).unwrap(), pair.public());
        Certificate {
            public,
            secret,
            pair,
        }
    }
}

/// A certificate's two files, and what our library reads in them.
struct Certificate {
    public: PathBuf,
    secret: PathBuf,
    pair: KeyPair,
}

/// A server's and a client's certificate, and a folder with the public half of the client's.
struct Certificates {
    server: Certificate,
    client: Certificate,
    allowed: PathBuf,
    _folder: TempDir,
}

impl Certificates {
    fn of(maker: Maker) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let allowed = folder.path().join("allowed");
        fs::create_dir(&allowed).unwrap();
        let [server, client] = ["server", "client"].map(|name| maker.make(folder.path(), name));
        fs::copy(&client.public, allowed.join("client.key")).unwrap();
        Certificates {
            server,
            client,
            allowed,
            _folder: folder,
        }
    }
}

fn text(path: &FilePath) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// Runs a program that makes or reads a certificate; gives what it reports.
fn run(program: Program, arguments: &[&str]) -> Value {
    let output = Command::new(program.path())
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every maker that is there, with everybody else who is.
fn each(check: impl Fn(Program, &Certificates)) {
    for maker in MAKERS.into_iter().filter(|maker| maker.is_there()) {
        let certificates = Certificates::of(maker);
        for program in [PYZMQ, CZMQ]
            .into_iter()
            .filter(|program| program.is_there())
        {
            check(program, &certificates);
        }
    }
}

/// What a peer's command line says of its keys.
fn client_arguments(program: Program, certificates: &Certificates) -> Vec<String> {
    let Certificates { server, client, .. } = certificates;
    let files = [
        "--certificate",
        text(&client.secret),
        "--server-certificate",
        text(&server.public),
    ];
    with_mechanism(program, &files)
}

fn server_arguments(program: Program, certificates: &Certificates) -> Vec<String> {
    let Certificates {
        server, allowed, ..
    } = certificates;
    let files = [
        "--certificate",
        text(&server.secret),
        "--allow-certificates",
        text(allowed),
    ];
    let mut arguments = with_mechanism(program, &files);
    if program == PYZMQ {
        arguments.push("--server".into());
    }
    arguments
}

/// czmq's program speaks nothing else than CURVE.
fn with_mechanism(program: Program, files: &[&str]) -> Vec<String> {
    let mechanism: &[&str] = match program {
        PYZMQ => &["--mechanism", "curve"],
        _ => &[],
    };
    [mechanism, files]
        .concat()
        .into_iter()
        .map(String::from)
        .collect()
}

/// The peer's part in one message.
fn script(program: Program, kind: &'static str) -> Vec<&'static str> {
    let count: &[&str] = match (program, kind) {
        (PYZMQ, "push") => &["--send", "1"],
        (PYZMQ, _) => &["--recv", "1"],
        _ => &[],
    };
    [&["--type", kind], count].concat()
}

#[test]
fn are_read_by_everybody() {
    each(|program, certificates| {
        for certificate in [&certificates.server, &certificates.client] {
            let secret = run(program, &["--read", text(&certificate.secret)]);
            assert_eq!(secret["public"], certificate.pair.public().to_string());
            assert_eq!(
                secret["secret"],
                certificate.pair.secret().to_z85().as_str()
            );
        }
        // czmq finds the secret half beside the public one; this one has none.
        let public = run(
            program,
            &["--read", text(&certificates.allowed.join("client.key"))],
        );
        assert_eq!(
            public["public"],
            certificates.client.pair.public().to_string()
        );
        assert!(public.get("secret").is_none(), "{public}");
    });
}

#[test]
fn let_peers_connect_to_us() {
    each(|program, certificates| {
        let Certificates {
            server,
            client,
            allowed,
            ..
        } = certificates;
        let allowed = AllowedKeysFile::open(allowed).unwrap();
        let sides = Sides {
            ours: Security::curve_server(server.pair.clone(), allowed),
            theirs: client_arguments(program, certificates),
            their_key: Some(client.pair.public()),
        };
        let path = Path::curve(program, Ours, Ours);
        let link = path.open_with(options(SocketType::Pull), &script(program, "push"), sides);
        let received = link.ours.recv().unwrap();
        let peer = received.peer().unwrap();
        assert_eq!(peer.public_key(), Some(client.pair.public()));
        assert_eq!(peer.user_id(), Some("client"));
        link.peer.finish();
    });
}

#[test]
fn let_us_connect_to_peers() {
    each(|program, certificates| {
        let Certificates { server, client, .. } = certificates;
        let sides = Sides {
            ours: Security::curve_client(server.pair.public(), client.pair.clone()),
            theirs: server_arguments(program, certificates),
            their_key: Some(server.pair.public()),
        };
        let path = Path::curve(program, Theirs, Theirs);
        let mut link = path.open_with(options(SocketType::Push), &script(program, "pull"), sides);
        let peer = await_ready(&link.monitor);
        assert_eq!(peer.public_key(), Some(server.pair.public()));
        link.ours.send("read by all").unwrap();
        assert_eq!(link.peer.message(), [describe(b"read by all")]);
        link.peer.finish();
    });
}

#[test]
fn are_read_by_our_program() {
    if !SEALWIRE.is_there() {
        return;
    }
    each(|program, certificates| {
        let Certificates {
            server,
            client,
            allowed,
            ..
        } = certificates;
        let curve = ["--mechanism", "curve"];
        let bind = [
            "pull",
            "--bind",
            "tcp://127.0.0.1:0",
            "--server",
            "--secret-key-file",
        ];
        let keys = [text(&server.secret), "--allow", text(allowed)];
        let ours = Own::start(&[&bind[..], &keys, &curve].concat());
        let endpoint = ours.event("listening")["endpoint"].clone();
        let mut theirs = script(program, "push");
        theirs.extend(["--connect", endpoint.as_str().unwrap()]);
        let mut theirs: Vec<String> = theirs.into_iter().map(String::from).collect();
        theirs.extend(client_arguments(program, certificates));
        let push = Peer::start(program, theirs);
        assert_eq!(
            ours.event("ready")["public_key"],
            client.pair.public().to_string()
        );
        ours.message();
        push.finish();

        let mut theirs: Vec<String> = script(program, "pull")
            .into_iter()
            .map(String::from)
            .collect();
        theirs.extend(["--bind".into(), "tcp://127.0.0.1:*".into()]);
        theirs.extend(server_arguments(program, certificates));
        let mut pull = Peer::start(program, theirs);
        let endpoint = pull.endpoint();
        let connect = ["push", "--connect", &endpoint, "--data", "from our program"];
        let keys = [
            "--server-key",
            text(&server.public),
            "--secret-key-file",
            text(&client.secret),
        ];
        let ours = Own::start(&[&connect[..], &keys, &curve].concat());
        assert_eq!(pull.message(), [describe(b"from our program")]);
        assert_eq!(
            ours.event("ready")["public_key"],
            server.pair.public().to_string()
        );
        pull.finish();
    });
}
