//! A trace through two servers, with OpenTelemetry's SDK: the spans of all three processes' code are one trace, and
//! each has the right parent. A binary of its own: the SDK's current context belongs to threads.

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::HashMap;
use std::sync::Arc;

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState,
    Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, InstrumentationScope};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracer, SdkTracerProvider, SpanData};
use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::trace::TraceContext;
use sealwire_rpc::{Code, Metadata, Outgoing, Request, Status, blocking};
use support::{Scene, bind};

/// What a caller's interceptor does: the call carries the span that is current where it is made.
fn inject(call: &mut Outgoing<'_>) -> Result<(), Status> {
    let context = Context::current();
    let span = context.span();
    let span = span.span_context();
    let current = TraceContext::new(
        span.trace_id().to_bytes(),
        span.span_id().to_bytes(),
        span.is_sampled(),
    );
    // Outside of all spans there is nothing to carry.
    let Some(current) = current else {
        return Ok(());
    };
    let state = span.trace_state().header().parse().unwrap_or_default();
    let written = current.with_state(state).write(&mut call.metadata);
    written.map_err(|error| Status::new(Code::INTERNAL, error.to_string()))
}

/// What a handler does: its span is a child of the caller's.
fn extract(metadata: &Metadata<'_>) -> Context {
    let Some(caller) = TraceContext::of(metadata) else {
        return Context::new();
    };
    let members = caller.state().iter();
    let state = TraceState::from_key_value(members).unwrap_or_default();
    Context::new().with_remote_span_context(SpanContext::new(
        TraceId::from_bytes(caller.trace_id()),
        SpanId::from_bytes(caller.parent_id()),
        TraceFlags::default().with_sampled(caller.is_sampled()),
        true,
        state,
    ))
}

/// Runs what belongs to the request in a span of this side.
fn serve<T>(
    tracer: &SdkTracer,
    name: &'static str,
    request: &Request,
    run: impl FnOnce() -> T,
) -> T {
    let span = tracer
        .span_builder(name)
        .with_kind(SpanKind::Server)
        .start_with_context(tracer, &extract(&request.metadata()));
    let _current = Context::current_with_span(span).attach();
    run()
}

#[test]
fn spans_of_a_client_and_two_servers_are_one_trace() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let tracer = provider.tracer_with_scope(InstrumentationScope::builder("test").build());

    let scene = Scene::new();
    let second_tracer = tracer.clone();
    let second = Inline::new(move |request: &Request| {
        serve(&second_tracer, "second server", request, || {
            let context = TraceContext::of(&request.metadata());
            Ok::<_, Status>(context.map_or(String::new(), |context| context.state().to_string()))
        })
    });
    let second = scene.server().build(second).unwrap();
    let to_second = scene
        .client()
        .intercept(inject)
        .build(bind(&second))
        .unwrap();
    let (first_tracer, to_second) = (tracer.clone(), Arc::new(to_second.blocking()));
    let first = Pool::new(2, 8, move |request: &Request| {
        serve(&first_tracer, "first server", request, || {
            call(&first_tracer, "call of the first server", &to_second)
        })
    });
    let first = scene.server().build(first.unwrap()).unwrap();
    let client = scene
        .client()
        .intercept(inject)
        .build(bind(&first))
        .unwrap();
    let client = client.blocking();

    // Two traces, so that one that all calls share would be seen.
    for state in ["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", ""] {
        exporter.reset();
        let root = remote(state).attach();
        let answer = call(&tracer, "call of the client", &client).unwrap();
        drop(root);
        assert_eq!(answer, state);
        provider.force_flush().unwrap();
        let spans = exporter.get_finished_spans().unwrap();
        let by_name: HashMap<_, _> = spans.iter().map(|span| (&*span.name, span)).collect();
        assert_eq!(by_name.len(), 4, "{spans:?}");
        let names = [
            "call of the client",
            "first server",
            "call of the first server",
            "second server",
        ];
        for (parent, child) in names.iter().zip(&names[1..]) {
            assert_parent(by_name[parent], by_name[child]);
        }
        let remote: Vec<_> = names
            .iter()
            .map(|name| by_name[name].parent_span_is_remote)
            .collect();
        assert_eq!(remote[1..], [true, false, true]);
    }

    // Without a span nothing is carried, and the servers' spans begin traces.
    exporter.reset();
    assert_eq!(&client.request(b"").unwrap()[..], b"");
    provider.force_flush().unwrap();
    let spans = exporter.get_finished_spans().unwrap();
    let root = spans
        .iter()
        .find(|span| span.name == "first server")
        .unwrap();
    assert_eq!(root.parent_span_id, SpanId::INVALID);
}

/// A context with a state, as somebody further up has begun the trace; each with identifiers of its own.
fn remote(state: &str) -> Context {
    let octet = 1 + u8::from(state.is_empty());
    let members = state.split(',').filter_map(|member| member.split_once('='));
    Context::new().with_remote_span_context(SpanContext::new(
        TraceId::from_bytes([octet; 16]),
        SpanId::from_bytes([octet; 8]),
        TraceFlags::SAMPLED,
        true,
        TraceState::from_key_value(members).unwrap(),
    ))
}

/// Calls in a span.
fn call(
    tracer: &SdkTracer,
    name: &'static str,
    client: &blocking::Client,
) -> Result<String, Status> {
    let span = tracer.span_builder(name).with_kind(SpanKind::Client);
    let span = span.start_with_context(tracer, &Context::current());
    let _current = Context::current_with_span(span).attach();
    let answer = client.request(b"");
    let answer = answer.map_err(|error| Status::new(Code::ABORTED, error.to_string()))?;
    Ok(String::from_utf8(answer.to_vec()).unwrap())
}

fn assert_parent(parent: &SpanData, child: &SpanData) {
    let (up, down) = (&parent.span_context, &child.span_context);
    assert_eq!(
        up.trace_id(),
        down.trace_id(),
        "{} and {}",
        parent.name,
        child.name
    );
    assert_eq!(
        child.parent_span_id,
        up.span_id(),
        "{} of {}",
        child.name,
        parent.name
    );
    assert_ne!(up.span_id(), down.span_id());
}
