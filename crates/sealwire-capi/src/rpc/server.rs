//! The answering side.

use std::ffi::c_char;

use sealwire_fork::Birth;
use sealwire_rpc::Server;

use super::client::ended;
use super::request::{SharedHandler, sealwire_rpc_handler};
use crate::keys::write_text;
use crate::listener::bind_given;
use crate::monitor::sealwire_monitor;
use crate::options::sealwire_options;
use crate::panics::{free, guard, value};
use crate::peer::PeerSource;
use crate::peers::sealwire_peers;
use crate::pointers::{give, output, required, text};
use crate::security::sealwire_security;
use crate::status::{here, sealwire_status};
use crate::time::duration_ms;

/// Answers calls, and can call its clients (`sealwire_rpc_request_conn`).
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_rpc_server {
    server: Server,
    birth: Birth,
}

/// A server that listens nowhere yet. `options` may be NULL. Free it with `sealwire_rpc_server_free`.
///
/// Errors: `SEALWIRE_ERROR_OPTION`, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_new(
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
    handler: Option<&sealwire_rpc_handler>,
    out: *mut *mut sealwire_rpc_server,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let security = required(security, "security")?;
        let handler = required(handler, "handler")?;
        let mut builder = Server::builder(security.security());
        if let Some(options) = options {
            builder = builder.socket(|socket| options.apply(socket));
        }
        let (shared, callbacks) = SharedHandler::new(handler)?;
        let built = builder.build(shared);
        if built.is_err() {
            callbacks.forget();
        }
        out.write(give(sealwire_rpc_server {
            server: built?,
            birth: Birth::now(),
        }));
        Ok(())
    })
}

/// Listens at an endpoint. As `sealwire_socket_bind` otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_bind(
    server: Option<&sealwire_rpc_server>,
    endpoint: *const c_char,
    bound: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let server = required(server, "server")?;
        let endpoint = server.server.bind(text(endpoint, "endpoint")?)?;
        write_text(bound, "bound", &endpoint.to_string())
    })
}

/// Listens on a TCP or Unix socket that somebody else opened. As `sealwire_socket_bind_listener` otherwise: afterwards the
/// descriptor is the server's.
///
/// Errors: those of `sealwire_socket_bind_listener`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_bind_listener(
    server: Option<&sealwire_rpc_server>,
    descriptor: i32,
    ws_path: *const c_char,
    wss_path: *const c_char,
    bound: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let server = &required(server, "server")?.server;
        bind_given(descriptor, [ws_path, wss_path], bound, |listener| {
            server.bind_listener(listener)
        })
    })
}

/// How many connections are served; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_connections(server: Option<&sealwire_rpc_server>) -> usize {
    value(0, || {
        server.map_or(0, |server| server.server.connections().len())
    })
}

/// The peers of the connections that are served, one for each connection. Free the list with
/// `sealwire_peers_free`.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peers_of_rpc_server(
    server: Option<&sealwire_rpc_server>,
    out: *mut *mut sealwire_peers,
) -> sealwire_status {
    guard(|| {
        let server = required(server, "server")?;
        let out = output(out, "out")?;
        here(server.birth)?;
        let connections = server.server.connections().into_iter();
        out.write(give(sealwire_peers::new(connections.map(PeerSource::Call))));
        Ok(())
    })
}

/// Reads what happens to the connections: handshakes, failures.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_monitor(
    server: Option<&sealwire_rpc_server>,
    out: *mut *mut sealwire_monitor,
) -> sealwire_status {
    guard(|| {
        let server = required(server, "server")?;
        here(server.birth)?;
        let monitor = sealwire_monitor::new(server.server.monitor(), false);
        output(out, "out")?.write(give(monitor));
        Ok(())
    })
}

/// Accepts no connections any more, turns new requests away as not started, lets those under way end,
/// and closes the connections, within `limit_ms` milliseconds.
///
/// Errors: `SEALWIRE_ERROR_TIMED_OUT` when that was not enough, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_shutdown(
    server: Option<&sealwire_rpc_server>,
    limit_ms: i64,
) -> sealwire_status {
    guard(|| {
        let server = required(server, "server")?;
        here(server.birth)?;
        ended(
            server
                .server
                .shutdown_blocking(duration_ms(limit_ms, "limit_ms")?),
        )
    })
}

/// Ends the server and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_server_free(server: Option<Box<sealwire_rpc_server>>) {
    free(server);
}
