//! TLS under a WebSocket: bytes of the transport on one side, those of the WebSocket on the other.

use std::io::{self, Read as _, Write as _};

use bytes::BytesMut;
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, CertificateError, ClientConnection, Connection, Error as RustlsError,
    InvalidMessage, ServerConnection,
};

use crate::options::{TlsIdentity, TlsTrust};

/// Bytes of the WebSocket that are sealed at a time.
const SEAL_AT_ONCE: usize = 128 << 10;

/// TLS could not be agreed upon, or was misused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The first bytes are not TLS: a `ws` peer, or another program.
    #[error("the peer does not speak TLS")]
    NotTls,
    /// Nobody whom this socket [trusts](crate::options::TlsTrust) has signed the certificate.
    #[error("the certificate is signed by no authority that is trusted here")]
    UnknownAuthority,
    /// The certificate is for other names.
    #[error("the certificate is for another host: {0}")]
    WrongHostName(String),
    /// The certificate's time is over.
    #[error("the certificate has expired")]
    Expired,
    /// The certificate's time has not come.
    #[error("the certificate is not valid yet")]
    NotYetValid,
    /// The certificate has another fault.
    #[error("the certificate is bad: {0}")]
    BadCertificate(String),
    /// The peer ended it, for this reason: it does not accept our certificate, for example.
    #[error("the peer refuses: {0}")]
    Refused(String),
    /// Anything else.
    #[error("{0}")]
    Protocol(String),
}

impl TlsError {
    fn of(error: RustlsError, nothing_understood: bool) -> Self {
        match error {
            RustlsError::InvalidMessage(
                InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
            ) if nothing_understood => TlsError::NotTls,
            RustlsError::InvalidCertificate(error) => Self::of_certificate(&error),
            RustlsError::AlertReceived(alert) => TlsError::Refused(match alert {
                AlertDescription::UnknownCA => "it knows no authority of our certificate".into(),
                AlertDescription::CertificateExpired => "our certificate has expired".into(),
                AlertDescription::BadCertificate => "our certificate is bad".into(),
                AlertDescription::CertificateUnknown => "it does not accept our certificate".into(),
                AlertDescription::ProtocolVersion => "no common version of TLS".into(),
                alert => format!("alert {alert:?}"),
            }),
            error => TlsError::Protocol(error.to_string()),
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        use CertificateError as E;
        match error {
            E::UnknownIssuer => TlsError::UnknownAuthority,
            E::Expired | E::ExpiredContext { .. } => TlsError::Expired,
            E::NotValidYet | E::NotValidYetContext { .. } => TlsError::NotYetValid,
            E::NotValidForName | E::NotValidForNameContext { .. } => {
                TlsError::WrongHostName(error.to_string())
            }
            error => TlsError::BadCertificate(error.to_string()),
        }
    }
}

/// One connection. It keeps at most 64 KiB of a handshake, and one record of 16 KiB after it.
pub(super) struct Tls {
    connection: Connection,
    /// The peer has sent something that is TLS.
    understood: bool,
    peer_has_closed: bool,
}

/// rustls refuses configurations that contradict themselves: both are made by the options (`options/tls.rs`), of
/// rustls' own defaults, before a socket has them.
impl Tls {
    pub(super) fn client(trust: &TlsTrust, server: ServerName<'static>) -> Self {
        let connection = ClientConnection::new(trust.config().clone(), server);
        Self::new(
            connection
                .expect("the options have made this configuration")
                .into(),
        )
    }

    pub(super) fn server(identity: &TlsIdentity) -> Self {
        let connection = ServerConnection::new(identity.config().clone());
        Self::new(
            connection
                .expect("the options have made this configuration")
                .into(),
        )
    }

    fn new(mut connection: Connection) -> Self {
        connection.set_buffer_limit(Some(SEAL_AT_ONCE));
        Tls {
            connection,
            understood: false,
            peer_has_closed: false,
        }
    }

