//! The parts of a message, and what becomes of them.

use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;
use libc::{c_char, c_void};
use sealwire::{Frame, Peer};

use super::told::Told;
use crate::errno::Errno;

/// What a program frees its bytes with, when the last message that holds them is gone. Any thread may call it.
pub type FreeFn = unsafe extern "C" fn(data: *mut c_void, hint: *mut c_void);

const IN_PLACE: usize = 40;
const CHECK: u8 = 0xB5;

const MORE: u8 = 1;
const SHARED: u8 = 2;
/// The peer is a `Box<Told>`.
const TOLD: u8 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    None = 0,
    InPlace = 1,
    Vec = 2,
    Bytes = 3,
    Constant = 4,
}

/// The parts of a `Vec<u8>`.
#[derive(Clone, Copy)]
#[repr(C)]
struct VecParts {
    data: *mut u8,
    length: usize,
    capacity: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Constant {
    data: *const u8,
    length: usize,
}

#[repr(C)]
union Body {
    in_place: [u8; IN_PLACE],
    vec: VecParts,
    bytes: ManuallyDrop<Bytes>,
    constant: Constant,
}

/// A `zmq_msg_t`.
#[repr(C, align(8))]
pub struct Msg {
    peer: *const c_void,
    body: Body,
    _unused: [u8; 12],
    kind: Kind,
    length: u8,
    flags: u8,
    check: u8,
}

const _: () = assert!(size_of::<Msg>() == 64 && align_of::<Msg>() == 8);

/// Bytes of the program's.
struct Foreign {
    data: *mut c_void,
    length: usize,
    free: FreeFn,
    hint: *mut c_void,
}

// SAFETY: the program lets any thread read the bytes and call the function, by the contract of
// `zmq_msg_init_data`.
unsafe impl Send for Foreign {}

impl AsRef<[u8]> for Foreign {
    fn as_ref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: the program says that the bytes are there until it is told to free them.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.length) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: the program's function for the program's bytes, called once.
        unsafe { (self.free)(self.data, self.hint) }
    }
}

impl Msg {
    /// An empty message.
    pub const fn new() -> Self {
        Msg {
            peer: ptr::null(),
            body: Body {
                in_place: [0; IN_PLACE],
            },
            _unused: [0; 12],
            kind: Kind::InPlace,
            length: 0,
            flags: 0,
            check: CHECK,
        }
    }

    fn with(kind: Kind, body: Body) -> Self {
        Msg {
            kind,
            body,
            ..Msg::new()
        }
    }

