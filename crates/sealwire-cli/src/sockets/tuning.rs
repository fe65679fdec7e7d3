//! Queues and times of a socket, on the command line.

use std::time::Duration;

use clap::Args;
use sealwire::SocketBuilder;
use sealwire::options::{
    DEFAULT_HIGH_WATER_MARK, DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAXIMUM,
};

use crate::duration;
use crate::exit::Failure;

/// Stands for "for ever" where a time is needed: ten years.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// What a socket holds for its peers, and how long it waits for them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Queues and times")]
pub(crate) struct TuningOptions {
    /// High-water mark: messages that may wait for each peer to be sent; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HIGH_WATER_MARK)]
    send_hwm: usize,

    /// High-water mark: messages of each peer that may wait here to be printed; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HIGH_WATER_MARK)]
    recv_hwm: usize,

    /// Keep the latest message of a queue and no other (push, pull, pub, sub, dealer)
    #[arg(long)]
    conflate: bool,

    /// Longest wait at the end for everything to be sent [default: as --timeout, else for ever]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    linger: Option<Duration>,

    /// Ask a peer that is silent for this time whether it is there, and give its connection up once nothing
    /// has come for three times as long [default: never]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive)]
    heartbeat: Option<Duration>,

    /// First wait before connecting again; it doubles each time [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive, requires = "connect")]
    reconnect_interval: Option<Duration>,

    /// Longest wait before connecting again [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive, requires = "connect")]
    reconnect_max: Option<Duration>,

    /// Bytes that the system may hold of each connection on their way out [default: the system's]
    #[arg(long, value_name = "BYTES")]
    send_buffer: Option<usize>,

    /// Bytes that the system may hold of each connection on their way in [default: the system's]
    #[arg(long, value_name = "BYTES")]
    recv_buffer: Option<usize>,
}

impl TuningOptions {
    /// Refuses times that contradict each other.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match (self.reconnect_interval, self.reconnect_max) {
            (Some(first), Some(longest)) if longest < first => Err(Failure::usage(format!(
                "--reconnect-max {longest:?} is shorter than --reconnect-interval {first:?}"
            ))),
            _ => Ok(()),
        }
    }

    /// The longest wait at the end, if it was given.
    pub(super) fn linger(&self) -> Option<Duration> {
        self.linger
    }

    /// Whether something is set that needs a peer which answers.
    pub(super) fn has_heartbeat(&self) -> bool {
        self.heartbeat.is_some()
    }

    /// `timeout` is that of each wait.
    pub(super) fn apply(&self, builder: SocketBuilder, timeout: Option<Duration>) -> SocketBuilder {
        let (first, longest) = self.reconnect();
        let mut builder = builder
            .send_high_water_mark(self.send_hwm)
            .receive_high_water_mark(self.recv_hwm)
            .conflate(self.conflate)
            .linger(self.linger.or(timeout).unwrap_or(FOR_EVER))
            .reconnect(first, longest);
        if let Some(interval) = self.heartbeat {
            builder = builder.heartbeat(interval);
        }
        if let Some(bytes) = self.send_buffer {
            builder = builder.send_buffer(bytes);
        }
        if let Some(bytes) = self.recv_buffer {
            builder = builder.receive_buffer(bytes);
        }
        builder
    }

    /// The first and the longest wait; one that is not given gives way to the other.
    fn reconnect(&self) -> (Duration, Duration) {
        let longest = self.reconnect_max;
        let first = self.reconnect_interval.unwrap_or_else(|| {
            longest.map_or(DEFAULT_RECONNECT_INTERVAL, |longest| {
                longest.min(DEFAULT_RECONNECT_INTERVAL)
            })
        });
        let longest = longest.unwrap_or(DEFAULT_RECONNECT_MAXIMUM.max(first));
        (first, longest)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[arg(long)]
        connect: bool,
        #[command(flatten)]
        tuning: TuningOptions,
    }

    fn parse(arguments: &[&str]) -> TuningOptions {
        let command = Command::parse_from([&["command", "--connect"], arguments].concat());
        assert!(command.connect);
        command.tuning
    }

    #[test]
    fn a_wait_that_is_not_given_gives_way_to_the_other() {
        for (arguments, expected) in [
            (&[][..], (100, 10_000)),
            (&["--reconnect-interval", "20ms"], (20, 10_000)),
            (&["--reconnect-interval", "60s"], (60_000, 60_000)),
            (&["--reconnect-max", "20ms"], (20, 20)),
            (
                &["--reconnect-max", "2s", "--reconnect-interval", "1s"],
                (1_000, 2_000),
            ),
        ] {
            let tuning = parse(arguments);
            assert!(tuning.check().is_ok());
            let (first, longest) = tuning.reconnect();
            assert_eq!((first.as_millis(), longest.as_millis()), expected);
        }
    }

    #[test]
    fn a_longest_wait_below_the_first_is_refused() {
        let arguments = ["--reconnect-max", "1s", "--reconnect-interval", "2s"];
        let refused = parse(&arguments).check().unwrap_err();
        assert!(refused.message().contains("1s is shorter"));
    }
}
