//! Certificates for tests of TLS.

use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer};
use sealwire::options::{TlsIdentity, TlsTrust};

/// An authority, for as long as a test takes.
pub(crate) struct Authority {
    issuer: Issuer<'static, rcgen::KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // Of two with one name, a signature of the other is a bad one, and not an unknown one.
        let name = format!("authority {number}");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    pub(crate) fn trust(&self) -> TlsTrust {
        TlsTrust::from_pem(&self.pem).unwrap()
    }

    /// Certificate and key, in PEM, for these names and years.
    pub(crate) fn certify(&self, names: &[&str], years: (i32, i32)) -> (String, String) {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// A certificate for this machine.
    pub(crate) fn identity(&self) -> TlsIdentity {
        let names = ["127.0.0.1", "localhost", "::1"];
        let (chain, key) = self.certify(&names, (2000, 4000));
        TlsIdentity::from_pem(chain, key).unwrap()
    }
}