    /// A message of `size` zeros, for the program to fill.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn of_size(size: usize) -> Result<Self, Errno> {
        if size <= IN_PLACE {
            let mut message = Msg::new();
            message.length = size as u8;
            return Ok(message);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Errno::NOMEM)?;
        bytes.resize(size, 0);
        Ok(Self::of_vec(bytes))
    }

    fn of_vec(bytes: Vec<u8>) -> Self {
        let mut bytes = ManuallyDrop::new(bytes);
        let vec = VecParts {
            data: bytes.as_mut_ptr(),
            length: bytes.len(),
            capacity: bytes.capacity(),
        };
        Self::with(Kind::Vec, Body { vec })
    }

    fn of_bytes(bytes: Bytes) -> Self {
        let bytes = ManuallyDrop::new(bytes);
        Self::with(Kind::Bytes, Body { bytes })
    }

    /// Bytes of the program's. Without a function to free them they live as long as the program.
    ///
    /// # Safety
    ///
    /// `length` bytes are at `data` until `free` is called, for any thread to read, and any thread may call it.
    pub(crate) unsafe fn of_foreign(
        data: *mut c_void,
        length: usize,
        free: Option<FreeFn>,
        hint: *mut c_void,
    ) -> Self {
        match free {
            Some(free) => Self::of_bytes(Bytes::from_owner(Foreign {
                data,
                length,
                free,
                hint,
            })),
            None => {
                let constant = Constant {
                    data: data.cast(),
                    length,
                };
                Self::with(Kind::Constant, Body { constant })
            }
        }
    }

    /// A part of a message that came.
    pub(crate) fn received(part: Frame, peer: Option<Arc<Peer>>, more: bool) -> Self {
        let mut message = if part.len() <= IN_PLACE {
            let mut message = Msg::new();
            let mut in_place = [0; IN_PLACE];
            in_place[..part.len()].copy_from_slice(&part);
            message.body = Body { in_place };
            message.length = part.len() as u8;
            message
        } else {
            Self::of_bytes(part.into_bytes())
        };
        message.peer = peer.map_or(ptr::null(), |peer| Arc::into_raw(peer).cast());
        message.flags = if more { MORE } else { 0 };
        message
    }

    /// Whether there is a message. Memory that was never a message may look like one, as anywhere in C.
    pub(crate) fn is_one(&self) -> bool {
        self.check == CHECK
    }

    /// The size of the body, in bytes.
    pub fn size(&self) -> usize {
        match self.kind {
            Kind::None => 0,
            Kind::InPlace => usize::from(self.length),
            // SAFETY: of this kind.
            Kind::Vec => unsafe { self.body.vec.length },
            // SAFETY: of this kind.
            Kind::Bytes => unsafe { self.body.bytes.len() },
            // SAFETY: of this kind.
            Kind::Constant => unsafe { self.body.constant.length },
        }
    }

    /// Where the bytes are. Those that were received, or are shared, are not to be written.
    pub(crate) fn data(&mut self) -> *mut c_void {
        match self.kind {
            Kind::None => ptr::null_mut(),
            Kind::InPlace => (&raw mut self.body).cast(),
            // SAFETY: of this kind.
            Kind::Vec => unsafe { self.body.vec.data.cast() },
            // SAFETY: of this kind.
            Kind::Bytes => unsafe { self.body.bytes.as_ptr().cast_mut().cast() },
            // SAFETY: of this kind.
            Kind::Constant => unsafe { self.body.constant.data.cast_mut().cast() },
        }
    }

    /// The body.
    pub fn as_bytes(&self) -> &[u8] {
        match self.kind {
            Kind::None => &[],
            // SAFETY: of this kind; no more are used than are there.
            Kind::InPlace => unsafe { &self.body.in_place[..usize::from(self.length)] },
            // SAFETY: of this kind; the parts of a vector that lives as long as the message.
            Kind::Vec => unsafe {
                std::slice::from_raw_parts(self.body.vec.data, self.body.vec.length)
            },
            // SAFETY: of this kind.
            Kind::Bytes => unsafe { &self.body.bytes },
            Kind::Constant => {
                // SAFETY: of this kind.
                let constant = unsafe { self.body.constant };
                match constant.length {
                    0 => &[],
                    // SAFETY: the program says that they live as long as it does.
                    length => unsafe { std::slice::from_raw_parts(constant.data, length) },
                }
            }
        }
    }

    /// Whether more parts follow.
    pub fn more(&self) -> bool {
        self.flags & MORE != 0
    }

    /// Whether other messages have the same bytes, or they are constant.
    pub(crate) fn is_shared(&self) -> bool {
        self.flags & SHARED != 0 || self.kind == Kind::Constant
    }

    /// Takes the body as a part to send, and leaves an empty message.
    pub(crate) fn take(&mut self) -> Frame {
        let frame = match self.kind {
            Kind::None | Kind::InPlace => Frame::copy_from_slice(self.as_bytes()),
            Kind::Constant => Frame::copy_from_slice(self.as_bytes()),
            Kind::Vec => {
                // SAFETY: of this kind; the kind is taken away below.
                let vec = unsafe { self.body.vec };
                self.kind = Kind::None;
                // SAFETY: the parts of a vector, given away once.
                let bytes = unsafe { Vec::from_raw_parts(vec.data, vec.length, vec.capacity) };
                Frame::from(bytes)
            }
            Kind::Bytes => {
                self.kind = Kind::None;
                // SAFETY: it was of this kind, and is taken once.
                Frame::from(unsafe { ManuallyDrop::take(&mut self.body.bytes) })
            }
        };
        self.clear();
        *self = Msg::new();
        frame
    }

    /// Another message of the same bytes.
    pub(crate) fn share(&mut self) -> Self {
        let mut copy = match self.kind {
            Kind::None => Msg::new(),
            Kind::InPlace | Kind::Constant => Msg {
                kind: self.kind,
                length: self.length,
                // SAFETY: plain bytes, of which there may be copies.
                body: unsafe { ptr::read(&raw const self.body) },
                ..Msg::new()
            },
            Kind::Vec => {
                // SAFETY: of this kind; the body is replaced before anything else is done with it.
                let vec = unsafe { self.body.vec };
                // SAFETY: the parts of a vector, given away once.
                let bytes = unsafe { Vec::from_raw_parts(vec.data, vec.length, vec.capacity) };
                let bytes = Bytes::from(bytes);
                self.kind = Kind::Bytes;
                self.body.bytes = ManuallyDrop::new(bytes.clone());
                Self::of_bytes(bytes)
            }
            // SAFETY: of this kind.
            Kind::Bytes => Self::of_bytes(Bytes::clone(unsafe { &self.body.bytes })),
        };
        if matches!(self.kind, Kind::Bytes) {
            self.flags |= SHARED;
        }
        copy.flags = self.flags & (MORE | SHARED);
        copy.peer = self
            .peer()
            .map_or(ptr::null(), |peer| Arc::into_raw(peer).cast());
        copy
    }

    /// Whom it came from.
    fn peer(&self) -> Option<Arc<Peer>> {
        if self.peer.is_null() {
            return None;
        }
        if self.flags & TOLD != 0 {
            // SAFETY: a `Box<Told>` by the flag, which this message owns.
            return Some(unsafe { &(*self.peer.cast::<Told>()).peer }.clone());
        }
        // SAFETY: what an `Arc<Peer>` that this message owns was made into; it stays with the message.
        let peer = ManuallyDrop::new(unsafe { Arc::from_raw(self.peer.cast::<Peer>()) });
        Some(Arc::clone(&peer))
    }

    /// The number of the descriptor that it came through, where there is one.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        self.peer()?.descriptor()
    }

    /// A property of the peer, as text that lives as long as the message.
    pub(crate) fn property(&mut self, name: &str) -> Option<*const c_char> {
        let peer = self.peer()?;
        if self.flags & TOLD == 0 {
            let told = Box::into_raw(Box::new(Told::of(peer)));
            self.clear_peer();
            self.peer = told.cast();
            self.flags |= TOLD;
        }
        // SAFETY: a `Box<Told>` by the flag, which this message owns, and nobody else has.
        let told = unsafe { &mut *self.peer.cast_mut().cast::<Told>() };
        told.property(name)
    }

    fn clear_peer(&mut self) {
        let peer = mem::replace(&mut self.peer, ptr::null());
        if peer.is_null() {
            return;
        }
        if self.flags & TOLD != 0 {
            self.flags &= !TOLD;
            // SAFETY: a `Box<Told>` by the flag, given back once.
            drop(unsafe { Box::from_raw(peer.cast_mut().cast::<Told>()) });
        } else {
            // SAFETY: an `Arc<Peer>` that the message owned, given back once.
            drop(unsafe { Arc::from_raw(peer.cast::<Peer>()) });
        }
    }

    fn clear(&mut self) {
        self.clear_peer();
        match mem::replace(&mut self.kind, Kind::None) {
            Kind::None | Kind::InPlace | Kind::Constant => {}
            Kind::Vec => {
                // SAFETY: it was of this kind.
                let vec = unsafe { self.body.vec };
                // SAFETY: the parts of a vector, given back once.
                drop(unsafe { Vec::from_raw_parts(vec.data, vec.length, vec.capacity) });
            }
            // SAFETY: it was of this kind, and is dropped once.
            Kind::Bytes => unsafe { ManuallyDrop::drop(&mut self.body.bytes) },
        }
    }
}

