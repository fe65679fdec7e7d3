//! The same programs with libzmq and with Sealwire's `libzmq.so.5`, in turns: libzmq's own measurements, and those in
//! `speed/` for what these leave out.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::build::Build;
use crate::judge::Libraries;
use crate::{Failure, home};

/// A measurement. The first program receives and the second, where there is one, sends.
struct Measurement {
    name: String,
    programs: Vec<Vec<String>>,
    /// The one that prints the figure.
    tells: usize,
    figure: Figure,
    beside: Beside,
}

/// The other column.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    /// The same program with libzmq.
    Libzmq,
    /// The same with libzmq in plain text, where ours runs under rules with BLAKE3.
    PlainText,
    /// A program of native sockets with BLAKE3, where ours runs under rules with it. Its long messages share their memory.
    Native,
    /// One that makes each of them, as libzmq's program does.
    NativeAnew,
}

impl Beside {
    const fn is_native(self) -> bool {
        matches!(self, Beside::Native | Beside::NativeAnew)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Figure {
    /// `mean throughput: N [msg/s]`: more is better.
    Throughput,
    /// `average latency: N [us]`: less is better.
    Latency,
}

impl Figure {
    const fn words(self) -> &'static str {
        match self {
            Figure::Throughput => "mean throughput:",
            Figure::Latency => "average latency:",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Figure::Throughput => "messages/s",
            Figure::Latency => "µs",
        }
    }
}

/// Sizes in bytes, with the messages for a second or so.
const SIZES: [(usize, usize); 8] = [
    (1, 2_000_000),
    (16, 2_000_000),
    (64, 2_000_000),
    (256, 1_000_000),
    (1_024, 500_000),
    (8_192, 100_000),
    (65_536, 20_000),
    (1_048_576, 1_500),
];

/// The fewest messages over inproc: a fifth of a second and more. The queue's first 1,000 cost what new memory does.
const INPROC_LEAST: usize = 300_000;

/// Stands for an endpoint that is free.
const ENDPOINT: &str = "{endpoint}";

fn pair(kind: &str, transport: &str, size: usize, count: usize, curve: bool) -> Measurement {
    let program = |side: &str| {
        let mut words = vec![
            format!("{side}_{kind}"),
            format!("{transport}{ENDPOINT}"),
            size.to_string(),
            count.to_string(),
        ];
        if curve {
            words.push("1".to_owned());
        }
        words
    };
    let (tells, figure) = match kind {
        "thr" => (0, Figure::Throughput),
        _ => (1, Figure::Latency),
    };
    let mechanism = if curve { " CURVE" } else { "" };
    Measurement {
        name: format!("{transport}{mechanism} {kind} {size} B"),
        programs: vec![program("local"), program("remote")],
        tells,
        figure,
        beside: Beside::Libzmq,
    }
}

fn single(name: &str, words: &[&str], figure: Figure) -> Measurement {
    Measurement {
        name: name.to_owned(),
        programs: vec![words.iter().map(|word| (*word).to_owned()).collect()],
        tells: 0,
        figure,
        beside: Beside::Libzmq,
    }
}

fn measurements(python: bool) -> Vec<Measurement> {
    let mut all = Vec::new();
    for (size, count) in SIZES {
        all.push(pair("thr", "tcp", size, count, false));
    }
    for (size, count) in [SIZES[2], SIZES[4], SIZES[6]] {
        all.push(pair("thr", "ipc", size, count, false));
    }
    for (size, count) in [SIZES[2], SIZES[4], SIZES[6]] {
        all.push(pair("thr", "tcp", size, count / 4, true));
    }
    let sizes = [SIZES[2], SIZES[4], SIZES[6]];
    for (beside, name, sizes) in [
        (Beside::PlainText, "NULL", &sizes[..]),
        (Beside::Native, "native", &sizes),
        // Short ones share nothing.
        (Beside::NativeAnew, "native made anew", &sizes[1..]),
    ] {
        for &(size, count) in sizes {
            let mut by_rules = pair("thr", "tcp", size, count / 2, false);
            by_rules.name = format!("tcp BLAKE3 by rules, beside {name}, thr {size} B");
            by_rules.beside = beside;
            all.push(by_rules);
        }
    }
    for (size, count) in [
        (1, 20_000),
        (64, 20_000),
        (1_024, 20_000),
        (65_536, 4_000),
        (1_048_576, 400),
    ] {
        all.push(pair("lat", "tcp", size, count, false));
    }
    // Both columns are the same program: it has no library.
    let (size, count) = SIZES[7];
    all.push(single(
        &format!("system alone, lat {size} B"),
        &["bare_lat", &size.to_string(), &count.to_string()],
        Figure::Latency,
    ));
    for (size, count) in SIZES {
        // Without a copy for each, so that these few would be over in some milliseconds.
        let count = (count * 2).max(INPROC_LEAST);
        let words = [size.to_string(), count.to_string()];
        let name = format!("inproc thr {size} B");
        all.push(single(
            &name,
            &["inproc_thr", &words[0], &words[1]],
            Figure::Throughput,
        ));
    }
    for size in ["1", "64", "1024", "65536"] {
        let name = format!("inproc lat {size} B");
        all.push(single(
            &name,
            &["inproc_lat", size, "40000"],
            Figure::Latency,
        ));
        let name = format!("proxy thr {size} B");
        all.push(single(
            &name,
            &["proxy_thr", size, "300000"],
            Figure::Throughput,
        ));
    }
    for (sockets, count) in [("1", "40000"), ("10", "40000"), ("100", "10000")] {
        let name = format!("zmq_poll over {sockets}");
        all.push(single(&name, &["poll", sockets, count], Figure::Throughput));
    }
    for (parts, count) in [("2", "500000"), ("10", "150000")] {
        let name = format!("{parts} parts of 64 B");
        all.push(single(
            &name,
            &["multipart", parts, "64", count],
            Figure::Throughput,
        ));
    }
    all.push(single(
        "1,000 subscribers, 64 B",
        &["subscribers", "1000", "100"],
        Figure::Throughput,
    ));
    if python {
        for between in ["processes", "threads"] {
            for size in ["64", "1024"] {
                let name = format!("pyzmq, one by one, between {between}, {size} B");
                all.push(single(
                    &name,
                    &["one_by_one.py", size, "200000", between],
                    Figure::Throughput,
                ));
            }
        }
    }
    all
}

/// What the measurements run with.
pub(crate) struct Speed<'a> {
    pub(crate) build: &'a Build,
    pub(crate) libraries: &'a Libraries,
    /// A Python that has pyzmq.
    pub(crate) python: Option<&'a Path>,
    /// `sealwire-bench-sockets`, for the measurements beside native sockets.
    pub(crate) native: Option<&'a Path>,
    /// Each library runs as many times.
    pub(crate) rounds: usize,
    /// Only those whose names contain one of these.
    pub(crate) only: &'a [String],
}

