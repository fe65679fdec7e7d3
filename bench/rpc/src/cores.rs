//! Which cores the measured processes run on. A process stays where the thread that started it was.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::Error;

/// The cores that this process may use.
pub(crate) fn allowed() -> Result<Vec<usize>, Error> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    let cores = 0..CpuSet::count();
    Ok(cores.filter(|&core| set.is_set(core) == Ok(true)).collect())
}

/// Keeps this thread, and all that it starts from now on, on these cores.
pub(crate) fn stay_on(cores: &[usize]) -> Result<(), Error> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}
