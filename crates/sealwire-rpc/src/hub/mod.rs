//! What the connections of one client or server share: the socket, and who reads it.
//!
//! Messages are read by one thread at a time. On a client that is a thread that waits for an answer
//! (it saves two hand-overs between threads), and when there is none, a thread of the client's own;
//! on a server always the server's own. Answers given while a batch of messages is handled go out together at
//! its end.

mod admission;
mod admitting;
mod changes;
mod clock;
mod door;
mod ending;
mod handover;
mod links;
#[cfg(test)]
mod panic_tests;
mod reading;
mod round;
mod shield;
mod shutdown;
#[cfg(test)]
mod simulated;
mod waiting;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use sealwire::{Peer, waits};
use sealwire_fork::Birth;

use self::admission::Admission;
use self::changes::Changes;
use self::clock::{Clock, Timekeeping};
use self::ending::Ending;
pub(crate) use self::links::HubLink;
use self::reading::Reading;
pub(crate) use self::reading::must_not_wait;
pub(crate) use self::shield::shielded;
#[cfg(test)]
pub(crate) use self::simulated::{Driver, Steps, Task};
pub(crate) use self::waiting::{First, first};
use crate::counters::{LiveCounters, count};
use crate::guard::contain;
use crate::limits::DoorLimits;
use crate::link::LinkOptions;
use crate::outgoing::{Interceptor, Outgoing};
use crate::proto::{Asked, Body};
use crate::seat::block_on;
use crate::status::{Error, Status};
use crate::threads;

/// Decides about a new connection, with what the other side's application sent, and says what to
/// send to it.
pub(crate) type Greeter = Arc<dyn Fn(&Peer, &[u8]) -> Result<Vec<u8>, String> + Send + Sync>;

/// What the application does about what is read. The hub knows neither handlers nor handles.
pub(crate) trait Upcalls: Send + Sync {
    fn request(&self, link: &Arc<HubLink>, asked: Asked);
    fn message(&self, link: &Arc<HubLink>, body: Body);
    /// The connection is ready.
    fn connected(&self, link: &Arc<HubLink>);
    /// It is gone.
    fn disconnected(&self, link: &Arc<HubLink>);
}

pub(crate) struct HubOptions {
    pub(crate) link: LinkOptions,
    pub(crate) upcalls: Box<dyn Upcalls>,
    pub(crate) greeter: Option<Greeter>,
    pub(crate) max_connections: usize,
    pub(crate) connection_wait: Duration,
    pub(crate) door: DoorLimits,
    pub(crate) request_limit: Option<Duration>,
    pub(crate) interceptors: Vec<Interceptor>,
}

pub(crate) struct Hub {
    birth: Birth,
    pub(crate) options: HubOptions,
    /// Dropped before the socket: the last handle would block until that has ended, for up to the linger time,
    /// on whichever thread lets go of this last.
    reading: Reading,
    pub(crate) socket: sealwire::Socket,
    admission: Admission<Arc<HubLink>>,
    pub(crate) changes: Changes,
    pub(crate) counters: LiveCounters,
    /// When the clock of the context began.
    epoch: Instant,
    clock: Clock,
    ending: Ending,
    /// What would run on threads of its own, where a test runs it instead.
    #[cfg(test)]
    driver: Option<Arc<Driver>>,
}

/// What the hand-over is made of: the tests put those of loom in their place.
mod sync {
    pub(super) use std::sync::{Mutex, MutexGuard};
}

impl Hub {
    pub(crate) fn start(
        options: HubOptions,
        socket: sealwire::Socket,
    ) -> std::io::Result<Arc<Hub>> {
        let hub = Arc::new(Hub::new(options, socket));
        let clock = waits::Task::start(hub.socket.context(), Timekeeping::of(&hub));
        hub.clock.keep_by(clock.waker());
        let reader = hub.clone();
        threads::start("sealwire-rpc", move || {
            reader.run("the thread that reads", Hub::read_until_end);
            // The hub ends here, where that may take its time, and not with the clock.
            drop(clock);
        })?;
        Ok(hub)
    }

    fn new(options: HubOptions, socket: sealwire::Socket) -> Hub {
        let now = Instant::now();
        let epoch = now.checked_sub(socket.context().now()).unwrap_or(now);
        Hub {
            birth: Birth::now(),
            reading: Reading::of(&socket),
            admission: Admission::new(options.max_connections, options.door),
            options,
            socket,
            changes: Changes::default(),
            counters: LiveCounters::default(),
            epoch,
            clock: Clock::default(),
            ending: Ending::default(),
            #[cfg(test)]
            driver: None,
        }
    }

