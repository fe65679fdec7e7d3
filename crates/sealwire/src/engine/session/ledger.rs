//! Which messages of a connection have not left it, and which left without proof that they arrived.

use sealwire_zmtp::connection::OutputProgress;

/// Batches that are remembered apart. Beyond that, neighbours are counted together: then a PONG confirms
/// fewer of them, never too many.
const MAX_BATCHES: usize = 16;

/// Messages given to the protocol one after the other, of which none is known to have arrived.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Batch {
    messages: usize,
    /// Where its first message begins in the output, in bytes.
    begin: u64,
    /// Where its last message ends.
    end: u64,
}

/// The messages of a connection on their way out, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    /// At most [`MAX_BATCHES`]; without memory until the first message.
    batches: Vec<Batch>,
}

/// What a connection leaves undone as it ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Undelivered {
    /// Messages of which nothing was written.
    pub(super) unsent: usize,
    /// Messages that were written, or begun, and may have arrived.
    pub(super) unconfirmed: usize,
}

impl Ledger {
    /// Notes that `messages` messages were staged, at this place of the output.
    pub(super) fn staged(&mut self, messages: usize, begin: u64, output: OutputProgress) {
        if messages == 0 {
            return;
        }
        if self.batches.len() == MAX_BATCHES {
            self.forget_confirmed(output);
            self.merge_written(output);
        }
        let end = output.staged;
        let batch = Batch {
            messages,
            begin,
            end,
        };
        let full = self.batches.len() == MAX_BATCHES;
        match self.batches.last_mut() {
            // None of them was written.
            Some(last) if full => last.merge(batch),
            _ => self.batches.push(batch),
        }
    }

    /// Counts batches that were written together, two and two.
    fn merge_written(&mut self, output: OutputProgress) {
        let written = self.batches.iter();
        let written = written.take_while(|it| it.end <= output.taken).count();
        for pair in 0..written / 2 {
            // Those before it are one place shorter each.
            let next = self.batches.remove(pair + 1);
            self.batches[pair].merge(next);
        }
    }

    fn forget_confirmed(&mut self, output: OutputProgress) {
        let batches = self.batches.iter();
        let confirmed = batches.take_while(|it| it.end <= output.confirmed).count();
        self.batches.drain(..confirmed);
    }

    /// The connection has ended.
    pub(super) fn close(mut self, output: OutputProgress) -> Undelivered {
        self.forget_confirmed(output);
        let (mut unsent, mut unconfirmed) = (0, 0);
        for batch in self.batches {
            // One that was begun counts whole: which of its messages are out is not known.
            match batch.begin >= output.taken {
                true => unsent += batch.messages,
                false => unconfirmed += batch.messages,
            }
        }
        Undelivered {
            unsent,
            unconfirmed,
        }
    }
}

impl Batch {
    fn merge(&mut self, next: Batch) {
        self.messages += next.messages;
        self.end = next.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(staged: u64, taken: u64, confirmed: u64) -> OutputProgress {
        let mut progress = OutputProgress::default();
        (progress.staged, progress.taken, progress.confirmed) = (staged, taken, confirmed);
        progress
    }

    /// A ledger of ten batches: number `n` has `n` messages in 10 bytes, behind 100 bytes of handshake.
    fn ten() -> Ledger {
        let mut ledger = Ledger::default();
        for number in 0..10 {
            let begin = 100 + 10 * number;
            ledger.staged(number as usize, begin, progress(begin + 10, begin, 0));
        }
        ledger
    }

    #[test]
    fn what_was_not_begun_is_unsent_and_what_was_begun_may_have_arrived() {
        for (taken, unconfirmed) in [(100, 0), (111, 1), (150, 10), (151, 15), (200, 45)] {
            let undelivered = ten().close(progress(200, taken, 0));
            let expected = Undelivered {
                unsent: 45 - unconfirmed,
                unconfirmed,
            };
            assert_eq!(undelivered, expected, "{taken}");
        }
    }

    #[test]
    fn what_a_pong_confirms_is_forgotten() {
        for (confirmed, left) in [(0, 45), (119, 45), (120, 44), (150, 35), (200, 0)] {
            let undelivered = ten().close(progress(200, 200, confirmed));
            assert_eq!(undelivered.unconfirmed, left, "{confirmed}");
        }
    }

    #[test]
    fn however_many_batches_there_are_none_is_forgotten_without_proof() {
        let mut ledger = Ledger::default();
        for number in 0..1_000 {
            // The last one is staged and not taken.
            ledger.staged(1, 10 * number, progress(10 * (number + 1), 10 * number, 0));
        }
        assert!(ledger.batches.len() <= MAX_BATCHES);
        let written = progress(10_000, 9_990, 5_000);
        let Undelivered {
            unsent,
            unconfirmed,
        } = ledger.close(written);
        assert_eq!(unsent, 1);
        assert!((499..=999).contains(&unconfirmed), "{unconfirmed}");
    }

    #[test]
    fn batches_that_wait_for_the_transport_are_counted_together_at_last() {
        let mut ledger = Ledger::default();
        for number in 0..100 {
            ledger.staged(1, 10 * number, progress(10 * (number + 1), 0, 0));
        }
        assert!(ledger.batches.len() <= MAX_BATCHES);
        // The last batch has all those that found no room for one of their own, and ends behind them.
        let apart = MAX_BATCHES - 1;
        for (taken, confirmed, unsent, unconfirmed) in [
            (0, 0, 100, 0),
            (1_000, 10 * MAX_BATCHES as u64, 0, 100 - apart),
            (1_000, 999, 0, 100 - apart),
            (1_000, 1_000, 0, 0),
        ] {
            let output = progress(1_000, taken, confirmed);
            let undelivered = ledger.clone().close(output);
            let expected = Undelivered {
                unsent,
                unconfirmed,
            };
            assert_eq!(undelivered, expected, "{confirmed}");
        }
    }
}
