//! The published implementations, as the programs that `interop/setup.sh` leaves.

use std::io::Write as _;
use std::path::PathBuf;

/// A published implementation behind a program that a test can drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// The program's file name.
    pub name: &'static str,
    /// The implementation.
    pub what: &'static str,
}

/// libzmq as the system packages it. NULL, PLAIN and CURVE.
pub const LIBZMQ: Program = Program {
    name: "zmq-peer-c",
    what: "libzmq",
};
/// libzmq as pyzmq brings it along. NULL, PLAIN and CURVE.
pub const PYZMQ: Program = Program {
    name: "zmq-peer-python",
    what: "pyzmq",
};
/// The sockets of omq-tokio 0.13. NULL, and BLAKE3 with a nonce for each message.
pub const OMQ: Program = Program {
    name: "omq-peer",
    what: "omq-tokio 0.13",
};
/// The codec of omq-proto 0.22 on one TCP connection. NULL, and BLAKE3 with a continuous keystream.
pub const OMQ_CODEC: Program = Program {
    name: "omq-codec-peer",
    what: "omq-proto 0.22",
};

/// Publishers and subscribers of zmq.rs, the crate `zeromq`. NULL.
pub const ZMQ_RS: Program = Program {
    name: "zmq-rs-peer",
    what: "zmq.rs 0.7",
};

/// The gem omq with omq-blake3zmq, for Ruby. NULL, and BLAKE3 with a continuous keystream.
pub const OMQ_GEM: Program = Program {
    name: "omq-gem-peer",
    what: "the gem omq",
};

/// Go's monte.
pub const MONTE: Program = Program {
    name: "monte-peer",
    what: "Go's monte",
};

/// libzmq built with its drafts: the same program with eight more socket types.
pub const LIBZMQ_DRAFTS: Program = Program {
    name: "zmq-peer-drafts",
    what: "libzmq with its drafts",
};
/// czmq: its certificates, and PUSH and PULL with them.
pub const CZMQ: Program = Program {
    name: "czmq-peer",
    what: "czmq",
};

/// RADIO, DISH and DGRAM of libzmq over UDP.
pub const ZMQ_UDP: Program = Program {
    name: "zmq-udp-peer",
    what: "libzmq's RADIO, DISH and DGRAM",
};

/// OpenSSL's TLS, through Python, before or behind a peer that has none.
pub const TLS_RELAY: Program = Program {
    name: "tls-relay",
    what: "OpenSSL through Python",
};

/// A SOCKS5 proxy.
pub const MICROSOCKS: Program = Program {
    name: "microsocks",
    what: "microsocks",
};

/// Our own program, for what it writes and others read.
pub const SEALWIRE: Program = Program {
    name: "sealwire",
    what: "the program sealwire",
};

impl Program {
    /// Where the program is, if it could be built.
    #[must_use]
    pub fn path(self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../target/peers")
            .join(self.name)
    }

    /// Whether the program prints what the other side said of itself.
    pub(crate) fn reports_handshakes(self) -> bool {
        [OMQ, OMQ_CODEC].contains(&self)
    }

    /// Whether the program could be built. A test whose peer is missing says so and ends.
    ///
    /// # Panics
    ///
    /// When it is missing and the environment has `CI=true`: there, nothing may be skipped but the gem omq,
    /// whose Ruby the systems of CI do not have, and monte, which no registry has.
    #[must_use]
    pub fn is_there(self) -> bool {
        if self.path().exists() {
            return true;
        }
        let Program { name, what } = self;
        assert!(
            std::env::var("CI").as_deref() != Ok("true") || [OMQ_GEM, MONTE].contains(&self),
            "{what} is missing: interop/setup.sh left no {name} and says why"
        );
        // The test harness hides what passing tests print by the usual macros.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED a test with {what}: interop/setup.sh left no {name} and says why"
        );
        false
    }
}
