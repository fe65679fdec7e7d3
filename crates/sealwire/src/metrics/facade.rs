//! Gives samples to the recorder of the facade `metrics`.

use ::metrics::{Key, KeyName, Label, Level, Metadata, Recorder, SharedString, with_recorder};

use super::table::METRICS;
use super::{Amount, ContextMetrics, Metric, MetricKind, Number, Sample};

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
        for number in self.numbers() {
            let key = self.key(&number);
            // The ranges of a histogram only grow.
            let grows = self.metric.kind != MetricKind::Gauge;
            match number.amount {
                Amount::Count(count) if grows => {
                    recorder.register_counter(&key, &METADATA).absolute(count);
                }
                // Above 2^53 the last digits are lost, as in Prometheus.
                amount => recorder
                    .register_gauge(&key, &METADATA)
                    .set(amount.as_f64()),
            }
        }
    }

    fn key(&self, number: &Number) -> Key {
        let labels = self.labels_of(number);
        let labels = labels.map(|(name, value)| Label::new(name, value.to_owned()));
        let labels: Vec<Label> = labels.collect();
        Key::from_parts(format!("{}{}", self.metric.name, number.suffix), labels)
    }
}
