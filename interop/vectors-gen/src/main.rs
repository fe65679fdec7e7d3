//! Records BLAKE3ZMQ connections of published peers as test vectors.
//!
//! Without an argument the files in `vectors/` are written; with `--check` they are compared with a
//! fresh recording and nothing is written.

mod derivation;
mod document;
mod entropy;
mod primitives;
mod recording;

use std::path::Path;
use std::process::ExitCode;

use derivation::DataPhase;
use document::{Drawn, Origin};
use recording::{LongTermKeys, Recording};

/// Long-term secret keys: octets 01 to 20 for the client, 21 to 40 for the server.
const KEYS: LongTermKeys = LongTermKeys {
    client: counting(0x01),
    server: counting(0x21),
};

const fn counting(first: u8) -> [u8; 32] {
    let mut key = [0; 32];
    let mut i = 0;
    while i < 32 {
        key[i] = first + i as u8;
        i += 1;
    }
    key
}

fn main() -> ExitCode {
    let check = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => {
            eprintln!("unknown argument {other}; the only one there is: --check");
            return ExitCode::from(2);
        }
    };
    let per_message = Origin {
        version: "0.15.0",
        data_phase: DataPhase::PerMessageNonces,
    };
    let continuous = Origin {
        version: "0.22.0",
        data_phase: DataPhase::ContinuousKeystream,
    };
    let files = [
        (
            "blake3zmq.json",
            vectors(per_message, recording::omq_0_15::record),
        ),
        (
            "blake3zmq-continuous.json",
            vectors(continuous, recording::omq_0_22::record),
        ),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    let mut exit = ExitCode::SUCCESS;
    for (name, text) in files {
        let path = folder.join(name);
        if !check {
            std::fs::write(&path, text).expect("the vectors folder can be written");
            println!("{name}: written");
        } else if std::fs::read_to_string(&path).is_ok_and(|stored| stored == text) {
            println!("{name}: same as recorded now");
        } else {
            eprintln!("{name}: differs from what the peer sends now");
            exit = ExitCode::FAILURE;
        }
    }
    exit
}

/// Records, checks and writes out one connection.
///
/// The recording has a thread to itself: the peers' generator lives in thread storage, so it asks
/// for its seed anew and the scripted requests start at number 0.
fn vectors(origin: Origin, record: fn(LongTermKeys) -> Recording) -> String {
    let recorder = std::thread::spawn(move || {
        let requests = entropy::Requests::script_this_thread();
        let recording = record(KEYS);
        (recording, requests.answered())
    });
    let (recording, answered) = recorder.join().expect("the recording ran through");
    let [seed, client, server] = &answered[..] else {
        panic!(
            "three requests for entropy were expected, {} were made",
            answered.len()
        );
    };
    assert_eq!(seed.len(), 32);
    let drawn = Drawn {
        client_ephemeral: client[..].try_into().expect("an X25519 secret key"),
        server_ephemeral: server[..].try_into().expect("an X25519 secret key"),
        answered,
    };
    let derived = derivation::derive_and_check(
        &recording,
        KEYS,
        drawn.client_ephemeral,
        drawn.server_ephemeral,
        origin.data_phase,
    );
    let document = document::document(&origin, KEYS, &drawn, &recording, &derived);
    serde_json::to_string_pretty(&document).expect("JSON without foreign types") + "\n"
}
