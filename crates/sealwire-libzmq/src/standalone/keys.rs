//! Z85 of any length, and CURVE's keys in it.

use sealwire::{KeyPair, SecretKey};
use sealwire_zmtp::keys::{KEY_SIZE, z85};

use crate::errno::Errno;

/// Bytes of Z85 for four bytes.
const GROUP: usize = 5;

/// Returns the text of `bytes`, whose length has to be a multiple of four.
pub(crate) fn encode(bytes: &[u8]) -> Result<String, Errno> {
    if !bytes.len().is_multiple_of(4) {
        return Err(Errno::INVAL);
    }
    let mut text = String::with_capacity(bytes.len() / 4 * GROUP);
    for piece in bytes.chunks(KEY_SIZE) {
        // Groups do not depend on each other, so what fills the last piece up is cut off again.
        let mut key = [0; KEY_SIZE];
        key[..piece.len()].copy_from_slice(piece);
        text.push_str(&z85::encode(&key)[..piece.len() / 4 * GROUP]);
    }
    Ok(text)
}

/// Returns the bytes of `text`, whose length has to be a multiple of five above zero.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>, Errno> {
    if text.is_empty() || !text.len().is_multiple_of(GROUP) {
        return Err(Errno::INVAL);
    }
    let mut bytes = Vec::with_capacity(text.len() / GROUP * 4);
    for piece in text.chunks(z85::TEXT_SIZE) {
        let mut key = [b'0'; z85::TEXT_SIZE];
        key[..piece.len()].copy_from_slice(piece);
        let key = std::str::from_utf8(&key).map_err(|_| Errno::INVAL)?;
        let key = z85::decode(key).map_err(|_| Errno::INVAL)?;
        bytes.extend_from_slice(&key[..piece.len() / GROUP * 4]);
    }
    Ok(bytes)
}

/// Reads a secret key and derives the public one.
pub(crate) fn pair(secret: &[u8]) -> Result<KeyPair, Errno> {
    let text = std::str::from_utf8(secret).map_err(|_| Errno::INVAL)?;
    let bytes = z85::decode(text).map_err(|_| Errno::INVAL)?;
    Ok(KeyPair::from_secret(SecretKey::from_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use sealwire::Generate;

    use super::*;

    /// RFC 32.
    const BYTES: [u8; 8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B];

    #[test]
    fn agrees_with_the_rfc() {
        assert_eq!(encode(&BYTES).as_deref(), Ok("HelloWorld"));
        assert_eq!(decode(b"HelloWorld").as_deref(), Ok(&BYTES[..]));
    }

    #[test]
    fn any_length_comes_back() {
        for length in (4..=136).step_by(4) {
            let bytes: Vec<u8> = (0..length).map(|i: u8| i.wrapping_mul(37)).collect();
            let text = encode(&bytes).unwrap();
            assert_eq!(text.len(), bytes.len() / 4 * 5);
            assert_eq!(decode(text.as_bytes()).unwrap(), bytes);
        }
        assert_eq!(encode(&[]).as_deref(), Ok(""));
    }

    #[test]
    fn what_is_no_z85_is_refused() {
        assert_eq!(encode(&BYTES[1..]), Err(Errno::INVAL));
        // Lengths, characters, and a group above the largest number of 32 bits.
        for text in [
            "",
            "Hell",
            "HelloW",
            "Hell~",
            "Hell\u{e4}",
            "%nSc1",
            "#####",
        ] {
            assert_eq!(decode(text.as_bytes()), Err(Errno::INVAL), "{text}");
        }
        assert_eq!(decode(b"%nSc0").as_deref(), Ok(&[0xFF; 4][..]));
    }

    #[test]
    fn a_public_key_is_that_of_the_secret_one() {
        // RFC 26.
        let secret = b"D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";
        let public = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
        assert_eq!(pair(secret).unwrap().public().to_z85(), public);
        assert_eq!(pair(&secret[1..]).err(), Some(Errno::INVAL));
        let generated = KeyPair::generate();
        let again = pair(generated.secret().to_z85().as_bytes()).unwrap();
        assert_eq!(again.public(), generated.public());
    }
}
