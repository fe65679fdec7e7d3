//! Options of a socket in use.

use super::sealwire_socket;
use crate::options::sealwire_options;
use crate::panics::guard;
use crate::pointers::required;
use crate::security::sealwire_security;
use crate::status::sealwire_status;

/// Changes options of a socket in use: those that are set in `options`, and its protection where `security` is not NULL.
/// Either may be NULL and stays as it is then. `options` and `security` may be freed after that.
///
/// Time limits, the linger time, high-water marks and byte budgets change at once, also for peers that are connected.
/// All others, keys and authenticators among them, are those of endpoints that are bound or connected from now on:
/// the others keep what they have. The context, `SEALWIRE_OPTION_INTERRUPTIBLE`, `SEALWIRE_OPTION_SPIN_US` and what changes
/// a socket type cannot change. After an error nothing has changed.
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
