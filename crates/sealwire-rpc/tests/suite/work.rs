//! Acknowledged work over real sockets.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{self, BufRead as _, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sealwire::auth::{AllowAnyone, AllowedKeys};
use sealwire::{Endpoint, Generate as _, KeyPair, PublicKey, Security};
use sealwire_rpc::work::{
    Distributor, DistributorBuilder, Error, Outcome, TaskNumber, Worker, WorkerBuilder,
};

use crate::support::{TIMEOUT, eventually};

struct Scene {
    keys: KeyPair,
}

impl Scene {
    fn new() -> Self {
        Scene {
            keys: KeyPair::generate(),
        }
    }

    fn distributor(&self) -> DistributorBuilder {
        Distributor::builder(Security::blake3_server(self.keys.clone(), AllowAnyone))
            .silence_limit(TIMEOUT)
            .retry_delay(Duration::ZERO)
    }

    fn worker(&self) -> WorkerBuilder {
        Worker::builder(Security::blake3_client(self.keys.public())).silence_limit(TIMEOUT)
    }
}

fn bind(distributor: &Distributor) -> Endpoint {
    distributor.bind("tcp://127.0.0.1:0").unwrap()
}

const TASKS: u32 = 3_000;

/// Takes tasks and says that they are done until it is told to stop. Returns the numbers of those that it did.
fn work(worker: Worker, stop: Arc<AtomicBool>) -> thread::JoinHandle<Vec<(TaskNumber, u32)>> {
    thread::spawn(move || {
        let mut done = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            match worker.take_blocking(Some(Duration::from_millis(20))) {
                Ok(task) => {
                    done.push((
                        task.number(),
                        u32::from_be_bytes(task.body()[..4].try_into().unwrap()),
                    ));
                    task.done();
                }
                Err(Error::TimedOut) => {}
                Err(error) => panic!("{error}"),
            }
        }
        done
    })
}

const HAS_TAKEN: &str = "it has taken five";

/// Begins a process that takes tasks and ends none.
fn doomed_process(endpoint: &Endpoint, scene: &Scene) -> Child {
    let test = "work::takes_five_tasks_and_waits_to_be_killed";
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("SEALWIRE_TEST_ENDPOINT", endpoint.to_string())
        .env("SEALWIRE_TEST_KEY", scene.keys.public().to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "it is the process that another test begins and kills"]
fn takes_five_tasks_and_waits_to_be_killed() {
    let key: PublicKey = env::var("SEALWIRE_TEST_KEY").unwrap().parse().unwrap();
    let endpoint = env::var("SEALWIRE_TEST_ENDPOINT").unwrap();
    let worker = Worker::builder(Security::blake3_client(key))
        .build(&endpoint[..])
        .unwrap();
    let take = |_| worker.take_blocking(Some(TIMEOUT)).unwrap();
    let taken: Vec<_> = (0..5).map(take).collect();
    println!("{HAS_TAKEN}");
    // Longer than its parent waits for anything.
    thread::sleep(2 * TIMEOUT);
    drop(taken);
}

#[test]
fn of_three_workers_one_dies_with_its_tasks_and_all_are_done() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let endpoint = bind(&distributor);
    let stop = Arc::new(AtomicBool::new(false));
    let alive: Vec<_> = (0..2)
        .map(|_| {
            work(
                scene.worker().build(endpoint.clone()).unwrap(),
                stop.clone(),
            )
        })
        .collect();
    let mut doomed = doomed_process(&endpoint, &scene);
    eventually("all workers are there", || {
        distributor.counters().workers == 3
    });
    let add = |number: u32| {
        let body = [&number.to_be_bytes()[..], &[7; 1_000]].concat();
        distributor.add_blocking(body, Some(TIMEOUT)).unwrap();
    };
    (0..TASKS / 3).for_each(add);
    let mut line = String::new();
    let mut output = BufReader::new(doomed.stdout.take().unwrap());
    while !line.contains(HAS_TAKEN) {
        line.clear();
        let read = output.read_line(&mut line).unwrap();
        assert_ne!(read, 0, "it ended by itself");
    }
    // With those that it took, and with those in its buffers.
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    (TASKS / 3..TASKS).for_each(add);
    distributor.finished_blocking(Some(TIMEOUT)).unwrap();
    stop.store(true, Ordering::SeqCst);
    let mut times = BTreeMap::<u32, u32>::new();
    for worker in alive {
        for (_, task) in worker.join().unwrap() {
            *times.entry(task).or_default() += 1;
        }
    }
    let missing: Vec<_> = (0..TASKS)
        .filter(|task| !times.contains_key(task))
        .collect();
    assert_eq!(missing, [0; 0], "nobody did these");
    let counters = distributor.counters();
    assert_eq!(
        (counters.done, counters.pending, counters.set_aside),
        (u64::from(TASKS), 0, 0)
    );
    assert!(counters.lost >= 5, "{counters:?}");
    assert_eq!(counters.handed_out_again, counters.lost);
    let repeated: u32 = times.values().map(|times| times - 1).sum();
    assert_eq!(u64::from(repeated), counters.repeated);
}

