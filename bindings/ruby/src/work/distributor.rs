//! The side that hands tasks out.

use std::time::Duration;

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Class as _, Error, Module as _, RArray, RHash, RModule, RString, Ruby, TryConvert as _, Value,
    method,
};
use sealwire_rpc::work::{self, Outcome};

use super::{failed, number, numbered, unfinished, waited};
use crate::context::Context;
use crate::descriptor::Given;
use crate::made::Made;
use crate::message::binary;
use crate::monitor::Monitor;
use crate::security::Security;
use crate::{classes, errors, gvl, options, waiting};

#[magnus::wrap(class = "Sealwire::Distributor", free_immediately, size)]
#[derive(Default)]
struct Distributor(Made<work::Distributor>);

pub(super) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Distributor>(ruby, sealwire, "Distributor")?;
    class.define_alloc_func::<Distributor>();
    class.define_private_method("make", method!(Distributor::make, 3))?;
    class.define_method("bind", method!(Distributor::bind, 1))?;
    class.define_method("bind_listener", method!(Distributor::bind_listener, -1))?;
    class.define_method("try_add", method!(Distributor::try_add, 1))?;
    class.define_private_method("add_within", method!(Distributor::add_within, 2))?;
    class.define_method("next_result", method!(Distributor::next_result, 0))?;
    class.define_private_method("outcome_now", method!(Distributor::outcome_now, 0))?;
    class.define_private_method("outcome_within", method!(Distributor::outcome_within, 1))?;
    class.define_private_method("aside", method!(Distributor::aside, 0))?;
    class.define_method("put_back", method!(Distributor::put_back, 1))?;
    class.define_private_method("dropped", method!(Distributor::dropped, 1))?;
    class.define_private_method("join_within", method!(Distributor::join_within, 1))?;
    class.define_private_method("end_within", method!(Distributor::end_within, 1))?;
    class.define_method("counters", method!(Distributor::counters, 0))?;
    class.define_method("monitor", method!(Distributor::monitor, 0))
}

/// Number, result and `nil`, or number, `nil` and the task that was set aside.
fn told(ruby: &Ruby, outcome: Outcome) -> Result<RArray, Error> {
    let array = ruby.ary_new();
    match outcome {
        Outcome::Done { number: of, result } => {
            array.push(number(ruby, of))?;
            array.push(binary(ruby, &result))?;
            array.push(ruby.qnil())?;
        }
        Outcome::SetAside(task) => {
            array.push(number(ruby, task.number))?;
            array.push(ruby.qnil())?;
            array.push(unfinished(ruby, task)?)?;
        }
        _ => {
            let problem = "an outcome that has no form here yet";
            return Err(errors::unsupported(ruby, problem.into()));
        }
    }
    Ok(array)
}

impl Distributor {
    fn make(
        ruby: &Ruby,
        this: &Self,
        security: &Security,
        context: Option<Obj<Context>>,
        options: RHash,
    ) -> Result<(), Error> {
        let context = Context::or_shared(ruby, context)?;
        let builder =
            work::Distributor::builder(security.inner()).socket(|socket| socket.context(&context));
        let known = "max_tasks, max_bytes, max_task, max_result, max_attempts, attempt_limit, retry_delay, \
                     keep_results, max_workers, silence_limit";
        let builder = super::configured(ruby, builder, options, known, |builder, name, value| {
            Ok(Some(match name {
                "max_tasks" => builder.max_tasks(usize::try_convert(value)?),
                "max_bytes" => builder.max_bytes(usize::try_convert(value)?),
                "max_task" => builder.max_task(u32::try_convert(value)?),
                "max_result" => builder.max_result(u32::try_convert(value)?),
                "max_attempts" => builder.max_attempts(u32::try_convert(value)?),
                "attempt_limit" => builder.attempt_limit(options::seconds(ruby, name, value)?),
                "retry_delay" => builder.retry_delay(super::time(ruby, name, value)?),
                "keep_results" => builder.keep_results(value.to_bool()),
                "max_workers" => builder.max_workers(usize::try_convert(value)?),
                "silence_limit" => builder.silence_limit(super::time(ruby, name, value)?),
                _ => return Ok(None),
            }))
        })?;
        this.0.set(ruby, failed(ruby, builder.build())?)
    }

    /// Gives the endpoint with the port that was chosen, if that was left open.
    fn bind(ruby: &Ruby, this: &Self, endpoint: String) -> Result<String, Error> {
        let distributor = this.0.get(ruby)?;
        // Names may have to be resolved.
        let bound = gvl::lent(ruby, || distributor.bind(endpoint.as_str()));
        Ok(failed(ruby, bound)?.to_string())
    }

