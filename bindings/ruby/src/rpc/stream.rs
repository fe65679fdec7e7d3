//! The caller's end of a call with streams.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, RModule, RString, Ruby, method};
use sealwire_rpc::CallStream;

use super::errors;
use crate::classes;
use crate::message::binary;
use crate::waiting;

/// A call with a stream of items in each direction. Closed or dropped before its answer it is cancelled.
#[magnus::wrap(class = "Sealwire::RPC::Stream", free_immediately, size)]
pub(crate) struct Stream {
    /// `None` once the answer was asked for. Shared with threads that wait for items.
    inner: Mutex<Option<Arc<CallStream>>>,
}

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Stream>(ruby, rpc, "Stream")?;
    class.undef_default_alloc_func();
    class.define_method("send", method!(Stream::send, 1))?;
    class.define_method("finish", method!(Stream::finish, 0))?;
    class.define_method("next", method!(Stream::next, 0))?;
    class.define_method("answer", method!(Stream::answer, 0))?;
    class.define_method("close", method!(Stream::close, 0))
}

impl Stream {
    pub(super) fn opened(
        ruby: &Ruby,
        opened: Result<CallStream, sealwire_rpc::Error>,
    ) -> Result<Obj<Self>, Error> {
        let stream = opened.map_err(|error| errors::raised(ruby, &error))?;
        let inner = Mutex::new(Some(Arc::new(stream)));
        Ok(ruby.obj_wrap(Stream { inner }))
    }

    fn inner(&self) -> MutexGuard<'_, Option<Arc<CallStream>>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, ruby: &Ruby) -> Result<Arc<CallStream>, Error> {
        let stream = self.inner().clone();
        stream.ok_or_else(|| errors::stream_ended(ruby))
    }

    /// Waits for the other side to want one.
    fn send(ruby: &Ruby, this: &Self, item: RString) -> Result<(), Error> {
        let (stream, item) = (this.get(ruby)?, super::bytes(item));
        let outcome = waiting::forever(ruby, stream.send(&item))?;
        super::sent(ruby, outcome)
    }

    fn finish(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.get(ruby)?.finish();
        Ok(())
    }

    /// `nil` when there are no more.
    fn next(ruby: &Ruby, this: &Self) -> Result<Option<RString>, Error> {
        let stream = this.get(ruby)?;
        let item = waiting::forever(ruby, stream.next())?;
        Ok(item.map(|item| binary(ruby, &item)))
    }

    fn answer(ruby: &Ruby, this: &Self) -> Result<RString, Error> {
        let taken = this.inner().take();
        let stream = taken.ok_or_else(|| errors::stream_ended(ruby))?;
        let stream = Arc::try_unwrap(stream).map_err(|stream| {
            *this.inner() = Some(stream);
            crate::errors::state(ruby, "another thread waits for this stream".into())
        })?;
        let answer = waiting::forever(ruby, stream.answer())?;
        super::answered(ruby, answer)
    }

    /// Cancels the call, unless it was answered.
    fn close(&self) {
        let stream = self.inner().take();
        drop(stream);
    }
}
