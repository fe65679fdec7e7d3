//! The options by name, with what they take and their defaults.

use super::Value;

/// What an option takes.
pub(super) enum Kind {
    /// From this number on.
    Int(i64),
    Flag,
    Bytes,
    Text,
    /// Or `None`.
    Callable,
    /// Or `None`.
    Identity,
    /// Or `None`.
    Trust,
}

pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) default: Value,
}

const fn int(name: &'static str, least: i64, default: i64) -> Spec {
    Spec {
        name,
        kind: Kind::Int(least),
        default: Value::Int(default),
    }
}

const fn flag(name: &'static str, default: bool) -> Spec {
    Spec {
        name,
        kind: Kind::Flag,
        default: Value::Flag(default),
    }
}

const fn bytes(name: &'static str) -> Spec {
    Spec {
        name,
        kind: Kind::Bytes,
        default: Value::Bytes(Vec::new()),
    }
}

const fn text(name: &'static str) -> Spec {
    Spec {
        name,
        kind: Kind::Text,
        default: Value::Text(String::new()),
    }
}

/// One that is `None` unless it is set.
const fn object(name: &'static str, kind: Kind) -> Spec {
    Spec {
        name,
        kind,
        default: Value::Nothing,
    }
}

/// All options with their defaults. Times are milliseconds, -1 is "no limit" or "the system's".
pub(super) static OPTIONS: &[Spec] = &[
    int("sndhwm", 0, 1_000),
    int("rcvhwm", 0, 1_000),
    int("snd_byte_budget", 0, 1 << 30),
    int("rcv_byte_budget", 0, 1 << 30),
    int("linger", -1, 5_000),
    int("sndtimeo", -1, -1),
    int("rcvtimeo", -1, -1),
    int("maxmsgsize", -1, 64 << 20),
    bytes("routing_id"),
    flag("immediate", false),
    flag("queue_per_endpoint", false),
    int("affinity", 0, 0),
    flag("conflate", false),
    flag("ipv6", true),
    flag("reuse_port", false),
    int("backlog", 1, 4_096),
    int("ipc_mode", 0, 0o600),
    int("tos", -1, -1),
    int("priority", -1, -1),
    int("busy_poll", -1, -1),
    int("sndbuf", -1, -1),
    int("rcvbuf", -1, -1),
    int("handshake_ivl", 1, 15_000),
    int("connect_timeout", 0, 0),
    int("reconnect_ivl", -1, 100),
    int("reconnect_ivl_max", 0, 10_000),
    int("reconnect_stop", 0, 0),
    int("heartbeat_ivl", 0, 0),
    int("heartbeat_timeout", -1, -1),
    int("heartbeat_ttl", -1, -1),
    int("tcp_keepalive", -1, -1),
    int("tcp_keepalive_cnt", -1, -1),
    int("tcp_keepalive_idle", -1, -1),
    int("tcp_keepalive_intvl", -1, -1),
    int("tcp_maxrt", 0, 0),
    text("bindtodevice"),
    int("multicast_hops", 1, 1),
    flag("multicast_loop", true),
    flag("probe_router", false),
    flag("router_mandatory", false),
    flag("router_handover", false),
    flag("routing_id_is_user_id", false),
    int("router_notify", 0, 0),
    flag("req_correlate", false),
    flag("req_relaxed", false),
    flag("xpub_verbose", false),
    flag("xpub_verboser", false),
    flag("xpub_manual", false),
    flag("xpub_manual_last_value", false),
    flag("xsub_verbose_unsubscribe", false),
    flag("xpub_nodrop", false),
    bytes("xpub_welcome_msg"),
    flag("invert_matching", false),
    flag("stream_notify", true),
    flag("omit_routing_id", false),
    flag("connection_events", false),
    bytes("hello_msg"),
    bytes("disconnect_msg"),
    bytes("hiccup_msg"),
    text("socks_proxy"),
    text("socks_username"),
    text("socks_password"),
    text("ws_allow_origins"),
    flag("ws_allow_any_origin", false),
    text("ws_allow_hosts"),
    text("zap_domain"),
    int("zap_timeout", 1, 5_000),
    object("admit", Kind::Callable),
    object("tls_identity", Kind::Identity),
    object("tls_trust", Kind::Trust),
    int("spin_us", 0, 0),
    int("max_handshakes", 1, 1_024),
    int("max_connections", 1, 65_536),
    int("max_connections_per_address", -1, -1),
    int("max_connections_per_key", -1, -1),
    int("max_handshakes_per_address", -1, -1),
    int("connection_rate_per_address", -1, -1),
    int("connection_rate_period", 1, 1_000),
];
