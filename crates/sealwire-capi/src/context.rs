//! Contexts: the thread that does the I/O of sockets.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use sealwire::metrics::ContextMetrics;
use sealwire::{Context, ContextBuilder};

use crate::callback::{User, sealwire_destroy_fn};
use crate::panics::{free, guard};
use crate::pointers::{c_text, give, give_text, optional_text, output, required};
use crate::status::{Failure, sealwire_status};

/// The thread that does the I/O of the sockets made with it, and the names of their `inproc`
/// endpoints. Most programs need none: sockets share one unless their options name another.
///
/// Threads: any number may use it at once.
pub struct sealwire_context {
    pub(crate) context: Context,
}

/// Starts a context with its thread. Free it with `sealwire_context_free`.
///
/// Errors: `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_new(out: *mut *mut sealwire_context) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let context = Context::new()?;
        out.write(give(sealwire_context { context }));
        Ok(())
    })
}

/// Starts a context with this many threads (1 to 64), whose names begin with `thread_name`, where that is not
/// NULL; systems show 15 bytes of it. Each endpoint that is bound or connected to is served by the thread that serves
/// least then, of those that `SEALWIRE_OPTION_IO_AFFINITY` allows. Free it with `sealwire_context_free` or
/// `sealwire_context_join`. libzmq's `ZMQ_IO_THREADS` and `ZMQ_THREAD_NAME_PREFIX`.
///
/// Errors: `SEALWIRE_ERROR_OPTION` for another number of threads, `SEALWIRE_ERROR_SYSTEM`,
/// `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_new_with_threads(
    io_threads: usize,
    thread_name: *const c_char,
    out: *mut *mut sealwire_context,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let context = threads(io_threads, thread_name)?.build()?;
        out.write(give(sealwire_context { context }));
        Ok(())
    })
}

/// What an I/O thread calls as it begins, with its number from 0: to set its priority, or the processors that it may
/// run on. Several threads may call it at once. It must not throw, nor use the context. Whether it has run when the context
/// has been made is not said.
pub type sealwire_thread_start_fn = Option<extern "C" fn(user: *mut c_void, io_thread: usize)>;

/// Starts a context as `sealwire_context_new_with_threads` does, whose threads call `on_thread_start` with `user` as they
/// begin. `destroy`, where it is not NULL, frees `user` once all threads have begun; after an error `user` is the caller's still. libzmq's
/// `ZMQ_THREAD_AFFINITY_CPU_ADD`, `ZMQ_THREAD_PRIORITY` and `ZMQ_THREAD_SCHED_POLICY` are calls of the system there.
///
/// Errors: as `sealwire_context_new_with_threads`; `SEALWIRE_ERROR_NULL` also without a callback.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_new_with_thread_start(
    io_threads: usize,
    thread_name: *const c_char,
    on_thread_start: sealwire_thread_start_fn,
    user: *mut c_void,
    destroy: sealwire_destroy_fn,
    out: *mut *mut sealwire_context,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let on_start = required(on_thread_start, "on_thread_start")?;
        let builder = threads(io_threads, thread_name)?;
        let user = Arc::new(User::new(user, destroy));
        let of_threads = user.clone();
        let builder = builder.on_thread_start(move |thread| on_start(of_threads.pointer(), thread));
        let context = builder.build().inspect_err(|_| user.forget())?;
        out.write(give(sealwire_context { context }));
        Ok(())
    })
}

fn threads(io_threads: usize, name: *const c_char) -> Result<ContextBuilder, Failure> {
    let builder = Context::builder().io_threads(io_threads);
    Ok(match optional_text(name, "thread_name")? {
        Some(name) => builder.thread_name(name),
        None => builder,
    })
}

/// Writes the numbers of a context, its sockets, endpoints and peers to `text`, in the text format of Prometheus (`text/plain;
/// version=0.0.4`), to be freed with `sealwire_string_free`. NULL is the context that sockets share unless their
/// options name another. Single peers have no lines: each connection would be new time series to who reads them, which
/// `sealwire_context_metrics_each` and `sealwire_peer_numbers_each` have. It takes the lock of one socket after another, so
/// ask a few times a second at most.
///
/// Errors: `SEALWIRE_ERROR_FORKED` in a child of a fork, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_metrics(
    context: Option<&sealwire_context>,
    text: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let out = output(text, "text")?;
        out.write(give_text(&metrics_of(context)?.prometheus()));
        Ok(())
    })
}

/// A number of a context, as one line of Prometheus' text: its name, its labels, its value.
#[repr(C)]
pub struct sealwire_metric {
    /// The name, with `_bucket`, `_sum` or `_count` behind that of a histogram.
    pub name: *const c_char,
    /// How many labels there are.
    pub labels: usize,
    /// Their names.
    pub label_names: *const *const c_char,
    /// Their values, in the same order. Only what this process chose or what a peer proved is in one.
    pub label_values: *const *const c_char,
    /// The number: bytes, messages and the like, and seconds. Counts above 2^53 lose their last digits.
    pub value: f64,
}

/// Takes a number. `metric` and all that it leads to are valid during the call.
pub type sealwire_metric_fn =
    Option<extern "C" fn(user: *mut c_void, metric: *const sealwire_metric)>;

/// Calls `take` with `user` for each number that `sealwire_context_metrics` writes, and for those of up to 1,000 peers of each
/// socket, on this thread and before it returns. `take` may use the library. NULL is the context that sockets share unless their options name another.
///
/// Errors: those of `sealwire_context_metrics`; `SEALWIRE_ERROR_NULL` without `take`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_metrics_each(
    context: Option<&sealwire_context>,
    take: sealwire_metric_fn,
    user: *mut c_void,
) -> sealwire_status {
    guard(|| {
        let take = required(take, "take")?;
        for sample in metrics_of(context)?.samples() {
            for number in sample.numbers() {
                let name = c_text(&format!("{}{}", sample.metric.name, number.suffix));
                let labels: Vec<_> = sample
                    .labels_of(&number)
                    .map(|(name, value)| (c_text(name), c_text(value)))
                    .collect();
                let names: Vec<_> = labels.iter().map(|(name, _)| name.as_ptr()).collect();
                let values: Vec<_> = labels.iter().map(|(_, value)| value.as_ptr()).collect();
                let metric = sealwire_metric {
                    name: name.as_ptr(),
                    labels: labels.len(),
                    label_names: names.as_ptr(),
                    label_values: values.as_ptr(),
                    value: number.amount.as_f64(),
                };
                take(user, &metric);
            }
        }
        Ok(())
    })
}

fn metrics_of(context: Option<&sealwire_context>) -> Result<ContextMetrics, Failure> {
    Ok(match context {
        Some(context) => context.context.metrics()?,
        None => Context::global()?.metrics()?,
    })
}

/// Gives a context back as `sealwire_context_free` does, and waits until its threads have ended: until
/// all sockets, options and others that were made with it are freed too. So free them first, or on another
/// thread; and do not call it from a callback of the library. In a child of a fork it returns at once. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_join(context: Option<Box<sealwire_context>>) {
    crate::panics::value((), || {
        if let Some(context) = context {
            context.context.join();
        }
    });
}

/// Gives a context back. Its thread ends once all sockets made with it are freed too; until then
/// they go on working. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_free(context: Option<Box<sealwire_context>>) {
    free(context);
}
