//! The ratios that the project set itself, beside what this run measured.

use crate::{Row, SIZES, label};

/// "`ours` takes at most 1 / `ratio` of the time of `peer` at `size`."
struct Target {
    ours: &'static str,
    peer: &'static str,
    size: usize,
    ratio: f64,
}

const fn target(ours: &'static str, peer: &'static str, size: usize, ratio: f64) -> Target {
    Target {
        ours,
        peer,
        size,
        ratio,
    }
}

const ONE_SHOT: &str = "sealwire one-shot";
const SESSION: &str = "sealwire Session";
const SESSION_BATCH: &str = "sealwire Session, batch of 16";
const STREAM_BATCH: &str = "sealwire Stream, batch of 16";
const OPEN_BATCH: &str = "sealwire Cipher, batch of 16, open";
const CRATE: &str = "chacha20-blake3 one-shot";
const CRATE_SESSION: &str = "chacha20-blake3 Session";
const RING: &str = "ring ChaCha20-Poly1305";

const TARGETS: [Target; 23] = [
    target(ONE_SHOT, CRATE, 16, 1.5),
    target(ONE_SHOT, CRATE, 64, 1.5),
    target(ONE_SHOT, CRATE, 256, 1.5),
    target(ONE_SHOT, CRATE, 4 << 10, 2.0),
    target(ONE_SHOT, CRATE, 16 << 10, 1.6),
    target(ONE_SHOT, CRATE, 1 << 20, 1.2),
    target(SESSION, CRATE_SESSION, 16, 1.5),
    target(SESSION, CRATE_SESSION, 64, 1.5),
    target(SESSION, CRATE_SESSION, 256, 1.5),
    target(SESSION, CRATE_SESSION, 4 << 10, 2.0),
    target(SESSION, CRATE_SESSION, 1 << 20, 1.2),
    target(SESSION_BATCH, CRATE_SESSION, 64, 6.0),
    target(SESSION_BATCH, CRATE_SESSION, 256, 5.0),
    target(SESSION_BATCH, CRATE_SESSION, 1 << 10, 3.0),
    target(STREAM_BATCH, CRATE, 64, 7.0),
    target(STREAM_BATCH, CRATE, 256, 5.0),
    target(STREAM_BATCH, CRATE, 1 << 10, 3.0),
    target(OPEN_BATCH, STREAM_BATCH, 16, 0.87),
    target(OPEN_BATCH, STREAM_BATCH, 64, 0.87),
    target(OPEN_BATCH, STREAM_BATCH, 256, 0.87),
    target(OPEN_BATCH, STREAM_BATCH, 1 << 10, 0.87),
    target(OPEN_BATCH, STREAM_BATCH, 4 << 10, 0.87),
    target(ONE_SHOT, RING, 1 << 20, 1.3),
];

/// Prints each target with its measured ratio.
pub(crate) fn print(rows: &[Row]) {
    println!(
        "\n{:<36}{:<32}{:>8}{:>8}{:>8}",
        "ratio", "against", "size", "target", "now"
    );
    for Target {
        ours,
        peer,
        size,
        ratio,
    } in TARGETS
    {
        if let (Some(ours_time), Some(peer_time)) = (time(rows, ours, size), time(rows, peer, size))
        {
            let now = peer_time / ours_time;
            let verdict = if now >= ratio { "" } else { "  missed" };
            let size = label(size);
            println!("{ours:<36}{peer:<32}{size:>8}{ratio:>8.2}{now:>8.2}{verdict}");
        }
    }
}

fn time(rows: &[Row], name: &str, size: usize) -> Option<f64> {
    let column = SIZES.iter().position(|candidate| *candidate == size)?;
    *rows
        .iter()
        .find(|row| row.name == name)?
        .times
        .get(column)?
}
