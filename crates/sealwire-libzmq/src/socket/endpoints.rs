//! Binding and connecting, with endpoints as the text of libzmq.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};

use sealwire::{Endpoint, EndpointError, Error, Listener, Security, SocketType, embed};
use sealwire_policy::{Role, Ruling};
use zeroize::Zeroizing;

use super::errors::errno_of;
use super::{Applied, Socket};
use crate::abi::descriptors;
use crate::errno::Errno;
use crate::monitor::Told;
use crate::options::{INCOMPLETE, Mechanism, Settings, Value, number, socks_proxy};

/// The routing ids that were made for connections of STREAM sockets of this process.
static STREAMS: AtomicU32 = AtomicU32::new(0);

/// The endpoints of a socket by the texts that name them.
#[derive(Default)]
pub(super) struct Endpoints {
    bound: HashMap<String, Endpoint>,
    connected: HashMap<String, Vec<Endpoint>>,
    last: String,
    /// That of the last one, where a rule gave it its keys.
    mechanism: Option<Mechanism>,
}

impl Endpoints {
    /// The last one that was bound or connected.
    pub(super) fn last(&self) -> &str {
        &self.last
    }

    pub(super) fn mechanism(&self) -> Option<Mechanism> {
        self.mechanism
    }

    /// Whether there are connections by this text among those that the engine has. Those that it gave up are forgotten.
    fn are_connected(&mut self, text: &str, mut all: Vec<Endpoint>) -> bool {
        let Some(same) = self.connected.get_mut(text) else {
            return false;
        };
        same.retain(|endpoint| {
            let found = all.iter().position(|other| other == endpoint);
            found.map(|found| all.swap_remove(found)).is_some()
        });
        !same.is_empty()
    }
}

/// # Errors
///
/// `EPROTONOSUPPORT` for a transport that there is not, `EINVAL` for anything else.
pub(super) fn parse(text: &str) -> Result<Endpoint, Errno> {
    let bracketed = bracketed(text);
    let text = bracketed.as_deref().unwrap_or(text);
    Endpoint::from_str(text).map_err(|error| errno_of(&Error::Endpoint(error)))
}

/// libzmq takes addresses of IPv6 without brackets; the last colon is that of the port.
fn bracketed(text: &str) -> Option<String> {
    let rest = text.strip_prefix("tcp://")?;
    let (host, port) = rest.rsplit_once(':')?;
    let is_address = host.parse::<std::net::Ipv6Addr>().is_ok();
    is_address.then(|| format!("tcp://[{host}]:{port}"))
}

fn mechanism_of(security: &Security) -> Mechanism {
    match security.mechanisms().next() {
        Some(sealwire::Mechanism::Blake3) => Mechanism::Blake3,
        Some(sealwire::Mechanism::Curve) => Mechanism::Curve,
        Some(sealwire::Mechanism::Plain) => Mechanism::Plain,
        _ => Mechanism::Null,
    }
}

/// As libzmq writes where it listens: addresses instead of a star.
fn written(endpoint: &Endpoint, ipv6: bool) -> String {
    let text = endpoint.to_string();
    let any = if ipv6 { "[::]" } else { "0.0.0.0" };
    match text.split_once("://*:") {
        Some((transport, rest)) => format!("{transport}://{any}:{rest}"),
        None => text,
    }
}

impl Socket {
    fn check_threads(&self, endpoint: &Endpoint) -> Result<(), Errno> {
        match endpoint {
            Endpoint::Inproc(_) => Ok(()),
            _ if self.stays_inside => Err(Errno::MTHREAD),
            _ => Ok(()),
        }
    }

    /// Makes an endpoint with the mechanism and keys that count for it: those of a rule from outside of the program, or
    /// its own. Gives the mechanism of such a rule as well.
    ///
    /// # Errors
    ///
    /// `EACCES` where rules refuse it, `EINVAL` for settings that are not complete, and those of `make`.
    fn under_rules<T>(
        &self,
        role: Role,
        endpoint: &Endpoint,
        make: impl FnOnce(&mut Settings) -> Result<T, Errno>,
    ) -> Result<(T, Option<Mechanism>), Errno> {
        // Until the endpoint is made: a thread that sets an option meanwhile would give the engine the program's own
        // mechanism again.
        let mut settings = self.settings();
        let governing = self.context.governing();
        let ruling = governing.decide(role, endpoint, self.socket_type, settings.own())?;
        let mut applied = self.applied();
        let mechanism = match ruling {
            Ruling::AsProgram => {
                if *applied != Applied::OfProgram {
                    self.reconfigure(&settings, None).inspect_err(|error| {
                        let incomplete = *error == Errno::INVAL;
                        if incomplete && settings.mechanism() == Mechanism::Blake3 {
                            governing.tell(format!("{endpoint} refused: {INCOMPLETE}"));
                        }
                    })?;
                    *applied = Applied::OfProgram;
                }
                None
            }
            Ruling::Keys { rule, security } => {
                if !matches!(&*applied, Applied::OfRule(place) if place == rule.place()) {
                    self.reconfigure(&settings, Some(security.clone()))?;
                    *applied = Applied::OfRule(rule.place().to_owned());
                }
                Some(mechanism_of(security))
            }
        };
        Ok((make(&mut settings)?, mechanism))
    }

