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
