//! What a call or message may be given before it leaves, and what intercepts it.

use std::borrow::Cow;
use std::time::Duration;

use crate::proto::{Content, Metadata};
use crate::status::Status;

/// What a call or one-way message may be given. The defaults are those of the client or server.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallOptions<'a> {
    /// How long to wait for the answer, or for room for a one-way message; `None` for as long as the client or
    /// server says.
    pub limit: Option<Duration>,
    /// Keys and values beside the body; `None` for none.
    pub metadata: Option<&'a Metadata<'a>>,
}

impl<'a> CallOptions<'a> {
    /// Returns options with this time limit.
    pub fn within(limit: Duration) -> Self {
        CallOptions {
            limit: Some(limit),
            metadata: None,
        }
    }

    /// Adds metadata, which the other side's interceptors and handler read by
    /// [`Request::metadata`](crate::Request::metadata).
    #[must_use]
    pub fn with_metadata(mut self, metadata: &'a Metadata<'a>) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

/// A call or message about to leave, for [`ClientBuilder::intercept`](crate::ClientBuilder::intercept).
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing<'a> {
    /// The body that is sent; may be replaced.
    pub body: Cow<'a, [u8]>,
    /// The time limit; `None` for that of the client or server.
    pub limit: Option<Duration>,
    /// Keys and values beside the body; may be changed.
    pub metadata: Metadata<'a>,
    /// A message that nobody answers.
    pub is_one_way: bool,
}

/// Lets a call or message out, changed or not, or ends it with an error.
pub(crate) type Interceptor = Box<dyn Fn(&mut Outgoing<'_>) -> Result<(), Status> + Send + Sync>;

impl<'a> Outgoing<'a> {
    pub(crate) fn new(body: &'a [u8], options: CallOptions<'a>, is_one_way: bool) -> Self {
        Outgoing {
            body: Cow::Borrowed(body),
            limit: options.limit,
            metadata: options.metadata.map_or(Metadata::new(), Metadata::borrowed),
            is_one_way,
        }
    }

    /// The metadata and the body.
    pub(crate) fn content(&self) -> Content<'_> {
        Content {
            metadata: &self.metadata,
            body: &self.body,
        }
    }
}