    /// `zmq_bind`.
    ///
    /// # Errors
    ///
    /// `EINVAL`, `EPROTONOSUPPORT`, `ENOCOMPATPROTO`, `EADDRINUSE`, `EADDRNOTAVAIL`, `ENODEV`, `EACCES`, `EMTHREAD`,
    /// `ETERM`; with `ZMQ_USE_FD` also `EBADF`, `ENOTSOCK`.
    pub(crate) fn bind(&self, text: &str) -> Result<(), Errno> {
        self.check()?;
        let endpoint = parse(text)?;
        self.check_threads(&endpoint)?;
        let opened = match endpoint {
            Endpoint::Inproc(_) | Endpoint::Udp { .. } => None,
            _ => self.settings().take_descriptor(),
        };
        let Some(opened) = opened else {
            return self.bind_by(text, &endpoint, || self.inner.bind(endpoint.clone()));
        };
        let bound = self.bind_opened(text, &endpoint, opened);
        match bound {
            // It is the socket's own now, which has another number for it.
            Ok(()) => descriptors::close(opened),
            Err(_) => self.settings().put(number::USE_FD, Value::Int(opened)),
        }
        bound
    }

    /// Binds to the descriptor of a socket that the program opened and that listens. Where the system says that it
    /// does decides, for rules too; of the text only the transport counts, and the path of a WebSocket.
    fn bind_opened(&self, text: &str, named: &Endpoint, opened: RawFd) -> Result<(), Errno> {
        let duplicate = descriptors::duplicate(opened).map_err(|error| Errno::of(&error))?;
        let listener = match named {
            Endpoint::Ws { path, .. } => Listener::from(duplicate).over_ws(path),
            _ => Listener::from(duplicate),
        };
        let is = listener.endpoint();
        let is = is.map_err(|error| errno_of(&error.into()))?;
        let is_ipc = |one: &Endpoint| matches!(one, Endpoint::Ipc(_) | Endpoint::IpcAbstract(_));
        if is_ipc(named) != is_ipc(&is) {
            return Err(Errno::INVAL);
        }
        self.context.governing().check_passed(&is)?;
        self.bind_by(text, &is, || self.inner.bind_listener(listener))
    }

    /// Binds by `bind` to an endpoint, which the program calls by this text.
    fn bind_by(
        &self,
        text: &str,
        endpoint: &Endpoint,
        bind: impl FnOnce() -> Result<Endpoint, Error>,
    ) -> Result<(), Errno> {
        let (bound, mechanism) = self.under_rules(Role::Bind, endpoint, |settings| {
            let bound = bind().map_err(|error| {
                let why = self.errno(&error);
                if let Error::Bind { .. } = error {
                    self.tell(&Told::bind_failed(text, why));
                }
                why
            })?;
            Ok((written(&bound, settings.flag(number::IPV6)), bound))
        })?;
        let (written, bound) = bound;
        let mut endpoints = self.endpoints();
        endpoints.last.clone_from(&written);
        endpoints.mechanism = mechanism;
        // With a port or path that was chosen, only the whole endpoint names it.
        if !text.ends_with('*') {
            endpoints.bound.insert(text.to_owned(), bound.clone());
        }
        endpoints.bound.insert(written, bound);
        Ok(())
    }

    /// `zmq_connect`.
    ///
    /// # Errors
    ///
    /// `EINVAL`, `EPROTONOSUPPORT`, `ENOCOMPATPROTO`, `EADDRINUSE`, `EACCES`, `EMTHREAD`, `ETERM`.
    pub(crate) fn connect(&self, text: &str) -> Result<(), Errno> {
        self.check()?;
        // A second connection to the same end would be used in turn with the first, or bring everything twice. As libzmq:
        // within the process there may be two.
        let once = matches!(
            self.socket_type,
            SocketType::Dealer | SocketType::Sub | SocketType::Pub | SocketType::Req
        ) && !text.starts_with("inproc://");
        let connect = |settings: &mut Settings, endpoint: Endpoint| {
            let routing_id = self.routing_id_of_next_peer(settings);
            match &routing_id {
                Some(routing_id) => embed::connect_as(&self.inner, endpoint, routing_id),
                None => self.inner.connect(endpoint),
            }
        };
        self.connect_by(text, once, connect).map(|_| ())
    }

