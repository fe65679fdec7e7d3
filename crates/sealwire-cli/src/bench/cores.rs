//! Which cores the measured processes run on.

/// Two cores that this process may use, as far from each other as their numbers are, so that they
/// are less likely to be two threads of one core. `None` where there are not two, or where it
/// cannot be told.
pub(crate) fn two_apart() -> Option<[usize; 2]> {
    let allowed = allowed();
    match (allowed.first(), allowed.last()) {
        (Some(&first), Some(&last)) if first != last => Some([first, last]),
        _ => None,
    }
}

/// A core that this process may use. The last, since the first ones tend to handle more interrupts.
pub(crate) fn any() -> Option<usize> {
    allowed().last().copied()
}

#[cfg(target_os = "linux")]
fn allowed() -> Vec<usize> {
    use nix::sched::{CpuSet, sched_getaffinity};
    use nix::unistd::Pid;

    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|&core| set.is_set(core).unwrap_or(false))
        .collect()
}

/// Keeps this thread, and those that it starts from now on, on one core.
#[cfg(target_os = "linux")]
pub(crate) fn pin_to(core: usize) -> Result<(), String> {
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::unistd::Pid;

    let mut set = CpuSet::new();
    set.set(core)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(|error| format!("cannot stay on core {core}: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin_to(core: usize) -> Result<(), String> {
    Err(format!("cannot stay on core {core}: only done on Linux"))
}
