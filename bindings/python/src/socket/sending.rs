//! What Python gives, as messages.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealwire::{Frame, Message};

/// One payload, or the frames of a message.
pub(super) fn outgoing(
    data: &Bound<'_, PyAny>,
    multipart: bool,
    routing_id: Option<u32>,
    group: Option<&Bound<'_, PyAny>>,
) -> PyResult<Message> {
    if !multipart {
        return single(data, routing_id, group);
    }
    // Both are sequences as well, and never meant.
    if data.is_instance_of::<PyBytes>() || data.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "expected the frames of a message, not one: use send, or a list",
        ));
    }
    let mut message = Message::multipart::<Frame>([]);
    for frame in data.try_iter()? {
        message.push_back(crate::buffer::frame(&frame?)?);
    }
    Ok(message)
}

/// One payload, with a routing id (SERVER, PEER) or a group (RADIO) in front.
pub(super) fn single(
    data: &Bound<'_, PyAny>,
    routing_id: Option<u32>,
    group: Option<&Bound<'_, PyAny>>,
) -> PyResult<Message> {
    let payload = crate::buffer::frame(data)?;
    match (routing_id, group) {
        (None, None) => Ok(payload.into()),
        (Some(routing_id), None) => Ok(Message::with_routing_id(routing_id, payload)),
        (None, Some(group)) => Ok(Message::to_group(
            crate::auth::text_or_bytes(group)?,
            payload,
        )),
        (Some(_), Some(_)) => Err(PyValueError::new_err(
            "a message goes to a routing id or to a group, not to both",
        )),
    }
}
