//! Certificates of `wss` endpoints on the command line.

use std::path::PathBuf;

use clap::Args;
use sealwire::options::{TlsConfigError, TlsIdentity, TlsTrust};
use sealwire::{Endpoint, SocketBuilder};

use crate::exit::{Code, Failure};
use crate::secrets::{read_public, read_tls_key};

/// What TLS needs of those who bind and of those who connect.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "TLS, for wss://HOST:PORT/PATH")]
pub(crate) struct TlsOptions {
    /// The certificate to show where we listen: a PEM file, with those that signed it behind it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key of that certificate, in PEM; only its owner, and a group, may be able to
    /// read it
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// The authorities to believe where we connect to, in PEM [default: the system's]
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// The name that the certificate must be for [default: the host of the endpoint]
    #[arg(long, value_name = "NAME")]
    tls_host_name: Option<String>,
}

impl TlsOptions {
    /// Gives a socket that binds and connects to these endpoints what they need.
    pub(crate) fn apply(
        &self,
        mut builder: SocketBuilder,
        bind: &[Endpoint],
        connect: &[Endpoint],
    ) -> Result<SocketBuilder, Failure> {
        if let (Some(chain), Some(key)) = (&self.tls_cert, &self.tls_key) {
            let identity = TlsIdentity::from_pem(read_public(chain)?, read_tls_key(key)?);
            let files = format!("{} and {}", chain.display(), key.display());
            builder = builder.tls_identity(identity.map_err(|error| unusable(&files, &error))?);
        } else if bind.iter().any(is_wss) {
            return Err(Failure::usage(
                "a wss endpoint is bound with a certificate: --tls-cert FILE --tls-key FILE",
            ));
        }
        if connect.iter().any(is_wss) {
            builder = builder.tls_trust(self.trust()?);
        }
        Ok(builder)
    }

    fn trust(&self) -> Result<TlsTrust, Failure> {
        let trust = match &self.tls_ca {
            Some(file) => TlsTrust::from_pem(read_public(file)?)
                .map_err(|error| unusable(&file.display().to_string(), &error))?,
            None => TlsTrust::system().map_err(|error| unusable("--tls-ca FILE", &error))?,
        };
        match &self.tls_host_name {
            Some(name) => trust
                .with_host_name(name)
                .map_err(|error| unusable("--tls-host-name", &error)),
            None => Ok(trust),
        }
    }
}

fn is_wss(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Wss { .. })
}

fn unusable(what: &str, error: &TlsConfigError) -> Failure {
    Failure::new(Code::Failed, format!("{what}: {error}"))
}
