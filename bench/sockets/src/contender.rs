//! Who takes part.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;

/// A library at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    Sealwire,
    Libzmq,
    Omq,
    /// The last version that had BLAKE3ZMQ.
    #[value(name = "omq-0.13")]
    OmqBlake3,
    #[value(name = "zmq.rs")]
    ZmqRs,
    /// The system's sockets, written to in pieces of 65,472 bytes: the bound.
    Tcp,
    /// TLS 1.3 by rustls, both sides with certificates.
    Tls,
}

/// How connections are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mechanism {
    Null,
    Curve,
    Blake3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) library: Library,
    pub(crate) mechanism: Mechanism,
}

const fn contender(library: Library, mechanism: Mechanism) -> Contender {
    Contender { library, mechanism }
}

pub(crate) const SEALWIRE_NULL: Contender = contender(Library::Sealwire, Mechanism::Null);
pub(crate) const SEALWIRE_CURVE: Contender = contender(Library::Sealwire, Mechanism::Curve);
pub(crate) const SEALWIRE_BLAKE3: Contender = contender(Library::Sealwire, Mechanism::Blake3);
pub(crate) const LIBZMQ_NULL: Contender = contender(Library::Libzmq, Mechanism::Null);
pub(crate) const LIBZMQ_CURVE: Contender = contender(Library::Libzmq, Mechanism::Curve);
pub(crate) const OMQ_NULL: Contender = contender(Library::Omq, Mechanism::Null);
pub(crate) const OMQ_CURVE: Contender = contender(Library::Omq, Mechanism::Curve);
pub(crate) const OMQ_BLAKE3: Contender = contender(Library::OmqBlake3, Mechanism::Blake3);
pub(crate) const ZMQ_RS_NULL: Contender = contender(Library::ZmqRs, Mechanism::Null);
pub(crate) const TCP: Contender = contender(Library::Tcp, Mechanism::Null);
pub(crate) const TLS: Contender = contender(Library::Tls, Mechanism::Null);

/// All that speak ZMTP, encrypted ones first.
pub(crate) const ZMTP: &[Contender] = &[
    SEALWIRE_BLAKE3,
    SEALWIRE_CURVE,
    OMQ_BLAKE3,
    LIBZMQ_CURVE,
    OMQ_CURVE,
    SEALWIRE_NULL,
    LIBZMQ_NULL,
    OMQ_NULL,
    ZMQ_RS_NULL,
];

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.library {
            Library::Sealwire => "Sealwire",
            Library::Libzmq => "libzmq",
            Library::Omq => "omq",
            Library::OmqBlake3 => "omq 0.13",
            Library::ZmqRs => "zmq.rs",
            Library::Tcp => return f.pad("TCP"),
            Library::Tls => return f.pad("TLS 1.3"),
        };
        let mechanism = match self.mechanism {
            Mechanism::Null => "NULL",
            Mechanism::Curve => "CURVE",
            Mechanism::Blake3 => "BLAKE3",
        };
        f.pad(&format!("{name} {mechanism}"))
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = ZMTP.iter().chain([&TCP, &TLS]);
        all.copied()
            .find(|contender| contender.to_string().eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("there is no contender {name:?}; try \"sealwire blake3\""))
    }
}
