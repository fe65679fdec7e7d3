//! Calls that block the thread, with the GIL released and signals heard.

use std::collections::VecDeque;
use std::time::Duration;

use pyo3::prelude::*;
use sealwire::{Error, Message};

use super::SocketCore;
use super::receiving::Form;
use super::sending;
use crate::context::Context;
use crate::security::Security;
use crate::wait::block_on;

/// libzmq's `ZMQ_DONTWAIT`.
const NOBLOCK: i32 = 1;

/// How many messages of a batch are made and sent with the GIL released once.
const SENT_AT_ONCE: usize = 256;

/// A socket whose calls block the thread.
#[pyclass(frozen, subclass, extends = SocketCore, module = "sealwire._sealwire")]
pub(crate) struct BlockingSocket;

fn core<'a>(socket: &'a Bound<'_, BlockingSocket>) -> &'a SocketCore {
    socket.as_super().get()
}

fn send(py: Python<'_>, core: &SocketCore, message: Message, flags: i32) -> PyResult<()> {
    let socket = core.socket(py)?;
    let Err(unsent) = py.detach(|| socket.try_send(message)) else {
        return Ok(());
    };
    if !matches!(unsent.error(), Error::WouldBlock) {
        return Err(core.failed(py, unsent.into()));
    }
    if flags & NOBLOCK != 0 {
        return Err(crate::error::again(py));
    }
    let message = unsent.into_message();
    let limit = core.opened.send_limit();
    // Few bytes or a reference: for the next attempt.
    let sent = core.wait(py, || socket.send(message.clone()), limit)?;
    match sent {
        Some(sent) => sent.map_err(|unsent| core.failed(py, unsent.into())),
        None => core
            .opened
            .last_send(py, message, limit.unwrap_or_default()),
    }
}

fn recv(py: Python<'_>, core: &SocketCore, flags: i32, timeout: Option<f64>) -> PyResult<Message> {
    let socket = core.socket(py)?;
    match socket.try_recv() {
        Ok(message) => return Ok(message),
        Err(Error::WouldBlock) if flags & NOBLOCK == 0 => {}
        Err(error) => return Err(core.failed(py, error)),
    }
    let limit = core.opened.limit_of_receive(timeout);
    match core.wait(py, || socket.recv(), limit)? {
        Some(received) => received.map_err(|error| core.failed(py, error)),
        None => core.opened.last_recv(py, limit.unwrap_or_default()),
    }
}

fn recv_many(
    py: Python<'_>,
    core: &SocketCore,
    limit: usize,
    flags: i32,
    timeout: Option<f64>,
) -> PyResult<Vec<Message>> {
    let socket = core.socket(py)?;
    let taken = || async {
        let mut messages = Vec::new();
        let received = socket.recv_many(&mut messages, limit).await;
        received.map(|_| messages)
    };
    let wait = if flags & NOBLOCK == 0 {
        core.opened.limit_of_receive(timeout)
    } else {
        Some(Duration::ZERO)
    };
    match core.wait(py, taken, wait)? {
        Some(received) => received.map_err(|error| core.failed(py, error)),
        None if flags & NOBLOCK != 0 => Err(crate::error::again(py)),
        None => Ok(vec![core.opened.last_recv(py, wait.unwrap_or_default())?]),
    }
}

#[pymethods]
impl BlockingSocket {
    #[new]
    #[pyo3(signature = (socket_type, context, *, security = None))]
    fn new(
        py: Python<'_>,
        socket_type: i32,
        context: &Bound<'_, Context>,
        security: Option<&Bound<'_, Security>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let core = SocketCore::make(py, socket_type, context, security)?;
        Ok(PyClassInitializer::from(core).add_subclass(BlockingSocket))
    }

    /// Sends a message of one frame.
    #[pyo3(signature = (data, flags = 0, *, routing_id = None, group = None))]
    fn send(
        slf: &Bound<'_, Self>,
        data: &Bound<'_, PyAny>,
        flags: i32,
        routing_id: Option<u32>,
        group: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let message = sending::single(data, routing_id, group)?;
        send(slf.py(), core(slf), message, flags)
    }

    /// Sends a message of several frames.
    #[pyo3(signature = (frames, flags = 0))]
    fn send_multipart(
        slf: &Bound<'_, Self>,
        frames: &Bound<'_, PyAny>,
        flags: i32,
    ) -> PyResult<()> {
        let message = sending::outgoing(frames, true, None, None)?;
        send(slf.py(), core(slf), message, flags)
    }

    /// Sends messages of one frame each, in order, and gives their number. An exception has in
    /// `sent` how many were sent before it.
    fn send_many(slf: &Bound<'_, Self>, messages: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = slf.py();
        let mut sent = 0;
        let outcome = send_all(py, core(slf), messages, &mut sent);
        match outcome {
            Ok(()) => Ok(sent),
            Err(error) => {
                error.value(py).setattr("sent", sent)?;
                Err(error)
            }
        }
    }

