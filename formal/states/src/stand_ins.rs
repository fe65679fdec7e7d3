//! The least of the library that its files need, which are part of the models.

/// As in the crate `sealwire`.
pub(crate) mod options {
    /// What `HighWaterMarks::of` reads. The models make their limits themselves.
    pub(crate) struct SocketOptions {
        pub(crate) send_high_water_mark: usize,
        pub(crate) send_byte_budget: usize,
        pub(crate) receive_high_water_mark: usize,
        pub(crate) receive_byte_budget: usize,
        pub(crate) behaviour: Behaviour,
    }

    pub(crate) struct Behaviour {
        pub(crate) conflate: bool,
    }
}

/// As in `sealwire-zmtp`.
pub(crate) mod connection {
    /// How far a connection's output has come, in bytes.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) struct OutputProgress {
        pub(crate) staged: u64,
        pub(crate) taken: u64,
        pub(crate) confirmed: u64,
    }
}

pub(crate) mod error {
    /// What a connection waits for, for people to read.
    #[derive(Debug)]
    pub(crate) struct Step;

    /// Deadlines that have passed.
    #[derive(Debug)]
    pub(crate) enum Error {
        HandshakeTimeout { step: Step },
        HeartbeatTimeout,
    }
}

pub(crate) mod limits {
    pub(crate) const MAX_OWED_PONGS: usize = 4;
    pub(crate) const MIN_PONG_INTERVAL: std::time::Duration = std::time::Duration::from_millis(100);
    /// Longest context of a PING, in bytes.
    pub(crate) const MAX_PING_CONTEXT: usize = 16;
}

pub(crate) mod wire {
    pub(crate) mod command {
        pub(crate) mod heartbeat {
            use std::time::Duration;

            pub(crate) struct Ping<'a> {
                pub(crate) ttl: Option<Duration>,
                pub(crate) context: &'a [u8],
            }

            pub(crate) struct Pong<'a> {
                pub(crate) context: &'a [u8],
            }
        }
    }
}
