//! A context: settings, the sockets that are open, and those that still have something to send.
//!
//! Its threads begin with the first socket, as settings may change until then.

#[cfg(feature = "draft")]
mod extended;
mod options;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use event_listener::Event;
use sealwire::blocking::block_on;
use sealwire::{Error, SocketType, embed};
use sealwire_fork::Birth;

pub(crate) use self::options::Settings;
use crate::errno::Errno;
#[cfg(test)]
use crate::options::number;
use crate::policy::Governing;
use crate::socket::Socket;

pub(crate) struct Context {
    birth: Birth,
    governing: Arc<Governing>,
    settings: Mutex<Settings>,
    state: Mutex<State>,
    /// A socket was closed.
    changed: Event,
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
    pub(crate) fn new(governing: Arc<Governing>) -> Self {
        Context {
            birth: Birth::now(),
            governing,
            settings: Mutex::default(),
            state: Mutex::default(),
            changed: Event::new(),
            shut_down: AtomicBool::new(false),
        }
    }

    /// The rules for what its sockets bind and connect.
    pub(crate) fn governing(&self) -> &Governing {
        &self.governing
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
    /// `ETERM` after the end has begun, `EMFILE` where there are as many as may be, or no descriptors.
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
                let engine = sealwire::Context::builder()
                    .io_threads(settings.io_threads())
                    .on_thread_start(settings.on_thread_start())
                    .build()
                    .map_err(|_| Errno::MFILE)?;
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
        self.changed.notify(usize::MAX);
    }

    /// Has all calls end with `ETERM`, but those that close.
    pub(crate) fn shut_down(&self) {
        self.shut_down.store(true, Ordering::SeqCst);
        let (open, engine) = {
            let state = self.state();
            let open: Vec<_> = state.open.iter().filter_map(Weak::upgrade).collect();
            (open, state.engine.clone())
        };
        for socket in open {
            socket.wake();
        }
        if let Some(engine) = engine {
            embed::bind_no_more(&engine);
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
        loop {
            let changed = self.changed.listen();
            if self.state().number_open == 0 {
                break;
            }
            interruptible(changed)?;
        }
        while let Some(socket) = self.one_that_closes() {
            // What it could not send was counted.
            let _ = interruptible(socket.close())?;
        }
        let engine = self.state().engine.take();
        if let Some(engine) = engine {
            engine.join();
        }
        Ok(())
    }

    /// A socket that the program has closed and that has something to send.
    fn one_that_closes(&self) -> Option<sealwire::Socket> {
        let closing = &mut self.state().closing;
        closing.retain(|socket| !embed::has_ended(socket));
        closing.last().cloned()
    }
}

/// Waits, unless a signal handler runs meanwhile.
///
/// # Errors
///
/// `EINTR`; the number of the system's where it has no descriptor for the wait.
fn interruptible<F: Future>(future: F) -> Result<Option<F::Output>, Errno> {
    block_on(future, None, |handler_ran| handler_ran).map_err(|error| match error {
        Error::Interrupted => Errno::INTR,
        Error::System(error) => Errno::of(&error),
        _ => Errno::AGAIN,
    })
}

#[cfg(test)]
impl Context {
    /// One whose process has no rules for encryption.
    pub(crate) fn without_rules() -> Arc<Self> {
        Arc::new(Context::new(Arc::new(Governing::new(Ok(None)))))
    }

    /// A socket that lingers for nobody, and whose calls end where a test is broken.
    pub(crate) fn open_briefly(self: &Arc<Self>, socket_type: SocketType) -> Arc<Socket> {
        let socket = self.open(socket_type).unwrap();
        for (option, value) in [
            (number::LINGER, 0_i32),
            (number::RCVTIMEO, 60_000),
            (number::SNDTIMEO, 60_000),
        ] {
            socket.set(option, Some(&value.to_ne_bytes())).unwrap();
        }
        socket
    }
}
