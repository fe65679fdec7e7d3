//! Messages with an address, and those made of a copy.

use std::ffi::CStr;
use std::ptr;

use libc::{c_char, c_int, c_void};

use super::super::guard;
use super::super::messages::{begin, message};
use super::super::pointers::{bytes, copy_out};
use crate::errno::Errno;
use crate::message::Msg;

/// The bytes of a name of a group, without the zero octet behind them.
pub(super) fn group<'a>(name: *const c_char) -> Result<&'a CStr, Errno> {
    if name.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null; a text that is there for the time of the call, as the program says.
    Ok(unsafe { CStr::from_ptr(name) })
}

/// `zmq_msg_set_routing_id`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_set_routing_id(place: *mut Msg, routing_id: u32) -> c_int {
    guard::status(|| {
        let message = message(place)?;
        if routing_id == 0 {
            return Err(Errno::INVAL);
        }
        message.set_routing_id(routing_id);
        Ok(())
    })
}

/// `zmq_msg_routing_id`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_routing_id(place: *mut Msg) -> u32 {
    guard::value(0, || Ok(message(place)?.routing_id()))
}

/// `zmq_msg_set_group`. A name of more than 255 bytes is refused; libzmq cuts it off, and the message goes elsewhere.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_set_group(place: *mut Msg, name: *const c_char) -> c_int {
    const LONGEST: usize = 255;
    guard::status(|| {
        let message = message(place)?;
        let name = group(name)?;
        if name.count_bytes() > LONGEST {
            return Err(Errno::INVAL);
        }
        message.set_group(name.to_owned());
        Ok(())
    })
}

/// `zmq_msg_group`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_group(place: *mut Msg) -> *const c_char {
    guard::value(ptr::null(), || Ok(message(place)?.group_text()))
}

/// `zmq_msg_init_buffer`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_msg_init_buffer(place: *mut Msg, data: *const c_void, size: usize) -> c_int {
    guard::status(|| {
        let data = bytes(data, size)?;
        begin(place, size)?;
        copy_out(data, message(place)?.data(), size);
        Ok(())
    })
}
