//! A context: settings, the sockets that are open, and those that still have something to send.
//!
//! Its thread begins with the first socket, as settings may change until then.

mod options;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sealwire::{Error, SocketType, embed};
use sealwire_fork::Birth;

pub(crate) use self::options::Settings;
use crate::errno::Errno;
use crate::socket::Socket;

/// How long a wait for the end of a context goes on before it looks whether a signal handler has run.
const INTERVAL: Duration = Duration::from_millis(5);

pub(crate) struct Context {
    birth: Birth,
    settings: Mutex<Settings>,
    state: Mutex<State>,
    /// A socket was closed.
    changed: Condvar,
    shut_down: AtomicBool,
}

#[derive(Default)]
struct State {
    engine: Option<sealwire::Context>,
    open: Vec<Weak<Socket>>,
    number_open: usize,
    /// Closed by the program, with something to send.
    closing: Vec<sealwire::Socket>,
}

impl Context {
    pub(crate) fn new() -> Self {
        Context {
            birth: Birth::now(),
            settings: Mutex::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
            shut_down: AtomicBool::new(false),
        }
    }

    /// Whether it was made in this process, and not before a fork.
    pub(crate) fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::SeqCst)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    ///
    /// `EINVAL` for options and values that there are not.
    pub(crate) fn set(&self, option: i32, value: i32) -> Result<(), Errno> {
        self.settings().set(option, value)
    }

    /// # Errors
    ///
    /// `EINVAL` for options that there are not.
    pub(crate) fn get(&self, option: i32) -> Result<i32, Errno> {
        self.settings().get(option)
    }

    /// Makes a socket.
    ///
    /// # Errors
    ///
    /// `ETERM` after the end has begun, `EMFILE` where there are as many as may be, `EMTHREAD` without I/O
    /// threads.
    pub(crate) fn open(self: &Arc<Self>, socket_type: SocketType) -> Result<Arc<Socket>, Errno> {
        if self.is_shut_down() {
            return Err(Errno::TERM);
        }
        let settings = self.settings().clone();
        let mut state = self.state();
        if state.number_open >= settings.max_sockets() {
            return Err(Errno::MFILE);
        }
        let engine = match &state.engine {
            Some(engine) => engine.clone(),
            None => {
                let engine = sealwire::Context::new().map_err(|_| Errno::MFILE)?;
                state.engine.insert(engine).clone()
            }
        };
        let socket = Arc::new(Socket::new(self.clone(), &engine, socket_type, &settings)?);
        state.open.retain(|other| other.strong_count() > 0);
        state.open.push(Arc::downgrade(&socket));
        state.number_open += 1;
        Ok(socket)
    }

    /// The program has closed a socket. What it has to send goes out.
    pub(crate) fn closed(&self, socket: sealwire::Socket) {
        let mut state = self.state();
        state.number_open -= 1;
        state.closing.retain(|closing| !embed::has_ended(closing));
        if !embed::has_ended(&socket) {
            state.closing.push(socket);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Has all calls end with `ETERM`, but those that close.
    pub(crate) fn shut_down(&self) {
        self.shut_down.store(true, Ordering::SeqCst);
        let open: Vec<_> = self.state().open.iter().filter_map(Weak::upgrade).collect();
        for socket in open {
            socket.wake();
        }
    }

    /// Ends the context, when its sockets are closed and what they had to send is sent, or their linger times
    /// are over.
    ///
    /// # Errors
    ///
    /// `EINTR` when a signal handler has run: it can be called again.
    pub(crate) fn terminate(&self) -> Result<(), Errno> {
        self.shut_down();
        let mut state = self.state();
        while state.number_open > 0 {
            drop(state);
            self.wait_for_change()?;
            state = self.state();
        }
        while let Some(socket) = state.closing.last().cloned() {
            drop(state);
            match sealwire::blocking::block_on(socket.close(), None, |handler_ran| handler_ran) {
                Err(Error::Interrupted) => return Err(Errno::INTR),
                _ => {
                    state = self.state();
                    state.closing.retain(|closing| !embed::has_ended(closing));
                }
            }
        }
        state.engine = None;
        Ok(())
    }

    /// Waits until a socket was closed, or for a while.
    fn wait_for_change(&self) -> Result<(), Errno> {
        // A condition variable does not end with a signal, so it is a poll that sleeps.
        let slept = rustix::event::poll(&mut [], Some(&timespec(INTERVAL)));
        match slept {
            Err(rustix::io::Errno::INTR) => Err(Errno::INTR),
            _ => Ok(()),
        }
    }
}

fn timespec(duration: Duration) -> rustix::event::Timespec {
    rustix::event::Timespec::try_from(duration).unwrap_or(rustix::event::Timespec {
        tv_sec: i64::MAX,
        tv_nsec: 0,
    })
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}
