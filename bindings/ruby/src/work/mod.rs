//! Acknowledged work: distributors, workers, and the tasks between them. Tasks without an outcome go to Ruby as
//! arrays, which `lib/sealwire/work.rb` names.

mod distributor;
mod task;
mod worker;

use std::future::Future;
use std::time::Duration;

use magnus::value::ReprValue as _;
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value};
use sealwire_rpc::work;

use crate::made::{self, Named};
use crate::message::binary;
use crate::options::seconds;
use crate::{errors, waiting};

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    task::define(ruby, sealwire)?;
    distributor::define(ruby, sealwire)?;
    worker::define(ruby, sealwire)
}

impl Named for work::Distributor {
    const NAME: &'static str = "distributor";
}

impl Named for work::Worker {
    const NAME: &'static str = "worker";
}

/// A builder with the options by name. `set` gives nothing for a name that it does not know.
fn configured<B>(
    ruby: &Ruby,
    builder: B,
    options: RHash,
    known: &str,
    set: impl Fn(B, &str, Value) -> Result<Option<B>, Error>,
) -> Result<B, Error> {
    made::configured(builder, options, |builder, name, value| {
        set(builder, name, value)?.ok_or_else(|| {
            let problem = format!("there is no option {name}: {known}");
            errors::argument(ruby, problem)
        })
    })
}

/// A time that has to be there: `nil` and infinity are without end.
fn time(ruby: &Ruby, name: &str, value: Value) -> Result<Duration, Error> {
    Ok(seconds(ruby, name, value)?.unwrap_or(Duration::MAX))
}

/// A copy: Ruby runs, and may change the string, while it is sent.
fn bytes(string: RString) -> Vec<u8> {
    crate::bytes::with(string, <[u8]>::to_vec)
}

fn number(ruby: &Ruby, number: work::TaskNumber) -> RString {
    binary(ruby, &number.to_bytes())
}

/// The number that this string is.
fn numbered(ruby: &Ruby, string: RString) -> Result<work::TaskNumber, Error> {
    let bytes = bytes(string);
    let number = <[u8; 16]>::try_from(&bytes[..]).map_err(|_| {
        let problem = format!("the number of a task has 16 bytes, not {}", bytes.len());
        errors::argument(ruby, problem)
    })?;
    Ok(work::TaskNumber::from_bytes(number))
}

/// Number, attempts, reason, whether it was set aside, and body.
fn unfinished(ruby: &Ruby, task: work::UnfinishedTask) -> Result<RArray, Error> {
    let array = ruby.ary_new();
    array.push(number(ruby, task.number))?;
    array.push(task.attempts)?;
    let reason = task.reason.map(|reason| {
        let reason = ruby.str_new(&reason);
        reason.freeze();
        reason
    });
    array.push(reason)?;
    array.push(task.is_set_aside)?;
    array.push(binary(ruby, &task.body))?;
    Ok(array)
}

fn all_unfinished(ruby: &Ruby, tasks: Vec<work::UnfinishedTask>) -> Result<RArray, Error> {
    let array = ruby.ary_new();
    for task in tasks {
        array.push(unfinished(ruby, task)?)?;
    }
    Ok(array)
}

fn failed<T>(ruby: &Ruby, outcome: Result<T, work::Error>) -> Result<T, Error> {
    outcome.map_err(|error| errors::of_work(ruby, &error))
}

/// Waits for something, up to the limit: `nil` is without one.
fn waited<T>(
    ruby: &Ruby,
    future: impl Future<Output = Result<T, work::Error>>,
    limit: Value,
) -> Result<T, Error> {
    let limit = seconds(ruby, "timeout", limit)?;
    let ended = match limit {
        None => Some(waiting::forever(ruby, future)?),
        Some(_) => waiting::within(ruby, future, limit)?,
    };
    failed(ruby, ended.unwrap_or(Err(work::Error::TimedOut)))
}

fn counters(ruby: &Ruby, numbers: &[(&str, u64)]) -> RHash {
    let numbers = numbers.iter();
    ruby.hash_from_iter(numbers.map(|&(name, number)| (ruby.sym_new(name), number)))
}
