//! Messages: one or more frames, without copies where that is asked for.

use std::ffi::c_void;

use bytes::Bytes;
use sealwire::{Frame, Message};

use crate::panics::{free, guard, value};
use crate::peer::{LazyPeer, PeerSource, sealwire_peer};
use crate::pointers::{bytes, give, output, required};
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_MESSAGE, sealwire_status};

/// A message: one or more frames of bytes, and for one that was received, who sent it. It may be
/// kept after its socket was freed.
///
/// Threads: one at a time; reading alone is fine from several.
pub struct sealwire_message {
    message: Message,
    peer: LazyPeer,
}

impl sealwire_message {
    pub(crate) fn new(message: Message) -> Self {
        sealwire_message {
            message,
            peer: LazyPeer::default(),
        }
    }

    /// Takes the content out, to be sent.
    pub(crate) fn take_content(&mut self) -> Message {
        std::mem::replace(&mut self.message, nothing())
    }

    /// Puts back what could not be sent.
    pub(crate) fn put_content_back(&mut self, message: Message) {
        self.message = message;
    }
}

fn nothing() -> Message {
    Message::multipart::<Frame>([])
}

/// Frees a buffer that was handed to a message. Called exactly once, on any thread, when nobody reads
/// it any more. It must not throw, and must not wait for this library.
pub type sealwire_free_fn = Option<extern "C" fn(data: *mut c_void, hint: *mut c_void)>;

/// A buffer of the caller's that a message holds.
struct Buffer {
    data: *mut u8,
    size: usize,
    free: sealwire_free_fn,
    hint: *mut c_void,
}

// SAFETY: the header says that nobody changes the bytes before the buffer is freed, and that it may
// be freed on any thread.
unsafe impl Send for Buffer {}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        // The arguments were checked when the buffer was taken.
        bytes(self.data, self.size, "data").unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            free(self.data.cast(), self.hint);
        }
    }
}

fn frame(data: *const c_void, size: usize) -> Result<Frame, Failure> {
    Ok(Frame::copy_from_slice(bytes(data.cast(), size, "data")?))
}

fn frame_of_buffer(
    data: *mut c_void,
    size: usize,
    free: sealwire_free_fn,
    hint: *mut c_void,
) -> Result<Frame, Failure> {
    bytes(data.cast(), size, "data")?;
    let owner = Buffer {
        data: data.cast(),
        size,
        free,
        hint,
    };
    Ok(Frame::from(Bytes::from_owner(owner)))
}

/// A message without frames, to add some. Free it with `sealwire_message_free`, unless it was sent.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_new(out: *mut *mut sealwire_message) -> sealwire_status {
    guard(|| {
        output(out, "out")?.write(give(sealwire_message::new(nothing())));
        Ok(())
    })
}

/// A message of one frame with a copy of `size` bytes.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_from_bytes(
    data: *const c_void,
    size: usize,
    out: *mut *mut sealwire_message,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let message = Message::from(frame(data, size)?);
        out.write(give(sealwire_message::new(message)));
        Ok(())
    })
}

/// A message of one frame that is the caller's buffer, without a copy. libzmq's `zmq_msg_init_data`.
///
/// After success the buffer belongs to the library until `free_fn(data, hint)` is called: once, on
/// any thread, perhaps before this returns. Nobody may change it before that. With a `free_fn` of
/// NULL it has to stay for as long as the process runs. After an error it is still the caller's.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_from_buffer(
    data: *mut c_void,
    size: usize,
    free_fn: sealwire_free_fn,
    hint: *mut c_void,
    out: *mut *mut sealwire_message,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let message = Message::from(frame_of_buffer(data, size, free_fn, hint)?);
        out.write(give(sealwire_message::new(message)));
        Ok(())
    })
}

/// Another handle to the same bytes: frames of more than 70 bytes are shared, not copied.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_clone(
    message: Option<&sealwire_message>,
    out: *mut *mut sealwire_message,
) -> sealwire_status {
    guard(|| {
        let message = required(message, "message")?;
        let out = output(out, "out")?;
        out.write(give(sealwire_message::new(message.message.clone())));
        Ok(())
    })
}

/// Adds a frame with a copy of `size` bytes behind the others. Pointers to the frames' bytes that
/// were had before are no longer valid.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_add(
    message: Option<&mut sealwire_message>,
    data: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let message = required(message, "message")?;
        message.message.push_back(frame(data, size)?);
        Ok(())
    })
}

