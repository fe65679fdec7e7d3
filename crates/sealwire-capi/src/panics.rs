//! The edge that no panic crosses: every function of the library runs in here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{Failure, SEALWIRE_ERROR_INTERNAL, SEALWIRE_OK, sealwire_status};

/// Runs a function that may fail, and keeps the reason for `sealwire_last_error`.
pub(crate) fn guard(operation: impl FnOnce() -> Result<(), Failure>) -> sealwire_status {
    let failure = match catch_unwind(AssertUnwindSafe(operation)) {
        Ok(Ok(())) => return SEALWIRE_OK,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::new(
            SEALWIRE_ERROR_INTERNAL,
            "the library panicked; please report what it wrote to the standard error",
        ),
    };
    failure.remember()
}

/// Runs a function that cannot fail, and gives `otherwise` should it panic all the same.
pub(crate) fn value<T>(otherwise: T, operation: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(operation)).unwrap_or(otherwise)
}

/// Frees an object. Destructors may run the caller's code, and wait.
pub(crate) fn free<T>(object: Option<Box<T>>) {
    value((), || drop(object));
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;
    use crate::status::sealwire_last_error;

    #[test]
    fn a_panic_becomes_a_number_with_a_text() {
        let status = guard(|| panic!("on purpose"));
        assert_eq!(status, SEALWIRE_ERROR_INTERNAL);
        // SAFETY: the text of this thread's last error, which nothing replaces meanwhile.
        let text = unsafe { CStr::from_ptr(sealwire_last_error()) };
        assert!(text.to_str().is_ok_and(|text| text.contains("panicked")));
        assert_eq!(value(7, || panic!("on purpose")), 7);
    }

    #[test]
    fn an_object_that_panics_as_it_is_freed_is_contained() {
        struct Parting;
        impl Drop for Parting {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        free(Some(Box::new(Parting)));
    }
}
