//! What a process holds, from `/proc`, and the lines of the file of samples.

use std::fs;
use std::path::Path;

use crate::Error;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// KiB in memory.
    pub(crate) resident: u64,
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
}

impl Process {
    pub(crate) fn of(id: u32) -> Result<Self, Error> {
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_ascii_whitespace().next()?.parse().ok()
        };
        Ok(Process {
            resident: field("VmRSS:").ok_or("no VmRSS")?,
            descriptors: fs::read_dir(format!("/proc/{id}/fd"))?.count() as u64,
            threads: field("Threads:").ok_or("no Threads")?,
        })
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) seconds: u64,
    pub(crate) server: Process,
    pub(crate) clients: Process,
    /// Connections of the server.
    pub(crate) connections: u64,
    /// Messages that arrived at the server so far.
    pub(crate) arrived: u64,
    /// Key changes so far.
    pub(crate) rounds: u64,
}

pub(crate) const HEADING: &str = "seconds,server_kib,server_descriptors,server_threads,\
clients_kib,clients_descriptors,clients_threads,connections,arrived,rounds";

impl Sample {
    pub(crate) fn line(&self) -> String {
        let Sample {
            server, clients, ..
        } = self;
        let numbers = [
            self.seconds,
            server.resident,
            server.descriptors,
            server.threads,
            clients.resident,
            clients.descriptors,
            clients.threads,
            self.connections,
            self.arrived,
            self.rounds,
        ];
        numbers.map(|it| it.to_string()).join(",")
    }

    fn parse(line: &str) -> Option<Self> {
        let numbers: Result<Vec<u64>, _> = line.split(',').map(str::parse).collect();
        let numbers: [u64; 10] = numbers.ok()?.try_into().ok()?;
        let process = |at: usize| Process {
            resident: numbers[at],
            descriptors: numbers[at + 1],
            threads: numbers[at + 2],
        };
        let [seconds, .., connections, arrived, rounds] = numbers;
        Some(Sample {
            seconds,
            server: process(1),
            clients: process(4),
            connections,
            arrived,
            rounds,
        })
    }
}

/// Reads a file of samples.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<Vec<Sample>, Error> {
    let text = fs::read_to_string(path)?;
    let mut lines = text.lines();
    if lines.next() != Some(HEADING) {
        return Err("the file does not begin as a file of samples".into());
    }
    let sample = |line| Sample::parse(line).ok_or_else(|| format!("no sample: {line}").into());
    lines.map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let process = Process {
            resident: 2,
            descriptors: 3,
            threads: 4,
        };
        let sample = Sample {
            seconds: 1,
            server: process,
            clients: Process {
                threads: 5,
                ..process
            },
            connections: 6,
            arrived: 7,
            rounds: 8,
        };
        assert_eq!(Sample::parse(&sample.line()), Some(sample));
        assert_eq!(HEADING.split(',').count(), sample.line().split(',').count());
        assert_eq!(Sample::parse("1,2"), None);
    }

    #[test]
    fn this_process_holds_something() {
        let own = Process::of(std::process::id()).unwrap();
        assert!(own.resident > 0 && own.descriptors > 0 && own.threads > 0);
    }
}
