//! Decides whether an endpoint, an address or a host can leave the machine: the only place that does.

use std::net::IpAddr;

use crate::endpoint::Endpoint;
use crate::peer::PeerAddress;

impl Endpoint {
    /// Returns whether bytes can leave the machine through this endpoint.
    ///
    /// The text decides; no name is looked up. Literal loopback addresses (also
    /// `::ffff:127.0.0.1`) and `localhost` are loopback. `*`, unspecified addresses and all other
    /// names are not. A SOCKS proxy that the socket goes through is not considered.
    pub fn leaves_the_machine(&self) -> bool {
        match self {
            Endpoint::Tcp { host, .. }
            | Endpoint::TcpFrom { host, .. }
            | Endpoint::Ws { host, .. }
            | Endpoint::Wss { host, .. }
            | Endpoint::Udp { host, .. } => !is_loopback_host(host),
            Endpoint::Ipc(_) | Endpoint::IpcAbstract(_) | Endpoint::Inproc(_) => false,
        }
    }

    /// Returns whether the transport itself encrypts: `wss`.
    pub fn has_transport_encryption(&self) -> bool {
        matches!(self, Endpoint::Wss { .. })
    }
}

impl PeerAddress {
    /// Returns whether what goes there passes a network that others may listen on.
    pub fn leaves_the_machine(&self) -> bool {
        match self {
            PeerAddress::Tcp(address) | PeerAddress::Udp(address) => !is_loopback(address.ip()),
            PeerAddress::Ipc(_) | PeerAddress::Inproc(_) => false,
            PeerAddress::Proxied { .. } | PeerAddress::Unknown => true,
        }
    }
}

/// Whether the text of a host, without brackets, is a loopback address or `localhost`.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => is_loopback(address),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

pub(crate) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host without brackets, and whether it leaves the machine.
    const HOSTS: [(&str, bool); 8] = [
        ("127.0.0.1", false),
        ("127.8.8.8", false),
        ("::1", false),
        ("::ffff:127.0.0.1", false),
        ("::ffff:192.0.2.1", true),
        ("0.0.0.0", true),
        ("192.0.2.1", true),
        ("2001:db8::1", true),
    ];

    #[test]
    fn endpoints_and_addresses_agree() {
        for (host, leaves) in HOSTS {
            let endpoint = Endpoint::Tcp {
                host: host.into(),
                port: 1,
            };
            assert_eq!(endpoint.leaves_the_machine(), leaves, "{endpoint}");
            let address = PeerAddress::Tcp((host.parse::<IpAddr>().unwrap(), 1).into());
            assert_eq!(address.leaves_the_machine(), leaves, "{address}");
        }
    }

    #[test]
    fn names_other_than_localhost_leave_the_machine() {
        for (endpoint, leaves) in [
            ("tcp://localhost:1", false),
            ("tcp://LOCALHOST:1", false),
            ("udp://localhost:1", false),
            ("tcp://*:1", true),
            ("tcp://example.org:1", true),
            ("tcp://localhost.example.org:1", true),
            ("udp://239.0.0.1:1", true),
            ("ipc://path", false),
            ("ipc://@name", false),
            ("inproc://name", false),
        ] {
            let parsed: Endpoint = endpoint.parse().unwrap();
            assert_eq!(parsed.leaves_the_machine(), leaves, "{endpoint}");
        }
        assert!(!PeerAddress::Ipc("@name".into()).leaves_the_machine());
        assert!(PeerAddress::Unknown.leaves_the_machine());
    }
}