    /// Runs a future on a thread of its own.
    ///
    /// # Errors
    ///
    /// When the system gives none.
    pub(crate) fn spawn(
        &self,
        name: &str,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        #[cfg(test)]
        if let Some(driver) = &self.driver {
            driver.add(future);
            return Ok(());
        }
        threads::start(name, move || block_on(future))
    }

    /// Whether it was made in this process, and not before a fork. If not, nothing of it may be
    /// touched: its locks may be held by threads that are not there.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made it.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_here() {
            Ok(())
        } else {
            Err(Error::Forked)
        }
    }

    /// Runs a thread of this hub. Should it fail, everybody is told instead of waiting for ever.
    fn run(self: Arc<Self>, what: &'static str, thread: impl FnOnce(Arc<Self>)) {
        let hub = self.clone();
        if self.guard(what, || thread(hub)).is_none() {
            self.fail();
        }
    }

    /// The time since the context began.
    pub(crate) fn now(&self) -> Duration {
        self.socket.context().now()
    }

    pub(crate) fn at(&self, time: Duration) -> Instant {
        self.epoch + time
    }

    /// Runs code of others; nothing when it panics.
    pub(crate) fn guard<T>(&self, what: &'static str, action: impl FnOnce() -> T) -> Option<T> {
        let outcome = contain(what, action);
        if outcome.is_none() {
            count(&self.counters.panics);
        }
        outcome
    }

    /// Lets a call or message out, as the interceptors say, in their order.
    pub(crate) fn let_out<'a>(&self, mut outgoing: Outgoing<'a>) -> Result<Outgoing<'a>, Error> {
        let by = &self.options.interceptors;
        if by.is_empty() {
            return Ok(outgoing);
        }
        let passed = self.guard("an interceptor", || {
            by.iter().try_for_each(|intercept| intercept(&mut outgoing))
        });
        match passed.unwrap_or_else(|| Err(Status::panicked("an interceptor"))) {
            Ok(()) => Ok(outgoing),
            Err(status) => Err(Error::Intercepted(status)),
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ending.has_ended()
    }

    /// Why nothing can be done any more, if that is so.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        match (self.has_ended(), self.has_failed()) {
            (false, _) => Ok(()),
            (true, false) => Err(Error::ShuttingDown),
            (true, true) => Err(Error::EngineFailed),
        }
    }

    /// Whether it ended by a fault.
    pub(crate) fn has_failed(&self) -> bool {
        self.ending.has_failed()
    }

    /// Ends everything because a thread that it takes has ended.
    pub(crate) fn fail(&self) {
        self.end_by(Ending::fail);
    }

    /// Ends everything now. Queued messages are still sent, within the socket's linger time.
    pub(crate) fn end(&self) {
        self.end_by(Ending::end);
    }

    /// Ends everything because the clock has failed. What the application is told of is left to the thread that
    /// reads.
    fn fail_beside(&self) {
        if self.ending.fail() {
            self.close_socket();
            self.changes.tell();
        }
    }

    fn end_by(&self, end: impl FnOnce(&Ending) -> bool) {
        if !self.is_here() || !end(&self.ending) {
            return;
        }
        self.close_socket();
        self.close_all_links();
        self.changes.tell();
    }

    /// Begins to close the socket, and wakes the hub's own thread to end.
    fn close_socket(&self) {
        // Its first poll begins to close, and nobody waits for the rest. The socket's other handles are
        // woken with an error.
        let mut closing = pin!(self.socket.clone().close());
        let _ = closing
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        self.reading.end();
    }

    fn close_all_links(&self) {
        for link in self.admission.take_links() {
            self.link_ended(&link);
        }
    }

    pub(crate) fn links(&self) -> Vec<Arc<HubLink>> {
        if !self.is_here() {
            return Vec::new();
        }
        self.admission.links()
    }

    pub(crate) fn link_count(&self) -> usize {
        if !self.is_here() {
            return 0;
        }
        self.admission.count()
    }

    /// Whether this is the connection that was let in last; it may have ended since.
    pub(crate) fn has_admitted(&self, routing_id: u32) -> bool {
        self.last_admitted() == routing_id
    }

    /// The connection that was let in last, by its routing id; 0 before the first.
    pub(crate) fn last_admitted(&self) -> u32 {
        self.admission.last_admitted()
    }

    /// The connection with the fewest calls that takes more, of several the one with the lowest routing id.
    pub(crate) fn least_loaded(&self) -> Option<Arc<HubLink>> {
        let load = |link: &Arc<HubLink>| link.takes_calls().then(|| link.load());
        self.admission.least_loaded(load)
    }

    pub(crate) fn takes_no_calls(&self) -> bool {
        self.least_loaded().is_none()
    }
}
