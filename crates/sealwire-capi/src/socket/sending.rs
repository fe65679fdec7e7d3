//! Sending.

use std::collections::VecDeque;
use std::ffi::c_void;

use sealwire::blocking::Socket;
use sealwire::{Error, Message, SendError};

use super::sealwire_socket;
use crate::message::sealwire_message;
use crate::panics::guard;
use crate::pointers::{bytes, items_mut, object_mut, output, required, take};
use crate::status::{Failure, sealwire_status};
use crate::time::Wait;

fn send(socket: &Socket, message: Message, wait: Wait) -> Result<(), SendError> {
    match wait {
        Wait::Default => socket.send(message),
        Wait::No => socket.try_send(message),
        Wait::For(limit) => socket.send_timeout(message, limit),
    }
}

/// Sends a message: hands it to the queue of the peer or peers that it goes to, and waits for room
/// up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` or `SEALWIRE_NO_WAIT`. Signals interrupt
/// it with `SEALWIRE_OPTION_INTERRUPTIBLE` only.
///
/// After success the message belongs to the library: do not use or free it. After an error it is
/// the caller's as before.
///
/// Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_HANDSHAKE`, `SEALWIRE_ERROR_STATE`,
/// `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_UNROUTABLE`, `SEALWIRE_ERROR_MESSAGE`,
/// `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_send(
    socket: Option<&sealwire_socket>,
    message: *mut sealwire_message,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let content = object_mut(message, "message")?;
        let wait = Wait::from_ms(timeout_ms)?;
        match send(&socket.socket, content.take_content(), wait) {
            Ok(()) => {
                drop(take(message));
                Ok(())
            }
            Err(error) => {
                let failure = Failure::new(Failure::of_socket(error.error()), error.to_string());
                content.put_content_back(error.into_message());
                Err(failure)
            }
        }
    })
}

/// Sends a message of one frame with a copy of `size` bytes. As `sealwire_socket_send` otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_send_bytes(
    socket: Option<&sealwire_socket>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let message = Message::from(bytes(data.cast(), size, "data")?);
        let sent = send(&socket.socket, message, Wait::from_ms(timeout_ms)?);
        sent.map_err(|error| Failure::from(Error::from(error)))
    })
}

fn send_many(socket: &Socket, messages: &mut VecDeque<Message>, wait: Wait) -> Result<(), Error> {
    match wait {
        Wait::Default => socket.send_many(messages).map(drop),
        Wait::For(limit) => socket.send_many_timeout(messages, limit).map(drop),
        Wait::No => {
            while socket.try_send_many(messages)? > 0 {}
            if messages.is_empty() {
                Ok(())
            } else {
                Err(Error::WouldBlock)
            }
        }
    }
}

/// Sends `count` messages, in order, each as `sealwire_socket_send` would: the cheapest way to send
/// many. `timeout_ms` is for each time that there is no room: it counts from the last message that
/// went.
///
/// Writes to `sent` how many went, also when an error came after them. These belong to the library,
/// and NULL takes their place in `messages`. The others are the caller's as before: the first of
/// them is the one that the error is about. Success means that all were sent. No message may be
/// there twice.
///
/// Errors: as `sealwire_socket_send`. `sent` is 0 then, or the number of those before the error.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_send_many(
    socket: Option<&sealwire_socket>,
    messages: *mut *mut sealwire_message,
    count: usize,
    timeout_ms: i64,
    sent: *mut usize,
) -> sealwire_status {
    guard(|| {
        let out = output(sent, "sent")?;
        let mut sent = 0;
        let outcome = send_first(socket, messages, count, timeout_ms, &mut sent);
        out.write(sent);
        outcome
    })
}

fn send_first(
    socket: Option<&sealwire_socket>,
    messages: *mut *mut sealwire_message,
    count: usize,
    timeout_ms: i64,
    sent: &mut usize,
) -> Result<(), Failure> {
    let socket = required(socket, "socket")?;
    let messages = items_mut(messages, count, "messages")?;
    let wait = Wait::from_ms(timeout_ms)?;
    for message in messages.iter() {
        object_mut(*message, "a message")?;
    }
    let mut queue = VecDeque::with_capacity(messages.len());
    for message in messages.iter() {
        queue.push_back(object_mut(*message, "a message")?.take_content());
    }
    let outcome = send_many(&socket.socket, &mut queue, wait);
    *sent = messages.len() - queue.len();
    let (gone, left) = messages.split_at_mut(*sent);
    for (message, content) in left.iter().zip(queue) {
        object_mut(*message, "a message")?.put_content_back(content);
    }
    for message in gone {
        drop(take(std::mem::replace(message, std::ptr::null_mut())));
    }
    Ok(outcome?)
}
