//! System calls that take their time, now one and then another: what both sides say to each other comes
//! through whatever the order is in which they get to it.

use super::peers::sides_of;
use super::system::{failing, start};
use crate::support::Running;
use crate::tunnel::ends::{Keys, as_str, content, dial, echo, exchange, service};

const ANY: &str = "tcp://127.0.0.1:0";
/// What the program waits for, and what it moves bytes with.
const CALLS: [&str; 8] = [
    "epoll_wait",
    "recvfrom",
    "read",
    "sendto",
    "writev",
    "write",
    "accept4",
    "futex",
];
/// Of each exchange; a failure names its own.
const SEEDS: std::ops::Range<u64> = 1..4;

/// Delays of up to two milliseconds, for calls that the seed chooses.
fn delays(seed: u64) -> Vec<String> {
    let mut state = seed;
    let mut random = |limit: u64| {
        // Knuth's generator; its upper bits are good enough.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let rule = |call: &&str| {
        let (delay, first, step) = (random(2_000), 1 + random(5), 1 + random(7));
        format!("{call}:delay_enter={delay}:when={first}+{step}")
    };
    CALLS.iter().map(rule).collect()
}

/// The program with these delays. `None` where nothing can be traced.
fn delayed(seed: u64, arguments: &[&str]) -> Option<Running> {
    println!("seed {seed}: {arguments:?}");
    let rules = delays(seed);
    Some(start(&mut failing(&as_str(&rules), arguments)?))
}

fn ends_well(running: Running) {
    running.interrupt();
    running.finish().expect_end(0, "");
}

#[test]
fn of_sockets() {
    for seed in SEEDS {
        let Some(mut rep) = delayed(seed, &["rep", "-b", ANY, "--echo"]) else {
            return;
        };
        let req = ["req", "-c", &rep.endpoint(), "-d", "hello", "-n", "20"];
        let req = delayed(seed + 100, &req).expect("as before").finish();
        assert_eq!(req.expect_end(0, "").text(), "hello\n".repeat(20));
        ends_well(rep);
    }
}

#[test]
fn of_calls() {
    for seed in SEEDS {
        let Some(mut serve) = delayed(seed, &["rpc", "serve", "-b", ANY, "--exec", "cat"]) else {
            return;
        };
        let endpoint = serve.endpoint();
        for number in 0..3 {
            let call = ["rpc", "call", "-c", &endpoint, "-d", "hello"];
            let call = delayed(seed + 100 + number, &call).expect("as before");
            assert_eq!(call.finish().expect_end(0, "").text(), "hello");
        }
        ends_well(serve);
    }
}

#[test]
fn of_proxies() {
    for seed in SEEDS {
        let front = ["proxy", "--frontend-type", "router", "--frontend-bind", ANY];
        let back = ["--backend-type", "dealer", "--backend-bind", ANY];
        let Some(mut proxy) = delayed(seed, &[&front[..], &back].concat()) else {
            return;
        };
        let [frontend, backend] = sides_of(&mut proxy);
        let rep = ["rep", "-c", &backend, "--echo", "-n", "20"];
        let rep = delayed(seed + 100, &rep).expect("as before");
        let req = ["req", "-c", &frontend, "-d", "hello", "-n", "20"];
        let req = delayed(seed + 200, &req).expect("as before").finish();
        assert_eq!(req.expect_end(0, "").text(), "hello\n".repeat(20));
        rep.finish().expect_end(0, "");
        ends_well(proxy);
    }
}

#[test]
fn of_tunnels() {
    let (keys, service) = (Keys::new(), service(echo));
    for seed in SEEDS {
        let listening = keys.listening(&service, &[]);
        let Some(mut listener) = delayed(seed, &as_str(&listening)) else {
            return;
        };
        let connecting = keys.connecting("alice", &listener.endpoint(), &[]);
        let mut connector = delayed(seed + 100, &as_str(&connecting)).expect("as before");
        let entry = connector.endpoint();
        for size in [0, 1, 100_000] {
            let (received, read) = exchange(dial(&entry), content(size));
            read.expect("the end of what came");
            assert!(
                received == content(size),
                "seed {seed}: {} of {size}",
                received.len()
            );
        }
        ends_well(connector);
        ends_well(listener);
    }
}
