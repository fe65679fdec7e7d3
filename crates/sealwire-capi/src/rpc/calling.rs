//! How a client and a connection call: with a copy of the caller's bytes, metadata, a time limit, and places for the
//! outcome.

use std::ffi::c_void;
use std::time::Duration;

use sealwire_rpc::blocking::CallStream;
use sealwire_rpc::{Body, CallOptions, Error};

use super::answer::{Outcome, failed, sealwire_rpc_error, sealwire_rpc_reply};
use super::metadata::sealwire_rpc_metadata;
use super::stream::sealwire_rpc_stream;
use crate::pointers::{bytes, give, optional_output, output};
use crate::socket::SEALWIRE_WAIT;
use crate::status::Failure;
use crate::time::Wait;

/// What a caller gives for a call or message.
pub(super) struct Call<'a> {
    data: *const c_void,
    size: usize,
    metadata: Option<&'a sealwire_rpc_metadata>,
    timeout_ms: i64,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        data: *const c_void,
        size: usize,
        metadata: Option<&'a sealwire_rpc_metadata>,
        timeout_ms: i64,
    ) -> Self {
        Call {
            data,
            size,
            metadata,
            timeout_ms,
        }
    }

    /// A message that nobody answers, which waits for room as long as the client or server says.
    pub(super) fn one_way(
        data: *const c_void,
        size: usize,
        metadata: Option<&'a sealwire_rpc_metadata>,
    ) -> Self {
        Call::new(data, size, metadata, SEALWIRE_WAIT)
    }

    fn parts(&self) -> Result<(&[u8], CallOptions<'a>), Failure> {
        let body = bytes(self.data.cast(), self.size, "data")?;
        let options = CallOptions {
            limit: match Wait::from_ms(self.timeout_ms)? {
                Wait::Default => None,
                Wait::No => Some(Duration::ZERO),
                Wait::For(limit) => Some(limit),
            },
            metadata: self.metadata.map(sealwire_rpc_metadata::metadata),
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

    /// Sends a message that nobody answers.
    pub(super) fn send(
        &self,
        error: *mut *mut sealwire_rpc_error,
        send: impl FnOnce(&[u8], CallOptions<'_>) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let (body, options) = self.parts()?;
        let out = optional_output(error, "error")?;
        send(body, options).map_err(|error| failed(error, out))
    }
}
