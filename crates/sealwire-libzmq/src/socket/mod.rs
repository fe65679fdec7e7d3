//! A socket of libzmq: parts of messages instead of whole ones, options in its units, endpoints as text.

mod counters;
#[cfg(draft)]
mod drafts;
mod endpoints;
mod errors;
mod receiving;
mod sending;
#[cfg(draft)]
mod single_part;
mod subscribing;
#[cfg(test)]
mod tests;

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use libc::c_int;
use sealwire::text::printable;
use sealwire::{Endpoint, Readiness, Security, SocketType, embed};
use zeroize::Zeroizing;

use self::endpoints::Endpoints;
pub(crate) use self::errors::errno_of;
use self::receiving::Inbound;
use self::sending::Outbound;
use crate::context::{Closing, Context, Settings as ContextSettings};
use crate::errno::Errno;
use crate::monitor::{Form, Observer, Told};
use crate::options::{Entry, Settings, answer_of_number, number};

/// A call is not to wait.
pub(crate) const DONTWAIT: c_int = 1;
/// More parts of the message follow.
pub(crate) const SNDMORE: c_int = 2;

pub(crate) const POLLIN: i16 = 1;
pub(crate) const POLLOUT: i16 = 2;

/// What the engine has for the endpoints that follow.
#[derive(PartialEq, Eq)]
enum Applied {
    /// Settings from before: the present ones were not complete.
    Earlier,
    /// The settings of the program.
    OfProgram,
    /// The same with the keys of a rule, which is written there.
    OfRule(String),
}

pub(crate) struct Socket {
    context: Arc<Context>,
    socket_type: SocketType,
    /// Its context has no I/O threads: it reaches others of the process only.
    stays_inside: bool,
    inner: sealwire::Socket,
    settings: Mutex<Settings>,
    /// Locked after `settings`.
    applied: Mutex<Applied>,
    outbound: Mutex<Outbound>,
    /// There are parts of a message that is not complete.
    gathers: AtomicBool,
    inbound: Mutex<Inbound>,
    endpoints: Mutex<Endpoints>,
    readiness: OnceLock<Readiness>,
    observer: Mutex<Option<Observer>>,
    closed: AtomicBool,
    /// Messages of several parts whose peer went before the last part was there.
    cut_short: AtomicU64,
}

impl Socket {
    /// # Errors
    ///
    /// `EMFILE` where the engine has no descriptors left, `EINVAL` for a type that there is not.
    pub(crate) fn new(
        context: Arc<Context>,
        engine: &sealwire::Context,
        socket_type: SocketType,
        of_context: &ContextSettings,
    ) -> Result<Self, Errno> {
        let settings = Settings::of_type(socket_type, of_context.ipv6, of_context.blocky);
        let builder = sealwire::Socket::builder(socket_type)
            .context(engine)
            .interruptible(true);
        let builder = settings.apply(socket_type, builder, None)?;
        let inner = builder.build().map_err(|error| errno_of(&error))?;
        Ok(Socket {
            context,
            socket_type,
            stays_inside: of_context.has_no_io_threads(),
            inner,
            settings: Mutex::new(settings),
            applied: Mutex::new(Applied::OfProgram),
            outbound: Mutex::default(),
            gathers: AtomicBool::new(false),
            inbound: Mutex::default(),
            endpoints: Mutex::default(),
            readiness: OnceLock::new(),
            observer: Mutex::default(),
            closed: AtomicBool::new(false),
            cut_short: AtomicU64::new(0),
        })
    }

    /// # Errors
    ///
    /// `ETERM` once the context ends, `ENOTSOCK` in a child of a fork and after another thread closed it.
    fn check(&self) -> Result<(), Errno> {
        if !self.context.is_here() || self.closed.load(Ordering::SeqCst) {
            return Err(Errno::NOTSOCK);
        }
        match self.context.is_shut_down() {
            true => Err(Errno::TERM),
            false => Ok(()),
        }
    }

    /// Whether calls that wait are to end.
    fn is_over(&self) -> bool {
        self.context.is_shut_down() || self.closed.load(Ordering::SeqCst)
    }

