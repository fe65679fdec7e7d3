//! `sealwire-newplex`, in nanoseconds a message, and how that compares to the reference.
//!
//! ```text
//! cargo run --release -p sealwire-bench-newplex -- [--quick] [GO_BENCHMARKS]
//! ```
//!
//! `GO_BENCHMARKS` is a test binary of the reference (`go test -c` in its folder). It is then measured
//! in the same run; without it, the figures recorded in [`reference`] are what we compare to.

mod measure;
mod reference;
mod workload;

use measure::{Effort, medians};
use reference::Figures;
use workload::{KINDS, SIZES};

fn main() {
    let mut effort = Effort::Full;
    let mut binary = None;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => effort = Effort::Quick,
            flag if flag.starts_with('-') => {
                eprintln!("unknown argument {flag}; there is --quick, and a path");
                std::process::exit(2);
            }
            path => binary = Some(path.to_owned()),
        }
    }
    let figures = match binary.map(|path| reference::measured(&path)) {
        None => reference::RECORDED,
        Some(Ok(figures)) => figures,
        Some(Err(error)) => {
            eprintln!("the reference could not be measured: {error}");
            std::process::exit(1);
        }
    };
    print_against(&figures, effort);
    print_others(effort);
}

/// Our time for each kind and size, and its ratio to the reference.
fn print_against(figures: &Figures, effort: Effort) {
    print_header("ns a message (of the reference's)");
    for (kind, figures) in KINDS.iter().zip(figures) {
        print!("{:<36}", kind.name);
        for (size, reference) in SIZES.into_iter().zip(figures) {
            let mut contenders = [(kind.message)(size)];
            let time = medians(&mut contenders, effort)[0];
            match reference.map(|reference| time / reference) {
                Some(ratio) => {
                    let verdict = if ratio <= 0.75 { ' ' } else { '!' };
                    print!("{time:>10.0} ({ratio:.2}){verdict}");
                }
                None => print!("{time:>10.0}        "),
            }
        }
        println!();
    }
}

/// What the reference has no figures for.
fn print_others(effort: Effort) {
    print_header("ns a message");
    for (name, message) in workload::OTHERS {
        print!("{name:<36}");
        for size in SIZES {
            let mut contenders = [message(size)];
            print!("{:>10.0}        ", medians(&mut contenders, effort)[0]);
        }
        println!();
    }
}

fn print_header(title: &str) {
    print!("{title:<36}");
    for size in SIZES {
        print!("{:>10}        ", label(size));
    }
    println!();
}

fn label(size: usize) -> String {
    match size {
        size if size >= 1 << 20 => format!("{} MiB", size >> 20),
        size if size >= 1 << 10 => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}
