//! Options of a socket in use, and of its endpoints.

use std::ffi::c_char;

use sealwire::options::Withdrawn;

use super::sealwire_socket;
use crate::options::sealwire_options;
use crate::panics::guard;
use crate::pointers::{required, text};
use crate::security::sealwire_security;
use crate::status::{Failure, SEALWIRE_ERROR_OPTION, sealwire_status};

/// Changes options of a socket in use: those that are set in `options`, and its protection where `security` is not NULL.
/// Either may be NULL and stays as it is then. `options` and `security` may be freed after that.
///
/// Time limits, the linger time, high-water marks and byte budgets change at once, also for peers that are connected, and
/// so do the options of single socket types (`SEALWIRE_OPTION_ROUTER_MANDATORY`, `SEALWIRE_OPTION_XPUB_VERBOSE` and so on).
/// All others, keys and authenticators among them, are those of endpoints that are bound or connected from now on:
/// the others keep what they have. The context, `SEALWIRE_OPTION_INTERRUPTIBLE` and `SEALWIRE_OPTION_SPIN_US` cannot
/// change. After an error nothing has changed.
///
/// Threads: those that change the same socket agree on who does.
///
/// Errors: `SEALWIRE_ERROR_OPTION`, `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_reconfigure(
    socket: Option<&sealwire_socket>,
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
) -> sealwire_status {
    guard(|| {
        let socket = &required(socket, "socket")?.socket;
        let mut builder = socket.options()?;
        if let Some(security) = security {
            builder = builder.security(security.security());
        }
        if let Some(options) = options {
            builder = options.apply(builder);
        }
        Ok(socket.reconfigure(builder)?)
    })
}

/// `sealwire_socket_reconfigure_endpoint`: connections under keys that the endpoint does not have any more stay.
pub const SEALWIRE_WITHDRAWN_STAY: i32 = 0;
/// `sealwire_socket_reconfigure_endpoint`: they end in good order, within the linger time.
pub const SEALWIRE_WITHDRAWN_END: i32 = 1;

/// Changes options of an endpoint in use, as `sealwire_socket_bind` gave it or as it was connected to: those that are set
/// in `options`, and its protection where `security` is not NULL. Either may be NULL and stays as it is then: keys,
/// authenticators, TLS identities, limits of connections, handshakes and messages. Nobody is turned away meanwhile. Time
/// limits of calls, high-water marks and what single types have belong to the socket and stay. `options` and `security`
/// may be freed after that. After an error nothing has changed.
///
/// A client that connects once this has returned meets the new options; handshakes and connections that have begun go on with
/// those that they began with. `withdrawn` says what becomes of connections under a key or mechanism that the endpoint
/// does not have any more: `SEALWIRE_WITHDRAWN_STAY`, or `SEALWIRE_WITHDRAWN_END`. Then they end: what is queued for the
/// peer alone goes out, and what it has sent arrives, within the linger time. The monitor has the cause
/// `key_withdrawn`, and the peer connects again. Another authenticator decides about the clients that are connected.
///
/// Threads: those that change the same endpoint agree on who does.
///
/// Errors: `SEALWIRE_ERROR_UNKNOWN_ENDPOINT`, `SEALWIRE_ERROR_ENDPOINT`; `SEALWIRE_ERROR_TRANSPORT` for `inproc`
/// and `udp`, and where the endpoint cannot have this; `SEALWIRE_ERROR_OPTION`, also for another value of `withdrawn`;
/// `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_reconfigure_endpoint(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
    withdrawn: i32,
) -> sealwire_status {
    guard(|| {
        let socket = &required(socket, "socket")?.socket;
        let endpoint = text(endpoint, "endpoint")?;
        let withdrawn = match withdrawn {
            SEALWIRE_WITHDRAWN_STAY => Withdrawn::Stay,
            SEALWIRE_WITHDRAWN_END => Withdrawn::End,
            other => {
                let text = format!(
                    "withdrawn is {other}: give SEALWIRE_WITHDRAWN_STAY (0) or SEALWIRE_WITHDRAWN_END (1)"
                );
                return Err(Failure::new(SEALWIRE_ERROR_OPTION, text));
            }
        };
        let mut builder = socket.endpoint_options(endpoint)?;
        if let Some(security) = security {
            builder = builder.security(security.security());
        }
        if let Some(options) = options {
            builder = options.apply(builder);
        }
        Ok(socket.reconfigure_endpoint(endpoint, builder, withdrawn)?)
    })
}
