//! What a peer asks and says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, RModule, RString, Ruby, method};
use sealwire_rpc::{Code, Request as Inner, Status};

use super::conn::Conn;
use super::metadata::Metadata;
use crate::message::binary;
use crate::{classes, errors, waiting};

/// A request of a peer. Freed without an answer it is answered with an internal error.
#[magnus::wrap(class = "Sealwire::RPC::Request", free_immediately, size)]
pub(crate) struct Request {
    /// `None` once it is answered. Shared with threads that wait for its items.
    inner: Mutex<Option<Arc<Inner>>>,
}

/// A message of a peer that wants no answer. The peer may send more once this is freed or `done`.
#[magnus::wrap(class = "Sealwire::RPC::OneWay", free_immediately, size)]
pub(crate) struct OneWay {
    /// `None` once it is done with.
    inner: Mutex<Option<sealwire_rpc::OneWay>>,
    body: sealwire_rpc::Body,
    metadata: sealwire_rpc::Metadata<'static>,
    conn: sealwire_rpc::Conn,
}

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Request>(ruby, rpc, "Request")?;
    class.undef_default_alloc_func();
    class.define_method("body", method!(Request::body, 0))?;
    class.define_method("metadata", method!(Request::metadata, 0))?;
    class.define_method("conn", method!(Request::conn, 0))?;
    class.define_method("time_left", method!(Request::time_left, 0))?;
    class.define_method("cancelled?", method!(Request::is_cancelled, 0))?;
    class.define_method("streams?", method!(Request::has_streams, 0))?;
    class.define_method("answered?", method!(Request::is_answered, 0))?;
    class.define_method("reply", method!(Request::reply, 1))?;
    class.define_private_method("fail_with", method!(Request::fail_with, 4))?;
    class.define_method("next", method!(Request::next, 0))?;
    class.define_method("send", method!(Request::send, 1))?;

    let class = classes::define::<OneWay>(ruby, rpc, "OneWay")?;
    class.undef_default_alloc_func();
    class.define_method("body", method!(OneWay::body, 0))?;
    class.define_method("metadata", method!(OneWay::metadata, 0))?;
    class.define_method("conn", method!(OneWay::conn, 0))?;
    class.define_private_method("done", method!(OneWay::done, 0))
}

impl Request {
    pub(super) fn wrap(ruby: &Ruby, request: Inner) -> Obj<Self> {
        let inner = Mutex::new(Some(Arc::new(request)));
        ruby.obj_wrap(Request { inner })
    }

    fn inner(&self) -> MutexGuard<'_, Option<Arc<Inner>>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, ruby: &Ruby) -> Result<Arc<Inner>, Error> {
        let request = self.inner().clone();
        request.ok_or_else(|| answered(ruby))
    }

    fn take(&self, ruby: &Ruby) -> Result<Inner, Error> {
        let taken = self.inner().take();
        let request = taken.ok_or_else(|| answered(ruby))?;
        Arc::try_unwrap(request).map_err(|request| {
            *self.inner() = Some(request);
            let problem = "another thread waits for the items of this request";
            errors::state(ruby, problem.into())
        })
    }

    fn body(ruby: &Ruby, this: &Self) -> Result<RString, Error> {
        Ok(binary(ruby, this.get(ruby)?.body()))
    }

    fn conn(ruby: &Ruby, this: &Self) -> Result<Obj<Conn>, Error> {
        Ok(Conn::wrap(ruby, this.get(ruby)?.conn().clone()))
    }

    fn metadata(ruby: &Ruby, this: &Self) -> Result<Obj<Metadata>, Error> {
        Ok(Metadata::wrap(ruby, this.get(ruby)?.metadata()))
    }

    /// Seconds that the caller still waits; `nil` for ever.
    fn time_left(ruby: &Ruby, this: &Self) -> Result<Option<f64>, Error> {
        let left = this.get(ruby)?.time_left();
        Ok(left.map(|left| left.as_secs_f64()))
    }

    fn is_cancelled(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        Ok(this.get(ruby)?.is_cancelled())
    }

    fn has_streams(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        Ok(this.get(ruby)?.has_streams())
    }

    fn is_answered(&self) -> bool {
        self.inner().is_none()
    }

    fn reply(ruby: &Ruby, this: &Self, body: RString) -> Result<(), Error> {
        let body = super::bytes(body);
        super::sent(ruby, this.take(ruby)?.reply(&body))
    }

    fn fail_with(
        ruby: &Ruby,
        this: &Self,
        code: u16,
        message: String,
        details: RString,
        not_started: bool,
    ) -> Result<(), Error> {
        let status = Status::new(Code(code), message).with_details(super::bytes(details));
        let status = if not_started {
            status.not_started()
        } else {
            status
        };
        this.take(ruby)?.fail(status);
        Ok(())
    }

    /// The next item of the caller; `nil` when it sends no more.
    fn next(ruby: &Ruby, this: &Self) -> Result<Option<RString>, Error> {
        let request = this.get(ruby)?;
        let item = waiting::forever(ruby, request.next())?;
        Ok(item.map(|item| binary(ruby, &item)))
    }

    /// Waits for the caller to want one.
    fn send(ruby: &Ruby, this: &Self, item: RString) -> Result<(), Error> {
        let (request, item) = (this.get(ruby)?, super::bytes(item));
        let outcome = waiting::forever(ruby, request.send(&item))?;
        super::sent(ruby, outcome)
    }
}

fn answered(ruby: &Ruby) -> Error {
    errors::state(ruby, "the request has been answered".into())
}

impl OneWay {
    pub(super) fn wrap(ruby: &Ruby, message: sealwire_rpc::OneWay) -> Obj<Self> {
        let (body, conn) = (message.body().clone(), message.conn().clone());
        let metadata = message.metadata().into_owned();
        let inner = Mutex::new(Some(message));
        ruby.obj_wrap(OneWay {
            inner,
            body,
            metadata,
            conn,
        })
    }

    fn body(ruby: &Ruby, this: &Self) -> RString {
        binary(ruby, &this.body)
    }

    fn metadata(ruby: &Ruby, this: &Self) -> Obj<Metadata> {
        Metadata::wrap(ruby, this.metadata.borrowed())
    }

    fn conn(ruby: &Ruby, this: &Self) -> Obj<Conn> {
        Conn::wrap(ruby, this.conn.clone())
    }

    /// Its peer may send another one: the collector may take long to find this.
    fn done(&self) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let message = inner.take();
        drop(inner);
        drop(message);
    }
}