    /// Connects by a function of the engine, and gives what that gives. With `once` nothing is done, and nothing given,
    /// where it is connected there.
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Self::connect), but for `ETERM`.
    pub(super) fn connect_by<T>(
        &self,
        text: &str,
        once: bool,
        connect: impl FnOnce(&mut Settings, Endpoint) -> Result<T, Error>,
    ) -> Result<Option<T>, Errno> {
        let endpoint = self.parse_with_source(text)?;
        self.check_threads(&endpoint)?;
        let mut endpoints = self.endpoints();
        if endpoints.are_connected(text, self.inner.connected_endpoints()) && once {
            return Ok(None);
        }
        let (given, mechanism) = self.under_rules(Role::Connect, &endpoint, |settings| {
            connect(settings, endpoint.clone()).map_err(|error| match error {
                Error::Endpoint(EndpointError::Wildcard(_)) => Errno::INVAL,
                error => self.errno(&error),
            })
        })?;
        endpoints.mechanism = mechanism;
        let same = endpoints.connected.entry(text.to_owned()).or_default();
        same.push(endpoint);
        text.clone_into(&mut endpoints.last);
        Ok(Some(given))
    }

    /// Where a connection leads. The source that libzmq takes with the address of a SOCKS proxy is that of the
    /// connection to it.
    fn parse_with_source(&self, text: &str) -> Result<Endpoint, Errno> {
        let settings = self.settings();
        let source = socks_proxy(settings.bytes(number::SOCKS_PROXY))?.and_then(|it| it.source);
        match (source, text.strip_prefix("tcp://")) {
            (Some(source), Some(rest)) if !rest.contains(';') => {
                parse(&format!("tcp://{source};{rest}"))
            }
            _ => parse(text),
        }
    }

    /// The routing id under which the socket is to know the peer of the next connection, where it chooses that. A
    /// STREAM always has one, and answers it to `ZMQ_ROUTING_ID`.
    fn routing_id_of_next_peer(&self, settings: &mut Settings) -> Option<Zeroizing<Vec<u8>>> {
        let chosen = settings.take_routing_id_of_peer();
        if self.socket_type != SocketType::Stream {
            return chosen;
        }
        let routing_id = chosen.unwrap_or_else(|| {
            // The engine has the lower half.
            let number = STREAMS.fetch_add(1, Ordering::Relaxed) | 1 << 31;
            let mut made = vec![0];
            made.extend_from_slice(&number.to_be_bytes());
            made.into()
        });
        settings.put(number::ROUTING_ID, Value::Bytes(routing_id.clone()));
        Some(routing_id)
    }

    /// `zmq_unbind`.
    ///
    /// # Errors
    ///
    /// `ENOENT` where it is not bound there, `EINVAL`, `ETERM`.
    pub(crate) fn unbind(&self, text: &str) -> Result<(), Errno> {
        self.check()?;
        parse(text)?;
        let mut endpoints = self.endpoints();
        let Some(endpoint) = endpoints.bound.remove(text) else {
            drop(endpoints);
            // Either function ends a connection.
            return self.disconnect_known(text);
        };
        endpoints.bound.retain(|_, other| *other != endpoint);
        let done = match endpoint {
            // As libzmq, which knows which connections came through it for the others.
            Endpoint::Inproc(_) => self.inner.unbind(endpoint),
            endpoint => self.inner.unbind_and_disconnect(endpoint),
        };
        done.map_err(|error| self.errno(&error))
    }

    /// `zmq_disconnect`.
    ///
    /// # Errors
    ///
    /// `ENOENT` where it is not connected there, `EINVAL`, `ETERM`.
    pub(crate) fn disconnect(&self, text: &str) -> Result<(), Errno> {
        self.check()?;
        parse(text)?;
        if self.endpoints().bound.contains_key(text) {
            return self.unbind(text);
        }
        self.disconnect_known(text)
    }

    /// Ends all connections to an endpoint, as libzmq does.
    fn disconnect_known(&self, text: &str) -> Result<(), Errno> {
        let same = self.endpoints().connected.remove(text);
        self.give_back();
        let mut ended = false;
        for endpoint in same.ok_or(Errno::NOENT)? {
            // Within the process it ends with the socket at the other end, as with libzmq.
            let within = matches!(endpoint, Endpoint::Inproc(_));
            match self.inner.disconnect(endpoint) {
                Err(Error::UnknownEndpoint(_)) if within => {}
                // Given up by itself, as reconnecting was switched off.
                Ok(()) | Err(Error::UnknownEndpoint(_)) => ended = true,
                Err(error) => return Err(self.errno(&error)),
            }
        }
        if !ended {
            return Err(Errno::NOENT);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;

    /// Another thread that sets an option gives the engine the program's own mechanism, whatever a rule says.
    #[test]
    fn no_option_is_set_between_the_decision_of_a_rule_and_the_endpoint() {
        let context = Context::without_rules();
        let socket = context.open(SocketType::Pull).unwrap();
        let endpoint = parse("tcp://127.0.0.1:*").unwrap();
        for role in [Role::Bind, Role::Connect] {
            let made = socket.under_rules(role, &endpoint, |_| {
                assert!(socket.settings.try_lock().is_err());
                Ok(())
            });
            assert!(made.is_ok_and(|(_, ruled)| ruled.is_none()));
        }
    }
}