impl Default for Msg {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Msg {
    fn drop(&mut self) {
        self.clear();
        self.check = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    static FREED: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn count(_data: *mut c_void, hint: *mut c_void) {
        FREED.fetch_add(hint.addr(), Ordering::SeqCst);
    }

    fn text(message: &Msg) -> &[u8] {
        message.as_bytes()
    }

    #[test]
    fn sizes_on_both_sides_of_each_limit_are_sent_and_received() {
        // Miri takes a minute for the larger one.
        let largest = if cfg!(miri) { 5_000 } else { 100_000 };
        for size in [0, 1, 39, 40, 41, 70, 71, 4_096, largest] {
            let bytes: Vec<u8> = (0..size).map(|number| number as u8).collect();
            let mut received = Msg::received(Frame::copy_from_slice(&bytes), None, true);
            assert!(received.is_one() && received.more() && received.size() == size);
            assert_eq!(text(&received), bytes);
            let mut copy = received.share();
            assert!(copy.more());
            assert_eq!(received.take().as_slice(), bytes);
            assert!(received.is_one() && received.size() == 0 && !received.more());
            assert_eq!(copy.take().as_slice(), bytes);
            let mut written = Msg::of_size(size).unwrap();
            assert_eq!(text(&written), vec![0; size]);
            let data = written.data();
            // SAFETY: as many bytes as it was made for.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), size) };
            assert_eq!(written.take().as_slice(), bytes);
        }
    }

    #[test]
    fn bytes_of_the_program_are_freed_once_with_the_last_message() {
        let mut bytes = [7_u8; 200];
        let hint = ptr::without_provenance_mut(3);
        // SAFETY: the bytes outlive the messages.
        let mut message =
            unsafe { Msg::of_foreign(bytes.as_mut_ptr().cast(), 200, Some(count), hint) };
        assert!(!message.is_shared());
        let copy = message.share();
        assert!(message.is_shared() && copy.is_shared());
        let frame = message.take();
        drop(copy);
        assert_eq!(FREED.load(Ordering::SeqCst), 0);
        drop(frame);
        assert_eq!(FREED.load(Ordering::SeqCst), 3);
        // SAFETY: as above; without a function they live as long as the program.
        let constant =
            unsafe { Msg::of_foreign(bytes.as_mut_ptr().cast(), 200, None, ptr::null_mut()) };
        assert!(constant.is_shared());
    }

    #[test]
    fn a_size_that_no_memory_has_is_refused() {
        assert_eq!(Msg::of_size(usize::MAX).err(), Some(Errno::NOMEM));
        assert!(Msg::of_size(isize::MAX as usize).is_err());
    }
}
