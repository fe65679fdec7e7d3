//! libsodium's `crypto_secretbox` (XSalsa20-Poly1305), which CURVE uses for its messages.

use std::ffi::{c_int, c_uchar, c_ulonglong};

#[link(name = "sodium")]
unsafe extern "C" {
    fn sodium_init() -> c_int;
    fn crypto_secretbox_detached(
        ciphertext: *mut c_uchar,
        tag: *mut c_uchar,
        message: *const c_uchar,
        length: c_ulonglong,
        nonce: *const c_uchar,
        key: *const c_uchar,
    ) -> c_int;
}

/// Seals `buffer` in place and returns the tag.
pub(crate) fn secretbox(key: &[u8; 32], nonce: &[u8; 24], buffer: &mut [u8]) -> [u8; 16] {
    static READY: std::sync::Once = std::sync::Once::new();
    // SAFETY: may be called from any thread, any number of times.
    READY.call_once(|| assert!(unsafe { sodium_init() } >= 0, "libsodium does not start"));
    let mut tag = [0; 16];
    let at = buffer.as_mut_ptr();
    // SAFETY: the pointers are valid for the sizes that the function documents, and it allows the
    // message and the ciphertext to be the same memory.
    let status = unsafe {
        crypto_secretbox_detached(
            at,
            tag.as_mut_ptr(),
            at,
            buffer.len() as c_ulonglong,
            nonce.as_ptr(),
            key.as_ptr(),
        )
    };
    assert_eq!(status, 0);
    tag
}
