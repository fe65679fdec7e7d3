//! The wire of monte without I/O: the exchange of keys, and frames.
//!
//! ```text
//! client: public key (32) | frame | frame ..        server: the same, after it has the client's
//! frame:  length (u32)  | AES-256-GCM( number (u32) | payload ) | tag (16)
//! nonce:  frames sent before in this direction (u64) | 0 0 0 0
//! ```

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest as _};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

/// Bytes of a public key.
pub const KEY: usize = 32;
/// Largest frame that Go's monte reads unless told otherwise, in bytes, with number and tag.
pub const DEFAULT_MAX_FRAME: usize = 4_096;
/// What a frame adds to a payload, without the length: number and tag, in bytes.
pub const OVERHEAD: usize = 4 + 16;

/// The bytes are not what a peer of monte sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The peer's key is of low order: everybody would know the shared secret.
    #[error("the peer's public key gives no secret")]
    LowOrderKey,
    /// A length field larger than the limit.
    #[error("a frame of {size} bytes is larger than the limit of {limit}")]
    TooLarge {
        /// Bytes that the frame claims.
        size: usize,
        /// Bytes that may be.
        limit: usize,
    },
    /// The tag does not fit, or there is no room for one.
    #[error("a frame does not verify")]
    NotVerified,
    /// A frame without a number.
    #[error("a frame is shorter than its number")]
    Truncated,
    /// 2^64 frames in one direction.
    #[error("the counter is used up")]
    CounterExhausted,
}

/// Both directions of a connection, under **one** key with counters that both begin at zero: each
/// nonce is used twice. See [the module](super).
pub struct NonceRepeatingSession {
    cipher: Aes256Gcm,
    sent: u64,
    received: u64,
    max_frame: usize,
}

/// A key pair for one connection.
pub struct Exchange {
    secret: StaticSecret,
}

impl Exchange {
    /// Makes a key pair from this private key of 32 bytes; it is clamped where it is used.
    pub fn new(private: [u8; KEY]) -> Self {
        Exchange {
            secret: StaticSecret::from(private),
        }
    }

    /// Makes a key pair from a random private key.
    ///
    /// # Errors
    ///
    /// A [`getrandom::Error`] if the operating system has no randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut private = Zeroizing::new([0; KEY]);
        getrandom::fill(&mut private[..])?;
        Ok(Self::new(*private))
    }

    /// Returns the 32 bytes of the public key, which go to the peer before all frames.
    pub fn public(&self) -> [u8; KEY] {
        PublicKey::from(&self.secret).to_bytes()
    }

    /// Computes the shared key from the peer's public key of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`FrameError::LowOrderKey`] if the peer's key is of low order, so that everybody would know the shared
    /// secret.
    pub fn establish(
        &self,
        peer: [u8; KEY],
        max_frame: usize,
    ) -> Result<NonceRepeatingSession, FrameError> {
        let shared = self.secret.diffie_hellman(&PublicKey::from(peer));
        if !shared.was_contributory() {
            return Err(FrameError::LowOrderKey);
        }
        let key = Zeroizing::new(<[u8; KEY]>::from(Blake2b::<U32>::digest(shared.as_bytes())));
        Ok(NonceRepeatingSession::with_key(&key, max_frame))
    }
}

impl NonceRepeatingSession {
    fn with_key(key: &[u8; KEY], max_frame: usize) -> Self {
        NonceRepeatingSession {
            cipher: Aes256Gcm::new(key.into()),
            sent: 0,
            received: 0,
            max_frame,
        }
    }

