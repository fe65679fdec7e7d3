//! The keys of a distributor and its worker are replaced while tasks are handed out.

use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::options::Withdrawn;
use sealwire::{Generate as _, KeyPair, PublicKey, Security};
use sealwire_rpc::work::{Distributor, Error, Worker};

use crate::support::{TIMEOUT, eventually};

fn server(keys: &KeyPair) -> sealwire::Blake3Server {
    Security::blake3_server(keys.clone(), AllowAnyone)
}

fn client(server: PublicKey) -> Security {
    Security::blake3_client(server).into()
}

#[test]
fn tasks_are_done_before_and_after_their_keys_are_replaced() {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let distributor = Distributor::builder(server(&old)).silence_limit(TIMEOUT);
    let distributor = distributor.retry_delay(Duration::ZERO).build().unwrap();
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
    worker
        .renew_security(client(new.public()), Withdrawn::End)
        .unwrap();
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
