//! Scripted entropy with the API of getrandom 0.2.
//!
//! It replaces that crate in the vector generator, and only there, so that the ephemeral keys a
//! published peer draws are known and the same on every run. Every thread installs its own script;
//! a thread without one gets an error, never bytes that look random.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::num::NonZeroU32;

type Source = Box<dyn FnMut(&mut [u8])>;

thread_local! {
    static SOURCE: RefCell<Option<Source>> = const { RefCell::new(None) };
}

/// Lets `source` answer every request made on this thread from here on.
pub fn install(source: impl FnMut(&mut [u8]) + 'static) {
    SOURCE.with_borrow_mut(|slot| *slot = Some(Box::new(source)));
}

/// Fills `dest` from the script of this thread.
///
/// # Errors
///
/// The thread has no script.
pub fn getrandom(dest: &mut [u8]) -> Result<(), Error> {
    SOURCE.with_borrow_mut(|slot| match slot {
        Some(source) => {
            source(dest);
            Ok(())
        }
        None => Err(Error(NO_SCRIPT)),
    })
}

/// The only code this source fails with, inside the range getrandom 0.2 sets apart for users.
const NO_SCRIPT: NonZeroU32 = NonZeroU32::new(0xC000_0001).unwrap();

/// Why no bytes were handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(NonZeroU32);

impl Error {
    /// The number of the error, as getrandom 0.2 reports it.
    #[must_use]
    pub const fn code(self) -> NonZeroU32 {
        self.0
    }
}

impl From<NonZeroU32> for Error {
    fn from(code: NonZeroU32) -> Self {
        Self(code)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            NO_SCRIPT => f.write_str("no scripted entropy is installed on this thread"),
            code => write!(f, "entropy error {code:#x}"),
        }
    }
}

impl std::error::Error for Error {}
