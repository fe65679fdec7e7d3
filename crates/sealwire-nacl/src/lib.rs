//! NaCl's `box` and `secretbox`, byte for byte what NaCl and libsodium compute.
//!
//! ```
//! use sealwire_nacl::KeyPair;
//!
//! let (alice, bob) = (KeyPair::from_secret([1; 32]), KeyPair::from_secret([2; 32]));
//! let nonce = [3; 24]; // never twice under one pair of keys
//!
//! let shared = alice.shared_with(bob.public())?;
//! let sealed = shared.seal(&nonce, b"hello");
//! assert_eq!(bob.shared_with(alice.public())?.open(&nonce, &sealed)?, b"hello");
//! assert!(bob.shared_with(alice.public())?.open(&[4; 24], &sealed).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it is
//!
//! ```text
//! shared     = HSalsa20(X25519(secret, public), 0)                     box, first step
//! subkey     = HSalsa20(key, nonce[0..16])                             box and secretbox
//! stream     = Salsa20(subkey, nonce[16..24])
//! ciphertext = plaintext XOR stream[32..]
//! tag        = Poly1305(stream[0..32], ciphertext)
//! ```
//!
//! Sources: D. J. Bernstein, "Cryptography in NaCl" (2009), "The Salsa20 family of stream ciphers"
//! (2007), "Extending the Salsa20 nonce" (2011); RFC 7748; RFC 8439, section 2.5.
//!
//! # What to use
//!
//! | type | NaCl's name | for |
//! |---|---|---|
//! | [`KeyPair::shared_with`] | `crypto_box_beforenm` | once for each peer |
//! | [`SecretBox`] | `crypto_box_afternm`, `crypto_secretbox` | messages under a shared key |
//! | [`CounterBox`] | | a sequence of messages whose nonces share 16 bytes, in batches |
//! | [`KeyPair::seal`], [`KeyPair::open`] | `crypto_box` | a single message: X25519 every time |
//!
//! These are parts of the above, for protocols that combine them in their own way. None of them alone protects a
//! message:
//!
//! | item | NaCl's name | is not |
//! |---|---|---|
//! | [`x25519`], [`x25519_base`] | `crypto_scalarmult`, `crypto_scalarmult_base` | a key: its result has to be hashed |
//! | [`OneTimeKey`] | `crypto_onetimeauth`, `crypto_onetimeauth_verify` | for two messages: they give the key away |
//! | [`XSalsa20`] | `crypto_stream`, `crypto_stream_xor` | authenticated: a bit that is flipped stays flipped |
//!
//! Public keys are any 32 bytes, as in libsodium: several encodings may mean the same key. Compare
//! keys only after making sure that they are canonical.
//!
//! # Nonces
//!
//! Two messages sealed under the same key and nonce give anyone who sees both the XOR of the plaintexts, as far
//! as the shorter one goes, and the key of their tags, with which other messages are forged under that nonce.
//! The key itself and messages under other nonces stay secret.
//!
//! What rules it out:
//!
//! - a random nonce for each message: after 2^64 messages under a key two are equal with a chance below 2^-64;
//! - a counter, where the nonces of both directions differ, as those of CurveZMQ do in their first 16 bytes: two
//!   key pairs share one key.
//!
//! # What it is not
//!
//! - A proof to others: the receiver could have sealed it.
//! - A guard against messages that are dropped, repeated, reordered or sent back to who sealed them.
//! - Forward secret: either secret key opens all that was recorded.
//! - Committing: anyone who knows two keys can make a ciphertext that opens under both. The crate
//!   `sealwire-aead` commits to its key, and binds associated data.
//! - Audited. Lengths are not hidden.
//!
//! # What is not wiped
//!
//! Key types and buffers of keystream are overwritten when they are no longer needed. Registers that
//! the compiler saves on the stack are not.

#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod batch;
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod constant_time;
mod counter_box;
mod error;
mod job;
mod keys;
mod one_time_key;
mod poly1305;
mod salsa20;
mod secret_box;
mod sizes;
mod x25519;
mod xsalsa20;

pub use counter_box::CounterBox;
pub use error::{OpenError, WeakKey};
pub use job::{OpenJob, SealJob};
pub use keys::KeyPair;
pub use one_time_key::OneTimeKey;
pub use secret_box::SecretBox;
pub use sizes::{KEY_SIZE, NONCE_SIZE, PREFIX_SIZE, TAG_SIZE};
pub use x25519::{x25519, x25519_base};
pub use xsalsa20::XSalsa20;

/// The README's example is compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
