//! TLS 1.3 by rustls and aws-lc, with certificates on both sides: for the cost of connecting.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use bytes::Bytes;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use rustls::{StreamOwned, version};

use super::{Kind, first_byte, run_blocking};
use crate::Outcome;
use crate::hex::{decode, encode};
use crate::task::Task;

const SERVER_NAME: &str = "bench.invalid";

/// A certificate that vouches for itself, and its key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    fn generate() -> Outcome<Self> {
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()])?;
        Ok(Identity {
            certificate: made.cert.der().clone(),
            key: made.signing_key.serialize_der().into(),
        })
    }

    fn chain(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (vec![self.certificate.clone()], self.key.clone_key().into())
    }
}

fn trusting(certificate: CertificateDer<'static>) -> Outcome<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    Ok(roots)
}

/// The server makes the identities of both sides and hands the client's over.
pub(crate) struct Node {
    server: Identity,
    client: Identity,
    size: usize,
}

impl super::Node for Node {
    type Socket = Socket;

    fn new(task: &Task) -> Outcome<Self> {
        Ok(Node {
            server: Identity::generate()?,
            client: Identity::generate()?,
            size: task.size,
        })
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        run_blocking(work)
    }

    fn public_key(&self) -> String {
        let parts = [
            encode(&self.server.certificate),
            encode(&self.client.certificate),
            encode(self.client.key.secret_pkcs8_der()),
        ];
        parts.join(":")
    }

    fn server(&self, _: Kind) -> Outcome<Socket> {
        let roots = trusting(self.client.certificate.clone())?;
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build()?;
        let (chain, key) = self.server.chain();
        let mut config = ServerConfig::builder_with_protocol_versions(&[&version::TLS13])
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)?;
        // Each connection shows its certificates, as ZMTP's mechanisms do.
        config.send_tls13_tickets = 0;
        Ok(Socket::new(Side::Server(Arc::new(config), None), self.size))
    }

    fn client(&self, _: Kind, key: &str) -> Outcome<Socket> {
        let parts = key.split(':').map(decode).collect::<Outcome<Vec<_>>>()?;
        let [server, certificate, key] = <[_; 3]>::try_from(parts).map_err(|_| "three parts")?;
        let client = Identity {
            certificate: certificate.into(),
            key: key.into(),
        };
        let (chain, key) = client.chain();
        let mut config = ClientConfig::builder_with_protocol_versions(&[&version::TLS13])
            .with_root_certificates(trusting(server.into())?)
            .with_client_auth_cert(chain, key)?;
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Socket::new(Side::Client(Arc::new(config), None), self.size))
    }
}

enum Side {
    Server(
        Arc<ServerConfig>,
        Option<StreamOwned<ServerConnection, TcpStream>>,
    ),
    Client(
        Arc<ClientConfig>,
        Option<StreamOwned<ClientConnection, TcpStream>>,
    ),
}

pub(crate) struct Socket {
    side: Side,
    listener: Option<TcpListener>,
    buffer: Vec<u8>,
}

impl Socket {
    fn new(side: Side, size: usize) -> Self {
        Socket {
            side,
            listener: None,
            buffer: vec![0; size],
        }
    }
}

impl super::Socket for Socket {
    type Messages<'a> = &'a mut Self;

    fn messages(&mut self) -> &mut Self {
        self
    }

    async fn bind(&mut self, endpoint: &str) -> Outcome<String> {
        let listener = TcpListener::bind(endpoint.trim_start_matches("tcp://"))?;
        let bound = format!("tcp://{}", listener.local_addr()?);
        self.listener = Some(listener);
        Ok(bound)
    }

    async fn connect(&mut self, endpoint: &str) -> Outcome<()> {
        let Side::Client(config, stream) = &mut self.side else {
            return Err("a server does not connect".into());
        };
        let tcp = TcpStream::connect(endpoint.trim_start_matches("tcp://"))?;
        tcp.set_nodelay(true)?;
        let name = ServerName::try_from(SERVER_NAME)?;
        let connection = ClientConnection::new(config.clone(), name)?;
        *stream = Some(StreamOwned::new(connection, tcp));
        Ok(())
    }

    async fn subscribe(&mut self) -> Outcome<()> {
        Err("TLS has no subscriptions".into())
    }

    async fn send(&mut self, payload: &Bytes) -> Outcome<()> {
        match &mut self.side {
            Side::Client(_, Some(stream)) => stream.write_all(payload)?,
            Side::Server(_, Some(stream)) => stream.write_all(payload)?,
            _ => return Err("not connected".into()),
        }
        Ok(())
    }

    async fn receive(&mut self) -> Outcome<u8> {
        match &mut self.side {
            Side::Client(_, Some(stream)) => stream.read_exact(&mut self.buffer)?,
            Side::Server(_, Some(stream)) => stream.read_exact(&mut self.buffer)?,
            _ => return Err("not connected".into()),
        }
        Ok(first_byte(&self.buffer))
    }

    /// Accepts a connection for each message: only connecting is measured here.
    async fn echo(&mut self) -> Outcome<()> {
        let (Side::Server(config, stream), Some(listener)) = (&mut self.side, &self.listener)
        else {
            return Err("only what listens answers".into());
        };
        let (tcp, _) = listener.accept()?;
        tcp.set_nodelay(true)?;
        let connection = ServerConnection::new(config.clone())?;
        let mut accepted = StreamOwned::new(connection, tcp);
        accepted.read_exact(&mut self.buffer)?;
        accepted.write_all(&self.buffer)?;
        // Replaces, and so closes, the one before.
        *stream = Some(accepted);
        Ok(())
    }

    async fn close(self) -> Outcome<()> {
        Ok(())
    }
}
