//! The clients that a server lets in: anyone, a list of keys, a file of them, or a callback that decides.

use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::Arc;

use sealwire::auth::{
    AllowAnyone, AllowedKeys, AllowedKeysFile, Authenticator, Client, Decision, Status,
};

use crate::callback::{User, sealwire_destroy_fn};
use crate::guest::write_process;
use crate::keys::public_key;
use crate::panics::{free, guard, value};
use crate::pointers::{array_output, c_text, give, optional_text, output, required, text};
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_NULL, SEALWIRE_ERROR_UNSUPPORTED,
    sealwire_status,
};

/// What a client is told that no callback said more about.
const NOT_ALLOWED: &str = "this key is not allowed here";

/// Decides which clients a BLAKE3 or CURVE server talks to. It is copied into a
/// `sealwire_security`, so it may be freed after that.
///
/// Threads: one at a time.
pub struct sealwire_authenticator {
    kind: Kind,
}

enum Kind {
    Keys(AllowedKeys),
    Other(SharedAuthenticator),
}

/// An authenticator that several servers may have.
#[derive(Clone)]
pub(crate) struct SharedAuthenticator(Arc<dyn Authenticator>);

impl Authenticator for SharedAuthenticator {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        self.0.authenticate(client)
    }

    fn revision(&self) -> Option<u64> {
        self.0.revision()
    }

    fn leaves_it_to_zap(&self) -> bool {
        self.0.leaves_it_to_zap()
    }

    fn allows_nobody(&self) -> bool {
        self.0.allows_nobody()
    }

    fn may_block(&self) -> bool {
        self.0.may_block()
    }
}

impl sealwire_authenticator {
    pub(crate) fn shared(&self) -> SharedAuthenticator {
        match &self.kind {
            Kind::Keys(keys) => SharedAuthenticator(Arc::new(keys.clone())),
            Kind::Other(shared) => shared.clone(),
        }
    }

    fn other(authenticator: impl Authenticator) -> *mut Self {
        give(sealwire_authenticator {
            kind: Kind::Other(SharedAuthenticator(Arc::new(authenticator))),
        })
    }
}

/// Lets in everybody who knows the server's public key. Clients are not told apart.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_authenticator_anyone(
    out: *mut *mut sealwire_authenticator,
) -> sealwire_status {
    guard(|| {
        output(out, "out")?.write(sealwire_authenticator::other(AllowAnyone));
        Ok(())
    })
}

/// Lets in those whose keys are added with `sealwire_authenticator_allow`, at first nobody.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_authenticator_keys(
    out: *mut *mut sealwire_authenticator,
) -> sealwire_status {
    guard(|| {
        output(out, "out")?.write(give(sealwire_authenticator {
            kind: Kind::Keys(AllowedKeys::new()),
        }));
        Ok(())
    })
}

/// Adds a public key of 32 bytes to a list of keys, with a name for its owner or NULL. Servers that
/// have the list already do not see it.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` for an authenticator that is not a list,
/// `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_authenticator_allow(
    authenticator: Option<&mut sealwire_authenticator>,
    public_key: *const u8,
    user_id: *const c_char,
) -> sealwire_status {
    guard(|| {
        let authenticator = required(authenticator, "authenticator")?;
        let key = self::public_key(public_key, "public_key")?;
        let user_id = optional_text(user_id, "user_id")?;
        let Kind::Keys(keys) = &mut authenticator.kind else {
            let text = "keys are added to what sealwire_authenticator_keys makes";
            return Err(Failure::new(SEALWIRE_ERROR_UNSUPPORTED, text));
        };
        let allowed = std::mem::take(keys);
        *keys = match user_id {
            Some(user_id) => allowed.allow_as(key, user_id),
            None => allowed.allow(key),
        };
        Ok(())
    })
}

/// Lets in those whose keys are in a file (one key a line, then optionally a name) or in the files of
/// a directory (one client each, named after the file). Both are read again when they change, and who
/// is no longer listed is disconnected within about a second.
///
/// Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_authenticator_file(
    path: *const c_char,
    out: *mut *mut sealwire_authenticator,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let list = AllowedKeysFile::open(PathBuf::from(text(path, "path")?))?;
        out.write(sealwire_authenticator::other(list));
        Ok(())
    })
}

/// A client that has proved to hold the secret of its public key and asks to be let in. Valid during
/// the callback only.
pub struct sealwire_client<'a> {
    client: &'a Client<'a>,
    address: CString,
}

/// What the callback decides. Refused, unless `sealwire_decision_allow` is called. Valid during the
/// callback only.
pub struct sealwire_decision {
    /// What holds until the callback has said something that can be understood.
    refusal: Decision,
    decision: Option<Decision>,
}

impl sealwire_decision {
    pub(crate) fn refused(refusal: Decision) -> Self {
        sealwire_decision {
            refusal,
            decision: None,
        }
    }

    pub(crate) fn made(self) -> Decision {
        self.decision.unwrap_or(self.refusal)
    }
}

/// Decides about one client: calls `sealwire_decision_allow`, or does not. Called on threads of the library,
/// on several at once; it may block, and only the client in question waits. It must not throw.
pub type sealwire_authenticate_fn = Option<
    extern "C" fn(
        client: *const sealwire_client<'_>,
        decision: *mut sealwire_decision,
        user: *mut c_void,
    ),
>;

struct Callback {
    authenticate: extern "C" fn(*const sealwire_client<'_>, *mut sealwire_decision, *mut c_void),
    user: User,
}

impl Authenticator for Callback {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        let client = sealwire_client {
            client,
            address: c_text(&client.address().to_string()),
        };
        let mut decision = sealwire_decision::refused(Decision::refuse(NOT_ALLOWED));
        (self.authenticate)(&raw const client, &raw mut decision, self.user.pointer());
        decision.made()
    }
}

