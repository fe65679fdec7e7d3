//! `zmq_msg_*`.

use std::ffi::CStr;
use std::ptr;

use libc::{c_char, c_int, c_void};

use super::guard;
use super::pointers::object;
use crate::errno::Errno;
use crate::message::{FreeFn, Msg};

const MORE: c_int = 1;
const SRCFD: c_int = 2;
const SHARED: c_int = 3;

/// A message that there is.
pub(super) fn message<'a>(message: *mut Msg) -> Result<&'a mut Msg, Errno> {
    let message = object(message)?;
    match message.is_one() {
        true => Ok(message),
        false => Err(Errno::FAULT),
    }
}

/// Puts a message where there is none: what was in the memory counts for nothing.
fn put(place: *mut Msg, message: Msg) -> Result<(), Errno> {
    if place.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null; the memory of a message, as the program says, of which nothing is read.
    unsafe { ptr::write(place, message) }
    Ok(())
}

/// Puts a message of this size where there is none, for the program to fill.
pub(super) fn begin(place: *mut Msg, size: usize) -> Result<(), Errno> {
    if place.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null; the memory of a message, as the program says.
    unsafe { Msg::begin(place, size) }
}

/// Ends a message and puts another in its place.
fn replace(place: *mut Msg, with: Msg) -> Result<(), Errno> {
    *message(place)? = with;
    Ok(())
}

/// `zmq_msg_init`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_init(place: *mut Msg) -> c_int {
    guard::in_memory(-1, || begin(place, 0).map(|()| 0))
}

/// `zmq_msg_init_size`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_init_size(place: *mut Msg, size: usize) -> c_int {
    guard::status(|| begin(place, size))
}

/// `zmq_msg_init_data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_msg_init_data(
    place: *mut Msg,
    data: *mut c_void,
    size: usize,
    free: Option<FreeFn>,
    hint: *mut c_void,
) -> c_int {
    guard::status(|| {
        // Before the message owns the data: where there is none, the program keeps it.
        if place.is_null() || (size > 0 && data.is_null()) {
            return Err(Errno::FAULT);
        }
        // SAFETY: the contract of the function, which the program keeps to.
        put(place, unsafe { Msg::of_foreign(data, size, free, hint) })
    })
}

/// `zmq_msg_close`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_close(place: *mut Msg) -> c_int {
    guard::status(|| {
        let message = message(place)?;
        // SAFETY: a message, which is none from now on: its check is gone with it.
        unsafe { ptr::drop_in_place(message) }
        Ok(())
    })
}

/// `zmq_msg_move`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_move(to: *mut Msg, from: *mut Msg) -> c_int {
    guard::status(|| {
        message(to)?;
        message(from)?;
        if ptr::eq(to, from) {
            return Ok(());
        }
        replace(to, std::mem::take(message(from)?))
    })
}

/// `zmq_msg_copy`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_copy(to: *mut Msg, from: *mut Msg) -> c_int {
    guard::status(|| {
        message(to)?;
        let copy = message(from)?.share();
        if ptr::eq(to, from) {
            return Ok(());
        }
        replace(to, copy)
    })
}

/// `zmq_msg_data`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_data(place: *mut Msg) -> *mut c_void {
    guard::in_memory(ptr::null_mut(), || Ok(message(place)?.data()))
}

/// `zmq_msg_size`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_size(place: *const Msg) -> usize {
    guard::in_memory(0, || Ok(message(place.cast_mut())?.size()))
}

/// `zmq_msg_more`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_more(place: *const Msg) -> c_int {
    zmq_msg_get(place, MORE)
}

/// `zmq_msg_get`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_get(place: *const Msg, property: c_int) -> c_int {
    guard::number(|| {
        let message = message(place.cast_mut())?;
        match property {
            MORE => Ok(c_int::from(message.more())),
            SHARED => Ok(c_int::from(message.is_shared())),
            SRCFD => message.descriptor().ok_or(Errno::INVAL),
            _ => Err(Errno::INVAL),
        }
    })
}

/// No property can be set, as in libzmq.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_set(_place: *mut Msg, _property: c_int, _value: c_int) -> c_int {
    guard::number(|| Err(Errno::INVAL))
}

/// `zmq_msg_gets`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_msg_gets(place: *const Msg, property: *const c_char) -> *const c_char {
    guard::value(ptr::null(), || {
        let message = message(place.cast_mut())?;
        if property.is_null() {
            return Err(Errno::INVAL);
        }
        // SAFETY: not null; a text, as the program says.
        let name = unsafe { CStr::from_ptr(property) };
        let name = name.to_str().map_err(|_| Errno::INVAL)?;
        message.property(name).ok_or(Errno::INVAL)
    })
}
