//! The side that takes tasks.

use std::time::Duration;

use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, RHash, RModule, Ruby, TryConvert as _, Value, method,
};
use sealwire_rpc::work;

use super::task::Task;
use crate::context::Context;
use crate::made::Made;
use crate::monitor::Monitor;
use crate::security::Security;
use crate::{classes, gvl, options, waiting};

#[magnus::wrap(class = "Sealwire::Worker", free_immediately, size)]
#[derive(Default)]
struct Worker(Made<work::Worker>);

pub(super) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Worker>(ruby, sealwire, "Worker")?;
    class.define_alloc_func::<Worker>();
    class.define_private_method("make", method!(Worker::make, 4))?;
    class.define_method("try_take", method!(Worker::try_take, 0))?;
    class.define_private_method("take_within", method!(Worker::take_within, 1))?;
    class.define_private_method("leave_within", method!(Worker::leave_within, 1))?;
    class.define_method("connected?", method!(Worker::is_connected, 0))?;
    class.define_method("counters", method!(Worker::counters, 0))?;
    class.define_method("monitor", method!(Worker::monitor, 0))
}

impl Worker {
    fn make(
        ruby: &Ruby,
        this: &Self,
        endpoint: String,
        security: &Security,
        context: Option<Obj<Context>>,
        options: RHash,
    ) -> Result<(), Error> {
        let context = Context::or_shared(ruby, context)?;
        let builder =
            work::Worker::builder(security.inner()).socket(|socket| socket.context(&context));
        let known = "credit, credit_bytes, max_task, silence_limit";
        let builder = super::configured(ruby, builder, options, known, |builder, name, value| {
            Ok(Some(match name {
                "credit" => builder.credit(u32::try_convert(value)?),
                "credit_bytes" => builder.credit_bytes(u32::try_convert(value)?),
                "max_task" => builder.max_task(u32::try_convert(value)?),
                "silence_limit" => builder.silence_limit(super::time(ruby, name, value)?),
                _ => return Ok(None),
            }))
        })?;
        let worker = super::failed(ruby, builder.build(endpoint.as_str()))?;
        this.0.set(ruby, worker)
    }

    fn try_take(ruby: &Ruby, this: &Self) -> Result<Option<Obj<Task>>, Error> {
        match this.0.get(ruby)?.try_take() {
            Err(work::Error::WouldBlock) => Ok(None),
            taken => Ok(Some(Task::wrap(ruby, super::failed(ruby, taken)?))),
        }
    }

    fn take_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<Obj<Task>, Error> {
        let task = super::waited(ruby, this.0.get(ruby)?.take(), limit)?;
        Ok(Task::wrap(ruby, task))
    }

    /// At the limit the worker ends as well.
    fn leave_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<(), Error> {
        let worker = this.0.get(ruby)?;
        let limit = options::seconds(ruby, "timeout", limit)?;
        let left = match limit {
            None => Some(waiting::forever(ruby, worker.leave())?),
            Some(_) => waiting::within(ruby, worker.leave(), limit)?,
        };
        let left = left.unwrap_or_else(|| {
            // It has ended in any case, in time or not.
            let _ = gvl::lent(ruby, || worker.leave_blocking(Some(Duration::ZERO)));
            Err(work::Error::TimedOut)
        });
        super::failed(ruby, left)
    }

    fn is_connected(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        Ok(this.0.get(ruby)?.is_connected())
    }

    fn counters(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let counters = this.0.get(ruby)?.counters();
        let numbers = [
            ("received", counters.received),
            ("taken", counters.taken),
            ("done", counters.done),
            ("failed", counters.failed),
            ("returned", counters.returned),
            ("dropped", counters.dropped),
            ("untold", counters.untold),
            ("connections", counters.connections),
            ("violations", counters.violations),
        ];
        Ok(super::counters(ruby, &numbers))
    }

    fn monitor(ruby: &Ruby, this: &Self) -> Result<Obj<Monitor>, Error> {
        Ok(Monitor::wrap(ruby, this.0.get(ruby)?.monitor()))
    }
}
