//! The numbers of contexts, sockets, endpoints and peers, and their samples.

use std::collections::HashSet;
use std::time::Duration;

use crate::support::{Path, TIMEOUT, await_event, eventually, options};
use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::metrics::{
    MAX_SAMPLED_PEERS, METRICS, MetricKind, RECENT_FAILURES, Sample, SocketMetrics, Value,
};
use sealwire::{Context, Event, Generate as _, KeyPair, Security, SocketType};

fn metrics(socket: &Socket) -> SocketMetrics {
    socket.metrics().unwrap()
}

#[test]
fn a_message_is_counted_at_the_peer_the_endpoint_and_the_socket() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        for _ in 0..10 {
            push.send("message").unwrap();
        }
        for _ in 0..10 {
            pull.recv().unwrap();
        }
        for (socket, sent, received) in [(&push, 10, 0), (&pull, 0, 10)] {
            let metrics = metrics(socket);
            assert_eq!(metrics.counters, socket.counters(), "{}", path.name());
            let [endpoint] = &metrics.endpoints[..] else {
                panic!("{metrics:?}");
            };
            let [peer] = &metrics.peers[..] else {
                panic!("{metrics:?}");
            };
            for traffic in [peer.numbers.traffic, endpoint.traffic] {
                assert_eq!(traffic.messages_sent, sent, "{}", path.name());
                assert_eq!(traffic.bytes_sent, 7 * sent);
                assert_eq!(traffic.messages_received, received);
                assert_eq!(traffic.bytes_received, 7 * received);
            }
            assert_eq!((endpoint.peers, endpoint.connections), (1, 1));
            assert_eq!(endpoint.bound, received > 0);
            assert_eq!(metrics.counters.messages_sent, sent);
            assert_eq!(metrics.counters.bytes_received, 7 * received);
        }
        assert!(metrics(&push).time_to_send.count() > 0, "{}", path.name());
        assert!(metrics(&pull).time_to_receive.count() > 0);
    }
}

#[test]
fn the_numbers_of_a_peer_that_is_gone_stay_with_its_endpoint() {
    let path = Path::encrypted();
    let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
    push.send("message").unwrap();
    pull.recv().unwrap();
    push.close().unwrap();
    eventually("gone", || metrics(&pull).peers.is_empty());
    let metrics = metrics(&pull);
    let endpoint = &metrics.endpoints[0];
    assert_eq!((endpoint.peers, endpoint.connections), (0, 1));
    assert_eq!(endpoint.traffic.messages_received, 1);
    assert_eq!(endpoint.traffic.bytes_received, 7);
    assert_eq!(metrics.counters.messages_received, 1);
}

#[test]
fn a_failed_handshake_is_counted_by_its_cause_and_so_are_attempts_that_follow() {
    let stranger = KeyPair::generate();
    let server = KeyPair::generate();
    let allowed = AllowedKeys::new();
    let pull = options(SocketType::Pull)
        .security(Security::blake3_server(server.clone(), allowed))
        .build_blocking()
        .unwrap();
    let push = options(SocketType::Push)
        .security(Security::blake3_client_with_keys(server.public(), stranger))
        .reconnect(Duration::from_millis(1), Duration::from_millis(10))
        .build_blocking()
        .unwrap();
    let bound = pull.bind("tcp://127.0.0.1:0").unwrap();
    push.connect(&bound).unwrap();
    eventually("again", || metrics(&push).endpoints[0].reconnects >= 2);
    for (socket, cause) in [(&pull, "refused"), (&push, "refused_by_peer")] {
        let metrics = metrics(socket);
        let failed = metrics.failures;
        let of_cause = failed.before_ready().find(|(name, _)| *name == cause);
        assert!(of_cause.unwrap().1 > 0, "{failed:?}");
        assert!(failed.after_ready().all(|(_, count)| count == 0));
        let before: u64 = failed.before_ready().map(|(_, count)| count).sum();
        assert_eq!(failed.total(), before);
        assert_eq!(metrics.endpoints[0].connections, 0);
        // Another attempt may have failed since the ones of the socket were read.
        let at_endpoint = metrics.endpoints[0].failures;
        let of_cause = at_endpoint.before_ready().find(|(name, _)| *name == cause);
        assert_eq!(of_cause.unwrap().1, at_endpoint.total());
        assert!(at_endpoint.total() > 0);
    }
    let of_push = metrics(&push);
    assert_eq!(of_push.counters.reconnects, of_push.endpoints[0].reconnects);
}

