//! What counts as one of many messages. Beside `bursts`, which loom takes as it is.

use std::time::Duration;

use super::bursts::{BURST, Bursts};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_message_soon_behind_the_end_of_another_is_one_of_many() {
    let bursts = Bursts::default();
    assert!(bursts.is_single(Duration::ZERO));
    assert!(bursts.is_single(SECOND));
    assert!(!bursts.is_single(SECOND + BURST));
    // One that took longer to send than that.
    assert!(bursts.is_single(2 * SECOND));
    bursts.sent(2 * SECOND + 9 * BURST);
    assert!(!bursts.is_single(2 * SECOND + 10 * BURST));
    bursts.received();
    assert!(bursts.is_single(2 * SECOND + 10 * BURST));
}
