//! What a call or message may be given before it leaves, and what intercepts it.

use std::borrow::Cow;
use std::time::Duration;

use crate::status::Status;

/// What a call may be given. The defaults are those of the client or server.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallOptions {
    /// How long to wait for the answer; `None` for as long as the client or server says.
    pub limit: Option<Duration>,
}

impl CallOptions {
    /// Returns options with this time limit for the answer.
    pub fn within(limit: Duration) -> Self {
        CallOptions { limit: Some(limit) }
    }
}

/// A call or message about to leave, for [`ClientBuilder::intercept`](crate::ClientBuilder::intercept).
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing<'a> {
    /// The body that is sent; may be replaced.
    pub body: Cow<'a, [u8]>,
    /// The time limit, of calls.
    pub options: CallOptions,
    /// A message that nobody answers.
    pub is_one_way: bool,
}

/// Lets a call or message out, changed or not, or ends it with an error.
pub(crate) type Interceptor = Box<dyn Fn(&mut Outgoing<'_>) -> Result<(), Status> + Send + Sync>;

impl<'a> Outgoing<'a> {
    pub(crate) fn new(body: &'a [u8], options: CallOptions, is_one_way: bool) -> Self {
        Outgoing {
            body: Cow::Borrowed(body),
            options,
            is_one_way,
        }
    }
}
