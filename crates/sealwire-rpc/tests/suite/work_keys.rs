//! The keys of a distributor and its worker are replaced while tasks are handed out.

use std::time::Duration;

use sealwire::auth::{AllowAnyone, AllowedKeys};
use sealwire::options::Withdrawn;
use sealwire::{Event, Generate as _, KeyPair, Monitor, PublicKey, Security};
use sealwire_rpc::work::{Distributor, Error, Worker};

use crate::support::{TIMEOUT, eventually};

fn server(keys: &KeyPair) -> sealwire::Blake3Server {
    Security::blake3_server(keys.clone(), AllowAnyone)
}

fn client(server: PublicKey) -> Security {
    Security::blake3_client(server).into()
}

fn distributor(security: impl Into<Security>) -> Distributor {
    let distributor = Distributor::builder(security).silence_limit(TIMEOUT);
    distributor.retry_delay(Duration::ZERO).build().unwrap()
}

/// The key that the next connection was made with, or why one failed.
fn next(monitor: &Monitor) -> Result<PublicKey, &'static str> {
    loop {
        match monitor.wait_next_timeout(TIMEOUT).expect("an event") {
            Event::Ready { peer } => return Ok(peer.local_key().expect("a server's")),
            Event::Failed(failure) => return Err(failure.cause().name()),
            _ => {}
        }
    }
}

#[test]
fn tasks_are_done_before_and_after_their_keys_are_replaced() {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let distributor = distributor(server(&old));
    let endpoint = distributor.bind("tcp://127.0.0.1:0").unwrap();
    let worker = Worker::builder(client(old.public())).silence_limit(TIMEOUT);
    let worker = worker.build(endpoint.clone()).unwrap();
    let is_done = |task: &str| {
        distributor.try_add(task.to_owned()).unwrap();
        let taken = worker.take_blocking(Some(TIMEOUT)).unwrap();
        assert_eq!(&taken.body()[..], task.as_bytes());
        taken.done();
        distributor.finished_blocking(Some(TIMEOUT)).unwrap();
    };
    is_done("first");

    let both = server(&new).with_additional_keys(old.clone());
    distributor.renew_security(both, Withdrawn::End).unwrap();
    is_done("while both are good");
    let monitor = distributor.monitor();
    worker
        .renew_security(client(new.public()), Withdrawn::End)
        .unwrap();
    // What it did over the connection that ends might have to be done again.
    assert_eq!(next(&monitor), Ok(new.public()));
    is_done("under the new key");
    distributor
        .renew_security(server(&new), Withdrawn::End)
        .unwrap();
    is_done("once the old one is withdrawn");
    assert_eq!(distributor.counters().repeated, 0);

    // Endpoints of later have the new key too.
    let other = distributor.bind("tcp://127.0.0.1:0").unwrap();
    let late = Worker::builder(client(new.public())).build(other).unwrap();
    eventually("it is there", || late.is_connected());
    let stranger = Worker::builder(client(old.public()))
        .build(endpoint)
        .unwrap();
    let failed = |worker: &Worker| worker.monitor().wait_next_timeout(TIMEOUT).is_some();
    assert!(failed(&stranger) && !stranger.is_connected());

    distributor.shutdown(Duration::ZERO);
    let ended = distributor.renew_security(server(&new), Withdrawn::End);
    assert!(matches!(ended, Err(Error::ShutDown)));
}

