//! Waiting for a future, in threads and in fibers.
//!
//! The future is waited for as Ruby waits for a descriptor, with `IO#wait_readable`: other threads
//! run meanwhile, or other fibers under a scheduler, and signals, `Thread#kill` and `Timeout` end it.
//! (Letting go of the lock and sleeping would be quicker, but Ruby 3.1 does not tell a sleeping main
//! thread of signals when all other threads sleep that way too.) What was waited for is not lost when
//! a wait ends early: a future that is dropped has taken nothing.

use std::future::Future;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use magnus::typed_data::Obj;
use magnus::value::{Lazy, ReprValue as _};
use magnus::{Class as _, Error, Module as _, RArray, RClass, RModule, Ruby, Value, kwargs};
use sealwire::options::MAX_TIMEOUT;

use crate::keys::frozen;
use crate::process::Process;
use crate::{classes, errors, gvl};

/// Where a Ractor keeps the bells that nobody waits for.
const POOL: &str = "sealwire_bells";

static RACTOR: Lazy<RClass> = Lazy::new(|ruby| class(ruby, "Ractor"));
static FIBER: Lazy<RClass> = Lazy::new(|ruby| class(ruby, "Fiber"));

fn class(ruby: &Ruby, name: &str) -> RClass {
    let class = ruby.class_object().const_get(name);
    class.expect("a class of every Ruby since 3.0")
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    // Looked up by the main Ractor, for all of them.
    Lazy::force(&RACTOR, ruby);
    Lazy::force(&FIBER, ruby);
    let class = classes::define::<Bell>(ruby, sealwire, "Bell")?;
    class.undef_default_alloc_func();
    Ok(())
}

/// Does what may take a moment and cannot be interrupted, before a wait. A fiber does not: it would
/// keep the others waiting.
pub(crate) fn attempt<T, A>(ruby: &Ruby, attempt: A) -> Result<Option<T>, Error>
where
    T: Send,
    A: FnOnce() -> Option<T> + Send,
{
    if has_scheduler(ruby)? {
        return Ok(None);
    }
    Ok(gvl::lent(ruby, attempt))
}

/// The end of a wait that begins now.
pub(crate) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    limit.map(|limit| Instant::now() + limit.min(MAX_TIMEOUT))
}

/// Waits until the future is ready, or the deadline is over: `None` then.
///
/// # Errors
///
/// What Ruby raises in the thread or fiber meanwhile.
pub(crate) fn before<T, F>(
    ruby: &Ruby,
    future: F,
    deadline: Option<Instant>,
) -> Result<Option<T>, Error>
where
    F: Future<Output = T>,
{
    let pool = pool(ruby)?;
    let place = take_place(ruby, pool)?;
    let waited = wait(ruby, &place, future, deadline);
    pool.push((place.bell, place.io))?;
    waited
}

/// As [`before`], with the time from now on.
pub(crate) fn within<T, F>(
    ruby: &Ruby,
    future: F,
    limit: Option<Duration>,
) -> Result<Option<T>, Error>
where
    F: Future<Output = T>,
{
    before(ruby, future, deadline(limit))
}

/// As [`within`] without a limit.
pub(crate) fn forever<T, F>(ruby: &Ruby, future: F) -> Result<T, Error>
where
    F: Future<Output = T>,
{
    let mut future = pin!(future);
    loop {
        if let Some(value) = before(ruby, future.as_mut(), None)? {
            return Ok(value);
        }
    }
}

/// Whether this is a fiber that gives way to others when it waits.
fn has_scheduler(ruby: &Ruby) -> Result<bool, Error> {
    let scheduler: Value = ruby.get_inner(&FIBER).funcall("current_scheduler", ())?;
    Ok(!scheduler.is_nil())
}

/// Makes a descriptor readable.
struct Ringing {
    rung: AtomicBool,
    reader: PipeReader,
    writer: PipeWriter,
    process: Process,
}

impl Ringing {
    fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Ringing {
            rung: AtomicBool::new(false),
            reader,
            writer,
            process: Process::current(),
        })
    }

    /// Makes the descriptor unreadable again. Wake-ups before this are not repeated: the caller checks
    /// everything afterwards.
    fn hush(&self) -> io::Result<()> {
        if self.rung.load(Ordering::Acquire) {
            // The byte is there or about to be: it is written right after the flag is set.
            (&self.reader).read_exact(&mut [0])?;
            self.rung.store(false, Ordering::Release);
        }
        Ok(())
    }
}

impl Wake for Ringing {
    fn wake(self: Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // One byte at a time always fits, and a pipe of which this process holds both ends does
            // not fail.
            let _ = (&self.writer).write_all(&[1]);
        }
    }
}

/// What a wait needs. It is used again, by another wait: one that rings for an earlier one makes the
/// later check once more than it had to.
#[magnus::wrap(class = "Sealwire::Bell", free_immediately, size)]
struct Bell(Arc<Ringing>);

/// A bell with the `IO` of its descriptor.
struct Place {
    bell: Obj<Bell>,
    io: Value,
}

/// The bells of this Ractor that nobody waits for: an array of `[bell, io]`.
fn pool(ruby: &Ruby) -> Result<RArray, Error> {
    let ractor: Value = ruby.get_inner(&RACTOR).funcall("current", ())?;
    let pool: Option<RArray> = ractor.funcall("[]", (POOL,))?;
    match pool {
        Some(pool) => Ok(pool),
        None => ractor.funcall("[]=", (POOL, ruby.ary_new())),
    }
}

fn take_place(ruby: &Ruby, pool: RArray) -> Result<Place, Error> {
    while let Some((bell, io)) = pool.pop::<Option<(Obj<Bell>, Value)>>()? {
        // A child of the process shares pipes with its parent, and must not ring there.
        if bell.0.process.is_current() {
            return Ok(Place { bell, io });
        }
    }
    let ringing = Ringing::new().map_err(|error| refused(ruby, &error))?;
    // Ruby gets the number of the descriptor only: closing it is the bell's business.
    let keywords = kwargs!("autoclose" => false);
    let io: Value = ruby
        .class_io()
        .funcall("for_fd", (ringing.reader.as_raw_fd(), keywords))?;
    let bell = frozen(ruby, Bell(Arc::new(ringing)));
    Ok(Place { bell, io })
}

fn refused(ruby: &Ruby, error: &io::Error) -> Error {
    let problem = format!("the system has no pipe to wait with: {error}");
    errors::new(ruby, ruby.exception_io_error(), problem)
}

fn wait<T, F>(
    ruby: &Ruby,
    place: &Place,
    future: F,
    deadline: Option<Instant>,
) -> Result<Option<T>, Error>
where
    F: Future<Output = T>,
{
    let ringing = &place.bell.0;
    let waker = Waker::from(ringing.clone());
    let mut future = pin!(future);
    loop {
        ringing.hush().map_err(|error| refused(ruby, &error))?;
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Ok(Some(value));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        let left = left.map(|left| left.as_secs_f64());
        place.io.funcall::<_, _, Value>("wait_readable", (left,))?;
    }
}
