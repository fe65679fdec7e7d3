//! Which endpoints a socket with these options can use, and why not the others.

use sealwire_zmtp::{Mechanism, SocketType};

use super::RegistrationKind;
use crate::endpoint::{Endpoint, EndpointError};
use crate::error::{Error, Unusable};
use crate::options::{SocketOptions, SocksProxy};

pub(crate) struct UsableBy<'a>(pub(crate) &'a SocketOptions);

impl UsableBy<'_> {
    /// # Errors
    ///
    /// [`Error::Endpoint`], [`Error::UnusableEndpoint`].
    pub(crate) fn check(&self, endpoint: &Endpoint, kind: RegistrationKind) -> Result<(), Error> {
        self.check_transport(endpoint)?;
        if kind == RegistrationKind::Bound && endpoint.source().is_some() {
            return Err(EndpointError::SourceBound(endpoint.to_string()).into());
        }
        self.check_security(endpoint, kind)?;
        #[cfg(feature = "wss")]
        self.check_tls(endpoint, kind)?;
        Ok(())
    }

    /// Whether the endpoint is one, and the socket type can use its transport.
    fn check_transport(&self, endpoint: &Endpoint) -> Result<(), Error> {
        endpoint.validate()?;
        let socket_type = self.0.socket_type;
        let fits = match endpoint {
            Endpoint::Inproc(_) | Endpoint::Ws { .. } | Endpoint::Wss { .. } => {
                !matches!(socket_type, SocketType::Stream | SocketType::Dgram)
            }
            Endpoint::Udp { .. } => matches!(
                socket_type,
                SocketType::Radio | SocketType::Dish | SocketType::Dgram
            ),
            _ => socket_type != SocketType::Dgram,
        };
        if !fits {
            return Err(self.error(endpoint, Unusable::Transport));
        }
        let mut mechanisms = self.0.security.mechanisms();
        let mechanism = mechanisms.find(|one| *one != Mechanism::Null);
        let wanted = match (endpoint, mechanism, &self.0.zap_domain) {
            (Endpoint::Udp { .. }, Some(mechanism), _) => mechanism.name(),
            (Endpoint::Udp { .. }, _, Some(_)) => "a ZAP handler",
            (Endpoint::Udp { .. }, ..) if self.0.admission.is_some() => "an admission",
            _ => return Ok(()),
        };
        Err(self.error(endpoint, Unusable::NoHandshake { wanted }))
    }

    /// The error for an endpoint that this socket cannot use.
    pub(crate) fn error(&self, endpoint: &Endpoint, reason: Unusable) -> Error {
        Error::UnusableEndpoint {
            socket_type: self.0.socket_type,
            endpoint: endpoint.clone(),
            reason,
        }
    }

    /// Refuses to leave the machine in plain text unless that was asked for, and a choice of mechanisms where
    /// the client's is not known first.
    fn check_security(&self, endpoint: &Endpoint, kind: RegistrationKind) -> Result<(), Error> {
        // Over WebSocket the subprotocol says the mechanism, before the protocol begins. Two sides that both leave
        // the choice to the other wait for ever, so this one must be bound.
        let hears_the_peer_first = match endpoint {
            Endpoint::Ws { .. } | Endpoint::Wss { .. } => false,
            Endpoint::Inproc(_) => true,
            _ => kind == RegistrationKind::Bound,
        };
        if self.0.security.leaves_a_choice() && !hears_the_peer_first {
            return Err(self.error(endpoint, Unusable::SeveralMechanisms));
        }
        if !self.0.security.is_unspecified() || endpoint.has_transport_encryption() {
            return Ok(());
        }
        let through_a_network = kind == RegistrationKind::Connected
            && endpoint.over_tcp().is_some()
            && (self.0.socks_proxy.as_ref()).is_some_and(SocksProxy::leaves_the_machine);
        if !endpoint.leaves_the_machine() && !through_a_network {
            return Ok(());
        }
        Err(self.error(endpoint, Unusable::NoSecurity))
    }

    /// Whether a `wss` endpoint has the certificate or the authorities that it needs.
    #[cfg(feature = "wss")]
    fn check_tls(&self, endpoint: &Endpoint, kind: RegistrationKind) -> Result<(), Error> {
        let Endpoint::Wss { host, .. } = endpoint else {
            return Ok(());
        };
        let reason = match (kind, &self.0.tls_identity, &self.0.tls_trust) {
            (RegistrationKind::Bound, None, _) => Unusable::NoTlsIdentity,
            (RegistrationKind::Connected, _, None) => Unusable::NoTlsTrust,
            (RegistrationKind::Connected, _, Some(trust)) if trust.server_name(host).is_none() => {
                Unusable::TlsHostName
            }
            _ => return Ok(()),
        };
        Err(self.error(endpoint, reason))
    }
}