    /// Takes bytes of the transport, and gives the WebSocket what they hold. Something may be
    /// [to send](Self::holds_output) then, also after an error.
    pub(super) fn receive(
        &mut self,
        mut bytes: &[u8],
        into: &mut BytesMut,
    ) -> Result<(), TlsError> {
        while !bytes.is_empty() && !self.peer_has_closed {
            self.connection
                .read_tls(&mut bytes)
                .map_err(|error| TlsError::Protocol(error.to_string()))?;
            let state = self
                .connection
                .process_new_packets()
                .map_err(|error| TlsError::of(error, !self.understood))?;
            // A client has been sent something by then, a server has something to send.
            self.understood |= state.tls_bytes_to_write() > 0 || !self.connection.is_handshaking();
            self.peer_has_closed = state.peer_has_closed();
            let length = state.plaintext_bytes_to_read();
            let start = into.len();
            into.resize(start + length, 0);
            self.connection
                .reader()
                .read_exact(&mut into[start..])
                .map_err(|error| TlsError::Protocol(error.to_string()))?;
        }
        Ok(())
    }

    /// Whether the peer has said that no more will come.
    pub(super) fn peer_has_closed(&self) -> bool {
        self.peer_has_closed
    }

    /// Takes bytes of the WebSocket, once the handshake is done, and says how many. To be called
    /// when nothing is to send.
    pub(super) fn seal(&mut self, plain: &[u8]) -> io::Result<usize> {
        if self.connection.is_handshaking() {
            return Ok(0);
        }
        self.connection.writer().write(plain)
    }

    /// Whether something is to send.
    pub(super) fn holds_output(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends it, as much of it as the transport takes.
    pub(super) fn send(&mut self, transport: &mut dyn io::Write) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(transport) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Says that no more will be sent.
    pub(super) fn close(&mut self) {
        self.connection.send_close_notify();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Tls, Tls) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let pem = made.cert.pem();
        let identity = TlsIdentity::from_pem(&pem, made.signing_key.serialize_pem()).unwrap();
        let trust = TlsTrust::from_pem(&pem).unwrap();
        let name = trust.server_name("localhost").unwrap();
        (Tls::client(&trust, name), Tls::server(&identity))
    }

    /// Carries what one has to send to the other, in pieces of this size.
    fn carry(from: &mut Tls, to: &mut Tls, piece: usize) -> Result<BytesMut, TlsError> {
        let (mut sent, mut received) = (Vec::new(), BytesMut::new());
        from.send(&mut sent).unwrap();
        for piece in sent.chunks(piece) {
            to.receive(piece, &mut received)?;
        }
        Ok(received)
    }

    #[test]
    fn pieces_of_any_size_are_put_together() {
        for piece in [1, 7, 4_096, 1 << 20] {
            let (mut client, mut server) = pair();
            assert_eq!(client.seal(b"too soon").unwrap(), 0);
            while client.connection.is_handshaking() || server.connection.is_handshaking() {
                assert!(carry(&mut client, &mut server, piece).unwrap().is_empty());
                assert!(carry(&mut server, &mut client, piece).unwrap().is_empty());
            }
            let text: Vec<u8> = (0..100_000_u32).map(|n| (n ^ n >> 8) as u8).collect();
            assert_eq!(client.seal(&text).unwrap(), text.len());
            assert!(carry(&mut client, &mut server, piece).unwrap() == text);
            // No more than so much waits to be sent.
            let large = vec![0; 2 * SEAL_AT_ONCE];
            assert_eq!(server.seal(&large).unwrap(), SEAL_AT_ONCE);
            assert_eq!(server.seal(&large).unwrap(), 0);
            let received = carry(&mut server, &mut client, piece).unwrap();
            assert_eq!(received.len(), SEAL_AT_ONCE);
            assert!(!server.holds_output() && !client.peer_has_closed());
            server.close();
            assert!(carry(&mut server, &mut client, piece).unwrap().is_empty());
            assert!(client.peer_has_closed());
        }
    }

    #[test]
    fn what_is_changed_on_its_way_is_refused() {
        let (mut client, mut server) = pair();
        while client.connection.is_handshaking() || server.connection.is_handshaking() {
            carry(&mut client, &mut server, 1 << 20).unwrap();
            carry(&mut server, &mut client, 1 << 20).unwrap();
        }
        client.seal(b"text").unwrap();
        let mut sent = Vec::new();
        client.send(&mut sent).unwrap();
        *sent.last_mut().unwrap() ^= 1;
        let mut received = BytesMut::new();
        let error = server.receive(&sent, &mut received).unwrap_err();
        assert!(matches!(error, TlsError::Protocol(_)), "{error}");
        assert!(received.is_empty());
        // The other side is told.
        let error = carry(&mut server, &mut client, 1 << 20).unwrap_err();
        assert!(matches!(error, TlsError::Refused(_)), "{error}");
    }
}