    /// Receives a message of one frame: `bytes`, or with `copy=False` a `Frame`. Waits for up to
    /// `timeout` milliseconds, or `rcvtimeo`.
    #[pyo3(signature = (flags = 0, copy = true, *, timeout = None))]
    fn recv<'py>(
        slf: &Bound<'py, Self>,
        flags: i32,
        copy: bool,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), core(slf));
        let message = recv(py, core, flags, timeout)?;
        Form::single(copy).give(py, message, core.opened.socket_type())
    }

    /// Receives a message as the list of its frames.
    #[pyo3(signature = (flags = 0, copy = true, *, timeout = None))]
    fn recv_multipart<'py>(
        slf: &Bound<'py, Self>,
        flags: i32,
        copy: bool,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), core(slf));
        let message = recv(py, core, flags, timeout)?;
        Form::list(copy).give(py, message, core.opened.socket_type())
    }

    /// Receives a message with who sent it.
    #[pyo3(signature = (flags = 0, *, timeout = None))]
    fn recv_message<'py>(
        slf: &Bound<'py, Self>,
        flags: i32,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), core(slf));
        let message = recv(py, core, flags, timeout)?;
        Form::Message.give(py, message, core.opened.socket_type())
    }

    /// Waits for a message, then takes up to `limit` that are there, as `bytes`: one hold of the
    /// lock and of the GIL for all of them.
    #[pyo3(signature = (limit = 1000, flags = 0, *, timeout = None))]
    fn recv_many<'py>(
        slf: &Bound<'py, Self>,
        limit: usize,
        flags: i32,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), core(slf));
        let messages = recv_many(py, core, limit, flags, timeout)?;
        Form::Bytes.give_many(py, messages, core.opened.socket_type())
    }

    /// The same with messages as lists of frames.
    #[pyo3(signature = (limit = 1000, flags = 0, *, timeout = None))]
    fn recv_many_multipart<'py>(
        slf: &Bound<'py, Self>,
        limit: usize,
        flags: i32,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), core(slf));
        let messages = recv_many(py, core, limit, flags, timeout)?;
        Form::BytesList.give_many(py, messages, core.opened.socket_type())
    }

    /// The same with messages that know who sent them.
    #[pyo3(signature = (limit = 1000, flags = 0, *, timeout = None))]
    fn recv_many_messages<'py>(
        slf: &Bound<'py, Self>,
        limit: usize,
        flags: i32,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), core(slf));
        let messages = recv_many(py, core, limit, flags, timeout)?;
        Form::Message.give_many(py, messages, core.opened.socket_type())
    }

    /// SERVER, PEER: connects, waits for the handshake, and gives the routing id of the connection.
    fn connect_peer(slf: &Bound<'_, Self>, endpoint: &str) -> PyResult<u32> {
        let (py, core) = (slf.py(), core(slf));
        let limit = core.opened.send_limit();
        let connected = block_on(py, core.socket(py)?.connect_peer(endpoint), limit)?;
        match connected {
            Some(connected) => connected.map_err(|error| core.failed(py, error)),
            None => Err(crate::error::again(py)),
        }
    }

    /// Waits until at least `peers` peers are connected, their handshakes done: for up to `timeout`
    /// milliseconds, or `sndtimeo`.
    #[pyo3(signature = (peers = 1, timeout = None))]
    fn wait_connected(slf: &Bound<'_, Self>, peers: usize, timeout: Option<f64>) -> PyResult<()> {
        let (py, core) = (slf.py(), core(slf));
        let limit = core.opened.limit_of_wait(timeout);
        let socket = core.socket(py)?;
        match core.wait(py, || socket.wait_connected(peers), limit)? {
            Some(connected) => connected.map_err(|error| core.failed(py, error)),
            None => core
                .opened
                .last_connected(py, peers, limit.unwrap_or_default()),
        }
    }

    /// PUB, XPUB: waits until a message that begins with `topic` would go to at least `peers` peers;
    /// RADIO: the same for a group. For up to `timeout` milliseconds, or `sndtimeo`.
    #[pyo3(signature = (topic, peers = 1, timeout = None))]
    fn wait_subscribed(
        slf: &Bound<'_, Self>,
        topic: &Bound<'_, PyAny>,
        peers: usize,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let (py, core) = (slf.py(), core(slf));
        let topic = crate::auth::text_or_bytes(topic)?;
        let limit = core.opened.limit_of_wait(timeout);
        let socket = core.socket(py)?;
        match core.wait(py, || socket.wait_subscribed(&topic, peers), limit)? {
            Some(subscribed) => subscribed.map_err(|error| core.failed(py, error)),
            None => {
                let limit = limit.unwrap_or_default();
                core.opened.last_subscribed(py, &topic, peers, limit)
            }
        }
    }

    /// Closes the socket and waits until what is queued was sent, within the linger time: `linger` in
    /// milliseconds, or else the option. What that is too short for is dropped, and raises `Unsent`. Where the
    /// socket is closing already, a shorter `linger` takes the place of the longer one.
    #[pyo3(signature = (linger = None))]
    fn close(slf: &Bound<'_, Self>, linger: Option<f64>) -> PyResult<()> {
        let py = slf.py();
        let Some(closing) = core(slf).opened.close(linger) else {
            return Ok(());
        };
        // The linger time bounds this wait, so it needs no limit of its own.
        let closed = block_on(py, closing, None)?;
        closed.map_or(Ok(()), |closed| {
            closed.map_err(|error| crate::error::of_socket(py, error))
        })
    }
}

fn send_all(
    py: Python<'_>,
    core: &SocketCore,
    messages: &Bound<'_, PyAny>,
    sent: &mut usize,
) -> PyResult<()> {
    let mut messages = messages.try_iter()?;
    let mut batch = VecDeque::with_capacity(SENT_AT_ONCE);
    loop {
        for message in messages.by_ref().take(SENT_AT_ONCE) {
            batch.push_back(Message::from(crate::buffer::frame(&message?)?));
        }
        if batch.is_empty() {
            return Ok(());
        }
        let socket = core.socket(py)?;
        while !batch.is_empty() {
            let count = py.detach(|| socket.try_send_many(&mut batch));
            match count.map_err(|error| core.failed(py, error))? {
                0 => {
                    if let Some(message) = batch.pop_front() {
                        send(py, core, message, 0)?;
                        *sent += 1;
                    }
                }
                count => *sent += count,
            }
        }
    }
}