    /// The number of an error of the engine, which says that it is closed where the context has ended.
    fn errno(&self, error: &sealwire::Error) -> Errno {
        match error {
            sealwire::Error::Closed => self.check().err().unwrap_or(Errno::NOTSOCK),
            error => errno_of(error),
        }
    }

    /// Has calls that wait see that the context ends.
    pub(crate) fn wake(&self) {
        embed::wake(&self.inner);
        if let Some(readiness) = self.readiness.get() {
            readiness.rearm();
        }
    }

    /// Closes the socket. What it has to send goes out within the linger time.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::SeqCst) || !self.context.is_here() {
            return;
        }
        let (name, linger) = (self.name(), self.settings().linger());
        self.give_back();
        embed::close(&self.inner, linger);
        self.wake();
        let socket = self.inner.clone();
        self.context.closed(Closing {
            socket,
            name,
            linger,
        });
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Its type and endpoints, for those who wonder which socket it is.
    pub(crate) fn name(&self) -> String {
        let (bound, connected) = (
            self.inner.bound_endpoints(),
            self.inner.connected_endpoints(),
        );
        let endpoints: Vec<_> = bound
            .iter()
            .chain(&connected)
            .map(Endpoint::to_string)
            .collect();
        match endpoints.is_empty() {
            true => self.socket_type.to_string(),
            false => format!("{} at {}", self.socket_type, endpoints.join(", ")),
        }
    }

    /// How many messages wait to be sent.
    pub(crate) fn to_send(&self) -> usize {
        embed::to_send(&self.inner)
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn applied(&self) -> MutexGuard<'_, Applied> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outbound(&self) -> MutexGuard<'_, Outbound> {
        self.outbound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inbound(&self) -> MutexGuard<'_, Inbound> {
        self.inbound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn endpoints(&self) -> MutexGuard<'_, Endpoints> {
        self.endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a call with these flags may take; `None` for any time.
    fn limit(&self, flags: c_int, option: c_int) -> Option<Duration> {
        match flags & DONTWAIT {
            0 => self.settings().time_limit(option),
            _ => Some(Duration::ZERO),
        }
    }

    // ---- options ---------------------------------------------------------------------------------

    /// Sets an option. `given` is `None` for a null pointer.
    ///
    /// # Errors
    ///
    /// `EINVAL` for what the option does not take, `ETERM`.
    pub(crate) fn set(&self, option: c_int, given: Option<&[u8]>) -> Result<(), Errno> {
        self.check()?;
        if let number::SUBSCRIBE | number::UNSUBSCRIBE = option {
            return self.change_subscription(option, given.unwrap_or_default());
        }
        if Entry::of(option).is_some_and(|entry| !entry.is_of(self.socket_type)) {
            return Err(Errno::INVAL);
        }
        let mut settings = self.settings();
        settings.set(option, given)?;
        // Keys come one by one; an endpoint needs them all.
        *self.applied() = match self.reconfigure(&settings, None) {
            Ok(()) => Applied::OfProgram,
            Err(_) => Applied::Earlier,
        };
        Ok(())
    }

    fn reconfigure(&self, settings: &Settings, ruled: Option<Security>) -> Result<(), Errno> {
        let builder = sealwire::Socket::builder(self.socket_type)
            .context(self.inner.context())
            .interruptible(true);
        let builder = settings.apply(self.socket_type, builder, ruled)?;
        let done = self.inner.reconfigure(builder);
        done.map_err(|error| self.errno(&error))
    }

    /// The bytes that answer the question for an option, for a buffer of `room` bytes.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an option that there is not and for too little room, `ETERM`.
    pub(crate) fn get(&self, option: c_int, room: usize) -> Result<Zeroizing<Vec<u8>>, Errno> {
        self.check()?;
        let int = |value: c_int| Ok(Zeroizing::new(value.to_ne_bytes().to_vec()));
        match option {
            number::RCVMORE => int(c_int::from(self.inbound().more())),
            number::TYPE => answer_of_number(&type_number(self.socket_type).to_ne_bytes(), room),
            number::EVENTS => int(c_int::from(self.events())),
            number::THREAD_SAFE => int(c_int::from(self.is_shared())),
            number::TOPICS_COUNT => {
                let topics = self.inner.topics().map_err(|error| match error {
                    sealwire::Error::Unsupported(_) => Errno::INVAL,
                    error => self.errno(&error),
                })?;
                int(c_int::try_from(topics).unwrap_or(c_int::MAX))
            }
            number::MECHANISM => {
                let ruled = self.endpoints().mechanism();
                let mechanism = ruled.unwrap_or_else(|| self.settings().mechanism()) as c_int;
                answer_of_number(&mechanism.to_ne_bytes(), room)
            }
            number::FD => {
                // Threads that share a socket would take each other's wakes; a poller has a descriptor for them.
                if room < size_of::<RawFd>() || self.is_shared() {
                    return Err(Errno::INVAL);
                }
                int(self.fd()?.as_raw_fd())
            }
            number::LAST_FAILURE => {
                let failure = self.inner.last_failure().map(|failure| failure.to_string());
                let mut text = printable(failure.as_deref().unwrap_or_default()).into_owned();
                text.push('\0');
                Ok(text.into_bytes().into())
            }
            number::COUNTERS => counters::answer(&self.counted(), room),
            number::LAST_ENDPOINT => {
                let mut text = self.endpoints().last().as_bytes().to_vec();
                text.push(0);
                Ok(text.into())
            }
            _ => self.settings().get(option, room),
        }
    }

    // ---- monitor ---------------------------------------------------------------------------------

    /// Tells of the events of this socket on a socket that is bound to `endpoint`, in place of one before; with
    /// `None` on no socket any more.
    ///
    /// # Errors
    ///
    /// `EPROTONOSUPPORT` for an endpoint that is not `inproc`, `EINVAL`, `EADDRINUSE`, `ETERM`.
    pub(crate) fn monitor(&self, endpoint: Option<&str>, events: c_int) -> Result<(), Errno> {
        let wanted = u16::try_from(events).map_err(|_| Errno::INVAL)?;
        self.monitor_in(Form::First, endpoint, wanted.into(), SocketType::Pair)
    }

    /// The same in a form, with events that it has, on a socket of this type.
    ///
    /// # Errors
    ///
    /// `EINVAL` for types that send parts to nobody by themselves, after what was told before has ended, and those
    /// above.
    fn monitor_in(
        &self,
        form: Form,
        endpoint: Option<&str>,
        wanted: u64,
        socket_type: SocketType,
    ) -> Result<(), Errno> {
        self.check()?;
        if let Some(endpoint) = endpoint
            && !matches!(endpoints::parse(endpoint)?, Endpoint::Inproc(_))
        {
            return Err(Errno::PROTONOSUPPORT);
        }
        let mut observer = self.observer();
        if let Some(observer) = &*observer {
            observer.stop();
        }
        let Some(endpoint) = endpoint else {
            return Ok(());
        };
        if !matches!(
            socket_type,
            SocketType::Pair | SocketType::Pub | SocketType::Push
        ) {
            return Err(Errno::INVAL);
        }
        let observer = match &mut *observer {
            Some(observer) => observer,
            none => none.insert(Observer::begin(self.inner.monitor())?),
        };
        observer.tell_at(endpoint, wanted, form, self.inner.context(), socket_type)
    }

    /// Tells a monitor of what the engine has no event for.
    fn tell(&self, told: &Told) {
        if let Some(observer) = &*self.observer() {
            observer.tell(told);
        }
    }

    fn observer(&self) -> MutexGuard<'_, Option<Observer>> {
        self.observer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The endpoint that was bound last.
    #[cfg(test)]
    pub(crate) fn last_endpoint(&self) -> String {
        let text = self.get(number::LAST_ENDPOINT, 256).unwrap();
        String::from_utf8(text[..text.len() - 1].to_vec()).unwrap()
    }

    #[cfg(test)]
    pub(crate) fn inner_monitor(&self) -> sealwire::Monitor {
        self.inner.monitor()
    }

    // ---- polling ---------------------------------------------------------------------------------

    /// The descriptor of `ZMQ_FD`, for event loops of the program, which may wait for it without looking first.
    ///
    /// # Errors
    ///
    /// `EMFILE` or another number of the system's.
    pub(crate) fn fd(&self) -> Result<&Readiness, Errno> {
        let readiness = self.readiness()?;
        embed::tell_each_arrival(&self.inner);
        Ok(readiness)
    }

    /// The descriptor that becomes readable when the socket should be looked at, and tells arrivals beside a message that is
    /// there once that was received.
    ///
    /// # Errors
    ///
    /// `EMFILE` or another number of the system's.
    pub(crate) fn readiness(&self) -> Result<&Readiness, Errno> {
        if self.readiness.get().is_none() {
            let made = embed::readiness(&self.inner).map_err(|error| Errno::of(&error))?;
            let _ = self.readiness.set(made);
        }
        self.readiness.get().ok_or(Errno::MFILE)
    }

    /// Returns the operations that would not wait now: `POLLIN`, `POLLOUT`. Empties the descriptor, which becomes readable
    /// again at the next change, and after a receive that leaves something: so a loop that forgets to drain goes on, and
    /// one that is told of a message and leaves it there sleeps.
    pub(crate) fn events(&self) -> i16 {
        let ready = match self.readiness.get() {
            Some(readiness) => readiness.take(),
            None => self.inner.ready(),
        };
        let mut events = 0;
        let inbound = self.inbound();
        if inbound.has_some() || ready.receive {
            events |= POLLIN;
        }
        let inside = inbound.more();
        drop(inbound);
        let listens = inside && self.takes_turns() && !self.is_relaxed();
        // A DISH may join and leave groups at any time, which libzmq counts as sending.
        let joins = self.socket_type == SocketType::Dish;
        if (ready.send && !listens) || joins || self.gathers.load(Ordering::Relaxed) {
            events |= POLLOUT;
        }
        events
    }

    /// Whether threads may use it at the same time.
    pub(crate) fn is_shared(&self) -> bool {
        #[cfg(draft)]
        return self.is_thread_safe();
        #[cfg(not(draft))]
        return false;
    }

    /// Whether it is a type that sends and receives by turns.
    fn takes_turns(&self) -> bool {
        matches!(self.socket_type, SocketType::Req | SocketType::Rep)
    }

    /// Whether it is a REQ that may ask again before it has the answer.
    fn is_relaxed(&self) -> bool {
        self.settings().flag(number::REQ_RELAXED)
    }

    /// Whether it is a type that owes an answer to what it receives.
    pub(crate) fn answers(&self) -> bool {
        self.socket_type == SocketType::Rep
    }

    /// Fails as each call does once the context ends.
    ///
    /// # Errors
    ///
    /// `ETERM`, `ENOTSOCK`.
    pub(crate) fn check_open(&self) -> Result<(), Errno> {
        self.check()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.close();
    }
}

/// The types by number.
const TYPES: &[(c_int, SocketType)] = &[
    (0, SocketType::Pair),
    (1, SocketType::Pub),
    (2, SocketType::Sub),
    (3, SocketType::Req),
    (4, SocketType::Rep),
    (5, SocketType::Dealer),
    (6, SocketType::Router),
    (7, SocketType::Pull),
    (8, SocketType::Push),
    (9, SocketType::XPub),
    (10, SocketType::XSub),
    (11, SocketType::Stream),
    #[cfg(draft)]
    (12, SocketType::Server),
    #[cfg(draft)]
    (13, SocketType::Client),
    #[cfg(draft)]
    (14, SocketType::Radio),
    #[cfg(draft)]
    (15, SocketType::Dish),
    #[cfg(draft)]
    (16, SocketType::Gather),
    #[cfg(draft)]
    (17, SocketType::Scatter),
    #[cfg(draft)]
    (18, SocketType::Dgram),
    #[cfg(draft)]
    (19, SocketType::Peer),
    #[cfg(draft)]
    (20, SocketType::Channel),
];

/// The type with this number.
pub(crate) fn type_of(number: c_int) -> Option<SocketType> {
    let mut types = TYPES.iter();
    types.find_map(|(of, socket_type)| (*of == number).then_some(*socket_type))
}

fn type_number(socket_type: SocketType) -> c_int {
    let mut types = TYPES.iter();
    types
        .find_map(|(number, of)| (*of == socket_type).then_some(*number))
        .unwrap_or(-1)
}
