//! The trace that a call belongs to, as the W3C's Trace Context says it, in its metadata.

use std::ffi::{CString, c_char};

use sealwire_rpc::trace::TraceContext;

use super::metadata::sealwire_rpc_metadata;
use crate::panics::{free, guard};
use crate::pointers::{array, c_text, give, optional_text, output, required, text};
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_SYSTEM, sealwire_status};

/// The size of the identifier of a span, in bytes.
pub const SEALWIRE_SPAN_ID_SIZE: usize = 8;

/// The trace that a call belongs to, and the span that it is made from: `traceparent` and `tracestate` of the
/// W3C's Trace Context (Recommendation, Level 1).
///
/// Threads: never changes, so any number may use it at once.
pub struct sealwire_rpc_trace {
    context: TraceContext,
    parent: CString,
    state: CString,
}

impl From<TraceContext> for sealwire_rpc_trace {
    fn from(context: TraceContext) -> Self {
        sealwire_rpc_trace {
            parent: c_text(&context.to_string()),
            state: c_text(context.state().as_str()),
            context,
        }
    }
}

fn refused(problem: impl ToString) -> Failure {
    Failure::new(SEALWIRE_ERROR_ARGUMENT, problem.to_string())
}

/// The trace that these texts name, as a tracer writes them; `tracestate` may be NULL for none. Free it with
/// `sealwire_rpc_trace_free`.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` if they are not valid, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_trace_new(
    traceparent: *const c_char,
    tracestate: *const c_char,
    out: *mut *mut sealwire_rpc_trace,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let context: TraceContext = text(traceparent, "traceparent")?.parse().map_err(refused)?;
        let state = optional_text(tracestate, "tracestate")?.unwrap_or_default();
        let context = context.with_state(state.parse().map_err(refused)?);
        out.write(give(context.into()));
        Ok(())
    })
}

/// The trace that metadata names, to be freed with `sealwire_rpc_trace_free`. As the standard says, NULL is
/// written to `out` unless there is exactly one `traceparent` and it is valid, and a `tracestate` that is not
/// valid is left out: a handler serves such calls as well.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_trace(
    metadata: Option<&sealwire_rpc_metadata>,
    out: *mut *mut sealwire_rpc_trace,
) -> sealwire_status {
    guard(|| {
        let metadata = required(metadata, "metadata")?;
        let out = output(out, "out")?;
        let context = TraceContext::of(metadata.metadata());
        out.write(context.map_or(std::ptr::null_mut(), |context| give(context.into())));
        Ok(())
    })
}

/// The same trace with a span of this side in the place of the caller's, for calls that are made from it:
/// `span_id` is its identifier, `SEALWIRE_SPAN_ID_SIZE` bytes that are not all 0. NULL chooses a random one, for
/// a side without a tracer. Free the child with `sealwire_rpc_trace_free`.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` if all bytes are 0, `SEALWIRE_ERROR_SYSTEM` without randomness,
/// `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_trace_child(
    trace: Option<&sealwire_rpc_trace>,
    span_id: *const u8,
    out: *mut *mut sealwire_rpc_trace,
) -> sealwire_status {
    guard(|| {
        let caller = &required(trace, "trace")?.context;
        let out = output(out, "out")?;
        let child = if span_id.is_null() {
            let child = caller.random_child();
            child.map_err(|error| Failure::new(SEALWIRE_ERROR_SYSTEM, error.to_string()))?
        } else {
            let span_id = array::<SEALWIRE_SPAN_ID_SIZE>(span_id, "span_id")?;
            let zero = || refused("span_id is 0, which stands for no span");
            caller.checked_child(*span_id).ok_or_else(zero)?
        };
        out.write(give(child.into()));
        Ok(())
    })
}

/// Writes the trace into metadata, in the place of one that is there. Of a `tracestate` for which there is no
/// room 512 characters are written, as the standard says.
///
/// Errors: `SEALWIRE_ERROR_RPC_METADATA` if there is no room for it, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_metadata_set_trace(
    metadata: Option<&mut sealwire_rpc_metadata>,
    trace: Option<&sealwire_rpc_trace>,
) -> sealwire_status {
    guard(|| {
        let metadata = required(metadata, "metadata")?;
        let context = &required(trace, "trace")?.context;
        metadata.change(|metadata| context.write(metadata))
    })
}

/// The text of `traceparent`: version 00, 55 characters. NULL for NULL. Belongs to the trace.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_trace_parent(trace: Option<&sealwire_rpc_trace>) -> *const c_char {
    trace.map_or(std::ptr::null(), |trace| trace.parent.as_ptr())
}

/// The text of `tracestate`, which is empty if there is none. NULL for NULL. Belongs to the trace.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_trace_state(trace: Option<&sealwire_rpc_trace>) -> *const c_char {
    trace.map_or(std::ptr::null(), |trace| trace.state.as_ptr())
}

/// Frees a trace. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_rpc_trace_free(trace: Option<Box<sealwire_rpc_trace>>) {
    free(trace);
}
