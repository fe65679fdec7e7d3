//! The only place where pointers from C are followed. Null and lengths that no memory has are refused. The
//! rest is the caller's word, given in the header for every argument: that the bytes are there, and that an
//! object was made by this library and not freed.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd};

use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_NULL};

fn null(name: &str) -> Failure {
    Failure::new(SEALWIRE_ERROR_NULL, format!("{name} is NULL"))
}

fn check_size(size: usize, name: &str) -> Result<(), Failure> {
    if isize::try_from(size).is_err() {
        let text =
            format!("{name} cannot have {size} bytes: no object is larger than half the memory");
        return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
    }
    Ok(())
}

/// An object that has to be there.
pub(crate) fn required<T>(object: Option<T>, name: &str) -> Result<T, Failure> {
    object.ok_or_else(|| null(name))
}

/// An object in a struct of the caller's; `None` for null.
pub(crate) fn object<'a, T>(object: *const T) -> Option<&'a T> {
    // SAFETY: null, or an object that this library made and the caller has not freed, as the header
    // says of the struct's field.
    unsafe { object.as_ref() }
}

/// A file descriptor of the caller's.
pub(crate) fn descriptor<'a>(fd: i32, name: &str) -> Result<BorrowedFd<'a>, Failure> {
    if fd < 0 {
        let text = format!("{name} is {fd}, which is not a file descriptor");
        return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
    }
    // SAFETY: not -1; it is only given to `poll` or duplicated, which both say so when nothing is open
    // behind it, and the caller keeps it open for the time of the call.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Closes a descriptor that the caller gave away.
pub(crate) fn close_descriptor(fd: i32) {
    // SAFETY: it was open when it was duplicated, and the header says that it is the library's now.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
}

/// Bytes to read. Without any the pointer may be null.
pub(crate) fn bytes<'a>(data: *const u8, size: usize, name: &str) -> Result<&'a [u8], Failure> {
    if size == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(null(name));
    }
    check_size(size, name)?;
    // SAFETY: not null; the caller says that `size` bytes are there for the time of the call, and
    // that nobody writes to them meanwhile.
    Ok(unsafe { std::slice::from_raw_parts(data, size) })
}

/// Bytes to change. Without any the pointer may be null.
pub(crate) fn bytes_mut<'a>(
    data: *mut u8,
    size: usize,
    name: &str,
) -> Result<&'a mut [u8], Failure> {
    if size == 0 {
        return Ok(&mut []);
    }
    if data.is_null() {
        return Err(null(name));
    }
    check_size(size, name)?;
    // SAFETY: not null; the caller says that `size` initialised bytes are there for the time of the
    // call, and that no other argument and no other thread uses them.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, size) })
}

/// Room for bytes, which are zero afterwards. Without any the pointer may be null.
pub(crate) fn zeroed<'a>(out: *mut u8, size: usize, name: &str) -> Result<&'a mut [u8], Failure> {
    if size > 0 {
        if out.is_null() {
            return Err(null(name));
        }
        check_size(size, name)?;
        // SAFETY: not null; the caller says that there is room for `size` bytes, which may hold
        // nothing yet.
        unsafe { out.write_bytes(0, size) };
    }
    bytes_mut(out, size, name)
}

fn check_items<T>(items: *const T, count: usize, name: &str) -> Result<(), Failure> {
    if items.is_null() {
        return Err(null(name));
    }
    if !items.is_aligned() {
        let text = format!("{name} is not aligned");
        return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
    }
    check_size(count.saturating_mul(size_of::<T>()), name)
}

/// An array of values to read.
pub(crate) fn items<'a, T>(items: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check_items(items, count, name)?;
    // SAFETY: not null and aligned; the caller says that `count` values are there for the time of
    // the call, and that nobody writes to them meanwhile.
    Ok(unsafe { std::slice::from_raw_parts(items, count) })
}

/// An array of objects to change.
pub(crate) fn items_mut<'a, T>(
    items: *mut T,
    count: usize,
    name: &str,
) -> Result<&'a mut [T], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_items(items, count, name)?;
    // SAFETY: not null and aligned; the caller says that `count` objects are there for the time of
    // the call, and that nobody else uses them.
    Ok(unsafe { std::slice::from_raw_parts_mut(items, count) })
}

/// Bytes of a fixed number to read.
pub(crate) fn array<'a, const N: usize>(
    data: *const u8,
    name: &str,
) -> Result<&'a [u8; N], Failure> {
    let bytes = bytes(data, N, name)?;
    bytes.first_chunk().ok_or_else(|| null(name))
}