    /// Gives the endpoint of a listening socket that somebody else opened. It is closed, as this has it then.
    fn bind_listener(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<String, Error> {
        let scanned = scan_args::<(Value,), (), (), (), RHash, ()>(args)?;
        let keywords =
            get_kwargs::<_, (), (Option<Option<String>>,), ()>(scanned.keywords, &[], &["ws"])?;
        let distributor = this.0.get(ruby)?;
        let given = Given::new(ruby, scanned.required.0)?;
        given.bind(ruby, keywords.optional.0.flatten(), None, |listener| {
            let bound = distributor.bind_listener(listener);
            failed(ruby, bound)
        })
    }

    fn try_add(ruby: &Ruby, this: &Self, task: RString) -> Result<RString, Error> {
        let added = this.0.get(ruby)?.try_add(super::bytes(task));
        Ok(number(ruby, failed(ruby, added)?))
    }

    fn add_within(ruby: &Ruby, this: &Self, task: RString, limit: Value) -> Result<RString, Error> {
        let body = super::bytes(task);
        let added = waited(ruby, this.0.get(ruby)?.add(body), limit)?;
        Ok(number(ruby, added))
    }

    /// Number and result; `nil` where there is none.
    fn next_result(ruby: &Ruby, this: &Self) -> Result<Option<(RString, RString)>, Error> {
        let result = this.0.get(ruby)?.next_result();
        Ok(result.map(|(of, result)| (number(ruby, of), binary(ruby, &result))))
    }

    fn outcome_now(ruby: &Ruby, this: &Self) -> Result<Option<RArray>, Error> {
        let outcome = this.0.get(ruby)?.try_outcome();
        outcome.map(|outcome| told(ruby, outcome)).transpose()
    }

    fn outcome_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<RArray, Error> {
        told(ruby, waited(ruby, this.0.get(ruby)?.outcome(), limit)?)
    }

    fn aside(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        super::all_unfinished(ruby, this.0.get(ruby)?.set_aside())
    }

    fn put_back(ruby: &Ruby, this: &Self, number: RString) -> Result<bool, Error> {
        Ok(this.0.get(ruby)?.put_back(numbered(ruby, number)?))
    }

    fn dropped(ruby: &Ruby, this: &Self, number: RString) -> Result<Option<RArray>, Error> {
        let dropped = this.0.get(ruby)?.drop_aside(numbered(ruby, number)?);
        dropped.map(|task| unfinished(ruby, task)).transpose()
    }

    fn join_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<(), Error> {
        waited(ruby, this.0.get(ruby)?.finished(), limit)
    }

    /// The tasks without an outcome. What ends the wait leaves them where they are.
    fn end_within(ruby: &Ruby, this: &Self, limit: Value) -> Result<RArray, Error> {
        let distributor = this.0.get(ruby)?;
        let limit = options::seconds(ruby, "timeout", limit)?;
        // It may have ended already, by itself or by a fault: the rest is given then too.
        match limit {
            None => drop(waiting::forever(ruby, distributor.settled())?),
            Some(_) => drop(waiting::within(ruby, distributor.settled(), limit)?),
        }
        let left = gvl::lent(ruby, || distributor.shutdown(Duration::ZERO));
        super::all_unfinished(ruby, left)
    }

    fn counters(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let counters = this.0.get(ruby)?.counters();
        let numbers = [
            ("added", counters.added),
            ("done", counters.done),
            ("handed_out", counters.handed_out),
            ("handed_out_again", counters.handed_out_again),
            ("failed", counters.failed),
            ("lost", counters.lost),
            ("overdue", counters.overdue),
            ("returned", counters.returned),
            ("late", counters.late),
            ("repeated", counters.repeated),
            ("foreign", counters.foreign),
            ("violations", counters.violations),
            ("silent", counters.silent),
            ("out", counters.out as u64),
            ("pending", counters.pending as u64),
            ("set_aside", counters.set_aside as u64),
            ("workers", counters.workers as u64),
            ("held_bytes", counters.held_bytes as u64),
        ];
        Ok(super::counters(ruby, &numbers))
    }

    fn monitor(ruby: &Ruby, this: &Self) -> Result<Obj<Monitor>, Error> {
        Ok(Monitor::wrap(ruby, this.0.get(ruby)?.monitor()))
    }
}
