//! How a client and a connection call: with a copy of the caller's bytes, a time limit, and places for the outcome.

use std::ffi::c_void;
use std::time::Duration;

use sealwire_rpc::blocking::CallStream;
use sealwire_rpc::{Body, CallOptions, Error};

use super::answer::{Outcome, failed, sealwire_rpc_error, sealwire_rpc_reply};
use super::stream::sealwire_rpc_stream;
use crate::pointers::{bytes, give, optional_output, output};
use crate::status::Failure;
use crate::time::Wait;

/// What a caller gives for a call.
pub(super) struct Call {
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
}

impl Call {
    pub(super) fn new(data: *const c_void, size: usize, timeout_ms: i64) -> Self {
        Call {
            data,
            size,
            timeout_ms,
        }
    }

    fn parts(&self) -> Result<(&[u8], CallOptions<'static>), Failure> {
        let body = bytes(self.data.cast(), self.size, "data")?;
        let options = match Wait::from_ms(self.timeout_ms)? {
            Wait::Default => CallOptions::default(),
            Wait::No => CallOptions::within(Duration::ZERO),
            Wait::For(limit) => CallOptions::within(limit),
        };
        Ok((body, options))
    }

    pub(super) fn request(
        &self,
        reply: *mut *mut sealwire_rpc_reply,
        error: *mut *mut sealwire_rpc_error,
        request: impl FnOnce(&[u8], CallOptions<'_>) -> Result<Body, Error>,
    ) -> Result<(), Failure> {
        let (body, options) = self.parts()?;
        Outcome::new(reply, error)?.settle(request(body, options))
    }

    pub(super) fn open(
        &self,
        out: *mut *mut sealwire_rpc_stream,
        error: *mut *mut sealwire_rpc_error,
        open: impl FnOnce(&[u8], CallOptions<'_>) -> Result<CallStream, Error>,
    ) -> Result<(), Failure> {
        let (body, options) = self.parts()?;
        let out = output(out, "out")?;
        let error = optional_output(error, "error")?;
        let stream = open(body, options).map_err(|reason| failed(reason, error))?;
        out.write(give(sealwire_rpc_stream::new(stream)));
        Ok(())
    }
}

/// Sends a message that nobody answers.
pub(super) fn send(
    data: *const c_void,
    size: usize,
    error: *mut *mut sealwire_rpc_error,
    send: impl FnOnce(&[u8]) -> Result<(), Error>,
) -> Result<(), Failure> {
    let body = bytes(data.cast(), size, "data")?;
    let out = optional_output(error, "error")?;
    send(body).map_err(|error| failed(error, out))
}
