//! `sealwire-aead` against its peers: nanoseconds a message, sealed or opened in place without
//! associated data, and the ratios that the project holds itself to.
//!
//! ```text
//! cargo run --release -p sealwire-bench-aead [--features libsodium] -- [--json] [--quick]
//!     [--long] [--back-end portable|sse41|avx2|avx512]
//! ```
//!
//! `--long` measures, in place of everything else, what encrypting a long message as it is hashed saves
//! against encrypting it first. `--back-end` uses no better instructions than these.
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
use sealwire_aead::Level;

/// Message sizes in bytes.
const SIZES: [usize; 8] = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];
/// Those of `--long`.
const LONG_SIZES: [usize; 3] = [1 << 20, 16 << 20, 64 << 20];

/// Medians of one contender by size, in nanoseconds a message.
struct Row {
    name: &'static str,
    times: Vec<Option<f64>>,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut limited = false;
    if let Some(at) = arguments.iter().position(|name| name == "--back-end") {
        arguments.remove(at);
        limited = true;
        let name = if at < arguments.len() {
            arguments.remove(at)
        } else {
            String::new()
        };
        limit_back_end(&name);
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if let Some(unknown) = arguments
        .iter()
        .find(|name| !["--json", "--quick", "--long"].contains(&&***name))
    {
        eprintln!("unknown argument {unknown}; there are --json, --quick, --long and --back-end");
        std::process::exit(2);
    }
    let effort = if has("--quick") {
        Effort::Quick
    } else {
        Effort::Full
    };

    let sizes: &[usize] = if has("--long") { &LONG_SIZES } else { &SIZES };
    let mut rows: Vec<Row> = Vec::new();
    for &size in sizes {
        let mut contenders = if has("--long") {
            contenders::passes(size)
        } else {
            contenders::all(size)
        };
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
        print_json(&rows, sizes);
    } else {
        print_table(&rows, sizes);
        // Peers keep all instructions, so targets mean nothing where we do not.
        if !has("--long") && !limited {
            targets::print(&rows);
        }
    }
}

/// Uses no better back end than the one that is named, which the CPU must have.
fn limit_back_end(name: &str) {
    let level = match name {
        "portable" => Level::Portable,
        "sse41" => Level::Sse41,
        "avx2" => Level::Avx2,
        "avx512" => Level::Avx512,
        _ => {
            eprintln!("--back-end takes portable, sse41, avx2 or avx512");
            std::process::exit(2);
        }
    };
    if sealwire_aead::limit_back_end(level) != level {
        eprintln!("this CPU does not have {name}");
        std::process::exit(2);
    }
}

fn print_table(rows: &[Row], sizes: &[usize]) {
    print!("{:<44}", "ns a message, median");
    for &size in sizes {
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

fn print_json(rows: &[Row], sizes: &[usize]) {
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let time = |(size, time): (&usize, &Option<f64>)| {
                time.map(|time| format!("\"{size}\":{time:.1}"))
            };
            let times: Vec<String> = sizes.iter().zip(&row.times).filter_map(time).collect();
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
