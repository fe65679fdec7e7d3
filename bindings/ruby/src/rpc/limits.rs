//! Sizes, windows and time limits by name.

use std::time::Duration;

use magnus::value::ReprValue as _;
use magnus::{Error, Ruby, TryConvert as _, Value};
use sealwire_rpc::Limits;

use crate::errors;
use crate::options::seconds;

/// A time that has to be there: `nil` and infinity are without end.
pub(super) fn time(ruby: &Ruby, name: &str, value: Value) -> Result<Duration, Error> {
    Ok(seconds(ruby, name, value)?.unwrap_or(Duration::MAX))
}

/// Changes the limit of this name.
pub(super) fn set(ruby: &Ruby, limits: &mut Limits, name: &str, value: Value) -> Result<(), Error> {
    match name {
        "max_calls" => limits.max_calls = u32::try_convert(value)?,
        "one_way_window" => limits.one_way_window = u32::try_convert(value)?,
        "stream_window" => limits.stream_window = u32::try_convert(value)?,
        "max_body" => limits.max_body = u32::try_convert(value)?,
        "request_budget" => limits.request_budget = u32::try_convert(value)?,
        "message_budget" => limits.message_budget = u32::try_convert(value)?,
        "answer_budget" => limits.answer_budget = u32::try_convert(value)?,
        "request_timeout" if value.is_nil() => limits.request = None,
        "request_timeout" => limits.request = Some(time(ruby, name, value)?),
        "write_timeout" => limits.write = time(ruby, name, value)?,
        "read_timeout" => limits.read = time(ruby, name, value)?,
        "linger" => limits.linger = time(ruby, name, value)?,
        _ => {
            let problem = format!(
                "there is no limit {name}: max_calls, one_way_window, stream_window, max_body, \
                 request_budget, message_budget, answer_budget, request_timeout, write_timeout, \
                 read_timeout, linger"
            );
            return Err(errors::argument(ruby, problem));
        }
    }
    Ok(())
}
