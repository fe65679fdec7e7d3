//! A connection of a client or server, to call the peer at its other end.

use std::ffi::c_void;

use sealwire_rpc::Conn;

use super::answer::{Outcome, failed, sealwire_rpc_error, sealwire_rpc_reply};
use super::client::call_options;
use super::stream::sealwire_rpc_stream;
use crate::panics::{free, guard, value};
use crate::pointers::{bytes, give, optional_output, output, required};
use crate::status::sealwire_status;
use crate::time::Wait;

/// A connection of a client or server: both sides may call through it.
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_rpc_conn {
    conn: Conn,
}

impl sealwire_rpc_conn {
    pub(super) fn new(conn: Conn) -> Self {
        sealwire_rpc_conn { conn }
    }
}

/// Calls the peer at the other end. As `sealwire_rpc_client_request` otherwise, but the connection
/// is not made again.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_request(
    conn: Option<&sealwire_rpc_conn>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
    reply: *mut *mut sealwire_rpc_reply,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let conn = required(conn, "conn")?.conn.blocking();
        let body = bytes(data.cast(), size, "data")?;
        let outcome = Outcome::new(reply, error)?;
        outcome.settle(match Wait::from_ms(timeout_ms)? {
            Wait::Default => conn.request(body),
            Wait::No => conn.request_timeout(body, std::time::Duration::ZERO),
            Wait::For(limit) => conn.request_timeout(body, limit),
        })
    })
}

/// Calls the peer with a stream of items in each direction. As `sealwire_rpc_client_open` otherwise, but
/// the connection is not made again.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_open(
    conn: Option<&sealwire_rpc_conn>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
    out: *mut *mut sealwire_rpc_stream,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let conn = required(conn, "conn")?.conn.blocking();
        let body = bytes(data.cast(), size, "data")?;
        let out = output(out, "out")?;
        let error = optional_output(error, "error")?;
        let opened = conn.open(body, call_options(timeout_ms)?);
        let stream = opened.map_err(|reason| failed(reason, error))?;
        out.write(give(sealwire_rpc_stream::new(stream)));
        Ok(())
    })
}

/// Sends a message that nobody answers. As `sealwire_rpc_client_send` otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_send(
    conn: Option<&sealwire_rpc_conn>,
    data: *const c_void,
    size: usize,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let conn = required(conn, "conn")?.conn.blocking();
        let body = bytes(data.cast(), size, "data")?;
        let out = optional_output(error, "error")?;
        conn.send(body).map_err(|error| failed(error, out))
    })
}

/// Whether the connection is still there. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_is_open(conn: Option<&sealwire_rpc_conn>) -> bool {
    value(false, || conn.is_some_and(|conn| conn.conn.is_open()))
}

/// Frees the object; the connection stays. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_free(conn: Option<Box<sealwire_rpc_conn>>) {
    free(conn);
}
