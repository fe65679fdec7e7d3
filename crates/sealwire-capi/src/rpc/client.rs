//! The calling side.

use std::ffi::{c_char, c_void};

use sealwire_fork::Birth;
use sealwire_rpc::Client;

use super::answer::{sealwire_rpc_error, sealwire_rpc_reply};
use super::calling::Call;
use super::metadata::sealwire_rpc_metadata;
use super::request::{SharedHandler, sealwire_rpc_handler};
use super::stream::sealwire_rpc_stream;
use crate::options::sealwire_options;
use crate::panics::{free, guard};
use crate::pointers::{give, output, required, text};
use crate::security::sealwire_security;
use crate::status::{Failure, SEALWIRE_ERROR_TIMED_OUT, here, sealwire_status};
use crate::time::duration_ms;

/// Calls a server, and may be called by it. Connects when it is first used, and again when the
/// connection is lost.
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_rpc_client {
    client: Client,
    birth: Birth,
}

/// A client of the server at this endpoint. `options` may be NULL, and so may `handler`, which
/// answers the server's calls. Free it with `sealwire_rpc_client_free`.
///
/// Errors: `SEALWIRE_ERROR_RPC_CONNECT` for an endpoint that cannot be understood and options that do
/// not fit, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_new(
    endpoint: *const c_char,
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
    handler: Option<&sealwire_rpc_handler>,
    out: *mut *mut sealwire_rpc_client,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let endpoint = text(endpoint, "endpoint")?;
        let security = required(security, "security")?;
        let mut builder = Client::builder(security.security());
        if let Some(options) = options {
            builder = builder.socket(|socket| options.apply(socket));
        }
        let mut callbacks = None;
        if let Some(handler) = handler {
            let (shared, held) = SharedHandler::new(handler)?;
            callbacks = Some(held);
            builder = builder.handler(shared);
        }
        let built = builder.build(endpoint);
        if let (Err(_), Some(callbacks)) = (&built, &callbacks) {
            callbacks.forget();
        }
        out.write(give(sealwire_rpc_client {
            client: built?,
            birth: Birth::now(),
        }));
        Ok(())
    })
}

/// Calls the server with a copy of `size` bytes and waits for its answer: up to `timeout_ms`
/// milliseconds or, with `SEALWIRE_WAIT`, 30 seconds. After success `reply` is to be freed with
/// `sealwire_rpc_reply_free`. After an error of a call there is more to know: where `error` is not
/// NULL it then gets an object to be freed with `sealwire_rpc_error_free`. `error` is left alone after
/// success, and where the arguments are not valid: set it to NULL before.
///
/// Errors: `SEALWIRE_ERROR_RPC_REMOTE` when the server answers with an error,
/// `SEALWIRE_ERROR_RPC_DEADLINE`, `SEALWIRE_ERROR_RPC_CONNECTION_LOST`,
/// `SEALWIRE_ERROR_RPC_CONNECT`, `SEALWIRE_ERROR_RPC_CONGESTED`, `SEALWIRE_ERROR_RPC_TOO_LARGE`,
/// `SEALWIRE_ERROR_RPC_SHUTTING_DOWN`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_request(
    client: Option<&sealwire_rpc_client>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
    reply: *mut *mut sealwire_rpc_reply,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    sealwire_rpc_client_request_with(client, data, size, None, timeout_ms, reply, error)
}

/// Calls the server as `sealwire_rpc_client_request` does, with metadata beside the body, which may be NULL for none:
/// a copy goes with the request, and the caller keeps its own.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_request_with(
    client: Option<&sealwire_rpc_client>,
    data: *const c_void,
    size: usize,
    metadata: Option<&sealwire_rpc_metadata>,
    timeout_ms: i64,
    reply: *mut *mut sealwire_rpc_reply,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let client = required(client, "client")?.client.blocking();
        let call = Call::new(data, size, metadata, timeout_ms);
        call.request(reply, error, |body, options| {
            client.request_with(body, options)
        })
    })
}

/// Calls the server as `sealwire_rpc_client_request` does, with a stream of items in each direction:
/// `timeout_ms` is the time until the answer, which ends the call, and the time to connect comes on top.
/// INT64_MAX is for ever. Free the stream with `sealwire_rpc_stream_free`, or end it with
/// `sealwire_rpc_stream_answer`.
///
/// Errors: as `sealwire_rpc_client_request`, but for those of an answer, which come with
/// `sealwire_rpc_stream_answer`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_open(
    client: Option<&sealwire_rpc_client>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
    out: *mut *mut sealwire_rpc_stream,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    sealwire_rpc_client_open_with(client, data, size, None, timeout_ms, out, error)
}

/// Calls the server as `sealwire_rpc_client_open` does, with metadata as in `sealwire_rpc_client_request_with`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_open_with(
    client: Option<&sealwire_rpc_client>,
    data: *const c_void,
    size: usize,
    metadata: Option<&sealwire_rpc_metadata>,
    timeout_ms: i64,
    out: *mut *mut sealwire_rpc_stream,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let client = required(client, "client")?.client.blocking();
        let call = Call::new(data, size, metadata, timeout_ms);
        call.open(out, error, |body, options| {
            client.conn()?.open(body, options)
        })
    })
}

/// Sends a message that nobody answers, with a copy of `size` bytes. Waits for room, up to 3 seconds.
/// `error` as in `sealwire_rpc_client_request`.
///
/// Errors: as `sealwire_rpc_client_request`, but for those of an answer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_send(
    client: Option<&sealwire_rpc_client>,
    data: *const c_void,
    size: usize,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    sealwire_rpc_client_send_with(client, data, size, None, error)
}

/// Sends a message as `sealwire_rpc_client_send` does, with metadata as in `sealwire_rpc_client_request_with`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_send_with(
    client: Option<&sealwire_rpc_client>,
    data: *const c_void,
    size: usize,
    metadata: Option<&sealwire_rpc_metadata>,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let client = required(client, "client")?.client.blocking();
        let message = Call::one_way(data, size, metadata);
        message.send(error, |body, options| client.send_with(body, options))
    })
}

/// Takes nothing new, lets calls under way end, and closes the connections, within `limit_ms`
/// milliseconds.
///
/// Errors: `SEALWIRE_ERROR_TIMED_OUT` when that was not enough, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_shutdown(
    client: Option<&sealwire_rpc_client>,
    limit_ms: i64,
) -> sealwire_status {
    guard(|| {
        let client = required(client, "client")?;
        here(client.birth)?;
        let client = client.client.blocking();
        ended(client.shutdown(duration_ms(limit_ms, "limit_ms")?))
    })
}

/// Whether the time for shutting down was enough.
pub(super) fn ended(in_time: bool) -> Result<(), Failure> {
    if in_time {
        return Ok(());
    }
    let text = "calls were still under way when the time to shut down was over";
    Err(Failure::new(SEALWIRE_ERROR_TIMED_OUT, text))
}

/// Closes the connections and frees the client. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_client_free(client: Option<Box<sealwire_rpc_client>>) {
    free(client);
}
