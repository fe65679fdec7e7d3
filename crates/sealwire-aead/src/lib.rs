//! ChaCha20-BLAKE3: authenticated encryption with 24-byte nonces and 32-byte tags.
//!
//! ```
//! use sealwire_aead::{Cipher, generate_key_and_nonce};
//!
//! let (key, nonce) = generate_key_and_nonce()?;
//! let cipher = Cipher::new(&key);
//!
//! let sealed = cipher.encrypt_with_aad(&nonce, b"invoice 7", b"pay 100");
//! let opened = cipher.decrypt_with_aad(&nonce, b"invoice 7", &sealed)?;
//! assert_eq!(opened, b"pay 100");
//! assert!(cipher.decrypt_with_aad(&nonce, b"invoice 8", &sealed).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it is
//!
//! Every message derives a ChaCha20 key, a BLAKE3 key and a ChaCha20 nonce from the user's key and
//! the message's nonce, is encrypted, and then authenticated together with its associated data:
//!
//! ```text
//! out        = BLAKE3-keyed(key, nonce), 72 bytes
//! enc_key    = out[0..32]   auth_key = out[32..64]   enc_nonce = out[64..72]
//! ciphertext = plaintext XOR ChaCha20(enc_key, enc_nonce, counter = 0)
//! tag        = BLAKE3-keyed(auth_key, aad || le64(len aad) || ciphertext || le64(len ciphertext))
//! ```
//!
//! The tag of 256 bits commits to the key, the nonce, the associated data and the message: nobody
//! can make one ciphertext that opens under two keys, which AES-GCM and ChaCha20-Poly1305 allow,
//! without a collision of BLAKE3 (2^128 steps).
//!
//! # Nonces
//!
//! Two messages sealed under the same key and nonce share their derived keys. Anyone who sees both has
//! the XOR of the plaintexts, as far as the shorter one goes, so who knows one plaintext reads the
//! other; and each opens where the other is expected. The key of the tags repeats too, which
//! enables no forgery: keyed BLAKE3 is a pseudorandom function, unlike Poly1305 and GHASH, whose
//! keys a repeated nonce reveals. The user's key and messages under other nonces stay secret.
//!
//! What rules it out:
//!
//! - a random nonce for each message ([`generate_nonce`]): after 2^64 messages under a key two are
//!   equal with a chance below 2^-64, after 2^80 below 2^-32;
//! - [`Stream`], which counts nonces; each stream needs a key or a random nonce of its own.
//!
//! [`Session`] takes no nonce for a message: each needs keys of its own.
//!
//! # What it is not
//!
//! - A standard, or audited.
//! - Resistant to the misuse of nonces: see above.
//! - A guard against messages that are dropped, repeated or reordered: [`Cipher`] opens what it
//!   opened before, and only [`StreamOpener`] takes messages in their order. Lengths are not hidden.
//! - Committing in a [`Session`]: its tag commits to the key of the tags, not to that of the
//!   keystream.
//!
//! # What to use
//!
//! | type | for |
//! |---|---|
//! | [`Cipher`] | single messages, each with a nonce of its own; batches of them ([`batch`]) |
//! | [`PieceSealer`] | a single message that is too large to be sealed at once |
//! | [`Stream`], [`StreamOpener`] | a sequence of messages; nonces are counted and cannot repeat |
//! | [`Session`] | peers that speak the weaker continuous keystream, and nothing else |
//! | [`derive_key`] | keys for several purposes from one secret (BLAKE3) |
//!
//! # What is not wiped
//!
//! Key types and buffers of keystream are overwritten when they are no longer needed. Registers that
//! the compiler saves on the stack, and chaining values, are not: parts of keys and keystream can
//! stay there until the stack is written over.
//!
//! # Features
//!
//! `std`, `aead` (the RustCrypto traits) and `getrandom` (the `generate_*` functions) are on by
//! default. Without them the crate needs `core` and `alloc` only.

#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(sealwire_portable)
))]
mod aarch64;
mod back_end;
pub mod batch;
mod cipher;
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod constant_time;
mod derive;
mod engine;
mod error;
mod job;
mod keys;
mod mac_input;
mod node;
mod pieces;
mod portable;
#[cfg(feature = "getrandom")]
mod random;
mod session;
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
mod simd;
mod sizes;
mod stream;
#[cfg(feature = "aead")]
mod traits;
#[cfg(all(
    target_arch = "wasm32",
    target_feature = "simd128",
    not(sealwire_portable)
))]
mod wasm;
#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
mod x86;

pub use cipher::Cipher;
pub use derive::{derive_key, derive_key_into};
#[cfg(feature = "measuring")]
#[doc(hidden)]
pub use engine::{limit_back_end, seal_in_two_passes};
pub use error::{DecryptionError, OpenError, StreamExhausted};
pub use keys::Key;
pub use pieces::PieceSealer;
#[cfg(feature = "getrandom")]
pub use random::{RandomError, generate_key, generate_key_and_nonce, generate_nonce};
#[cfg(feature = "measuring")]
#[doc(hidden)]
pub use sealwire_simd::measuring::Level;
pub use session::Session;
pub use sizes::{KEY_SIZE, NONCE_SIZE, TAG_SIZE};
pub use stream::{Stream, StreamOpener, message_nonce};

/// The README's example is compiled and run as printed.
#[cfg(all(doctest, feature = "getrandom"))]
#[doc = include_str!("../README.md")]
struct Readme;
