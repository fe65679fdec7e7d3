//! Commands that panic as they are dropped. Beside `inbox`, which loom takes as it is.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::inbox::Inbox;

struct Parting<'a>(&'a AtomicUsize);

impl Drop for Parting<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("a command's end");
    }
}

#[test]
fn commands_that_panic_as_they_are_dropped_keep_no_others() {
    let dropped = AtomicUsize::new(0);
    let inbox = Inbox::<_, ()>::default();
    for _ in 0..3 {
        inbox.post(Parting(&dropped), || ());
    }
    inbox.close();
    assert_eq!(dropped.load(Ordering::SeqCst), 3);
    // The thread has ended.
    inbox.post(Parting(&dropped), || panic!("nobody to wake"));
    assert_eq!(dropped.load(Ordering::SeqCst), 4);
}
