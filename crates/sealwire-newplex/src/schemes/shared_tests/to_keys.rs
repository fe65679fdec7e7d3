//! Encryption to a public key by the owner of another.

/// The tests of `Sender` and `Receiver` against the vectors of `$section`.
macro_rules! to_key_tests {
    ($section:literal, seal($sender:ident, $random:ident, $text:ident) $seal:block, $proof_size:expr) => {
        use crate::vectors::{VECTORS, bytes, hex, list, text};
        use serde_json::Value;
        use std::vec::Vec;

        fn secret(case: &Value, name: &str) -> SecretKey {
            SecretKey::from_bytes(&bytes(&case[name])).expect("a key")
        }

        fn seal($sender: &Sender, $random: &[u8], $text: &[u8]) -> Vec<u8> $seal

        fn open(case: &Value) -> Option<Vec<u8>> {
            let sender = PublicKey::from_bytes(&bytes(&case["sender_public"])).ok()?;
            let receiver = Receiver::new(
                text(&case["domain"]),
                &secret(case, "receiver_private"),
                &sender,
            );
            receiver.open(&bytes(&case["ciphertext"])).ok()
        }

        #[test]
        fn sealing_gives_the_published_bytes_and_opening_takes_them() {
            for case in list(&VECTORS[$section], "vectors") {
                let receiver =
                    PublicKey::from_bytes(&bytes(&case["receiver_public"])).expect("a key");
                let sender = Sender::new(
                    text(&case["domain"]),
                    &secret(case, "sender_private"),
                    &receiver,
                );
                let plaintext = bytes(&case["plaintext"]);
                let sealed = seal(&sender, &bytes(&case["rand"]), &plaintext);
                assert_eq!(hex(&sealed), text(&case["ciphertext"]), "{}", case["name"]);
                assert_eq!(open(case), Some(plaintext), "{}", case["name"]);
            }
        }

        #[test]
        fn what_was_tampered_with_is_refused() {
            for case in list(&VECTORS[$section], "reject") {
                assert_eq!(open(case), None, "{}", case["tampered"]);
            }
        }

        #[test]
        fn the_identity_as_ephemeral_key_is_refused_where_the_reference_accepts_it() {
            for case in list(&VECTORS[$section], "edge") {
                assert_eq!(open(case), None, "{}", case["tampered"]);
            }
        }

        #[test]
        fn what_cannot_be_opened_is_wiped() {
            let (one, other) = (SecretKey::new(3_u8.into()), SecretKey::new(5_u8.into()));
            let receiver = Receiver::new("domain", &one, other.public_key());
            for ephemeral in [[0; 32], [255; 32], other.public_key().to_bytes()] {
                let mut text = *b"ciphertext";
                let opened = receiver.open_detached(&ephemeral, &mut text, &[0; $proof_size]);
                assert_eq!((opened, text), (Err(InvalidCiphertext), [0; 10]));
            }
        }

        #[cfg(feature = "std")]
        #[test]
        fn the_same_message_is_sealed_to_other_bytes_each_time() {
            let (one, other) = (SecretKey::new(3_u8.into()), SecretKey::new(5_u8.into()));
            let sender = Sender::new("domain", &one, other.public_key());
            assert_ne!(sender.seal(b"message"), sender.seal(b"message"));
        }
    };
}

pub(crate) use to_key_tests;