#[test]
fn failures_are_counted_at_the_endpoint_that_they_came_through() {
    let context = Context::new().unwrap();
    let path = Path::encrypted();
    let server = path.server(SocketType::Pull).context(&context);
    let client = path.client(SocketType::Push).context(&context);
    let client = client.reconnect(Duration::from_millis(1), Duration::from_millis(10));
    let (_pull, push) = path.link(server, client);
    let good = metrics(&push).endpoints[0].endpoint.clone();
    let nowhere: sealwire::Endpoint = "ipc:///nowhere/at/all".parse().unwrap();
    // The second has the same labels as the first.
    push.connect(&nowhere).unwrap();
    push.connect(&nowhere).unwrap();
    eventually("failed twice", || metrics(&push).failures.total() >= 2);
    let snapshot = metrics(&push);
    let of = |endpoint: &sealwire::Endpoint| -> u64 {
        let of_it = snapshot
            .endpoints
            .iter()
            .filter(|it| it.endpoint == *endpoint);
        of_it.map(|it| it.failures.total()).sum()
    };
    assert_eq!(of(&good), 0);
    assert!(of(&nowhere) >= 2);
    let samples = context.metrics().unwrap().samples();
    let of_endpoints: Vec<_> = samples
        .iter()
        .filter(|it| it.metric.name == "sealwire_endpoint_failures_total")
        .collect();
    let [sample] = of_endpoints[..] else {
        panic!("{of_endpoints:?}");
    };
    assert_eq!(
        sample.labels[2..],
        ["connected", "ipc:///nowhere/at/all", "handshake", "connect"]
    );
    eventually("more than are remembered", || {
        metrics(&push).failures.total() > RECENT_FAILURES as u64
    });
    let recent = metrics(&push).recent_failures;
    assert_eq!(recent.len(), RECENT_FAILURES);
    assert!(recent.is_sorted_by(|older, newer| older.ago >= newer.ago));
    assert_eq!(recent[0].failure.endpoint(), &nowhere);
    assert!(recent[0].ago > recent[RECENT_FAILURES - 1].ago);
    push.disconnect(&nowhere).unwrap();
    push.disconnect(&nowhere).unwrap();
    assert_eq!(metrics(&push).endpoints.len(), 1);
}

#[test]
fn a_peer_has_its_numbers_as_they_were_when_accounts_were_asked_for() {
    // Within the process messages arrive in batches.
    let path = Path::encrypted();
    let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
    for _ in 0..3 {
        push.send("message").unwrap();
    }
    eventually("arrived", || metrics(&pull).inbound.messages == 3);
    let [peer] = &pull.accounts()[..] else {
        panic!("one peer");
    };
    let numbers = peer.numbers();
    assert_eq!(numbers.traffic.messages_received, 3);
    assert_eq!((numbers.inbound.messages, numbers.inbound.bytes), (3, 21));
    assert!(!numbers.age.is_zero());
    pull.recv().unwrap();
    assert_eq!(peer.numbers(), numbers);
    assert_eq!(pull.peers().len(), 1);
    assert_eq!(peer.numbers().inbound.messages, 2);
    assert!(peer.numbers().age >= numbers.age);
    let named = peer.numbers().named();
    let find = |name| named.iter().find(|it| it.0 == name).unwrap().1.as_f64();
    assert_eq!(
        (find("bytes_received"), find("inbound_most_messages")),
        (21.0, 3.0)
    );
    assert_eq!(find("outbound_messages"), 0.0);
    drop(push);
    // What it left to be read is still its own.
    eventually("gone", || pull.peers().is_empty());
    assert_eq!(pull.accounts()[0].numbers().inbound.messages, 2);
}

#[test]
fn a_peer_for_whom_messages_wait_counts_once_it_is_there() {
    let push = options(SocketType::Push).queue_per_endpoint(true);
    let push = push.security(Security::plain_text());
    let push = push.build_blocking().unwrap();
    push.connect("ipc:///nowhere/at/all").unwrap();
    push.send("message").unwrap();
    let metrics = metrics(&push);
    assert_eq!(metrics.outbound.messages, 1);
    assert_eq!((metrics.peers.len(), metrics.endpoints[0].peers), (0, 0));
}