#[test]
fn tasks_have_results_and_numbers_that_stay_the_same() {
    let scene = Scene::new();
    let distributor = scene
        .distributor()
        .keep_results(true)
        .max_result(8)
        .build()
        .unwrap();
    let worker = scene.worker().build(bind(&distributor)).unwrap();
    let number = distributor.try_add("task").unwrap();
    for attempt in 1..=3 {
        let task = worker.take_blocking(Some(TIMEOUT)).unwrap();
        assert_eq!((task.number(), task.attempt()), (number, attempt));
        assert_eq!(task.body(), "task");
        match attempt {
            1 => drop(task),
            2 => {
                let error = task.done_with("123456789").unwrap_err();
                assert!(matches!(error, Error::ResultTooLarge { size: 9, limit: 8 }));
            }
            _ => task.done_with("12345678").unwrap(),
        }
    }
    distributor.finished_blocking(Some(TIMEOUT)).unwrap();
    assert_eq!(distributor.next_result(), Some((number, "12345678".into())));
    assert_eq!(distributor.next_result(), None);
    assert_eq!(distributor.counters().failed, 2);
}

#[test]
fn what_fails_is_set_aside_put_back_and_dropped() {
    let scene = Scene::new();
    let distributor = scene.distributor().max_attempts(2).build().unwrap();
    let worker = scene.worker().build(bind(&distributor)).unwrap();
    let number = distributor.try_add("task").unwrap();
    for round in 1..=2 {
        for _ in 0..2 {
            worker
                .take_blocking(Some(TIMEOUT))
                .unwrap()
                .fail("no such file");
        }
        distributor.finished_blocking(Some(TIMEOUT)).unwrap();
        let aside = distributor.set_aside();
        assert_eq!(aside.len(), 1);
        assert_eq!((aside[0].number, aside[0].attempts), (number, 2 * round));
        assert_eq!(aside[0].reason.as_deref(), Some("no such file"));
        if round == 1 {
            assert!(distributor.put_back(number));
        }
    }
    assert_eq!(distributor.drop_aside(number).unwrap().body, "task");
    assert!(distributor.set_aside().is_empty());
}

#[test]
fn outcomes_are_waited_for_one_by_one_and_taken_once() {
    let scene = Scene::new();
    let distributor = scene.distributor().max_attempts(1).keep_results(true);
    let distributor = distributor.build().unwrap();
    let worker = scene.worker().credit(1).build(bind(&distributor)).unwrap();
    assert_eq!(distributor.try_outcome(), None);
    let waiting = distributor.clone();
    let outcomes =
        thread::spawn(move || [(); 2].map(|()| waiting.outcome_blocking(Some(TIMEOUT)).unwrap()));
    let first = distributor.try_add("first").unwrap();
    let second = distributor.try_add("second").unwrap();
    let task = worker.take_blocking(Some(TIMEOUT)).unwrap();
    assert_eq!(task.max_result(), 4 << 10);
    task.done_with("result").unwrap();
    worker.take_blocking(Some(TIMEOUT)).unwrap().fail("no");
    let [done, failed] = outcomes.join().unwrap();
    let result = "result".into();
    assert_eq!(
        done,
        Outcome::Done {
            number: first,
            result
        }
    );
    let Outcome::SetAside(task) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!((task.number, &task.body[..]), (second, &b"second"[..]));
    assert!(task.is_set_aside);
    assert_eq!(distributor.try_outcome(), None);
    assert_eq!(distributor.set_aside(), []);
    // Those who wait hear of the end.
    let waiting = distributor.clone();
    let ended = thread::spawn(move || waiting.outcome_blocking(Some(TIMEOUT)));
    distributor.shutdown(Duration::ZERO);
    assert!(matches!(ended.join().unwrap(), Err(Error::ShutDown)));
}

