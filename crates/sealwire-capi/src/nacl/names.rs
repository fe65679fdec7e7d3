//! NaCl's own C interface: what `include/sealwire_nacl.h` gives NaCl's names to. That header is made from this
//! file, and `sealwire.h` leaves it out: these functions answer 0 or -1, and pad messages as NaCl does.
//!
//! ```text
//!   message     | 32 zeros |           text       |     what crypto_box and crypto_secretbox take
//!   ciphertext  | 16 zeros | 16 tag |  ciphertext |     as long, and what their _open takes
//! ```

use std::ffi::{c_int, c_uchar, c_ulonglong};
use std::process::abort;

use sealwire_nacl::{KEY_SIZE, OneTimeKey, SecretBox, TAG_SIZE, XSalsa20};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{fresh, shared};
use crate::panics::guard;
use crate::pointers::{array, array_output, bytes, bytes_mut, copy, zeroed};
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_NOT_AUTHENTIC, SEALWIRE_ERROR_RANDOM,
    SEALWIRE_OK,
};

/// Zeros before a text: `crypto_box_ZEROBYTES`.
const BEFORE_TEXT: usize = 32;
/// Zeros before a tag: `crypto_box_BOXZEROBYTES`.
const BEFORE_TAG: usize = BEFORE_TEXT - TAG_SIZE;

/// NaCl's answer. `sealwire_last_error` has the reason.
fn answer(operation: impl FnOnce() -> Result<(), Failure>) -> c_int {
    if guard(operation) == SEALWIRE_OK {
        0
    } else {
        -1
    }
}

/// A length that can be one here.
fn length(size: c_ulonglong, name: &str) -> Result<usize, Failure> {
    usize::try_from(size).map_err(|_| {
        let text = format!("{name} cannot have {size} bytes: more than this machine can address");
        Failure::new(SEALWIRE_ERROR_ARGUMENT, text)
    })
}

/// Bytes of which the first `ZEROS` are zero, without these.
fn padded<'a, const ZEROS: usize>(
    data: *const c_uchar,
    size: c_ulonglong,
    name: &str,
) -> Result<&'a [u8], Failure> {
    let size = length(size, name)?;
    if size < BEFORE_TEXT {
        let text = format!(
            "{name} has {size} bytes, less than the {BEFORE_TEXT} of padding that its length counts"
        );
        return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
    }
    let padding: &[u8; ZEROS] = array(data, name)?;
    // Bytes that are not zero belong to a text, and the time must not tell where they are.
    if !bool::from(padding.ct_eq(&[0; ZEROS])) {
        let text = format!("{name} does not begin with {ZEROS} zero bytes: NaCl's padding");
        return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
    }
    Ok(&bytes(data, size, name)?[ZEROS..])
}

fn seal(
    key: &SecretBox,
    c: *mut c_uchar,
    m: *const c_uchar,
    mlen: c_ulonglong,
    n: *const c_uchar,
) -> Result<(), Failure> {
    let nonce = *array(n, "n")?;
    let head = array_output::<BEFORE_TEXT>(c, "c")?;
    let text = padded::<BEFORE_TEXT>(m, mlen, "m")?;
    let size = text.len();
    let sealed = c.wrapping_add(BEFORE_TEXT);
    copy(text, sealed, "c")?;
    let tag = key.seal_in_place_detached(&nonce, bytes_mut(sealed, size, "c")?);
    let mut zeros_and_tag = [0; BEFORE_TEXT];
    zeros_and_tag[BEFORE_TAG..].copy_from_slice(&tag);
    head.write(zeros_and_tag);
    Ok(())
}

fn open(
    key: &SecretBox,
    m: *mut c_uchar,
    c: *const c_uchar,
    clen: c_ulonglong,
    n: *const c_uchar,
) -> Result<(), Failure> {
    let nonce = array(n, "n")?;
    let zeros = array_output::<BEFORE_TEXT>(m, "m")?;
    let text = Zeroizing::new(key.open(nonce, padded::<BEFORE_TAG>(c, clen, "c")?)?);
    zeros.write([0; BEFORE_TEXT]);
    copy(&text, m.wrapping_add(BEFORE_TEXT), "m")
}

