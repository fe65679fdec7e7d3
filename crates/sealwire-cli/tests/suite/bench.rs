//! `sealwire bench`: whether it measures, not how fast.

use crate::support;
use serde_json::Value;

fn measure(kind: &str, options: &[&str]) -> Value {
    let common = ["bench", kind, "--json", "--seconds", "0.2", "--size", "100"];
    let finished = support::run(&[&common[..], options].concat()).expect_code(0);
    assert_eq!(finished.text().lines().count(), 1, "{finished:?}");
    serde_json::from_str(finished.text()).expect("one JSON object")
}

#[track_caller]
fn assert_positive(record: &Value, fields: &[&str]) {
    for field in fields {
        assert!(
            record[*field].as_f64().is_some_and(|value| value > 0.0),
            "{field}: {record}"
        );
    }
}

#[test]
fn throughput_of_each_pattern() {
    for pattern in ["push-pull", "req-rep", "pub-sub"] {
        for mechanism in ["null", "blake3"] {
            let options = ["--pattern", pattern, "--mechanism", mechanism];
            let record = measure("throughput", &options);
            assert_eq!(record["mechanism"], mechanism);
            assert_eq!(record["pattern"], pattern);
            assert_eq!(record["size"], 100);
            let rates = [
                "messages",
                "messages_per_second",
                "megabytes_per_second",
                "seconds",
            ];
            assert_positive(&record, &rates);
        }
    }
}

#[test]
fn latency_percentiles() {
    let record = measure("latency", &[]);
    assert_positive(&record, &["messages", "p50_us", "p99_us"]);
    assert!(record["p50_us"].as_f64() <= record["p99_us"].as_f64());
}

#[test]
fn handshakes() {
    let record = measure("handshake", &["--mechanism", "blake3"]);
    assert_positive(&record, &["messages", "handshakes_per_second"]);
}

#[test]
fn a_box_in_one_step_and_in_two() {
    let arguments = ["bench", "box", "--json", "--size", "64", "--size", "1000"];
    let finished = support::run(&arguments).expect_code(0);
    assert_eq!(finished.text().lines().count(), 1, "{finished:?}");
    let record: Value = serde_json::from_str(finished.text()).expect("one JSON object");
    let results = record["results"].as_array().expect("figures");
    for size in [64, 1000] {
        for steps in [1, 2] {
            let such = |figure: &&Value| figure["size"] == size && figure["steps"] == steps;
            assert!(results.iter().filter(such).count() >= 2, "{record}");
        }
    }
    for figure in results {
        assert_positive(figure, &["ns_per_operation", "operations_per_second"]);
    }
    let gains = record["two_steps_over_one"].as_array().expect("ratios");
    let beside_libsodium = cfg!(feature = "box-peers");
    assert_eq!(
        gains.len(),
        if beside_libsodium { 8 } else { 4 },
        "{record}"
    );
    // X25519 alone takes tens of microseconds, sealing 1000 bytes two or so.
    assert!(gains.iter().all(|gain| gain["ratio"].as_f64() > Some(1.0)));

    let ratios = record["over_libsodium"].as_array().expect("ratios");
    if beside_libsodium {
        assert!(record["libsodium"].is_string(), "{record}");
        // The agreement, and each way to make and open a box of each size.
        assert_eq!(ratios.len(), 1 + 2 * 4, "{record}");
        for ratio in ratios {
            assert_positive(ratio, &["ratio"]);
        }
    } else {
        assert!(
            record["libsodium"].is_null() && ratios.is_empty(),
            "{record}"
        );
    }

    let shown = support::run(&["bench", "box", "--size", "64"]).expect_code(0);
    assert!(
        shown
            .text()
            .contains("Only two\nsteps are fit for messages"),
        "{shown:?}"
    );
    assert_eq!(shown.text().contains("libsodium"), beside_libsodium);
    for size in ["0", "4194305"] {
        support::run(&["bench", "box", "--size", size]).expect_code(2);
    }
}

