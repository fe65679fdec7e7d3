//! On which cores threads run. Only Linux tells and lets choose.

/// Returns the numbers of the cores that this thread may use; none where it cannot be told.
#[cfg(target_os = "linux")]
pub fn allowed() -> Vec<usize> {
    use nix::sched::{CpuSet, sched_getaffinity};
    use nix::unistd::Pid;

    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|&core| set.is_set(core).unwrap_or(false))
        .collect()
}

/// Returns the numbers of the cores that this thread may use; none where it cannot be told.
#[cfg(not(target_os = "linux"))]
pub fn allowed() -> Vec<usize> {
    Vec::new()
}

/// Returns two cores that this thread may use, as far from each other as their numbers are, so that
/// they are less likely to be two threads of one core. `None` where there are not two, or where it
/// cannot be told.
pub fn two_apart() -> Option<[usize; 2]> {
    let allowed = allowed();
    match (allowed.first(), allowed.last()) {
        (Some(&first), Some(&last)) if first != last => Some([first, last]),
        _ => None,
    }
}

/// Returns a core that this thread may use: the last, since the first ones tend to handle more
/// interrupts.
pub fn any() -> Option<usize> {
    allowed().last().copied()
}

/// Keeps this thread, and those that it starts from now on, on one core.
///
/// # Errors
///
/// Says why it cannot, for people to read.
pub fn pin_to(core: usize) -> Result<(), String> {
    stay_on(&[core])
}

/// Keeps this thread, and those that it starts from now on, on these cores.
///
/// # Errors
///
/// Says why it cannot, for people to read.
pub fn stay_on(cores: &[usize]) -> Result<(), String> {
    set_affinity(cores).map_err(|error| {
        let numbers: Vec<_> = cores.iter().map(usize::to_string).collect();
        format!("cannot stay on core {}: {error}", numbers.join(", "))
    })
}

#[cfg(target_os = "linux")]
fn set_affinity(cores: &[usize]) -> nix::Result<()> {
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::unistd::Pid;

    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set)
}

#[cfg(not(target_os = "linux"))]
fn set_affinity(_cores: &[usize]) -> Result<(), &'static str> {
    Err("only done on Linux")
}
