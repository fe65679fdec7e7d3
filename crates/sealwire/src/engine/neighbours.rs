//! The other I/O threads of a context, to which a thread gives connections that its listeners have accepted.

use std::sync::Arc;

use super::mailbox::Mailbox;

/// The threads of a context, as one of them sees them. A thread that is alone has none.
#[derive(Default)]
pub(super) struct Neighbours {
    own: usize,
    mailboxes: Arc<[Arc<Mailbox>]>,
}

impl Neighbours {
    /// Those of the thread with this number.
    pub(super) fn of(own: usize, mailboxes: Arc<[Arc<Mailbox>]>) -> Self {
        Neighbours { own, mailboxes }
    }

    /// The thread with this number.
    pub(super) fn mailbox(&self, thread: usize) -> &Arc<Mailbox> {
        &self.mailboxes[thread]
    }

    /// A thread that serves so much less than this one that it is to have one connection of it, of those whose bit is
    /// set in `affinity`, where any is.
    pub(super) fn with_less_to_serve(&self, affinity: u64) -> Option<usize> {
        let load = |thread: usize| self.mailboxes[thread].load().get();
        let allowed = |thread: usize| affinity == 0 || affinity & (1 << thread) != 0;
        let others = (0..self.mailboxes.len()).filter(|&thread| thread != self.own);
        let least = others
            .filter(|&thread| allowed(thread))
            .min_by_key(|&thread| load(thread))?;
        // Where it had the connection it would still serve no more.
        (load(least) + 1 < load(self.own)).then_some(least)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::engine::world::System;

    #[test]
    fn a_connection_goes_where_less_is_to_be_served_with_it() {
        let epoch = Instant::now();
        let mailboxes = (0..3).map(|_| Mailbox::new(Arc::new(System::new(epoch).unwrap())).into());
        let mailboxes: Arc<[Arc<Mailbox>]> = mailboxes.collect();
        let neighbours = Neighbours::of(1, mailboxes.clone());
        let chosen = |loads: [usize; 3], affinity| {
            let serve = |(mailbox, load): (&Arc<Mailbox>, usize)| {
                Vec::from_iter((0..load).map(|_| mailbox.load().share()))
            };
            let _shares: Vec<_> = mailboxes.iter().zip(loads).map(serve).collect();
            neighbours.with_less_to_serve(affinity)
        };
        for (loads, affinity, expected) in [
            ([0, 1, 0], 0, None),
            ([1, 2, 1], 0, None),
            ([0, 2, 1], 0, Some(0)),
            ([3, 5, 2], 0, Some(2)),
            ([3, 5, 2], 0b011, Some(0)),
            ([4, 5, 2], 0b011, None),
            ([0, 5, 0], 0b010, None),
        ] {
            assert_eq!(chosen(loads, affinity), expected, "{loads:?}");
        }
        assert_eq!(Neighbours::default().with_less_to_serve(0), None);
    }
}
