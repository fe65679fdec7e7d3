//! Certificates of `wss` endpoints: the one that a server shows, and whom a client trusts.

use std::ffi::{c_char, c_void};

use sealwire::keys::{Readers, read_public_file, read_secret_file};
use sealwire::options::{TlsConfigError, TlsIdentity, TlsTrust};

use crate::options::sealwire_options;
use crate::panics::{free, guard};
use crate::pointers::{bytes, give, output, required, text};
use crate::status::{Failure, sealwire_status};

/// What a `wss` endpoint shows to those who connect: a chain of certificates and the private key of
/// the first. libzmq's `ZMQ_WSS_CERT_PEM` and `ZMQ_WSS_KEY_PEM`. The key stays in memory as long as the
/// identity, options or a socket with them do.
///
/// Threads: never changes, so any number may use it at once.
pub struct sealwire_tls_identity {
    identity: TlsIdentity,
}

/// Reads a chain in PEM, with the server's own certificate first, and its key: PKCS#8, PKCS#1 or
/// SEC 1, of RSA, ECDSA (P-256, P-384) or Ed25519. Your copy of the key is yours to wipe. Free it with
/// `sealwire_tls_identity_free`.
///
/// Errors: `SEALWIRE_ERROR_TLS_CERTIFICATE`, `SEALWIRE_ERROR_TLS_PRIVATE_KEY`,
/// `SEALWIRE_ERROR_TLS_KEY_MISMATCH`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_identity_from_pem(
    chain: *const c_void,
    chain_size: usize,
    key: *const c_void,
    key_size: usize,
    out: *mut *mut sealwire_tls_identity,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let chain = bytes(chain.cast(), chain_size, "chain")?;
        let key = bytes(key.cast(), key_size, "key")?;
        let identity = TlsIdentity::from_pem(chain, key)?;
        out.write(give(sealwire_tls_identity { identity }));
        Ok(())
    })
}

/// The same from files in PEM. Only its owner, and a group, may be able to read that of the key; what
/// was read of it is wiped.
///
/// Errors: as `sealwire_tls_identity_from_pem`; `SEALWIRE_ERROR_KEY_FILE` for a file that cannot be
/// read, `SEALWIRE_ERROR_KEY_FILE_PERMISSIONS`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_identity_read(
    chain_path: *const c_char,
    key_path: *const c_char,
    out: *mut *mut sealwire_tls_identity,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let chain = read_public_file(text(chain_path, "chain_path")?)?;
        let key = read_secret_file(text(key_path, "key_path")?, Readers::OwnerAndGroup)?;
        let identity = TlsIdentity::from_pem(chain, &*key)?;
        out.write(give(sealwire_tls_identity { identity }));
        Ok(())
    })
}

/// Frees it. Options and sockets that have it keep it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_identity_free(identity: Option<Box<sealwire_tls_identity>>) {
    free(identity);
}

/// Whom a socket trusts that connects to a `wss` endpoint. libzmq's `ZMQ_WSS_TRUST_PEM`,
/// `ZMQ_WSS_TRUST_SYSTEM` and `ZMQ_WSS_HOSTNAME`. The certificate has to be signed by one of the
/// authorities, valid now, and for the host of the endpoint or the name of
/// `sealwire_tls_trust_set_host_name`. There is no way to leave that out.
///
/// Threads: any number may use it at once, as long as none changes it.
pub struct sealwire_tls_trust {
    trust: TlsTrust,
}

impl sealwire_tls_trust {
    /// Replaces it by one made of it, and leaves it alone where that fails.
    fn change(
        &mut self,
        make: impl FnOnce(TlsTrust) -> Result<TlsTrust, TlsConfigError>,
    ) -> Result<(), Failure> {
        self.trust = make(self.trust.clone())?;
        Ok(())
    }
}

/// Trusts these authorities, certificates in PEM, or this very certificate if it may sign itself. Free
/// it with `sealwire_tls_trust_free`.
///
/// Errors: `SEALWIRE_ERROR_TLS_CERTIFICATE`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_from_pem(
    authorities: *const c_void,
    size: usize,
    out: *mut *mut sealwire_tls_trust,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let trust = TlsTrust::from_pem(bytes(authorities.cast(), size, "authorities")?)?;
        out.write(give(sealwire_tls_trust { trust }));
        Ok(())
    })
}

/// The same from a file in PEM.
///
/// Errors: as `sealwire_tls_trust_from_pem`; `SEALWIRE_ERROR_KEY_FILE` for a file that cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_read(
    path: *const c_char,
    out: *mut *mut sealwire_tls_trust,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let trust = TlsTrust::from_pem(read_public_file(text(path, "path")?)?)?;
        out.write(give(sealwire_tls_trust { trust }));
        Ok(())
    })
}

/// Trusts the authorities that the system does. Reads files; the environment variables `SSL_CERT_FILE`
/// and `SSL_CERT_DIR` say which, where they are set. Free it with `sealwire_tls_trust_free`.
///
/// Errors: `SEALWIRE_ERROR_TLS_SYSTEM_TRUST`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_system(out: *mut *mut sealwire_tls_trust) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let trust = TlsTrust::system()?;
        out.write(give(sealwire_tls_trust { trust }));
        Ok(())
    })
}

/// Trusts these authorities as well. After an error `trust` is as before.
///
/// Errors: as `sealwire_tls_trust_from_pem`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_add_pem(
    trust: Option<&mut sealwire_tls_trust>,
    authorities: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let trust = required(trust, "trust")?;
        let authorities = bytes(authorities.cast(), size, "authorities")?;
        trust.change(|trust| trust.and_pem(authorities))
    })
}

/// Trusts the system's authorities as well. After an error `trust` is as before.
///
/// Errors: as `sealwire_tls_trust_system`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_add_system(
    trust: Option<&mut sealwire_tls_trust>,
) -> sealwire_status {
    guard(|| required(trust, "trust")?.change(TlsTrust::and_system))
}

/// Requires that the certificate is for this DNS name or IP address, instead of the host of the
/// endpoint. After an error `trust` is as before.
///
/// Errors: `SEALWIRE_ERROR_TLS_HOST_NAME`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_set_host_name(
    trust: Option<&mut sealwire_tls_trust>,
    name: *const c_char,
) -> sealwire_status {
    guard(|| {
        let trust = required(trust, "trust")?;
        let name = text(name, "name")?;
        trust.change(|trust| trust.with_host_name(name))
    })
}

/// Frees it. Options and sockets that have it keep it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_tls_trust_free(trust: Option<Box<sealwire_tls_trust>>) {
    free(trust);
}

/// Sets the certificate and key of `wss` endpoints that are bound, which need one: binding without is
/// `SEALWIRE_ERROR_TRANSPORT`. The object may be freed after that.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_tls_identity(
    options: Option<&mut sealwire_options>,
    identity: Option<&sealwire_tls_identity>,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        options.set_tls_identity(required(identity, "identity")?.identity.clone());
        Ok(())
    })
}

/// Sets whom to trust at `wss` endpoints that are connected to, which need some: connecting without is
/// `SEALWIRE_ERROR_TRANSPORT`. A certificate that is not accepted fails the connection, not the call: an
/// event with `SEALWIRE_CAUSE_TLS`, and `SEALWIRE_ERROR_HANDSHAKE` for a call that times out. The object
/// may be changed or freed after that.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_tls_trust(
    options: Option<&mut sealwire_options>,
    trust: Option<&sealwire_tls_trust>,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        options.set_tls_trust(required(trust, "trust")?.trust.clone());
        Ok(())
    })
}
