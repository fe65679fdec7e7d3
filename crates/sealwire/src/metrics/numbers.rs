//! Takes samples apart into single numbers, as Prometheus, its facade and other languages have them.

use super::{Histogram, PeerNumbers, Sample, Value};

/// A single number of a [`Sample`]: a sample of a histogram has one for each range, their count and their sum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Number {
    /// What the name of the metric is followed by: nothing, and for histograms `_bucket`, `_sum` or `_count`.
    pub suffix: &'static str,
    /// For `_bucket` the value of the label `le`, the end of the range in seconds: those counted are not longer.
    pub up_to: Option<String>,
    /// The number.
    pub amount: Amount,
}

/// What a [`Number`] counts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Amount {
    /// Things.
    Count(u64),
    /// Seconds.
    Seconds(f64),
}

impl Amount {
    /// Returns it as floating point; counts above 2^53 lose their last digits.
    pub fn as_f64(self) -> f64 {
        match self {
            Amount::Count(count) => count as f64,
            Amount::Seconds(seconds) => seconds,
        }
    }
}

impl Sample {
    /// Returns its numbers, in the order of Prometheus' text.
    pub fn numbers(&self) -> Vec<Number> {
        let number = |suffix, amount| Number {
            suffix,
            up_to: None,
            amount,
        };
        match &self.value {
            Value::Count(count) => vec![number("", Amount::Count(*count))],
            Value::Time(time) => vec![number("", Amount::Seconds(time.as_secs_f64()))],
            Value::Times(times) => {
                let mut numbers = times.up_to_each_end();
                numbers.push(number("_sum", Amount::Seconds(times.sum().as_secs_f64())));
                numbers.push(number("_count", Amount::Count(times.count())));
                numbers
            }
        }
    }

    /// Returns the names and values of the labels of one of its numbers.
    pub fn labels_of<'a>(
        &'a self,
        number: &'a Number,
    ) -> impl Iterator<Item = (&'static str, &'a str)> {
        let names = self.metric.labels.iter().copied();
        let labels = names.zip(self.labels.iter().map(|label| &**label));
        labels.chain(number.up_to.as_deref().map(|end| ("le", end)))
    }
}

impl PeerNumbers {
    /// Returns each number with its name, as other languages have them: `age`, `messages_sent`, `bytes_sent`,
    /// `messages_received`, `bytes_received`, `dropped`, `outbound_messages`, `outbound_bytes`, `outbound_most_messages`,
    /// the same three of `inbound`, and where heartbeats were answered `round_trip_last`, `round_trip_min` and
    /// `round_trip_smoothed`.
    pub fn named(&self) -> Vec<(&'static str, Amount)> {
        let count = |count: usize| Amount::Count(count as u64);
        let mut named = vec![
            ("age", Amount::Seconds(self.age.as_secs_f64())),
            ("messages_sent", Amount::Count(self.traffic.messages_sent)),
            ("bytes_sent", Amount::Count(self.traffic.bytes_sent)),
            (
                "messages_received",
                Amount::Count(self.traffic.messages_received),
            ),
            ("bytes_received", Amount::Count(self.traffic.bytes_received)),
            ("dropped", Amount::Count(self.dropped)),
            ("outbound_messages", count(self.outbound.messages)),
            ("outbound_bytes", count(self.outbound.bytes)),
            ("outbound_most_messages", count(self.outbound.most_messages)),
            ("inbound_messages", count(self.inbound.messages)),
            ("inbound_bytes", count(self.inbound.bytes)),
            ("inbound_most_messages", count(self.inbound.most_messages)),
        ];
        if let Some(round_trip) = self.round_trip {
            let seconds = |time: std::time::Duration| Amount::Seconds(time.as_secs_f64());
            named.extend([
                ("round_trip_last", seconds(round_trip.last)),
                ("round_trip_min", seconds(round_trip.min)),
                ("round_trip_smoothed", seconds(round_trip.smoothed)),
            ]);
        }
        named
    }
}

impl Histogram {
    /// How many times are not longer than the end of each range.
    fn up_to_each_end(&self) -> Vec<Number> {
        let mut sum = 0;
        let ranges = self.counts().iter().enumerate();
        ranges
            .map(|(range, count)| {
                sum += count;
                let end = Self::end_of(range).map(|end| end.as_secs_f64().to_string());
                Number {
                    suffix: "_bucket",
                    up_to: Some(end.unwrap_or_else(|| "+Inf".to_owned())),
                    amount: Amount::Count(sum),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measures::{QueueDepth, RoundTrip, Traffic};

    #[test]
    fn each_number_of_a_peer_has_its_name() {
        let seconds = Duration::from_secs;
        let depth = |messages| QueueDepth {
            messages,
            bytes: messages + 1,
            most_messages: messages + 2,
        };
        let mut numbers = PeerNumbers {
            age: seconds(1),
            traffic: Traffic {
                messages_sent: 2,
                bytes_sent: 3,
                messages_received: 4,
                bytes_received: 5,
            },
            dropped: 6,
            outbound: depth(7),
            inbound: depth(10),
            round_trip: Some(RoundTrip {
                last: seconds(13),
                min: seconds(14),
                smoothed: seconds(15),
            }),
        };
        let names = [
            "age",
            "messages_sent",
            "bytes_sent",
            "messages_received",
            "bytes_received",
            "dropped",
            "outbound_messages",
            "outbound_bytes",
            "outbound_most_messages",
            "inbound_messages",
            "inbound_bytes",
            "inbound_most_messages",
            "round_trip_last",
            "round_trip_min",
            "round_trip_smoothed",
        ];
        let named = |numbers: &PeerNumbers| -> Vec<(&str, f64)> {
            let named = numbers.named().into_iter();
            named
                .map(|(name, amount)| (name, amount.as_f64()))
                .collect()
        };
        let expected: Vec<_> = names.into_iter().zip((1..).map(f64::from)).collect();
        assert_eq!(named(&numbers), expected);
        numbers.round_trip = None;
        assert_eq!(named(&numbers), expected[..12]);
    }
}
