//! Bytes of the program's, and the function that frees them.
//!
//! It may call any function of this library. Where a message ends while a thread sends or receives, the thread holds
//! locks of the socket, so it calls the function once the call is over.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use libc::c_void;

/// What a program frees its bytes with, when the last message that holds them is gone. Any thread may call it.
pub type FreeFn = unsafe extern "C" fn(data: *mut c_void, hint: *mut c_void);

/// There were such bytes.
static ANY: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What the thread frees after its call; `None` outside of one.
    static AFTERWARDS: RefCell<Option<Vec<Freeing>>> = const { RefCell::new(None) };
}

/// The bytes of one message.
struct Foreign {
    data: *mut c_void,
    length: usize,
    freeing: Freeing,
}

#[derive(Clone, Copy)]
struct Freeing {
    data: *mut c_void,
    free: FreeFn,
    hint: *mut c_void,
}

impl Freeing {
    fn free(self) {
        // SAFETY: the program's function for the program's bytes, called once.
        unsafe { (self.free)(self.data, self.hint) }
    }
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
        let put_off = AFTERWARDS.try_with(|afterwards| {
            let mut afterwards = afterwards.try_borrow_mut().ok()?;
            afterwards.as_mut()?.push(self.freeing);
            Some(())
        });
        // Outside of a call, or as the thread ends.
        if !matches!(put_off, Ok(Some(()))) {
            self.freeing.free();
        }
    }
}

/// # Safety
///
/// `length` bytes are at `data` until `free` is called, for any thread to read, and any thread may call it.
pub(super) unsafe fn bytes(
    data: *mut c_void,
    length: usize,
    free: FreeFn,
    hint: *mut c_void,
) -> Bytes {
    ANY.store(true, Ordering::Relaxed);
    Bytes::from_owner(Foreign {
        data,
        length,
        freeing: Freeing { data, free, hint },
    })
}

/// A call that holds locks. The thread frees bytes of the program once this is dropped.
pub(crate) struct Call;

impl Call {
    /// `None` where there is nothing to free, or another call does it.
    #[inline]
    pub(crate) fn begin() -> Option<Self> {
        match ANY.load(Ordering::Relaxed) {
            true => Self::put_off(),
            false => None,
        }
    }

    fn put_off() -> Option<Self> {
        let begun = AFTERWARDS.try_with(|afterwards| {
            let mut afterwards = afterwards.try_borrow_mut().ok()?;
            afterwards.is_none().then(|| *afterwards = Some(Vec::new()))
        });
        begun.ok().flatten().map(|()| Call)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let put_off = AFTERWARDS.try_with(|afterwards| afterwards.borrow_mut().take());
        for freeing in put_off.ok().flatten().unwrap_or_default() {
            freeing.free();
        }
    }
}
