//! The options that there are: number, kind, who may set and ask, and the effect.

use libc::c_int;
use sealwire::SocketType;

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number in this range, with its default.
    Int(c_int, c_int, c_int),
    /// 0 or 1, with its default.
    Flag(c_int),
    /// Off with 0 and on with any other number, and answered as 0 or 1; with its default.
    Switch(c_int),
    /// A number of 64 bits with a sign, with its default.
    Long(i64),
    /// A number of 64 bits without a sign, with its default.
    Bits(u64),
    /// Bytes, up to a number. An empty value resets it where the second is set.
    Bytes(usize, bool),
    /// Text, up to a number of bytes, answered with a zero octet. No value resets it.
    Text(usize),
    /// Such a text that an empty value resets too.
    EmptyText(usize),
    /// A key of CURVE: 32 bytes, or 40 characters of Z85.
    Key,
    /// Keys of the same form that are added one by one. An empty value removes them.
    Keys,
    /// Numbers that are added one by one. No value removes them.
    Numbers,
    /// Ranges of addresses that are added one by one. No value removes them.
    Addresses,
    /// `NAME:VALUE`, added one by one.
    Property,
    /// Nothing that is kept.
    Action,
}

/// Whether an option can be set and asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    SetAndGet,
    Set,
    Get,
}

/// The effect of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The socket goes by it.
    Honoured,
    /// It is kept and answered, and changes nothing: so it is in libzmq without PGM and the like, or the engine
    /// chooses better by itself.
    Stored,
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) number: c_int,
    /// Its name in `zmq.h` or `zmq_sealwire.h`, without `ZMQ_`.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the document and tests"))]
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) access: Access,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the document and tests"))]
    pub(crate) effect: Effect,
    /// The types that can be set to it, where not all can; to the others it answers its default. For one that can only
    /// be asked for, the types that answer.
    types: &'static [SocketType],
}

use Access::{Get, Set, SetAndGet};
use Effect::{Honoured, Stored};
use Kind::{
    Action, Addresses, Bits, Bytes, EmptyText, Flag, Int, Key, Keys, Long, Numbers, Property,
    Switch, Text,
};

const MAX: c_int = c_int::MAX;

macro_rules! options {
    ($($number:literal $name:ident $kind:expr, $access:expr, $effect:expr $(, $types:ident)*;)*) => {
        /// Numbers by name.
        #[expect(dead_code, reason = "some have no use beside the table")]
        pub(crate) mod number {
            use libc::c_int;
            $(pub(crate) const $name: c_int = $number;)*
        }

        /// All options, in the order of their numbers.
        pub(crate) const TABLE: &[Entry] = &[$(Entry {
            number: $number,
            name: stringify!($name),
            kind: $kind,
            access: $access,
            effect: $effect,
            types: &[$(SocketType::$types),*],
        },)*];
    };
}

