//! `zmq_socket_monitor`.

use libc::{c_char, c_int, c_void};

use super::guard;
use super::pointers::text;
use super::sockets::socket;

/// `zmq_socket_monitor`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_socket_monitor(
    handle: *mut c_void,
    endpoint: *const c_char,
    events: c_int,
) -> c_int {
    guard::status(|| {
        let endpoint = match endpoint.is_null() {
            true => None,
            false => Some(text(endpoint)?),
        };
        socket(handle)?.monitor(endpoint, events)
    })
}
