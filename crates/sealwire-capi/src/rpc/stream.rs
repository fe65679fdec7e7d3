//! Streams: items in both directions that belong to one call.

use std::ffi::c_void;
use std::time::Duration;

use sealwire_fork::Birth;
use sealwire_rpc::blocking::CallStream;
use sealwire_rpc::{Body, Error, Request};

use super::answer::{Outcome, sealwire_rpc_error, sealwire_rpc_reply};
use crate::panics::{free, guard};
use crate::pointers::{bytes, give, output, required};
use crate::status::{Failure, SEALWIRE_ERROR_RPC_STREAM_ENDED, here, sealwire_status};
use crate::time::Wait;

/// The caller's end of a call with a stream of items in each direction. Each side has credit for some
/// items that the other has not read (64 unless told otherwise), so a slow reader holds its writer back.
///
/// Threads: any number may use it at once, but for `sealwire_rpc_stream_answer` and
/// `sealwire_rpc_stream_free`: one can send while another receives.
pub struct sealwire_rpc_stream {
    stream: CallStream,
    birth: Birth,
}

impl sealwire_rpc_stream {
    pub(super) fn new(stream: CallStream) -> Self {
        sealwire_rpc_stream {
            stream,
            birth: Birth::now(),
        }
    }
}

/// An end of a stream.
pub(super) trait Items {
    fn send(&self, item: &[u8]) -> Result<(), Error>;
    fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error>;
    fn send_no_wait(&self, item: &[u8]) -> Result<(), Error>;
    fn next(&self) -> Result<Option<Body>, Error>;
    fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error>;
    fn next_no_wait(&self) -> Result<Option<Body>, Error>;
}

impl Items for CallStream {
    fn send(&self, item: &[u8]) -> Result<(), Error> {
        self.send(item)
    }

    fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error> {
        self.send_timeout(item, limit)
    }

    fn send_no_wait(&self, item: &[u8]) -> Result<(), Error> {
        self.send_no_wait(item)
    }

    fn next(&self) -> Result<Option<Body>, Error> {
        self.next()
    }

    fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error> {
        self.next_timeout(limit)
    }

    fn next_no_wait(&self) -> Result<Option<Body>, Error> {
        self.next_no_wait()
    }
}

impl Items for Request {
    fn send(&self, item: &[u8]) -> Result<(), Error> {
        self.blocking().send(item)
    }

    fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error> {
        self.blocking().send_timeout(item, limit)
    }

    fn send_no_wait(&self, item: &[u8]) -> Result<(), Error> {
        self.send_no_wait(item)
    }

    fn next(&self) -> Result<Option<Body>, Error> {
        self.blocking().next()
    }

    fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error> {
        self.blocking().next_timeout(limit)
    }

    fn next_no_wait(&self) -> Result<Option<Body>, Error> {
        self.next_no_wait()
    }
}

pub(super) fn send_item(
    items: &impl Items,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
) -> Result<(), Failure> {
    let item = bytes(data.cast(), size, "data")?;
    let sent = match Wait::from_ms(timeout_ms)? {
        Wait::Default => items.send(item),
        Wait::No => items.send_no_wait(item),
        Wait::For(limit) => items.send_timeout(item, limit),
    };
    Ok(sent?)
}

pub(super) fn next_item(
    items: &impl Items,
    timeout_ms: i64,
    out: *mut *mut sealwire_rpc_reply,
) -> Result<(), Failure> {
    let out = output(out, "item")?;
    let next = match Wait::from_ms(timeout_ms)? {
        Wait::Default => items.next(),
        Wait::No => items.next_no_wait(),
        Wait::For(limit) => items.next_timeout(limit),
    };
    let item = next?.ok_or_else(|| {
        let text = "no more items come: the other side has sent its last, or the call has ended";
        Failure::new(SEALWIRE_ERROR_RPC_STREAM_ENDED, text)
    })?;
    out.write(give(sealwire_rpc_reply::new(item)));
    Ok(())
}

/// Sends an item, with a copy of `size` bytes, waiting for the handler to want one: up to `timeout_ms`
/// milliseconds, `SEALWIRE_WAIT` (as long as the call lasts) or `SEALWIRE_NO_WAIT`. After an error it was
/// not sent.
///
/// Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` when the call has ended or after
/// `sealwire_rpc_stream_finish`, `SEALWIRE_ERROR_RPC_CONGESTED` when the time is over and
/// `SEALWIRE_ERROR_WOULD_BLOCK` (the call goes on after both), `SEALWIRE_ERROR_RPC_TOO_LARGE`,
/// `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_stream_send(
    stream: Option<&sealwire_rpc_stream>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let stream = required(stream, "stream")?;
        here(stream.birth)?;
        send_item(&stream.stream, data, size, timeout_ms)
    })
}

/// Ends the items of this side: the handler gets those that were sent, and then
/// `SEALWIRE_ERROR_RPC_STREAM_ENDED`. It may go on sending its own. To finish twice, or after the call has
/// ended, does nothing.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_stream_finish(
    stream: Option<&sealwire_rpc_stream>,
) -> sealwire_status {
    guard(|| {
        let stream = required(stream, "stream")?;
        here(stream.birth)?;
        stream.stream.finish();
        Ok(())
    })
}

/// The next item of the handler, waiting for it up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (as long
/// as the call lasts) or `SEALWIRE_NO_WAIT`. Free it with `sealwire_rpc_reply_free`.
///
/// Errors: `SEALWIRE_ERROR_RPC_STREAM_ENDED` after the last, when the call has ended:
/// `sealwire_rpc_stream_answer` has how. `SEALWIRE_ERROR_TIMED_OUT` and `SEALWIRE_ERROR_WOULD_BLOCK` (the
/// call goes on after both), `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_stream_next(
    stream: Option<&sealwire_rpc_stream>,
    timeout_ms: i64,
    item: *mut *mut sealwire_rpc_reply,
) -> sealwire_status {
    guard(|| {
        let stream = required(stream, "stream")?;
        here(stream.birth)?;
        next_item(&stream.stream, timeout_ms, item)
    })
}

/// Waits for the answer that ends the call, up to the time limit of the call, and frees the stream in any
/// case. Items that were not read are dropped. `reply` and `error` as in `sealwire_rpc_client_request`.
///
/// Errors: those of `sealwire_rpc_client_request` that concern an answer, `SEALWIRE_ERROR_FORKED`;
/// `SEALWIRE_ERROR_NULL`, with which the call is cancelled.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_stream_answer(
    stream: Option<Box<sealwire_rpc_stream>>,
    reply: *mut *mut sealwire_rpc_reply,
    error: *mut *mut sealwire_rpc_error,
) -> sealwire_status {
    guard(|| {
        let sealwire_rpc_stream { stream, birth } = *required(stream, "stream")?;
        here(birth)?;
        Outcome::new(reply, error)?.settle(stream.answer())
    })
}

/// Cancels the call, unless it has ended, and frees the stream: the handler gets
/// `SEALWIRE_ERROR_RPC_STREAM_ENDED` from its end, and `sealwire_rpc_request_is_cancelled` is true. NULL
/// is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_stream_free(stream: Option<Box<sealwire_rpc_stream>>) {
    free(stream);
}
