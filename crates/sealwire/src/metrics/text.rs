//! The text format of Prometheus, version 0.0.4.

use std::fmt::{self, Write};

use super::{Amount, ContextMetrics, Metric, Sample};

impl ContextMetrics {
    /// Returns the [samples](Self::samples) in the text format of Prometheus, whose media type is
    /// `text/plain; version=0.0.4`, but for those of single peers.
    pub fn prometheus(&self) -> String {
        self.text_of(|metric| !metric.is_of_peers())
    }

    /// Returns the same with the samples of peers, [1,000](super::MAX_SAMPLED_PEERS) of each socket.
    ///
    /// A connection has labels of its own, so each that comes is new time series to the system that reads them: peers
    /// that come and go make it grow, which anyone who may connect decides. Use it where peers are few and stay.
    pub fn prometheus_with_peers(&self) -> String {
        self.text_of(|_| true)
    }

    fn text_of(&self, is_wanted: impl Fn(&Metric) -> bool) -> String {
        let mut text = String::new();
        let mut last = "";
        for sample in self.samples() {
            if !is_wanted(sample.metric) {
                continue;
            }
            let metric = sample.metric;
            // Writing to a string does not fail.
            if metric.name != last {
                last = metric.name;
                let _ = writeln!(text, "# HELP {} {}", metric.name, metric.help);
                let _ = writeln!(text, "# TYPE {} {}", metric.name, metric.kind.name());
            }
            let _ = sample.write(&mut text);
        }
        text
    }
}

impl Sample {
    fn write(&self, text: &mut String) -> fmt::Result {
        for number in self.numbers() {
            write!(text, "{}{}", self.metric.name, number.suffix)?;
            let mut before = '{';
            for (name, label) in self.labels_of(&number) {
                write!(text, "{before}{name}=\"{}\"", Escaped(label))?;
                before = ',';
            }
            if before == ',' {
                text.push('}');
            }
            match number.amount {
                Amount::Count(count) => writeln!(text, " {count}")?,
                Amount::Seconds(seconds) => writeln!(text, " {seconds}")?,
            }
        }
        Ok(())
    }
}

/// A label's value, in which quotes, backslashes and line feeds are escaped.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str(r"\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str(r"\n")?,
                character => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Histogram, Value, table};
    use super::*;

    fn text(sample: &Sample) -> String {
        let mut text = String::new();
        sample.write(&mut text).unwrap();
        text
    }

    #[test]
    fn what_has_a_meaning_in_a_label_is_escaped() {
        let sample = Sample {
            metric: &table::BUSY,
            labels: vec!["a\"b\\c\nd".into()],
            value: Value::Time(Duration::from_millis(1_500)),
        };
        let expected = "sealwire_io_thread_busy_seconds_total{thread=\"a\\\"b\\\\c\\nd\"} 1.5\n";
        assert_eq!(text(&sample), expected);
    }

    #[test]
    fn a_range_counts_all_before_it_too() {
        let mut times = Histogram::default();
        for micros in [1, 3, 3, 100_000_000] {
            times.record(Duration::from_micros(micros));
        }
        let sample = Sample {
            metric: &table::WAITED,
            labels: vec!["1".into(), "PUSH".into(), "out".into()],
            value: times.into(),
        };
        let text = text(&sample);
        let name = "sealwire_time_in_queue_seconds";
        let labels = r#"socket="1",type="PUSH",direction="out""#;
        for line in [
            format!("{name}_bucket{{{labels},le=\"0.000001\"}} 1\n"),
            format!("{name}_bucket{{{labels},le=\"0.000004\"}} 3\n"),
            format!("{name}_bucket{{{labels},le=\"67.108864\"}} 3\n"),
            format!("{name}_bucket{{{labels},le=\"+Inf\"}} 4\n"),
            format!("{name}_sum{{{labels}}} 100.000007\n"),
            format!("{name}_count{{{labels}}} 4\n"),
        ] {
            assert!(text.contains(&line), "{line}{text}");
        }
        assert_eq!(text.lines().count(), Histogram::RANGES + 2);
    }
}
