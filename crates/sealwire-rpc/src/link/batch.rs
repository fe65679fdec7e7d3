//! Which link's messages a thread processes. The link flushes what they cause at the end of the batch.

use std::cell::Cell;

use super::CallLink;

thread_local! {
    static IN_BATCH: Cell<Option<Processing>> = const { Cell::new(None) };
}

/// This thread processes a batch of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Processing {
    /// Where the link of the current message is in memory; `None` between two.
    link: Option<usize>,
}

impl Processing {
    fn with<O>(link: Option<&CallLink<O>>) -> Option<Self> {
        let link = link.map(|link| std::ptr::from_ref(link).addr());
        Some(Processing { link })
    }
}

/// This thread processes messages from here on, now one of this link.
pub(crate) fn process_for<O>(link: Option<&CallLink<O>>) {
    IN_BATCH.set(Processing::with(link));
}

/// This thread has processed its batch.
pub(crate) fn end_batch() {
    IN_BATCH.set(None);
}

/// Whether this thread processes a batch.
pub(crate) fn is_in_batch() -> bool {
    IN_BATCH.get().is_some()
}

/// Whether this thread processes a message of this link, and flushes it later.
pub(super) fn flushes_later<O>(link: &CallLink<O>) -> bool {
    IN_BATCH.get() == Processing::with(Some(link))
}