options! {
    4 AFFINITY Bits(0), SetAndGet, Honoured;
    5 ROUTING_ID Bytes(255, false), SetAndGet, Honoured;
    6 SUBSCRIBE Action, Set, Honoured;
    7 UNSUBSCRIBE Action, Set, Honoured;
    8 RATE Int(1, MAX, 100), SetAndGet, Stored;
    9 RECOVERY_IVL Int(0, MAX, 10_000), SetAndGet, Stored;
    11 SNDBUF Int(-1, MAX, -1), SetAndGet, Honoured;
    12 RCVBUF Int(-1, MAX, -1), SetAndGet, Honoured;
    13 RCVMORE Action, Get, Honoured;
    14 FD Action, Get, Honoured;
    15 EVENTS Action, Get, Honoured;
    16 TYPE Action, Get, Honoured;
    17 LINGER Int(-1, MAX, -1), SetAndGet, Honoured;
    18 RECONNECT_IVL Int(-1, MAX, 100), SetAndGet, Honoured;
    19 BACKLOG Int(0, MAX, 100), SetAndGet, Honoured;
    21 RECONNECT_IVL_MAX Int(0, MAX, 0), SetAndGet, Honoured;
    22 MAXMSGSIZE Long(-1), SetAndGet, Honoured;
    23 SNDHWM Int(0, MAX, 1_000), SetAndGet, Honoured;
    24 RCVHWM Int(0, MAX, 1_000), SetAndGet, Honoured;
    25 MULTICAST_HOPS Int(1, MAX, 1), SetAndGet, Honoured;
    27 RCVTIMEO Int(-1, MAX, -1), SetAndGet, Honoured;
    28 SNDTIMEO Int(-1, MAX, -1), SetAndGet, Honoured;
    31 IPV4ONLY Flag(1), SetAndGet, Honoured;
    32 LAST_ENDPOINT Action, Get, Honoured;
    33 ROUTER_MANDATORY Int(0, MAX, 0), Set, Honoured, Router;
    34 TCP_KEEPALIVE Int(-1, 1, -1), SetAndGet, Honoured;
    35 TCP_KEEPALIVE_CNT Int(-1, MAX, -1), SetAndGet, Honoured;
    36 TCP_KEEPALIVE_IDLE Int(-1, MAX, -1), SetAndGet, Honoured;
    37 TCP_KEEPALIVE_INTVL Int(-1, MAX, -1), SetAndGet, Honoured;
    38 TCP_ACCEPT_FILTER Addresses, Set, Honoured;
    39 IMMEDIATE Flag(0), SetAndGet, Honoured;
    40 XPUB_VERBOSE Int(0, MAX, 0), Set, Honoured, XPub, Pub;
    42 IPV6 Flag(0), SetAndGet, Honoured;
    43 MECHANISM Action, Get, Honoured;
    44 PLAIN_SERVER Flag(0), SetAndGet, Honoured;
    45 PLAIN_USERNAME Text(255), SetAndGet, Honoured;
    46 PLAIN_PASSWORD Text(255), SetAndGet, Honoured;
    47 CURVE_SERVER Flag(0), SetAndGet, Honoured;
    48 CURVE_PUBLICKEY Key, SetAndGet, Honoured;
    49 CURVE_SECRETKEY Key, SetAndGet, Honoured;
    50 CURVE_SERVERKEY Key, SetAndGet, Honoured;
    51 PROBE_ROUTER Int(0, MAX, 0), Set, Honoured, Router, Dealer, Req;
    52 REQ_CORRELATE Int(0, MAX, 0), Set, Honoured, Req;
    53 REQ_RELAXED Int(0, MAX, 0), Set, Honoured, Req;
    54 CONFLATE Flag(0), SetAndGet, Honoured;
    55 ZAP_DOMAIN Text(255), SetAndGet, Honoured;
    // A REP answers connections, whatever their routing ids, so it takes over from itself.
    56 ROUTER_HANDOVER Int(0, MAX, 0), Set, Honoured, Router, Rep;
    57 TOS Int(0, MAX, 0), SetAndGet, Honoured;
    58 IPC_FILTER_PID Numbers, Set, Honoured;
    59 IPC_FILTER_UID Numbers, Set, Honoured;
    60 IPC_FILTER_GID Numbers, Set, Honoured;
    61 CONNECT_ROUTING_ID Bytes(255, false), Set, Honoured, Router, Stream;
    66 HANDSHAKE_IVL Int(0, MAX, 30_000), SetAndGet, Honoured;
    68 SOCKS_PROXY Text(65_535), SetAndGet, Honoured;
    69 XPUB_NODROP Int(0, MAX, 0), Set, Honoured, XPub, Pub, Radio;
    71 XPUB_MANUAL Int(0, MAX, 0), Set, Honoured, XPub, Pub;
    72 XPUB_WELCOME_MSG Bytes(usize::MAX, true), Set, Honoured, XPub, Pub;
    73 STREAM_NOTIFY Flag(1), Set, Honoured, Stream;
    74 INVERT_MATCHING Switch(0), SetAndGet, Honoured;
    75 HEARTBEAT_IVL Int(0, MAX, 0), SetAndGet, Honoured;
    // Tenths of a second, so -99 is none.
    76 HEARTBEAT_TTL Int(-99, 6_553_599, 0), SetAndGet, Honoured;
    77 HEARTBEAT_TIMEOUT Int(0, MAX, -1), SetAndGet, Honoured;
    78 XPUB_VERBOSER Int(0, MAX, 0), Set, Honoured, XPub, Pub;
    79 CONNECT_TIMEOUT Int(0, MAX, 0), SetAndGet, Honoured;
    80 TCP_MAXRT Int(0, MAX, 0), SetAndGet, Honoured;
    81 THREAD_SAFE Action, Get, Honoured;
    84 MULTICAST_MAXTPDU Int(1, MAX, 1_500), SetAndGet, Stored;
    89 USE_FD Int(-1, MAX, -1), SetAndGet, Honoured;
    92 BINDTODEVICE Text(16), SetAndGet, Honoured;
    93 ZAP_ENFORCE_DOMAIN Switch(0), SetAndGet, Honoured;
    94 LOOPBACK_FASTPATH Switch(0), SetAndGet, Stored;
    95 METADATA Property, Set, Honoured;
    96 MULTICAST_LOOP Switch(1), SetAndGet, Honoured;
    97 ROUTER_NOTIFY Int(0, 3, 0), SetAndGet, Honoured, Router;
    98 XPUB_MANUAL_LAST_VALUE Int(0, MAX, 0), Set, Honoured, XPub, Pub;
    99 SOCKS_USERNAME EmptyText(255), SetAndGet, Honoured;
    100 SOCKS_PASSWORD EmptyText(255), SetAndGet, Honoured;
    101 IN_BATCH_SIZE Int(1, MAX, 8_192), SetAndGet, Stored;
    102 OUT_BATCH_SIZE Int(1, MAX, 8_192), SetAndGet, Stored;
    108 ONLY_FIRST_SUBSCRIBE Int(0, MAX, 0), Set, Stored, XPub, Pub, XSub;
    109 RECONNECT_STOP Int(c_int::MIN, MAX, 0), SetAndGet, Honoured;
    110 HELLO_MSG Bytes(usize::MAX, true), Set, Honoured;
    111 DISCONNECT_MSG Bytes(usize::MAX, true), Set, Honoured;
    112 PRIORITY Int(0, MAX, 0), SetAndGet, Honoured;
    113 BUSY_POLL Int(c_int::MIN, MAX, 0), Set, Honoured;
    114 HICCUP_MSG Bytes(usize::MAX, true), Set, Honoured;
    115 XSUB_VERBOSE_UNSUBSCRIBE Int(c_int::MIN, MAX, 0), Set, Honoured, XSub;
    116 TOPICS_COUNT Action, Get, Honoured, Pub, XPub, Sub, XSub;
    0x5357_0001 BLAKE3_SERVER Flag(0), SetAndGet, Honoured;
    0x5357_0002 BLAKE3_SECRETKEY Key, Set, Honoured;
    0x5357_0003 BLAKE3_PUBLICKEY Action, Get, Honoured;
    0x5357_0004 BLAKE3_SERVERKEY Key, SetAndGet, Honoured;
    0x5357_0005 BLAKE3_ADDITIONAL_SECRETKEY Keys, Set, Honoured;
    0x5357_0006 BLAKE3_ALLOW Keys, Set, Honoured;
    0x5357_0007 BLAKE3_ALLOW_FILE Text(4_096), SetAndGet, Honoured;
    0x5357_0008 BLAKE3_ANYONE Flag(0), SetAndGet, Honoured;
    0x5357_0010 SND_BYTE_BUDGET Bits(0), SetAndGet, Honoured;
    0x5357_0011 RCV_BYTE_BUDGET Bits(0), SetAndGet, Honoured;
    0x5357_0012 MAX_CONNECTIONS Int(0, MAX, 0), SetAndGet, Honoured;
    0x5357_0013 MAX_CONNECTIONS_PER_ADDRESS Int(0, MAX, 0), SetAndGet, Honoured;
    0x5357_0014 MAX_HANDSHAKES Int(0, MAX, 0), SetAndGet, Honoured;
    0x5357_0020 LAST_FAILURE Action, Get, Honoured;
    0x5357_0021 COUNTERS Action, Get, Honoured;
}

