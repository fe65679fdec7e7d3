//! Why a policy cannot be used.

use std::fmt;
use std::io;
use std::path::Path;

use sealwire::account::is_exhaustion;
use sealwire::keys::KeyFileError;

/// A fault in a file of rules, or in the variables that stand for one. Its text names the place and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {}", .reason.text)]
pub struct Fault {
    place: String,
    reason: Reason,
}

/// The cause, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    text: String,
    passes: bool,
}

impl Fault {
    /// Makes a fault in the whole of a file, or in a variable.
    pub(crate) fn new(place: impl fmt::Display, reason: impl Into<Reason>) -> Self {
        Fault {
            place: place.to_string(),
            reason: reason.into(),
        }
    }

    /// Makes a fault in a line of a file, counted from 1.
    pub(crate) fn at(path: &Path, line: usize, reason: impl Into<Reason>) -> Self {
        Self::new(format_args!("{}, line {line}", path.display()), reason)
    }

    /// Returns whether the process had no descriptors left to read what it was to read, so that it says nothing about the
    /// rules: reading them again may succeed.
    pub fn passes(&self) -> bool {
        self.reason.passes
    }
}

impl Reason {
    /// A file could not be read.
    pub(crate) fn of_reading(error: &io::Error) -> Self {
        Reason {
            text: format!("cannot be read: {error}"),
            passes: is_exhaustion(error),
        }
    }

    /// A pipe, a device or a folder is where a file should be that holds this.
    pub(crate) fn not_a_file(content: &str) -> Self {
        format!("is not a file that can be read again; write {content} to one").into()
    }

    /// The same about the value of this key.
    pub(crate) fn of(self, key: &str) -> Self {
        Reason {
            text: format!("{key}: {}", self.text),
            ..self
        }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Reason {
            text,
            passes: false,
        }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<KeyFileError> for Reason {
    fn from(error: KeyFileError) -> Self {
        let source = match &error {
            KeyFileError::Read { source, .. } => Some(source),
            _ => None,
        };
        let remedy = match source.map(io::Error::kind) {
            Some(io::ErrorKind::NotFound) => "; write the path of a file that is there",
            Some(io::ErrorKind::PermissionDenied) => "; let the user of this process read it",
            _ => "",
        };
        Reason {
            text: format!("{error}{remedy}"),
            passes: source.is_some_and(is_exhaustion),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_without_descriptors_may_find_the_rules_good_later() {
        let path = Path::new("rules");
        let of_system = |errno| io::Error::from_raw_os_error(errno);
        // EMFILE and EACCES.
        for (errno, passes) in [(24, true), (13, false)] {
            let key = |source| {
                let path = path.into();
                Reason::from(KeyFileError::Read { path, source })
            };
            let of_key = Fault::at(path, 3, key(of_system(errno)).of("allow"));
            assert_eq!(of_key.passes(), passes, "{of_key}");
            assert!(of_key.to_string().starts_with("rules, line 3: allow: "));
            let of_file = Fault::new("rules", Reason::of_reading(&of_system(errno)));
            assert_eq!(of_file.passes(), passes, "{of_file}");
        }
        assert!(!Fault::new("rules", "has no version").passes());
    }
}
