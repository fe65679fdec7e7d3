//! The kinds of things that a peer can make this process hold, repeat or log.

/// Which budget a kind is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Bytes that are held because the peer sent them.
    Inbound,
    /// Bytes that are held because the peer does not read them.
    Outbound,
    /// A number of things, or a rate: no memory to speak of.
    Count,
}

/// What happens to what goes over the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Excess {
    /// Nothing more is read from the peer until there is room.
    Paused,
    /// The single request, message or connection is refused or dropped, and counted.
    Refused,
    /// The peer is disconnected, with the cause.
    Disconnected,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $label:literal: $text:literal, $side:ident, $excess:ident, $bound:literal;)*) => {
        /// One kind of thing that a peer can make this process hold, repeat or log.
        ///
        /// The enum is complete: code that handles each kind matches without a wildcard, so that
        /// a new kind that nobody handles does not compile.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// All kinds, in the order of the enum.
            pub const ALL: [Kind; [$(Kind::$name),*].len()] = [$(Kind::$name),*];

            /// Returns the name for programs in other languages and for metrics, such as `left_behind`.
            pub const fn label(self) -> &'static str {
                match self { $(Kind::$name => $label,)* }
            }

            /// Returns what is held or repeated, as a noun in the plural.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$name => $text,)* }
            }

            /// Returns the budget that it is charged to.
            pub const fn side(self) -> Side {
                match self { $(Kind::$name => Side::$side,)* }
            }

            /// Returns what happens to the excess when the bound is reached.
            pub const fn excess(self) -> Excess {
                match self { $(Kind::$name => Excess::$excess,)* }
            }

            /// The bound by default, and the option that changes it.
            pub const fn bound(self) -> &'static str {
                match self { $(Kind::$name => $bound,)* }
            }
        }
    };
}

// Each kind is a row of a table in ARCHITECTURE.md and has a test:
// `cargo test -p sealwire-cli --test suite accounts::` prints the right table where they differ.
kinds! {
    /// Messages received that the application has not read.
    Received "received": "messages received and not read", Inbound, Paused,
        "1,000 messages and 1 GiB; `receive_high_water_mark`, `receive_byte_budget`";
    /// Messages that connections left unread when they ended, of all connections of an address.
    LeftBehind "left_behind": "unread messages of ended connections of one address", Inbound, Refused,
        "1 GiB, each connection counted with 2 KiB more; `receive_byte_budget`";
    /// A message that has arrived in part: frames, WebSocket pieces.
    Arriving "arriving": "a message that has arrived in part", Inbound, Disconnected,
        "64 MiB and 65,536 frames; `max_message_size`";
    /// Topics and groups that the peer subscribed to or joined.
    Subscriptions "subscriptions": "topics and groups of a subscriber", Inbound, Disconnected,
        "16 MiB, each topic counted with 512 bytes more";
    /// Calls of the peer that are not answered: their bodies.
    Requests "requests": "requests of a caller that are not answered", Inbound, Refused,
        "4,096 calls and 64 MiB; `Limits`";
    /// One-way messages and stream items of the peer that no handler has taken.
    Unhandled "unhandled": "one-way messages and stream items without a handler yet", Inbound, Disconnected,
        "1,024 messages, 64 items a stream, 64 MiB; `Limits`";
    /// Messages for the peer that it has not read.
    Queued "queued": "messages queued for a peer", Outbound, Refused,
        "1,000 messages and 1 GiB; `send_high_water_mark`, `send_byte_budget`";
    /// Subscriptions and cancellations that the peer has not read.
    SubscriptionChanges "subscription_changes": "subscriptions and cancellations for a publisher", Outbound, Disconnected,
        "16 MiB";
    /// Answers and stream items for the peer that it has not read.
    Answers "answers": "answers for a caller that does not read", Outbound, Paused,
        "8 MiB; `Limits`";
    /// Connections through one listener.
    Connections "connections": "connections of one key or address", Count, Refused,
        "three quarters of the descriptors for all; `max_connections_per_key`, `max_connections_per_address`";
    /// Handshakes under way.
    Handshakes "handshakes": "handshakes of one address", Count, Refused,
        "a quarter of those of the listener; `max_handshakes_per_address`";
    /// Connections in a tunnel.
    Tunnels "tunnels": "connections of one address to a tunnel", Count, Refused,
        "a quarter of `--max-handshakes` before they are authenticated";
    /// Deadlines among the I/O thread's timers.
    Timers "timers": "timers of a connection or listener", Count, Refused, "1";
    /// Lines in the log that the peer causes.
    LogLines "log_lines": "log lines of one cause", Count, Refused, "1 a second";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_name_of_the_variant() {
        for kind in Kind::ALL {
            let words = kind.label().split('_').map(|word| {
                let (first, rest) = word.split_at(1);
                first.to_uppercase() + rest
            });
            assert_eq!(words.collect::<String>(), format!("{kind:?}"));
        }
    }
}
