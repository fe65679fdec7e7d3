//! Programs that answer calls, do work and print keys: each gets something to read, and what it writes is read. What a program has
//! started is ended with it: its children have its pipes, and would keep its place.

mod exchange;

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

pub(crate) use self::exchange::{Trouble, exchange};
use self::system::Group;
use crate::file_size;

/// Whether somebody still wants what a program does.
pub(crate) trait Wanted {
    /// Waits until nobody does, as far as that comes without being due at a time.
    fn withdrawn(&self) -> impl Future<Output = ()>;
    /// Whether nobody does, also because its time is over.
    fn is_withdrawn(&self) -> bool;
    /// The time that it has; `None` for no limit.
    fn time_left(&self) -> Option<Duration>;
}

/// When a program has had its time; never without one.
pub(crate) struct TimeLimit(Option<Instant>);

impl TimeLimit {
    /// From now on; `None` for no limit.
    pub(crate) fn within(limit: Option<Duration>) -> Self {
        TimeLimit(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }
}

impl Wanted for TimeLimit {
    fn withdrawn(&self) -> impl Future<Output = ()> {
        std::future::pending()
    }

    fn is_withdrawn(&self) -> bool {
        self.0.is_some_and(|end| end <= Instant::now())
    }

    fn time_left(&self) -> Option<Duration> {
        let end = self.0?;
        Some(end.saturating_duration_since(Instant::now()))
    }
}

/// Those under way.
pub(crate) struct Programs {
    /// What each has started; nothing once none is to begin any more.
    groups: Mutex<Option<Vec<Group>>>,
}

impl Programs {
    pub(crate) fn new() -> Self {
        let groups = Mutex::new(Some(Vec::new()));
        Programs { groups }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Group>>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, command: &mut Command) -> io::Result<Program<'_>> {
        let command = system::apart(command);
        let child = file_size::with_its_signal(|| command.spawn())?;
        let mut program = Program {
            group: Group::of(&child),
            child,
            programs: self,
        };
        match &mut *self.lock() {
            Some(groups) => groups.push(program.group),
            None => program.kill(),
        }
        Ok(program)
    }

    /// Ends all of them, for good, and says how many there were.
    pub(crate) fn end(&self) -> usize {
        // Under the lock nobody gives up the number of a group.
        let mut groups = self.lock();
        let ended = groups.take().unwrap_or_default();
        ended.iter().for_each(|group| group.kill());
        ended.len()
    }
}

struct Program<'a> {
    child: Child,
    group: Group,
    programs: &'a Programs,
}

type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl Program<'_> {
    fn pipes(&mut self) -> Pipes {
        let child = &mut self.child;
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    }

    /// Waits until it is over and its pipes are closed, but ends it when nobody wants it any more.
    fn wait(&mut self, wanted: &impl Wanted, open: &Open) -> io::Result<Option<ExitStatus>> {
        system::wait(self, wanted, open)
    }

    /// Ends a program that cannot be served.
    fn end(&mut self) {
        self.kill();
        let _ = self.bury();
    }

    fn kill(&mut self) {
        self.group.kill();
        // It has ended by itself, or will when what it reads and writes is gone.
        let _ = self.child.kill();
    }

    /// Waits for one that has ended. Its number may be another's right after.
    fn bury(&mut self) -> io::Result<ExitStatus> {
        if let Some(groups) = &mut *self.programs.lock() {
            groups.retain(|group| *group != self.group);
        }
        self.child.wait()
    }
}

/// The parts of a program that are still open: itself and its pipes.
struct Open {
    count: AtomicUsize,
    waiting: Thread,
}

impl Open {
    /// Starts with `count` of them, for whose end this thread waits.
    fn new(count: usize) -> Self {
        Open {
            count: AtomicUsize::new(count),
            waiting: thread::current(),
        }
    }

    /// One does no longer.
    fn close(&self) {
        if self.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.waiting.unpark();
        }
    }

    fn is_over(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::os::unix::process::CommandExt as _;
    use std::pin::pin;
    use std::process::{Child, Command, ExitStatus};
    use std::sync::Arc;
    use std::task::{Context, Wake, Waker};
    use std::thread::{self, Thread};

    use super::{Open, Program, Wanted};
    use crate::threads;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    pub(super) fn apart(command: &mut Command) -> &mut Command {
        command.process_group(0)
    }

    /// The process group of a program that was started apart.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Group(Pid);

    impl Group {
        pub(super) fn of(program: &Child) -> Self {
            Group(Pid::from_child(program))
        }

        /// Not once the program was waited for.
        pub(super) fn kill(self) {
            // A program that has changed its user cannot be killed.
            let _ = kill_process_group(self.0, Signal::KILL);
        }
    }

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    pub(super) fn wait(
        program: &mut Program<'_>,
        wanted: &impl Wanted,
        open: &Open,
    ) -> io::Result<Option<ExitStatus>> {
        let pid = Pid::from_child(&program.child);
        thread::scope(|scope| {
            let end = threads::spawn_within(scope, || {
                // It stays to be waited for, so that its number is not given to another program.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
                open.close();
            })?;
            let waker = Waker::from(Arc::new(Unpark(thread::current())));
            let mut context = Context::from_waker(&waker);
            let mut withdrawn = pin!(wanted.withdrawn());
            loop {
                if open.is_over() {
                    return program.bury().map(Some);
                }
                if withdrawn.as_mut().poll(&mut context).is_ready() || wanted.is_withdrawn() {
                    program.kill();
                    let _ = end.join();
                    program.bury()?;
                    return Ok(None);
                }
                match wanted.time_left() {
                    Some(left) => thread::park_timeout(left),
                    None => thread::park(),
                }
            }
        })
    }
}

/// Systems where a program is either waited for or ended, and its children are not known.
#[cfg(not(unix))]
mod system {
    use std::io;
    use std::process::{Child, Command, ExitStatus};
    use std::thread;
    use std::time::Duration;

    use super::{Open, Program, Wanted};

    /// How often a running program is looked at.
    const INTERVAL: Duration = Duration::from_millis(5);

    pub(super) fn apart(command: &mut Command) -> &mut Command {
        command
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Group;

    impl Group {
        pub(super) fn of(_: &Child) -> Self {
            Group
        }

        pub(super) fn kill(self) {}
    }

    pub(super) fn wait(
        program: &mut Program<'_>,
        wanted: &impl Wanted,
        open: &Open,
    ) -> io::Result<Option<ExitStatus>> {
        let mut runs = true;
        loop {
            if runs && program.child.try_wait()?.is_some() {
                runs = false;
                open.close();
            }
            if open.is_over() {
                return program.bury().map(Some);
            }
            if wanted.is_withdrawn() {
                program.end();
                return Ok(None);
            }
            thread::sleep(INTERVAL);
        }
    }
}
