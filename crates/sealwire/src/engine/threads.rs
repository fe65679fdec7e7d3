//! The I/O threads of a context, and which of them serves an endpoint: the one that serves least, of those that the
//! endpoint may have. It keeps the endpoint, and gives the connections that it accepts to those that serve less.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::io_thread::IoThread;
use super::load::LoadShare;
use super::mailbox::{Command, Mailbox};
use super::neighbours::Neighbours;
use super::world::System;
use crate::core::{Engine, ServerCookies, SocketCore};
use crate::limits::MAX_IO_THREADS;
use crate::measures::Work;
use crate::{guard, inproc, signals};

/// What a program has run on each I/O thread as it begins.
pub(crate) type OnStart = Arc<dyn Fn(usize) + Send + Sync>;

/// A thread for an endpoint, by its number in the context.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) thread: usize,
    /// Counted there from now on.
    pub(crate) share: LoadShare,
}

pub(crate) struct Threads {
    mailboxes: Vec<Arc<Mailbox>>,
    running: Mutex<Vec<JoinHandle<()>>>,
}

impl Threads {
    /// Starts `count` threads, whose names begin with `name`, for a context with these names of `inproc`.
    ///
    /// # Errors
    ///
    /// Where the system has no thread or no descriptors left.
    pub(crate) fn start(
        count: usize,
        name: &str,
        on_start: Option<&OnStart>,
        inproc: &Arc<inproc::Registry>,
    ) -> io::Result<Arc<Self>> {
        // One for all: connections take their deadlines along.
        let epoch = Instant::now();
        let threads = (0..count).map(|_| {
            let world = Arc::new(System::new(epoch)?);
            Ok(IoThread::new(world, inproc.clone()))
        });
        let threads = threads.collect::<io::Result<Vec<_>>>()?;
        let mailboxes = threads.iter().map(|thread| thread.mailbox().clone());
        let started = Threads {
            mailboxes: mailboxes.collect(),
            running: Mutex::default(),
        };
        let neighbours: Arc<[_]> = started.mailboxes.as_slice().into();
        for (number, mut thread) in threads.into_iter().enumerate() {
            thread.meet(Neighbours::of(number, neighbours.clone()));
            let name = match count {
                1 => name.to_owned(),
                _ => format!("{name}-{number}"),
            };
            let on_start = on_start.cloned();
            // The threads that it starts in turn take no signals either.
            let spawned = signals::held_back(|| {
                thread::Builder::new().name(name).spawn(move || {
                    if let Some(on_start) = on_start {
                        guard::contain("beginning a thread", || on_start(number));
                    }
                    thread.run();
                })
            });
            match spawned {
                Ok(thread) => started.lock().push(thread),
                Err(error) => {
                    // Nothing that was given to the threads is in use behind the error.
                    started.shut_down();
                    started.join();
                    return Err(error);
                }
            }
        }
        Ok(Arc::new(started))
    }

    /// Threads that somebody plays.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn played(mailboxes: Vec<Arc<Mailbox>>) -> Arc<Self> {
        Arc::new(Threads {
            mailboxes,
            running: Mutex::default(),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one for what belongs to no endpoint.
    pub(crate) fn first(&self) -> &Arc<Mailbox> {
        self.of(0)
    }

    /// The one with this number.
    pub(crate) fn of(&self, thread: usize) -> &Arc<Mailbox> {
        &self.mailboxes[thread]
    }

    /// Chooses one for an endpoint: of those whose bit is set in `affinity`, where any is, the one that serves least. `None` where
    /// bits are set and none is a thread's.
    pub(crate) fn place(&self, affinity: u64) -> Option<Placed> {
        let bit = |thread: &usize| affinity == 0 || affinity & (1 << thread) != 0;
        let threads = (0..self.mailboxes.len()).filter(bit);
        let thread = threads.min_by_key(|thread| self.of(*thread).load().get())?;
        let share = self.of(thread).load().share();
        Some(Placed { thread, share })
    }

    /// What each has done.
    pub(crate) fn work(&self) -> Vec<Work> {
        let mailboxes = self.mailboxes.iter();
        mailboxes.map(|mailbox| mailbox.work().snapshot()).collect()
    }

    /// The sockets of the context.
    pub(crate) fn sockets(&self) -> Vec<Arc<SocketCore>> {
        self.first().sockets()
    }

    /// Whether one has ended by a fault.
    pub(crate) fn any_has_failed(&self) -> bool {
        self.mailboxes.iter().any(|mailbox| mailbox.is_closed())
    }

    /// Ends all of them, and waits.
    #[cfg(unix)]
    pub(crate) fn end(&self) {
        self.shut_down();
        self.join();
    }

    /// Waits until all of them have ended.
    pub(crate) fn join(&self) {
        let running = std::mem::take(&mut *self.lock());
        for thread in running {
            // It has contained its panics.
            let _ = thread.join();
        }
    }
}

const _: () = assert!(MAX_IO_THREADS <= u64::BITS as usize, "a bit for each");

impl Engine for Threads {
    fn enroll(&self, thread: usize, core: &Arc<SocketCore>) -> bool {
        self.of(thread).enroll(core)
    }

    fn abandon(&self, thread: usize, core: Arc<SocketCore>) {
        self.of(thread).post(Command::Abandon(core));
    }

    fn rotate_cookies(&self, cookies: Weak<ServerCookies>) {
        self.first().rotate_cookies(cookies);
    }

    fn revise_clients(&self, core: Weak<SocketCore>) {
        self.first().revise_clients(core);
    }

    fn shut_down(&self) {
        for mailbox in &self.mailboxes {
            mailbox.shut_down();
        }
    }

    fn now(&self) -> Duration {
        self.first().now()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.first().world().fill_random(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize) -> Arc<Threads> {
        Threads::start(count, "test", None, &Arc::default()).unwrap()
    }

    #[test]
    fn the_one_that_serves_least_is_chosen_of_those_that_may_be() {
        let threads = threads(3);
        let place = |affinity| threads.place(affinity).unwrap();
        let placed: Vec<Placed> = (0..4).map(|_| place(0)).collect();
        let numbers = |placed: &[Placed]| placed.iter().map(|it| it.thread).collect::<Vec<_>>();
        assert_eq!(numbers(&placed), [0, 1, 2, 0]);
        let second = [place(0b010), place(0b110), place(0b110)];
        assert_eq!(numbers(&second), [1, 2, 1]);
        drop(placed);
        assert_eq!(place(0).thread, 0);
        assert!(threads.place(0b1000).is_none());
        assert_eq!(place(0b1001).thread, 0);
        threads.shut_down();
        threads.join();
        assert!(!threads.any_has_failed());
    }

    #[test]
    fn what_a_program_runs_as_threads_begin_is_run_on_each_and_may_panic() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let on_start: OnStart = {
            let seen = seen.clone();
            Arc::new(move |number| {
                let name = thread::current().name().unwrap_or_default().to_owned();
                seen.lock().unwrap().push((number, name));
                panic!("asked for");
            })
        };
        let threads = Threads::start(2, "test", Some(&on_start), &Arc::default()).unwrap();
        threads.shut_down();
        threads.join();
        let mut seen = seen.lock().unwrap().clone();
        seen.sort();
        assert_eq!(seen, [(0, "test-0".into()), (1, "test-1".into())]);
        assert!(!threads.any_has_failed());
    }
}