/// Where a message is framed once for several peers.
#[test]
fn each_peer_of_a_publisher_has_the_bytes_that_it_was_sent() {
    let security = Security::plain_text;
    let [publisher, one, other] = [SocketType::Pub, SocketType::Sub, SocketType::Sub]
        .map(|it| options(it).security(security()).build_blocking().unwrap());
    let endpoint = publisher.bind("tcp://127.0.0.1:0").unwrap();
    for subscriber in [&one, &other] {
        subscriber.subscribe("").unwrap();
        subscriber.connect(&endpoint).unwrap();
    }
    publisher.wait_subscribed("", 2).unwrap();
    for _ in 0..20 {
        publisher.send("message").unwrap();
    }
    for subscriber in [&one, &other] {
        for _ in 0..20 {
            subscriber.recv().unwrap();
        }
    }
    let peers = metrics(&publisher).peers;
    assert_eq!(peers.len(), 2);
    for peer in peers {
        let traffic = peer.numbers.traffic;
        assert_eq!((traffic.messages_sent, traffic.bytes_sent), (20, 140));
        assert_eq!(peer.numbers.outbound.bytes, 0);
        assert_eq!(peer.peer.numbers().traffic, traffic);
    }
}

/// It cannot talk with itself, and both ends of each attempt know.
#[test]
fn an_endpoint_that_a_socket_is_bound_and_connected_to_has_two_counts_of_failures() {
    let pull = options(SocketType::Pull).security(Security::plain_text());
    let pull = pull.build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    pull.connect(&endpoint).unwrap();
    eventually("both have failed", || {
        let endpoints = metrics(&pull).endpoints;
        assert_eq!((endpoints.len(), endpoints[0].bound), (2, true));
        endpoints.iter().all(|it| it.failures.total() > 0)
    });
}

#[test]
fn a_connection_that_breaks_counts_after_its_handshake() {
    let path = Path::encrypted();
    let small = path.server(SocketType::Pull).max_message_size(10);
    let (pull, push) = path.link(small, path.client(SocketType::Push));
    let monitor = pull.monitor();
    push.send(vec![7; 100]).unwrap();
    await_event(&monitor, "failed", |event| {
        matches!(event, Event::Failed(_)).then_some(())
    });
    let failures = metrics(&pull).failures;
    let after: Vec<_> = failures.after_ready().filter(|(_, n)| *n > 0).collect();
    assert_eq!(after, [("too_large", 1)]);
    assert_eq!(metrics(&pull).endpoints[0].failures, failures);
}

#[test]
fn a_peer_that_answers_heartbeats_has_a_round_trip() {
    let path = Path::encrypted();
    let beating = path
        .client(SocketType::Push)
        .heartbeat(Duration::from_millis(10))
        .heartbeat_timeout(TIMEOUT);
    let (pull, push) = path.link(path.server(SocketType::Pull), beating);
    let noted = || metrics(&push).peers.first()?.numbers.round_trip;
    eventually("a round trip", || noted().is_some());
    let round_trip = noted().unwrap();
    assert!(round_trip.min <= round_trip.last && round_trip.min <= round_trip.smoothed);
    // The side without heartbeats has none.
    assert_eq!(metrics(&pull).peers[0].numbers.round_trip, None);
}

#[test]
fn queues_show_what_waits_and_the_memory_that_is_held() {
    let path = Path::encrypted();
    let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
    for _ in 0..10 {
        push.send(vec![1; 1_000]).unwrap();
    }
    eventually("arrived", || metrics(&pull).inbound.messages == 10);
    let numbers = metrics(&pull);
    assert_eq!(
        (numbers.inbound.bytes, numbers.inbound.most_messages),
        (10_000, 10)
    );
    assert!(numbers.held(sealwire::account::Kind::Received) >= 10_000);
    assert_eq!(numbers.peers[0].numbers.inbound, numbers.inbound);
    for _ in 0..10 {
        pull.recv().unwrap();
    }
    let read = metrics(&pull).inbound;
    assert_eq!((read.messages, read.bytes, read.most_messages), (0, 0, 10));
}

