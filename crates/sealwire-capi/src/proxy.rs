//! Two sockets connected to each other.

use sealwire::Proxy;

use crate::panics::guard;
use crate::pointers::required;
use crate::socket::sealwire_socket;
use crate::status::sealwire_status;

/// Connects two sockets: what arrives on one goes out on the other, both ways. ROUTER and DEALER make
/// a queue, XSUB and XPUB a forwarder, PULL and PUSH a streamer; each may have a protection of its own.
/// Blocks until one of them is closed. libzmq's `zmq_proxy_steerable`.
///
/// `capture`, which may be NULL, gets a copy of every message it has room for (PUB, PUSH, PAIR,
/// DEALER). `control`, which may be NULL, receives commands (REP, PAIR, PULL, SUB): "PAUSE", "RESUME",
/// "TERMINATE", "STATISTICS". The peer of a message is not handed on: the other side sees this
/// process. The sockets stay the caller's and must not be freed before this returns.
///
/// Errors: `SEALWIRE_ERROR_CLOSED` when a socket is closed, which is how to stop it without `control`;
/// after "TERMINATE" it returns `SEALWIRE_OK`. `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_proxy(
    frontend: Option<&sealwire_socket>,
    backend: Option<&sealwire_socket>,
    capture: Option<&sealwire_socket>,
    control: Option<&sealwire_socket>,
) -> sealwire_status {
    guard(|| {
        let frontend = &required(frontend, "frontend")?.socket;
        let backend = &required(backend, "backend")?.socket;
        let mut proxy = Proxy::new(frontend, backend);
        if let Some(capture) = capture {
            proxy = proxy.capture(&capture.socket);
        }
        if let Some(control) = control {
            proxy = proxy.control(&control.socket);
        }
        Ok(proxy.run()?)
    })
}
