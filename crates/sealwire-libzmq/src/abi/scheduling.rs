//! How the system runs the I/O threads of a context.

use std::collections::BTreeSet;
use std::io;
use std::mem::{self, MaybeUninit};

use libc::c_int;

/// What a program has said of its threads, in the numbers of the system.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scheduling {
    pub(crate) policy: Option<c_int>,
    pub(crate) priority: Option<c_int>,
    /// The processors that they may run on; none for all.
    pub(crate) processors: BTreeSet<c_int>,
}

impl Scheduling {
    /// Applies it to this thread, which has this name from then on. What the system refuses, for want of a privilege for
    /// example, is logged: libzmq ends the process there.
    pub(crate) fn apply(&self, name: &str) {
        rename(name);
        for (what, done) in [
            ("policy and priority", self.apply_policy()),
            ("processors", self.apply_processors()),
        ] {
            if let Err(error) = done {
                tracing::warn!(target: "sealwire", %error, "the system refused the {what} of a thread");
            }
        }
    }

    fn apply_policy(&self) -> io::Result<()> {
        if self.policy.is_none() && self.priority.is_none() {
            return Ok(());
        }
        let mut policy = 0;
        let mut parameters = MaybeUninit::uninit();
        // SAFETY: this thread; both are filled before they are read.
        let mut parameters: libc::sched_param = unsafe {
            let result = libc::pthread_getschedparam(
                libc::pthread_self(),
                &raw mut policy,
                parameters.as_mut_ptr(),
            );
            done(result)?;
            parameters.assume_init()
        };
        let policy = self.policy.unwrap_or(policy);
        let by_priority = matches!(policy, libc::SCHED_FIFO | libc::SCHED_RR);
        parameters.sched_priority = match by_priority {
            true => self.priority.unwrap_or(parameters.sched_priority),
            // The only one that the others have.
            false => 0,
        };
        // SAFETY: this thread, and parameters that the system checks.
        done(unsafe {
            libc::pthread_setschedparam(libc::pthread_self(), policy, &raw const parameters)
        })?;
        if !by_priority && self.priority.is_some_and(|priority| priority > 0) {
            // As libzmq: the most that there is.
            return most_urgent();
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn apply_processors(&self) -> io::Result<()> {
        if self.processors.is_empty() {
            return Ok(());
        }
        // SAFETY: a set of bits, none of which is set.
        let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
        for processor in &self.processors {
            let processor = usize::try_from(*processor).unwrap_or(usize::MAX);
            if processor >= 8 * size_of::<libc::cpu_set_t>() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            // SAFETY: the set has this bit.
            unsafe { libc::CPU_SET(processor, &mut set) };
        }
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: this thread, and a set of that size.
        done(unsafe { libc::pthread_setaffinity_np(libc::pthread_self(), size, &raw const set) })
    }

    #[cfg(not(target_os = "linux"))]
    fn apply_processors(&self) -> io::Result<()> {
        match self.processors.is_empty() {
            true => Ok(()),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

fn done(result: c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn most_urgent() -> io::Result<()> {
    // SAFETY: no memory of ours is read or written.
    match unsafe { libc::nice(-20) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn rename(name: &str) {
    let mut text: Vec<u8> = name.bytes().filter(|octet| *octet != 0).take(15).collect();
    text.push(0);
    // SAFETY: this thread, and a text of at most 15 octets that ends with a zero.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), text.as_ptr().cast()) };
}

#[cfg(not(target_os = "linux"))]
fn rename(_name: &str) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// What the system says of this thread.
    fn status(key: &str) -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with(key)).unwrap();
        line[key.len()..].trim_start_matches(':').trim().to_owned()
    }

    #[test]
    fn a_thread_has_its_name_and_runs_where_it_may() {
        let thread = std::thread::spawn(|| {
            let allowed = status("Cpus_allowed_list");
            let first: c_int = allowed
                .split([',', '-'])
                .next()
                .and_then(|it| it.parse().ok())
                .unwrap();
            let scheduling = Scheduling {
                policy: Some(libc::SCHED_BATCH),
                priority: None,
                processors: [first].into(),
            };
            scheduling.apply("a name that is far too long");
            assert_eq!(status("Name"), "a name that is");
            assert_eq!(status("Cpus_allowed_list"), first.to_string());
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let fields: Vec<_> = stat.rsplit(')').next().unwrap().split(' ').collect();
            // The field after the name is the third one; the policy is the 41st (proc(5)).
            assert_eq!(fields[39], libc::SCHED_BATCH.to_string());
        });
        thread.join().unwrap();
    }

    #[test]
    fn what_the_system_refuses_leaves_the_thread_running() {
        let thread = std::thread::spawn(|| {
            let scheduling = Scheduling {
                policy: Some(9_999),
                priority: Some(1),
                processors: [c_int::MAX].into(),
            };
            assert!(scheduling.apply_policy().is_err());
            assert!(scheduling.apply_processors().is_err());
            scheduling.apply("runs on");
        });
        thread.join().unwrap();
    }
}
