//! Handles of things that are not sockets: each starts with a number, so that one that is null or points to
//! something else is refused.

use libc::c_void;

use crate::errno::Errno;

/// What a handle may stand for.
pub(super) trait Tag {
    /// What the memory starts with; different for every type.
    const TAG: u64;
}

#[repr(C)]
struct Tagged<T> {
    tag: u64,
    value: T,
}

/// Returns a handle, which [`take`] ends.
pub(super) fn give<T: Tag>(value: T) -> *mut c_void {
    let tag = T::TAG;
    Box::into_raw(Box::new(Tagged { tag, value })).cast()
}

/// Returns what stands behind a handle: `EFAULT` if there is nothing like it.
///
/// # Safety
///
/// A handle that is not null points to eight bytes that can be read, and nobody takes it meanwhile.
pub(super) unsafe fn borrow<'a, T: Tag>(handle: *mut c_void) -> Result<&'a T, Errno> {
    let tagged = check::<T>(handle)?;
    // SAFETY: the number says that `give` made it, and the caller that nobody takes it.
    Ok(unsafe { &(*tagged).value })
}

/// Ends a handle. The number is gone before the memory is.
///
/// # Safety
///
/// That of [`borrow`].
pub(super) unsafe fn take<T: Tag>(handle: *mut c_void) -> Result<T, Errno> {
    let tagged = check::<T>(handle)?;
    // SAFETY: the number says that `give` made it; volatile, as nothing reads it before it is freed.
    unsafe { (&raw mut (*tagged).tag).write_volatile(0) };
    // SAFETY: as above, and no handle is valid twice.
    Ok(unsafe { Box::from_raw(tagged) }.value)
}

fn check<T: Tag>(handle: *mut c_void) -> Result<*mut Tagged<T>, Errno> {
    if handle.is_null() || !handle.cast::<u64>().is_aligned() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null, aligned, and the caller of both functions above says that eight bytes are there.
    if unsafe { handle.cast::<u64>().read() } != T::TAG {
        return Err(Errno::FAULT);
    }
    Ok(handle.cast())
}