impl Entry {
    /// Whether it is one of this type.
    pub(crate) fn is_of(&self, socket_type: SocketType) -> bool {
        self.types.is_empty() || self.types.contains(&socket_type)
    }

    /// The option with this number.
    pub(crate) fn of(number: c_int) -> Option<&'static Self> {
        TABLE.iter().find(|entry| entry.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document says of each option what the table says.
    #[test]
    fn the_document_has_every_option() {
        let document = include_str!("../../../../docs/libzmq.md");
        let rows: Vec<&str> = document
            .lines()
            .skip_while(|line| *line != "## Options")
            .filter(|line| line.starts_with("| `ZMQ_"))
            .collect();
        let expected: Vec<String> = TABLE.iter().map(row).collect();
        assert_eq!(rows, expected, "{}", expected.join("\n"));
    }

    fn row(entry: &Entry) -> String {
        let access = match entry.access {
            SetAndGet => "set and get",
            Set => "set",
            Get => "get",
        };
        let effect = match entry.effect {
            Honoured => "honoured",
            Stored => "stored",
        };
        let types: Vec<String> = entry.types.iter().map(ToString::to_string).collect();
        let types = match types.is_empty() {
            true => String::new(),
            false => format!("; {}", types.join(", ")),
        };
        let number = match entry.number {
            ours @ 0x5357_0000.. => format!("{ours:#x}"),
            number => number.to_string(),
        };
        format!(
            "| `ZMQ_{}` | {number} | {access} | {effect}{types} |",
            entry.name
        )
    }

    /// Options of libzmq that are refused, as `docs/libzmq.md` says.
    const REFUSED: [&str; 3] = ["ROUTER_RAW", "GSSAPI_", "VMCI_"];
    /// Numbers in the same parts of the header that stand for values.
    const VALUES: [&str; 6] = [
        "NULL",
        "PLAIN",
        "CURVE",
        "GSSAPI",
        "GROUP_MAX_LENGTH",
        "GSSAPI_NT_",
    ];

    /// An option of libzmq's that nobody thought of would be refused silently.
    #[test]
    fn every_option_of_the_header_is_in_the_table_or_refused() {
        let header = include_str!("../../include/zmq.h");
        let mut inside = false;
        let mut options = 0;
        for line in header.lines() {
            if line.starts_with("/* ---- ") {
                inside = line.contains("Options of") || line.contains("Security");
            }
            let Some((name, rest)) = line
                .strip_prefix("#define ZMQ_")
                .filter(|_| inside)
                .and_then(|rest| rest.split_once(' '))
            else {
                continue;
            };
            let is = |one: &&str| *one == name || (one.ends_with('_') && name.starts_with(*one));
            if VALUES.iter().any(is) {
                continue;
            }
            let number = rest.split(' ').next().unwrap();
            let number: c_int = number.parse().unwrap_or_else(|_| panic!("{line}"));
            let refused = REFUSED.iter().any(is);
            assert_eq!(Entry::of(number).is_none(), refused, "{line}");
            assert!(
                Entry::of(number).is_none_or(|entry| entry.name == name),
                "{line}"
            );
            options += 1;
        }
        // Those of the drafts stand in a part of their own.
        assert_eq!(options, 80);
    }

    /// And so does the header with those that libzmq does not have.
    #[test]
    fn the_header_has_every_option_of_ours() {
        let header = include_str!("../../include/zmq_sealwire.h");
        let defined: Vec<&str> = header
            .lines()
            .filter(|line| line.starts_with("#define ZMQ_") && line.contains(" 0x"))
            .collect();
        let ours = TABLE.iter().filter(|entry| entry.number >= 0x5357_0000);
        let expected: Vec<_> = ours
            .map(|entry| format!("#define ZMQ_{} {:#x}", entry.name, entry.number))
            .collect();
        assert_eq!(defined, expected);
        let blake3 = format!(
            "#define ZMQ_BLAKE3 {}",
            super::super::Mechanism::Blake3 as c_int
        );
        assert!(header.lines().any(|line| line == blake3));
    }
}
