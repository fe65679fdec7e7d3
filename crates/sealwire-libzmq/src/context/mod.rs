//! A context: settings, the sockets that are open, and those that still have something to send.
//!
//! Its threads begin with the first socket, as settings may change until then.

#[cfg(draft)]
mod extended;
mod options;
mod waiting;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use event_listener::Event;
use sealwire::{SocketType, embed};
use sealwire_fork::Birth;

pub(crate) use self::options::Settings;
use self::waiting::{Awaited, SlowEnd, interruptible};
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
    slow_end: SlowEnd,
}

#[derive(Default)]
struct State {
    engine: Option<sealwire::Context>,
    open: Vec<Weak<Socket>>,
    number_open: usize,
    closing: Vec<Closing>,
}

/// A socket that the program has closed, with something to send.
pub(crate) struct Closing {
    pub(crate) socket: sealwire::Socket,
    /// Its type and endpoints.
    pub(crate) name: String,
    pub(crate) linger: Duration,
}

impl Closing {
    fn has_ended(&self) -> bool {
        embed::has_ended(&self.socket)
    }
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
            slow_end: SlowEnd::default(),
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
    pub(crate) fn closed(&self, closing: Closing) {
        let mut state = self.state();
        state.number_open -= 1;
        state.closing.retain(|other| !other.has_ended());
        if !closing.has_ended() {
            state.closing.push(closing);
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
    /// are over. A line on standard error says which those are, if that takes long.
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
            self.wait(changed)?;
        }
        while let Some(socket) = self.one_that_closes() {
            // What it could not send was counted.
            self.wait(socket.close())?;
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
        closing.retain(|other| !other.has_ended());
        closing.last().map(|closing| closing.socket.clone())
    }

    /// Waits for what keeps the context from ending, or a while of it.
    fn wait<F: Future>(&self, future: F) -> Result<(), Errno> {
        let now = Instant::now();
        let due = self.slow_end.due(now);
        let done = interruptible(future, due)?;
        if done.is_none() && due.is_some_and(|due| due <= Instant::now()) {
            self.slow_end.tell(|| self.awaited());
        }
        Ok(())
    }

    /// The sockets that keep it from ending.
    fn awaited(&self) -> Vec<Awaited> {
        let (open, mut awaited) = {
            let state = self.state();
            let closing = state.closing.iter().map(|closing| Awaited {
                name: closing.name.clone(),
                to_send: embed::to_send(&closing.socket),
                linger: Some(closing.linger),
            });
            let open: Vec<_> = state.open.iter().filter_map(Weak::upgrade).collect();
            (open, closing.collect::<Vec<_>>())
        };
        // Released before, as the last handle of a socket closes it.
        let open = open.iter().filter(|socket| !socket.is_closed());
        awaited.extend(open.map(|socket| Awaited {
            name: socket.name(),
            to_send: socket.to_send(),
            linger: None,
        }));
        awaited
    }
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use sealwire_zmtp::Frames;

    use super::*;

    /// Nothing here takes that long unless it is broken.
    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn a_context_that_does_not_end_says_once_which_sockets_it_waits_for() {
        let (told, lines) = mpsc::channel();
        let tell = move |line: &str| told.send(line.to_owned()).unwrap();
        let governing = Arc::new(Governing::new(Ok(None)));
        let context = Arc::new(Context {
            slow_end: SlowEnd::new(Duration::ZERO, tell),
            ..Context::new(governing)
        });
        let open = context.open_briefly(SocketType::Pull);
        open.bind("inproc://open").unwrap();
        let closed = context.open(SocketType::Dealer).unwrap();
        closed.connect("ipc:///nowhere/at/all").unwrap();
        for _ in 0..3 {
            closed.send(&mut Frames::single("never"), 0).unwrap();
        }
        closed.close();
        let of_thread = context.clone();
        let ending = thread::spawn(move || of_thread.terminate());
        let line = lines.recv_timeout(TIMEOUT).unwrap();
        for part in [
            "zmq_ctx_term has waited 0 s for 2 sockets: ",
            "DEALER at ipc:///nowhere/at/all is closed and has 3 messages to send",
            "wait for ever",
            "PULL at inproc://open is open",
        ] {
            assert!(line.contains(part), "{line}");
        }
        // Nothing else ends it.
        embed::close(&context.one_that_closes().unwrap(), Duration::ZERO);
        // The context waits for handles too.
        drop((open, closed));
        assert_eq!(ending.join().unwrap(), Ok(()));
        assert_eq!(lines.try_iter().count(), 0);
    }

    #[test]
    fn a_context_that_ends_at_once_says_nothing() {
        let (told, lines) = mpsc::channel::<String>();
        let tell = move |line: &str| told.send(line.to_owned()).unwrap();
        let governing = Arc::new(Governing::new(Ok(None)));
        let context = Arc::new(Context {
            slow_end: SlowEnd::new(Duration::ZERO, tell),
            ..Context::new(governing)
        });
        drop(context.open_briefly(SocketType::Pull));
        // An event that comes before the wait ends it, whatever the time.
        while context.one_that_closes().is_some() {
            thread::yield_now();
        }
        assert_eq!(context.terminate(), Ok(()));
        assert_eq!(lines.try_iter().count(), 0);
    }
}
