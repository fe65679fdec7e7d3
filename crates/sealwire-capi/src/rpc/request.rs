//! What a handler gets: requests to be answered, and messages that are not.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use sealwire_fork::Birth;
use sealwire_rpc::handler::{Handler, Pool};
use sealwire_rpc::{Code, OneWay, Request, Status};

use super::answer::sealwire_rpc_reply;
use super::conn::sealwire_rpc_conn;
use super::metadata::{LazyMetadata, sealwire_rpc_metadata};
use super::stream::{next_item, send_item};
use crate::callback::{User, sealwire_destroy_fn};
use crate::panics::{free, guard, value};
use crate::peer::{LazyPeer, PeerSource, sealwire_peer};
use crate::pointers::{bytes, give, output, required, text};
use crate::status::{Failure, SEALWIRE_ERROR_SYSTEM, here, sealwire_status};

/// A request, to be answered with `sealwire_rpc_request_reply` or `sealwire_rpc_request_fail`, now or
/// later and on any thread.
///
/// Threads: one at a time, but for `sealwire_rpc_request_send` and `sealwire_rpc_request_next`, which any
/// number may call at once: one can send while another receives.
pub struct sealwire_rpc_request {
    request: Request,
    birth: Birth,
    peer: LazyPeer,
    metadata: LazyMetadata,
}

/// A message that nobody answers. Valid during the callback only.
pub struct sealwire_rpc_message {
    message: OneWay,
    peer: LazyPeer,
    metadata: LazyMetadata,
}

/// Gets each request, which is the callback's from then on: it must be answered, now or later, or
/// freed with `sealwire_rpc_request_free`. Without threads of its own (`sealwire_rpc_handler`) it is
/// called where connections are read, so it must be quick and must not wait for an answer of this
/// client or server. May be called on several threads at once. It must not throw.
pub type sealwire_rpc_request_fn =
    Option<extern "C" fn(request: *mut sealwire_rpc_request, user: *mut c_void)>;

/// Gets each message that nobody answers. As `sealwire_rpc_request_fn` otherwise, but the message is
/// valid during the callback only.
pub type sealwire_rpc_message_fn =
    Option<extern "C" fn(message: *const sealwire_rpc_message, user: *mut c_void)>;

/// What answers the other side.
#[repr(C)]
pub struct sealwire_rpc_handler {
    /// Gets requests. NULL answers all of them with code 12 (unimplemented).
    pub request: sealwire_rpc_request_fn,
    /// Gets messages. NULL drops them.
    pub message: sealwire_rpc_message_fn,
    /// Handed to both.
    pub user: *mut c_void,
    /// Called once with `user` when neither will be called again; not after an error of the function
    /// that the handler was given to. May be NULL.
    pub destroy: sealwire_destroy_fn,
    /// On how many threads of their own the two are called, where they may wait. 1,024 requests wait
    /// for one; further ones are answered with code 8 (resource exhausted). 0: where connections are
    /// read.
    pub threads: u32,
}

pub(super) struct Callbacks {
    request: sealwire_rpc_request_fn,
    message: sealwire_rpc_message_fn,
    user: User,
}

impl Callbacks {
    fn new(handler: &sealwire_rpc_handler) -> Self {
        Callbacks {
            request: handler.request,
            message: handler.message,
            user: User::new(handler.user, handler.destroy),
        }
    }

    /// Gives up without calling `destroy`: the user's pointer stays the caller's.
    pub(super) fn forget(&self) {
        self.user.forget();
    }
}

impl Handler for Callbacks {
    fn request(&self, request: Request) {
        let Some(callback) = self.request else {
            let status = Status::new(Code::UNIMPLEMENTED, "nothing is served on this side");
            return request.fail(status.not_started());
        };
        let request = give(sealwire_rpc_request {
            request,
            birth: Birth::now(),
            peer: LazyPeer::default(),
            metadata: LazyMetadata::default(),
        });
        callback(request, self.user.pointer());
    }

    fn message(&self, message: OneWay) {
        if let Some(callback) = self.message {
            let message = sealwire_rpc_message {
                message,
                peer: LazyPeer::default(),
                metadata: LazyMetadata::default(),
            };
            callback(&raw const message, self.user.pointer());
        }
    }
}

