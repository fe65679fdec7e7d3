//! Contains panics of foreign code, whatever payload they carry.
//!
//! For crates above this one that run handlers or hooks on their threads, as this one does with
//! authenticators and wakers. The panic hook runs as usual.
//!
//! ```
//! use sealwire::panics::contain;
//!
//! assert_eq!(contain(|| 7).ok(), Some(7));
//! let panic = contain(|| panic!("handler {} failed", 3)).unwrap_err();
//! assert_eq!(panic.text(), "handler 3 failed");
//! ```

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs it.
///
/// # Errors
///
/// [`Panic`] when it panicked; what it left half done must not be used.
#[inline]
pub fn contain<R>(action: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(action)).map_err(Panic::new)
}

/// The payload of a panic. Dropping it does not panic, even where that of the payload does.
pub struct Panic(Option<Box<dyn Any + Send>>);

impl Panic {
    #[cold]
    fn new(payload: Box<dyn Any + Send>) -> Self {
        Panic(Some(payload))
    }

    /// The message of the panic, or that there is none.
    pub fn text(&self) -> &str {
        // It is there until it is dropped.
        let payload = self.0.as_deref();
        let owned = payload.and_then(|payload| payload.downcast_ref::<String>());
        let text = payload.and_then(|payload| payload.downcast_ref::<&str>());
        owned
            .map(String::as_str)
            .or(text.copied())
            .unwrap_or("no text")
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.text()).finish()
    }
}

impl Drop for Panic {
    fn drop(&mut self) {
        let payload = self.0.take();
        // It may panic again as it is dropped.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(again);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics again as it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }

    #[test]
    fn a_panic_ends_here_whatever_is_thrown() {
        assert_eq!(contain(|| 7).ok(), Some(7));
        let panic = contain(|| panic!("text")).unwrap_err();
        assert_eq!(panic.text(), "text");
        let panic = contain(|| panic!("{}", 1)).unwrap_err();
        assert_eq!(panic.text(), "1");
        let panic = contain(|| std::panic::panic_any(Bomb)).unwrap_err();
        assert_eq!(panic.text(), "no text");
        drop(panic);
    }
}