/// A context with traffic over each transport, and a socket that is connected twice to one endpoint.
fn busy() -> (Context, Vec<Socket>) {
    let context = Context::new().unwrap();
    let mut sockets = Vec::new();
    for path in Path::all() {
        let server = path.server(SocketType::Pull).context(&context);
        let client = path.client(SocketType::Push).context(&context);
        let (pull, push) = path.link(server, client);
        push.connect(&pull.metrics().unwrap().endpoints[0].endpoint)
            .unwrap();
        eventually("both", || metrics(&pull).peers.len() == 2);
        push.send("message").unwrap();
        pull.recv().unwrap();
        sockets.extend([pull, push]);
    }
    (context, sockets)
}

#[test]
fn a_context_knows_its_threads_and_its_sockets() {
    let (context, sockets) = busy();
    let numbers = context.metrics().unwrap();
    assert_eq!(numbers.sockets.len(), sockets.len());
    let [thread] = numbers.threads[..] else {
        panic!("{numbers:?}");
    };
    assert!(thread.iterations > 0 && !thread.busy.is_zero());
    assert!(thread.busy <= numbers.age);
    let count = sockets.len();
    let mut sockets = sockets.into_iter();
    sockets.next().unwrap().close().unwrap();
    let left = || context.metrics().unwrap().sockets.len();
    eventually("one less", || left() == count - 1);
}

#[test]
fn each_sample_has_the_labels_of_its_metric_and_is_the_only_one_with_them() {
    let (context, sockets) = busy();
    let samples = context.metrics().unwrap().samples();
    let mut seen = HashSet::new();
    for sample in &samples {
        let Sample {
            metric,
            labels,
            value,
            ..
        } = sample;
        assert!(metric.name.starts_with("sealwire_"));
        assert_eq!(labels.len(), metric.labels.len(), "{}", metric.name);
        assert!(seen.insert((metric.name, labels.clone())), "{sample:?}");
        let times = matches!(value, Value::Times(_));
        assert_eq!(times, metric.kind == MetricKind::Histogram);
        let total = metric.name.ends_with("_total");
        assert_eq!(total, metric.kind == MetricKind::Counter, "{}", metric.name);
    }
    let total = |name: &str, label: &str| -> u64 {
        let of_name = samples.iter().filter(|it| it.metric.name == name);
        let of_label = of_name.filter(|it| it.labels.iter().any(|it| it == label));
        of_label
            .map(|it| match it.value {
                Value::Count(count) => count,
                _ => panic!("{it:?}"),
            })
            .sum()
    };
    let messages = sockets.len() as u64 / 2;
    for name in [
        "sealwire_messages_total",
        "sealwire_endpoint_messages_total",
        "sealwire_peer_messages_total",
    ] {
        for direction in ["in", "out"] {
            assert_eq!(total(name, direction), messages, "{name} {direction}");
        }
    }
}

#[test]
fn samples_name_the_allowed_number_of_peers_and_no_more() {
    let (context, _sockets) = busy();
    let mut numbers = context.metrics().unwrap();
    for socket in &mut numbers.sockets {
        let peer = socket.peers[0].clone();
        socket.peers = vec![peer; MAX_SAMPLED_PEERS + 1];
    }
    let samples = numbers.samples();
    let of_peers = samples.iter().filter(|it| {
        it.metric.name == "sealwire_peer_messages_total" && it.labels.iter().any(|it| it == "in")
    });
    assert_eq!(of_peers.count(), MAX_SAMPLED_PEERS * numbers.sockets.len());
}

#[test]
fn the_text_has_each_metric_once_with_all_its_samples_behind_it() {
    let (context, _sockets) = busy();
    let text = context.metrics().unwrap().prometheus_with_peers();
    let mut types = HashSet::new();
    let mut current = "";
    let mut lines = HashSet::new();
    for line in text.lines() {
        if let Some(of) = line.strip_prefix("# TYPE ") {
            let (name, kind) = of.split_once(' ').unwrap();
            let metric = METRICS.iter().find(|metric| metric.name == name).unwrap();
            assert_eq!(kind, metric.kind.name());
            assert!(types.insert(name), "{name} twice");
            current = name;
        } else if !line.starts_with("# HELP ") {
            assert!(line.starts_with(current), "{line} behind {current}");
            let (series, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            assert!(lines.insert(series), "{line} twice");
        }
    }
    assert!(types.contains("sealwire_time_in_queue_seconds"), "{text}");
}