/// Adds a frame that is the caller's buffer behind the others; the buffer as in
/// `sealwire_message_from_buffer`.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_add_buffer(
    message: Option<&mut sealwire_message>,
    data: *mut c_void,
    size: usize,
    free_fn: sealwire_free_fn,
    hint: *mut c_void,
) -> sealwire_status {
    guard(|| {
        let message = required(message, "message")?;
        let frame = frame_of_buffer(data, size, free_fn, hint)?;
        message.message.push_back(frame);
        Ok(())
    })
}

/// A message for a SERVER or PEER socket to send to the connection of this routing id
/// (`sealwire_message_routing_id`, `sealwire_peer_connection_routing_id`), with a copy of `size` bytes.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_with_routing_id(
    routing_id: u32,
    data: *const c_void,
    size: usize,
    out: *mut *mut sealwire_message,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let message = Message::with_routing_id(routing_id, frame(data, size)?);
        out.write(give(sealwire_message::new(message)));
        Ok(())
    })
}

/// A message for a RADIO socket to send to a group of 1 to 255 bytes, with a copy of `size` bytes.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_to_group(
    group: *const c_void,
    group_size: usize,
    data: *const c_void,
    size: usize,
    out: *mut *mut sealwire_message,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let group = bytes(group.cast(), group_size, "group")?;
        if group.is_empty() || group.len() > 255 {
            let text = "a group has a name of 1 to 255 bytes";
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        let message = Message::to_group(group, frame(data, size)?);
        out.write(give(sealwire_message::new(message)));
        Ok(())
    })
}

/// How many frames the message has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_frames(message: Option<&sealwire_message>) -> usize {
    message.map_or(0, |message| message.message.len())
}

/// The bytes of a frame, counted from 0, whose number `sealwire_message_frame_size` gives. NULL when
/// there is no such frame. They belong to the message and are valid until it is changed, sent or
/// freed.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_frame(
    message: Option<&sealwire_message>,
    index: usize,
) -> *const c_void {
    let frame = message.and_then(|message| message.message.frame(index));
    frame.map_or(std::ptr::null(), |frame| frame.as_ptr().cast())
}

/// How many bytes a frame has, counted from 0; 0 when there is no such frame.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_frame_size(
    message: Option<&sealwire_message>,
    index: usize,
) -> usize {
    let frame = message.and_then(|message| message.message.frame(index));
    frame.map_or(0, <[u8]>::len)
}

/// The bytes of the last frame, which is the only one of most messages, and the payload behind an
/// envelope, topic or group of others. NULL when there is no frame. Valid as those of
/// `sealwire_message_frame`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_data(message: Option<&sealwire_message>) -> *const c_void {
    let last = sealwire_message_frames(message).wrapping_sub(1);
    sealwire_message_frame(message, last)
}

/// How many bytes the last frame has; 0 when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_size(message: Option<&sealwire_message>) -> usize {
    let last = sealwire_message_frames(message).wrapping_sub(1);
    sealwire_message_frame_size(message, last)
}

/// SERVER and PEER: the routing id of the connection that the message came through, to answer with
/// `sealwire_message_with_routing_id`.
///
/// Errors: `SEALWIRE_ERROR_MESSAGE` when the message has no such number, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_routing_id(
    message: Option<&sealwire_message>,
    routing_id: *mut u32,
) -> sealwire_status {
    guard(|| {
        let message = required(message, "message")?;
        let out = output(routing_id, "routing_id")?;
        let routing_id = message.message.routing_id().ok_or_else(|| {
            let text = "the message was not received by a SERVER or PEER socket";
            Failure::new(SEALWIRE_ERROR_MESSAGE, text)
        })?;
        out.write(routing_id);
        Ok(())
    })
}

/// The peer that sent a message; NULL for messages made here. Belongs to the message.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_peer(
    message: Option<&sealwire_message>,
) -> *const sealwire_peer {
    value(std::ptr::null(), || {
        message.map_or(std::ptr::null(), |message| {
            message
                .peer
                .get(|| message.message.peer().cloned().map(PeerSource::Peer))
        })
    })
}

/// Frees a message. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_message_free(message: Option<Box<sealwire_message>>) {
    free(message);
}
