//! The edge that no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::c_int;

use super::error::{set_errno, zmq_errno};
use crate::errno::Errno;

/// Runs a function that gives a number, and -1 with `errno` where it fails. A panic is `EFAULT`.
pub(super) fn number(operation: impl FnOnce() -> Result<c_int, Errno>) -> c_int {
    value(-1, operation)
}

/// Runs a function that gives nothing but success.
pub(super) fn status(operation: impl FnOnce() -> Result<(), Errno>) -> c_int {
    value(-1, || operation().map(|()| 0))
}

/// Runs a function that gives `failed` with `errno` where it fails. Where it succeeds `errno` is as it was, whatever the
/// system said to what was tried on the way.
#[inline]
pub(super) fn value<T>(failed: T, operation: impl FnOnce() -> Result<T, Errno>) -> T {
    let before = Errno(zmq_errno());
    in_memory(failed, || {
        let value = operation()?;
        set_errno(before);
        Ok(value)
    })
}

/// The same for what asks the system for nothing, and so leaves `errno` as it is: a program calls that several times for
/// each message.
#[inline]
pub(super) fn in_memory<T>(failed: T, operation: impl FnOnce() -> Result<T, Errno>) -> T {
    let error = match catch_unwind(AssertUnwindSafe(operation)) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(_) => Errno::FAULT,
    };
    set_errno(error);
    failed
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_call() {
        let failing = || -> Result<(), Errno> { std::panic::resume_unwind(Box::new("of a test")) };
        set_errno(Errno(0));
        assert_eq!((status(failing), zmq_errno()), (-1, Errno::FAULT.0));
        let failing = || failing().map(|()| 7);
        assert_eq!((number(failing), zmq_errno()), (-1, Errno::FAULT.0));
        assert_eq!((value(9, failing), zmq_errno()), (9, Errno::FAULT.0));
        assert_eq!((in_memory(9, failing), zmq_errno()), (9, Errno::FAULT.0));
    }

    /// Those that cannot panic ask for a number alone.
    #[cfg_attr(miri, ignore = "it reads the sources")]
    #[test]
    fn every_function_of_the_library_is_guarded() {
        let mut functions = 0;
        // The crate with the drafts has the sources of the folder above its own.
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = own.ancestors().map(|folder| folder.join("src/abi"));
        let mut folders: Vec<_> = sources.filter(|folder| folder.is_dir()).take(1).collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                let exported = concat!("#[unsafe(no", "_mangle)]\n");
                for after in text.split(exported).skip(1) {
                    let (head, body) = after.split_once('{').unwrap();
                    let body = body.split("\n}\n").next().unwrap();
                    let guarded = body.contains("guard::") || body.trim_start().starts_with("zmq_");
                    let calls_guarded = body.contains("unsafe { zmq_");
                    let cannot_panic = ["fn zmq_errno(", "fn zmq_strerror("];
                    let cannot_panic = cannot_panic.iter().any(|name| head.contains(name));
                    assert!(
                        guarded || calls_guarded || cannot_panic,
                        "{}: {head}",
                        path.display()
                    );
                    functions += 1;
                }
            }
        }
        assert_eq!(functions, 96);
    }

    #[test]
    fn success_leaves_errno_alone() {
        for before in [0, libc::EAGAIN] {
            set_errno(Errno(before));
            let tried = || {
                set_errno(Errno(libc::EINVAL));
                Ok(())
            };
            assert_eq!((status(tried), zmq_errno()), (0, before));
        }
        assert_eq!(
            (status(|| Err(Errno::TERM)), zmq_errno()),
            (-1, Errno::TERM.0)
        );
        assert_eq!(
            (in_memory(-1, || Err(Errno::AGAIN)), zmq_errno()),
            (-1, Errno::AGAIN.0)
        );
        assert_eq!((in_memory(-1, || Ok(7)), zmq_errno()), (7, Errno::AGAIN.0));
    }
}
