//! The measurements: tables of cells, each with its contenders.

use clap::ValueEnum;

use crate::contender::{
    BY_LIBZMQS_FUNCTIONS, CURVE_PAIRS, Contender, LIBZMQ_CURVE, LIBZMQ_NULL, OMQ_BLAKE3, OMQ_CURVE,
    OMQ_NULL, ONE_AND_BATCHES, SEALWIRE_BLAKE3, SEALWIRE_CURVE, SEALWIRE_NULL, TCP, TLS,
    ZMQ_RS_NULL, ZMTP,
};
use crate::task::Work;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    PushPullTcp,
    PushPullIpc,
    PushPullInproc,
    /// Senders and receivers of two libraries, in all four pairs.
    PushPullMixed,
    /// One message a call, and 64.
    PushPullBatches,
    /// One library by its own functions and by libzmq's.
    PushPullAsLibzmq,
    ReqRepAsLibzmq,
    /// A core for each process.
    ReqRepTwoCores,
    /// Both processes on one core.
    ReqRepOneCore,
    PubSub,
    DealerRouter,
    Handshakes,
    IdleMemory,
}

impl Table {
    /// Whether documents show it. What users need of the others fits in a sentence.
    pub(crate) fn is_published(self) -> bool {
        !matches!(self, Table::PushPullMixed | Table::PushPullBatches)
    }
}

/// What changes from column to column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Size,
    Peers,
    /// Of payloads of this size, in bytes.
    PeersAt(usize),
}

/// Which figure of a measurement a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Microseconds,
    Bytes,
}

pub(crate) struct Plan {
    pub(crate) table: Table,
    pub(crate) title: &'static str,
    /// How it is measured, and what follows for readers of the table, in a sentence.
    pub(crate) about: &'static str,
    pub(crate) work: Work,
    pub(crate) endpoint: &'static str,
    pub(crate) one_core: bool,
    pub(crate) axis: Axis,
    pub(crate) columns: &'static [usize],
    pub(crate) contenders: &'static [Contender],
}

const SIZES: &[usize] = &[
    16,
    64,
    256,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
];
const TCP_ENDPOINT: &str = "tcp://127.0.0.1:0";

const OVER_TCP: &[Contender] = &[
    SEALWIRE_BLAKE3,
    SEALWIRE_CURVE,
    OMQ_BLAKE3,
    LIBZMQ_CURVE,
    OMQ_CURVE,
    SEALWIRE_NULL,
    LIBZMQ_NULL,
    OMQ_NULL,
    ZMQ_RS_NULL,
    TCP,
];

