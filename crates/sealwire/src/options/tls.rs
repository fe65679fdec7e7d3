//! Certificates of `wss` endpoints: the one that a server shows, and those that a client trusts.

use std::fmt;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// Certificates or keys that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsConfigError {
    /// There is no `CERTIFICATE` in the PEM text, or one that cannot be read.
    #[error("no usable certificate in the PEM text: {0}")]
    Certificate(String),
    /// There is no private key in the PEM text, or none of a kind that is known.
    #[error("no usable private key in the PEM text: {0}")]
    PrivateKey(String),
    /// Chain and key do not go together.
    #[error("the private key does not belong to the first certificate of the chain")]
    KeyMismatch,
    /// The system has no list of authorities.
    #[error("the system's trusted authorities cannot be read: {0}")]
    SystemTrust(String),
    /// No certificate can be for such a name.
    #[error("'{0}' is neither a DNS name nor an IP address")]
    HostName(String),
}

/// What a `wss` endpoint shows to those who connect: a chain of certificates and the private key of
/// the first (libzmq's `WSS_CERT_PEM` and `WSS_KEY_PEM`).
#[derive(Clone)]
pub struct TlsIdentity {
    config: Arc<ServerConfig>,
}

impl TlsIdentity {
    /// Reads a chain, with the server's own certificate first, and its key: PKCS#8, PKCS#1 or
    /// SEC 1, of RSA, ECDSA (P-256, P-384) or Ed25519.
    ///
    /// The key is kept in memory for as long as the identity is; the caller's copy is the caller's
    /// to wipe.
    ///
    /// # Errors
    ///
    /// * [`TlsConfigError::Certificate`] if the chain has no certificate, or one that cannot be read.
    /// * [`TlsConfigError::PrivateKey`] if there is no private key of a known kind.
    /// * [`TlsConfigError::KeyMismatch`] if the key does not belong to the first certificate.
    pub fn from_pem(
        chain: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, TlsConfigError> {
        let chain = certificates(chain.as_ref())?;
        let key = PrivateKeyDer::from_pem_slice(key.as_ref())
            .map_err(|error| TlsConfigError::PrivateKey(error.to_string()))?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsConfigError::KeyMismatch,
            rustls::Error::InvalidCertificate(_) => TlsConfigError::Certificate(error.to_string()),
            error => TlsConfigError::PrivateKey(error.to_string()),
        })?;
        // Nobody resumes a session: each connection shows and checks the certificate anew.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        Ok(TlsIdentity {
            config: Arc::new(config),
        })
    }

    pub(crate) fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }
}

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsIdentity").finish_non_exhaustive()
    }
}

/// Whom a socket believes that connects to a `wss` endpoint (libzmq's `WSS_TRUST_PEM`,
/// `WSS_TRUST_SYSTEM` and `WSS_HOSTNAME`). The certificate has to be signed by one of the
/// authorities, valid now, and for the host of the endpoint or the [name](Self::with_host_name)
/// given here. There is no way to leave that out.
#[derive(Clone)]
pub struct TlsTrust {
    roots: RootCertStore,
    config: Arc<ClientConfig>,
    host_name: Option<String>,
}

impl TlsTrust {
    /// Trusts these authorities, or this very certificate if it may sign itself.
    ///
    /// # Errors
    ///
    /// [`TlsConfigError::Certificate`] if there is no certificate, or one that cannot be read.
    pub fn from_pem(authorities: impl AsRef<[u8]>) -> Result<Self, TlsConfigError> {
        Self::of(RootCertStore::empty()).and_pem(authorities)
    }

    /// Trusts the authorities that the system does. Reads files; `SSL_CERT_FILE` and `SSL_CERT_DIR` say
    /// which, where they are set.
    ///
    /// # Errors
    ///
    /// [`TlsConfigError::SystemTrust`] when there is not one that can be used.
    pub fn system() -> Result<Self, TlsConfigError> {
        Self::of(RootCertStore::empty()).and_system()
    }

    /// Trusts these authorities as well.
    ///
    /// # Errors
    ///
    /// [`TlsConfigError::Certificate`] if there is no certificate, or one that cannot be read.
    pub fn and_pem(mut self, authorities: impl AsRef<[u8]>) -> Result<Self, TlsConfigError> {
        for certificate in certificates(authorities.as_ref())? {
            self.roots
                .add(certificate)
                .map_err(|error| TlsConfigError::Certificate(error.to_string()))?;
        }
        Ok(self.renewed())
    }

    /// Trusts the system's authorities as well.
    ///
    /// # Errors
    ///
    /// [`TlsConfigError::SystemTrust`] when there is not one that can be used.
    pub fn and_system(mut self) -> Result<Self, TlsConfigError> {
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = self.roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let why = found.errors.first().map(ToString::to_string);
            let why = why.unwrap_or_else(|| "there are none".into());
            return Err(TlsConfigError::SystemTrust(why));
        }
        Ok(self.renewed())
    }

    /// Requires that the certificate is for this DNS name or IP address, instead of the host of the endpoint.
    ///
    /// # Errors
    ///
    /// [`TlsConfigError::HostName`] if it is neither a DNS name nor an IP address.
    pub fn with_host_name(mut self, name: impl Into<String>) -> Result<Self, TlsConfigError> {
        let name = name.into();
        if ServerName::try_from(name.as_str()).is_err() {
            return Err(TlsConfigError::HostName(name));
        }
        self.host_name = Some(name);
        Ok(self)
    }

    /// The name that the certificate has to be for at an endpoint of this host; `None` where no
    /// certificate can be for such a one.
    pub(crate) fn server_name(&self, host: &str) -> Option<ServerName<'static>> {
        let name = self.host_name.as_deref().unwrap_or(host);
        ServerName::try_from(name).ok().map(|name| name.to_owned())
    }

    pub(crate) fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    fn of(roots: RootCertStore) -> Self {
        TlsTrust {
            config: Arc::new(client_config(&roots)),
            roots,
            host_name: None,
        }
    }

    fn renewed(mut self) -> Self {
        self.config = Arc::new(client_config(&self.roots));
        self
    }
}

impl fmt::Debug for TlsTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsTrust")
            .field("authorities", &self.roots.len())
            .field("host_name", &self.host_name)
            .finish_non_exhaustive()
    }
}

fn client_config(roots: &RootCertStore) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("the provider has the ciphers of both versions")
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    // Proxies that also speak HTTP/2 take that where nobody says what is wanted.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// Named here, so that it does not depend on what else the program uses.
fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsConfigError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(|error| TlsConfigError::Certificate(error.to_string()))?;
    if read.is_empty() {
        return Err(TlsConfigError::Certificate("there is none".into()));
    }
    Ok(read)
}
