//! The keys, the nonce, the message and the results of D. J. Bernstein, "Cryptography in NaCl" (2009),
//! sections 2 to 10, which are also NaCl's tests `box`, `box2`, `secretbox`, `scalarmult`, `onetimeauth`, `stream3` and
//! `core1` to `core3`, and libsodium's of the same names.

pub(crate) const ALICE: &str = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
pub(crate) const ALICE_PUBLIC: &str =
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
pub(crate) const BOB: &str = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
pub(crate) const BOB_PUBLIC: &str =
    "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
pub(crate) const SHARED: &str = "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389";
pub(crate) const NONCE: &str = "69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37";
pub(crate) const MESSAGE: &str = "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc\
    e5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31\
    0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde\
    048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864\
    5e0705";
pub(crate) const TAG: &str = "f3ffc7703f9400e52a7dfb4b3d3305d9";
pub(crate) const CIPHERTEXT: &str = "8e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a\
    c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738\
    b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da\
    99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74\
    e355a5";

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digit = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

pub(crate) fn array<const N: usize>(text: &str) -> [u8; N] {
    hex(text).try_into().unwrap()
}
