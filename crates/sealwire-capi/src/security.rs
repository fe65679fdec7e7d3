//! How a socket protects its connections.

use std::ffi::{c_char, c_void};

use sealwire::auth::{Decision, MAX_CREDENTIAL, PasswordFile, PlainClient};
use sealwire::{Blake3Server, CurveServer, Generate as _, KeyPair, Mechanism, PublicKey, Security};

use crate::auth::{needed, sealwire_authenticator, sealwire_decision};
use crate::callback::{User, sealwire_destroy_fn};
use crate::guest::sealwire_guest;
use crate::keys::{public_key, sealwire_keys};
use crate::panics::{free, guard};
use crate::pointers::{bytes, c_text, give, output, required, text};
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_UNSUPPORTED, sealwire_status,
};

/// How a socket protects its connections: a mechanism, and what it needs. May be used for any number
/// of sockets, and freed once they are made.
///
/// Threads: any number may use it at once, as long as none changes it.
pub struct sealwire_security(Protection);

/// Mechanisms with options of their own have a variant each.
enum Protection {
    Blake3Server(Blake3Server),
    CurveServer(CurveServer),
    Other(Security),
}

impl sealwire_security {
    pub(crate) fn security(&self) -> Security {
        match &self.0 {
            Protection::Blake3Server(server) => server.clone().into(),
            Protection::CurveServer(server) => server.clone().into(),
            Protection::Other(security) => security.clone(),
        }
    }
}

fn write(
    out: *mut *mut sealwire_security,
    make: impl FnOnce() -> Result<Security, Failure>,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let security = make()?;
        out.write(give(sealwire_security(Protection::Other(security))));
        Ok(())
    })
}

/// No protection at all: everybody may connect, read and write. For `inproc`, and where something
/// else protects. There is no default: a socket without encryption has to be asked for.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_plain_text(
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    write(out, || Ok(Security::plain_text()))
}

/// BLAKE3, the side that has a key which clients know, whether it binds or connects.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_blake3_server(
    keys: Option<&sealwire_keys>,
    authenticator: Option<&sealwire_authenticator>,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let keys = required(keys, "keys")?.keys.clone();
        let server = Security::blake3_server(keys, needed(authenticator)?);
        out.write(give(sealwire_security(Protection::Blake3Server(server))));
        Ok(())
    })
}

/// BLAKE3, the side that knows the server's public key (32 bytes). With `keys` of NULL the client is
/// anonymous.
///
/// Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_blake3_client(
    server_key: *const u8,
    keys: Option<&sealwire_keys>,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    write(out, || {
        let server_key = public_key(server_key, "server_key")?;
        Ok(match keys {
            Some(keys) => Security::blake3_client_with_keys(server_key, keys.keys.clone()).into(),
            None => Security::blake3_client(server_key).into(),
        })
    })
}

fn curve_client(
    server_key: *const u8,
    keys: Option<&sealwire_keys>,
    out: *mut *mut sealwire_security,
    security: fn(PublicKey, KeyPair) -> Security,
) -> sealwire_status {
    write(out, || {
        let server_key = public_key(server_key, "server_key")?;
        let keys = keys.map_or_else(KeyPair::generate, |keys| keys.keys.clone());
        Ok(security(server_key, keys))
    })
}

/// CURVE as libzmq speaks it, the side that has a key which clients know. libzmq's
/// `ZMQ_CURVE_SERVER` and `ZMQ_CURVE_SECRETKEY`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_curve_server(
    keys: Option<&sealwire_keys>,
    authenticator: Option<&sealwire_authenticator>,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let keys = required(keys, "keys")?.keys.clone();
        let server = CurveServer::new(keys, needed(authenticator)?);
        out.write(give(sealwire_security(Protection::CurveServer(server))));
        Ok(())
    })
}

/// As `sealwire_security_curve_server`, for clients that skip numbers of frames, which libzmq does not.
///
/// **What it gives up:** someone on the path can drop frames, also parts of a message, and nobody
/// notices. A warning event says so on every connection.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_curve_server_accepting_gaps_unauthenticated_order(
    keys: Option<&sealwire_keys>,
    authenticator: Option<&sealwire_authenticator>,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    write(out, || {
        let keys = required(keys, "keys")?.keys.clone();
        let authenticator = needed(authenticator)?;
        Ok(Security::curve_server_accepting_gaps_unauthenticated_order(
            keys,
            authenticator,
        ))
    })
}

/// CURVE as libzmq speaks it, the side that knows the server's public key (32 bytes). libzmq's
/// `ZMQ_CURVE_SERVERKEY`, `ZMQ_CURVE_PUBLICKEY` and `ZMQ_CURVE_SECRETKEY`. With `keys` of NULL a pair
/// is made for it.
///
/// Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_curve_client(
    server_key: *const u8,
    keys: Option<&sealwire_keys>,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    curve_client(server_key, keys, out, Security::curve_client)
}

