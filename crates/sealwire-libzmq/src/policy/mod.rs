//! Rules about encryption that come from outside of the program: which count for the process, and what they say about
//! one endpoint.
//!
//! A process whose rules have a fault uses no endpoint that leaves it: nothing falls back to plain text.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, Once, PoisonError};

use sealwire::{Endpoint, SocketType, embed};
use sealwire_fork::PerProcess;
use sealwire_policy::{Fault, Own, Policy, Role, Ruling, SYSTEM_FILE, Sources};

use crate::errno::Errno;

/// Lines on standard error of one process: those after them are not written.
const MAX_LINES: usize = 64;

/// The rules of a process, and what it was told about them.
pub(crate) struct Governing {
    rules: Result<Option<Policy>, Fault>,
    /// Each line is written once.
    told: Mutex<Vec<String>>,
    /// That plain text leaves the machine.
    warned: Once,
}

/// Returns the rules of this process, which are read when it makes its first context; a child of a fork reads them again,
/// as threads that it does not have may have been using those of its parent. `secure` says that it runs with rights that
/// its user has not, so that the environment is not to be believed.
///
/// # Errors
///
/// `EMFILE` where it has no descriptors left to read them. They are read with the next context then.
pub(crate) fn of_process(secure: impl Fn() -> bool) -> Result<Arc<Governing>, Errno> {
    static RULES: PerProcess<Arc<Governing>> = PerProcess::new();
    let read = || {
        let sources = Sources::of_process(secure());
        let governing = governing(sources.read())?;
        if let Some(variable) = sources.ignored() {
            governing.tell(format!(
                "{variable} is not believed in a process with rights that its user has not; write the rules to {SYSTEM_FILE}"
            ));
        }
        Ok(governing)
    };
    RULES.get_or_try_make(|_| true, read).cloned()
}

fn governing(rules: Result<Option<Policy>, Fault>) -> Result<Arc<Governing>, Errno> {
    match rules {
        Err(fault) if fault.passes() => Err(Errno::MFILE),
        rules => Ok(Arc::new(Governing::new(rules))),
    }
}

impl Governing {
    pub(crate) fn new(rules: Result<Option<Policy>, Fault>) -> Self {
        Governing {
            rules,
            told: Mutex::default(),
            warned: Once::new(),
        }
    }

    /// Decides about an endpoint, for which the program has set `own`.
    ///
    /// # Errors
    ///
    /// `EACCES`, and a line on standard error says why.
    pub(crate) fn decide(
        &self,
        role: Role,
        endpoint: &Endpoint,
        socket_type: SocketType,
        own: Own,
    ) -> Result<Ruling<'_>, Errno> {
        if matches!(endpoint, Endpoint::Inproc(_)) {
            return Ok(Ruling::AsProgram);
        }
        let policy = match &self.rules {
            Ok(Some(policy)) => policy,
            Ok(None) => {
                if matches!(own, Own::Nothing | Own::Plain) && endpoint.leaves_the_machine() {
                    self.warn(endpoint);
                }
                return Ok(Ruling::AsProgram);
            }
            Err(fault) => {
                self.tell(format!("{endpoint} refused: {fault}"));
                return Err(Errno::ACCES);
            }
        };
        policy
            .decide(role, endpoint, socket_type, own)
            .map_err(|refusal| {
                self.tell(refusal.to_string());
                Errno::ACCES
            })
    }

    /// Checks that a rule can say which file a passed socket listens at. The system knows a relative path only as it was
    /// written, by a program that may have been in another folder.
    ///
    /// # Errors
    ///
    /// `EACCES` for a relative path where there are rules, and a line on standard error says why.
    pub(crate) fn check_passed(&self, endpoint: &Endpoint) -> Result<(), Errno> {
        match (&self.rules, endpoint) {
            (Ok(Some(_)), Endpoint::Ipc(path)) if path.is_relative() => {
                self.tell(format!(
                    "{endpoint} refused: a passed socket has this relative path, which may be another file here; bind it by an absolute one"
                ));
                Err(Errno::ACCES)
            }
            _ => Ok(()),
        }
    }

    /// Says once that a program without rules sends plain text.
    fn warn(&self, endpoint: &Endpoint) {
        self.warned.call_once(|| {
            self.tell(format!(
                "{endpoint} is plain text and leaves this machine (told once for a process); \
                 SEALWIRE_CONFIG names a file with rules for encryption, or for plain text"
            ));
        });
    }

    /// Writes a line on standard error, once.
    pub(crate) fn tell(&self, line: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MAX_LINES && !told.contains(&line) {
            embed::tell(&line);
            told.push(line);
        }
    }

    #[cfg(test)]
    fn told(&self) -> Vec<String> {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
