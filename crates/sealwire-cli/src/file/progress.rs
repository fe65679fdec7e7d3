//! How far a large input has been read, on a terminal's last line.

use std::io::{self, IsTerminal as _, Read, Write as _};
use std::time::{Duration, Instant};

/// Nothing is shown of what is done sooner.
const DELAY: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);
const BAR_WIDTH: usize = 30;
/// Back to the start of the line, and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Draws on standard error; wipes the line when dropped.
pub(crate) struct Progress {
    total: Option<u64>,
    started: Instant,
    /// When to draw next; `None` for never.
    due: Option<Instant>,
    drawn: bool,
}

impl Progress {
    /// `total` is the size of the input if it is known. Draws nothing when standard error is not a terminal,
    /// or when the output goes to one, where the two would mix.
    pub(crate) fn new(total: Option<u64>, output_is_terminal: bool) -> Self {
        let started = Instant::now();
        let shown = io::stderr().is_terminal() && !output_is_terminal;
        Progress {
            total,
            started,
            due: shown.then(|| started + DELAY),
            drawn: false,
        }
    }

    fn update(&mut self, done: u64) {
        let Some(due) = self.due else { return };
        let now = Instant::now();
        if now >= due {
            let line = line(done, self.total, now - self.started);
            // The work goes on without a terminal.
            let _ = io::stderr().write_all(format!("{CLEAR}{line}").as_bytes());
            self.drawn = true;
            self.due = Some(now + INTERVAL);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            let _ = io::stderr().write_all(CLEAR.as_bytes());
        }
    }
}

/// An input that reports what was read of it.
pub(crate) struct Counted<R> {
    input: R,
    done: u64,
    progress: Progress,
}

impl<R: Read> Counted<R> {
    pub(crate) fn new(input: R, progress: Progress) -> Self {
        Counted {
            input,
            done: 0,
            progress,
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.done += count as u64;
        self.progress.update(self.done);
        Ok(count)
    }
}

/// `[####......] 40 %, 123 MB, 810 MB/s`; without a total there is no bar.
fn line(done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let megabytes = done as f64 / 1e6;
    let rate = megabytes / elapsed.as_secs_f64().max(f64::EPSILON);
    let figures = format!("{megabytes:.0} MB, {rate:.0} MB/s");
    let Some(total) = total.filter(|&total| total > 0) else {
        return figures;
    };
    // A file may grow while it is read.
    let share = (done as f64 / total as f64).min(1.0);
    let full = (share * BAR_WIDTH as f64) as usize;
    let (bar, rest) = ("#".repeat(full), ".".repeat(BAR_WIDTH - full));
    format!("[{bar}{rest}] {:3.0} %, {figures}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars() {
        let second = Duration::from_secs(1);
        assert_eq!(line(5_000_000, None, second), "5 MB, 5 MB/s");
        let half = line(5_000_000, Some(10_000_000), 2 * second);
        let bar = format!("[{}{}]", "#".repeat(15), ".".repeat(15));
        assert_eq!(half, format!("{bar}  50 %, 5 MB, 2 MB/s"));
        let grown = line(20, Some(10), second);
        assert!(grown.contains("100 %"), "{grown}");
    }
}
