//! Numbers through the facade `metrics`, as its exporter for Prometheus writes them.

use std::collections::BTreeSet;
use std::time::Duration;

use metrics::with_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use sealwire::blocking::Socket;
use sealwire::metrics::{ContextMetrics, METRICS, MetricKind};
use sealwire::{Context, Security, SocketType};

use crate::support::eventually;

/// Samples without comments: names, labels in order, and values.
fn samples(text: &str) -> BTreeSet<(String, BTreeSet<String>, String)> {
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            // No value of a label in these tests has a comma.
            let labels = labels
                .trim_end_matches('}')
                .split(',')
                .filter(|label| !label.is_empty());
            (
                name.into(),
                labels.map(str::to_owned).collect(),
                value.into(),
            )
        })
        .collect()
}

fn published(publish: impl FnOnce()) -> PrometheusHandle {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    with_local_recorder(&recorder, publish);
    handle
}

/// A context whose sockets have something for every kind of number, and what it has counted.
fn busy() -> (Context, [Socket; 2], ContextMetrics) {
    let context = Context::new().unwrap();
    let [pull, push] = [SocketType::Pull, SocketType::Push].map(|socket_type| {
        let builder = Socket::builder(socket_type).context(&context);
        let builder = builder.heartbeat(Duration::from_millis(10));
        builder
            .security(Security::plain_text())
            .build_blocking()
            .unwrap()
    });
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    push.connect(endpoint).unwrap();
    // Nothing is there.
    push.connect("ipc:///nowhere/at/all").unwrap();
    for _ in 0..3 {
        push.send("message").unwrap();
        pull.recv().unwrap();
    }
    eventually("a round trip and a failure", || {
        let metrics = push.metrics().unwrap();
        let has_failed = metrics
            .failures
            .before_ready()
            .any(|(_, failures)| failures > 0);
        has_failed
            && metrics
                .peers
                .iter()
                .any(|peer| peer.numbers.round_trip.is_some())
    });
    let metrics = context.metrics().unwrap();
    (context, [pull, push], metrics)
}

#[test]
fn an_exporter_has_the_same_numbers_as_our_own_text() {
    let (_context, _sockets, metrics) = busy();
    let with_peers = published(|| metrics.publish_with_peers()).render();
    assert_eq!(
        samples(&with_peers),
        samples(&metrics.prometheus_with_peers())
    );
    for metric in METRICS {
        let kind = match metric.kind {
            MetricKind::Counter if metric.name.ends_with("_seconds_total") => "gauge",
            MetricKind::Histogram => {
                for (suffix, kind) in [
                    ("bucket", "counter"),
                    ("count", "counter"),
                    ("sum", "gauge"),
                ] {
                    let line = format!("# TYPE {}_{suffix} {kind}\n", metric.name);
                    assert!(with_peers.contains(&line), "{line}{with_peers}");
                }
                continue;
            }
            kind => kind.name(),
        };
        for line in [
            format!("# TYPE {} {kind}\n", metric.name),
            format!("# HELP {} {}\n", metric.name, metric.help),
        ] {
            assert!(with_peers.contains(&line), "{line}{with_peers}");
        }
    }
}

#[test]
fn single_peers_are_left_out_unless_they_are_wanted() {
    let (_context, _sockets, metrics) = busy();
    let text = published(|| metrics.publish()).render();
    assert!(!text.contains("sealwire_peer_"), "{text}");
    let own = metrics.prometheus();
    assert_eq!(samples(&text), samples(&own));
    let mut expected = samples(&metrics.prometheus_with_peers());
    expected.retain(|(name, ..)| !name.starts_with("sealwire_peer_"));
    assert_eq!(samples(&own), expected);
}

#[test]
fn a_snapshot_takes_the_place_of_the_one_before() {
    let (context, [pull, push], before) = busy();
    push.send("another").unwrap();
    pull.recv().unwrap();
    let after = context.metrics().unwrap();
    let text = published(|| {
        before.publish();
        after.publish();
        after.publish();
    });
    let text = samples(&text.render());
    assert_eq!(text, samples(&after.prometheus()));
}
