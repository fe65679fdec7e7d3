//! `sealwire-aead` against its peers: nanoseconds a message, sealed or opened in place without
//! associated data, and the ratios that the project holds itself to.
//!
//! ```text
//! cargo run --release -p sealwire-bench-aead [--features libsodium] -- [--json] [--quick]
//! ```
//!
//! Contenders take turns within each size, so that a change of the machine's clock meets them all;
//! each figure is the median of its turns.

mod contenders;
mod measure;
#[cfg(feature = "libsodium")]
mod sodium;
mod targets;

use contenders::Contender;
use measure::{Effort, medians};

/// Message sizes in bytes.
const SIZES: [usize; 8] = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// Medians of one contender by size, in nanoseconds a message.
struct Row {
    name: &'static str,
    times: Vec<Option<f64>>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if let Some(unknown) = arguments
        .iter()
        .find(|name| !["--json", "--quick"].contains(&&***name))
    {
        eprintln!("unknown argument {unknown}; there are --json and --quick");
        std::process::exit(2);
    }
    let effort = if has("--quick") {
        Effort::Quick
    } else {
        Effort::Full
    };

    let mut rows: Vec<Row> = Vec::new();
    for size in SIZES {
        let mut contenders = contenders::all(size);
        let times = medians(&mut contenders, size, effort);
        if rows.is_empty() {
            let row = |contender: &Contender| Row {
                name: contender.name,
                times: Vec::new(),
            };
            rows = contenders.iter().map(row).collect();
        }
        for (row, time) in rows.iter_mut().zip(times) {
            row.times.push(time);
        }
    }
    if has("--json") {
        print_json(&rows);
    } else {
        print_table(&rows);
        targets::print(&rows);
    }
}

fn print_table(rows: &[Row]) {
    print!("{:<44}", "ns a message, median");
    for size in SIZES {
        print!("{:>10}", label(size));
    }
    println!();
    for row in rows {
        print!("{:<44}", row.name);
        for time in &row.times {
            match time {
                Some(time) => print!("{time:>10.0}"),
                None => print!("{:>10}", "-"),
            }
        }
        println!();
    }
}

fn print_json(rows: &[Row]) {
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let time = |(size, time): (&usize, &Option<f64>)| {
                time.map(|time| format!("\"{size}\":{time:.1}"))
            };
            let times: Vec<String> = SIZES.iter().zip(&row.times).filter_map(time).collect();
            format!("\"{}\":{{{}}}", row.name, times.join(","))
        })
        .collect();
    println!(
        "{{\"unit\":\"nanoseconds_per_message\",\"median\":{{{}}}}}",
        rows.join(",")
    );
}

fn label(size: usize) -> String {
    match size {
        size if size >= 1 << 20 => format!("{} MiB", size >> 20),
        size if size >= 1 << 10 => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}