#[test]
fn a_full_distributor_says_so_or_waits() {
    let scene = Scene::new();
    let distributor = scene
        .distributor()
        .max_tasks(1)
        .max_task(8)
        .build()
        .unwrap();
    let endpoint = bind(&distributor);
    distributor.try_add("first").unwrap();
    let full = distributor.try_add("second").unwrap_err();
    assert!(
        matches!(full, Error::Full { tasks: 1, bytes: 133, ref body } if body == "second"),
        "{full}"
    );
    let large = distributor.try_add("123456789").unwrap_err();
    assert!(matches!(large, Error::TooLarge { size: 9, limit: 8 }));
    let timed_out = distributor.add_blocking("second", Some(Duration::from_millis(1)));
    assert!(matches!(timed_out, Err(Error::TimedOut)));
    let worker = scene.worker().build(endpoint).unwrap();
    let adding = {
        let distributor = distributor.clone();
        thread::spawn(move || distributor.add_blocking("second", Some(TIMEOUT)).unwrap())
    };
    worker.take_blocking(Some(TIMEOUT)).unwrap().done();
    adding.join().unwrap();
    assert_eq!(
        worker.take_blocking(Some(TIMEOUT)).unwrap().body(),
        "second"
    );
}

/// They go together with others; where none follow, time is what sends them.
#[test]
fn tasks_and_outcomes_that_are_held_back_leave_by_themselves() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let worker = scene.worker().build(bind(&distributor)).unwrap();
    eventually("the worker is there", || {
        distributor.counters().workers == 1
    });
    for round in 1..=20 {
        for _ in 0..3 {
            distributor.try_add("task").unwrap();
        }
        eventually("all are handed out", || distributor.counters().out == 3);
        eventually("all are there", || worker.counters().received == 3 * round);
        let before = distributor.counters().done;
        for _ in 0..2 {
            worker.take_blocking(Some(TIMEOUT)).unwrap().done();
        }
        // The third is not taken, and nothing else happens.
        eventually("both are known to be done", || {
            distributor.counters().done == before + 2
        });
        worker.take_blocking(Some(TIMEOUT)).unwrap().done();
        eventually("all are done", || distributor.counters().pending == 0);
    }
}

#[test]
fn a_worker_that_leaves_causes_no_repetition() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let endpoint = bind(&distributor);
    let leaving = scene.worker().credit(10).build(endpoint.clone()).unwrap();
    for number in 0..20_u32 {
        distributor.try_add(number.to_be_bytes().to_vec()).unwrap();
    }
    let begun = leaving.take_blocking(Some(TIMEOUT)).unwrap();
    eventually("its credit is used up", || distributor.counters().out == 10);
    let ended = Arc::new(Mutex::new(false));
    let (worker, has_ended) = (leaving.clone(), ended.clone());
    let left = thread::spawn(move || {
        worker.leave_blocking(Some(TIMEOUT)).unwrap();
        assert!(
            *has_ended.lock().unwrap(),
            "it left before its task had an outcome"
        );
    });
    eventually("the rest is given back", || {
        distributor.counters().returned == 9
    });
    assert!(matches!(leaving.try_take(), Err(Error::ShutDown)));
    *ended.lock().unwrap() = true;
    begun.done();
    left.join().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let other = work(scene.worker().build(endpoint).unwrap(), stop.clone());
    distributor.finished_blocking(Some(TIMEOUT)).unwrap();
    stop.store(true, Ordering::SeqCst);
    let others: BTreeSet<_> = other
        .join()
        .unwrap()
        .into_iter()
        .map(|(_, task)| task)
        .collect();
    assert_eq!(others, (1..20).collect());
    let counters = distributor.counters();
    assert_eq!(
        (counters.lost, counters.repeated, counters.handed_out_again),
        (0, 0, 0)
    );
}

/// Carries connections to an address, until it cuts those that there are.
struct Cable {
    address: SocketAddr,
    carried: Arc<Mutex<Vec<TcpStream>>>,
}

