//! The events of a connection that were not polled yet, oldest first. Messages lie in a queue of
//! their own, so that a batch of them is handed over without touching any.

use alloc::collections::VecDeque;

use super::Event;
use crate::message::Frames;

#[derive(Debug, Default)]
pub(super) struct Events {
    messages: VecDeque<Frames>,
    /// Payload of `messages`.
    bytes: usize,
    /// Messages taken since the connection began.
    taken: u64,
    /// Everything else, with the number of messages that go before it.
    others: VecDeque<(u64, Event)>,
}

impl Events {
    #[inline]
    pub(super) fn push_message(&mut self, message: Frames) {
        self.bytes += message.size();
        self.messages.push_back(message);
    }

    pub(super) fn push(&mut self, event: Event) {
        match event {
            Event::Message(message) => self.push_message(message),
            event => {
                let before = self.taken + self.messages.len() as u64;
                self.others.push_back((before, event));
            }
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        if self.messages_before_others() == 0 {
            return self.others.pop_front().map(|(_, event)| event);
        }
        let message = self.messages.pop_front()?;
        self.took(1, message.size());
        Some(Event::Message(message))
    }

    /// Moves messages that come next behind what `into` holds, up to `limit` of them and until they
    /// have `bytes` of payload. Returns how many bytes they have.
    pub(super) fn take_messages(
        &mut self,
        into: &mut VecDeque<Frames>,
        limit: usize,
        bytes: usize,
    ) -> usize {
        let count = self.messages_before_others();
        let all = count == self.messages.len() && count <= limit && self.bytes < bytes;
        if all && into.is_empty() {
            core::mem::swap(&mut self.messages, into);
            let taken = self.bytes;
            self.took(count, taken);
            return taken;
        }
        let (mut number, mut taken) = (0, 0);
        for message in self.messages.iter().take(limit.min(count)) {
            if taken >= bytes {
                break;
            }
            taken += message.size();
            number += 1;
        }
        into.extend(self.messages.drain(..number));
        self.took(number, taken);
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.others.is_empty()
    }

    /// How many messages come before anything else; all of them where there is nothing else.
    fn messages_before_others(&self) -> usize {
        match self.others.front() {
            Some((before, _)) => (before - self.taken) as usize,
            None => self.messages.len(),
        }
    }

    fn took(&mut self, messages: usize, bytes: usize) {
        self.taken += messages as u64;
        self.bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn message(number: usize) -> Event {
        Event::Message(Frames::single(vec![7; number % 5]))
    }

    fn other(number: usize) -> Event {
        Event::Subscribe(Bytes::from(vec![9; number % 5]))
    }

    /// Something that can be compared.
    fn seen(event: &Event) -> (bool, usize) {
        match event {
            Event::Message(message) => (true, message.size()),
            Event::Subscribe(topic) => (false, topic.len()),
            event => panic!("{event:?} was not put in"),
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push {
            messages: usize,
            others: usize,
        },
        Pop(usize),
        Take {
            limit: usize,
            bytes: usize,
            into_empty: bool,
        },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let limit = || prop_oneof![0..6usize, Just(usize::MAX)];
        let step = prop_oneof![
            (0..6usize, 0..3usize).prop_map(|(messages, others)| Step::Push { messages, others }),
            (1..4usize).prop_map(Step::Pop),
            (limit(), limit(), any::<bool>()).prop_map(|(limit, bytes, into_empty)| Step::Take {
                limit,
                bytes,
                into_empty
            }),
        ];
        prop::collection::vec(step, 0..40)
    }

    #[test]
    fn an_empty_message_behind_the_last_byte_stays() {
        let mut events = Events::default();
        [2, 0]
            .into_iter()
            .for_each(|size| events.push(message(size)));
        let mut into = VecDeque::new();
        assert_eq!(events.take_messages(&mut into, usize::MAX, 2), 2);
        assert_eq!(into.len(), 1);
    }

    proptest! {
        /// Against one queue of everything.
        #[test]
        fn events_keep_their_order(steps in steps()) {
            let (mut events, mut model) = (Events::default(), VecDeque::new());
            let mut number = 0;
            for step in steps {
                match step {
                    Step::Push { messages, others } => {
                        let kinds = [(messages, message as fn(usize) -> Event), (others, other)];
                        for (count, make) in kinds {
                            for _ in 0..count {
                                number += 1;
                                model.push_back(seen(&make(number)));
                                events.push(make(number));
                            }
                        }
                    }
                    Step::Pop(count) => {
                        for _ in 0..count {
                            prop_assert_eq!(events.pop().as_ref().map(seen), model.pop_front());
                        }
                    }
                    Step::Take { limit, bytes, into_empty } => {
                        let mut into = VecDeque::new();
                        if !into_empty {
                            into.push_back(Frames::single("before"));
                        }
                        let had = into.len();
                        let taken = events.take_messages(&mut into, limit, bytes);
                        let mut expected = 0;
                        for message in into.iter().skip(had) {
                            prop_assert!(expected < bytes);
                            expected += message.size();
                            prop_assert_eq!(Some((true, message.size())), model.pop_front());
                        }
                        prop_assert_eq!(taken, expected);
                        let more = model.front().is_some_and(|(is_message, _)| *is_message);
                        prop_assert!(!more || into.len() - had == limit || taken >= bytes);
                    }
                }
                prop_assert_eq!(events.is_empty(), model.is_empty());
            }
        }
    }
}
