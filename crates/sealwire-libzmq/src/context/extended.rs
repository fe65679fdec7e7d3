//! Options of a context that are not numbers.

use std::ffi::c_int;

use super::Context;
use super::options::THREAD_NAME_PREFIX;
use crate::errno::Errno;

/// The most that a name of a thread takes, with its zero octet.
const LONGEST: usize = 16;

impl Context {
    /// Sets an option by its bytes: those of an `int`, or the text that stands before the names of threads. A text of as
    /// many bytes as an `int` has is taken for a number, as in libzmq.
    ///
    /// # Errors
    ///
    /// `EINVAL` for options and values that there are not.
    pub(crate) fn set_bytes(&self, option: i32, value: &[u8]) -> Result<(), Errno> {
        if let Ok(number) = value.try_into() {
            return self.set(option, c_int::from_ne_bytes(number));
        }
        if option != THREAD_NAME_PREFIX || value.is_empty() || value.len() > LONGEST {
            return Err(Errno::INVAL);
        }
        self.settings().set_name_prefix(value);
        Ok(())
    }

    /// The bytes of an option, for a buffer of `room` bytes.
    ///
    /// # Errors
    ///
    /// `EINVAL` for options that there are not, and for too little room.
    pub(crate) fn get_bytes(&self, option: i32, room: usize) -> Result<Vec<u8>, Errno> {
        if room == size_of::<c_int>() {
            return Ok(self.get(option)?.to_ne_bytes().to_vec());
        }
        let prefix = self.settings().name_prefix().to_vec();
        match option == THREAD_NAME_PREFIX && prefix.len() <= room {
            true => Ok(prefix),
            false => Err(Errno::INVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_comes_back_as_it_was_set_and_a_number_as_its_digits() {
        const IO_THREADS: i32 = 1;
        let context = Context::without_rules();
        assert_eq!(context.get_bytes(THREAD_NAME_PREFIX, 16).unwrap(), b"");
        for text in [&b"worker"[..], b"MyPrefix9012345\0"] {
            context.set_bytes(THREAD_NAME_PREFIX, text).unwrap();
            assert_eq!(context.get_bytes(THREAD_NAME_PREFIX, 16).unwrap(), text);
            assert_eq!(context.get(THREAD_NAME_PREFIX), Ok(0));
        }
        let little = context.get_bytes(THREAD_NAME_PREFIX, 15);
        assert_eq!(little, Err(Errno::INVAL));
        let number = 1_234_i32.to_ne_bytes();
        context.set_bytes(THREAD_NAME_PREFIX, &number).unwrap();
        assert_eq!(context.get_bytes(THREAD_NAME_PREFIX, 4).unwrap(), number);
        assert_eq!(context.get_bytes(THREAD_NAME_PREFIX, 5).unwrap(), b"1234");
        context.set_bytes(IO_THREADS, &3_i32.to_ne_bytes()).unwrap();
        assert_eq!(context.get(IO_THREADS), Ok(3));
        for (option, value) in [
            (THREAD_NAME_PREFIX, &b""[..]),
            (THREAD_NAME_PREFIX, b"seventeen letters"),
            (IO_THREADS, b"3"),
        ] {
            assert_eq!(context.set_bytes(option, value), Err(Errno::INVAL));
            assert_eq!(context.get_bytes(IO_THREADS, 5), Err(Errno::INVAL));
        }
    }
}
