//! The mechanism's primitives, put together from their plain parts.
//!
//! Nothing here comes from the recorded peer or from the AEAD crate the peer uses: the recording is
//! only worth publishing if a second reading of the mechanism arrives at the same bytes.

use chacha20::ChaCha20Legacy;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use x25519_dalek::{PublicKey, StaticSecret};

/// Size of the tag that ends every sealed box, in bytes.
pub(crate) const TAG_LEN: usize = 32;

/// Size of a ChaCha20 block, in bytes.
const BLOCK_LEN: u64 = 64;

/// The public key that belongs to `secret`.
pub(crate) fn public_key(secret: &[u8; 32]) -> [u8; 32] {
    PublicKey::from(&StaticSecret::from(*secret)).to_bytes()
}

/// X25519 as in RFC 7748, refusing the all-zero output.
pub(crate) fn x25519(secret: &[u8; 32], public: &[u8; 32]) -> [u8; 32] {
    let shared = StaticSecret::from(*secret).diffie_hellman(&PublicKey::from(*public));
    assert!(shared.was_contributory(), "a key of low order");
    shared.to_bytes()
}

/// BLAKE3 over the concatenation of `parts`.
pub(crate) fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// BLAKE3 in derive-key mode under the mechanism's prefix, the first `N` bytes of its output.
pub(crate) fn derive<const N: usize>(context: &str, parts: &[&[u8]]) -> [u8; N] {
    let mut hasher = blake3::Hasher::new_derive_key(&format!("BLAKE3ZMQ-1.0 {context}"));
    for part in parts {
        hasher.update(part);
    }
    let mut out = [0; N];
    hasher.finalize_xof().fill(&mut out);
    out
}

/// ChaCha20-BLAKE3 in one shot: ciphertext and tag.
pub(crate) fn seal(key: &[u8; 32], nonce: &[u8; 24], plaintext: &[u8], aad: &[u8]) -> Vec<u8> {
    let mut material = [0; 72];
    blake3::Hasher::new_keyed(key)
        .update(nonce)
        .finalize_xof()
        .fill(&mut material);
    let (enc_key, rest) = material.split_first_chunk::<32>().unwrap();
    let (auth_key, enc_nonce) = rest.split_first_chunk::<32>().unwrap();
    seal_parts(
        enc_key,
        auth_key,
        enc_nonce.try_into().unwrap(),
        0,
        plaintext,
        aad,
    )
}

/// Encrypts from ChaCha20 block number `block` on and appends the tag; DJB layout, 64-bit counter
/// and 64-bit nonce.
pub(crate) fn seal_parts(
    enc_key: &[u8; 32],
    auth_key: &[u8; 32],
    enc_nonce: &[u8; 8],
    block: u64,
    plaintext: &[u8],
    aad: &[u8],
) -> Vec<u8> {
    let mut sealed = plaintext.to_vec();
    let mut cipher = ChaCha20Legacy::new(enc_key.into(), enc_nonce.into());
    cipher.seek(block * BLOCK_LEN);
    cipher.apply_keystream(&mut sealed);
    let tag = blake3::Hasher::new_keyed(auth_key)
        .update(aad)
        .update(&(aad.len() as u64).to_le_bytes())
        .update(&sealed)
        .update(&(plaintext.len() as u64).to_le_bytes())
        .finalize();
    sealed.extend_from_slice(tag.as_bytes());
    sealed
}

/// Number of ChaCha20 blocks a frame of `len` bytes uses up.
pub(crate) fn blocks(len: usize) -> u64 {
    (len as u64).div_ceil(BLOCK_LEN)
}