#[test]
fn workers_under_a_withdrawn_key_keep_their_tasks_or_lose_them_at_every_endpoint() {
    for withdrawn in [Withdrawn::Stay, Withdrawn::End] {
        let [old, new] = [(); 2].map(|()| KeyPair::generate());
        let distributor = distributor(server(&old));
        let endpoints = [(); 2].map(|()| distributor.bind("tcp://127.0.0.1:0").unwrap());
        let worker_under = |key: &KeyPair, at: usize| {
            let worker = Worker::builder(client(key.public())).silence_limit(TIMEOUT);
            worker.credit(1).build(endpoints[at].clone()).unwrap()
        };
        let workers = [0, 1].map(|at| worker_under(&old, at));
        for task in ["first", "second"] {
            distributor.try_add(task).unwrap();
        }
        let tasks = workers
            .each_ref()
            .map(|it| it.take_blocking(Some(TIMEOUT)).unwrap());
        distributor.renew_security(server(&new), withdrawn).unwrap();

        let late = [0, 1].map(|at| worker_under(&new, at));
        for worker in &late {
            eventually("it is there", || worker.is_connected());
        }
        if withdrawn == Withdrawn::End {
            for worker in &workers {
                eventually("it was turned away", || !worker.is_connected());
            }
            for worker in &late {
                let again = worker.take_blocking(Some(TIMEOUT)).unwrap();
                assert_eq!(again.attempt(), 2);
                again.done();
            }
        } else {
            for task in tasks {
                task.done();
            }
        }
        distributor.finished_blocking(Some(TIMEOUT)).unwrap();
        let stay = withdrawn == Withdrawn::Stay;
        assert_eq!(workers.each_ref().map(Worker::is_connected), [stay; 2]);
    }
}

#[test]
fn a_worker_uses_its_new_keys_at_once_or_where_it_connects_next() {
    for withdrawn in [Withdrawn::End, Withdrawn::Stay] {
        let [old, new] = [(); 2].map(|()| KeyPair::generate());
        let distributor = distributor(server(&old).with_additional_keys(new.clone()));
        let monitor = distributor.monitor();
        let endpoint = distributor.bind("tcp://127.0.0.1:0").unwrap();
        let worker = Worker::builder(client(old.public())).silence_limit(TIMEOUT);
        let worker = worker.build(endpoint).unwrap();
        assert_eq!(next(&monitor), Ok(old.public()));
        worker
            .renew_security(client(new.public()), withdrawn)
            .unwrap();
        if withdrawn == Withdrawn::Stay {
            // Over the connection that stays: another would have been told of first.
            distributor.try_add("task").unwrap();
            worker.take_blocking(Some(TIMEOUT)).unwrap().done();
            distributor.finished_blocking(Some(TIMEOUT)).unwrap();
            let withdraws = distributor.renew_security(server(&new), Withdrawn::End);
            withdraws.unwrap();
            assert_eq!(next(&monitor), Err("key_withdrawn"));
        }
        assert_eq!(next(&monitor), Ok(new.public()));

        worker.leave_blocking(Some(TIMEOUT)).unwrap();
        let left = worker.renew_security(client(old.public()), withdrawn);
        assert!(matches!(left, Err(Error::ShutDown)), "{left:?}");
    }
}

/// With the same keys.
#[test]
fn a_new_authenticator_decides_about_the_workers_that_are_there() {
    let [keys, one, other] = [(); 3].map(|()| KeyPair::generate());
    let distributor = distributor(server(&keys));
    let endpoint = distributor.bind("tcp://127.0.0.1:0").unwrap();
    let worker = |own: &KeyPair| {
        let security = Security::blake3_client_with_keys(keys.public(), own.clone());
        let worker = Worker::builder(security).silence_limit(TIMEOUT);
        worker.credit(1).build(endpoint.clone()).unwrap()
    };
    let first = worker(&one);
    distributor.try_add("task").unwrap();
    let taken = first.take_blocking(Some(TIMEOUT)).unwrap();
    let monitor = first.monitor();
    let list = AllowedKeys::new().allow(other.public());
    let only_the_other = Security::blake3_server(keys.clone(), list);
    distributor
        .renew_security(only_the_other, Withdrawn::End)
        .unwrap();
    assert_eq!(next(&monitor), Err("refused_by_peer"));
    let again = worker(&other).take_blocking(Some(TIMEOUT)).unwrap();
    assert_eq!((again.body(), again.attempt()), (taken.body(), 2));
}