pub(crate) const PLANS: &[Plan] = &[
    Plan {
        table: Table::PushPullTcp,
        title: "PUSH to PULL over TCP, messages a second",
        about: "One process sends on one core, another receives on the other, one call a message.",
        work: Work::PushPull,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: SIZES,
        contenders: OVER_TCP,
    },
    Plan {
        table: Table::PushPullIpc,
        title: "PUSH to PULL over Unix sockets, messages a second",
        about: "The same over `ipc`.",
        work: Work::PushPull,
        endpoint: "ipc://",
        one_core: false,
        axis: Axis::Size,
        columns: SIZES,
        contenders: ZMTP,
    },
    Plan {
        table: Table::PushPullInproc,
        title: "PUSH to PULL inside one process, messages a second",
        about: "Two threads over `inproc`, where no bytes are copied and nothing is encrypted.",
        work: Work::PushPull,
        endpoint: "inproc://bench",
        one_core: false,
        axis: Axis::Size,
        columns: SIZES,
        contenders: &[SEALWIRE_NULL, LIBZMQ_NULL, OMQ_NULL],
    },
    Plan {
        table: Table::PushPullMixed,
        title: "PUSH to PULL over TCP with CURVE, one side of each library, messages a second",
        about: "Each library at either end: the slower side sets the rate.",
        work: Work::PushPull,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: &[64, 1 << 10, 4 << 10, 64 << 10],
        contenders: CURVE_PAIRS,
    },
    Plan {
        table: Table::PushPullBatches,
        title: "PUSH to PULL over TCP, sent one by one or 64 a call, messages a second",
        about: "`send` against `send_many` with 64 messages.",
        work: Work::PushPull,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: &[16, 64, 256, 1 << 10],
        contenders: ONE_AND_BATCHES,
    },
    Plan {
        table: Table::PushPullAsLibzmq,
        title: "PUSH to PULL over TCP by a program for libzmq, messages a second",
        about: "What libzmq's functions cost beside our own, and what they gain beside libzmq; BLAKE3 is by rules.",
        work: Work::PushPull,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: &[64, 1 << 10, 4 << 10, 64 << 10],
        contenders: BY_LIBZMQS_FUNCTIONS,
    },
    Plan {
        table: Table::ReqRepAsLibzmq,
        title: "REQ to REP and back over TCP by a program for libzmq, microseconds",
        about: "The same for round trips, a core for each process.",
        work: Work::ReqRep,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: &[64, 1 << 10],
        contenders: BY_LIBZMQS_FUNCTIONS,
    },
    Plan {
        table: Table::ReqRepTwoCores,
        title: "REQ to REP and back over TCP, a core each, microseconds",
        about: "One request at a time; half of the round trips take at most the first figure, 99 of 100 at most the second.",
        work: Work::ReqRep,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: &[64, 1 << 10],
        contenders: OVER_TCP,
    },
    Plan {
        table: Table::ReqRepOneCore,
        title: "REQ to REP and back over TCP, both on one core, microseconds",
        about: "The same without a second core, where no wake-up crosses from one to the other.",
        work: Work::ReqRep,
        endpoint: TCP_ENDPOINT,
        one_core: true,
        axis: Axis::Size,
        columns: &[64, 1 << 10],
        contenders: OVER_TCP,
    },
    Plan {
        table: Table::PubSub,
        title: "PUB to subscribers over TCP, deliveries a second",
        about: "All subscribers are in one process and acknowledge what they received, so that nothing is dropped.",
        work: Work::PubSub,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::PeersAt(64),
        columns: &[1, 10, 100],
        contenders: ZMTP,
    },
    Plan {
        table: Table::PubSub,
        title: "PUB to subscribers over TCP, deliveries a second",
        about: "All subscribers are in one process and acknowledge what they received, so that nothing is dropped.",
        work: Work::PubSub,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::PeersAt(1 << 10),
        columns: &[1, 10, 100],
        contenders: ZMTP,
    },
    Plan {
        table: Table::DealerRouter,
        title: "DEALER sockets to a ROUTER and back over TCP, exchanges a second",
        about: "Each DEALER has one message under way.",
        work: Work::DealerRouter,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::PeersAt(64),
        columns: &[1, 10, 100, 1_000],
        contenders: ZMTP,
    },
    Plan {
        table: Table::Handshakes,
        title: "Connect, handshake, one request and its answer, close; a second",
        about: "A connection is made for each request; TLS has certificates on both sides and does not resume.",
        work: Work::Handshake,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Size,
        columns: &[64],
        contenders: &[
            SEALWIRE_BLAKE3,
            SEALWIRE_CURVE,
            OMQ_BLAKE3,
            LIBZMQ_CURVE,
            OMQ_CURVE,
            TLS,
            SEALWIRE_NULL,
            LIBZMQ_NULL,
            OMQ_NULL,
        ],
    },
    Plan {
        table: Table::IdleMemory,
        title: "Memory of the server for each idle connection, bytes",
        about: "Fresh connections, and in brackets those that have exchanged a message.",
        work: Work::Idle,
        endpoint: TCP_ENDPOINT,
        one_core: false,
        axis: Axis::Peers,
        columns: &[1_000, 10_000],
        contenders: &[SEALWIRE_BLAKE3, SEALWIRE_CURVE, SEALWIRE_NULL],
    },
];

impl Plan {
    /// Bytes of payload and number of sockets in this column.
    pub(crate) fn shape(&self, column: usize) -> (usize, usize) {
        match self.axis {
            Axis::Size => (column, 1),
            Axis::Peers => (64, column),
            Axis::PeersAt(size) => (size, column),
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        match self.work {
            Work::ReqRep => Unit::Microseconds,
            Work::Idle => Unit::Bytes,
            _ => Unit::PerSecond,
        }
    }

    /// The heading of the table: what it shows of what.
    pub(crate) fn heading(&self) -> String {
        match self.axis {
            Axis::PeersAt(size) => format!("{}, {}", self.title, column_size(size)),
            _ => self.title.to_owned(),
        }
    }

    pub(crate) fn column_name(&self, column: usize) -> String {
        match self.axis {
            Axis::Size => column_size(column),
            _ => format!("{column}"),
        }
    }

    /// A name for files.
    pub(crate) fn slug(&self) -> String {
        let name = self
            .table
            .to_possible_value()
            .map(|value| value.get_name().to_owned());
        let name = name.unwrap_or_default();
        match self.axis {
            Axis::PeersAt(size) => format!("{name}-{size}"),
            _ => name,
        }
    }
}

fn column_size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
