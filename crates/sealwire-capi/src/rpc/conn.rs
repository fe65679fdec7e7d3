//! A connection of a client or server, to call the peer at its other end.

use std::ffi::c_void;

use sealwire_rpc::Conn;

use super::answer::{sealwire_rpc_error, sealwire_rpc_reply};
use super::calling::Call;
use super::metadata::sealwire_rpc_metadata;
use super::stream::sealwire_rpc_stream;
use crate::panics::{free, guard, value};
use crate::pointers::required;
use crate::status::sealwire_status;

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
    sealwire_rpc_conn_request_with(conn, data, size, None, timeout_ms, reply, error)
}

/// Calls the peer as `sealwire_rpc_conn_request` does, with metadata beside the body, which may be NULL for none:
/// a copy goes with the request, and the caller keeps its own.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_request_with(
    conn: Option<&sealwire_rpc_conn>,
    data: *const c_void,
    size: usize,
    metadata: Option<&sealwire_rpc_metadata>,
    timeout_ms: i64,
    reply: *mut *mut sealwire_rpc_reply,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let conn = required(conn, "conn")?.conn.blocking();
        let call = Call::new(data, size, metadata, timeout_ms);
        call.request(reply, error, |body, options| {
            conn.request_with(body, options)
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
    sealwire_rpc_conn_open_with(conn, data, size, None, timeout_ms, out, error)
}

/// Calls the peer as `sealwire_rpc_conn_open` does, with metadata as in `sealwire_rpc_conn_request_with`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_open_with(
    conn: Option<&sealwire_rpc_conn>,
    data: *const c_void,
    size: usize,
    metadata: Option<&sealwire_rpc_metadata>,
    timeout_ms: i64,
    out: *mut *mut sealwire_rpc_stream,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let conn = required(conn, "conn")?.conn.blocking();
        let call = Call::new(data, size, metadata, timeout_ms);
        call.open(out, error, |body, options| conn.open(body, options))
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
    sealwire_rpc_conn_send_with(conn, data, size, None, error)
}

/// Sends a message as `sealwire_rpc_conn_send` does, with metadata as in `sealwire_rpc_conn_request_with`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_conn_send_with(
    conn: Option<&sealwire_rpc_conn>,
    data: *const c_void,
    size: usize,
    metadata: Option<&sealwire_rpc_metadata>,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let conn = required(conn, "conn")?.conn.blocking();
        let message = Call::one_way(data, size, metadata);
        message.send(error, |body, options| conn.send_with(body, options))
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
