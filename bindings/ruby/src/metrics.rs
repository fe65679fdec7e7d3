//! The numbers of contexts.

use magnus::{Error, Module as _, Object as _, RArray, RClass, RModule, Ruby, function, method};
use sealwire::metrics::{Amount, ContextMetrics};

use crate::context::Context;
use crate::{errors, gvl, process};

pub(crate) fn define(sealwire: RModule) -> Result<(), Error> {
    let class: RClass = sealwire.const_get("Context")?;
    class.define_private_method("numbers", method!(numbers, 0))?;
    class.define_method("prometheus", method!(prometheus, 0))?;
    sealwire.define_singleton_method("prometheus", function!(shared_prometheus, 0))?;
    let shared = sealwire.singleton_class()?;
    shared.define_private_method("numbers", function!(shared_numbers, 0))?;
    Ok(())
}

fn numbers(ruby: &Ruby, this: &Context) -> Result<RArray, Error> {
    listed(ruby, &of(ruby, this)?)
}

fn prometheus(ruby: &Ruby, this: &Context) -> Result<String, Error> {
    Ok(of(ruby, this)?.prometheus())
}

fn shared_numbers(ruby: &Ruby) -> Result<RArray, Error> {
    listed(ruby, &of_the_shared(ruby)?)
}

fn shared_prometheus(ruby: &Ruby) -> Result<String, Error> {
    Ok(of_the_shared(ruby)?.prometheus())
}

fn of(ruby: &Ruby, context: &Context) -> Result<ContextMetrics, Error> {
    let context = context.checked(ruby)?;
    let inner = context.get(ruby)?;
    snapshot(ruby, inner)
}

/// That of sockets which were given no other.
fn of_the_shared(ruby: &Ruby) -> Result<ContextMetrics, Error> {
    let context = process::context().map_err(|error| errors::raised(ruby, &error))?;
    snapshot(ruby, &context)
}

/// It takes the locks of all sockets.
fn snapshot(ruby: &Ruby, context: &sealwire::Context) -> Result<ContextMetrics, Error> {
    let metrics = gvl::lent(ruby, || context.metrics());
    metrics.map_err(|error| errors::raised(ruby, &error))
}

/// Name, labels and value of each.
fn listed(ruby: &Ruby, metrics: &ContextMetrics) -> Result<RArray, Error> {
    let all = ruby.ary_new();
    for sample in metrics.samples() {
        for number in sample.numbers() {
            let labels = ruby.hash_new();
            for (name, value) in sample.labels_of(&number) {
                labels.aset(ruby.to_symbol(name), value)?;
            }
            let name = format!("{}{}", sample.metric.name, number.suffix);
            match number.amount {
                Amount::Count(count) => all.push((name, labels, count))?,
                amount => all.push((name, labels, amount.as_f64()))?,
            }
        }
    }
    Ok(all)
}
