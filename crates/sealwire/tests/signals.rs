//! Signals of the system end calls that wait, where a socket was made for that.
//!
//! A binary of its own: it installs signal handlers, which are the process's.
#![cfg(unix)]

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::VecDeque;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use sealwire::blocking::{Socket, block_on};
use sealwire::{Context, Error, Message, SocketBuilder, SocketType};
use support::{Path, TIMEOUT, eventually};

/// How often the handler has run.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// What the thread that waits has seen of the handler's work.
static SEEN: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::SeqCst);
}

/// Installs the handler. The tests have it one after the other, as they count what it does.
fn handler() -> MutexGuard<'static, ()> {
    static ONE_TEST: Mutex<()> = Mutex::new(());
    let one_test = ONE_TEST.lock().unwrap_or_else(PoisonError::into_inner);
    // With a flag that has the system go on with calls that it can go on with.
    let action = SigAction::new(
        SigHandler::Handler(handle),
        SaFlags::SA_RESTART,
        SigSet::empty(),
    );
    // SAFETY: the handler changes an atomic and does nothing else, as a handler may.
    unsafe { sigaction(Signal::SIGUSR1, &action) }.unwrap();
    HANDLED.store(0, Ordering::SeqCst);
    SEEN.store(0, Ordering::SeqCst);
    one_test
}

fn kill(thread: Pthread) {
    pthread_kill(thread, Signal::SIGUSR1).unwrap();
}

/// Sends signals to the thread that made it, again and again, until it is dropped.
struct Pest {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pest {
    fn of_this_thread(period: Duration) -> Self {
        let (target, over) = (pthread_self(), Arc::new(AtomicBool::new(false)));
        let is_over = over.clone();
        let thread = thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                kill(target);
                thread::sleep(period);
            }
        });
        Pest {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Pest {
    /// The thread that it sends to is there until then.
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_some_and(|ended| ended.is_ok()), "a signal failed");
    }
}

const PERIOD: Duration = Duration::from_millis(1);

fn interruptible(socket_type: SocketType) -> SocketBuilder {
    Socket::builder(socket_type).interruptible(true)
}

/// Two sockets that have each other as their only peer. `set` is what options they have.
fn pair(
    path: &Path,
    [one, other]: [SocketType; 2],
    set: impl Fn(SocketBuilder) -> SocketBuilder,
) -> (Socket, Socket) {
    path.link(set(path.server(one)), set(path.client(other)))
}

const PAIRS: [SocketType; 2] = [SocketType::Pair; 2];
const PIPELINE: [SocketType; 2] = [SocketType::Pull, SocketType::Push];

#[test]
fn a_signal_ends_every_call_that_waits() {
    let _handler = handler();
    let ends = |what: &str, call: &dyn Fn() -> Option<Error>| {
        let pest = Pest::of_this_thread(PERIOD);
        let ended = call();
        drop(pest);
        assert!(
            matches!(ended, Some(Error::Interrupted)),
            "{what}: {ended:?}"
        );
    };

    for path in Path::all() {
        let (one, other) = pair(&path, PAIRS, |builder| builder.interruptible(true));
        let name = path.name();
        ends(&format!("{name}: recv"), &|| one.recv().err());
        other.send("wanted").unwrap();
        assert_eq!(recv_through_signals(&one).as_bytes(), b"wanted", "{name}");
    }

    let pull = interruptible(SocketType::Pull).build_blocking().unwrap();
    ends("recv", &|| pull.recv().err());
    ends("recv_timeout", &|| pull.recv_timeout(TIMEOUT).err());
    ends("recv_many", &|| pull.recv_many(&mut Vec::new(), 8).err());
    let limited = || pull.recv_many_timeout(&mut Vec::new(), 8, TIMEOUT).err();
    ends("recv_many_timeout", &limited);
    ends("incoming", &|| pull.incoming().next()?.err());

    let push = interruptible(SocketType::Push).build_blocking().unwrap();
    ends("send", &|| {
        let error = push.send("kept").unwrap_err();
        let (text, error) = (error.to_string(), error);
        assert!(text.contains("signal"), "{text}");
        let interrupted = matches!(error.error(), Error::Interrupted);
        assert_eq!(error.into_message().as_bytes(), b"kept");
        interrupted.then_some(Error::Interrupted)
    });
    let limited = || Some(push.send_timeout("x", TIMEOUT).unwrap_err().into());
    ends("send_timeout", &limited);
    ends("send_many", &|| {
        let mut messages = VecDeque::from([Message::from("one"), Message::from("two")]);
        let error = push.send_many(&mut messages).unwrap_err();
        assert_eq!(messages.len(), 2);
        Some(error)
    });

    let peer = interruptible(SocketType::Peer).build_blocking().unwrap();
    let nobody = format!("ipc://@sealwire-test-nobody-{}", std::process::id());
    ends("connect_peer", &|| peer.connect_peer(nobody.as_str()).err());

    let monitor = pull.monitor();
    let next = || block_on(monitor.next(), None, |handler_ran| handler_ran).err();
    ends("a future", &next);
}