#[test]
fn the_cipher_alone() {
    let arguments = ["bench", "aead", "--json", "--size", "64", "--size", "1000"];
    let finished = support::run(&arguments).expect_code(0);
    assert_eq!(finished.text().lines().count(), 1, "{finished:?}");
    let record: Value = serde_json::from_str(finished.text()).expect("one JSON object");
    assert!(record["back_end"].is_string(), "{record}");
    let results = record["results"].as_array().expect("figures");
    for size in [64, 1000] {
        let of_size = results.iter().filter(|figure| figure["size"] == size);
        assert!(of_size.count() >= 5, "{record}");
    }
    for figure in results {
        assert_positive(figure, &["ns_per_message", "gigabytes_per_second"]);
        // Bytes a nanosecond are gigabytes a second; both figures are rounded.
        let rate = figure["size"].as_f64().expect("a size")
            / figure["ns_per_message"].as_f64().expect("a time");
        let stated = figure["gigabytes_per_second"].as_f64().expect("a rate");
        assert!((rate - stated).abs() <= 0.001 + rate * 0.01, "{figure}");
    }
    for size in ["0", "4194305"] {
        support::run(&["bench", "aead", "--size", size]).expect_code(2);
    }
}

#[test]
fn mechanisms_without_sockets() {
    let counts = [
        "--handshakes",
        "3",
        "--messages",
        "20",
        "--unix-messages",
        "20",
    ];
    let arguments = [&["bench", "mechanism", "--json"], &counts[..]].concat();
    let finished = support::run(&arguments).expect_code(0);
    assert_eq!(finished.text().lines().count(), 1, "{finished:?}");
    let record: Value = serde_json::from_str(finished.text()).expect("one JSON object");
    assert_eq!(record["handshakes"], 3);
    assert_eq!(record["messages"], 20);

    let kib = |sizes: &[u64]| sizes.iter().map(|size| size << 10).collect::<Vec<_>>();
    let sizes = [vec![64, 256], kib(&[1, 4, 16, 64, 128, 256])].concat();
    let mut cells = vec![("handshake", None)];
    for part in ["seal", "open"] {
        cells.extend(sizes.iter().map(|&size| (part, Some(size))));
    }
    if cfg!(unix) {
        cells.extend([64, 1 << 10, 64 << 10].map(|size| ("unix", Some(size))));
    }
    let results = record["results"].as_array().expect("figures");
    let ratios = record["blake3_over_curve"].as_array().expect("ratios");
    let over_libsodium = record["blake3_over_libsodium"].as_array().expect("ratios");
    let beside_libsodium = cfg!(feature = "box-peers");
    assert_eq!(record["libsodium"].is_string(), beside_libsodium);
    let is_cell = |entry: &Value, part: &str, size: Option<u64>| {
        entry["part"] == part && entry["size"].as_u64() == size
    };
    let mut of_libsodium = 0;
    for &(part, size) in &cells {
        let mut mechanisms = vec!["BLAKE3", "CURVE"];
        // It has no state machine, which a socket needs.
        if beside_libsodium && part != "unix" {
            mechanisms.push("CURVE, libsodium");
            of_libsodium += 1;
        }
        for &mechanism in &mechanisms {
            let here =
                |figure: &&Value| figure["mechanism"] == mechanism && is_cell(figure, part, size);
            let figures: Vec<_> = results.iter().filter(here).collect();
            assert_eq!(figures.len(), 1, "{mechanism}, {part}, {size:?}: {record}");
            assert_positive(figures[0], &["nanoseconds", "per_second"]);
            if size.is_some() {
                // It is rounded, and a machine may be too busy for a tenth.
                assert!(figures[0]["megabytes_per_second"].is_f64(), "{record}");
            }
        }
        let here = |ratio: &&Value| is_cell(ratio, part, size);
        assert_eq!(ratios.iter().filter(here).count(), 1, "{part}, {size:?}");
        let further = over_libsodium.iter().filter(here).count();
        assert_eq!(1 + further, mechanisms.len() - 1, "{part}, {size:?}");
    }
    assert_eq!(results.len(), 2 * cells.len() + of_libsodium, "{record}");
    assert_eq!(ratios.len(), cells.len(), "{record}");
    assert_eq!(over_libsodium.len(), of_libsodium, "{record}");
    let mut all_ratios = ratios.iter().chain(over_libsodium);
    assert!(all_ratios.all(|ratio| ratio["ratio"].is_f64()), "{record}");

    let shown = support::run(&[&["bench", "mechanism"], &counts[..]].concat()).expect_code(0);
    assert_eq!(
        shown.text().matches(" x\n").count(),
        cells.len(),
        "{shown:?}"
    );
    let figures = shown.text().matches("CURVE, libsodium ").count();
    assert_eq!(figures, of_libsodium, "{shown:?}");
    let ratios = shown.text().matches(" x").count();
    assert_eq!(ratios, cells.len() + of_libsodium, "{shown:?}");
    assert_eq!(shown.text().contains("libsodium"), beside_libsodium);
    support::run(&["bench", "mechanism", "--messages", "0"]).expect_code(2);
}
