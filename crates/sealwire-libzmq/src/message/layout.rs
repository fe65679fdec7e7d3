//! The parts of a message, and what becomes of them.

use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;
use libc::{c_char, c_void};
use sealwire::{Frame, Peer};
use sealwire_zmtp::Frames;

use super::foreign::{self, FreeFn};
use super::heap::Heap;
use super::told::Told;
use crate::errno::Errno;

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
    Heap = 2,
    Bytes = 3,
    Constant = 4,
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
    heap: Heap,
    bytes: ManuallyDrop<Bytes>,
    constant: Constant,
}

/// A `zmq_msg_t`.
#[repr(C, align(8))]
pub struct Msg {
    peer: *const c_void,
    body: Body,
    /// A `CString`, or null.
    pub(super) group: *mut c_char,
    pub(super) routing_id: u32,
    _unused: [u8; 8 - size_of::<*mut c_char>()],
    kind: Kind,
    length: u8,
    flags: u8,
    check: u8,
}

const _: () = assert!(size_of::<Msg>() == 64 && align_of::<Msg>() == 8);

impl Msg {
    /// An empty message.
    pub const fn new() -> Self {
        Msg {
            peer: ptr::null(),
            body: Body {
                in_place: [0; IN_PLACE],
            },
            group: ptr::null_mut(),
            routing_id: 0,
            _unused: [0; 8 - size_of::<*mut c_char>()],
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

    /// Makes the memory a message of `size` bytes, for the program to fill. Anything there counts for nothing.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    ///
    /// # Safety
    ///
    /// The memory of a message.
    #[inline]
    pub(crate) unsafe fn begin(place: *mut Msg, size: usize) -> Result<(), Errno> {
        // Field by field: a message that is made elsewhere and copied here costs three times that.
        let (kind, length) = match size {
            ..=IN_PLACE => (Kind::InPlace, size as u8),
            _ => {
                let heap = Heap::of_size(size)?;
                // SAFETY: the memory of a message, as the caller says.
                unsafe { (&raw mut (*place).body.heap).write(heap) };
                (Kind::Heap, 0)
            }
        };
        // SAFETY: as above.
        unsafe {
            (&raw mut (*place).peer).write(ptr::null());
            (&raw mut (*place).group).write(ptr::null_mut());
            (&raw mut (*place).routing_id).write(0);
            (&raw mut (*place).kind).write(kind);
            (&raw mut (*place).length).write(length);
            (&raw mut (*place).flags).write(0);
            (&raw mut (*place).check).write(CHECK);
        }
        Ok(())
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
            // SAFETY: as the caller says.
            Some(free) => Self::of_bytes(unsafe { foreign::bytes(data, length, free, hint) }),
            None => {
                let constant = Constant {
                    data: data.cast(),
                    length,
                };
                Self::with(Kind::Constant, Body { constant })
            }
        }
    }

    /// Ends the message, and makes it one of a part that came.
    #[inline]
    pub(crate) fn fill(&mut self, part: &mut Frame, peer: Option<Arc<Peer>>, more: bool) {
        self.clear();
        let size = part.len();
        if size <= IN_PLACE {
            self.kind = Kind::InPlace;
            self.length = size as u8;
            let body = (&raw mut self.body).cast::<u8>();
            // SAFETY: the body has room for as many.
            unsafe { ptr::copy_nonoverlapping(part.as_ptr(), body, size) };
        } else if size <= Frame::INLINE {
            self.body.heap = Heap::of(part);
            self.kind = Kind::Heap;
        } else {
            self.kind = Kind::Bytes;
            self.body.bytes = ManuallyDrop::new(mem::take(part).into_bytes());
        }
        self.peer = peer.map_or(ptr::null(), |peer| Arc::into_raw(peer).cast());
        self.flags = if more { MORE } else { 0 };
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
            Kind::Heap => unsafe { self.body.heap.length },
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
            Kind::Heap => unsafe { self.body.heap.data.cast() },
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
            // SAFETY: of this kind; it lives as long as the message, and the program has filled it.
            Kind::Heap => unsafe { self.body.heap.as_slice() },
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
    #[inline]
    pub(crate) fn take_into(&mut self, part: &mut Frames) {
        match self.kind {
            Kind::Heap if self.size() > Frame::INLINE => {
                self.kind = Kind::None;
                // SAFETY: it was of this kind, and is taken once.
                *part = Frames::single(unsafe { self.body.heap.into_vec() });
            }
            Kind::Bytes => {
                self.kind = Kind::None;
                // SAFETY: it was of this kind, and is taken once.
                *part = Frames::single(unsafe { ManuallyDrop::take(&mut self.body.bytes) });
            }
            _ => part.refill(self.as_bytes()),
        }
        self.clear();
        self.kind = Kind::InPlace;
        self.length = 0;
        self.flags = 0;
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
            Kind::Heap => {
                // SAFETY: of this kind; the body is replaced before anything else is done with it.
                let bytes = unsafe { self.body.heap.into_vec() };
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
        copy.set_address(self.address());
        copy.peer = self
            .peer()
            .map_or(ptr::null(), |peer| Arc::into_raw(peer).cast());
        copy
    }

    /// Whom it came from.
    pub(super) fn peer(&self) -> Option<Arc<Peer>> {
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

    #[inline]
    fn clear_peer(&mut self) {
        if !self.peer.is_null() {
            self.release_peer();
        }
    }

    fn release_peer(&mut self) {
        let peer = mem::replace(&mut self.peer, ptr::null());
        if self.flags & TOLD != 0 {
            self.flags &= !TOLD;
            // SAFETY: a `Box<Told>` by the flag, given back once.
            drop(unsafe { Box::from_raw(peer.cast_mut().cast::<Told>()) });
        } else {
            // SAFETY: an `Arc<Peer>` that the message owned, given back once.
            drop(unsafe { Arc::from_raw(peer.cast::<Peer>()) });
        }
    }

    /// Frees what it holds.
    pub(crate) fn empty(&mut self) {
        let none = &mut Frame::new();
        self.fill(none, None, false);
    }

    #[inline]
    fn clear(&mut self) {
        self.clear_peer();
        self.routing_id = 0;
        if !self.group.is_null() {
            drop(self.take_address());
        }
        match mem::replace(&mut self.kind, Kind::None) {
            Kind::None | Kind::InPlace | Kind::Constant => {}
            // SAFETY: it was of this kind, and is given back once.
            Kind::Heap => unsafe { self.body.heap.free() },
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

    fn of_size(size: usize) -> Msg {
        let mut message = Msg::new();
        // SAFETY: a message that holds nothing.
        unsafe { Msg::begin(&raw mut message, size) }.unwrap();
        message
    }

    fn taken(message: &mut Msg) -> Vec<u8> {
        let mut part = Frames::single(Frame::new());
        message.take_into(&mut part);
        part.frames()[0].to_vec()
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
            let mut received = Msg::new();
            received.fill(&mut Frame::copy_from_slice(&bytes), None, true);
            assert!(received.is_one() && received.more() && received.size() == size);
            assert_eq!(text(&received), bytes);
            let mut copy = received.share();
            assert!(copy.more());
            assert_eq!(taken(&mut received), bytes);
            assert!(received.is_one() && received.size() == 0 && !received.more());
            assert_eq!(taken(&mut copy), bytes);
            let mut written = of_size(size);
            assert_eq!(written.size(), size);
            let data = written.data();
            // SAFETY: as many bytes as it was made for.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), size) };
            assert_eq!(taken(&mut written), bytes);
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
        let mut frame = Frames::new();
        message.take_into(&mut frame);
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
        for size in [usize::MAX, isize::MAX as usize] {
            let mut message = Msg::new();
            // SAFETY: a message that holds nothing.
            let begun = unsafe { Msg::begin(&raw mut message, size) };
            assert_eq!(begun, Err(Errno::NOMEM));
            assert_eq!(message.size(), 0);
        }
    }
}