/// What there is to receive, however often a signal comes first.
fn recv_through_signals(socket: &Socket) -> Message {
    loop {
        match socket.recv_timeout(TIMEOUT) {
            Err(Error::Interrupted) => {}
            received => return received.unwrap(),
        }
    }
}

#[test]
fn closing_goes_on_after_a_signal_and_can_be_waited_for_again() {
    let _handler = handler();
    let nobody = format!("ipc://@sealwire-test-late-{}", std::process::id());
    let push = interruptible(SocketType::Push).linger(TIMEOUT);
    let push = push.build_blocking().unwrap();
    push.connect(nobody.as_str()).unwrap();
    push.send("late").unwrap();
    let other = push.clone();

    let pest = Pest::of_this_thread(PERIOD);
    let ended = push.close();
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    drop(pest);

    let pull = Socket::new(SocketType::Pull).unwrap();
    pull.bind(nobody.as_str()).unwrap();
    assert_eq!(pull.recv_timeout(TIMEOUT).unwrap().as_bytes(), b"late");
    other.close().unwrap();
}

#[test]
fn the_last_handle_that_a_signal_kept_from_closing_waits_for_nothing() {
    let _handler = handler();
    let push = interruptible(SocketType::Push).linger(4 * TIMEOUT);
    let push = push.build_blocking().unwrap();
    push.connect("ipc://@sealwire-test-never").unwrap();
    push.send("never").unwrap();
    let pest = Pest::of_this_thread(PERIOD);
    let begin = Instant::now();
    let ended = push.close();
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    drop(pest);
    assert!(begin.elapsed() < 2 * TIMEOUT, "{:?}", begin.elapsed());
}

#[test]
fn without_the_option_a_signal_ends_nothing() {
    let _handler = handler();
    for path in Path::all() {
        let (one, other) = pair(&path, PAIRS, |builder| builder);
        let handled = HANDLED.load(Ordering::SeqCst);
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                eventually("twenty signals", || {
                    HANDLED.load(Ordering::SeqCst) >= handled + 20
                });
                other.send("at last").unwrap();
            });
            let pest = Pest::of_this_thread(PERIOD);
            let received = one.recv();
            drop(pest);
            assert_eq!(received.unwrap().as_bytes(), b"at last", "{}", path.name());
            sender.join().unwrap();
        });
    }
    let push = Socket::new(SocketType::Push).unwrap();
    let pest = Pest::of_this_thread(PERIOD);
    let sent = push.send_timeout("nobody is there", 20 * PERIOD);
    drop(pest);
    let error = sent.unwrap_err();
    assert!(matches!(error.error(), Error::TimedOut { .. }), "{error}");
}

fn is_news() -> bool {
    HANDLED.load(Ordering::SeqCst) != SEEN.load(Ordering::SeqCst)
}

