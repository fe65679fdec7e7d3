//! The mechanism written once more, straight from the wire reference, for peers that lie.
//!
//! It shares nothing with the crate but the AEAD's definition, computes with raw bytes, and lets a
//! test put anything into any place.

use chacha20_blake3::ChaCha20Blake3;
use graviola::key_agreement::x25519;

use super::frame;

/// X25519 on raw bytes; all zeros for keys of low order.
pub(crate) fn x25519(secret: &[u8; 32], public: &[u8; 32]) -> [u8; 32] {
    x25519::StaticPrivateKey::from_array(secret)
        .diffie_hellman(&x25519::PublicKey::from_array(public))
        .map_or([0; 32], |shared| shared.as_bytes())
}

pub(crate) fn public(secret: &[u8; 32]) -> [u8; 32] {
    x25519::StaticPrivateKey::from_array(secret)
        .public_key()
        .as_bytes()
}

pub(crate) fn hash(parts: &[&[u8]]) -> [u8; 32] {
    blake3::hash(&parts.concat()).into()
}

fn kdf<const N: usize>(suffix: &str, material: &[u8]) -> [u8; N] {
    let mut hasher = blake3::Hasher::new_derive_key(&format!("BLAKE3ZMQ-1.0 {suffix}"));
    hasher.update(material);
    let mut output = [0; N];
    hasher.finalize_xof().fill(&mut output);
    output
}

/// The box `name` with its key and its nonce from this material.
pub(crate) fn seal(name: &str, key: &[u8], nonce: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let cipher = ChaCha20Blake3::new(kdf(&format!("{name} key"), key));
    cipher.encrypt(
        &kdf(&format!("{name} nonce"), nonce),
        plaintext,
        name.as_bytes(),
    )
}

pub(crate) fn open(name: &str, key: &[u8], nonce: &[u8], sealed: &[u8]) -> Vec<u8> {
    let cipher = ChaCha20Blake3::new(kdf(&format!("{name} key"), key));
    cipher
        .decrypt(
            &kdf(&format!("{name} nonce"), nonce),
            sealed,
            name.as_bytes(),
        )
        .unwrap()
}

/// A command frame.
pub(crate) fn command(name: &str, data: &[&[u8]]) -> Vec<u8> {
    let name = [&[name.len() as u8], name.as_bytes()].concat();
    frame(4, &[&name[..], &data.concat()].concat())
}

/// A client that can lie. What it says by default is honest.
pub(crate) struct LyingClient {
    /// `c'`.
    pub(crate) ephemeral: [u8; 32],
    /// `c`.
    pub(crate) secret: [u8; 32],
    /// `C`, which need not belong to `c`.
    pub(crate) claimed: [u8; 32],
    /// `S`.
    pub(crate) server: [u8; 32],
    /// What the vouch holds, `C' || S` by default.
    pub(crate) vouched: Option<[u8; 64]>,
    pub(crate) metadata: Vec<u8>,
    h1: [u8; 32],
}

impl LyingClient {
    pub(crate) fn new(secret: [u8; 32], server: [u8; 32], socket_type: &str) -> Self {
        let metadata = [
            b"\x0bSocket-Type\0\0\0",
            &[socket_type.len() as u8][..],
            socket_type.as_bytes(),
        ]
        .concat();
        Self {
            ephemeral: [0x5a; 32],
            secret,
            claimed: public(&secret),
            server,
            vouched: None,
            metadata,
            h1: [0; 32],
        }
    }

    /// The greeting of an honest client.
    pub(crate) fn greeting() -> Vec<u8> {
        let mut greeting = vec![0; 64];
        greeting[0] = 0xff;
        greeting[9..12].copy_from_slice(&[0x7f, 3, 1]);
        greeting[12..18].copy_from_slice(b"BLAKE3");
        greeting
    }

    pub(crate) fn hello(&mut self, server_greeting: &[u8]) -> Vec<u8> {
        let ephemeral = public(&self.ephemeral);
        let dh1 = x25519(&self.ephemeral, &self.server);
        let hello_box = seal("HELLO", &dh1, &ephemeral, &[0; 64]);
        let hello = command("HELLO", &[&[1, 0], &ephemeral, &[0; 96], &hello_box]);
        let h0 = hash(&[b"BLAKE3ZMQ-1.0", &Self::greeting(), server_greeting]);
        self.h1 = hash(&[&h0, &hello]);
        hello
    }

    pub(crate) fn initiate(&self, welcome: &[u8]) -> Vec<u8> {
        let dh1 = x25519(&self.ephemeral, &self.server);
        let opened = open("WELCOME", &dh1, &self.h1, &welcome[2 + 8..]);
        let (server_ephemeral, cookie) = opened.split_first_chunk::<32>().unwrap();
        let h2 = hash(&[&self.h1, welcome]);
        let dh2 = x25519(&self.ephemeral, server_ephemeral);
        let dh3 = x25519(&self.secret, server_ephemeral);
        let honest = [public(&self.ephemeral), self.server].concat();
        let vouched = self.vouched.map_or(honest, |lie| lie.to_vec());
        let vouch = seal("VOUCH", &dh3, &dh3, &vouched);
        let material = [dh2, h2].concat();
        let plaintext = [&self.claimed[..], &vouch, &self.metadata].concat();
        let initiate_box = seal("INITIATE", &material, &material, &plaintext);
        command("INITIATE", &[cookie, &initiate_box])
    }
}

/// WELCOME of a server that gives any `S'` it likes.
pub(crate) fn lying_welcome(
    server_secret: &[u8; 32],
    client_greeting: &[u8],
    server_greeting: &[u8],
    hello: &[u8],
    server_ephemeral: &[u8; 32],
) -> Vec<u8> {
    let client_ephemeral = hello[2 + 6 + 2..][..32].try_into().unwrap();
    let dh1 = x25519(server_secret, client_ephemeral);
    let h0 = hash(&[b"BLAKE3ZMQ-1.0", client_greeting, server_greeting]);
    let h1 = hash(&[&h0, hello]);
    let plaintext = [&server_ephemeral[..], &[0xc0; 152]].concat();
    command("WELCOME", &[&seal("WELCOME", &dh1, &h1, &plaintext)])
}
