//! The order in which the clock processes links: all of them in rounds, a few at once, and those again that another
//! thread had.

use std::time::Duration;

/// Links that are processed before the sockets of the context have an iteration.
const LINKS_AT_ONCE: usize = 64;
/// When a link is tried again that another thread had.
const BUSY: Duration = Duration::from_millis(1);

/// `L` is a link, `O` what is left to do for one that another thread had.
pub(super) struct Round<L, O> {
    /// The first routing id that is left of a round that has begun.
    left: Option<u32>,
    /// Links that another thread had.
    busy: Vec<(L, Option<O>)>,
    retry: Duration,
}

impl<L, O> Default for Round<L, O> {
    fn default() -> Self {
        Round {
            left: None,
            busy: Vec::new(),
            retry: Duration::ZERO,
        }
    }
}

impl<L, O> Round<L, O> {
    pub(super) fn begin(&mut self) {
        self.left = Some(0);
    }

    /// Whether links are left of a round that has begun.
    pub(super) fn is_under_way(&self) -> bool {
        self.left.is_some()
    }

    /// The next links of a round that has begun. `links_from` gives links by routing id, from one on, and at most a
    /// number of them. A round is over with its last link.
    pub(super) fn take_next(
        &mut self,
        links_from: impl FnOnce(u32, usize) -> Vec<L>,
        routing_id: impl FnOnce(&L) -> u32,
    ) -> Vec<L> {
        let Some(from) = self.left else {
            return Vec::new();
        };
        let links = links_from(from, LINKS_AT_ONCE);
        let last = links.get(LINKS_AT_ONCE - 1);
        self.left = last.and_then(|link| routing_id(link).checked_add(1));
        links
    }

    /// Another thread had the link.
    pub(super) fn put_off(&mut self, link: L, left: Option<O>, now: Duration) {
        self.retry = now + BUSY;
        self.busy.push((link, left));
    }

    /// Those that were put off, if it is time to try them again.
    pub(super) fn take_busy(&mut self, now: Duration) -> Vec<(L, Option<O>)> {
        match self.retry_at() {
            Some(at) if at <= now => std::mem::take(&mut self.busy),
            _ => Vec::new(),
        }
    }

    /// When to try those again that were put off.
    pub(super) fn retry_at(&self) -> Option<Duration> {
        (!self.busy.is_empty()).then_some(self.retry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    /// Routing ids as links.
    type Tested = Round<u32, char>;

    /// The links of a round through these, as they are taken together.
    fn round_through(links: &[u32]) -> Vec<Vec<u32>> {
        let mut round = Tested::default();
        let mut taken = Vec::new();
        round.begin();
        while round.is_under_way() {
            let links_from = |first, most| {
                let from = links.iter().copied().filter(|link| *link >= first);
                from.take(most).collect()
            };
            taken.push(round.take_next(links_from, |link| *link));
        }
        taken
    }

    #[test]
    fn a_round_takes_each_link_once_and_a_few_at_once() {
        // Every third, as others have ended, and the last ones that there can be.
        for count in [0_u32, 1, 63, 64, 65, 128, 200] {
            for step in [1, 3] {
                let first = u32::MAX - (count * step).saturating_sub(step);
                let links: Vec<_> = (first..=u32::MAX).step_by(step as usize).collect();
                let links = &links[..count as usize];
                let taken = round_through(links);
                assert_eq!(taken.concat(), links, "{count} links");
                assert!(taken.iter().all(|some| some.len() <= LINKS_AT_ONCE));
            }
        }
    }

    #[test]
    fn no_round_takes_anything_before_it_has_begun() {
        let mut round = Tested::default();
        let taken = round.take_next(|_, _| vec![1], |link| *link);
        assert!(taken.is_empty() && !round.is_under_way());
    }

    #[test]
    fn a_link_that_was_put_off_comes_back_with_what_was_left_to_do_for_it() {
        let mut round = Tested::default();
        assert_eq!((round.retry_at(), round.take_busy(NOW)), (None, vec![]));
        round.put_off(3, Some('a'), NOW);
        round.put_off(4, None, NOW);
        assert_eq!(round.take_busy(NOW), []);
        let at = round.retry_at().unwrap();
        assert!(at > NOW);
        assert_eq!(round.take_busy(at), [(3, Some('a')), (4, None)]);
        assert_eq!((round.retry_at(), round.take_busy(at)), (None, vec![]));
    }
}
