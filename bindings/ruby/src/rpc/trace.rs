//! The trace that a call belongs to, as the W3C's Trace Context says it, in its metadata.

use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, Object as _, RModule, RString, Ruby, TryConvert as _, Value,
    function, method,
};
use sealwire_rpc::trace::TraceContext as Inner;

use super::metadata::{Metadata, given, refused};
use crate::keys::frozen;
use crate::message::binary;
use crate::{classes, errors};

#[magnus::wrap(
    class = "Sealwire::RPC::TraceContext",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct TraceContext(Inner);

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<TraceContext>(ruby, rpc, "TraceContext")?;
    class.undef_default_alloc_func();
    class.define_singleton_method("make", function!(make, 2))?;
    class.define_singleton_method("of", function!(of, 1))?;
    class.define_private_method("child_of", method!(TraceContext::child_of, 1))?;
    class.define_private_method("written", method!(TraceContext::written, 1))?;
    class.define_method("traceparent", method!(TraceContext::traceparent, 0))?;
    class.define_method("to_s", method!(TraceContext::traceparent, 0))?;
    class.define_method("tracestate", method!(TraceContext::tracestate, 0))?;
    class.define_method("trace_id", method!(TraceContext::trace_id, 0))?;
    class.define_method("parent_id", method!(TraceContext::parent_id, 0))?;
    class.define_method("sampled?", method!(TraceContext::is_sampled, 0))?;
    class.define_method("==", method!(TraceContext::equal, 1))?;
    class.define_method("inspect", method!(TraceContext::inspect, 0))
}

fn make(ruby: &Ruby, traceparent: String, tracestate: String) -> Result<Obj<TraceContext>, Error> {
    let context: Inner = (traceparent.parse())
        .map_err(|error: sealwire_rpc::trace::InvalidTraceParent| invalid(ruby, error))?;
    let state = (tracestate.parse())
        .map_err(|error: sealwire_rpc::trace::InvalidTraceState| invalid(ruby, error))?;
    Ok(frozen(ruby, TraceContext(context.with_state(state))))
}

fn invalid(ruby: &Ruby, problem: impl ToString) -> Error {
    errors::argument(ruby, problem.to_string())
}

/// `nil` unless there is exactly one valid parent.
fn of(ruby: &Ruby, metadata: Value) -> Result<Option<Obj<TraceContext>>, Error> {
    let context = Inner::of(&given(ruby, metadata)?);
    Ok(context.map(|context| frozen(ruby, TraceContext(context))))
}

impl TraceContext {
    /// With a random identifier for `nil`.
    fn child_of(ruby: &Ruby, this: &Self, span_id: Option<RString>) -> Result<Obj<Self>, Error> {
        let child = match span_id {
            None => (this.0.random_child())
                .map_err(|error| errors::raised(ruby, &sealwire::Error::System(error)))?,
            Some(span_id) => {
                let span_id = crate::bytes::array::<8>(ruby, span_id, "a span id")?;
                let child = this.0.checked_child(span_id);
                child.ok_or_else(|| invalid(ruby, "a span id of 0 stands for no span"))?
            }
        };
        Ok(frozen(ruby, TraceContext(child)))
    }

    fn written(ruby: &Ruby, this: &Self, metadata: Value) -> Result<Obj<Metadata>, Error> {
        let mut metadata = given(ruby, metadata)?;
        let written = this.0.write(&mut metadata);
        written.map_err(|error| refused(ruby, &error))?;
        Ok(Metadata::wrap(ruby, metadata))
    }

    fn traceparent(&self) -> String {
        self.0.to_string()
    }

    fn tracestate(&self) -> String {
        self.0.state().to_string()
    }

    fn trace_id(ruby: &Ruby, this: &Self) -> RString {
        binary(ruby, &this.0.trace_id())
    }

    fn parent_id(ruby: &Ruby, this: &Self) -> RString {
        binary(ruby, &this.0.parent_id())
    }

    fn is_sampled(&self) -> bool {
        self.0.is_sampled()
    }

    fn equal(&self, other: Value) -> bool {
        Obj::<Self>::try_convert(other).is_ok_and(|other| other.0 == self.0)
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::RPC::TraceContext {}>", self.0)
    }
}
