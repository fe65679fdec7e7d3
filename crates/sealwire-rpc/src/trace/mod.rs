//! The trace that a call belongs to, as the W3C's Trace Context says it (Recommendation, Level 1): the entries
//! `traceparent` and `tracestate` of the [metadata](crate::Metadata) of a call.
//!
//! This module reads and writes them and knows no tracer. An interceptor of the caller writes the context of the
//! span that is current there; the handler begins its own span as a child of what it reads, and calls that it makes
//! while that span is current carry the trace on. `tests/opentelemetry.rs` does this with OpenTelemetry's SDK.
//!
//! ```
//! use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
//! use sealwire_rpc::handler::Inline;
//! use sealwire_rpc::trace::TraceContext;
//! use sealwire_rpc::{Client, Code, Request, Server, Status};
//!
//! let keys = KeyPair::generate();
//! let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
//!     .build(Inline::new(|request: &Request| {
//!         let caller = TraceContext::of(&request.metadata()).ok_or(Code::INVALID_ARGUMENT)?;
//!         let own = caller.child([2; 8]); // of this side's span
//!         Ok::<_, Status>(own.to_string())
//!     }))?;
//! let client = Client::builder(Security::blake3_client(keys.public()))
//!     .intercept(|call| {
//!         let current: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
//!         let written = current.write(&mut call.metadata);
//!         written.map_err(|error| Status::new(Code::INTERNAL, error.to_string()))
//!     })
//!     .build(server.bind("tcp://127.0.0.1:0")?)?
//!     .blocking();
//! let answer = client.request(b"")?;
//! assert_eq!(&answer[..], b"00-0af7651916cd43dd8448eb211c80319c-0202020202020202-01");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parent;
mod state;

use std::fmt;

use tracing::field::DisplayValue;

pub use self::parent::{InvalidTraceParent, TraceContext};
pub use self::state::{InvalidTraceState, TraceState};
use crate::proto::Metadata;

/// The key of the entry that names the trace and the caller's span.
pub const TRACEPARENT: &str = "traceparent";
/// The key of the entries of tracing systems.
pub const TRACESTATE: &str = "tracestate";

/// Writes octets as lowercase hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// The trace of a call, for spans in the log.
struct TraceId([u8; 16]);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

/// The trace that metadata names, for spans in the log.
pub(crate) fn id_of(metadata: &Metadata<'_>) -> Option<DisplayValue<impl fmt::Display + use<>>> {
    let context = TraceContext::parent_of(metadata)?;
    Some(tracing::field::display(TraceId(context.trace_id())))
}
