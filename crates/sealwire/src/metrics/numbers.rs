//! Takes samples apart into single numbers, as Prometheus, its facade and other languages have them.

use super::{Histogram, Sample, Value};

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
