//! The pages of options, failures and metrics have what there is, with the values that it has.

use std::collections::BTreeSet;
use std::fs;

use sealwire::metrics::METRICS;
use sealwire::options::{
    DEFAULT_BACKLOG, DEFAULT_BYTE_BUDGET, DEFAULT_HANDSHAKE_TIMEOUT, DEFAULT_HIGH_WATER_MARK,
    DEFAULT_LINGER, DEFAULT_MAX_CONNECTIONS, DEFAULT_MAX_HANDSHAKES, DEFAULT_MAX_MESSAGE_SIZE,
    DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAXIMUM,
};

use super::*;

/// The builder's options: methods that take the builder and give it back.
fn options_of_the_builder() -> BTreeSet<String> {
    let folder = root().join("crates/sealwire/src/socket/builder");
    let mut options = BTreeSet::new();
    for source in files(&folder, ".rs") {
        let text = fs::read_to_string(source).unwrap();
        for definition in text.split("pub fn ").skip(1) {
            let (head, _) = definition.split_once('{').unwrap();
            if head.contains("mut self") && head.contains("-> Self") {
                let (name, _) = head.split_once(['(', '<']).unwrap();
                options.insert(name.to_owned());
            }
        }
    }
    options
}

#[test]
fn the_page_of_options_names_the_options_that_there_are() {
    let page = read("docs/options.md");
    let options = options_of_the_builder();
    assert!(
        options.contains("linger") && options.contains("backlog"),
        "{options:?}"
    );
    let mut named = BTreeSet::new();
    let sections = page.split("\n## ");
    let of_the_builder = sections.filter(|section| section.contains("| libzmq | builder method |"));
    for row in of_the_builder.flat_map(rows).filter(|row| row.len() > 4) {
        // Methods of other types have their type in front.
        for name in quoted(row[1])
            .into_iter()
            .filter(|name| is_identifier(name))
        {
            let method = name == "unsubscribe" || name == "and_pem" || name == "and_system";
            assert!(
                method || options.contains(name),
                "no option '{name}': {row:?}"
            );
            named.insert(name.to_owned());
        }
    }
    // Of this library alone: neither has a counterpart that the page would translate.
    let beside = ["context", "provider"].map(str::to_owned);
    let missing: Vec<_> = options
        .difference(&named)
        .filter(|name| !beside.contains(name))
        .collect();
    assert!(missing.is_empty(), "docs/options.md lacks {missing:?}");
}

/// With commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn the_page_of_options_gives_the_defaults_that_there_are() {
    let page = read("docs/options.md");
    let mebibytes = |bytes: usize| format!("{} MiB", bytes >> 20);
    let seconds = |time: std::time::Duration| format!("{} s", time.as_secs());
    let high_water_mark = grouped(DEFAULT_HIGH_WATER_MARK);
    let budget = format!("{} GiB", DEFAULT_BYTE_BUDGET >> 30);
    for (option, default) in [
        ("`send_high_water_mark`", high_water_mark.clone()),
        ("`receive_high_water_mark`", high_water_mark),
        ("`send_byte_budget`", budget.clone()),
        ("`receive_byte_budget`", budget),
        ("`max_message_size`", mebibytes(DEFAULT_MAX_MESSAGE_SIZE)),
        ("`handshake_timeout`", seconds(DEFAULT_HANDSHAKE_TIMEOUT)),
        ("`linger`", seconds(DEFAULT_LINGER)),
        (
            "`reconnect`, first",
            format!("{} ms", DEFAULT_RECONNECT_INTERVAL.as_millis()),
        ),
        ("`reconnect`, second", seconds(DEFAULT_RECONNECT_MAXIMUM)),
        ("`max_handshakes`", grouped(DEFAULT_MAX_HANDSHAKES)),
        ("`max_connections`", grouped(DEFAULT_MAX_CONNECTIONS)),
        ("`backlog`", grouped(DEFAULT_BACKLOG as usize)),
    ] {
        let row = rows(&page).find(|row| row.len() > 4 && row[1] == option);
        let row = row.unwrap_or_else(|| panic!("{option} has no row"));
        assert!(
            row[4].starts_with(&default),
            "{option} has {default}, not '{}'",
            row[4]
        );
    }
}

#[test]
fn the_page_of_failures_has_each_cause_once() {
    let page = read("docs/failures.md");
    let mut of_page: Vec<String> = rows(&page)
        .filter(|row| row[0].starts_with('`'))
        .map(|row| quoted(row[0])[0].to_string())
        .collect();
    let mut causes = sealwire::FailureCause::NAMES.map(String::from).to_vec();
    of_page.sort();
    causes.sort();
    assert_eq!(of_page, causes);
}

#[test]
fn the_page_of_metrics_has_those_that_there_are() {
    let page = read("docs/guide/metrics.md");
    let of_page: Vec<[String; 4]> = rows(&page)
        .filter(|row| row[0].starts_with("`sealwire_"))
        .map(|row| {
            let labels = quoted(row[2]).join(" ");
            [
                quoted(row[0])[0].into(),
                row[1].into(),
                labels,
                row[3].into(),
            ]
        })
        .collect();
    let metrics = METRICS.iter().map(|metric| {
        let (name, kind, help) = (metric.name, metric.kind.name(), metric.help);
        [
            name.into(),
            kind.into(),
            metric.labels.join(" "),
            help.into(),
        ]
    });
    let metrics: Vec<[String; 4]> = metrics.collect();
    assert_eq!(of_page, metrics);
    for label in METRICS.iter().flat_map(|metric| metric.labels) {
        let explained = format!("`{label}`");
        let mut labels = rows(&page).filter(|row| !row[0].starts_with("`sealwire_"));
        assert!(labels.any(|row| row[0].contains(&explained)), "{label}");
    }
}
