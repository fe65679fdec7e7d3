//! The sockets that a service manager opened for this process, as systemd passes them (`sd_listen_fds(3)`):
//!
//! | variable | what it says |
//! |---|---|
//! | `LISTEN_PID` | the process that they are for |
//! | `LISTEN_FDS` | how many there are: descriptors 3, 4 and so on |
//! | `LISTEN_FDNAMES` | their names, with colons between; `FileDescriptorName=` of the socket's unit |
//!
//! The variables stay as they are: children of this process see that they are not meant. Each socket is taken once.

use std::env;
use std::error;
use std::ffi::OsString;
use std::fmt;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

/// The descriptor of the first.
const FIRST: RawFd = 3;

/// A socket that was opened for this process. It is closed when it is dropped, and is not passed on to programs that this
/// one starts.
#[derive(Debug)]
pub struct Passed {
    /// What the service manager calls it, if it says so.
    pub name: Option<String>,
    /// The descriptor. Nobody has looked at what it is.
    pub descriptor: OwnedFd,
}

/// The sockets cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// They were opened for another process: this one was started by it, without `exec`.
    OtherProcess(u32),
    /// A variable has something that cannot be: `LISTEN_PID`, `LISTEN_FDS` or `LISTEN_FDNAMES`.
    Variable(&'static str),
    /// Nothing is open behind this number, which the variables name: somebody closed it.
    NotOpen(i32),
    /// They were taken before.
    Taken,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::OtherProcess(process) => write!(
                f,
                "the sockets of LISTEN_FDS were opened for process {process}: start this one with exec, or take them there"
            ),
            Error::Variable(name) => write!(
                f,
                "the environment variable {name} is not what a service manager sets"
            ),
            Error::NotOpen(number) => write!(
                f,
                "LISTEN_FDS names descriptor {number}, which is not open: take the sockets before descriptors are closed"
            ),
            Error::Taken => f.write_str(
                "the sockets of LISTEN_FDS were taken before: keep what the first call returns",
            ),
        }
    }
}

impl error::Error for Error {}

/// Takes all sockets that were opened for this process, in their order; none where no service manager passed any.
///
/// Call it before anything closes descriptors that it did not open.
///
/// # Errors
///
/// [`Error`], also at the second call. After any but [`Error::Taken`] none was taken.
pub fn take() -> Result<Vec<Passed>, Error> {
    static TAKEN: AtomicBool = AtomicBool::new(false);

    let Some(names) = Told::read(|name| env::var_os(name)).names(process::id())? else {
        return Ok(Vec::new());
    };
    let numbers = (FIRST..).zip(names);
    if let Some((number, _)) = numbers.clone().find(|(number, _)| !is_open(*number)) {
        return Err(Error::NotOpen(number));
    }
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(Error::Taken);
    }
    let taken = numbers.map(|(number, name)| Passed {
        name,
        descriptor: keep(number),
    });
    Ok(taken.collect())
}

/// What the environment says.
struct Told {
    process: Option<OsString>,
    count: Option<OsString>,
    names: Option<OsString>,
}

impl Told {
    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        Told {
            process: variable("LISTEN_PID"),
            count: variable("LISTEN_FDS"),
            names: variable("LISTEN_FDNAMES"),
        }
    }

    /// The name of each socket, or that it has none; `None` where nothing was passed.
    fn names(&self, own: u32) -> Result<Option<Vec<Option<String>>>, Error> {
        let (Some(process), Some(count)) = (&self.process, &self.count) else {
            return Ok(None);
        };
        let process: u32 = number(process).ok_or(Error::Variable("LISTEN_PID"))?;
        if process != own {
            return Err(Error::OtherProcess(process));
        }
        // As many as a process can have open: nothing is allocated by a number that cannot be.
        let count: u16 = number(count).ok_or(Error::Variable("LISTEN_FDS"))?;
        let Some(names) = &self.names else {
            return Ok(Some(vec![None; count.into()]));
        };
        let wrong = Error::Variable("LISTEN_FDNAMES");
        let names = names.to_str().ok_or(wrong.clone())?;
        let names: Vec<_> = names.split(':').map(|name| Some(name.to_owned())).collect();
        match names.len() == usize::from(count) {
            true => Ok(Some(names)),
            false => Err(wrong),
        }
    }
}

fn number<N: std::str::FromStr>(text: &OsString) -> Option<N> {
    text.to_str()?.parse().ok()
}

fn is_open(number: RawFd) -> bool {
    // SAFETY: reads the flags of a number, whatever is behind it.
    unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
}

/// Takes a descriptor, which programs that this one starts do not get.
fn keep(number: RawFd) -> OwnedFd {
    // SAFETY: sets the flag of a descriptor that is open, and reads no memory.
    unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    // SAFETY: it is open. The service manager opened it for this process, which owns it so from its beginning, and `take`
    // gives each to one caller.
    unsafe { OwnedFd::from_raw_fd(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(process: &str, count: &str, names: Option<&str>) -> Told {
        Told {
            process: Some(process.into()),
            count: Some(count.into()),
            names: names.map(Into::into),
        }
    }

    fn names(of: &[Option<&str>]) -> Result<Option<Vec<Option<String>>>, Error> {
        Ok(Some(
            of.iter().map(|name| name.map(str::to_owned)).collect(),
        ))
    }

    #[test]
    fn sockets_are_counted_and_named() {
        assert_eq!(told("7", "2", None).names(7), names(&[None, None]));
        assert_eq!(told("7", "0", None).names(7), names(&[]));
        let both = told("7", "2", Some("web:unknown")).names(7);
        assert_eq!(both, names(&[Some("web"), Some("unknown")]));
    }

    #[test]
    fn what_was_not_passed_is_none() {
        for missing in ["LISTEN_PID", "LISTEN_FDS"] {
            let set = |name: &str| (name != missing).then(|| "7".into());
            assert_eq!(Told::read(set).names(7), Ok(None), "{missing}");
        }
    }

    #[test]
    fn sockets_of_another_process_are_not_taken() {
        assert_eq!(told("8", "2", None).names(7), Err(Error::OtherProcess(8)));
    }

    #[test]
    fn variables_that_cannot_be_are_named() {
        for (wrong, variable) in [
            (told("", "1", None), "LISTEN_PID"),
            (told("-7", "1", None), "LISTEN_PID"),
            (told("7", "", None), "LISTEN_FDS"),
            (told("7", "-1", None), "LISTEN_FDS"),
            (told("7", "2000000000", None), "LISTEN_FDS"),
            (told("7", "2", Some("web")), "LISTEN_FDNAMES"),
            (told("7", "1", Some("web:admin")), "LISTEN_FDNAMES"),
        ] {
            assert_eq!(wrong.names(7), Err(Error::Variable(variable)));
        }
    }
}