/// Each signal ends a wait, whenever it comes: before the call, at its beginning, or while it sleeps.
fn every_signal_is_seen(wait: impl Fn() -> Result<(), Error>) {
    const SIGNALS: usize = 5_000;
    SEEN.store(0, Ordering::SeqCst);
    HANDLED.store(0, Ordering::SeqCst);
    let (waiting, begun) = (pthread_self(), Instant::now());
    let is_seen = |sent| loop {
        match SEEN.load(Ordering::SeqCst) {
            seen if seen >= sent => return true,
            _ if begun.elapsed() > TIMEOUT => return false,
            _ => hint::spin_loop(),
        }
    };
    thread::scope(|scope| {
        let killer = scope.spawn(|| {
            for sent in 1..=SIGNALS {
                kill(waiting);
                if !is_seen(sent) {
                    // Ends the wait, so that the test can fail.
                    kill(waiting);
                    panic!("signal {sent} was slept through");
                }
                // Another moment each time.
                (0..sent * 7 % 3_001).for_each(|_| hint::spin_loop());
            }
        });
        let mut rounds = 0;
        while SEEN.load(Ordering::SeqCst) < SIGNALS && !killer.is_finished() {
            match wait() {
                Err(Error::Interrupted) => {}
                other => panic!("{other:?}"),
            }
            let handled = HANDLED.load(Ordering::SeqCst);
            assert!(handled > SEEN.load(Ordering::SeqCst), "ended for nothing");
            SEEN.store(handled, Ordering::SeqCst);
            rounds += 1;
            (0..rounds * 11 % 1_009).for_each(|_| hint::spin_loop());
        }
        killer.join().unwrap();
    });
}

#[test]
fn no_signal_is_lost_beside_a_flag() {
    let _handler = handler();
    let flag = |builder: SocketBuilder| builder.interrupted_when(is_news);
    for path in Path::all().iter().filter(|path| path.keys.is_none()) {
        let (one, other) = pair(path, PAIRS, flag);
        other.send("there").unwrap();
        assert_eq!(one.recv().unwrap().as_bytes(), b"there");
        every_signal_is_seen(|| one.recv().map(drop));
    }
    let alone = flag(Socket::builder(SocketType::Pair)).build_blocking();
    let alone = alone.unwrap();
    every_signal_is_seen(|| alone.recv().map(drop));
    every_signal_is_seen(|| alone.send("kept").map_err(Error::from));
    let socket = sealwire::Socket::new(SocketType::Pull).unwrap();
    every_signal_is_seen(|| block_on(socket.recv(), None, |_| is_news()).map(drop));
}

/// A signal to the process goes to a thread that lets it in, which is not the one that is about to sleep.
#[test]
fn what_another_thread_handled_is_seen_as_well() {
    let _handler = handler();
    let socket = sealwire::Socket::new(SocketType::Pull).unwrap();
    let (leave, stays) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || stays.recv());
        let mut is_sent = false;
        let ended = block_on(socket.recv(), Some(Instant::now() + TIMEOUT), |_| {
            let news = is_news();
            if !is_sent {
                is_sent = true;
                nix::sys::signal::kill(nix::unistd::getpid(), Signal::SIGUSR1).unwrap();
                while !is_news() {
                    hint::spin_loop();
                }
            }
            news
        });
        drop(leave);
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    });
}

#[test]
fn a_handler_that_sets_no_flag_ends_nothing() {
    let _handler = handler();
    let never = |builder: SocketBuilder| builder.interrupted_when(|| false);
    let (one, other) = pair(&Path::encrypted(), PAIRS, never);
    thread::scope(|scope| {
        scope.spawn(|| {
            eventually("twenty signals", || HANDLED.load(Ordering::SeqCst) >= 20);
            other.send("at last").unwrap();
        });
        let pest = Pest::of_this_thread(PERIOD);
        let received = one.recv();
        drop(pest);
        assert_eq!(received.unwrap().as_bytes(), b"at last");
    });
}

/// The ends are interrupted at least so often.
const INTERRUPTIONS: usize = 50;

#[test]
fn interrupted_ends_neither_lose_nor_double_a_message() {
    let _handler = handler();
    const LEAST: u64 = 10_000;
    const END: u64 = u64::MAX;
    for path in Path::all() {
        let (pull, push) = pair(&path, PIPELINE, |builder| {
            let builder = builder.interruptible(true);
            builder.send_high_water_mark(4).receive_high_water_mark(4)
        });
        let [sending, receiving] = [const { AtomicUsize::new(0) }; 2];
        // The other end waits meanwhile.
        let often_enough = |interruptions: &AtomicUsize| {
            interruptions.load(Ordering::SeqCst) >= INTERRUPTIONS || {
                thread::sleep(PERIOD / 10);
                false
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let _pest = Pest::of_this_thread(PERIOD);
                for number in 0_u64.. {
                    let both =
                        often_enough(&receiving) && sending.load(Ordering::SeqCst) >= INTERRUPTIONS;
                    let last = number >= LEAST && both;
                    let number = if last { END } else { number };
                    let mut message = Message::from(&number.to_be_bytes());
                    while let Err(error) = push.send(message) {
                        assert!(matches!(error.error(), Error::Interrupted), "{error}");
                        sending.fetch_add(1, Ordering::SeqCst);
                        message = error.into_message();
                    }
                    if last {
                        break;
                    }
                }
            });
            let _pest = Pest::of_this_thread(PERIOD);
            for expected in 0_u64.. {
                let message = loop {
                    match pull.recv() {
                        Err(Error::Interrupted) => {
                            receiving.fetch_add(1, Ordering::SeqCst);
                        }
                        received => break received.unwrap(),
                    }
                };
                if message.as_bytes() == END.to_be_bytes() {
                    break;
                }
                let name = path.name();
                assert_eq!(message.as_bytes(), expected.to_be_bytes(), "{name}");
                if receiving.load(Ordering::SeqCst) >= INTERRUPTIONS {
                    often_enough(&sending);
                }
            }
        });
    }
}