/// Requests that may wait for a thread. Messages are bounded by the window of their connection.
const QUEUE: usize = 1_024;

/// What a client or server holds, while the function that made it may still take it back.
pub(super) struct SharedHandler {
    callbacks: Arc<Callbacks>,
    pool: Option<Pool>,
}

impl SharedHandler {
    /// Also gives the callbacks, to be forgotten should something fail.
    pub(super) fn new(handler: &sealwire_rpc_handler) -> Result<(Self, Arc<Callbacks>), Failure> {
        let callbacks = Arc::new(Callbacks::new(handler));
        let pool = match handler.threads {
            0 => None,
            threads => match Pool::around(threads as usize, QUEUE, callbacks.clone()) {
                Ok(pool) => Some(pool),
                Err(error) => {
                    callbacks.forget();
                    return Err(Failure::new(SEALWIRE_ERROR_SYSTEM, error.to_string()));
                }
            },
        };
        let shared = SharedHandler {
            callbacks: callbacks.clone(),
            pool,
        };
        Ok((shared, callbacks))
    }
}

impl Handler for SharedHandler {
    fn request(&self, request: Request) {
        match &self.pool {
            Some(pool) => pool.request(request),
            None => self.callbacks.request(request),
        }
    }

    fn message(&self, message: OneWay) {
        match &self.pool {
            Some(pool) => pool.message(message),
            None => self.callbacks.message(message),
        }
    }
}

/// The bytes of a request, which belong to it. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_data(
    request: Option<&sealwire_rpc_request>,
) -> *const c_void {
    request.map_or(std::ptr::null(), |request| {
        request.request.body().as_ptr().cast()
    })
}

/// How many bytes a request has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_size(request: Option<&sealwire_rpc_request>) -> usize {
    request.map_or(0, |request| request.request.body().len())
}

/// The peer that asks. Belongs to the request. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_peer(
    request: Option<&sealwire_rpc_request>,
) -> *const sealwire_peer {
    value(std::ptr::null(), || {
        request.map_or(std::ptr::null(), |request| {
            let conn = request.request.conn();
            request.peer.get(|| Some(PeerSource::Call(conn.clone())))
        })
    })
}

/// What the caller sent beside the body, which is theirs to choose: only the connection says who they are.
/// Belongs to the request. NULL for NULL alone.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_metadata(
    request: Option<&sealwire_rpc_request>,
) -> *const sealwire_rpc_metadata {
    value(std::ptr::null(), || {
        request.map_or(std::ptr::null(), |request| {
            request.metadata.get(&request.request.metadata())
        })
    })
}

/// How long the caller still waits, in milliseconds; -1 for ever.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_time_left_ms(request: Option<&sealwire_rpc_request>) -> i64 {
    let left = request.and_then(|request| request.request.time_left());
    left.map_or(-1, |left| left.as_millis().try_into().unwrap_or(i64::MAX))
}

/// Whether the caller has stopped waiting. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_is_cancelled(
    request: Option<&sealwire_rpc_request>,
) -> bool {
    value(false, || {
        request.is_some_and(|request| request.request.is_cancelled())
    })
}

/// The connection that the request came through, to call its peer. It may be kept longer than the
/// request. Free it with `sealwire_rpc_conn_free`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_conn(
    request: Option<&sealwire_rpc_request>,
    out: *mut *mut sealwire_rpc_conn,
) -> sealwire_status {
    guard(|| {
        let request = required(request, "request")?;
        let conn = request.request.conn().clone();
        output(out, "out")?.write(give(sealwire_rpc_conn::new(conn)));
        Ok(())
    })
}

/// Whether the call has streams: `sealwire_rpc_request_send` and `sealwire_rpc_request_next`. False for
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_has_streams(request: Option<&sealwire_rpc_request>) -> bool {
    request.is_some_and(|request| request.request.has_streams())
}

