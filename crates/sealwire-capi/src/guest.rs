//! Admission by address and process, before anything is proved.

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use sealwire::auth::{Decision, Guest};
use sealwire::{PeerAddress, ProcessCredentials, SocketBuilder};

use crate::auth::sealwire_decision;
use crate::callback::{User, sealwire_destroy_fn};
use crate::options::sealwire_options;
use crate::panics::guard;
use crate::pointers::{c_text, items_mut, optional_output, output, required};
use crate::status::{Failure, SEALWIRE_ERROR_UNSUPPORTED, sealwire_status};

/// What a peer is told that no callback said more about.
const NOT_ADMITTED: &str = "this peer is not allowed here";

/// A peer that has proved nothing yet, or that proves nothing at all (NULL, PLAIN). Valid during the
/// callback only.
pub struct sealwire_guest {
    address: CString,
    process: Option<ProcessCredentials>,
    groups: Vec<u32>,
}

impl sealwire_guest {
    pub(crate) fn new(address: &PeerAddress, process: Option<ProcessCredentials>) -> Self {
        sealwire_guest {
            address: c_text(&address.to_string()),
            process,
            groups: Vec::new(),
        }
    }
}

/// Where the peer is, as text; no proof of anything. NULL for NULL. Valid during the callback.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_guest_address(guest: Option<&sealwire_guest>) -> *const c_char {
    guest.map_or(std::ptr::null(), |guest| guest.address.as_ptr())
}

/// Writes whose process is at the other end of a Unix socket: as `sealwire_client_process`.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the system does not tell (other transports and
/// systems), `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_guest_process(
    guest: Option<&sealwire_guest>,
    process: *mut i32,
    user: *mut u32,
    group: *mut u32,
) -> sealwire_status {
    guard(|| {
        let guest = required(guest, "guest")?;
        write_process(guest.process, process, user, group)
    })
}

/// Writes the supplementary groups of the process at the other end of a Unix socket to the first elements of `groups`, as
/// many as `capacity` has room for, and how many there are to `count`. None where the system does not tell (other
/// transports and systems), and in callbacks that check passwords. Its main group may or may not be among them.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_guest_groups(
    guest: Option<&sealwire_guest>,
    groups: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> sealwire_status {
    guard(|| {
        let guest = required(guest, "guest")?;
        let room = items_mut(groups, capacity, "groups")?;
        output(count, "count")?.write(guest.groups.len());
        for (slot, group) in room.iter_mut().zip(&guest.groups) {
            *slot = *group;
        }
        Ok(())
    })
}

/// Writes what the system tells of a process, each number where it is wanted.
pub(crate) fn write_process(
    told: Option<ProcessCredentials>,
    process: *mut i32,
    user: *mut u32,
    group: *mut u32,
) -> Result<(), Failure> {
    let process = optional_output(process, "process")?;
    let user = optional_output(user, "user")?;
    let group = optional_output(group, "group")?;
    let told = told.ok_or_else(|| {
        let text = "the system does not tell whose process is at the other end";
        Failure::new(SEALWIRE_ERROR_UNSUPPORTED, text)
    })?;
    if let Some(out) = process {
        out.write(told.process);
    }
    if let Some(out) = user {
        out.write(told.user);
    }
    if let Some(out) = group {
        out.write(told.group);
    }
    Ok(())
}

/// Decides about one peer: calls `sealwire_decision_allow`, or does not; a name that it gives counts
/// for nothing. Called on threads of the library, on several at once; it may block, and only the peer
/// in question waits. It must not throw.
pub type sealwire_admit_fn = Option<
    extern "C" fn(
        guest: *const sealwire_guest,
        decision: *mut sealwire_decision,
        user: *mut c_void,
    ),
>;

/// A callback that sockets with the same options share.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Callback>);

struct Callback {
    admit: extern "C" fn(*const sealwire_guest, *mut sealwire_decision, *mut c_void),
    user: User,
}

impl Admission {
    pub(crate) fn apply(&self, builder: SocketBuilder) -> SocketBuilder {
        let callback = self.0.clone();
        builder.admit(move |guest: &Guest<'_>| {
            let guest = sealwire_guest {
                groups: guest.groups().to_vec(),
                ..sealwire_guest::new(guest.address(), guest.process())
            };
            let mut decision = sealwire_decision::refused(Decision::refuse(NOT_ADMITTED));
            (callback.admit)(&raw const guest, &raw mut decision, callback.user.pointer());
            decision.made()
        })
    }
}

/// Asks a callback about each peer by address and process, before the authenticator: about every peer
/// without a mechanism (NULL), whichever side connected, and about the clients of a server; not within
/// the process. Sockets that cannot ask (STREAM, `udp`) are refused as they are made or bound. Without
/// it all are let in. `user` is handed to the callback; `destroy(user)` is called once, when neither
/// these options nor a socket need it any more. After an error it is not called. A second callback
/// takes the place of the first.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_admit(
    options: Option<&mut sealwire_options>,
    admit: sealwire_admit_fn,
    user: *mut c_void,
    destroy: sealwire_destroy_fn,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        let admit = required(admit, "admit")?;
        let user = User::new(user, destroy);
        options.set_admission(Admission(Arc::new(Callback { admit, user })));
        Ok(())
    })
}
