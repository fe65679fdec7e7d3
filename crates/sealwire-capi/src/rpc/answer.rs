//! What a call comes back with.

use std::ffi::{CString, c_char, c_void};

use sealwire_rpc::{Body, Error};

use crate::panics::free;
use crate::pointers::{Output, c_text, give, optional_output, output};
use crate::status::{Failure, sealwire_status};

/// The answer to a call, or an item of a stream.
///
/// Threads: never changes, so any number may use it at once.
pub struct sealwire_rpc_reply {
    body: Body,
}

impl sealwire_rpc_reply {
    pub(super) fn new(body: Body) -> Self {
        sealwire_rpc_reply { body }
    }
}

/// The bytes of an answer or item, which belong to it. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_reply_data(reply: Option<&sealwire_rpc_reply>) -> *const c_void {
    reply.map_or(std::ptr::null(), |reply| reply.body.as_ptr().cast())
}

/// How many bytes an answer or item has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_reply_size(reply: Option<&sealwire_rpc_reply>) -> usize {
    reply.map_or(0, |reply| reply.body.len())
}

/// Frees an answer or item. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_reply_free(reply: Option<Box<sealwire_rpc_reply>>) {
    free(reply);
}

/// The reason why a call failed, as far as it is known.
///
/// Threads: never changes, so any number may use it at once.
pub struct sealwire_rpc_error {
    status: sealwire_status,
    error: Error,
    text: CString,
}

/// The same number that the call returned; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_error_status(error: Option<&sealwire_rpc_error>) -> sealwire_status {
    error.map_or(0, |error| error.status)
}

/// The other side's code, after `SEALWIRE_ERROR_RPC_REMOTE`: 1 to 16 mean what they mean in gRPC, up
/// to 999 are the protocol's, and from 1,000 on the application's. 0 after other errors.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_error_code(error: Option<&sealwire_rpc_error>) -> u16 {
    let status = error.and_then(|error| error.error.status());
    status.map_or(0, |status| status.code.0)
}

/// Whether a handler may have seen the request. False is a promise: asking again does nothing twice.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_error_may_have_run(error: Option<&sealwire_rpc_error>) -> bool {
    error.is_some_and(|error| error.error.may_have_run())
}

/// What went wrong, in words; after `SEALWIRE_ERROR_RPC_REMOTE` what the other side says. NULL for
/// NULL. Belongs to the error.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_error_text(error: Option<&sealwire_rpc_error>) -> *const c_char {
    error.map_or(std::ptr::null(), |error| error.text.as_ptr())
}

/// What the other side adds for programs, whose number of bytes is written to `size` (where that is
/// not NULL). NULL where there is nothing. Belongs to the error.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_error_details(
    error: Option<&sealwire_rpc_error>,
    size: *mut usize,
) -> *const c_void {
    let status = error.and_then(|error| error.error.status());
    let details = status.map_or(&[][..], |status| &status.details);
    if let Ok(size) = output(size, "size") {
        size.write(details.len());
    }
    if details.is_empty() {
        return std::ptr::null();
    }
    details.as_ptr().cast()
}

/// Frees an error. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_error_free(error: Option<Box<sealwire_rpc_error>>) {
    free(error);
}

/// Where the outcome of a call goes.
pub(super) struct Outcome {
    reply: Output<*mut sealwire_rpc_reply>,
    error: Option<Output<*mut sealwire_rpc_error>>,
}

impl Outcome {
    pub(super) fn new(
        reply: *mut *mut sealwire_rpc_reply,
        error: *mut *mut sealwire_rpc_error,
    ) -> Result<Self, Failure> {
        Ok(Outcome {
            reply: output(reply, "reply")?,
            error: optional_output(error, "error")?,
        })
    }

    /// Gives the caller what came of the call.
    pub(super) fn settle(self, outcome: Result<Body, Error>) -> Result<(), Failure> {
        match outcome {
            Ok(body) => {
                self.reply.write(give(sealwire_rpc_reply::new(body)));
                Ok(())
            }
            Err(error) => Err(failed(error, self.error)),
        }
    }
}

/// The failure of a call, kept for the caller where that is wanted.
pub(super) fn failed(error: Error, out: Option<Output<*mut sealwire_rpc_error>>) -> Failure {
    let failure = Failure::from(error.clone());
    if let Some(out) = out {
        out.write(give(sealwire_rpc_error {
            status: failure.status(),
            text: match error.status() {
                Some(status) if !status.message.is_empty() => c_text(&status.message),
                _ => c_text(&error.to_string()),
            },
            error,
        }));
    }
    failure
}