/// As `sealwire_security_curve_client`, for a server that skips numbers of frames, which libzmq does
/// not.
///
/// **What it gives up:** someone on the path can drop frames, also parts of a message, and nobody
/// notices. A warning event says so on every connection.
///
/// Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_curve_client_accepting_gaps_unauthenticated_order(
    server_key: *const u8,
    keys: Option<&sealwire_keys>,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    let security = Security::curve_client_accepting_gaps_unauthenticated_order;
    curve_client(server_key, keys, out, security)
}

/// PLAIN, the side that shows a username and a password, in clear, to everybody on the way. For
/// peers that know nothing better.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for more than 255 bytes, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_plain_client(
    username: *const c_char,
    password: *const c_void,
    password_size: usize,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    write(out, || {
        let username = text(username, "username")?;
        let password = bytes(password.cast(), password_size, "password")?;
        if username.len() > MAX_CREDENTIAL || password.len() > MAX_CREDENTIAL {
            let text = format!(
                "the username or password is longer than {MAX_CREDENTIAL} bytes: shorten it"
            );
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        Ok(Security::plain_client(username, password))
    })
}

/// Decides about a client that shows a username and a password: calls `sealwire_decision_allow`, or
/// does not. Compare passwords in constant time. Called on threads of the library, on several at once; it may
/// block. It must not throw. Nothing but `user` is valid after it.
pub type sealwire_authenticate_plain_fn = Option<
    extern "C" fn(
        username: *const c_char,
        password: *const c_void,
        password_size: usize,
        guest: *const sealwire_guest,
        decision: *mut sealwire_decision,
        user: *mut c_void,
    ),
>;

/// PLAIN, the side that is shown a username and a password. `user` and `destroy` as in
/// `sealwire_authenticator_callback`. A username that is not text in UTF-8 is refused without asking.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_plain_server(
    authenticate: sealwire_authenticate_plain_fn,
    user: *mut c_void,
    destroy: sealwire_destroy_fn,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    write(out, || {
        let authenticate = required(authenticate, "authenticate")?;
        let user = User::new(user, destroy);
        Ok(Security::plain_server(move |client: &PlainClient<'_>| {
            let shown = client.credentials();
            let refusal = Decision::refuse("wrong username or password");
            let username = match std::str::from_utf8(shown.username()) {
                Ok(username) if !username.contains('\0') => c_text(username),
                _ => return refusal,
            };
            let guest = sealwire_guest::new(client.address(), client.process());
            let mut decision = sealwire_decision::refused(refusal);
            authenticate(
                username.as_ptr(),
                shown.password().as_ptr().cast(),
                shown.password().len(),
                &raw const guest,
                &raw mut decision,
                user.pointer(),
            );
            decision.made()
        }))
    })
}

/// PLAIN, the side that is shown a username and a password, with the users of a file: one a line, then
/// white space and the password. The file is read again when it changes; users who are taken out, or
/// whose password changes, are disconnected about a second later.
///
/// Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY_FILE_PERMISSIONS`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_plain_server_file(
    path: *const c_char,
    out: *mut *mut sealwire_security,
) -> sealwire_status {
    write(out, || {
        let file = PasswordFile::open(text(path, "path")?)?;
        Ok(Security::plain_server(file))
    })
}

/// BLAKE3 and CURVE servers: another key that clients may know, while one is replaced; of BLAKE3 three at most, as
/// making a socket says, of CURVE one, which a later call replaces. Must not be called while another thread uses the
/// object.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` for anything but such a server, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_add_keys(
    security: Option<&mut sealwire_security>,
    keys: Option<&sealwire_keys>,
) -> sealwire_status {
    guard(|| {
        let security = required(security, "security")?;
        let keys = required(keys, "keys")?.keys.clone();
        match &mut security.0 {
            Protection::Blake3Server(server) => {
                *server = server.clone().with_additional_keys(keys);
                Ok(())
            }
            Protection::CurveServer(server) => {
                *server = server.clone().with_additional_key(keys);
                Ok(())
            }
            Protection::Other(other) => {
                let given = match other.mechanisms().next() {
                    Some(Mechanism::Blake3) => "a client of BLAKE3",
                    Some(Mechanism::Curve) => "a client of CURVE, or a server that accepts gaps",
                    Some(mechanism) => mechanism.name(),
                    None => "another",
                };
                let text = format!(
                    "additional keys belong to a server of the mechanism BLAKE3 or CURVE, and this is {given}"
                );
                Err(Failure::new(SEALWIRE_ERROR_UNSUPPORTED, text))
            }
        }
    })
}

/// Frees it. Sockets that were made with it keep what they need. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_security_free(security: Option<Box<sealwire_security>>) {
    free(security);
}
