//! libsodium's `crypto_box`.

use std::ffi::{c_int, c_uchar, c_ulonglong};
use std::hint::black_box;

use crate::Contender;

type Key = [u8; 32];
type Nonce = [u8; 24];

/// What sealing adds to a message, in bytes.
const TAG: usize = 16;

#[link(name = "sodium")]
unsafe extern "C" {
    fn sodium_init() -> c_int;
    fn crypto_scalarmult_base(public: *mut c_uchar, secret: *const c_uchar) -> c_int;
    fn crypto_box_beforenm(
        shared: *mut c_uchar,
        public: *const c_uchar,
        secret: *const c_uchar,
    ) -> c_int;
    fn crypto_box_easy(
        sealed: *mut c_uchar,
        text: *const c_uchar,
        length: c_ulonglong,
        nonce: *const c_uchar,
        public: *const c_uchar,
        secret: *const c_uchar,
    ) -> c_int;
    fn crypto_box_open_easy(
        text: *mut c_uchar,
        sealed: *const c_uchar,
        length: c_ulonglong,
        nonce: *const c_uchar,
        public: *const c_uchar,
        secret: *const c_uchar,
    ) -> c_int;
    fn crypto_box_easy_afternm(
        sealed: *mut c_uchar,
        text: *const c_uchar,
        length: c_ulonglong,
        nonce: *const c_uchar,
        shared: *const c_uchar,
    ) -> c_int;
    fn crypto_box_open_easy_afternm(
        text: *mut c_uchar,
        sealed: *const c_uchar,
        length: c_ulonglong,
        nonce: *const c_uchar,
        shared: *const c_uchar,
    ) -> c_int;
}

fn public_key(secret: &Key) -> Key {
    let mut public = [0; 32];
    // SAFETY: both are 32 bytes, as documented.
    assert_eq!(
        unsafe { crypto_scalarmult_base(public.as_mut_ptr(), secret.as_ptr()) },
        0
    );
    public
}

fn agree(public: &Key, secret: &Key) -> Key {
    let mut shared = [0; 32];
    // SAFETY: all three are 32 bytes, as documented.
    let status =
        unsafe { crypto_box_beforenm(shared.as_mut_ptr(), public.as_ptr(), secret.as_ptr()) };
    assert_eq!(status, 0);
    shared
}

/// The same operations as ours, each into a new buffer.
pub(crate) fn contenders(size: usize, ours: &Key, theirs: &Key, nonce: &Nonce) -> Vec<Contender> {
    // SAFETY: may be called any number of times.
    assert!(unsafe { sodium_init() } >= 0, "libsodium does not start");
    let (secret, public, nonce) = (*ours, public_key(theirs), *nonce);
    let shared = agree(&public, &secret);
    let text = vec![0x5a_u8; size];
    let (length, sealed_length) = (size as c_ulonglong, (size + TAG) as c_ulonglong);

    let seal = {
        let text = text.clone();
        move || {
            let mut sealed = vec![0; size + TAG];
            // SAFETY: the output has room for the text and a tag, and keys and nonce their sizes.
            let status = unsafe {
                crypto_box_easy(
                    sealed.as_mut_ptr(),
                    text.as_ptr(),
                    length,
                    black_box(&nonce).as_ptr(),
                    public.as_ptr(),
                    secret.as_ptr(),
                )
            };
            assert_eq!(status, 0);
            sealed
        }
    };
    let seal_shared = move || {
        let mut sealed = vec![0; size + TAG];
        // SAFETY: as above.
        let status = unsafe {
            crypto_box_easy_afternm(
                sealed.as_mut_ptr(),
                text.as_ptr(),
                length,
                black_box(&nonce).as_ptr(),
                shared.as_ptr(),
            )
        };
        assert_eq!(status, 0);
        sealed
    };
    let sealed = seal();
    assert_eq!(sealed, seal_shared());
    let sealed_too = sealed.clone();
    let open = move || {
        let mut text = vec![0; size];
        // SAFETY: the output has room for what was sealed without its tag.
        let status = unsafe {
            crypto_box_open_easy(
                text.as_mut_ptr(),
                sealed.as_ptr(),
                sealed_length,
                black_box(&nonce).as_ptr(),
                public.as_ptr(),
                secret.as_ptr(),
            )
        };
        assert_eq!(status, 0);
        black_box(text);
    };
    let open_shared = move || {
        let mut text = vec![0; size];
        // SAFETY: as above.
        let status = unsafe {
            crypto_box_open_easy_afternm(
                text.as_mut_ptr(),
                sealed_too.as_ptr(),
                sealed_length,
                black_box(&nonce).as_ptr(),
                shared.as_ptr(),
            )
        };
        assert_eq!(status, 0);
        black_box(text);
    };
    vec![
        (
            "libsodium, public key",
            Box::new(move || {
                black_box(public_key(black_box(&secret)));
            }),
        ),
        (
            "libsodium, agree",
            Box::new(move || {
                black_box(agree(black_box(&public), &secret));
            }),
        ),
        (
            "libsodium, one step, seal",
            Box::new(move || {
                black_box(seal());
            }),
        ),
        ("libsodium, one step, open", Box::new(open)),
        (
            "libsodium, two steps, seal",
            Box::new(move || {
                black_box(seal_shared());
            }),
        ),
        ("libsodium, two steps, open", Box::new(open_shared)),
    ]
}
