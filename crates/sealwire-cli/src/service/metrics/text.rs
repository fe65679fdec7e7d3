//! Numbers of a command beside those of sockets, in the text format of Prometheus.

use std::fmt::{Display, Write as _};

/// The text, metric by metric.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// Adds a metric with its samples: their labels, and their values.
    pub(crate) fn metric(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, impl Display)>,
    ) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}
