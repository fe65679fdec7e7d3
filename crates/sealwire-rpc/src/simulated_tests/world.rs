//! Hubs without threads and tasks without an executor, served between the steps of a scene. Tasks are polled
//! only when somebody has woken them, so a wake-up that is missing shows as a task that waits for ever.

use std::any::Any;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use sealwire::simulation::{Network, Scene};

use super::life::Life;
use super::service::Service;
use crate::handler::PoolSteps;
use crate::hub::{Driver, Hub, Steps, Task};
use crate::lock::lock;
use crate::work::simulated::Steps as WorkSteps;

/// Messages that are read at a time at most, where a seed decides.
const BATCH: u64 = 8;
/// Nobody who has something to do is left out for longer. What takes more than its time by more than a few of these
/// is late for another reason than the choice of the seed.
const ROUND: Duration = Duration::from_secs(1);

pub(super) struct World {
    pub(super) scene: Scene,
    pub(super) tasks: Tasks,
    hubs: Vec<Steps>,
    pub(super) pools: Vec<PoolSteps<Service>>,
    work: Vec<(Box<dyn WorkSteps>, Life)>,
    running: Vec<Running>,
    next_round: Duration,
    /// All hubs, distributors and workers that there ever were.
    made: Vec<Weak<dyn Any + Send + Sync>>,
}

struct Running {
    task: Task,
    alarm: Arc<Alarm>,
}

/// Whether a task is to be polled.
struct Alarm(AtomicBool);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What tasks need: to begin others, and to sleep.
#[derive(Clone)]
pub(super) struct Tasks {
    pub(super) driver: Arc<Driver>,
    pub(super) network: Network,
    sleeping: Arc<Mutex<Vec<(Duration, Waker)>>>,
}

