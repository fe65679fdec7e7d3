//! The published vectors, and what is not in them.

use super::*;
use crate::schemes::shared_tests::streams::stream_tests;

stream_tests!(
    "aestream",
    writer(case, inner) { Writer::new(protocol(case), inner) },
    reader { Reader::new(protocol(case), inner) }
);

#[test]
fn memory_is_taken_as_bytes_arrive_and_not_as_they_are_announced() {
    let case = &case_list("vectors")[0];
    let mut header = 65_000_u16.to_be_bytes();
    protocol(case).mask("header", &mut header);
    let sealed = [&header[..], &[0; 100]].concat();
    let mut reader = reader(case, sealed.as_slice());
    assert!(reader.read(&mut [0; 8]).is_err());
    assert!(reader.block.capacity() < 1_024);
}

#[test]
fn blocks_opened_in_place_are_those_of_the_stream() {
    on_every_back_end(|_| {
        for case in case_list("vectors") {
            let mut sealed = bytes(&case["ciphertext"]);
            let (mut opener, mut sealer) =
                (Opener::new(protocol(case)), Sealer::new(protocol(case)));
            let (mut rest, mut plaintext) = (sealed.as_mut_slice(), Vec::new());
            loop {
                let size = opener.block_size([rest[0], rest[1]]);
                let (block, after) = rest.split_at_mut(size);
                rest = after;
                let before = block.to_vec();
                let text = opener.open(block).expect("authentic");
                if text.is_empty() {
                    let (end, protocol) = sealer.end();
                    assert_eq!(end.as_slice(), before);
                    assert_eq!(final_output(protocol), text_of(case));
                    break;
                }
                plaintext.extend_from_slice(text);
                sealer.seal(block);
                assert_eq!(block, before);
            }
            assert!(rest.is_empty() && opener.open(&mut [0; OVERHEAD]).is_err());
            let writes = case["writes"].as_array().expect("writes");
            assert_eq!(plaintext, writes.iter().flat_map(bytes).collect::<Vec<_>>());
        }
    });
}

fn text_of(case: &Value) -> &str {
    text(&case["final"])
}

#[test]
fn an_opener_stays_closed_after_a_forgery() {
    let case = &case_list("vectors")[1];
    let sealed = bytes(&case["ciphertext"]);
    for forged in 0..3 {
        let mut opener = Opener::new(protocol(case));
        let size = opener.block_size([sealed[0], sealed[1]]);
        let mut block = sealed[..size].to_vec();
        match forged {
            0 => block[2] ^= 1,
            1 => block.truncate(size - 1),
            _ => block.push(0),
        }
        assert!(opener.open(&mut block).is_err());
        assert!(opener.open(&mut sealed[..size].to_vec()).is_err());
    }
}

#[test]
#[should_panic(expected = "a block carries")]
fn an_end_is_not_sealed_by_accident() {
    Sealer::new(Protocol::new("test")).seal(&mut [0; OVERHEAD]);
}
