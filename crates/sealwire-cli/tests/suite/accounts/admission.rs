//! Connections, their handshakes, deadlines and log lines.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use sealwire::account::{Excess, Kind};
use sealwire::{Endpoint, Event, FailureCause, Generate as _, KeyPair, Monitor, SocketType};

use super::bystander::{LIMIT, Server, answer_the_bystander, eventually, peer_named, within_bound};

/// Longer than any test takes: what ends, ends for another reason.
const NEVER: Duration = Duration::from_secs(3_600);

fn dial(endpoint: &Endpoint) -> TcpStream {
    let address = endpoint.to_string();
    let stream = TcpStream::connect(address.trim_start_matches("tcp://")).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

fn await_failure(monitor: &Monitor, is_it: impl Fn(&FailureCause) -> bool) {
    eventually("the failure is told", || {
        let event = monitor.wait_next_timeout(LIMIT).expect("an event in time");
        matches!(event, Event::Failed(failure) if is_it(failure.cause()))
    });
}

/// A key that has all the connections one key may have gets no other.
pub(crate) fn connections() {
    assert_eq!(Kind::Connections.excess(), Excess::Refused);
    let server = Server::new();
    let router = server
        .socket(SocketType::Router)
        .max_connections_per_key(2)
        .build_blocking()
        .unwrap();
    let monitor = router.monitor();
    let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
    let mut bystander = server.bystander(&endpoint);
    bystander.works(|| drop(answer_the_bystander(&router)));

    let keys = KeyPair::generate();
    let attackers: Vec<_> = (0..3)
        .map(|number| {
            let attacker = server.peer_with(SocketType::Dealer, keys.clone());
            let attacker = attacker.build_blocking().unwrap();
            attacker.connect(endpoint.clone()).unwrap();
            if number < 2 {
                eventually("let in", || router.peers().len() == 2 + number);
            }
            attacker
        })
        .collect();
    await_failure(&monitor, |cause| {
        matches!(cause, FailureCause::KeyLimit { limit: 2 })
    });
    assert!(router.counters().exceeded(Kind::Connections) > 0);
    bystander.works(|| drop(answer_the_bystander(&router)));
    let peers = router.peers().into_iter();
    let peers: Vec<_> = peers
        .filter(|peer| peer.public_key() == Some(keys.public()))
        .collect();
    assert_eq!(peers.len(), 2);
    for peer in peers {
        assert_eq!(peer.account().held(Kind::Connections), 1);
    }
    drop(attackers);
    bystander.works(|| drop(answer_the_bystander(&router)));
}

/// An address that begins handshakes and goes on with none loses the oldest of its own.
pub(crate) fn handshakes() {
    assert_eq!(Kind::Handshakes.excess(), Excess::Refused);
    const ALL: usize = 40;
    const OF_ONE: usize = ALL / 4;
    let server = Server::new();
    let (router, endpoint, mut bystander) =
        server.router(|socket| socket.max_handshakes(ALL).handshake_timeout(NEVER));

    let mut strangers = Vec::new();
    for number in 0..3 * ALL {
        strangers.push(dial(&endpoint));
        if let Some(oldest) = number.checked_sub(OF_ONE) {
            let end = std::io::copy(&mut strangers[oldest], &mut std::io::sink());
            assert!(
                !matches!(&end, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock),
                "the oldest of {number} has not given way"
            );
        }
    }
    let evicted = (strangers.len() - OF_ONE) as u64;
    assert_eq!(router.counters().exceeded(Kind::Handshakes), evicted);
    bystander.works(|| drop(answer_the_bystander(&router)));
    // A client that goes on with its handshake is let in, from the same address too.
    drop(bystander);
    let mut late = server.bystander(&endpoint);
    late.works(|| drop(answer_the_bystander(&router)));
}

/// However often a peer moves its deadlines, it has one timer.
pub(crate) fn timers() {
    assert_eq!(Kind::Timers.excess(), Excess::Refused);
    let server = Server::new();
    let (router, endpoint, mut bystander) = server.router(|socket| socket.heartbeat(NEVER));

    let attacker = server.peer(SocketType::Dealer).routing_id("attacker");
    let attacker = attacker.build_blocking().unwrap();
    attacker.connect(endpoint).unwrap();
    for number in 0..2_000_u32 {
        attacker.send(&number.to_be_bytes()).unwrap();
        let message = router.recv().unwrap();
        assert_eq!(message.frame(0), Some(&b"attacker"[..]));
        within_bound(peer_named(&router, "attacker").account(), Kind::Timers, 1);
    }
    let attacks = peer_named(&router, "attacker");
    assert_eq!(attacks.account().held(Kind::Timers), 1);
    bystander.works(|| drop(answer_the_bystander(&router)));
}

/// Connections that fail faster than once a second for the same cause are told of in one line.
pub(crate) fn log_lines() {
    assert_eq!(Kind::LogLines.excess(), Excess::Refused);
    let server = Server::new();
    let router = server.socket(SocketType::Router).build_blocking().unwrap();
    let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
    let mut bystander = server.bystander(&endpoint);
    bystander.works(|| drop(answer_the_bystander(&router)));

    eventually("lines are left out", || {
        let mut noise = dial(&endpoint);
        // It may be closed before all of it is read.
        let _ = noise.write_all(b"GET / HTTP/1.1\r\n\r\n");
        let _ = noise.read_to_end(&mut Vec::new());
        router.counters().exceeded(Kind::LogLines) >= 10
    });
    assert!(router.counters().handshakes_failed > 10);
    bystander.works(|| drop(answer_the_bystander(&router)));
}
