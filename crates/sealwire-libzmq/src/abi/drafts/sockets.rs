//! Groups, peers by number and name, and monitors in libzmq's second form.

use libc::{c_char, c_int, c_void};

use super::super::guard;
use super::super::pointers::{bytes, text};
use super::super::sockets::socket;
use super::messages::group;

/// `zmq_join`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_join(handle: *mut c_void, name: *const c_char) -> c_int {
    guard::status(|| socket(handle)?.join(group(name)?.to_bytes()))
}

/// `zmq_leave`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_leave(handle: *mut c_void, name: *const c_char) -> c_int {
    guard::status(|| socket(handle)?.leave(group(name)?.to_bytes()))
}

/// `zmq_connect_peer`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_connect_peer(handle: *mut c_void, endpoint: *const c_char) -> u32 {
    guard::value(0, || socket(handle)?.connect_peer(text(endpoint)?))
}

/// `zmq_socket_get_peer_state`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_socket_get_peer_state(
    handle: *mut c_void,
    routing_id: *const c_void,
    size: usize,
) -> c_int {
    guard::number(|| socket(handle)?.peer_state(bytes(routing_id, size)?))
}

/// `zmq_socket_monitor_versioned`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_socket_monitor_versioned(
    handle: *mut c_void,
    endpoint: *const c_char,
    events: u64,
    version: c_int,
    socket_type: c_int,
) -> c_int {
    guard::status(|| {
        let socket = socket(handle)?;
        let endpoint = match endpoint.is_null() {
            true => None,
            false => Some(text(endpoint)?),
        };
        socket.monitor_versioned(endpoint, events, version, socket_type)
    })
}

/// `zmq_socket_monitor_pipes_stats`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_socket_monitor_pipes_stats(handle: *mut c_void) -> c_int {
    guard::status(|| socket(handle)?.tell_queues())
}
