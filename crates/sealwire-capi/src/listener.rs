//! Listening sockets that somebody else opened.

use std::ffi::c_char;
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::sync::{Mutex, PoisonError};

use sealwire::{Endpoint, Error, Listener};

use crate::keys::write_text;
use crate::panics::guard;
use crate::pointers::{close_descriptor, descriptor, optional_text, output, required};
use crate::socket::sealwire_socket;
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_ENDED, sealwire_status};

/// Those that the service manager passed and nobody asked for yet; `None` before the first call.
static PASSED: Mutex<Option<Vec<Listener>>> = Mutex::new(None);

/// Gives the next listening socket that a service manager opened for this process (`LISTEN_FDS`,
/// `LISTEN_PID` and `LISTEN_FDNAMES` of systemd): the next of all where `name` is NULL, else the next
/// that has this name (`FileDescriptorName=` of its unit). The caller owns the descriptor, for
/// `sealwire_socket_bind_listener`. Each is given once. Where `named` is not NULL it gets the name, empty
/// where there is none, to be freed with `sealwire_string_free`.
///
/// Make the first call before anything closes descriptors that it did not open.
///
/// Errors: `SEALWIRE_ERROR_ENDED` where there are no more, `SEALWIRE_ERROR_LISTENER` where they were
/// opened for another process, are not open or not as a service manager passes them,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_listener_passed(
    name: *const c_char,
    descriptor: *mut i32,
    named: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let wanted = optional_text(name, "name")?;
        let out = output(descriptor, "descriptor")?;
        let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = match &mut *passed {
            Some(passed) => passed,
            none => none.insert(Listener::passed().map_err(Error::from)?),
        };
        let fits = |one: &Listener| wanted.is_none_or(|wanted| one.name() == Some(wanted));
        let Some(index) = passed.iter().position(fits) else {
            let text = "no more sockets were passed to this process";
            return Err(Failure::new(SEALWIRE_ERROR_ENDED, text));
        };
        write_text(named, "named", passed[index].name().unwrap_or_default())?;
        out.write(OwnedFd::from(passed.remove(index)).into_raw_fd());
        Ok(())
    })
}

/// Binds to a listening TCP or Unix socket that somebody else opened: the program, or a service manager
/// (`sealwire_listener_passed`). The system says where it listens. With a `ws_path` it is a WebSocket with this
/// path, with a `wss_path` one over TLS; both may be NULL, and one must be. Where `bound` is not NULL it gets the
/// endpoint, to be freed with `sealwire_string_free`.
///
/// Afterwards the descriptor is the socket's, which has another number for it: unbinding, closing and freeing close
/// it, and the program must not use it. After an error it is the program's still. The file of a
/// Unix socket stays. Of the options those of connections count; BACKLOG, IPV6 and IPC_MODE were for who opened it.
/// It does not block any more (`O_NONBLOCK`), also for others who share it.
///
/// Errors: `SEALWIRE_ERROR_LISTENER` for what is not a listening TCP or Unix socket, and those of
/// `sealwire_socket_bind`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_bind_listener(
    socket: Option<&sealwire_socket>,
    descriptor: i32,
    ws_path: *const c_char,
    wss_path: *const c_char,
    bound: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let socket = &required(socket, "socket")?.socket;
        bind_given(descriptor, [ws_path, wss_path], bound, |listener| {
            socket.bind_listener(listener)
        })
    })
}

/// Binds by `bind` to a descriptor that listens, for a WebSocket where one of the paths, of ws and wss, is there. Afterwards the
/// descriptor is closed, and `bound` has the endpoint. After an error it is the caller's still.
pub(crate) fn bind_given<E>(
    descriptor: i32,
    [ws_path, wss_path]: [*const c_char; 2],
    bound: *mut *mut c_char,
    bind: impl FnOnce(Listener) -> Result<Endpoint, E>,
) -> Result<(), Failure>
where
    Failure: From<E>,
{
    let ws_path = optional_text(ws_path, "ws_path")?;
    let wss_path = optional_text(wss_path, "wss_path")?;
    let listener = duplicate(descriptor)?;
    let listener = match (ws_path, wss_path) {
        (None, None) => listener,
        (Some(path), None) => listener.over_ws(path),
        (None, Some(path)) => listener.over_wss(path),
        (Some(_), Some(_)) => {
            let text = "ws_path and wss_path are both there: one of them must be NULL";
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
    };
    let endpoint = bind(listener)?;
    close_descriptor(descriptor);
    write_text(bound, "bound", &endpoint.to_string())
}

/// So that a call which fails leaves the caller's alone.
fn duplicate(number: i32) -> Result<Listener, Failure> {
    let duplicate = descriptor(number, "descriptor")?.try_clone_to_owned();
    Ok(duplicate.map_err(Error::System)?.into())
}
