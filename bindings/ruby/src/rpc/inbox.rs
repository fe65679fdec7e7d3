//! Where requests and one-way messages wait for Ruby.

use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{Class as _, Error, Module as _, Object as _, RModule, Ruby, Value, function, method};
use sealwire_rpc::handler::{self, Arrival};

use super::request::{OneWay, Request};
use crate::classes;
use crate::keys::frozen;
use crate::waiting;

#[magnus::wrap(
    class = "Sealwire::RPC::Inbox",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Inbox(pub(super) handler::Inbox);

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Inbox>(ruby, rpc, "Inbox")?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Inbox::new, 1))?;
    class.define_method("next", method!(Inbox::next, 0))?;
    class.define_method("waiting", method!(Inbox::waiting, 0))?;
    class.define_method("close", method!(Inbox::close, 0))
}

impl Inbox {
    fn new(ruby: &Ruby, requests: usize) -> Obj<Self> {
        frozen(ruby, Inbox(handler::Inbox::new(requests)))
    }

    /// A `Request` or `OneWay`; `nil` once it is closed and empty.
    fn next(ruby: &Ruby, this: &Self) -> Result<Option<Value>, Error> {
        let arrival = waiting::forever(ruby, this.0.next())?;
        Ok(arrival.map(|arrival| match arrival {
            Arrival::Request(request) => Request::wrap(ruby, request).as_value(),
            Arrival::Message(message) => OneWay::wrap(ruby, message).as_value(),
        }))
    }

    fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// Takes nothing new. What waits is still given out.
    fn close(&self) {
        self.0.close();
    }
}
