//! What a command that runs for long has in common with others: how it ends, what it gave up then, what it tells a
//! service manager, and the numbers that it serves.

pub(crate) mod alive;
pub(crate) mod doors;
pub(crate) mod given_up;
pub(crate) mod inspection;
pub(crate) mod metrics;
pub(crate) mod notify;
pub(crate) mod renewal;

use std::time::Duration;

use clap::Args;
use sealwire::Context;

use self::inspection::InspectionOptions;
use self::metrics::MetricsOptions;
use crate::duration;
use crate::exit::Failure;
use crate::report::ReportOptions;

/// The options of every command that runs for long.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "As a service")]
pub(crate) struct ServiceOptions {
    /// When told to stop (SIGTERM, SIGINT): longest time to finish what was accepted. A second signal ends it at
    /// once
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) grace: Duration,

    #[command(flatten)]
    metrics: MetricsOptions,

    #[command(flatten)]
    inspection: InspectionOptions,
}

impl ServiceOptions {
    /// Serves the numbers of all sockets of a command with this name, where that is wanted. To be called before
    /// anything is bound.
    pub(crate) fn serve_sockets(
        &self,
        command: &str,
        report: ReportOptions,
    ) -> Result<(), Failure> {
        self.serve_sockets_and(command, report, String::new)
    }

    /// The same with numbers of the command itself, in the text format of Prometheus.
    pub(crate) fn serve_sockets_and(
        &self,
        command: &str,
        report: ReportOptions,
        more: impl Fn() -> String + Clone + Send + 'static,
    ) -> Result<(), Failure> {
        let context = Context::global()?;
        (self.metrics).serve_sockets_and(report, &context, more.clone())?;
        self.inspection
            .serve(command, Some(context), Box::new(more))
    }

    /// Serves the numbers of a command that has no sockets of ZeroMQ.
    pub(crate) fn serve_numbers(
        &self,
        command: &str,
        report: ReportOptions,
        numbers: impl Fn() -> String + Clone + Send + 'static,
    ) -> Result<(), Failure> {
        let text = numbers.clone();
        (self.metrics).serve(report, Box::new(move || Ok(text())))?;
        self.inspection.serve(command, None, Box::new(numbers))
    }
}
