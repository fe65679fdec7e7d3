//! The published vectors.

use super::*;
use crate::schemes::shared_tests::streams::stream_tests;

stream_tests!(
    "oae2",
    writer(case, inner) { Writer::new(protocol(case), inner, block_size(case)) },
    reader { Reader::new(protocol(case), inner, block_size(case)) }
);

fn block_size(case: &Value) -> NonZeroUsize {
    NonZeroUsize::new(number(&case["block_size"])).expect("not zero")
}
