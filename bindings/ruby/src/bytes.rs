//! The bytes of Ruby strings, read and written where they are.
//!
//! Ruby may move or change a string whenever it runs, so nothing in here runs it while it looks at
//! bytes, and what callers do with them may not either: they are given slices, never values.

use magnus::rb_sys::AsRawValue as _;
use magnus::{Error, RString, Ruby};
use rb_sys::{RSTRING_LEN, RSTRING_PTR};
use sealwire_aead::TAG_SIZE;

use crate::errors;

/// Looks at the bytes of a string. `look` must not call into Ruby.
pub(crate) fn with<T>(string: RString, look: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: the lock of the interpreter is held, as a string can be had no other way, and is not
    // let go before `look` has returned, so nothing changes or moves the string meanwhile. A string
    // that other Ractors can see is frozen.
    look(unsafe { string.as_slice() })
}

/// The bytes of a string that must have `N` of them, and is called `name` when it has not.
pub(crate) fn array<const N: usize>(
    ruby: &Ruby,
    string: RString,
    name: &str,
) -> Result<[u8; N], Error> {
    with(string, |bytes| bytes.try_into()).map_err(|_| {
        let problem = format!("{name} must have {N} bytes, this has {}", string.len());
        errors::new(ruby, ruby.exception_arg_error(), problem)
    })
}

/// The bytes of a string that may be missing.
fn with_optional<T>(string: Option<RString>, look: impl FnOnce(&[u8]) -> T) -> T {
    match string {
        Some(string) => with(string, look),
        None => look(b""),
    }
}

/// A string that is not finished: of the size that it will have, with no bytes yet.
struct Unfinished {
    string: RString,
    size: usize,
}

impl Unfinished {
    fn new(ruby: &Ruby, size: usize) -> Self {
        Self {
            string: ruby.str_buf_new(size),
            size,
        }
    }

    /// Writes the string's bytes, which are `source` and zeros to begin with, in place. `write` must
    /// not call into Ruby.
    fn write<T>(&mut self, source: &[u8], write: impl FnOnce(&mut [u8]) -> T) -> T {
        let taken = source.len().min(self.size);
        // SAFETY: the string was made here with room for `size` bytes, and no other code has it.
        // Each of its bytes is initialised before a slice is made. As in `with`, nothing moves it.
        // `source` is the content of another string or of none.
        let bytes = unsafe {
            let start = RSTRING_PTR(self.string.as_raw()).cast_mut().cast::<u8>();
            start.copy_from_nonoverlapping(source.as_ptr(), taken);
            start.add(taken).write_bytes(0, self.size - taken);
            std::slice::from_raw_parts_mut(start, self.size)
        };
        write(bytes)
    }

    fn finish(self) -> RString {
        // SAFETY: no more than the room that the string was made with, all of it written.
        unsafe { rb_sys::rb_str_set_len(self.string.as_raw(), self.size as _) };
        debug_assert_eq!(
            self.size,
            // SAFETY: reads the length of a string.
            unsafe { RSTRING_LEN(self.string.as_raw()) } as usize
        );
        self.string
    }

    /// Gives the memory back at once, not when the garbage is collected: a forger could otherwise
    /// make a lot of it.
    fn abandon(self) {
        // SAFETY: makes a string that nobody else has shorter, which does not raise.
        unsafe { rb_sys::rb_str_resize(self.string.as_raw(), 0) };
    }
}

/// A new string of `size` bytes: those of `source`, then zeros, changed in place by `work`. It is
/// the only copy that is made. `work` gets the associated data first, and must not call into Ruby.
pub(crate) fn changed<T>(
    ruby: &Ruby,
    source: RString,
    size: usize,
    aad: Option<RString>,
    work: impl FnOnce(&[u8], &mut [u8]) -> T,
) -> (RString, T) {
    let mut target = Unfinished::new(ruby, size);
    let outcome = with(source, |source| {
        with_optional(aad, |aad| target.write(source, |bytes| work(aad, bytes)))
    });
    (target.finish(), outcome)
}

/// As [`changed`] for a ciphertext with its tag behind it: `work` gets the associated data, the
/// ciphertext and the tag, and says whether they are authentic. `None` when they are not.
pub(crate) fn opened(
    ruby: &Ruby,
    sealed: RString,
    aad: Option<RString>,
    work: impl FnOnce(&[u8], &mut [u8], &[u8; TAG_SIZE]) -> bool,
) -> Option<RString> {
    let size = sealed.len().checked_sub(TAG_SIZE)?;
    let tag = with(sealed, |sealed| sealed.last_chunk().copied())?;
    opened_detached(ruby, sealed, size, aad, |aad, bytes| work(aad, bytes, &tag))
}

/// As [`opened`], of the first `size` bytes of `text`, with the tag elsewhere.
pub(crate) fn opened_detached(
    ruby: &Ruby,
    text: RString,
    size: usize,
    aad: Option<RString>,
    work: impl FnOnce(&[u8], &mut [u8]) -> bool,
) -> Option<RString> {
    let mut target = Unfinished::new(ruby, size);
    let authentic = with(text, |text| {
        with_optional(aad, |aad| target.write(text, |bytes| work(aad, bytes)))
    });
    if authentic {
        Some(target.finish())
    } else {
        target.abandon();
        None
    }
}

/// A message of a batch: its nonce is the caller's business.
pub(crate) struct Source {
    pub(crate) text: RString,
    pub(crate) aad: Option<RString>,
}

/// New strings, one for each source and `extra` bytes longer (or shorter), changed in place by
/// `work`, which gets the associated data and the bytes of all of them at once. It must not call into
/// Ruby.
pub(crate) fn changed_together<T>(
    ruby: &Ruby,
    sources: &[Source],
    extra: isize,
    work: impl FnOnce(Vec<(&[u8], &mut [u8])>) -> T,
) -> (magnus::RArray, T) {
    let strings = ruby.ary_new_capa(sources.len());
    let mut targets = Vec::with_capacity(sources.len());
    for source in sources {
        let size = source.text.len().saturating_add_signed(extra);
        let target = Unfinished::new(ruby, size);
        // The array keeps the strings alive; it has room, so this cannot fail.
        let _ = strings.push(target.string);
        targets.push(target);
    }
    let slices = sources
        .iter()
        .zip(&mut targets)
        .map(|(source, target)| {
            // SAFETY: as in `with` and `Unfinished::write`; each target is a string of its own, and
            // Ruby does not run before `work` has returned and the slices are gone.
            unsafe {
                let aad = source.aad.as_ref().map_or(&b""[..], |aad| aad.as_slice());
                let start = RSTRING_PTR(target.string.as_raw()).cast_mut().cast::<u8>();
                let text = source.text.as_slice();
                let taken = text.len().min(target.size);
                start.copy_from_nonoverlapping(text.as_ptr(), taken);
                start.add(taken).write_bytes(0, target.size - taken);
                (aad, std::slice::from_raw_parts_mut(start, target.size))
            }
        })
        .collect();
    let outcome = work(slices);
    for target in targets {
        target.finish();
    }
    (strings, outcome)
}
