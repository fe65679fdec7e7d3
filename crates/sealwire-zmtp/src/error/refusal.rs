//! The reason of a refusal, as it may go on the wire.

use alloc::string::String;
use core::fmt;

use crate::limits::MAX_ERROR_REASON;

/// Why a peer is not let in: 1 to 255 printable ASCII characters, sent to it in ERROR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// Takes a reason. Characters that are not printable ASCII become `?`, what is beyond 255 is
    /// cut off, and an empty reason becomes `refused`.
    pub fn new(reason: &str) -> Self {
        let printable = |c: char| if matches!(c, ' '..='~') { c } else { '?' };
        let reason: String = reason
            .chars()
            .take(MAX_ERROR_REASON)
            .map(printable)
            .collect();
        Self(if reason.is_empty() {
            "refused".into()
        } else {
            reason
        })
    }

    /// The reason as it is sent.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_made_fit_for_the_wire() {
        assert_eq!(Refusal::new("unknown key").reason(), "unknown key");
        assert_eq!(Refusal::new("a\r\nbé").reason(), "a??b?");
        assert_eq!(Refusal::new("").reason(), "refused");
        assert_eq!(Refusal::new(&"é".repeat(300)).reason(), "?".repeat(255));
    }
}
