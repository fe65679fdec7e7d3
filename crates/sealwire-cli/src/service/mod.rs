//! What a command that runs for long has in common with others: how it ends, what it gave up then, and what it
//! tells a service manager.

pub(crate) mod alive;
pub(crate) mod given_up;
pub(crate) mod notify;

use std::time::Duration;

use clap::Args;

use crate::duration;

/// The options of every command that runs for long.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "As a service")]
pub(crate) struct ServiceOptions {
    /// When told to stop (SIGTERM, SIGINT): longest time to finish what was accepted. A second signal ends it at
    /// once
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) grace: Duration,
}
