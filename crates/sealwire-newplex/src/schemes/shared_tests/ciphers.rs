//! Ciphers with key, nonce and associated data, on every back end.

/// Calls a generic function with the nonce size of a case.
macro_rules! with_nonce_size {
    ($size:expr, $function:ident($($argument:expr),*)) => {
        match $size {
            16 => $function::<U16>($($argument),*),
            17 => $function::<U17>($($argument),*),
            24 => $function::<U24>($($argument),*),
            32 => $function::<U32>($($argument),*),
            64 => $function::<U64>($($argument),*),
            100 => $function::<U100>($($argument),*),
            other => panic!("no test for nonces of {other} bytes"),
        }
    };
}

pub(crate) use with_nonce_size;

/// The tests of `$cipher` against the vectors of `$section`.
macro_rules! cipher_tests {
    ($section:literal, $cipher:ident) => {
        use crate::duplex::every_back_end::on_every_back_end;
        use crate::schemes::shared_tests::ciphers::with_nonce_size;
        use crate::vectors::{VECTORS, bytes, hex, list, number, text};
        use ::aead::consts::{U17, U24, U32, U64, U100};
        use serde_json::Value;

        fn cipher<N: ArraySize>(case: &Value) -> ($cipher<N>, Nonce<N>) {
            let nonce = Nonce::<N>::try_from(bytes(&case["nonce"]).as_slice());
            let cipher = $cipher::new(text(&case["domain"]), &bytes(&case["key"]));
            (cipher, nonce.expect("a nonce of this size"))
        }

        /// Seals and opens, with the crate's own functions and with the traits.
        fn seals_and_opens<N: ArraySize>(case: &Value, plaintext: &[u8], expected: &str) {
            let (cipher, nonce) = cipher::<N>(case);
            let ad = bytes(&case["ad"]);
            let sealed = cipher.seal(&nonce, &ad, plaintext);
            assert_eq!(hex(&sealed), expected);
            assert_eq!(cipher.open(&nonce, &ad, &sealed).as_deref(), Ok(plaintext));

            let mut buffer = plaintext.to_vec();
            let tag = cipher.encrypt_inout_detached(&nonce, &ad, buffer.as_mut_slice().into());
            let tag = tag.expect("a tag");
            assert_eq!([&buffer[..], &tag].concat(), sealed);
            let opened =
                cipher.decrypt_inout_detached(&nonce, &ad, buffer.as_mut_slice().into(), &tag);
            assert!(opened.is_ok() && buffer == plaintext);
        }

        fn refuses<N: ArraySize>(case: &Value) {
            let (cipher, nonce) = cipher::<N>(case);
            let (ad, sealed) = (bytes(&case["ad"]), bytes(&case["ciphertext"]));
            let opened = cipher.open(&nonce, &ad, &sealed);
            assert_eq!(opened, Err(InvalidCiphertext), "{}", case["tampered"]);
            if let Some((text, tag)) = sealed.split_last_chunk() {
                let mut text = text.to_vec();
                let opened = cipher.open_detached(&nonce, &ad, &mut text, tag);
                assert_eq!(opened, Err(InvalidCiphertext), "{}", case["tampered"]);
                assert!(text.iter().all(|byte| *byte == 0), "{}", case["tampered"]);
            }
        }

        #[test]
        fn sealing_gives_the_published_bytes_and_opening_takes_them() {
            on_every_back_end(|_| {
                for case in list(&VECTORS[$section], "vectors") {
                    let plaintext = bytes(&case["plaintext"]);
                    let expected = text(&case["ciphertext"]);
                    let size = number(&case["nonce_size"]);
                    with_nonce_size!(size, seals_and_opens(case, &plaintext, expected));
                }
            });
        }

        #[test]
        fn every_length_of_the_sweep_gives_the_published_bytes() {
            on_every_back_end(|_| {
                for case in list(&VECTORS[$section], "sweep") {
                    let buffer = bytes(&case["buffer"]);
                    let size = bytes(&case["nonce"]).len();
                    for output in list(case, "outputs") {
                        let (length, expected) = (number(&output["len"]), text(&output["output"]));
                        with_nonce_size!(size, seals_and_opens(case, &buffer[..length], expected));
                    }
                }
            });
        }

        #[test]
        fn what_was_tampered_with_is_refused_and_wiped() {
            on_every_back_end(|_| {
                for case in list(&VECTORS[$section], "reject") {
                    with_nonce_size!(bytes(&case["nonce"]).len(), refuses(case));
                }
            });
        }
    };
}

pub(crate) use cipher_tests;
