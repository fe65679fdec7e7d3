//! How a client and a connection call.

use std::time::Duration;

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::{Error, RHash, RString, Ruby, Value};
use sealwire_rpc::{CallOptions, Metadata};

use crate::options::seconds;

/// What Ruby gives for a call or message.
pub(super) struct Call {
    pub(super) body: Vec<u8>,
    limit: Option<Duration>,
    metadata: Metadata<'static>,
}

impl Call {
    /// A body, and perhaps `timeout:`, of which `nil` means none, and `metadata:`.
    pub(super) fn new(ruby: &Ruby, args: &[Value]) -> Result<Self, Error> {
        let (body, keywords) = scanned(args)?;
        let keywords = get_kwargs::<_, (), (Option<Value>, Option<Value>), ()>(
            keywords,
            &[],
            &["timeout", "metadata"],
        )?;
        let (timeout, metadata) = keywords.optional;
        let limit = match timeout {
            None => None,
            Some(limit) => Some(seconds(ruby, "timeout", limit)?.unwrap_or(Duration::MAX)),
        };
        Call::made(ruby, body, limit, metadata)
    }

    /// A body, and perhaps `metadata:`, of a message that nobody answers.
    pub(super) fn one_way(ruby: &Ruby, args: &[Value]) -> Result<Self, Error> {
        let (body, keywords) = scanned(args)?;
        let keywords = get_kwargs::<_, (), (Option<Value>,), ()>(keywords, &[], &["metadata"])?;
        Call::made(ruby, body, None, keywords.optional.0)
    }

    fn made(
        ruby: &Ruby,
        body: RString,
        limit: Option<Duration>,
        metadata: Option<Value>,
    ) -> Result<Self, Error> {
        let metadata = metadata.map_or(Ok(Metadata::new()), |given| {
            super::metadata::given(ruby, given)
        });
        Ok(Call {
            metadata: metadata?,
            limit,
            body: super::bytes(body),
        })
    }

    pub(super) fn options(&self) -> CallOptions<'_> {
        CallOptions {
            limit: self.limit,
            metadata: Some(&self.metadata),
        }
    }
}

fn scanned(args: &[Value]) -> Result<(RString, RHash), Error> {
    let scanned = scan_args::<(RString,), (), (), (), RHash, ()>(args)?;
    Ok((scanned.required.0, scanned.keywords))
}
