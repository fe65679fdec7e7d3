//! What a command that runs for long has in common with others: how it ends, what it gave up then, what it tells a
//! service manager, and the numbers that it serves.

pub(crate) mod alive;
pub(crate) mod given_up;
pub(crate) mod metrics;
pub(crate) mod notify;
pub(crate) mod renewal;

use std::time::Duration;

use clap::Args;

use self::metrics::MetricsOptions;
use crate::duration;

/// The options of every command that runs for long.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "As a service")]
pub(crate) struct ServiceOptions {
    /// When told to stop (SIGTERM, SIGINT): longest time to finish what was accepted. A second signal ends it at
    /// once
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) grace: Duration,

    #[command(flatten)]
    pub(crate) metrics: MetricsOptions,
}
