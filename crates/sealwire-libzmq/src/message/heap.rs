//! Bytes of a message on the heap.

use std::alloc::{self, Layout};
use std::mem::ManuallyDrop;

use crate::errno::Errno;

/// The parts of a `Vec<u8>` that is full, or that the program fills before it reads or sends it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Heap {
    pub(super) data: *mut u8,
    pub(super) length: usize,
}

impl Heap {
    /// # Errors
    ///
    /// `ENOMEM`.
    #[inline]
    pub(super) fn of_size(length: usize) -> Result<Self, Errno> {
        let layout = Layout::array::<u8>(length).map_err(|_| Errno::NOMEM)?;
        // SAFETY: a message of that many bytes is longer than none.
        let data = unsafe { alloc::alloc(layout) };
        match data.is_null() {
            true => Err(Errno::NOMEM),
            false => Ok(Heap { data, length }),
        }
    }

    /// A copy.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut bytes = ManuallyDrop::new(Box::<[u8]>::from(bytes));
        Heap {
            data: bytes.as_mut_ptr(),
            length: bytes.len(),
        }
    }

    /// # Safety
    ///
    /// Given away once, and filled.
    #[inline]
    pub(super) unsafe fn into_vec(self) -> Vec<u8> {
        // SAFETY: allocated with this length by the same allocator, as the caller says once.
        unsafe { Vec::from_raw_parts(self.data, self.length, self.length) }
    }

    /// # Safety
    ///
    /// As long as it was not given away, and filled.
    #[inline]
    pub(super) unsafe fn as_slice<'a>(self) -> &'a [u8] {
        // SAFETY: as many bytes, which are there and filled, as the caller says.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }

    /// # Safety
    ///
    /// Given back once.
    #[inline]
    pub(super) unsafe fn free(self) {
        if let Ok(layout) = Layout::array::<u8>(self.length) {
            // SAFETY: allocated with this layout, and given back once, as the caller says.
            unsafe { alloc::dealloc(self.data, layout) }
        }
    }
}
