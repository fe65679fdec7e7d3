//! The script behind every random byte the peers ask for, and the list of what they asked.

use std::cell::RefCell;
use std::rc::Rc;

/// Says where the scripted bytes come from, for the head of a vector file.
pub(crate) const RULE: &str = "request i is answered with the first bytes of the BLAKE3 output \
     stream over \"sealwire vectors entropy\" followed by i as one byte";

/// The requests of one thread, in order.
#[derive(Clone, Default)]
pub(crate) struct Requests(Rc<RefCell<Vec<Vec<u8>>>>);

impl Requests {
    /// Answers this thread's requests by [`RULE`] from now on, starting at number 0.
    pub(crate) fn script_this_thread() -> Self {
        let requests = Self::default();
        let log = requests.clone();
        getrandom_0_2::install(move |dest| {
            let mut log = log.0.borrow_mut();
            let index = u8::try_from(log.len()).expect("fewer than 256 requests");
            blake3::Hasher::new()
                .update(b"sealwire vectors entropy")
                .update(&[index])
                .finalize_xof()
                .fill(dest);
            log.push(dest.to_vec());
        });
        requests
    }

    /// The bytes handed out so far, one entry a request.
    pub(crate) fn answered(&self) -> Vec<Vec<u8>> {
        self.0.borrow().clone()
    }
}

/// What getrandom 0.4 calls when it is built with `getrandom_backend="custom"`.
///
/// # Safety
///
/// `dest` points to `len` writable bytes, as getrandom promises to its back ends.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    dest: *mut u8,
    len: usize,
) -> Result<(), getrandom_0_4::Error> {
    // SAFETY: the caller promises `len` writable bytes; they may be uninitialised, so zeros are
    // written before a slice over them exists.
    let dest = unsafe {
        dest.write_bytes(0, len);
        std::slice::from_raw_parts_mut(dest, len)
    };
    getrandom_0_2::getrandom(dest).map_err(|_| getrandom_0_4::Error::UNSUPPORTED)
}
