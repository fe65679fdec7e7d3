//! A task that a worker has taken.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, RModule, RString, Ruby, method};
use sealwire_rpc::work;

use crate::message::binary;
use crate::process::OfProcess;
use crate::{classes, errors};

/// One that is freed without an outcome has failed.
#[magnus::wrap(class = "Sealwire::Task", free_immediately, size)]
pub(super) struct Task {
    number: work::TaskNumber,
    attempt: u32,
    max_result: usize,
    body: sealwire::Frame,
    /// `None` once it has an outcome.
    inner: OfProcess<Mutex<Option<work::Task>>>,
}

pub(super) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Task>(ruby, sealwire, "Task")?;
    class.undef_default_alloc_func();
    class.define_method("number", method!(Task::number, 0))?;
    class.define_method("attempt", method!(Task::attempt, 0))?;
    class.define_method("body", method!(Task::body, 0))?;
    class.define_method("max_result", method!(Task::max_result, 0))?;
    class.define_method("ended?", method!(Task::has_ended, 0))?;
    class.define_private_method("done_with", method!(Task::done_with, 1))?;
    class.define_private_method("fail_with", method!(Task::fail_with, 1))?;
    class.define_method("give_back", method!(Task::give_back, 0))
}

impl Task {
    pub(super) fn wrap(ruby: &Ruby, task: work::Task) -> Obj<Self> {
        ruby.obj_wrap(Task {
            number: task.number(),
            attempt: task.attempt(),
            max_result: task.max_result(),
            body: task.body().clone().into(),
            inner: OfProcess::new(Mutex::new(Some(task))),
        })
    }

    fn slot(&self, ruby: &Ruby) -> Result<MutexGuard<'_, Option<work::Task>>, Error> {
        let inner = self.inner.get(ruby)?;
        Ok(inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take(&self, ruby: &Ruby) -> Result<work::Task, Error> {
        let task = self.slot(ruby)?.take();
        task.ok_or_else(|| errors::state(ruby, "the task has an outcome already".into()))
    }

    fn number(ruby: &Ruby, this: &Self) -> RString {
        super::number(ruby, this.number)
    }

    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn body(ruby: &Ruby, this: &Self) -> RString {
        binary(ruby, &this.body)
    }

    fn max_result(&self) -> usize {
        self.max_result
    }

    fn has_ended(ruby: &Ruby, this: &Self) -> Result<bool, Error> {
        Ok(this.slot(ruby)?.is_none())
    }

    fn done_with(ruby: &Ruby, this: &Self, result: RString) -> Result<(), Error> {
        let result = super::bytes(result);
        let task = this.take(ruby)?;
        super::failed(ruby, task.done_with(result))
    }

    fn fail_with(ruby: &Ruby, this: &Self, reason: String) -> Result<(), Error> {
        this.take(ruby)?.fail(&reason);
        Ok(())
    }

    fn give_back(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        this.take(ruby)?.give_back();
        Ok(())
    }
}
