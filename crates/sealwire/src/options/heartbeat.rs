//! Heartbeats: one time is enough, the others follow from it.

use std::time::Duration;

use sealwire_zmtp::connection::Heartbeat;

use super::bounded;

/// How many intervals of a [heartbeat](crate::SocketBuilder::heartbeat) a peer has for an answer, unless
/// [`heartbeat_timeout`](crate::SocketBuilder::heartbeat_timeout) says how long.
pub const HEARTBEAT_TIMEOUT_INTERVALS: u32 = 3;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeartbeatOptions {
    /// None without it.
    pub(crate) interval: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) ttl: Option<Duration>,
}

impl HeartbeatOptions {
    /// What connections have.
    pub(crate) fn heartbeat(&self) -> Option<Heartbeat> {
        let interval = self.interval?;
        let intervals = || interval.saturating_mul(HEARTBEAT_TIMEOUT_INTERVALS);
        let timeout = bounded(self.timeout.unwrap_or_else(intervals));
        Some(Heartbeat {
            interval: bounded(interval),
            timeout,
            ttl: bounded(self.ttl.unwrap_or(timeout)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::MAX_TIMEOUT;

    const fn seconds(seconds: u64) -> Option<Duration> {
        Some(Duration::from_secs(seconds))
    }

    #[test]
    fn what_is_not_said_follows_from_what_is() {
        for (interval, timeout, ttl, expected) in [
            (10, None, None, (30, 30)),
            (10, seconds(5), None, (5, 5)),
            (10, None, seconds(0), (30, 0)),
            (10, seconds(7), seconds(9), (7, 9)),
        ] {
            let options = HeartbeatOptions {
                interval: seconds(interval),
                timeout,
                ttl,
            };
            let heartbeat = options.heartbeat().unwrap();
            assert_eq!(heartbeat.interval.as_secs(), interval);
            assert_eq!(
                (heartbeat.timeout.as_secs(), heartbeat.ttl.as_secs()),
                expected
            );
        }
    }

    #[test]
    fn without_an_interval_there_are_none() {
        let options = HeartbeatOptions {
            timeout: seconds(1),
            ttl: seconds(1),
            ..HeartbeatOptions::default()
        };
        assert!(options.heartbeat().is_none());
    }

    #[test]
    fn times_are_bounded() {
        let options = HeartbeatOptions {
            interval: Some(Duration::MAX),
            ..HeartbeatOptions::default()
        };
        let heartbeat = options.heartbeat().unwrap();
        assert_eq!(
            [heartbeat.interval, heartbeat.timeout, heartbeat.ttl],
            [MAX_TIMEOUT; 3]
        );
    }
}