impl Tasks {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.driver.add(task);
    }

    pub(super) fn now(&self) -> Duration {
        self.network.now()
    }

    /// A number below `bound`, by the seed.
    pub(super) fn below(&self, bound: u64) -> u64 {
        self.network.below(bound)
    }

    /// Wakes somebody at this time.
    pub(super) fn wake_at(&self, time: Duration, waker: Waker) {
        lock(&self.sleeping).push((time, waker));
    }

    /// Sleeps for this time, in milliseconds.
    pub(super) async fn sleep(&self, milliseconds: u64) {
        let until = self.now() + Duration::from_millis(milliseconds);
        poll_fn(|context| {
            if until <= self.now() {
                return Poll::Ready(());
            }
            lock(&self.sleeping).push((until, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    fn wake(&self) {
        let now = self.now();
        lock(&self.sleeping).retain(|(until, waker)| {
            let sleeps = now < *until;
            if !sleeps {
                waker.wake_by_ref();
            }
            sleeps
        });
    }
}

impl World {
    pub(super) fn new(scene: Scene) -> Self {
        let tasks = Tasks {
            driver: Arc::default(),
            network: scene.network.clone(),
            sleeping: Arc::default(),
        };
        World {
            scene,
            tasks,
            hubs: Vec::new(),
            pools: Vec::new(),
            work: Vec::new(),
            running: Vec::new(),
            next_round: ROUND,
            made: Vec::new(),
        }
    }

    /// Serves a hub from now on, until it has ended.
    pub(super) fn serve(&mut self, hub: &Arc<Hub>) {
        self.hubs.push(Steps::of(hub));
        let hub: Weak<Hub> = Arc::downgrade(hub);
        self.made.push(hub);
    }

    /// Serves a distributor or a worker from now on, until it has ended or its host has.
    pub(super) fn serve_work(&mut self, steps: Box<dyn WorkSteps>, life: &Life) {
        self.made.push(steps.driver());
        self.work.push((steps, life.clone()));
    }

    /// Lets somebody do something, by the seed: the network, a hub, a pool or a task.
    pub(super) fn step(&mut self) {
        let now = self.scene.network.now();
        if self.next_round <= now {
            self.next_round = now + ROUND;
            self.do_all();
        }
        self.take_begun();
        let scene = &mut self.scene;
        match scene.below(8) {
            0..3 => scene.step(),
            3..6 if !self.work.is_empty() => {
                let chosen = scene.below(self.work.len() as u64) as usize;
                let most = match scene.is_stalled() {
                    true => 0,
                    false => 1 + scene.below(BATCH) as usize,
                };
                let (steps, life) = &mut self.work[chosen];
                if life.is_awake(now) {
                    steps.step(most);
                }
            }
            3..5 if !self.hubs.is_empty() => {
                let chosen = scene.below(self.hubs.len() as u64) as usize;
                if !scene.is_stalled() {
                    self.hubs[chosen].read(1 + scene.below(BATCH) as usize);
                }
            }
            5 if !self.hubs.is_empty() => {
                let chosen = scene.below(self.hubs.len() as u64) as usize;
                keep_time(&mut self.hubs[chosen]);
            }
            6 if !self.pools.is_empty() => {
                let chosen = scene.below(self.pools.len() as u64) as usize;
                self.pools[chosen].run_next();
            }
            _ => {
                let is_woken = |running: &Running| running.alarm.0.load(Ordering::Relaxed);
                let woken = self.running.iter().enumerate();
                let woken: Vec<_> = woken.filter(|(_, task)| is_woken(task)).collect();
                if !woken.is_empty() {
                    let chosen = woken[scene.below(woken.len() as u64) as usize].0;
                    self.poll(chosen);
                }
            }
        }
        self.forget_ended();
    }

    fn forget_ended(&mut self) {
        self.hubs.retain(|steps| !steps.is_over());
        self.pools.retain(|steps| !steps.is_over());
        let work = &mut self.work;
        work.retain(|(steps, life)| !steps.is_over() && !life.is_over());
    }

    /// Lets everybody do everything, and time pass, until `time` is over.
    pub(super) fn settle(&mut self, time: Duration) {
        let until = self.scene.network.now() + time;
        while self.scene.network.now() < until {
            while self.do_all() {}
            self.scene.pass(Duration::from_millis(250));
        }
        while self.do_all() {}
    }

    /// Lets everybody do something. Whether somebody did.
    fn do_all(&mut self) -> bool {
        self.take_begun();
        let mut busy = false;
        let is_stalled = self.scene.is_stalled();
        for steps in &mut self.hubs {
            busy |= !is_stalled && steps.read(usize::MAX);
            busy |= keep_time(steps);
        }
        let (now, most) = (self.tasks.now(), if is_stalled { 0 } else { usize::MAX });
        for (steps, life) in &mut self.work {
            busy |= life.is_awake(now) && steps.step(most);
        }
        for pool in &self.pools {
            busy |= pool.run_next();
        }
        for index in (0..self.running.len()).rev() {
            busy |= self.poll(index);
        }
        self.forget_ended();
        busy
    }

    fn take_begun(&mut self) {
        self.tasks.wake();
        let begun = self.tasks.driver.take().into_iter();
        self.running.extend(begun.map(|task| Running {
            task,
            alarm: Arc::new(Alarm(AtomicBool::new(true))),
        }));
    }

    /// Polls a task that was woken. Whether it was.
    fn poll(&mut self, index: usize) -> bool {
        let running = &mut self.running[index];
        let is_woken = running.alarm.0.swap(false, Ordering::Relaxed);
        let waker = running.alarm.clone().into();
        if is_woken
            && running
                .task
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
        {
            drop(self.running.swap_remove(index));
        }
        is_woken
    }

    /// Tasks that have not ended.
    pub(super) fn waiting(&self) -> usize {
        self.running.len()
    }

    /// Asserts that no hub waits for a time.
    pub(super) fn check_timers(&self) {
        let timers = self.hubs.iter().filter(|steps| !steps.has_no_timer());
        assert_eq!(timers.count(), 0, "a hub waits for a time, but for nothing");
        let timers = self.work.iter().filter(|(steps, _)| !steps.has_no_timer());
        assert_eq!(
            timers.count(),
            0,
            "somebody waits for a time, but for nothing"
        );
    }

    /// Ends everything that nobody holds any more, and asserts that nothing is left.
    pub(super) fn end(mut self, time: Duration) {
        self.settle(time);
        assert!(self.hubs.is_empty(), "a hub goes on");
        assert!(self.pools.is_empty(), "a pool goes on");
        assert!(self.work.is_empty(), "a distributor or worker goes on");
        assert!(self.running.is_empty(), "a task goes on");
        let left = self.made.iter().filter(|made| made.strong_count() > 0);
        assert_eq!(
            left.count(),
            0,
            "a hub, a distributor or a worker is still there"
        );
        self.scene.end();
    }
}

fn keep_time(steps: &mut Steps) -> bool {
    steps.keep_time(&mut Context::from_waker(Waker::noop()))
}
