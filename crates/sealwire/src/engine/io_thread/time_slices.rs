//! Sources with more work than fits into a time slice. Each gets one more slice per iteration,
//! however often it asks: a peer that is never done must not get more and more of them.

/// Their slots.
#[derive(Default)]
pub(super) struct TimeSlices {
    /// Those that asked since this iteration began.
    asked: Vec<usize>,
    /// Those that get one in this iteration.
    due: Vec<usize>,
}

impl TimeSlices {
    /// Whether nobody asked for one in the next iteration.
    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// How many get one in this iteration or the next.
    pub(super) fn len(&self) -> usize {
        self.asked.len() + self.due.len()
    }

    /// Asks for one in the next iteration.
    pub(super) fn ask(&mut self, slot: usize) {
        self.asked.push(slot);
    }

    /// The sources that asked until now get one in this iteration.
    pub(super) fn begin(&mut self) {
        self.due.append(&mut self.asked);
        self.due.sort_unstable();
        self.due.dedup();
    }

    /// Whose it is.
    pub(super) fn next(&mut self) -> Option<usize> {
        self.due.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_often_gets_one_an_iteration() {
        let mut slices = TimeSlices::default();
        for slot in [3, 5, 3, 3, 5] {
            slices.ask(slot);
        }
        for _ in 0..3 {
            slices.begin();
            let mut served = Vec::new();
            while let Some(slot) = slices.next() {
                served.push(slot);
                // Never done: what it asks for now is for the next iteration.
                slices.ask(slot);
                slices.ask(slot);
            }
            served.sort_unstable();
            assert_eq!(served, [3, 5]);
            assert!(!slices.is_empty());
        }
    }
}
