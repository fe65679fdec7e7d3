//! Why a policy cannot be used.

use std::fmt;
use std::path::Path;

/// A fault in a file of rules, or in the variables that stand for one. Its text names the place and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Fault {
    place: String,
    message: String,
}

impl Fault {
    /// Makes a fault in the whole of a file, or in a variable.
    pub(crate) fn new(place: impl fmt::Display, message: impl Into<String>) -> Self {
        Fault {
            place: place.to_string(),
            message: message.into(),
        }
    }

    /// Makes a fault in a line of a file, counted from 1.
    pub(crate) fn at(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self::new(format_args!("{}, line {line}", path.display()), message)
    }
}
