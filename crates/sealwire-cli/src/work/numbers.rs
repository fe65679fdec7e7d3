//! What acknowledged work counts, for `--metrics`. `docs/guide/metrics.md` has the names for users.

use sealwire_rpc::work::{DistributorCounters, WorkerCounters};

use crate::service::metrics::Text;

/// Writes the numbers of a distributor in the text format of Prometheus.
pub(super) fn of_distributor(counters: &DistributorCounters) -> String {
    let mut text = Text::default();
    for (name, help, value) in [
        ("workers", "Workers that are connected.", counters.workers),
        ("pending", "Tasks without an outcome.", counters.pending),
        ("out", "Tasks that are with workers.", counters.out),
        (
            "held_bytes",
            "Bytes of tasks and results held.",
            counters.held_bytes,
        ),
    ] {
        let name = format!("sealwire_work_{name}");
        text.metric(&name, "gauge", help, [(String::new(), value)]);
    }
    for (name, help, value) in [
        ("added", "Tasks added.", counters.added),
        ("done", "Tasks done, each counted once.", counters.done),
        (
            "handed_out",
            "Times that a task was handed out.",
            counters.handed_out,
        ),
        (
            "handed_out_again",
            "Of these, a task's second attempt or a later one.",
            counters.handed_out_again,
        ),
        (
            "repeated",
            "Times that a task was done that was done before.",
            counters.repeated,
        ),
    ] {
        let name = format!("sealwire_work_{name}_total");
        text.metric(&name, "counter", help, [(String::new(), value)]);
    }
    text.metric(
        "sealwire_work_attempts_ended_total",
        "counter",
        "Attempts that did not end their task.",
        [
            ("failed", counters.failed),
            ("lost", counters.lost),
            ("overdue", counters.overdue),
            ("returned", counters.returned),
        ]
        .map(by_how),
    );
    text.into_string()
}

/// A number with its label.
fn by_how((how, value): (&str, u64)) -> (String, u64) {
    (format!("{{how=\"{how}\"}}"), value)
}

/// Writes the numbers of a worker.
pub(super) fn of_worker(counters: &WorkerCounters) -> String {
    let mut text = Text::default();
    text.metric(
        "sealwire_worker_received_total",
        "counter",
        "Tasks received.",
        [(String::new(), counters.received)],
    );
    text.metric(
        "sealwire_worker_attempts_total",
        "counter",
        "Attempts by what became of them.",
        [
            ("done", counters.done),
            ("failed", counters.failed),
            ("returned", counters.returned),
            ("dropped", counters.dropped),
        ]
        .map(by_how),
    );
    text.metric(
        "sealwire_worker_untold_total",
        "counter",
        "Outcomes that no distributor was told of.",
        [(String::new(), counters.untold)],
    );
    text.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_metrics_has_each_with_its_kind() {
        const PAGE: &str = include_str!("../../../../docs/guide/metrics.md");
        let mut counters = DistributorCounters::default();
        counters.pending = 7;
        let text = of_distributor(&counters) + &of_worker(&WorkerCounters::default());
        assert!(text.contains("\nsealwire_work_pending 7\n"), "{text}");
        let kinds: Vec<_> = (text.lines())
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .collect();
        for (name, kind) in kinds.iter().filter_map(|line| line.split_once(' ')) {
            let row = format!(": `{name}` | {kind} |");
            assert!(PAGE.contains(&row), "{row}");
        }
        let rows = PAGE.lines().filter(|line| line.contains("`sealwire_work"));
        assert_eq!(rows.count(), kinds.len());
    }
}