/// `crypto_box_keypair`: writes a fresh key pair, 32 bytes each.
///
/// Returns -1 where the operating system has no randomness.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_box_keypair(pk: *mut c_uchar, sk: *mut c_uchar) -> c_int {
    answer(|| {
        let (public, secret) = (array_output(pk, "pk")?, array_output(sk, "sk")?);
        let keys = fresh()?;
        public.write(*keys.public());
        secret.write(*keys.secret());
        Ok(())
    })
}

/// `crypto_box`: seals the message `m` of `mlen` bytes, the first 32 of which are zero, for the owner of `pk`,
/// under a nonce that is never used for another message between the two. Writes `mlen` bytes to `c`, which
/// may be where `m` is: 16 zeros, the tag, the ciphertext.
///
/// Returns -1 for a message that does not begin with 32 zeros, and for a public key of low order.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_box(
    c: *mut c_uchar,
    m: *const c_uchar,
    mlen: c_ulonglong,
    n: *const c_uchar,
    pk: *const c_uchar,
    sk: *const c_uchar,
) -> c_int {
    answer(|| seal(&shared(pk, sk)?, c, m, mlen, n))
}

/// `crypto_box_open`: opens what the owner of `pk` sealed, `clen` bytes, the first 16 of which are zero.
/// Writes `clen` bytes to `m`, which may be where `c` is: 32 zeros, the text.
///
/// Returns -1 and writes nothing for what is not authentic, for less than 32 bytes, for one that does not
/// begin with 16 zeros, and for a public key of low order.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_box_open(
    m: *mut c_uchar,
    c: *const c_uchar,
    clen: c_ulonglong,
    n: *const c_uchar,
    pk: *const c_uchar,
    sk: *const c_uchar,
) -> c_int {
    answer(|| open(&shared(pk, sk)?, m, c, clen, n))
}

/// `crypto_box_beforenm`: writes the key (32 bytes) that the owners of two key pairs share, for any number of
/// messages both ways.
///
/// Returns -1 for a public key of low order.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_box_beforenm(
    k: *mut c_uchar,
    pk: *const c_uchar,
    sk: *const c_uchar,
) -> c_int {
    answer(|| {
        let out = array_output(k, "k")?;
        out.write(*shared(pk, sk)?.as_bytes());
        Ok(())
    })
}

/// `crypto_secretbox`, and `crypto_box_afternm`: seals under a key of 32 bytes. As `crypto_box` otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_secretbox(
    c: *mut c_uchar,
    m: *const c_uchar,
    mlen: c_ulonglong,
    n: *const c_uchar,
    k: *const c_uchar,
) -> c_int {
    answer(|| seal(&SecretBox::new(array(k, "k")?), c, m, mlen, n))
}

/// `crypto_secretbox_open`, and `crypto_box_open_afternm`: opens under a key of 32 bytes. As `crypto_box_open`
/// otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_secretbox_open(
    m: *mut c_uchar,
    c: *const c_uchar,
    clen: c_ulonglong,
    n: *const c_uchar,
    k: *const c_uchar,
) -> c_int {
    answer(|| open(&SecretBox::new(array(k, "k")?), m, c, clen, n))
}

/// `crypto_scalarmult`: writes the product (32 bytes) of the point `p` and the scalar `n`, which is X25519. It is
/// not a key: hash it, with both public keys.
///
/// Returns -1 and writes nothing where the product is zero, as with a point of low order. NaCl returns 0 there,
/// libsodium -1.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_scalarmult(
    q: *mut c_uchar,
    n: *const c_uchar,
    p: *const c_uchar,
) -> c_int {
    answer(|| {
        let out = array_output(q, "q")?;
        out.write(*sealwire_nacl::x25519(array(n, "n")?, array(p, "p")?)?);
        Ok(())
    })
}