/// Sends an item to the caller, with a copy of `size` bytes, waiting for it to want one: up to
/// `timeout_ms` milliseconds, `SEALWIRE_WAIT` (as long as the call lasts) or `SEALWIRE_NO_WAIT`, the only
/// one for a handler that runs where connections are read. After an error it was not sent.
///
/// Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` when the caller has gone or the call has no streams,
/// `SEALWIRE_ERROR_RPC_CONGESTED` when the time is over and `SEALWIRE_ERROR_WOULD_BLOCK` (the call goes on
/// after both), `SEALWIRE_ERROR_RPC_TOO_LARGE`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`,
/// `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_send(
    request: Option<&sealwire_rpc_request>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let request = required(request, "request")?;
        here(request.birth)?;
        send_item(&request.request, data, size, timeout_ms)
    })
}

/// The next item of the caller, waiting for it up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (as long as
/// the call lasts) or `SEALWIRE_NO_WAIT`, the only one for a handler that runs where connections are read.
/// Free it with `sealwire_rpc_reply_free`.
///
/// Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` when the caller sends no more: it has said so, or it is gone
/// or has stopped waiting; then `sealwire_rpc_request_is_cancelled` is true, and items may be missing.
/// `SEALWIRE_ERROR_TIMED_OUT` and `SEALWIRE_ERROR_WOULD_BLOCK` (the call goes on after both),
/// `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_next(
    request: Option<&sealwire_rpc_request>,
    timeout_ms: i64,
    item: *mut *mut sealwire_rpc_reply,
) -> sealwire_status {
    guard(|| {
        let request = required(request, "request")?;
        here(request.birth)?;
        next_item(&request.request, timeout_ms, item)
    })
}

/// Answers, with a copy of `size` bytes, and frees the request in any case. An answer after the deadline is
/// not sent, as nobody waits for it.
///
/// Errors: `SEALWIRE_ERROR_RPC_TOO_LARGE` (the caller gets an error), `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT` (the caller gets an internal error).
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_reply(
    request: Option<Box<sealwire_rpc_request>>,
    data: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let request = required(request, "request")?;
        let body = bytes(data.cast(), size, "data")?;
        request.request.reply(body).map_err(Failure::from)
    })
}

/// Answers with an error, which ends streams too, and frees the request in any case: a code (1 to 16 mean what they mean in
/// gRPC, 1,000 and above are yours), a message for people, and `details` for programs, which may be
/// NULL with a size of 0.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT` (the caller gets an internal error).
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_fail(
    request: Option<Box<sealwire_rpc_request>>,
    code: u16,
    message: *const c_char,
    details: *const c_void,
    details_size: usize,
) -> sealwire_status {
    guard(|| {
        let request = required(request, "request")?;
        let message = text(message, "message")?;
        let details = bytes(details.cast(), details_size, "details")?;
        let status = Status::new(Code(code), message).with_details(details);
        request.request.fail(status);
        Ok(())
    })
}

/// Frees a request that was not answered: the caller gets an internal error. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_request_free(request: Option<Box<sealwire_rpc_request>>) {
    free(request);
}

/// The bytes of a message, which belong to it. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_message_data(
    message: Option<&sealwire_rpc_message>,
) -> *const c_void {
    message.map_or(std::ptr::null(), |message| {
        message.message.body().as_ptr().cast()
    })
}

/// How many bytes a message has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_message_size(message: Option<&sealwire_rpc_message>) -> usize {
    message.map_or(0, |message| message.message.body().len())
}

/// The peer that sent it. Belongs to the message. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_message_peer(
    message: Option<&sealwire_rpc_message>,
) -> *const sealwire_peer {
    value(std::ptr::null(), || {
        message.map_or(std::ptr::null(), |message| {
            let conn = message.message.conn();
            message.peer.get(|| Some(PeerSource::Call(conn.clone())))
        })
    })
}

/// What the sender sent beside the body, as `sealwire_rpc_request_metadata`. Belongs to the message. NULL for NULL
/// alone.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_message_metadata(
    message: Option<&sealwire_rpc_message>,
) -> *const sealwire_rpc_metadata {
    value(std::ptr::null(), || {
        message.map_or(std::ptr::null(), |message| {
            message.metadata.get(&message.message.metadata())
        })
    })
}
