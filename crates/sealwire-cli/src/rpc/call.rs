//! `rpc call`: one call from the shell.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::time::Duration;

use clap::Args;
use sealwire::Endpoint;
use sealwire_rpc::{CallOptions as Within, Client, Limits};

use super::{SizeOptions, failed, failed_over};
use crate::duration;
use crate::exit::{Code, Failure, eprintln_quietly};
use crate::security_options::{SecurityOptions, exposed};
use crate::untrusted;

/// Options of rpc call.
#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// The server
    #[arg(short, long, value_name = "ENDPOINT", value_parser = super::parse_endpoint)]
    connect: Endpoint,

    #[command(flatten)]
    security: SecurityOptions,

    /// What to send [default: all of standard input]
    #[arg(short, long, value_name = "TEXT")]
    data: Option<String>,

    /// Send it as a message that nobody answers
    #[arg(long)]
    one_way: bool,

    /// How long to wait for the connection and the answer
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = duration::parse_positive)]
    timeout: Duration,

    #[command(flatten)]
    size: SizeOptions,
}

pub(super) fn run(options: &CallOptions) -> Result<(), Failure> {
    let security = options.security.choice().security([&options.connect])?;
    for endpoint in exposed(&security, [&options.connect]) {
        eprintln_quietly(&format!(
            "warning: {endpoint} without encryption: anyone on the path can read and write"
        ));
    }
    let body = match &options.data {
        Some(data) => data.clone().into_bytes(),
        None => {
            let mut body = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut body);
            read.map_err(|error| {
                Failure::new(Code::Failed, format!("cannot read standard input: {error}"))
            })?;
            body
        }
    };
    let mut limits = Limits::default();
    limits.max_body = options.size.max_size;
    limits.write = options.timeout;
    limits.linger = options.timeout;
    let client = Client::builder(security)
        .limits(limits)
        .dial_limit(options.timeout)
        .handshake_limit(options.timeout)
        .build(options.connect.clone())
        .map_err(|error| failed(&error))?;
    let monitor = client.monitor();
    let client = client.blocking();
    if options.one_way {
        client
            .send(&body)
            .map_err(|error| failed_over(&monitor, &error))?;
        client.shutdown(options.timeout);
        return Ok(());
    }
    let answer = client
        .request_with(&body, Within::within(options.timeout))
        .map_err(|error| failed_over(&monitor, &error))?;
    let mut out = std::io::stdout().lock();
    let to_terminal = out.is_terminal();
    untrusted::write_message(&mut out, &answer, to_terminal)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}
