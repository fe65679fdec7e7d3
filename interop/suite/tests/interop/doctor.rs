//! What `sealwire doctor` finds out about servers of libzmq, which close silently.

use std::process::Command;

use interop::{LIBZMQ, Peer, SEALWIRE};
use sealwire::{Generate as _, KeyPair, keys};

/// Exit code, steps and sentence.
fn doctor(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(SEALWIRE.path())
        .arg("doctor")
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let code = output.status.code().expect("an exit code");
    (code, text(output.stdout), text(output.stderr))
}

#[test]
fn libzmqs_curve_servers() {
    if !LIBZMQ.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, keys: &KeyPair| {
        let path = folder.path().join(name);
        keys::write_key_pair(&path, keys).expect("it is written");
        path.display().to_string()
    };
    let [server, alice, mallory] = std::array::from_fn(|_| KeyPair::generate());
    let (secret, allowed) = (server.secret().to_hex(), alice.public().to_hex());
    let bound = [
        "--type",
        "rep",
        "--bind",
        "tcp://127.0.0.1:0",
        "--recv",
        "1",
    ];
    let curve = [
        "--mechanism",
        "curve",
        "--server",
        "--secret-key",
        &secret,
        "--allow",
        &allowed,
    ];
    let words = bound.iter().chain(&curve).map(|&word| word.into());
    let mut peer = Peer::start(LIBZMQ, words.collect());
    let endpoint = peer.endpoint();

    let key = format!("{}.pub", file("server", &server));
    let other = format!("{}.pub", file("other", &KeyPair::generate()));
    let (alice, mallory) = (
        format!("{}.key", file("alice", &alice)),
        format!("{}.key", file("mallory", &mallory)),
    );
    let curve = |server: &str, own: &str, socket_type: &str| {
        let keys = ["--server-key", server, "--secret-key-file", own];
        doctor(
            &[
                &[&endpoint, "--mechanism", "curve", "--as", socket_type][..],
                &keys,
            ]
            .concat(),
        )
    };

    let (code, steps, error) = curve(&key, &alice, "req");
    assert_eq!(code, 0, "{steps}{error}");
    assert!(steps.contains("a PING was answered"), "{steps}");
    let (code, steps, error) = curve(&other, &alice, "req");
    assert_eq!(code, 17, "{steps}{error}");
    let (code, steps, error) = curve(&key, &mallory, "req");
    assert_eq!(code, 18, "{steps}{error}");
    // It does not tell a misfit from a key that is not let in.
    let (code, _, error) = curve(&key, &alice, "sub");
    assert_eq!(code, 18, "{error}");
    assert!(error.contains("--as"), "{error}");
    // It closes before it has said which mechanism it has.
    for security in [&["--server-key", &key][..], &["--mechanism", "null"]] {
        let (code, steps, error) = doctor(&[&[&endpoint as &str][..], security].concat());
        assert_eq!(code, 16, "{steps}{error}");
        assert!(error.contains("has the mechanism CURVE"), "{error}");
    }
}