/// Text in UTF-8 that ends with a zero octet.
pub(crate) fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not null; the caller says that a zero octet ends it and nobody writes to it meanwhile.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| {
        Failure::new(
            SEALWIRE_ERROR_ARGUMENT,
            format!("{name} is not text in UTF-8"),
        )
    })
}

/// The same where there need not be any.
pub(crate) fn optional_text<'a>(
    pointer: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    text(pointer, name).map(Some)
}

/// Where a result goes, once there is one.
pub(crate) struct Output<T>(*mut T);

impl<T> Output<T> {
    pub(crate) fn write(self, value: T) {
        // SAFETY: not null and aligned, as `output` and `array_output` see to; the caller says that
        // there is room, which may hold nothing yet.
        unsafe { self.0.write(value) };
    }
}

/// Room for a result.
pub(crate) fn output<T>(out: *mut T, name: &str) -> Result<Output<T>, Failure> {
    if out.is_null() {
        return Err(null(name));
    }
    if !out.is_aligned() {
        let text = format!("{name} is not aligned");
        return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
    }
    Ok(Output(out))
}

/// Room for a result that is not always wanted.
pub(crate) fn optional_output<T>(out: *mut T, name: &str) -> Result<Option<Output<T>>, Failure> {
    if out.is_null() {
        return Ok(None);
    }
    output(out, name).map(Some)
}

/// Room for `N` bytes.
pub(crate) fn array_output<const N: usize>(
    out: *mut u8,
    name: &str,
) -> Result<Output<[u8; N]>, Failure> {
    output(out.cast(), name)
}

/// Copies bytes to where there is room for them, which may be where they come from.
pub(crate) fn copy(from: &[u8], to: *mut u8, name: &str) -> Result<(), Failure> {
    if from.is_empty() {
        return Ok(());
    }
    if to.is_null() {
        return Err(null(name));
    }
    // SAFETY: `from` is readable, `to` is not null and the caller says that there is as much room;
    // they may overlap.
    unsafe { std::ptr::copy(from.as_ptr(), to, from.len()) };
    Ok(())
}

/// An object that goes to the caller, who frees it.
pub(crate) fn give<T>(object: T) -> *mut T {
    Box::into_raw(Box::new(object))
}

/// An object that a successful call takes from the caller, and one that fails leaves.
///
/// A pointer, and no reference: nothing behind an argument that is a reference may be freed before
/// the function returns.
pub(crate) fn object_mut<'a, T>(object: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: null, or an object that this library made, that the caller has not freed and that no
    // other thread uses, as the header says.
    unsafe { object.as_mut() }.ok_or_else(|| null(name))
}

/// Takes such an object back. References to it must not be used any more.
pub(crate) fn take<T>(object: *mut T) -> Box<T> {
    // SAFETY: not null, as `object_mut` saw to; every object came from `give`, and after this call
    // the caller has no right to it, as the header says of the function that calls this.
    unsafe { Box::from_raw(object) }
}

/// Text that goes to the caller, who frees it.
pub(crate) fn give_text(text: &str) -> *mut c_char {
    c_text(text).into_raw()
}

/// Text that came from [`give_text`].
pub(crate) fn take_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: not null, and the header says that only texts from this library come here, once.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Text for C. A zero octet inside is replaced: cut off there, one name would pass for another.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| {
        let text = text.replace('\0', "\u{FFFD}");
        CString::new(text).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_memory_is_refused() {
        let byte = 7_u8;
        assert!(bytes(&byte, usize::MAX, "data").is_err());
        assert!(bytes(std::ptr::null(), 1, "data").is_err());
        assert!(items_mut(std::ptr::null_mut::<u64>(), 1, "items").is_err());
        assert!(items(std::ptr::null::<u64>(), 1, "items").is_err());
        assert!(items(&7_u64, usize::MAX, "items").is_err());
        assert_eq!(items(&7_u64, 1, "items").ok(), Some(&[7][..]));
        assert!(
            items_mut(
                (&raw const byte).cast_mut().cast::<u64>(),
                usize::MAX,
                "items"
            )
            .is_err()
        );
        assert_eq!(bytes(std::ptr::null(), 0, "data").ok(), Some(&[][..]));
        assert_eq!(bytes(&byte, 1, "data").ok(), Some(&[7][..]));
    }

    #[test]
    fn a_zero_octet_does_not_cut_a_name() {
        assert_eq!(c_text("alice\0admin").to_str(), Ok("alice\u{FFFD}admin"));
    }

    #[test]
    fn text_is_checked() {
        assert!(text(c"gr\xFC\xDFe".as_ptr(), "name").is_err());
        assert!(text(std::ptr::null(), "name").is_err());
        assert_eq!(text(c"grüße".as_ptr(), "name").ok(), Some("grüße"));
    }
}
