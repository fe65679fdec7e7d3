//! Sealwire's sockets against published implementations: every pairing of socket types in a file
//! for each peer, then what happens beside the messages, in a file for each matter.

#![forbid(unsafe_code)]

mod certificates;
mod curve;
mod data_phases;
mod doctor;
mod drafts;
mod errors;
mod handover;
mod heartbeats;
mod leaving;
mod libzmq;
mod monte;
mod omq;
mod omq_codec;
mod omq_gem;
mod plain;
mod pressure;
mod program;
mod refusals;
mod repeated_subscriptions;
mod restarts;
mod socks;
mod sodium;
mod stream;
mod subscriptions;
mod udp;
mod websocket;
mod zap;
mod zmq_rs;

use interop::{MULTIPART, PAIRINGS, Path, SINGLE_PARTS};
use sealwire::SocketType;

/// Every pairing over one path, with messages of one part and of several.
fn every_pairing(path: Path) {
    if path.program.is_there() {
        for pairing in PAIRINGS {
            path.exchange(pairing, &SINGLE_PARTS);
            path.exchange(pairing, &MULTIPART);
        }
    }
}

/// The same without those where the peer is REQ: as a server whose authenticator names its clients,
/// as pyzmq's does, libzmq's REQ takes the name for an answer and never sends.
fn every_pairing_but_req(path: Path) {
    if path.program.is_there() {
        let others = PAIRINGS
            .iter()
            .filter(|pairing| pairing.theirs != SocketType::Req);
        for pairing in others {
            path.exchange(*pairing, &SINGLE_PARTS);
            path.exchange(*pairing, &MULTIPART);
        }
    }
}

#[test]
fn the_table_has_every_legal_pairing() {
    // The peers of this suite are built without libzmq's drafts.
    let stable = SocketType::ALL
        .into_iter()
        .filter(|kind| !kind.is_draft() && *kind != SocketType::Stream);
    for ours in stable.clone() {
        for theirs in stable.clone() {
            let listed = PAIRINGS
                .iter()
                .any(|pairing| (pairing.ours, pairing.theirs) == (ours, theirs));
            assert_eq!(listed, ours.accepts(theirs), "{ours} and {theirs}");
        }
    }
}
