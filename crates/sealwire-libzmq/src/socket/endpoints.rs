//! Binding and connecting, with endpoints as the text of libzmq.

use std::collections::HashMap;
use std::str::FromStr;

use sealwire::{Endpoint, EndpointError, Error, SocketType};

use super::Socket;
use super::errors::errno_of;
use crate::errno::Errno;
use crate::options::number;

/// The endpoints of a socket by the texts that name them.
#[derive(Default)]
pub(super) struct Endpoints {
    bound: HashMap<String, Endpoint>,
    connected: HashMap<String, Vec<Endpoint>>,
    last: String,
}

impl Endpoints {
    /// The last one that was bound or connected.
    pub(super) fn last(&self) -> &str {
        &self.last
    }
}

/// # Errors
///
/// `EPROTONOSUPPORT` for a transport that there is not, `EINVAL` for anything else.
pub(super) fn parse(text: &str) -> Result<Endpoint, Errno> {
    Endpoint::from_str(text).map_err(|error| errno_of(&Error::Endpoint(error)))
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
    /// `zmq_bind`.
    ///
    /// # Errors
    ///
    /// `EINVAL`, `EPROTONOSUPPORT`, `ENOCOMPATPROTO`, `EADDRINUSE`, `EADDRNOTAVAIL`, `ENODEV`, `ETERM`.
    pub(crate) fn bind(&self, text: &str) -> Result<(), Errno> {
        self.check()?;
        let endpoint = parse(text)?;
        self.apply_settings()?;
        let bound = self.inner.bind(endpoint);
        let bound = bound.map_err(|error| self.errno(&error))?;
        let written = written(&bound, self.settings().flag(number::IPV6));
        let mut endpoints = self.endpoints();
        endpoints.last.clone_from(&written);
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
    /// `EINVAL`, `EPROTONOSUPPORT`, `ENOCOMPATPROTO`, `ETERM`.
    pub(crate) fn connect(&self, text: &str) -> Result<(), Errno> {
        self.check()?;
        let endpoint = parse(text)?;
        let mut endpoints = self.endpoints();
        // A second connection to the same end would be used in turn with the first, or bring everything twice.
        let once = matches!(
            self.socket_type,
            SocketType::Dealer | SocketType::Sub | SocketType::Pub | SocketType::Req
        );
        if once && endpoints.connected.contains_key(text) {
            return Ok(());
        }
        self.apply_settings()?;
        let connected = self.inner.connect(endpoint.clone());
        connected.map_err(|error| match error {
            Error::Endpoint(EndpointError::Wildcard(_)) => Errno::INVAL,
            error => self.errno(&error),
        })?;
        let same = endpoints.connected.entry(text.to_owned()).or_default();
        same.push(endpoint);
        text.clone_into(&mut endpoints.last);
        Ok(())
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
        for endpoint in same.ok_or(Errno::NOENT)? {
            match self.inner.disconnect(endpoint) {
                // Given up by itself, as reconnecting was switched off.
                Ok(()) | Err(Error::UnknownEndpoint(_)) => {}
                Err(error) => return Err(self.errno(&error)),
            }
        }
        Ok(())
    }
}
