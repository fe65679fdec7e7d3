//! The libraries that are compared.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;

/// A library at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    Sealwire,
    /// Sends 64 messages a call. Receives as the other does.
    #[value(name = "sealwire-by-64")]
    SealwireBatches,
    Libzmq,
    /// The program for libzmq with our `libzmq.so.5`. BLAKE3 is by rules: the program does not know of it.
    SealwireAsLibzmq,
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

/// Which library each side runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sides {
    Same(Library),
    /// One of the pairs that a table sets beside each other, be they equal or not.
    Pair {
        client: Library,
        server: Library,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) sides: Sides,
    pub(crate) mechanism: Mechanism,
}

const fn contender(library: Library, mechanism: Mechanism) -> Contender {
    Contender {
        sides: Sides::Same(library),
        mechanism,
    }
}

const fn curve_pair(client: Library, server: Library) -> Contender {
    Contender {
        sides: Sides::Pair { client, server },
        mechanism: Mechanism::Curve,
    }
}

pub(crate) const SEALWIRE_NULL: Contender = contender(Library::Sealwire, Mechanism::Null);
pub(crate) const SEALWIRE_CURVE: Contender = contender(Library::Sealwire, Mechanism::Curve);
pub(crate) const SEALWIRE_BLAKE3: Contender = contender(Library::Sealwire, Mechanism::Blake3);
pub(crate) const SEALWIRE_BATCHES_NULL: Contender =
    contender(Library::SealwireBatches, Mechanism::Null);
pub(crate) const SEALWIRE_BATCHES_BLAKE3: Contender =
    contender(Library::SealwireBatches, Mechanism::Blake3);
pub(crate) const LIBZMQ_NULL: Contender = contender(Library::Libzmq, Mechanism::Null);
pub(crate) const LIBZMQ_CURVE: Contender = contender(Library::Libzmq, Mechanism::Curve);
pub(crate) const AS_LIBZMQ_NULL: Contender = contender(Library::SealwireAsLibzmq, Mechanism::Null);
pub(crate) const AS_LIBZMQ_CURVE: Contender =
    contender(Library::SealwireAsLibzmq, Mechanism::Curve);
pub(crate) const AS_LIBZMQ_BLAKE3: Contender =
    contender(Library::SealwireAsLibzmq, Mechanism::Blake3);
pub(crate) const OMQ_NULL: Contender = contender(Library::Omq, Mechanism::Null);
pub(crate) const OMQ_CURVE: Contender = contender(Library::Omq, Mechanism::Curve);
pub(crate) const OMQ_BLAKE3: Contender = contender(Library::OmqBlake3, Mechanism::Blake3);
pub(crate) const ZMQ_RS_NULL: Contender = contender(Library::ZmqRs, Mechanism::Null);
pub(crate) const TCP: Contender = contender(Library::Tcp, Mechanism::Null);
pub(crate) const TLS: Contender = contender(Library::Tls, Mechanism::Null);

pub(crate) const LIBZMQ_TO_LIBZMQ: Contender = curve_pair(Library::Libzmq, Library::Libzmq);
pub(crate) const LIBZMQ_TO_SEALWIRE: Contender = curve_pair(Library::Libzmq, Library::Sealwire);
pub(crate) const SEALWIRE_TO_LIBZMQ: Contender = curve_pair(Library::Sealwire, Library::Libzmq);
pub(crate) const SEALWIRE_TO_SEALWIRE: Contender = curve_pair(Library::Sealwire, Library::Sealwire);

/// A running system, each of its sides replaced, and both.
pub(crate) const CURVE_PAIRS: &[Contender] = &[
    LIBZMQ_TO_LIBZMQ,
    LIBZMQ_TO_SEALWIRE,
    SEALWIRE_TO_LIBZMQ,
    SEALWIRE_TO_SEALWIRE,
];

/// One message a call and 64.
pub(crate) const ONE_AND_BATCHES: &[Contender] = &[
    SEALWIRE_BLAKE3,
    SEALWIRE_BATCHES_BLAKE3,
    SEALWIRE_NULL,
    SEALWIRE_BATCHES_NULL,
    LIBZMQ_NULL,
];

/// One library by its own functions and by libzmq's, and libzmq.
pub(crate) const BY_LIBZMQS_FUNCTIONS: &[Contender] = &[
    SEALWIRE_BLAKE3,
    AS_LIBZMQ_BLAKE3,
    SEALWIRE_CURVE,
    AS_LIBZMQ_CURVE,
    LIBZMQ_CURVE,
    SEALWIRE_NULL,
    AS_LIBZMQ_NULL,
    LIBZMQ_NULL,
];

/// All that speak ZMTP with themselves, encrypted ones first.
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

impl Contender {
    /// What the side that connects runs.
    pub(crate) fn client(&self) -> Library {
        match self.sides {
            Sides::Same(library) => library,
            Sides::Pair { client, .. } => client,
        }
    }

    /// What the side that binds runs.
    pub(crate) fn server(&self) -> Library {
        match self.sides {
            Sides::Same(library) => library,
            Sides::Pair { server, .. } => server,
        }
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Library::Sealwire => "Sealwire",
            Library::SealwireBatches => "Sealwire by 64",
            Library::Libzmq => "libzmq",
            Library::SealwireAsLibzmq => "Sealwire as libzmq",
            Library::Omq => "omq",
            Library::OmqBlake3 => "omq 0.13",
            Library::ZmqRs => "zmq.rs",
            Library::Tcp => "TCP",
            Library::Tls => "TLS 1.3",
        })
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = match self.sides {
            Sides::Same(library @ (Library::Tcp | Library::Tls)) => return library.fmt(f),
            Sides::Same(library) => library,
            // The table's title names the mechanism.
            Sides::Pair { client, server } => return f.pad(&format!("{client} to {server}")),
        };
        let mechanism = match self.mechanism {
            Mechanism::Null => "NULL",
            Mechanism::Curve => "CURVE",
            Mechanism::Blake3 => "BLAKE3",
        };
        f.pad(&format!("{library} {mechanism}"))
    }
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = ZMTP.iter().chain([&TCP, &TLS]);
        let all = all
            .chain(CURVE_PAIRS)
            .chain(ONE_AND_BATCHES)
            .chain(BY_LIBZMQS_FUNCTIONS);
        all.copied()
            .find(|contender| contender.to_string().eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("there is no contender {name:?}; try \"sealwire blake3\""))
    }
}

#[cfg(test)]
mod tests {
    use super::Contender;
    use crate::cells::PLANS;

    #[test]
    fn every_contender_is_chosen_by_its_name() {
        for contender in PLANS.iter().flat_map(|plan| plan.contenders) {
            for name in [contender.to_string(), contender.to_string().to_lowercase()] {
                assert_eq!(name.parse::<Contender>().as_ref(), Ok(contender));
            }
        }
    }
}
