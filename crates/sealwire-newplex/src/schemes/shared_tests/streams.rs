//! Streams of sealed blocks, on every back end.

/// The tests of `Writer` and `Reader` against the vectors of `$section`.
macro_rules! stream_tests {
    (
        $section:literal,
        writer($case:ident, $inner:ident) $writer:block,
        reader $reader:block
    ) => {
        use crate::duplex::every_back_end::on_every_back_end;
        use crate::schemes::digest::Digest;
        use crate::vectors::{VECTORS, bytes, hex, list, number, text};
        use serde_json::Value;

        /// The protocol that a stream begins with.
        fn protocol(case: &Value) -> Protocol {
            let mut protocol = Protocol::new(text(&case["domain"]));
            for mix in case["setup"].as_array().expect("an array") {
                protocol.mix(text(&mix["label"]), &bytes(&mix["input"]));
            }
            protocol
        }

        fn writer<W: Write>($case: &Value, $inner: W) -> Writer<W> $writer

        fn reader<R: Read>($case: &Value, $inner: R) -> Reader<R> $reader

        /// Gives few bytes at a time.
        struct Trickle<'a>(&'a [u8]);

        impl Read for Trickle<'_> {
            fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
                let length = output.len().min(7);
                self.0.read(&mut output[..length])
            }
        }

        /// Everything that is released, and how it ended.
        fn read_all(reader: &mut impl Read) -> (Vec<u8>, io::Result<()>) {
            let (mut released, mut piece) = (Vec::new(), [0; 37]);
            loop {
                match reader.read(&mut piece) {
                    Ok(0) => return (released, Ok(())),
                    Ok(length) => released.extend(&piece[..length]),
                    Err(error) => return (released, Err(error)),
                }
            }
        }

        fn final_output(mut protocol: Protocol) -> std::string::String {
            hex(&protocol.derive_array::<32>("final"))
        }

        #[test]
        fn writes_give_the_published_stream_and_reading_takes_it() {
            on_every_back_end(|_| {
                for case in list(&VECTORS[$section], "vectors") {
                    let mut writer = writer(case, Vec::new());
                    let mut plaintext = Vec::new();
                    for write in case["writes"].as_array().expect("writes") {
                        writer.write_all(&bytes(write)).expect("memory");
                        plaintext.extend(bytes(write));
                    }
                    let (protocol, sealed) = writer.finish().expect("memory");
                    assert_eq!(hex(&sealed), text(&case["ciphertext"]), "{}", case["name"]);
                    assert_eq!(
                        final_output(protocol),
                        text(&case["final"]),
                        "{}",
                        case["name"]
                    );

                    let mut reader = reader(case, Trickle(&sealed));
                    let (released, ended) = read_all(&mut reader);
                    assert!(ended.is_ok(), "{}", case["name"]);
                    assert_eq!(released, plaintext, "{}", case["name"]);
                    let (protocol, _) = reader.finish().expect("the end");
                    assert_eq!(
                        final_output(protocol),
                        text(&case["final"]),
                        "{}",
                        case["name"]
                    );
                }
            });
        }

        #[test]
        fn long_streams_have_the_published_digests() {
            for case in list(&VECTORS[$section], "large") {
                let (mul, add) = (number(&case["mul"]), number(&case["add"]));
                let mut writer = writer(case, Vec::new());
                let mut plaintext = Vec::new();
                for size in list(case, "write_sizes") {
                    let start = plaintext.len();
                    plaintext.extend((start..start + number(size)).map(|i| ((i * mul + add) % 251) as u8));
                    writer.write_all(&plaintext[start..]).expect("memory");
                }
                let (protocol, sealed) = writer.finish().expect("memory");
                assert_eq!(
                    sealed.len(),
                    number(&case["ciphertext_length"]),
                    "{}",
                    case["name"]
                );
                let digest = hex(&Digest::of("kat.large", &sealed));
                assert_eq!(
                    digest,
                    text(&case["ciphertext_newplex_digest"]),
                    "{}",
                    case["name"]
                );
                assert_eq!(
                    final_output(protocol),
                    text(&case["final"]),
                    "{}",
                    case["name"]
                );
                let (released, ended) = read_all(&mut reader(case, sealed.as_slice()));
                assert!(ended.is_ok() && released == plaintext, "{}", case["name"]);
            }
        }

        #[test]
        fn what_was_tampered_with_is_refused_for_ever() {
            on_every_back_end(|_| {
                for case in list(&VECTORS[$section], "reject") {
                    let sealed = bytes(&case["ciphertext"]);
                    let mut reader = reader(case, sealed.as_slice());
                    let (released, ended) = read_all(&mut reader);
                    let error = ended.expect_err("a refusal");
                    assert_eq!(
                        error.kind(),
                        io::ErrorKind::InvalidData,
                        "{}",
                        case["tampered"]
                    );
                    assert_eq!(
                        hex(&released),
                        text(&case["released"]),
                        "{}",
                        case["tampered"]
                    );
                    let again = reader.read(&mut [0; 8]).expect_err("a refusal");
                    assert_eq!(
                        again.kind(),
                        io::ErrorKind::InvalidData,
                        "{}",
                        case["tampered"]
                    );
                    assert!(reader.finish().is_err(), "{}", case["tampered"]);
                }
            });
        }

        #[test]
        fn edge_cases_end_as_with_the_reference() {
            for case in case_list("edge") {
                let sealed = bytes(&case["ciphertext"]);
                let (released, ended) = read_all(&mut reader(case, sealed.as_slice()));
                assert_eq!(
                    ended.is_ok(),
                    case["accept"] == true,
                    "{}",
                    case["tampered"]
                );
                assert_eq!(
                    hex(&released),
                    text(&case["released"]),
                    "{}",
                    case["tampered"]
                );
            }
        }

        fn case_list(name: &str) -> &'static [Value] {
            list(&VECTORS[$section], name)
        }

        /// Fails once, then would go on.
        struct FailsOnce(bool);

        impl Write for FailsOnce {
            fn write(&mut self, data: &[u8]) -> io::Result<usize> {
                if core::mem::replace(&mut self.0, true) {
                    return Ok(data.len());
                }
                Err(io::Error::other("no room"))
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        impl Read for FailsOnce {
            fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
                if core::mem::replace(&mut self.0, true) {
                    output.fill(7);
                    return Ok(output.len());
                }
                Err(io::Error::other("gone"))
            }
        }

        #[test]
        fn a_stream_that_failed_stays_failed() {
            let case = &case_list("vectors")[1];
            let mut writer = writer(case, FailsOnce(false));
            let long = [0; 5_000];
            assert!(writer.write(&long).is_err());
            assert!(writer.write(&long).is_err());
            assert!(writer.finish().is_err());
            let mut reader = reader(case, FailsOnce(false));
            assert!(reader.read(&mut [0; 8]).is_err());
            assert!(reader.read(&mut [0; 8]).is_err());
        }

        #[test]
        fn a_stream_that_was_not_read_to_its_end_cannot_be_finished() {
            let case = &case_list("vectors")[1];
            let sealed = bytes(&case["ciphertext"]);
            assert!(reader(case, sealed.as_slice()).finish().is_err());
        }
    };
}

pub(crate) use stream_tests;