impl Speed<'_> {
    /// Measures all, and prints a table.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let programs = self.build.measurements(&home().join("speed"))?;
        let keys = tempfile::tempdir()?;
        let rules = keys.path().join("rules");
        write_rules(keys.path(), &rules)?;
        println!("| | unit | libzmq | Sealwire | ratio | of pairs |");
        println!("|---|---|---:|---:|---:|---|");
        for measurement in measurements(self.python.is_some()) {
            let wanted = |only: &String| measurement.name.contains(only.as_str());
            if !self.only.is_empty() && !self.only.iter().any(wanted) {
                continue;
            }
            if measurement.beside.is_native() && self.native.is_none() {
                eprintln!("{}: not measured without --native", measurement.name);
                continue;
            }
            let mut figures = [Vec::new(), Vec::new()];
            for round in 0..self.rounds {
                for turn in 0..2 {
                    let side = (round + turn) % 2;
                    let figure = self.measure(&measurement, &programs, side == 1, &rules)?;
                    figures[side].push(figure);
                }
            }
            println!("{}", row(&measurement, &figures));
        }
        Ok(())
    }

    fn measure(
        &self,
        measurement: &Measurement,
        programs: &Path,
        ours: bool,
        rules: &Path,
    ) -> Result<f64, Failure> {
        let folder = tempfile::tempdir()?;
        let endpoint = free(&measurement.programs[0], folder.path())?;
        let mut running = Vec::new();
        for words in &measurement.programs {
            let words: Vec<String> = words.iter().map(|word| placed(word, &endpoint)).collect();
            let mut command = match (measurement.beside, self.native) {
                (beside, Some(native)) if beside.is_native() && !ours => {
                    native_thr(native, &words, rules, beside)
                }
                _ => self.command(&words, programs, ours),
            };
            if measurement.beside != Beside::Libzmq && ours {
                command.env("SEALWIRE_CONFIG", rules);
            }
            running.push(
                command
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()?,
            );
        }
        let outputs: Vec<Output> = running
            .into_iter()
            .map(Child::wait_with_output)
            .collect::<Result<_, _>>()?;
        let output = &outputs[measurement.tells];
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.lines().find_map(|line| {
            let rest = line.strip_prefix(measurement.figure.words())?;
            rest.split_whitespace().next()?.parse().ok()
        });
        found.ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("{}: no figure in {text:?}, {errors:?}", measurement.name).into()
        })
    }

    fn command(&self, words: &[String], programs: &Path, ours: bool) -> Command {
        let library = if ours {
            &self.libraries.ours
        } else {
            &self.libraries.libzmq
        };
        let (name, arguments) = words.split_first().expect("a program");
        if let (Some(python), true) = (self.python, name.ends_with(".py")) {
            let mut command = Command::new(python);
            command.arg(home().join("speed").join(name)).args(arguments);
            // The wheel has a libzmq of its own.
            command.env("LD_PRELOAD", library.join("libzmq.so.5"));
            return command;
        }
        let mut command = Command::new(programs.join(name));
        command.args(arguments).env("LD_LIBRARY_PATH", library);
        command
    }
}

