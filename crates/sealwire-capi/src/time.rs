//! Times, as C says them.

use std::time::Duration;

use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT};

/// How long a call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// As the options say.
    Default,
    /// Not at all.
    No,
    For(Duration),
}

impl Wait {
    /// -1, 0, or milliseconds.
    pub(crate) fn from_ms(timeout_ms: i64) -> Result<Self, Failure> {
        match timeout_ms {
            -1 => Ok(Wait::Default),
            0 => Ok(Wait::No),
            _ => Ok(Wait::For(duration_ms(timeout_ms, "timeout_ms")?)),
        }
    }
}

pub(crate) fn duration_ms(milliseconds: i64, name: &str) -> Result<Duration, Failure> {
    let milliseconds = u64::try_from(milliseconds).map_err(|_| {
        let text = format!("{name} cannot be {milliseconds}");
        Failure::new(SEALWIRE_ERROR_ARGUMENT, text)
    })?;
    Ok(Duration::from_millis(milliseconds))
}
