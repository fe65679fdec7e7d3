//! Sockets: making, closing, options, endpoints, sending and receiving.

use std::sync::Arc;

use libc::{c_char, c_int, c_void, iovec};
use sealwire::Frame;
use sealwire_zmtp::Frames;

use super::contexts::context;
use super::handles::{Closed, Handles, Using};
use super::messages::message;
use super::pointers::{answer, bytes, copy_out, object, objects, text};
use super::{guard, pointers};
use crate::errno::Errno;
use crate::message::{Call, Msg};
use crate::socket::{SNDMORE, Socket, type_of};

static SOCKETS: Handles<Socket> = Handles::of_kind(2);

/// Calls `operation` with a socket, as one that may end messages while it holds locks.
#[inline]
fn with<R>(
    handle: *mut c_void,
    operation: impl FnOnce(&Socket) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let _call = Call::begin();
    operation(&*socket(handle)?)
}

pub(super) fn socket(handle: *mut c_void) -> Result<Using<Socket>, Errno> {
    SOCKETS.get(handle).ok_or(Errno::NOTSOCK)
}

/// For those who keep it longer than a call, or among others.
pub(super) fn shared(handle: *mut c_void) -> Result<Arc<Socket>, Errno> {
    socket(handle).map(|socket| Arc::clone(&socket))
}

/// `zmq_socket`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_socket(handle: *mut c_void, socket_type: c_int) -> *mut c_void {
    guard::value(std::ptr::null_mut(), || {
        let context = context(handle)?;
        if context.is_shut_down() {
            return Err(Errno::TERM);
        }
        let socket_type = type_of(socket_type).ok_or(Errno::INVAL)?;
        Ok(SOCKETS.open(context.open(socket_type)?))
    })
}

/// `zmq_close`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_close(handle: *mut c_void) -> c_int {
    guard::status(|| {
        match SOCKETS.close(handle).ok_or(Errno::NOTSOCK)? {
            Closed::Here(socket) => socket.close(),
            // In a child of a fork the handle ends, and nothing of the parent's.
            Closed::Inherited => {}
        }
        Ok(())
    })
}

/// `zmq_setsockopt`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_setsockopt(
    handle: *mut c_void,
    option: c_int,
    value: *const c_void,
    size: usize,
) -> c_int {
    guard::status(|| {
        let socket = socket(handle)?;
        let given = match value.is_null() {
            true if size > 0 => return Err(Errno::INVAL),
            true => None,
            false => Some(bytes(value, size)?),
        };
        socket.set(option, given)
    })
}

/// `zmq_getsockopt`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_getsockopt(
    handle: *mut c_void,
    option: c_int,
    value: *mut c_void,
    size: *mut usize,
) -> c_int {
    guard::number(|| {
        let socket = socket(handle)?;
        let room = *object(size)?;
        answer(&socket.get(option, room)?, value, size)
    })
}

/// `zmq_bind`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_bind(handle: *mut c_void, endpoint: *const c_char) -> c_int {
    guard::status(|| socket(handle)?.bind(text(endpoint)?))
}

/// `zmq_connect`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_connect(handle: *mut c_void, endpoint: *const c_char) -> c_int {
    guard::status(|| socket(handle)?.connect(text(endpoint)?))
}

/// `zmq_unbind`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_unbind(handle: *mut c_void, endpoint: *const c_char) -> c_int {
    guard::status(|| socket(handle)?.unbind(text(endpoint)?))
}

/// `zmq_disconnect`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_disconnect(handle: *mut c_void, endpoint: *const c_char) -> c_int {
    guard::status(|| socket(handle)?.disconnect(text(endpoint)?))
}

/// Sizes are told as `int`.
fn told(size: usize) -> c_int {
    c_int::try_from(size).unwrap_or(c_int::MAX)
}

/// `zmq_send`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_send(
    handle: *mut c_void,
    data: *const c_void,
    size: usize,
    flags: c_int,
) -> c_int {
    guard::number(|| {
        let mut part = Frames::single(Frame::new());
        part.refill(bytes(data, size)?);
        with(handle, |socket| socket.send(&mut part, flags))?;
        Ok(told(size))
    })
}

/// The bytes live as long as the program, which is not used: up to 70 of them are copied anyway.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_send_const(
    handle: *mut c_void,
    data: *const c_void,
    size: usize,
    flags: c_int,
) -> c_int {
    zmq_send(handle, data, size, flags)
}

/// `zmq_recv`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_recv(
    handle: *mut c_void,
    data: *mut c_void,
    size: usize,
    flags: c_int,
) -> c_int {
    guard::number(|| {
        with(handle, |socket| {
            socket.receive_with(flags, |part, _, _| {
                copy_out(part, data, size);
                told(part.len())
            })
        })
    })
}

/// `zmq_msg_send`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_send(place: *mut Msg, handle: *mut c_void, flags: c_int) -> c_int {
    guard::number(|| {
        with(handle, |socket| {
            let message = message(place)?;
            let size = message.size();
            socket.send_of(message, flags)?;
            Ok(told(size))
        })
    })
}

/// `zmq_msg_recv`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_recv(place: *mut Msg, handle: *mut c_void, flags: c_int) -> c_int {
    guard::number(|| {
        with(handle, |socket| {
            let message = message(place)?;
            socket.receive_into(message, flags)?;
            Ok(told(message.size()))
        })
    })
}

/// `zmq_sendmsg`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_sendmsg(handle: *mut c_void, place: *mut Msg, flags: c_int) -> c_int {
    zmq_msg_send(place, handle, flags)
}

/// `zmq_recvmsg`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_recvmsg(handle: *mut c_void, place: *mut Msg, flags: c_int) -> c_int {
    zmq_msg_recv(place, handle, flags)
}

/// All elements as the parts of a message. Gives the size of the last.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_sendiov(
    handle: *mut c_void,
    elements: *mut iovec,
    count: usize,
    flags: c_int,
) -> c_int {
    guard::number(|| {
        let _call = Call::begin();
        let socket = socket(handle)?;
        if count == 0 || elements.is_null() {
            return Err(Errno::INVAL);
        }
        let elements = objects(elements, count)?;
        let mut size = 0;
        for (index, element) in elements.iter().enumerate() {
            let part = bytes(element.iov_base, element.iov_len)?;
            let last = index + 1 == count;
            let flags = if last { flags & !SNDMORE } else { flags };
            socket.send(&mut Frames::single(part), flags)?;
            size = element.iov_len;
        }
        Ok(told(size))
    })
}

/// The parts of a message, up to as many as there are elements, each in memory for `free`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_recviov(
    handle: *mut c_void,
    elements: *mut iovec,
    count: *mut usize,
    flags: c_int,
) -> c_int {
    guard::number(|| {
        let _call = Call::begin();
        let socket = socket(handle)?;
        let count = object(count).map_err(|_| Errno::INVAL)?;
        if *count == 0 || elements.is_null() {
            return Err(Errno::INVAL);
        }
        let places = objects(elements, std::mem::take(count))?;
        for place in places {
            let part = socket.receive(flags)?;
            place.iov_len = part.size();
            place.iov_base = pointers::allocated(part.as_bytes())?;
            *count += 1;
            if !part.more() {
                break;
            }
        }
        Ok(told(*count))
    })
}