impl Cable {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let cable = Cable {
            address: listener.local_addr().unwrap(),
            carried: Arc::default(),
        };
        let carried = cable.carried.clone();
        thread::spawn(move || {
            for accepted in listener.incoming() {
                let ends = [accepted.unwrap(), TcpStream::connect(server).unwrap()];
                let [here, there] = ends.each_ref().map(|end| end.try_clone().unwrap());
                carried
                    .lock()
                    .unwrap()
                    .extend(ends.each_ref().map(|end| end.try_clone().unwrap()));
                let [client, server] = ends;
                for (mut from, mut to) in [(here, server), (there, client)] {
                    thread::spawn(move || {
                        let _ = io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        cable
    }

    fn cut(&self) {
        for end in self.carried.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn a_worker_connects_again_and_tells_what_it_did_meanwhile() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let endpoint = bind(&distributor);
    let address = endpoint.to_string();
    let cable = Cable::to(address.strip_prefix("tcp://").unwrap().parse().unwrap());
    let worker = scene
        .worker()
        .build(format!("tcp://{}", cable.address))
        .unwrap();
    distributor.try_add("task").unwrap();
    let task = worker.take_blocking(Some(TIMEOUT)).unwrap();
    cable.cut();
    eventually("the worker is back", || {
        distributor.counters().lost == 1 && worker.counters().connections == 2
    });
    task.done();
    distributor.finished_blocking(Some(TIMEOUT)).unwrap();
    let counters = distributor.counters();
    assert_eq!((counters.done, counters.late), (1, 1));
}

#[test]
fn who_is_not_allowed_gets_no_task() {
    let keys = KeyPair::generate();
    let (known, stranger) = (KeyPair::generate(), KeyPair::generate());
    let allowed = AllowedKeys::new().allow_as(known.public(), "known");
    let distributor = Distributor::builder(Security::blake3_server(keys.clone(), allowed))
        .build()
        .unwrap();
    let endpoint = bind(&distributor);
    distributor.try_add("task").unwrap();
    let worker = |own: KeyPair| {
        let security = Security::blake3_client_with_keys(keys.public(), own);
        Worker::builder(security).build(endpoint.clone()).unwrap()
    };
    let refused = worker(stranger);
    let monitor = refused.monitor();
    let admitted = worker(known);
    assert_eq!(
        admitted.take_blocking(Some(TIMEOUT)).unwrap().body(),
        "task"
    );
    eventually("the stranger is refused", || {
        std::iter::from_fn(|| monitor.try_next())
            .any(|event| matches!(event, sealwire::Event::Failed(_)))
    });
    assert!(!refused.is_connected() && matches!(refused.try_take(), Err(Error::WouldBlock)));
    assert_eq!(distributor.counters().workers, 1);
}

#[test]
fn a_monitor_that_comes_with_the_worker_has_its_first_events() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let (worker, monitor) = scene.worker().build_monitored(bind(&distributor)).unwrap();
    eventually("it is connected", || worker.is_connected());
    let mut events = std::iter::from_fn(|| monitor.try_next());
    assert!(events.any(|event| matches!(event, sealwire::Event::Ready { .. })));
}

#[test]
fn sides_with_other_limits_for_tasks_do_not_work_together() {
    let scene = Scene::new();
    let distributor = scene.distributor().max_task(1_000).build().unwrap();
    let worker = scene
        .worker()
        .max_task(999)
        .build(bind(&distributor))
        .unwrap();
    eventually("it is refused", || distributor.counters().violations > 0);
    assert!(!worker.is_connected());
}

#[test]
fn a_shutdown_waits_for_outcomes_and_returns_the_rest() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let worker = scene.worker().credit(1).build(bind(&distributor)).unwrap();
    for task in ["first", "second", "third"] {
        distributor.try_add(task).unwrap();
    }
    let task = worker.take_blocking(Some(TIMEOUT)).unwrap();
    let ending = {
        let distributor = distributor.clone();
        thread::spawn(move || distributor.shutdown(TIMEOUT))
    };
    eventually("nothing is added any more", || {
        matches!(distributor.try_add("late"), Err(Error::ShutDown))
    });
    task.done();
    let left = ending.join().unwrap();
    let bodies = left.iter().map(|task| &task.body[..]);
    // Some may have been added before it began.
    let bodies: Vec<_> = bodies.filter(|body| *body != b"late").collect();
    assert_eq!(bodies, [b"second", &b"third"[..]]);
    assert!(matches!(distributor.try_add("late"), Err(Error::ShutDown)));
}

#[test]
fn large_tasks_and_many_small_ones_arrive_whole() {
    let scene = Scene::new();
    let distributor = scene.distributor().build().unwrap();
    let worker = scene.worker().build(bind(&distributor)).unwrap();
    let sizes = [0, 1, 70, 1_000, 65_000, 65_536, 1 << 20, 4 << 20, 3, 0];
    let body = |index: usize, size: usize| vec![index as u8; size];
    for (index, size) in sizes.into_iter().enumerate() {
        distributor
            .add_blocking(body(index, size), Some(TIMEOUT))
            .unwrap();
    }
    for (index, size) in sizes.into_iter().enumerate() {
        let task = worker.take_blocking(Some(TIMEOUT)).unwrap();
        assert_eq!(task.body()[..], body(index, size), "{size}");
        task.done();
    }
    distributor.finished_blocking(Some(TIMEOUT)).unwrap();
}

#[test]
fn tasks_of_an_executor_wait_in_the_same_way() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    runtime.block_on(async {
        let scene = Scene::new();
        let distributor = scene.distributor().max_tasks(4).build().unwrap();
        let worker = scene.worker().credit(2).build(bind(&distributor)).unwrap();
        let working = tokio::spawn(async move {
            for _ in 0..100 {
                worker.take().await.unwrap().done();
            }
            worker.leave().await.unwrap();
        });
        for _ in 0..100 {
            distributor.add("task").await.unwrap();
        }
        distributor.finished().await.unwrap();
        working.await.unwrap();
        assert_eq!(distributor.counters().done, 100);
    });
}
