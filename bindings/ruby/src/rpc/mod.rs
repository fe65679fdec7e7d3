//! Calls: clients, servers and what they exchange. Handlers of Ruby are not called from threads of Rust:
//! requests wait in an [`inbox`] until a thread of Ruby takes them.

mod calling;
mod client;
mod conn;
mod errors;
mod inbox;
mod limits;
mod metadata;
mod request;
mod server;
mod side;
mod stream;
mod trace;

use magnus::{Error, Module as _, RHash, RModule, RString, Ruby};
use sealwire_rpc::Body;

use crate::message::binary;

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let rpc = sealwire.define_module("RPC")?;
    errors::define(ruby, sealwire, rpc)?;
    inbox::define(ruby, rpc)?;
    metadata::define(ruby, rpc)?;
    trace::define(ruby, rpc)?;
    conn::define(ruby, rpc)?;
    stream::define(ruby, rpc)?;
    request::define(ruby, rpc)?;
    client::define(ruby, rpc)?;
    server::define(ruby, rpc)
}

/// A copy: Ruby runs, and may change the string, while it is sent.
fn bytes(body: RString) -> Vec<u8> {
    crate::bytes::with(body, <[u8]>::to_vec)
}

/// The bytes of an answer, or what became of the call.
fn answered(ruby: &Ruby, answer: Result<Body, sealwire_rpc::Error>) -> Result<RString, Error> {
    match answer {
        Ok(body) => Ok(binary(ruby, &body)),
        Err(error) => Err(errors::raised(ruby, &error)),
    }
}

fn sent(ruby: &Ruby, outcome: Result<(), sealwire_rpc::Error>) -> Result<(), Error> {
    outcome.map_err(|error| errors::raised(ruby, &error))
}

fn counters(ruby: &Ruby, counters: sealwire_rpc::Counters) -> RHash {
    let numbers = [
        ("calls", counters.calls),
        ("calls_failed", counters.calls_failed),
        ("calls_retried", counters.calls_retried),
        ("messages_sent", counters.messages_sent),
        ("requests", counters.requests),
        ("messages_received", counters.messages_received),
        ("answers_too_late", counters.answers_too_late),
        ("connections", counters.connections),
        ("violations", counters.violations),
        ("connections_refused", counters.connections_refused),
        ("connections_silent", counters.connections_silent),
        ("requests_refused", counters.requests_refused),
        ("peers_paused", counters.peers_paused),
        ("panics", counters.panics),
    ];
    let numbers = numbers.into_iter();
    ruby.hash_from_iter(numbers.map(|(name, number)| (ruby.sym_new(name), number)))
}
