//! The options of a socket as they are now: some change while it is used.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::SocketCore;
use super::context::Engine;
use super::protocol::protocol_config;
use super::revising::Revision;
use crate::error::Error;
use crate::options::{EndpointOptions, SocketOptions};
use crate::pattern::HighWaterMarks;

/// How long a call waits. Read by each call that may have to.
struct TimeLimit(AtomicU64);

/// No limit.
const NONE: u64 = u64::MAX;

impl TimeLimit {
    fn new(limit: Option<Duration>) -> Self {
        TimeLimit(AtomicU64::new(Self::encoded(limit)))
    }

    /// Limits of more than five hundred years are none.
    fn encoded(limit: Option<Duration>) -> u64 {
        limit.map_or(NONE, |limit| {
            u64::try_from(limit.as_nanos()).unwrap_or(NONE)
        })
    }

    fn set(&self, limit: Option<Duration>) {
        self.0.store(Self::encoded(limit), Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            NONE => None,
            limit => Some(Duration::from_nanos(limit)),
        }
    }
}

pub(super) struct Present {
    send_timeout: TimeLimit,
    receive_timeout: TimeLimit,
    options: Mutex<Kept>,
    /// Whether the clock asks for revisions.
    revised: AtomicBool,
}

struct Kept {
    now: Arc<EndpointOptions>,
    /// All that endpoints or connections have, in the order of their numbers.
    in_use: Vec<(u64, Weak<EndpointOptions>)>,
    last_number: u64,
}

impl Present {
    pub(super) fn new(engine: &dyn Engine, options: SocketOptions) -> Self {
        let (send, receive) = (options.send_timeout, options.receive_timeout);
        let now = made(engine, options);
        Present {
            send_timeout: TimeLimit::new(send),
            receive_timeout: TimeLimit::new(receive),
            options: Mutex::new(Kept {
                in_use: vec![(0, Arc::downgrade(&now))],
                now,
                last_number: 0,
            }),
            revised: AtomicBool::new(false),
        }
    }

    fn options(&self) -> Arc<EndpointOptions> {
        let kept = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        kept.now.clone()
    }

    /// Returns the options before. What the application gave may end with them.
    fn replace(&self, options: Arc<EndpointOptions>) -> Arc<EndpointOptions> {
        let mut kept = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        self.send_timeout.set(options.send_timeout);
        self.receive_timeout.set(options.receive_timeout);
        kept.note(&options);
        mem::replace(&mut kept.now, options)
    }

    /// Notes options that endpoints have and the socket has not.
    pub(super) fn note(&self, options: &Arc<EndpointOptions>) {
        let mut kept = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        kept.note(options);
    }

    /// Those of all authenticators which endpoints or connections have, as far as they have any.
    pub(super) fn revisions(&self) -> Vec<Revision> {
        let in_use = self.in_use().into_iter();
        let revisions = in_use.flat_map(|(number, options)| {
            let revisions = options.security.revisions().into_iter();
            revisions.map(move |(of, revision)| (number, of, revision))
        });
        revisions.collect()
    }

    fn in_use(&self) -> Vec<(u64, Arc<EndpointOptions>)> {
        let kept = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = kept.in_use.iter();
        in_use
            .filter_map(|(number, options)| Some((*number, options.upgrade()?)))
            .collect()
    }
}

impl Kept {
    fn note(&mut self, options: &Arc<EndpointOptions>) {
        self.last_number += 1;
        self.in_use
            .retain(|(_, options)| options.strong_count() > 0);
        self.in_use
            .push((self.last_number, Arc::downgrade(options)));
    }
}

pub(super) fn made(engine: &dyn Engine, options: SocketOptions) -> Arc<EndpointOptions> {
    let protocol = protocol_config(engine, &options);
    Arc::new(EndpointOptions::new(options, protocol))
}

impl SocketCore {
    /// The options that an endpoint has which is bound or connected now.
    pub(crate) fn options(&self) -> Arc<EndpointOptions> {
        self.present.options()
    }

    /// How long sending waits.
    pub(crate) fn send_timeout(&self) -> Option<Duration> {
        self.present.send_timeout.get()
    }

    /// How long receiving waits.
    pub(crate) fn receive_timeout(&self) -> Option<Duration> {
        self.present.receive_timeout.get()
    }

    /// Gives the socket other options. They have been found to fit it.
    pub(crate) fn change_options(self: &Arc<Self>, options: SocketOptions) -> Result<(), Error> {
        let made = made(self.context.engine(), options);
        // Under one lock, so that threads which change them at once leave those of one.
        let before = self.with(|state| {
            state.life.open()?;
            state.life.set_linger(made.linger);
            state.queues.limit(HighWaterMarks::of(&made));
            let behaviour = state.queues.configure(made.behaviour.clone());
            self.conflates
                .store(made.behaviour.conflate, Ordering::Relaxed);
            Ok::<_, Error>((self.present.replace(made), behaviour))
        })?;
        drop(before);
        self.watch_revisions();
        self.notify_writable();
        Ok(())
    }

    /// Lets the clock ask whether clients are still allowed, where an authenticator may change its mind.
    pub(super) fn watch_revisions(self: &Arc<Self>) {
        if !self.present.revisions().is_empty() {
            self.have_revisions();
        }
    }

    /// Lets the clock ask whether clients are still allowed.
    pub(super) fn have_revisions(self: &Arc<Self>) {
        if !self.present.revised.swap(true, Ordering::SeqCst) {
            let engine = self.context.engine();
            engine.revise_clients(Arc::downgrade(self));
        }
    }
}
