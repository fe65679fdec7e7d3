//! What subscribers of `tracing` hear of calls. A binary of its own: whether a place is of interest
//! to anybody is found out where it is first come to, by whichever thread that is.

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::sync::{Arc, Mutex};

use sealwire_rpc::handler::Inline;
use sealwire_rpc::{CallOptions, Code, Metadata, Request, Status};
use support::Scene;
use tracing::field::{Field, Visit};
use tracing::span;

/// Writes down what spans say.
#[derive(Clone, Default)]
struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Visit for Recorder {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.lines
            .lock()
            .unwrap()
            .push(format!("{field} {value:?}"));
    }
}

impl tracing::Subscriber for Recorder {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "sealwire::rpc" && metadata.is_span()
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let name = attributes.metadata().name();
        self.lines.lock().unwrap().push(format!("new {name}"));
        attributes.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn try_close(&self, _: span::Id) -> bool {
        self.lines.lock().unwrap().push("closed".into());
        true
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_call_is_a_span_with_its_outcome() {
    let handle = |request: &Request| match request.body().is_empty() {
        true => Ok(b"".to_vec()),
        false => Err(Status::from(Code::NOT_FOUND)),
    };
    let (_server, client) = Scene::new().pair(Inline::new(handle));
    let conn = client.blocking().conn().unwrap();
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), || {
        conn.request(b"12345").unwrap_err();
        let mut metadata = Metadata::new();
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        metadata.insert("traceparent", parent).unwrap();
        let options = CallOptions::default().with_metadata(&metadata);
        conn.request_with(b"", options).unwrap();
    });
    let lines = recorder.lines.lock().unwrap();
    let of = |start| lines.iter().filter(move |line| line.starts_with(start));
    assert_eq!(of("new call").count(), 2, "{lines:?}");
    assert_eq!(of("closed").count(), 2, "{lines:?}");
    assert_eq!(of("bytes").collect::<Vec<_>>(), ["bytes 5", "bytes 0"]);
    let traces: Vec<_> = of("trace_id").collect();
    assert_eq!(traces, ["trace_id 0af7651916cd43dd8448eb211c80319c"]);
    let outcomes: Vec<_> = of("outcome").collect();
    assert_eq!(outcomes, ["outcome not found", "outcome \"ok\""]);
}