/// `crypto_scalarmult_base`: writes the public key (32 bytes) of the secret key `n`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_scalarmult_base(q: *mut c_uchar, n: *const c_uchar) -> c_int {
    answer(|| {
        let out = array_output(q, "q")?;
        out.write(sealwire_nacl::x25519_base(array(n, "n")?));
        Ok(())
    })
}

/// `crypto_onetimeauth`: writes the tag (16 bytes) of a message, which is Poly1305. The key of 32 bytes is for
/// this message alone: two tags under one key give it away.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_onetimeauth(
    a: *mut c_uchar,
    m: *const c_uchar,
    mlen: c_ulonglong,
    k: *const c_uchar,
) -> c_int {
    answer(|| {
        let out = array_output(a, "a")?;
        let message = bytes(m, length(mlen, "m")?, "m")?;
        out.write(OneTimeKey::new(array(k, "k")?).tag(message));
        Ok(())
    })
}

/// `crypto_onetimeauth_verify`: returns 0 where the tag is that of the message, and -1 where it is not, in
/// constant time.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_onetimeauth_verify(
    a: *const c_uchar,
    m: *const c_uchar,
    mlen: c_ulonglong,
    k: *const c_uchar,
) -> c_int {
    answer(|| {
        let message = bytes(m, length(mlen, "m")?, "m")?;
        Ok(OneTimeKey::new(array(k, "k")?).verify(message, array(a, "a")?)?)
    })
}

/// `crypto_stream`: writes the first `clen` bytes of the keystream of a key (32 bytes) and a nonce, which is
/// XSalsa20.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_stream(
    c: *mut c_uchar,
    clen: c_ulonglong,
    n: *const c_uchar,
    k: *const c_uchar,
) -> c_int {
    answer(|| {
        let (stream, nonce) = (XSalsa20::new(array(k, "k")?), array(n, "n")?);
        stream.keystream(nonce, zeroed(c, length(clen, "c")?, "c")?);
        Ok(())
    })
}

/// `crypto_stream_xor`: XORs that keystream with a message and writes `mlen` bytes to `c`, which may be where
/// `m` is. Nothing notices a changed ciphertext: use `crypto_secretbox` for messages.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_stream_xor(
    c: *mut c_uchar,
    m: *const c_uchar,
    mlen: c_ulonglong,
    n: *const c_uchar,
    k: *const c_uchar,
) -> c_int {
    answer(|| {
        let (stream, nonce) = (XSalsa20::new(array(k, "k")?), *array(n, "n")?);
        let size = length(mlen, "m")?;
        copy(bytes(m, size, "m")?, c, "c")?;
        stream.xor_unauthenticated(&nonce, bytes_mut(c, size, "c")?);
        Ok(())
    })
}

fn verify<const N: usize>(x: *const c_uchar, y: *const c_uchar) -> c_int {
    answer(|| {
        let (x, y): (&[u8; N], &[u8; N]) = (array(x, "x")?, array(y, "y")?);
        if bool::from(x.ct_eq(y)) {
            Ok(())
        } else {
            let text = format!("x and y differ within their {N} bytes");
            Err(Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, text))
        }
    })
}

/// `crypto_verify_16`: returns 0 where 16 bytes are the same as others, and -1 where they are not, in constant
/// time.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_verify_16(x: *const c_uchar, y: *const c_uchar) -> c_int {
    verify::<16>(x, y)
}

/// `crypto_verify_32`: the same for 32 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_verify_32(x: *const c_uchar, y: *const c_uchar) -> c_int {
    verify::<KEY_SIZE>(x, y)
}

/// `randombytes`: fills `xlen` bytes from the randomness of the operating system.
///
/// It has no way to report a failure, and no caller expects one: where there is no randomness, and where `x` is
/// NULL, it ends the process with `abort`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_nacl_randombytes(x: *mut c_uchar, xlen: c_ulonglong) {
    let filled = answer(|| {
        getrandom::fill(zeroed(x, length(xlen, "x")?, "x")?)
            .map_err(|error| Failure::new(SEALWIRE_ERROR_RANDOM, error.to_string()))
    });
    if filled != 0 {
        abort();
    }
}