/// A waiter that was notified of a message and is interrupted leaves it to another.
#[test]
fn an_interrupted_wait_passes_on_what_it_was_told() {
    let _handler = handler();
    let (pull, push) = pair(&Path::encrypted(), PIPELINE, |builder| {
        builder.interrupted_when(is_news)
    });
    let start = Barrier::new(2);
    for round in 0..1_000_u64 {
        thread::scope(|scope| {
            let other = scope.spawn(|| recv_through_signals(&pull));
            let interrupted = pthread_self();
            let (start, push) = (&start, &push);
            let killer = scope.spawn(move || {
                start.wait();
                push.send("one").unwrap();
                kill(interrupted);
            });
            start.wait();
            match pull.recv() {
                Err(Error::Interrupted) => {}
                received => {
                    assert_eq!(received.unwrap().as_bytes(), b"one", "round {round}");
                    push.send("one").unwrap();
                }
            }
            killer.join().unwrap();
            SEEN.store(HANDLED.load(Ordering::SeqCst), Ordering::SeqCst);
            assert_eq!(other.join().unwrap().as_bytes(), b"one");
        });
    }
}

#[test]
fn futures_that_block_end_at_the_deadline_however_often_they_wake() {
    let restless = std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        std::task::Poll::<()>::Pending
    });
    let ended = block_on(restless, Some(Instant::now() + 20 * PERIOD), |_| false);
    assert!(matches!(ended, Ok(None)), "{ended:?}");
    // The leftover notification wakes the next one for nothing.
    let nested = block_on(
        async { block_on(async { 7 }, None, |_| false).unwrap() },
        None,
        |_| false,
    );
    assert_eq!(nested.unwrap(), Some(Some(7)));
}

/// A signal to the process goes to a thread that takes it: not to one of the library's.
#[cfg(target_os = "linux")]
#[test]
fn the_threads_of_the_library_take_no_signals() {
    let context = Context::new().unwrap();
    let builder = Socket::builder(SocketType::Pull).context(&context);
    let _pull = builder.build_blocking().unwrap();
    // A thread has its name once it runs, and blocks everything for a moment as it begins and ends.
    eventually("threads that block what they may", || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let library = tasks.filter_map(|task| blocked_by_library(&task.unwrap().path()));
        let library: Vec<u64> = library.collect();
        for &blocked in &library {
            assert!(blocks(blocked, Signal::SIGTERM) && blocks(blocked, Signal::SIGINT));
        }
        let all_let_faults_in = !library.iter().any(|&each| blocks(each, Signal::SIGSEGV));
        !library.is_empty() && all_let_faults_in
    });
}

#[cfg(target_os = "linux")]
fn blocks(blocked: u64, signal: Signal) -> bool {
    blocked >> (signal as u32 - 1) & 1 == 1
}

/// The signals that a thread blocks, if it is the library's, and there yet.
#[cfg(target_os = "linux")]
fn blocked_by_library(task: &std::path::Path) -> Option<u64> {
    let name = std::fs::read_to_string(task.join("comm")).ok()?;
    let status = std::fs::read_to_string(task.join("status")).ok()?;
    let mut lines = status.lines();
    let blocked = lines.find_map(|line| line.strip_prefix("SigBlk:"))?;
    let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
    name.starts_with("sealwire-").then_some(blocked)
}
