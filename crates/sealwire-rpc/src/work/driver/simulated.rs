//! A driver without a thread: a simulation does what that would, when it chooses to.

use std::any::Any;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use sealwire::{Error as SocketError, Message, Socket};

use super::{Core, Driver};

/// The steps of one driver, of a distributor or of a worker.
pub(crate) trait Steps {
    /// Reads up to `most` messages, and does what the thread would after that. Whether it would be awake.
    fn step(&mut self, most: usize) -> bool;
    /// Whether the thread would have ended.
    fn is_over(&self) -> bool;
    /// Whether the thread would sleep until it is woken.
    fn has_no_timer(&self) -> bool;
    /// The driver, which somebody may still hold in the end.
    fn driver(&self) -> Weak<dyn Any + Send + Sync>;
}

/// What the thread of a driver has in its hands.
struct Played<C> {
    /// Where the socket was full. It has the alarm, so it goes before the driver.
    room: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    driver: Arc<Driver<C>>,
    batch: Vec<Message>,
    due: Option<Duration>,
    is_over: bool,
}

/// Makes a driver, and what plays its thread.
pub(in crate::work) fn play<C: Core>(core: C, socket: Socket) -> (Arc<Driver<C>>, Box<dyn Steps>) {
    let driver = Driver::new(core, socket);
    let steps = Played {
        driver: driver.clone(),
        batch: Vec::new(),
        room: None,
        // It does not sleep before it has done something.
        due: Some(Duration::ZERO),
        is_over: false,
    };
    (driver, Box::new(steps))
}

impl<C: Core> Played<C> {
    /// Takes messages as [`waits::recv_many_unless`](sealwire::waits::recv_many_unless) does. Whether there are more to come.
    fn take(&mut self, most: usize) -> bool {
        while self.batch.len() < most {
            match self.driver.socket.try_recv() {
                Ok(message) => self.batch.push(message),
                Err(SocketError::WouldBlock) => break,
                // What came before it is processed first.
                Err(_) => return !self.batch.is_empty(),
            }
        }
        true
    }
}

impl<C: Core> Steps for Played<C> {
    fn step(&mut self, most: usize) -> bool {
        let goes_on = self.take(most) && !self.driver.ended.load(Ordering::SeqCst);
        if !goes_on {
            self.is_over = true;
            self.driver.end();
            return true;
        }
        let waker = Waker::from(self.driver.alarm.clone());
        let mut context = Context::from_waker(&waker);
        let now = self.driver.socket.context().now();
        let is_awake = !self.batch.is_empty()
            || self.driver.alarm.rung.load(Ordering::SeqCst)
            || self.due.is_some_and(|due| due <= now);
        if !is_awake {
            let due = self.driver.with(|core| core.due());
            let wakes_in_time = |due| self.due.is_some_and(|until| until <= due);
            assert!(
                due.is_none_or(wakes_in_time),
                "it sleeps until {:?}, and nobody wakes it for what is due at {due:?}",
                self.due
            );
            return false;
        }
        self.driver.alarm.rung.store(false, Ordering::SeqCst);
        let mut room = Box::pin(self.driver.socket.room());
        let (is_full, due) = self.driver.iterate(&mut self.batch);
        self.due = due;
        self.room = None;
        if is_full {
            if room.as_mut().poll(&mut context).is_ready() {
                // It would not sleep.
                self.due = Some(now);
            }
            self.room = Some(room);
        }
        true
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn has_no_timer(&self) -> bool {
        self.due.is_none()
    }

    fn driver(&self) -> Weak<dyn Any + Send + Sync> {
        let driver: Weak<Driver<C>> = Arc::downgrade(&self.driver);
        driver
    }
}
