//! Gives samples to the recorder of the facade `metrics`.

use ::metrics::{Key, KeyName, Label, Level, Metadata, Recorder, SharedString, with_recorder};

use super::table::METRICS;
use super::{ContextMetrics, Metric, MetricKind, Sample, Value};

static METADATA: Metadata<'static> =
    Metadata::new("sealwire", Level::INFO, Some("sealwire::metrics"));

impl ContextMetrics {
    /// Gives the numbers to the recorder that is installed for the facade [`metrics`](::metrics), but for those of single
    /// peers: exporters such as `metrics-exporter-prometheus` take it from there. Each call takes the place of the one before, so call it
    /// before each export, or every few seconds.
    ///
    /// Names and labels are those of [`METRICS`]. The facade has counters of whole numbers alone and histograms of single
    /// values, so
    ///
    /// * counters of seconds are gauges, which grow only;
    /// * a histogram becomes what it is in the text of Prometheus: counters `_bucket` with the label `le`, a counter `_count`, and a
    ///   gauge `_sum` in seconds. `histogram_quantile` reads them as any other histogram.
    ///
    /// Without a recorder nothing happens.
    pub fn publish(&self) {
        self.publish_those(|metric| !metric.is_of_peers());
    }

    /// Publishes the numbers of peers too, [1,000](super::MAX_SAMPLED_PEERS) of each socket.
    ///
    /// A connection has labels of its own, and a recorder keeps all that it has ever seen unless it is told otherwise:
    /// peers that come and go make it grow. Use it with one that forgets numbers that are not renewed
    /// (`PrometheusBuilder::idle_timeout`).
    pub fn publish_with_peers(&self) {
        self.publish_those(|_| true);
    }

    fn publish_those(&self, is_wanted: impl Fn(&Metric) -> bool) {
        with_recorder(|recorder| {
            for metric in METRICS.iter().filter(|metric| is_wanted(metric)) {
                metric.describe(recorder);
            }
            for sample in self.samples() {
                if is_wanted(sample.metric) {
                    sample.publish(recorder);
                }
            }
        });
    }
}

impl Metric {
    fn is_of_peers(&self) -> bool {
        self.labels.contains(&"connection")
    }

    fn describe(&self, recorder: &dyn Recorder) {
        let help = || SharedString::const_str(self.help);
        let counter = |name: KeyName| recorder.describe_counter(name, None, help());
        let gauge = |name: KeyName| recorder.describe_gauge(name, None, help());
        match self.kind {
            MetricKind::Counter if self.is_of_seconds() => gauge(self.name.into()),
            MetricKind::Counter => counter(self.name.into()),
            MetricKind::Gauge => gauge(self.name.into()),
            MetricKind::Histogram => {
                counter(format!("{}_bucket", self.name).into());
                counter(format!("{}_count", self.name).into());
                gauge(format!("{}_sum", self.name).into());
            }
        }
    }

    fn is_of_seconds(&self) -> bool {
        self.name.ends_with("_seconds_total")
    }
}

impl Sample {
    fn publish(&self, recorder: &dyn Recorder) {
        let (name, kind) = (self.metric.name, self.metric.kind);
        let counter = |key: Key, count| {
            recorder.register_counter(&key, &METADATA).absolute(count);
        };
        let gauge = |key: Key, value| recorder.register_gauge(&key, &METADATA).set(value);
        match &self.value {
            Value::Count(count) if kind == MetricKind::Counter => {
                counter(self.key(name, None), *count);
            }
            // Above 2^53 the last digits are lost, as in Prometheus.
            Value::Count(count) => gauge(self.key(name, None), *count as f64),
            Value::Time(time) => gauge(self.key(name, None), time.as_secs_f64()),
            Value::Times(times) => {
                let bucket = format!("{name}_bucket");
                for (end, count) in times.up_to_each_end() {
                    counter(self.key(&bucket, Some(end)), count);
                }
                counter(self.key(&format!("{name}_count"), None), times.count());
                let seconds = times.sum().as_secs_f64();
                gauge(self.key(&format!("{name}_sum"), None), seconds);
            }
        }
    }

    /// The name with the labels; `end` is that of a range.
    fn key(&self, name: &str, end: Option<String>) -> Key {
        let labels = self.metric.labels.iter().zip(&self.labels);
        let labels = labels.map(|(name, value)| Label::new(*name, value.clone()));
        let labels: Vec<Label> = labels.chain(end.map(|end| Label::new("le", end))).collect();
        Key::from_parts(name.to_owned(), labels)
    }
}