/// Asks a callback about each client. `user` is handed to it; `destroy(user)` is called once, when
/// neither this object nor a socket needs the callback any more. After an error it is not called.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_authenticator_callback(
    authenticate: sealwire_authenticate_fn,
    user: *mut c_void,
    destroy: sealwire_destroy_fn,
    out: *mut *mut sealwire_authenticator,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let authenticate = required(authenticate, "authenticate")?;
        let user = User::new(user, destroy);
        out.write(sealwire_authenticator::other(Callback {
            authenticate,
            user,
        }));
        Ok(())
    })
}

/// Frees an authenticator. Servers that have it keep it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_authenticator_free(authenticator: Option<Box<sealwire_authenticator>>) {
    free(authenticator);
}

/// Writes the public key that the client has proved to hold: 32 bytes. An anonymous client shows one
/// that it made for this connection.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_client_public_key(
    client: Option<&sealwire_client<'_>>,
    public_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let client = required(client, "client")?;
        array_output(public_key, "public_key")?.write(*client.client.public_key().as_bytes());
        Ok(())
    })
}

/// Where the client is, as text; no proof of anything. NULL for NULL. Valid during the callback.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_client_address(client: Option<&sealwire_client<'_>>) -> *const c_char {
    client.map_or(std::ptr::null(), |client| client.address.as_ptr())
}

/// Writes whose process is at the other end of a Unix socket, as the system tells on Linux: the
/// numbers of the process, its user and its group, each where the pointer is not NULL.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the system does not tell (other transports and
/// systems), `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_client_process(
    client: Option<&sealwire_client<'_>>,
    process: *mut i32,
    user: *mut u32,
    group: *mut u32,
) -> sealwire_status {
    guard(|| {
        let client = required(client, "client")?;
        write_process(client.client.process(), process, user, group)
    })
}

/// What the client says of itself (`Socket-Type`, `Identity`, properties of its own), by name without
/// case: the bytes, whose number is written to `size` (where that is not NULL), or NULL when there is
/// no such property or an argument is not valid. Valid during the callback.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_client_metadata(
    client: Option<&sealwire_client<'_>>,
    name: *const c_char,
    size: *mut usize,
) -> *const c_void {
    value(std::ptr::null(), || {
        let found = client.zip(text(name, "name").ok());
        let Some(bytes) = found.and_then(|(client, name)| client.client.metadata(name)) else {
            return std::ptr::null();
        };
        if let Ok(size) = output(size, "size") {
            size.write(bytes.len());
        }
        bytes.as_ptr().cast()
    })
}

/// Lets the client in; its messages carry this name, or none for NULL.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; the client is then refused.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_decision_allow(
    decision: Option<&mut sealwire_decision>,
    user_id: *const c_char,
) -> sealwire_status {
    guard(|| {
        let decision = required(decision, "decision")?;
        decision.decision = None;
        let user_id = optional_text(user_id, "user_id")?.map(str::to_owned);
        decision.decision = Some(Decision::Allow { user_id });
        Ok(())
    })
}

/// Turns the client away, with a reason for this side's monitor that BLAKE3 clients are told too (up
/// to 255 printable ASCII characters), and a status for CURVE clients: 300 (try later), 400 (refused)
/// or 500 (the authenticator failed).
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; the client is refused in any case.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_decision_refuse(
    decision: Option<&mut sealwire_decision>,
    status: i32,
    reason: *const c_char,
) -> sealwire_status {
    guard(|| {
        let decision = required(decision, "decision")?;
        decision.decision = None;
        let status = match status {
            300 => Status::Temporary,
            400 => Status::Refused,
            500 => Status::Failed,
            _ => {
                let text = format!("a refusal has the status 300, 400 or 500, not {status}");
                return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
            }
        };
        let reason = text(reason, "reason")?;
        decision.decision = Some(Decision::refuse_as(status, reason));
        Ok(())
    })
}

/// What an authenticator is needed for.
pub(crate) fn needed(
    authenticator: Option<&sealwire_authenticator>,
) -> Result<SharedAuthenticator, Failure> {
    let missing = || {
        let text = "authenticator is NULL: name who may connect, or sealwire_authenticator_anyone";
        Failure::new(SEALWIRE_ERROR_NULL, text)
    };
    authenticator
        .map(sealwire_authenticator::shared)
        .ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::SEALWIRE_OK;

    #[test]
    fn a_decision_with_a_wrong_argument_takes_back_the_one_before() {
        let mut decision = sealwire_decision::refused(Decision::refuse("nobody"));
        let allowed = sealwire_decision_allow(Some(&mut decision), c"alice".as_ptr());
        assert_eq!(allowed, SEALWIRE_OK);
        let no_text = sealwire_decision_allow(Some(&mut decision), c"\xFF".as_ptr());
        assert_eq!(no_text, SEALWIRE_ERROR_ARGUMENT);
        assert_eq!(decision.made(), Decision::refuse("nobody"));

        let mut decision = sealwire_decision::refused(Decision::refuse("nobody"));
        assert_eq!(
            sealwire_decision_allow(Some(&mut decision), std::ptr::null()),
            SEALWIRE_OK
        );
        let no_status = sealwire_decision_refuse(Some(&mut decision), 200, c"why".as_ptr());
        assert_eq!(no_status, SEALWIRE_ERROR_ARGUMENT);
        assert_eq!(decision.made(), Decision::refuse("nobody"));
    }
}
