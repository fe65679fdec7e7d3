//! What the reference takes: Go `codahale/newplex`, commit b87464dc, its assembly for x86-64.

use crate::workload::{KINDS, SIZES};
use std::process::Command;

/// Nanoseconds by kind and size, where they are known.
pub(crate) type Figures = [[Option<f64>; SIZES.len()]; KINDS.len()];

/// Those of 32 and 128 B were not recorded.
const fn recorded([a, c, e, f, g, h]: [f64; 6]) -> [Option<f64>; SIZES.len()] {
    [
        Some(a),
        None,
        Some(c),
        None,
        Some(e),
        Some(f),
        Some(g),
        Some(h),
    ]
}

/// Measured once on one core of an x86-64 server at about 3.5 GHz with AES-NI.
pub(crate) const RECORDED: Figures = [
    recorded([64.0, 105.0, 205.0, 543.0, 7_620.0, 477_000.0]),
    recorded([65.0, 66.0, 168.0, 558.0, 8_604.0, 558_000.0]),
    recorded([72.0, 73.0, 170.0, 551.0, 8_406.0, 548_000.0]),
    recorded([172.0, 172.0, 268.0, 644.0, 8_404.0, 535_000.0]),
];

/// Runs the benchmarks of the reference in the test binary `path`.
pub(crate) fn measured(path: &str) -> Result<Figures, String> {
    let output = Command::new(path)
        .args(["-test.run=^$", "-test.bench=Scheme", "-test.cpu=1"])
        .output()
        .map_err(|error| format!("{path}: {error}"))?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut figures = RECORDED;
    for (kind, row) in KINDS.iter().zip(&mut figures) {
        for (size, figure) in SIZES.into_iter().zip(row) {
            let name = format!("{}/{}", kind.go_name, go_label(size));
            *figure = Some(time_of(&output, &name).ok_or(format!("no result for {name}"))?);
        }
    }
    Ok(figures)
}

/// The nanoseconds in the line of a benchmark.
fn time_of(output: &str, name: &str) -> Option<f64> {
    let mut words = output
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name))?
        .split_whitespace();
    words.nth(2)?.parse().ok()
}

fn go_label(size: usize) -> String {
    crate::label(size).replace(' ', "")
}
