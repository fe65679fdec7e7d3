//! The calls of the peer: what was asked and is not answered, or whose handler has not noticed that
//! nobody waits any more.

use std::task::{Poll, Waker};
use std::time::Duration;

use super::flow::{Flow, Item};
use super::wire::{Header, Kind, decode_time};
use super::{Body, Connection, Event, NotSent, Violation, status_body};
use crate::status::{Code, Status};

/// Names a call of the peer for its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServedKey {
    slot: usize,
    serial: u64,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Sent,
    /// Nobody waits any more.
    TooLate,
    TooLarge {
        size: usize,
        limit: usize,
    },
}

pub(super) struct Served {
    serial: u64,
    /// `None` once answered or cancelled.
    number: Option<u32>,
    /// A handler holds it.
    pub(super) owned: bool,
    watcher: Option<Waker>,
    pub(super) flow: Option<Box<Flow>>,
}

impl Served {
    /// Nobody waits for the answer any more.
    pub(super) fn abandon(&mut self) -> impl Iterator<Item = Waker> + '_ {
        self.number = None;
        let flow = self.flow.as_mut().map(|flow| flow.end());
        self.watcher
            .take()
            .into_iter()
            .chain(flow.into_iter().flatten())
    }
}

impl Connection {
    pub(super) fn request(
        &mut self,
        header: Header,
        body: Body,
        now: Duration,
    ) -> Result<Event, Violation> {
        let number = header.number;
        if self.numbers.contains_key(&number) {
            return Err(Violation::NotItsNumber);
        }
        if self.we_go_away {
            self.refuse(number, Code::UNAVAILABLE, "shutting down");
            return Ok(Event::Nothing);
        }
        if self.served.len() >= self.local.max_calls as usize {
            self.refuse(number, Code::RESOURCE_EXHAUSTED, "too many calls at a time");
            return Ok(Event::Nothing);
        }
        self.serial += 1;
        let streams = header.kind == Kind::Open;
        let flow = streams.then(|| Flow::new(self.local.stream_window, self.peer.stream_window));
        let slot = self.served.insert(Served {
            serial: self.serial,
            number: Some(number),
            owned: true,
            watcher: None,
            flow,
        });
        self.numbers.insert(number, slot);
        Ok(Event::Request {
            key: ServedKey {
                slot,
                serial: self.serial,
            },
            body,
            due: decode_time(header.info).map(|time| now + time),
            streams,
        })
    }

    fn refuse(&mut self, number: u32, code: Code, message: &str) {
        let body = status_body(&Status::new(code, message));
        self.push(Kind::Error, 1, number, &body, &[]);
    }

    fn served_mut(&mut self, key: ServedKey) -> Option<&mut Served> {
        let served = self.served.get_mut(key.slot)?;
        (served.serial == key.serial).then_some(served)
    }

    /// Ends the peer's call, if somebody still waits for that.
    fn take_number(&mut self, key: ServedKey) -> Option<u32> {
        let number = self.served_mut(key)?.number.take()?;
        self.numbers.remove(&number);
        Some(number)
    }

    pub(crate) fn reply(&mut self, key: ServedKey, body: &[u8]) -> Answered {
        let (size, limit) = (body.len(), self.peer.max_body as usize);
        if size > limit {
            return Answered::TooLarge { size, limit };
        }
        match self.take_number(key) {
            Some(number) => {
                self.push(Kind::Reply, 0, number, body, &[]);
                Answered::Sent
            }
            None => Answered::TooLate,
        }
    }

    pub(crate) fn fail(&mut self, key: ServedKey, status: &Status) -> Answered {
        match self.take_number(key) {
            Some(number) => {
                let mut body = status_body(status);
                // Details that the peer would not take are of no use to it.
                let fixed = 4 + usize::from(u16::from_be_bytes([body[2], body[3]]));
                if body.len() > fixed + self.peer.max_body as usize {
                    body.truncate(fixed);
                }
                self.push(
                    Kind::Error,
                    u8::from(status.not_started),
                    number,
                    &body,
                    &[],
                );
                Answered::Sent
            }
            None => Answered::TooLate,
        }
    }

    /// The handler lets go.
    pub(crate) fn release(&mut self, key: ServedKey) {
        if self.served_mut(key).is_some() {
            debug_assert!(
                self.served[key.slot].number.is_none(),
                "answered before it is let go"
            );
            self.served.remove(key.slot);
        }
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_cancelled(&mut self, key: ServedKey) -> bool {
        self.served_mut(key)
            .is_none_or(|served| served.number.is_none())
    }

    pub(crate) fn poll_cancelled(&mut self, key: ServedKey, waker: &Waker) -> Poll<()> {
        match self.served_mut(key) {
            Some(served) if served.number.is_some() => {
                served.watcher = Some(waker.clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// CANCEL: answered at once, so that the number is free; the handler is told.
    pub(super) fn cancelled(&mut self, number: u32) {
        let Some(slot) = self.numbers.remove(&number) else {
            return;
        };
        let served = &mut self.served[slot];
        self.wakers.extend(served.abandon());
        let body = status_body(&Status::from(Code::CANCELLED));
        self.push(Kind::Error, 0, number, &body, &[]);
    }

    pub(super) fn item_for_served(&mut self, number: u32, body: Body) -> Result<(), Violation> {
        let slot = self.numbers.get(&number);
        if let Some(flow) = slot.and_then(|slot| self.served[*slot].flow.as_deref_mut()) {
            let woken = flow.received(body)?;
            self.wakers.extend(woken);
        }
        Ok(())
    }

    pub(super) fn end_of_items(&mut self, number: u32) {
        let slot = self.numbers.get(&number);
        if let Some(flow) = slot.and_then(|slot| self.served[*slot].flow.as_deref_mut()) {
            self.wakers.extend(flow.end());
        }
    }

    /// The next item of the peer's stream.
    pub(crate) fn poll_served_item(&mut self, key: ServedKey, waker: &Waker) -> Poll<Item> {
        let Some(served) = self.served_mut(key) else {
            return Poll::Ready(Item::End);
        };
        let number = served.number;
        let Some(flow) = &mut served.flow else {
            return Poll::Ready(Item::End);
        };
        let Poll::Ready((item, more)) = flow.poll_next(waker) else {
            return Poll::Pending;
        };
        if let (Some(number), Some(more)) = (number, more) {
            self.push(Kind::Credit, 0, number, &more.to_be_bytes(), &[]);
        }
        Poll::Ready(item)
    }

    /// Sends an item to the caller.
    pub(crate) fn send_served_item(
        &mut self,
        key: ServedKey,
        body: &[u8],
        waker: &Waker,
    ) -> Poll<Result<(), NotSent>> {
        if let Err(error) = self.check(body.len()) {
            return Poll::Ready(Err(error));
        }
        let Some((number, flow)) = self
            .served_mut(key)
            .and_then(|served| Some((served.number?, served.flow.as_mut()?)))
        else {
            return Poll::Ready(Err(NotSent::Closed));
        };
        if flow.poll_credit(waker).is_pending() {
            return Poll::Pending;
        }
        self.push(Kind::Item, 0, number, body, &[]);
        Poll::Ready(Ok(()))
    }
}
