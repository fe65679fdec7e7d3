//! The bytes of Ruby strings, read and written where they are.
//!
//! Ruby may move or change a string whenever it runs, so nothing in here runs it while it looks at
//! bytes, and what callers do with them may not either: they are given slices, never values.

use magnus::rb_sys::AsRawValue as _;
use magnus::{Error, RArray, RString, Ruby};
use rb_sys::{RSTRING_LEN, RSTRING_PTR};
use sealwire_aead::TAG_SIZE;

use crate::errors;

/// Reads the bytes of a string. `read` must not call into Ruby.
pub(crate) fn with<T>(string: RString, read: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: the lock of the interpreter is held, as a string can be had no other way, and is not
    // let go before `read` has returned, so nothing changes or moves the string meanwhile. A string
    // that other Ractors can see is frozen.
    read(unsafe { string.as_slice() })
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
fn with_optional<T>(string: Option<RString>, read: impl FnOnce(&[u8]) -> T) -> T {
    match string {
        Some(string) => with(string, read),
        None => read(b""),
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

    /// The string's bytes, which are those of `source`, then zeros. Ruby must not run while there is
    /// such a slice.
    fn bytes(&mut self, source: &[u8]) -> &mut [u8] {
        let taken = source.len().min(self.size);
        // SAFETY: the string was made here with room for `size` bytes, and no other code has it.
        // Each of its bytes is initialised before a slice is made. As in `with`, nothing moves it.
        // `source` is the content of another string or of none.
        unsafe {
            let start = RSTRING_PTR(self.string.as_raw()).cast_mut().cast::<u8>();
            start.copy_from_nonoverlapping(source.as_ptr(), taken);
            start.add(taken).write_bytes(0, self.size - taken);
            std::slice::from_raw_parts_mut(start, self.size)
        }
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
        with_optional(aad, |aad| work(aad, target.bytes(source)))
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
        with_optional(aad, |aad| work(aad, target.bytes(text)))
    });
    if authentic {
        Some(target.finish())
    } else {
        target.abandon();
        None
    }
}

/// The strings of a batch: texts, and the associated data of each or nil.
///
/// Arrays of Ruby hold them. The collector does not look at vectors: what only a vector holds may be
/// freed, and what it holds at all may be moved away.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    texts: RArray,
    aads: RArray,
}

impl Batch {
    pub(crate) fn with_capacity(ruby: &Ruby, count: usize) -> Self {
        Batch {
            texts: ruby.ary_new_capa(count),
            aads: ruby.ary_new_capa(count),
        }
    }

    pub(crate) fn push(self, text: RString, aad: Option<RString>) -> Result<(), Error> {
        self.texts.push(text)?;
        self.aads.push(aad)
    }

    /// What `read` makes of each text. It must not call into Ruby.
    pub(crate) fn read_each<T>(self, read: impl Fn(&[u8]) -> T) -> Result<Vec<T>, Error> {
        let texts = 0..self.texts.len();
        texts
            .map(|index| Ok(with(self.texts.entry(index as isize)?, &read)))
            .collect()
    }

    /// New strings, one for each text and `extra` bytes longer (or shorter), changed in place by
    /// `work`, which gets the associated data and the bytes of all of them at once. It must not call
    /// into Ruby.
    pub(crate) fn changed<T>(
        self,
        ruby: &Ruby,
        extra: isize,
        work: impl FnOnce(Vec<(&[u8], &mut [u8])>) -> T,
    ) -> Result<(RArray, T), Error> {
        let sizes = self.read_each(|text| text.len().saturating_add_signed(extra))?;
        let strings = ruby.ary_new_capa(sizes.len());
        for size in &sizes {
            strings.push(ruby.str_buf_new(*size))?;
        }
        // All strings are made, so nothing moves from here on: they may lie in vectors.
        let mut targets = Vec::with_capacity(sizes.len());
        for (index, size) in sizes.into_iter().enumerate() {
            let index = index as isize;
            let string = strings.entry(index)?;
            let source: (RString, Option<RString>) =
                (self.texts.entry(index)?, self.aads.entry(index)?);
            targets.push((source, Unfinished { string, size }));
        }
        let slices = targets
            .iter_mut()
            .map(|((text, aad), target)| {
                // SAFETY: as in `with`: nothing changes or moves these strings before `work` has
                // returned and the slices are gone.
                let (text, aad) = unsafe {
                    let aad = aad.as_ref().map_or(&b""[..], |aad| aad.as_slice());
                    (text.as_slice(), aad)
                };
                (aad, target.bytes(text))
            })
            .collect();
        let outcome = work(slices);
        for (_, target) in targets {
            target.finish();
        }
        Ok((strings, outcome))
    }
}
