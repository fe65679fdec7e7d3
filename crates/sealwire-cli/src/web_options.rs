//! Web pages and host names that `ws` and `wss` endpoints accept, on the command line.

use clap::Args;
use sealwire::SocketBuilder;

/// What a listener for WebSockets asks of a request.
#[derive(Debug, Args)]
#[command(next_help_heading = "Web pages, where we listen on ws:// or wss://")]
pub(crate) struct WebOptions {
    /// Accept web pages of an origin, SCHEME://HOST[:PORT] (repeatable) [default: none]
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Accept web pages of every origin: any page that somebody here visits can then connect
    #[arg(long, conflicts_with = "allow_origin")]
    allow_any_origin: bool,

    /// Accept a host name in requests to a loopback address (repeatable) [default: localhost and
    /// loopback addresses]
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

impl WebOptions {
    pub(crate) fn apply(&self, builder: SocketBuilder) -> SocketBuilder {
        let builder = builder.ws_allow_any_origin(self.allow_any_origin);
        let origins = self.allow_origin.iter();
        let builder = origins.fold(builder, SocketBuilder::ws_allow_origin);
        let hosts = self.allow_host.iter();
        hosts.fold(builder, SocketBuilder::ws_allow_host)
    }
}
