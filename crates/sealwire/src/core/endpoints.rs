//! Where a socket is bound and connected to, and how many connections it has.

use sealwire_zmtp::{Mechanism, SocketType};

use super::{Phase, Registration, RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::{Error, Unusable};
use crate::options::SocksProxy;

impl SocketCore {
    /// Whether the endpoint is one, and the socket type can use its transport.
    pub(crate) fn check_transport(&self, endpoint: &Endpoint) -> Result<(), Error> {
        endpoint.validate()?;
        let socket_type = self.options.socket_type;
        let fits = match endpoint {
            Endpoint::Inproc(_) | Endpoint::Ws { .. } | Endpoint::Wss { .. } => {
                socket_type != SocketType::Stream
            }
            Endpoint::Udp { .. } => matches!(socket_type, SocketType::Radio | SocketType::Dish),
            _ => true,
        };
        if !fits {
            return Err(self.unusable(endpoint, Unusable::Transport));
        }
        let mut mechanisms = self.options.security.mechanisms();
        let mechanism = mechanisms.find(|one| *one != Mechanism::Null);
        let wanted = match (endpoint, mechanism, &self.options.zap_domain) {
            (Endpoint::Udp { .. }, Some(mechanism), _) => mechanism.name(),
            (Endpoint::Udp { .. }, _, Some(_)) => "a ZAP handler",
            (Endpoint::Udp { .. }, ..) if self.options.admission.is_some() => "an admission",
            _ => return Ok(()),
        };
        Err(self.unusable(endpoint, Unusable::NoHandshake { wanted }))
    }

    /// The error for an endpoint that this socket cannot use.
    pub(crate) fn unusable(&self, endpoint: &Endpoint, reason: Unusable) -> Error {
        Error::UnusableEndpoint {
            socket_type: self.options.socket_type,
            endpoint: endpoint.clone(),
            reason,
        }
    }

    /// Refuses to leave the machine in plain text unless that was asked for, and a choice of mechanisms where
    /// the client's is not known first.
    pub(crate) fn check_security(
        &self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
    ) -> Result<(), Error> {
        // Over WebSocket the subprotocol says the mechanism, before the protocol begins. Two sides that both leave
        // the choice to the other wait for ever, so this one must be bound.
        let hears_the_peer_first = match endpoint {
            Endpoint::Ws { .. } | Endpoint::Wss { .. } => false,
            Endpoint::Inproc(_) => true,
            _ => kind == RegistrationKind::Bound,
        };
        if self.options.security.leaves_a_choice() && !hears_the_peer_first {
            return Err(self.unusable(endpoint, Unusable::SeveralMechanisms));
        }
        if !self.options.security.is_unspecified() || endpoint.has_transport_encryption() {
            return Ok(());
        }
        let through_a_network = kind == RegistrationKind::Connected
            && endpoint.over_tcp().is_some()
            && (self.options.socks_proxy.as_ref()).is_some_and(SocksProxy::leaves_the_machine);
        if !endpoint.leaves_the_machine() && !through_a_network {
            return Ok(());
        }
        Err(self.unusable(endpoint, Unusable::NoSecurity))
    }

    /// Whether a `wss` endpoint has the certificate or the authorities that it needs.
    #[cfg(feature = "wss")]
    pub(crate) fn check_tls(
        &self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
    ) -> Result<(), Error> {
        let Endpoint::Wss { host, .. } = endpoint else {
            return Ok(());
        };
        let reason = match (kind, &self.options.tls_identity, &self.options.tls_trust) {
            (RegistrationKind::Bound, None, _) => Unusable::NoTlsIdentity,
            (RegistrationKind::Connected, _, None) => Unusable::NoTlsTrust,
            (RegistrationKind::Connected, _, Some(trust)) if trust.server_name(host).is_none() => {
                Unusable::TlsHostName
            }
            _ => return Ok(()),
        };
        Err(self.unusable(endpoint, reason))
    }

    /// Notes an endpoint that something is about to work for.
    pub(crate) fn register(&self, registration: Registration) -> Result<(), Error> {
        self.with(|state| {
            if state.phase != Phase::Open {
                return Err(state.closed());
            }
            state.endpoints.push(registration);
            state.attachments += 1;
            state.endpoints_changed(&self.options);
            Ok(())
        })?;
        // Messages may wait for a peer from now on.
        self.notify_writable();
        Ok(())
    }

    /// Takes the note back.
    pub(crate) fn unregister(
        &self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
    ) -> Result<Registration, Error> {
        let registration = self.with(|state| {
            let position = state
                .endpoints
                .iter()
                .position(|entry| entry.kind == kind && entry.endpoint == *endpoint)
                .ok_or_else(|| Error::UnknownEndpoint(endpoint.clone()))?;
            let registration = state.endpoints.remove(position);
            state.endpoints_changed(&self.options);
            Ok(registration)
        });
        // No connection to this endpoint will come: those who wait for one are told.
        self.notify_writable();
        registration
    }

    /// Forgets an endpoint that is given up.
    pub(crate) fn give_up(&self, id: u64) {
        self.with(|state| {
            state.endpoints.retain(|entry| entry.id != id);
            state.endpoints_changed(&self.options);
        });
        self.notify_writable();
    }

    pub(crate) fn endpoints(&self, kind: RegistrationKind) -> Vec<Endpoint> {
        let state = self.lock();
        let of_kind = state.endpoints.iter().filter(|entry| entry.kind == kind);
        of_kind.map(|entry| entry.endpoint.clone()).collect()
    }

    /// Counts a connection (or other worker) of this socket.
    pub(crate) fn add_attachment(&self) {
        self.lock().attachments += 1;
    }

    /// The counterpart of [`SocketCore::register`] and [`SocketCore::add_attachment`].
    pub(crate) fn remove_attachment(&self) {
        let ended = self.with(|state| {
            state.attachments -= 1;
            state.end_if_done()
        });
        if ended {
            self.announce_end();
        }
    }
}
