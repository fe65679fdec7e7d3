//! Sockets: what the blocking ones and those of `sealwire.asyncio` share ([`SocketCore`]), and the
//! calls that block ([`BlockingSocket`]).
//!
//! The Rust socket is made at the first use: `bind`, `connect`, `send` and so on. Until then options, security and
//! subscriptions are collected here. After that they change as in Rust.

mod blocking;
mod opened;
pub(crate) mod proxying;
mod readiness;
mod receiving;
mod sending;
mod telling;

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sealwire::Endpoint;
use sealwire::account::Kind;
use sealwire::options::Withdrawn;

pub(crate) use blocking::BlockingSocket;
pub(crate) use opened::Opened;
pub(crate) use readiness::Readiness;
use receiving::Form;

use crate::account::by_kind;
use crate::context::Context;
use crate::descriptor::Given;
use crate::error::of_socket;
use crate::monitor::Monitor;
use crate::peer::Peer;
use crate::reactor::Operation;
use crate::security::Security;

/// What all sockets have.
#[pyclass(frozen, subclass, module = "sealwire._sealwire")]
pub(crate) struct SocketCore {
    opened: Arc<Opened>,
}

impl SocketCore {
    pub(crate) fn make(
        py: Python<'_>,
        socket_type: i32,
        context: &Bound<'_, Context>,
        security: Option<&Bound<'_, Security>>,
    ) -> PyResult<Self> {
        let opened = Opened::new(py, socket_type, context.get().shared.clone())?;
        let core = SocketCore {
            opened: Arc::new(opened),
        };
        if let Some(security) = security {
            core.opened.set_security(py, security.get().inner())?;
        }
        crate::context::remember(&core.opened);
        Ok(core)
    }

    fn socket(&self, py: Python<'_>) -> PyResult<&sealwire::Socket> {
        self.opened.socket(py)
    }

    fn failed(&self, py: Python<'_>, error: sealwire::Error) -> PyErr {
        self.opened.failed(py, error)
    }
}

#[pymethods]
impl SocketCore {
    #[new]
    #[pyo3(signature = (socket_type, context, *, security = None))]
    fn new(
        py: Python<'_>,
        socket_type: i32,
        context: &Bound<'_, Context>,
        security: Option<&Bound<'_, Security>>,
    ) -> PyResult<Self> {
        Self::make(py, socket_type, context, security)
    }

    /// The number of the type, as in `sealwire.REQ`.
    #[getter]
    #[pyo3(name = "socket_type")]
    fn number_of_type(&self) -> i32 {
        self.opened.number_of_type()
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.opened.is_closed()
    }

    /// Mechanism and keys of endpoints that are bound or connected from now on.
    #[getter]
    fn security(&self) -> Option<Security> {
        self.opened.security().map(Security::from)
    }

    #[setter]
    fn set_security(&self, py: Python<'_>, security: &Bound<'_, Security>) -> PyResult<()> {
        self.opened.set_security(py, security.get().inner())
    }

    /// Name of the mechanism.
    #[getter]
    fn mechanism(&self) -> String {
        self.opened.mechanism()
    }

    fn _set_option(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.opened.set_option(py, name, value)
    }

