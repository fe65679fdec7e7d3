//! Peers set to different data phases: the handshake succeeds, the first frame does not, and the
//! error says what may be wrong.

use interop::Side::{self, Ours, Theirs};
use interop::{OMQ, OMQ_CODEC, Path, Program, Protection, await_failure, options};
use sealwire::{FailureCause, ProtocolError, SocketType};

/// Opens a path whose two sides disagree.
fn mismatched(program: Program, server: Side) -> Path {
    let protection = Protection::Blake3 {
        server,
        anonymous: false,
        continuous: program == OMQ,
    };
    Path::tcp(program, server, protection)
}

#[test]
fn what_we_receive_does_not_verify_and_the_error_says_why() {
    for program in [OMQ, OMQ_CODEC] {
        for server in [Ours, Theirs] {
            let path = mismatched(program, server);
            if !path.program.is_there() {
                continue;
            }
            let script = ["--type", "push", "--send", "1"];
            let link = path.open(options(SocketType::Pull), &script);
            let failure = await_failure(&link.monitor);
            assert!(failure.was_ready(), "{failure}");
            let FailureCause::Protocol(error) = failure.cause() else {
                panic!("{failure}")
            };
            let first = ProtocolError::FrameNotVerified {
                index: 0,
                first: true,
            };
            assert_eq!(*error, first);
            let hint = "the peer may also be set to another data phase";
            assert!(failure.to_string().contains(hint), "{failure}");
            assert_eq!(link.ours.counters().messages_received, 0);
        }
    }
}

#[test]
fn what_we_send_is_refused() {
    for program in [OMQ, OMQ_CODEC] {
        for server in [Ours, Theirs] {
            let path = mismatched(program, server);
            if !path.program.is_there() {
                continue;
            }
            let script = ["--type", "pull", "--recv", "1"];
            let mut link = path.open(options(SocketType::Push), &script);
            link.ours.send("sealed in another way").unwrap();
            let end = if program == OMQ {
                "disconnected"
            } else {
                "error"
            };
            link.peer.event(end);
            assert_eq!(link.peer.count("message"), 0);
        }
    }
}