    fn nonce(counter: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&counter.to_be_bytes());
        nonce
    }

    /// Adds a frame to `out`.
    ///
    /// # Errors
    ///
    /// [`FrameError::TooLarge`] for what a peer with the same limit would not read;
    /// [`FrameError::CounterExhausted`].
    pub fn seal(
        &mut self,
        number: u32,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), FrameError> {
        let size = payload.len() + OVERHEAD;
        if size > self.max_frame {
            let limit = self.max_frame;
            return Err(FrameError::TooLarge { size, limit });
        }
        let next = self
            .sent
            .checked_add(1)
            .ok_or(FrameError::CounterExhausted)?;
        let mut plaintext = Zeroizing::new(Vec::with_capacity(4 + payload.len()));
        plaintext.extend_from_slice(&number.to_be_bytes());
        plaintext.extend_from_slice(payload);
        let nonce = Nonce::from(Self::nonce(self.sent));
        let sealed = self.cipher.encrypt(&nonce, &plaintext[..]);
        let sealed = sealed.map_err(|_| FrameError::NotVerified)?;
        self.sent = next;
        out.extend_from_slice(&(sealed.len() as u32).to_be_bytes());
        out.extend_from_slice(&sealed);
        Ok(())
    }

    /// Returns the size in bytes of the frame behind this length field.
    ///
    /// # Errors
    ///
    /// [`FrameError::TooLarge`] if the frame would be larger than this session takes.
    pub fn frame_size(&self, length: [u8; 4]) -> Result<usize, FrameError> {
        let size = u32::from_be_bytes(length) as usize;
        if size > self.max_frame {
            let limit = self.max_frame;
            return Err(FrameError::TooLarge { size, limit });
        }
        Ok(size)
    }

    /// Opens the next frame, without its length field. Returns its number and payload.
    ///
    /// # Errors
    ///
    /// The connection cannot be used after any of these.
    ///
    /// * [`FrameError::NotVerified`] if the tag is wrong or missing.
    /// * [`FrameError::Truncated`] if the payload has no room for its number.
    /// * [`FrameError::CounterExhausted`] after 2^64 frames.
    pub fn open(&mut self, frame: &[u8]) -> Result<(u32, Vec<u8>), FrameError> {
        let next = self
            .received
            .checked_add(1)
            .ok_or(FrameError::CounterExhausted)?;
        let nonce = Nonce::from(Self::nonce(self.received));
        let opened = self.cipher.decrypt(&nonce, frame);
        let mut payload = opened.map_err(|_| FrameError::NotVerified)?;
        self.received = next;
        let number = payload
            .first_chunk()
            .copied()
            .ok_or(FrameError::Truncated)?;
        payload.drain(..4);
        Ok((u32::from_be_bytes(number), payload))
    }

    /// The halves for a thread that writes and one that reads.
    pub(super) fn split(self) -> (Self, Self) {
        let reader = NonceRepeatingSession {
            cipher: self.cipher.clone(),
            ..self
        };
        (self, reader)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn bytes(value: &Value) -> Vec<u8> {
        let text = value.as_str().unwrap();
        let pairs = text.as_bytes().chunks(2);
        pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    fn key(value: &Value) -> [u8; KEY] {
        bytes(value).try_into().unwrap()
    }

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../../../vectors/monte.json")).unwrap()
    }

    fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
        let list = value[name].as_array().unwrap();
        assert!(!list.is_empty(), "{name} is empty");
        list
    }

    /// Writes and reads both directions of the recorded connections, as either side would.
    #[test]
    fn recorded_connections_are_made_and_read_the_same() {
        let (vectors, mut frames) = (vectors(), 0);
        for session in list(&vectors, "sessions") {
            let name = &session["name"];
            let client = Exchange::new(key(&session["client_private"]));
            let server = Exchange::new(key(&session["server_private"]));
            assert_eq!(client.public(), key(&session["client_public"]), "{name}");
            assert_eq!(server.public(), key(&session["server_public"]), "{name}");
            let mut at_client = client.establish(server.public(), 1 << 20).unwrap();
            let mut at_server = server.establish(client.public(), 1 << 20).unwrap();
            let (mut from_client, mut from_server) =
                (client.public().to_vec(), server.public().to_vec());
            // Null for a connection without any.
            for frame in session["frames"].as_array().into_iter().flatten() {
                frames += 1;
                let number = u32::try_from(frame["seq"].as_u64().unwrap()).unwrap();
                let payload = bytes(&frame["payload"]);
                let c2s = frame["dir"] == "c2s";
                let (writer, reader, wire) = if c2s {
                    (&mut at_client, &mut at_server, &mut from_client)
                } else {
                    (&mut at_server, &mut at_client, &mut from_server)
                };
                let start = wire.len();
                assert_eq!(start as u64, frame["offset"].as_u64().unwrap(), "{name}");
                writer.seal(number, &payload, wire).unwrap();
                let opened = reader.open(&wire[start + 4..]).unwrap();
                assert_eq!(opened, (number, payload), "{name}");
            }
            assert_eq!(from_client, bytes(&session["client_to_server"]), "{name}");
            assert_eq!(from_server, bytes(&session["server_to_client"]), "{name}");
        }
        assert!(frames > 0);
    }

    #[test]
    fn keys_are_taken_and_refused_as_by_the_reference() {
        for case in list(&vectors(), "establish") {
            let name = &case["name"];
            let exchange = Exchange::new(key(&case["private"]));
            let session = exchange.establish(key(&case["peer_public"]), DEFAULT_MAX_FRAME);
            match (case["accept"].as_bool().unwrap(), session) {
                (true, Ok(mut session)) => {
                    let mut expected =
                        NonceRepeatingSession::with_key(&key(&case["key"]), DEFAULT_MAX_FRAME);
                    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                    session.seal(1, b"same key", &mut ours).unwrap();
                    expected.seal(1, b"same key", &mut theirs).unwrap();
                    assert_eq!(ours, theirs, "{name}");
                }
                (false, Err(error)) => assert_eq!(error, FrameError::LowOrderKey, "{name}"),
                (accept, session) => panic!("{name}: {accept}, but {:?}", session.err()),
            }
        }
    }

    /// A whole frame with its length, at this counter.
    fn read(key: &[u8; KEY], counter: u64, wire: &[u8]) -> Result<(u32, Vec<u8>), FrameError> {
        let mut session = NonceRepeatingSession::with_key(key, DEFAULT_MAX_FRAME);
        session.received = counter;
        let (length, rest) = wire.split_first_chunk().ok_or(FrameError::Truncated)?;
        let size = session.frame_size(*length)?;
        session.open(rest.get(..size).ok_or(FrameError::Truncated)?)
    }

    #[test]
    fn tampered_frames_are_refused() {
        for case in list(&vectors(), "reject") {
            let counter = case["counter"].as_u64().unwrap();
            let outcome = read(&key(&case["key"]), counter, &bytes(&case["wire"]));
            assert!(outcome.is_err(), "{}", case["tampered"]);
        }
    }

    #[test]
    fn the_limit_of_a_frame_is_that_of_the_reference() {
        for case in list(&vectors(), "limits") {
            let outcome = read(&key(&case["key"]), 0, &bytes(&case["wire"]));
            let accept = case["accept"].as_bool().unwrap();
            assert_eq!(outcome.is_ok(), accept, "{}: {outcome:?}", case["name"]);
        }
    }

    #[test]
    fn a_used_up_counter_is_an_error() {
        let mut session = NonceRepeatingSession::with_key(&[7; KEY], DEFAULT_MAX_FRAME);
        (session.sent, session.received) = (u64::MAX, u64::MAX);
        let sealed = session.seal(0, b"", &mut Vec::new());
        assert_eq!(sealed, Err(FrameError::CounterExhausted));
        assert_eq!(session.open(&[0; 20]), Err(FrameError::CounterExhausted));
    }
}