    fn _get_option<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.opened.option(py, name)
    }

    /// A property for the peers of endpoints that are bound or connected from now on to read. Names start with `X-`.
    fn add_metadata(&self, py: Python<'_>, name: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = crate::auth::text_or_bytes(value)?;
        self.opened.change(py, |options, _| {
            options.add_metadata(name, value);
            Ok(())
        })
    }

    /// Binds and gives the endpoint with the port that was chosen, if that was left open.
    fn bind(&self, py: Python<'_>, endpoint: &str) -> PyResult<String> {
        let socket = self.socket(py)?;
        py.detach(|| socket.bind(endpoint))
            .map(|endpoint| {
                let text = endpoint.to_string();
                self.opened.remember_endpoint(text.clone());
                text
            })
            .map_err(|error| self.failed(py, error))
    }

    /// Binds to a listening TCP or Unix socket that somebody else opened, a ``socket.socket`` or another object with
    /// ``fileno()`` and ``close()``, or the number of a descriptor, as ``passed_listeners`` gives them, and gives its endpoint. With ``ws`` it is a
    /// WebSocket with this path, with ``wss`` one over TLS. The object is closed, as the socket has it then; after an exception it
    /// is as it was, and blocks no more. The file of a Unix socket stays.
    #[pyo3(signature = (listener, *, ws = None, wss = None))]
    fn bind_listener(
        &self,
        py: Python<'_>,
        listener: &Bound<'_, PyAny>,
        ws: Option<&str>,
        wss: Option<&str>,
    ) -> PyResult<String> {
        let socket = self.socket(py)?;
        Given::new(listener).bind(ws, wss, |listener| {
            let bound = py.detach(|| socket.bind_listener(listener));
            let bound = bound.map_err(|error| self.failed(py, error))?;
            self.opened.remember_endpoint(bound.to_string());
            Ok(bound)
        })
    }

    /// Connects, now and whenever the connection is lost. Returns at once.
    fn connect(&self, py: Python<'_>, endpoint: &str) -> PyResult<()> {
        let socket = self.socket(py)?;
        py.detach(|| socket.connect(endpoint))
            .map(|()| self.opened.remember_endpoint(endpoint.to_owned()))
            .map_err(|error| self.failed(py, error))
    }

    /// ROUTER, STREAM: connects as ``connect`` does, and gives the peer there a routing id of 1 to 255 bytes, whatever it
    /// calls itself. From then on messages to that routing id are queued for the peer, and go out once it is there;
    /// nobody can take it over. libzmq's ``ZMQ_CONNECT_ROUTING_ID``. Raises ``RoutingIdInUse`` if a peer has it.
    fn connect_with_routing_id(
        &self,
        py: Python<'_>,
        endpoint: &str,
        routing_id: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let routing_id = crate::auth::text_or_bytes(routing_id)?;
        let socket = self.socket(py)?;
        py.detach(|| socket.connect_with_routing_id(endpoint, routing_id))
            .map(|()| self.opened.remember_endpoint(endpoint.to_owned()))
            .map_err(|error| self.failed(py, error))
    }

    /// Stops listening. Connections that came through it stay.
    fn unbind(&self, py: Python<'_>, endpoint: &str) -> PyResult<()> {
        let socket = self.socket(py)?;
        py.detach(|| socket.unbind(endpoint))
            .map_err(|error| self.failed(py, error))
    }

    /// Gives an endpoint that is bound or connected to the options and the security that the socket has now, while it is used: nobody
    /// is turned away meanwhile. Connections under a key that it does not have any more end in order, and their peers connect again, unless
    /// `keep_withdrawn` has them stay.
    #[pyo3(signature = (endpoint, *, keep_withdrawn = false))]
    fn reconfigure_endpoint(
        &self,
        py: Python<'_>,
        endpoint: &str,
        keep_withdrawn: bool,
    ) -> PyResult<()> {
        let socket = self.socket(py)?;
        let withdrawn = match keep_withdrawn {
            true => Withdrawn::Stay,
            false => Withdrawn::End,
        };
        py.detach(|| socket.reconfigure_endpoint(endpoint, socket.options()?, withdrawn))
            .map_err(|error| self.failed(py, error))
    }

    /// Stops listening, and leaves the peers that came through there as `disconnect` leaves a peer.
    fn unbind_and_disconnect(&self, py: Python<'_>, endpoint: &str) -> PyResult<()> {
        let socket = self.socket(py)?;
        py.detach(|| socket.unbind_and_disconnect(endpoint))
            .map_err(|error| self.failed(py, error))
    }

    /// Leaves the peer there: nothing more goes to it or comes from it. Its queue still goes out.
    fn disconnect(&self, py: Python<'_>, endpoint: &str) -> PyResult<()> {
        let socket = self.socket(py)?;
        py.detach(|| socket.disconnect(endpoint))
            .map_err(|error| self.failed(py, error))
    }

    /// Begins to leave in good order: takes no new peers and endpoints, and goes on receiving what its peers have
    /// sent. When all has been received, receiving raises `Drained`, whose `cut_off` is the number of
    /// connections that did not end in good order within `timeout` milliseconds (negative: however long that
    /// takes), and a loop over the socket ends. For PULL, GATHER, SUB and DISH.
    fn drain(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let socket = self.socket(py)?;
        let limit = crate::wait::milliseconds(timeout);
        py.detach(|| socket.drain(limit.unwrap_or(Duration::MAX)))
            .map_err(|error| self.failed(py, error))
    }

    /// The endpoint that was bound or connected last.
    #[getter]
    fn last_endpoint(&self) -> Option<String> {
        self.opened.last_endpoint()
    }

    /// Endpoints it is bound to.
    #[getter]
    fn bound_endpoints(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(texts(self.socket(py)?.bound_endpoints()))
    }

    /// Endpoints it is, or is trying to be, connected to.
    #[getter]
    fn connected_endpoints(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(texts(self.socket(py)?.connected_endpoints()))
    }

    /// Peers whose handshake is complete.
    #[getter]
    fn peers(&self, py: Python<'_>) -> PyResult<Vec<Peer>> {
        Ok(peers(self.socket(py)?.peers()))
    }

    /// Peers that something may be held for, with their accounts brought up to date: those that are
    /// connected, and those that have left messages to be read.
    #[getter]
    fn accounts(&self, py: Python<'_>) -> PyResult<Vec<Peer>> {
        Ok(peers(self.socket(py)?.accounts()))
    }

    /// SUB, XSUB: asks for messages that start with this topic.
    fn subscribe(&self, py: Python<'_>, topic: &Bound<'_, PyAny>) -> PyResult<()> {
        self.opened
            .subscribe(py, crate::auth::text_or_bytes(topic)?)
    }

    /// Takes one `subscribe` of the same topic back.
    fn unsubscribe(&self, py: Python<'_>, topic: &Bound<'_, PyAny>) -> PyResult<()> {
        let topic = crate::auth::text_or_bytes(topic)?;
        self.socket(py)?
            .unsubscribe(topic)
            .map_err(|error| self.failed(py, error))
    }

    /// How many different topics are subscribed to: those of a SUB or XSUB itself, or those of the peers of a PUB or
    /// XPUB together; with ``xpub_manual`` only granted ones count.
    #[getter]
    fn topics(&self, py: Python<'_>) -> PyResult<usize> {
        let topics = self.socket(py)?.topics();
        topics.map_err(|error| self.failed(py, error))
    }

    /// DISH: asks for messages to this group.
    fn join(&self, py: Python<'_>, group: &Bound<'_, PyAny>) -> PyResult<()> {
        let group = crate::auth::text_or_bytes(group)?;
        self.socket(py)?
            .join(group)
            .map_err(|error| self.failed(py, error))
    }

    /// DISH: takes `join` back.
    fn leave(&self, py: Python<'_>, group: &Bound<'_, PyAny>) -> PyResult<()> {
        let group = crate::auth::text_or_bytes(group)?;
        self.socket(py)?
            .leave(group)
            .map_err(|error| self.failed(py, error))
    }

    fn _monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.socket(py)?.monitor().into())
    }

    /// What it has done so far, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.socket(py)?.counters();
        let named = PyDict::new(py);
        for (name, number) in [
            ("messages_sent", counters.messages_sent),
            ("bytes_sent", counters.bytes_sent),
            ("messages_received", counters.messages_received),
            ("bytes_received", counters.bytes_received),
            ("dropped_at_send", counters.dropped_at_send),
            ("dropped_unsent", counters.dropped_unsent),
            ("unconfirmed", counters.unconfirmed),
            ("dropped_unread", counters.dropped_unread),
            ("replaced", counters.replaced),
            ("missed", counters.missed),
            ("dropped_at_receive", counters.dropped_at_receive),
            ("handshakes_completed", counters.handshakes_completed),
            ("handshakes_failed", counters.handshakes_failed),
            ("reconnects", counters.reconnects),
            ("disconnects", counters.disconnects),
        ] {
            named.set_item(name, number)?;
        }
        Ok(named)
    }

    /// How often its peers reached the bound of a kind, also those that are gone.
    #[getter]
    fn exceeded<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.socket(py)?.counters();
        by_kind(py, Kind::ALL.map(|kind| counters.exceeded(kind)))
    }

    /// A descriptor to wait on, for one waiter.
    fn readiness(&self, py: Python<'_>) -> PyResult<Readiness> {
        Readiness::of(py, self.socket(py)?)
    }

    /// `(message,)`, or the operation that waits for one.
    fn _start_recv<'py>(&self, py: Python<'py>, form: u8) -> PyResult<Bound<'py, PyAny>> {
        let form = Form::of(form)?;
        let socket = self.socket(py)?;
        match socket.try_recv() {
            Ok(message) => {
                let received = form.give(py, message, self.opened.socket_type())?;
                Ok(PyTuple::new(py, [received])?.into_any())
            }
            Err(sealwire::Error::WouldBlock) => {
                let (socket, opened) = (socket.clone(), self.opened.clone());
                let waits = opened.clone();
                let operation = Operation::of(
                    async move { waits.waiting(&socket, || socket.recv()).await },
                    move |py, received| match received {
                        Ok(message) => form
                            .give(py, message, opened.socket_type())
                            .map(Bound::unbind),
                        Err(error) => Err(opened.failed(py, error)),
                    },
                );
                Ok(Bound::new(py, operation)?.into_any())
            }
            Err(error) => Err(self.failed(py, error)),
        }
    }

    /// The operation that waits for at least one message and takes up to `limit`.
    fn _start_recv_many(&self, py: Python<'_>, form: u8, limit: usize) -> PyResult<Operation> {
        let form = Form::of(form)?;
        let (socket, opened) = (self.socket(py)?.clone(), self.opened.clone());
        let waits = opened.clone();
        let receive = async move {
            let taken = || async {
                let mut messages = Vec::new();
                let received = socket.recv_many(&mut messages, limit).await;
                received.map(|_| messages)
            };
            waits.waiting(&socket, taken).await
        };
        Ok(Operation::of(receive, move |py, received| match received {
            Ok(messages) => form
                .give_many(py, messages, opened.socket_type())
                .map(Bound::unbind),
            Err(error) => Err(opened.failed(py, error)),
        }))
    }

    /// `None` when it was sent, or the operation that waits for room.
    #[pyo3(signature = (data, multipart, routing_id = None, group = None))]
    fn _start_send(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        multipart: bool,
        routing_id: Option<u32>,
        group: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Operation>> {
        let socket = self.socket(py)?;
        let message = sending::outgoing(data, multipart, routing_id, group)?;
        let Err(unsent) = py.detach(|| socket.try_send(message)) else {
            return Ok(None);
        };
        if !matches!(unsent.error(), sealwire::Error::WouldBlock) {
            return Err(self.failed(py, unsent.into()));
        }
        let (socket, opened) = (socket.clone(), self.opened.clone());
        let (waits, message) = (opened.clone(), unsent.into_message());
        Ok(Some(Operation::of(
            async move {
                let send = || socket.send(message.clone());
                waits.waiting(&socket, send).await
            },
            move |py, sent| match sent {
                Ok(()) => Ok(py.None()),
                Err(unsent) => Err(opened.failed(py, unsent.into())),
            },
        )))
    }

    /// SERVER, PEER: the operation that waits for the connection and gives its number.
    fn _start_connect_peer(&self, py: Python<'_>, endpoint: &str) -> PyResult<Operation> {
        let endpoint: Endpoint = endpoint
            .parse()
            .map_err(|error: sealwire::EndpointError| of_socket(py, error.into()))?;
        let (socket, opened) = (self.socket(py)?.clone(), self.opened.clone());
        Ok(Operation::of(
            async move { socket.connect_peer(endpoint).await },
            move |py, connected| match connected {
                Ok(routing_id) => Ok(routing_id.into_pyobject(py)?.into_any().unbind()),
                Err(error) => Err(opened.failed(py, error)),
            },
        ))
    }

    /// The operation that waits until `peers` peers are connected.
    fn _start_wait_connected(&self, py: Python<'_>, peers: usize) -> PyResult<Operation> {
        let (socket, opened) = (self.socket(py)?.clone(), self.opened.clone());
        let waits = opened.clone();
        Ok(Operation::of(
            async move {
                let connected = || socket.wait_connected(peers);
                waits.waiting(&socket, connected).await
            },
            move |py, connected| {
                let connected = connected.map_err(|error| opened.failed(py, error));
                connected.map(|()| py.None())
            },
        ))
    }

    /// The operation that waits until `subscribers` peers are subscribed.
    fn _start_wait_subscribed(
        &self,
        py: Python<'_>,
        topic: &Bound<'_, PyAny>,
        peers: usize,
    ) -> PyResult<Operation> {
        let topic = crate::auth::text_or_bytes(topic)?;
        let (socket, opened) = (self.socket(py)?.clone(), self.opened.clone());
        let waits = opened.clone();
        Ok(Operation::of(
            async move {
                let subscribed = || socket.wait_subscribed(&topic, peers);
                waits.waiting(&socket, subscribed).await
            },
            move |py, subscribed| {
                let subscribed = subscribed.map_err(|error| opened.failed(py, error));
                subscribed.map(|()| py.None())
            },
        ))
    }

    /// After the limit of an operation, in milliseconds: why fewer than `peers` peers are connected.
    fn _last_wait_connected(&self, py: Python<'_>, peers: usize, limit_ms: f64) -> PyResult<()> {
        let limit = crate::wait::milliseconds(limit_ms).unwrap_or_default();
        self.opened.last_connected(py, peers, limit)
    }

    /// The same for subscribers.
    fn _last_wait_subscribed(
        &self,
        py: Python<'_>,
        topic: &Bound<'_, PyAny>,
        peers: usize,
        limit_ms: f64,
    ) -> PyResult<()> {
        let topic = crate::auth::text_or_bytes(topic)?;
        let limit = crate::wait::milliseconds(limit_ms).unwrap_or_default();
        self.opened.last_subscribed(py, &topic, peers, limit)
    }

    /// The operation that closes it, with this linger time in milliseconds or that of the options; `None` when that
    /// was done.
    #[pyo3(signature = (linger))]
    fn _start_close(&self, linger: Option<f64>) -> Option<Operation> {
        let closing = self.opened.close(linger)?;
        Some(Operation::of(closing, |py, outcome| {
            let closed = outcome.map_err(|error| of_socket(py, error));
            closed.map(|()| py.None())
        }))
    }

    /// After a time limit that ran out: what has come by now, or the exception that says why
    /// nothing did.
    fn _last_recv<'py>(
        &self,
        py: Python<'py>,
        form: u8,
        limit_ms: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let form = Form::of(form)?;
        let limit = crate::wait::milliseconds(limit_ms).unwrap_or_default();
        let message = self.opened.last_recv(py, limit)?;
        form.give(py, message, self.opened.socket_type())
    }

    /// The same for sending.
    #[pyo3(signature = (data, multipart, routing_id, group, limit_ms))]
    fn _last_send(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        multipart: bool,
        routing_id: Option<u32>,
        group: Option<&Bound<'_, PyAny>>,
        limit_ms: f64,
    ) -> PyResult<()> {
        let limit = crate::wait::milliseconds(limit_ms).unwrap_or_default();
        let message = sending::outgoing(data, multipart, routing_id, group)?;
        self.opened.last_send(py, message, limit)
    }

    fn __repr__(&self) -> String {
        self.opened.describe()
    }
}

fn peers(peers: Vec<Arc<sealwire::Peer>>) -> Vec<Peer> {
    peers.into_iter().map(Peer::from).collect()
}

fn texts(endpoints: Vec<Endpoint>) -> Vec<String> {
    endpoints.iter().map(Endpoint::to_string).collect()
}
