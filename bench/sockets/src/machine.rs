//! What the system says about itself and about this process.

use std::fs;

use crate::Outcome;

/// What this process takes.
#[derive(Debug, Clone)]
pub(crate) struct Footprint {
    /// Bytes of memory in use.
    pub(crate) resident: usize,
    pub(crate) descriptors: usize,
    /// Of processor time.
    pub(crate) ticks: u64,
}

impl Footprint {
    pub(crate) fn now() -> Outcome<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"))
            .ok_or("no VmRSS")?;
        let stat = fs::read_to_string("/proc/self/stat")?;
        // Behind the name, which may hold anything, the fields are numbers.
        let (_, fields) = stat.rsplit_once(") ").ok_or("no fields")?;
        let times = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
        Ok(Footprint {
            resident: resident.parse::<usize>()? << 10,
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            ticks: times.sum::<Result<u64, _>>()?,
        })
    }
}

/// One line about the machine, for the tables.
pub(crate) fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}

/// Year, month and day, UTC.
pub(crate) fn today() -> Outcome<String> {
    let date = std::process::Command::new("date")
        .args(["-u", "+%F"])
        .output()?;
    Ok(String::from_utf8(date.stdout)?.trim().to_owned())
}