/// The native program that does what `local_thr` and `remote_thr` do, with the keys beside the rules.
fn native_thr(native: &Path, words: &[String], rules: &Path, beside: Beside) -> Command {
    let (side, key) = match words[0].as_str() {
        "local_thr" => ("local", "server.key"),
        _ => ("remote", "server.pub"),
    };
    let mut command = Command::new(native);
    command.args(["throughput", side]).args(&words[1..]);
    command.arg(rules.with_file_name(key));
    if beside == Beside::NativeAnew {
        command.arg("--anew");
    }
    command
}

/// An endpoint that nobody uses, without its transport.
fn free(words: &[String], folder: &Path) -> Result<String, Failure> {
    if words.iter().any(|word| word.starts_with("ipc")) {
        return Ok(folder.join("socket").display().to_string());
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.to_string())
}

fn placed(word: &str, endpoint: &str) -> String {
    word.replace(ENDPOINT, &format!("://{endpoint}"))
}

/// Rules under which whatever is bound is a server, and whatever is connected its client, with BLAKE3.
fn write_rules(keys: &Path, rules: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    let pair = [("server.key", SECRET), ("server.pub", PUBLIC)];
    for (name, key) in pair {
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(keys.join(name))?;
        std::io::Write::write_all(&mut file, key.as_bytes())?;
    }
    fs::write(
        rules,
        "version = 1\n\
         [[rule]]\nbind = \"tcp://*:*\"\nmechanism = \"blake3\"\nsecret_key_file = \"server.key\"\nallow = \"anyone\"\n\
         [[rule]]\nconnect = \"tcp://*:*\"\nmechanism = \"blake3\"\nserver_key_file = \"server.pub\"\nanonymous = true\n",
    )?;
    Ok(())
}

/// The key pair of the example in libzmq's manual (`zmq_curve`): nothing depends on it.
const SECRET: &str = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\n";
const PUBLIC: &str = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\n";

fn row(measurement: &Measurement, [libzmq, ours]: &[Vec<f64>; 2]) -> String {
    let ratios = libzmq.iter().zip(ours).map(|(libzmq, ours)| ours / libzmq);
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    let (libzmq, ours) = (median(libzmq), median(ours));
    format!(
        "| {} | {} | {libzmq:.1} | {ours:.1} | {:.2} | {least:.2} to {most:.2} |",
        measurement.name,
        measurement.figure.unit(),
        ours / libzmq,
    )
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The programs to compile: libzmq's, and those here.
pub(crate) fn sources(vendor: &Path, own: &Path) -> Result<Vec<PathBuf>, Failure> {
    const OF_LIBZMQ: [&str; 7] = [
        "local_lat",
        "remote_lat",
        "local_thr",
        "remote_thr",
        "inproc_lat",
        "inproc_thr",
        "proxy_thr",
    ];
    let mut sources: Vec<PathBuf> = OF_LIBZMQ
        .iter()
        .map(|name| vendor.join("perf").join(name).with_extension("cpp"))
        .collect();
    for entry in fs::read_dir(own)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            sources.push(path);
        }
    }
    Ok(sources)
}
