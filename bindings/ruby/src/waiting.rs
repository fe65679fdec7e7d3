//! Waiting for a future, in threads and in fibers.
//!
//! A thread lets go of the interpreter's lock and sleeps; a fiber under a scheduler waits for a
//! descriptor, so that the others run on. Both can be interrupted, and what was waited for is not
//! lost then: a future that is dropped has taken nothing.

use std::future::Future;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use magnus::value::ReprValue as _;
use magnus::{Error, Ruby, Value, kwargs};

use crate::gvl;

/// A hundred years: longer limits are taken for this one, so that no sum of times overflows.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Waits until the future is ready, or `limit` is over: `None` then.
///
/// A thread first does `attempt`, which may take a moment and cannot be interrupted; in a fiber it
/// would keep the others waiting.
///
/// # Errors
///
/// What Ruby raises in the thread or fiber meanwhile.
pub(crate) fn until<T, F, A>(
    ruby: &Ruby,
    attempt: A,
    future: F,
    limit: Option<Duration>,
) -> Result<Option<T>, Error>
where
    T: Send,
    F: Future<Output = T> + Send,
    A: FnOnce() -> Option<T> + Send,
{
    let deadline = limit.map(|limit| Instant::now() + limit.min(LONGEST));
    let future = pin!(future);
    if has_scheduler(ruby)? {
        in_fiber(ruby, future, deadline)
    } else {
        in_thread(ruby, attempt, future, deadline)
    }
}

/// As [`until`] for what nobody attempts first and that has no limit.
pub(crate) fn forever<T, F>(ruby: &Ruby, future: F) -> Result<T, Error>
where
    T: Send,
    F: Future<Output = T> + Send,
{
    let mut future = pin!(future);
    loop {
        if let Some(value) = until(ruby, || None, future.as_mut(), None)? {
            return Ok(value);
        }
    }
}

/// Whether this is a fiber that gives way to others when it waits.
fn has_scheduler(ruby: &Ruby) -> Result<bool, Error> {
    let fiber: Value = ruby.class_object().funcall("const_get", ("Fiber",))?;
    let scheduler: Value = fiber.funcall("current_scheduler", ())?;
    Ok(!scheduler.is_nil())
}

/// Where a thread sleeps.
#[derive(Default)]
struct Bed {
    state: Mutex<Sleep>,
    changed: Condvar,
}

#[derive(Default)]
struct Sleep {
    woken: bool,
    interrupted: bool,
}

impl Bed {
    fn state(&self) -> MutexGuard<'_, Sleep> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interrupt(&self) {
        self.state().interrupted = true;
        self.changed.notify_all();
    }

    /// Sleeps until woken, which this takes back, or interrupted, or the deadline.
    fn sleep(&self, deadline: Option<Instant>) -> Woken {
        let mut state = self.state();
        loop {
            if std::mem::take(&mut state.woken) {
                return Woken::Progress;
            }
            if state.interrupted {
                return Woken::Interrupted;
            }
            state = match deadline {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Woken::TimedOut;
                    }
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

enum Woken {
    Progress,
    Interrupted,
    TimedOut,
}

impl Wake for Bed {
    fn wake(self: Arc<Self>) {
        self.state().woken = true;
        self.changed.notify_all();
    }
}

enum Waited<T> {
    Ready(T),
    TimedOut,
    Interrupted,
}

fn in_thread<T, F, A>(
    ruby: &Ruby,
    attempt: A,
    mut future: Pin<&mut F>,
    deadline: Option<Instant>,
) -> Result<Option<T>, Error>
where
    T: Send,
    F: Future<Output = T> + Send,
    A: FnOnce() -> Option<T> + Send,
{
    let bed = Arc::new(Bed::default());
    let waker = Waker::from(bed.clone());
    let mut attempt = Some(attempt);
    loop {
        bed.state().interrupted = false;
        let work = || {
            if let Some(value) = attempt.take().and_then(|attempt| attempt()) {
                return Waited::Ready(value);
            }
            loop {
                let mut context = Context::from_waker(&waker);
                if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                    return Waited::Ready(value);
                }
                match bed.sleep(deadline) {
                    Woken::Progress => {}
                    Woken::Interrupted => return Waited::Interrupted,
                    Woken::TimedOut => return Waited::TimedOut,
                }
            }
        };
        let waited = gvl::released(ruby, work, || bed.interrupt());
        match waited.unwrap_or_else(|_| Waited::Interrupted) {
            Waited::Ready(value) => return Ok(Some(value)),
            Waited::TimedOut => return Ok(None),
            // Raises, or runs what was to be run here (a handler of a signal) and waits again.
            Waited::Interrupted => ruby.thread_check_ints()?,
        }
    }
}

/// What makes a descriptor readable.
struct Bell {
    rung: AtomicBool,
    reader: PipeReader,
    writer: PipeWriter,
}

impl Bell {
    fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Bell {
            rung: AtomicBool::new(false),
            reader,
            writer,
        })
    }

    /// Makes the descriptor unreadable again. What rang before this need not ring again: whoever
    /// calls it looks at everything afterwards.
    fn hush(&self) -> io::Result<()> {
        if self.rung.load(Ordering::Acquire) {
            // The byte is there or about to be: it is written right after the flag is set.
            (&self.reader).read_exact(&mut [0])?;
            self.rung.store(false, Ordering::Release);
        }
        Ok(())
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // One byte at a time always fits. Without it the waiter would never look again, and a
            // pipe of which this process holds both ends does not fail.
            let _ = (&self.writer).write_all(&[1]);
        }
    }
}

fn in_fiber<T, F>(
    ruby: &Ruby,
    mut future: Pin<&mut F>,
    deadline: Option<Instant>,
) -> Result<Option<T>, Error>
where
    F: Future<Output = T>,
{
    let refused = |error: io::Error| {
        let problem = format!("the system has no pipe to wait with: {error}");
        Error::new(ruby.exception_io_error(), problem)
    };
    let bell = Arc::new(Bell::new().map_err(refused)?);
    let waker = Waker::from(bell.clone());
    // Ruby gets the number of the descriptor only: closing it is the bell's business.
    let keywords = kwargs!("autoclose" => false);
    let io: Value = ruby
        .class_io()
        .funcall("for_fd", (bell.reader.as_raw_fd(), keywords))?;
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Ok(Some(value));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        let left = left.map(|left| left.as_secs_f64());
        io.funcall::<_, _, Value>("wait_readable", (left,))?;
        bell.hush().map_err(refused)?;
    }
}
