//! The report at the end: how flat it was, and what became of everything that was sent.

use sealwire_bench_measure::statistics::median;

use crate::sample::Sample;

/// Of the samples, the first part counts as the way to a steady state.
const WARMING_UP: f64 = 0.1;

/// The median of the first and of the last quarter after warming up.
pub(crate) fn ends(samples: &[Sample], of: impl Fn(&Sample) -> u64) -> (f64, f64) {
    let steady = &samples[(samples.len() as f64 * WARMING_UP) as usize..];
    let quarter = (steady.len() / 4).max(1).min(steady.len());
    let middle = |part: &[Sample]| median(&part.iter().map(|it| of(it) as f64).collect::<Vec<_>>());
    (
        middle(&steady[..quarter]),
        middle(&steady[steady.len() - quarter..]),
    )
}

/// Lines with the ends of each number.
pub(crate) fn flatness(samples: &[Sample]) -> Vec<String> {
    type Of = fn(&Sample) -> u64;
    let rows: [(&str, Of); 6] = [
        ("server, KiB in memory", |it| it.server.resident),
        ("server, descriptors", |it| it.server.descriptors),
        ("server, threads", |it| it.server.threads),
        ("clients, KiB in memory", |it| it.clients.resident),
        ("clients, descriptors", |it| it.clients.descriptors),
        ("clients, threads", |it| it.clients.threads),
    ];
    let line = |(name, of): (&str, Of)| {
        let (first, last) = ends(samples, of);
        format!(
            "{name}: {first:.0} in the first quarter, {last:.0} in the last ({:.3})",
            last / first
        )
    };
    rows.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_seen() {
        let sample = |seconds| Sample {
            seconds,
            connections: 100 + seconds,
            ..Sample::default()
        };
        let samples: Vec<_> = (0..100).map(sample).collect();
        let (first, last) = ends(&samples, |it| it.connections);
        assert_eq!((first, last), (120.5, 188.5));
        assert_eq!(ends(&samples[..1], |it| it.connections), (100.0, 100.0));
    }
}
