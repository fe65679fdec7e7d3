//! What peers can make the log say: one line a second of each cause, with how often it happened.
//!
//! A binary of its own: its subscriber of `tracing` and its panic hook are the process's.
//!
//! And that every line goes through the guard, as a subscriber may panic.

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sealwire::SocketType;
use sealwire::auth::Guest;
use support::{eventually, options};

/// Keeps the lines of the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<Line>>>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.lock().unwrap().push(line);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    times: u64,
    cause: Option<String>,
}

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        if field.name() == "cause" {
            self.cause = Some(value.to_owned());
        }
    }
    fn record_u64(&mut self, field: &tracing::field::Field, value: u64) {
        if field.name() == "times" {
            self.times = value;
        }
    }
}

#[test]
fn a_flood_of_refusals_is_one_line_a_second() {
    let lines = Lines::default();
    tracing::subscriber::set_global_default(lines.clone()).unwrap();
    // It is said once how a panic looks, or else each of them is.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let pull = options(SocketType::Pull)
        .admit(|_: &Guest<'_>| -> bool { panic!("cannot decide") })
        .build_blocking()
        .unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    let often = Duration::from_millis(1);
    let strangers = [(); 8].map(|()| {
        let push = options(SocketType::Push)
            .reconnect(often, often)
            .linger(Duration::ZERO)
            .build_blocking()
            .unwrap();
        push.connect(&endpoint).unwrap();
        push
    });
    let flood = 1_000;
    eventually("all were refused", || {
        pull.counters().handshakes_failed >= flood
    });
    for stranger in strangers {
        stranger.close().unwrap();
    }
    pull.close().unwrap();
    let _ = std::panic::take_hook();
    let seconds = began.elapsed().as_secs() as usize;
    let lines = lines.0.lock().unwrap();
    let panics = lines
        .iter()
        .filter(|line| line.message.contains("the authenticator panicked"));
    let (count, told) = panics.fold((0, 0), |(count, told), line| (count + 1, told + line.times));
    assert!((1..=1 + seconds).contains(&count), "{count} lines");
    assert!(told >= count as u64, "{told}");
    let failures = lines
        .iter()
        .filter(|line| line.message.contains("could not decide"));
    // The server's, and for each client what it noticed of that.
    assert!(failures.clone().count() <= 9 * (1 + seconds));
    let mut causes = failures.map(|line| line.cause.as_deref());
    assert!(causes.clone().any(|cause| cause == Some("refused")));
    assert!(causes.all(|cause| cause.is_some()));
}

/// Everything in the folder and below it that ends like this.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect()
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The names of the calls whose parentheses are still open at the end of this text.
fn open_calls(text: &str) -> Vec<&str> {
    let (mut names, mut closed) = (Vec::new(), 0);
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ')' => closed += 1,
            '(' if closed > 0 => closed -= 1,
            '(' => names.extend(text[..at].rsplit(|it| !is_name(it)).next()),
            _ => {}
        }
    }
    names
}

#[test]
fn every_line_goes_through_the_guard() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut lines = 0;
    for path in ["sealwire", "sealwire-rpc"]
        .into_iter()
        .flat_map(|name| sources(&crates.join(name).join("src")))
    {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("mod tests {").next().unwrap();
        for (at, found) in code.match_indices("tracing::") {
            let behind = code[at + found.len()..].trim_start_matches(is_name);
            if !behind.starts_with('!') {
                continue;
            }
            lines += 1;
            let function = code[..at].rsplit("fn ").next().unwrap();
            let calls = open_calls(function);
            // `new` is that of a span whose subscriber may panic.
            let guarded = |call: &&str| ["log", "log_seldom", "new"].contains(call);
            assert!(calls.iter().any(guarded), "{}: {calls:?}", path.display());
        }
    }
    assert!(lines > 30, "{lines} lines");
}
