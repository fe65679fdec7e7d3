//! Messages, as what Python asked for.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealwire::{Message, SocketType};

use crate::message;

/// What a message becomes. The numbers are known to `python/sealwire/_forms.py`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The payload as `bytes`.
    Bytes,
    /// The payload as a `Frame`.
    Frame,
    /// All frames as a list of `bytes`.
    BytesList,
    /// All frames as a list of `Frame`.
    FrameList,
    /// A `Message`.
    Message,
}

impl Form {
    pub(super) fn of(number: u8) -> PyResult<Self> {
        Ok(match number {
            0 => Form::Bytes,
            1 => Form::Frame,
            2 => Form::BytesList,
            3 => Form::FrameList,
            4 => Form::Message,
            _ => return Err(PyValueError::new_err("there is no such form of a message")),
        })
    }

    /// The payload where one is asked for, or all frames.
    pub(super) fn single(copy: bool) -> Self {
        if copy { Form::Bytes } else { Form::Frame }
    }

    pub(super) fn list(copy: bool) -> Self {
        if copy {
            Form::BytesList
        } else {
            Form::FrameList
        }
    }

    pub(super) fn give<'py>(
        self,
        py: Python<'py>,
        message: Message,
        socket_type: SocketType,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Form::Bytes => match payload(&message, socket_type) {
                Some(payload) => Ok(PyBytes::new(py, payload).into_any()),
                None => Err(several_frames(py, &[message])),
            },
            Form::Frame => match payload(&message, socket_type) {
                Some(payload) => {
                    let frame = message::Frame::new(payload.clone(), message.peer().cloned());
                    Ok(Bound::new(py, frame)?.into_any())
                }
                None => Err(several_frames(py, &[message])),
            },
            Form::BytesList => Ok(message::frames_of(py, &message)?.into_any()),
            Form::FrameList => Ok(message::lent_frames_of(py, &message)?.into_any()),
            Form::Message => Ok(Bound::new(py, message::Message::from(message))?.into_any()),
        }
    }

    /// A list of what each message becomes.
    pub(super) fn give_many<'py>(
        self,
        py: Python<'py>,
        messages: Vec<Message>,
        socket_type: SocketType,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self == Form::Bytes {
            let whole = |message: &Message| payload(message, socket_type).is_some();
            if !messages.iter().all(whole) {
                return Err(several_frames(py, &messages));
            }
            // Made in one go, which is what this is for.
            let payloads = messages.iter().filter_map(|message| {
                let payload = payload(message, socket_type)?;
                Some(PyBytes::new(py, payload))
            });
            let payloads = Counted {
                left: messages.len(),
                of: payloads,
            };
            return Ok(PyList::new(py, payloads)?.into_any());
        }
        let list = PyList::empty(py);
        for message in messages {
            list.append(self.give(py, message, socket_type)?)?;
        }
        Ok(list.into_any())
    }
}

/// An iterator whose length is known.
struct Counted<I> {
    left: usize,
    of: I,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.saturating_sub(1);
        self.of.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

/// The only frame, or the one behind what SERVER, PEER and DISH sockets have in front: a routing id, or a
/// group. `None` when there are others.
#[inline]
fn payload(message: &Message, socket_type: SocketType) -> Option<&sealwire::Frame> {
    match message.frames() {
        [payload] => Some(payload),
        [_, payload] => matches!(
            socket_type,
            SocketType::Server | SocketType::Peer | SocketType::Dish
        )
        .then_some(payload),
        _ => None,
    }
}

fn several_frames(py: Python<'_>, messages: &[Message]) -> PyErr {
    let list = PyList::empty(py);
    for message in messages {
        let added = message::frames_of(py, message).and_then(|frames| list.append(frames));
        if let Err(error) = added {
            return error;
        }
    }
    crate::error::several_frames(py, list.into_any().unbind())
}
