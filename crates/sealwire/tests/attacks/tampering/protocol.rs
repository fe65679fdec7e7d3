//! How the peers of a test are connected and protected.

use std::net::SocketAddr;
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Context, Endpoint, Security, SocketBuilder, SocketType};
use sealwire_relay::{Expected, Format, Manipulation};

use super::attempt::Attempt;
use super::conversation::Flow;
use crate::memory;
#[cfg(feature = "wss")]
use crate::support::authority::Authority;
use crate::support::options;

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(600);

pub(super) struct Protocol {
    pub(super) name: &'static str,
    pub(super) transport: &'static str,
    pub(super) format: Format,
    /// Servers', then clients'.
    securities: [Security; 2],
    contexts: [Context; 2],
    #[cfg(feature = "wss")]
    pub(super) authority: Option<Authority>,
}

impl Protocol {
    pub(super) fn new(
        name: &'static str,
        transport: &'static str,
        format: Format,
        server: Security,
        client: Security,
    ) -> Self {
        Protocol {
            name,
            transport,
            format,
            securities: [server, client],
            contexts: [(); 2].map(|()| Context::new().unwrap()),
            #[cfg(feature = "wss")]
            authority: None,
        }
    }

    pub(super) fn attack(&self, flows: &[Flow], expected: &Expected) {
        let _shared = memory::shared();
        for &flow in flows {
            let shown = expected.iter().copied().filter(|&(manipulation, outcome)| {
                flow.shows(manipulation, outcome) && self.ends(flow, manipulation)
            });
            for (manipulation, outcome) in shown {
                Attempt {
                    protocol: self,
                    flow,
                    manipulation,
                    expected: outcome,
                }
                .run();
            }
        }
    }

    /// Whether there is an end to it. A unit that is left out, is too short or comes late shows by the next one; and
    /// behind a record of TLS, which holds a message with its envelope, none comes where a peer waits for an answer.
    fn ends(&self, flow: Flow, manipulation: Manipulation) -> bool {
        use Manipulation::{Drop, Reorder, Shorten};
        let needs_another = matches!(manipulation, Drop | Reorder | Shorten);
        !(needs_another && flow.takes_turns() && matches!(self.format, Format::Tls))
    }

    /// A server that is bound, and where.
    pub(super) fn server(&self, socket_type: SocketType) -> (Socket, SocketAddr) {
        let server = self.options(0, socket_type).build_blocking().unwrap();
        let endpoint = format!("{}://127.0.0.1:0", self.transport);
        let address = address_of(&server.bind(endpoint).unwrap());
        (server, address)
    }

    /// A client that makes one attempt and does not come back.
    pub(super) fn client(&self, socket_type: SocketType) -> Socket {
        self.client_options(socket_type).build_blocking().unwrap()
    }

    pub(super) fn client_options(&self, socket_type: SocketType) -> SocketBuilder {
        self.options(1, socket_type)
    }

    pub(super) fn endpoint(&self, address: SocketAddr) -> String {
        format!("{}://{address}", self.transport)
    }

    fn options(&self, side: usize, socket_type: SocketType) -> SocketBuilder {
        let builder = options(socket_type)
            .security(self.securities[side].clone())
            .context(&self.contexts[side])
            .reconnect(NEVER, NEVER)
            .handshake_timeout(NEVER)
            .linger(Duration::ZERO);
        #[cfg(feature = "wss")]
        let builder = match (&self.authority, side) {
            (None, _) => builder,
            (Some(authority), 0) => builder.tls_identity(authority.identity()),
            (Some(authority), _) => builder.tls_trust(authority.trust()),
        };
        builder
    }
}

fn address_of(endpoint: &Endpoint) -> SocketAddr {
    let (Endpoint::Tcp { port, .. } | Endpoint::Ws { port, .. } | Endpoint::Wss { port, .. }) =
        endpoint
    else {
        panic!("{endpoint}")
    };
    SocketAddr::from(([127, 0, 0, 1], *port))
}
