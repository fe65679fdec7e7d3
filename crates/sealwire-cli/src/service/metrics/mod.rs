//! `--metrics`: the numbers of a command, for Prometheus to read over HTTP.
//!
//! One thread serves all readers ([`server`]); what a request asks for and how it is answered is decided without a
//! socket ([`http`]).

mod http;
mod server;
mod text;

use std::net::SocketAddr;

use clap::Args;
use sealwire::Context;

use self::http::{HostNames, PATH};
use self::server::Server;
pub(crate) use self::text::Text;
use crate::exit::{Code, Failure};
use crate::report::ReportOptions;
use crate::threads;

/// Writes the numbers as text; `Err` says why there are none.
pub(crate) type Source = Box<dyn FnMut() -> Result<String, String> + Send>;

/// Where numbers are served.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MetricsOptions {
    /// Serve metrics as Prometheus reads them, at http://ADDRESS:PORT/metrics: 127.0.0.1:9090, [::1]:9090. They name
    /// peers and endpoints, in plain text. Port 0 takes a free one; "metrics at URL" on standard error says which
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
    metrics: Option<SocketAddr>,

    /// Let --metrics leave this machine: anyone who reaches the address, or is on the path, can read them
    #[arg(long, requires = "metrics")]
    metrics_plain_text: bool,

    /// Serve the numbers of single peers too, up to 1000 of each socket. Each connection is new time series to who
    /// reads them, so peers that come and go make the reader's storage grow
    #[arg(long, requires = "metrics")]
    metrics_peers: bool,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "give an IP address and a port, such as 127.0.0.1:9090 or [::1]:9090".into())
}

impl MetricsOptions {
    /// Serves the numbers of all sockets of a context, and of the command behind them, if that is wanted.
    pub(super) fn serve_sockets_and(
        self,
        report: ReportOptions,
        context: &Context,
        more: impl Fn() -> String + Send + 'static,
    ) -> Result<(), Failure> {
        if self.metrics.is_none() {
            return Ok(());
        }
        let (context, with_peers) = (context.clone(), self.metrics_peers);
        let text = move || match context.metrics() {
            Ok(metrics) if with_peers => Ok(metrics.prometheus_with_peers() + &more()),
            Ok(metrics) => Ok(metrics.prometheus() + &more()),
            Err(error) => Err(error.to_string()),
        };
        self.serve(report, Box::new(text))
    }

    /// Serves these numbers, if that is wanted, until the program ends.
    pub(super) fn serve(self, report: ReportOptions, source: Source) -> Result<(), Failure> {
        let Some(address) = self.metrics else {
            return Ok(());
        };
        if !address.ip().is_loopback() && !self.metrics_plain_text {
            return Err(Failure::usage(format!(
                "--metrics {address} leaves this machine: metrics name peers and endpoints, and anyone on the path \
                 could read them; give an address of this machine, such as 127.0.0.1:{}, or --metrics-plain-text if \
                 that is meant",
                address.port()
            )));
        }
        let cannot = |error| {
            let problem = format!("cannot serve --metrics on {address}: {error}");
            Failure::new(Code::Failed, problem)
        };
        let names = match self.metrics_plain_text {
            true => HostNames::Any,
            false => HostNames::OfThisMachine,
        };
        let (server, bound) = Server::bind(address, names, source).map_err(cannot)?;
        threads::spawn(move || server.run())?;
        report.metrics_at(&format!("http://{bound}{PATH}"));
        Ok(())
    }
}
