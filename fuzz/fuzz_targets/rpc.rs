//! A peer that says anything to a connection of calls, while its own side calls, answers, streams,
//! waits and gives up: nothing panics, the tables keep to their limits, and whatever was begun ends.

#![no_main]
#![allow(dead_code, unreachable_pub, reason = "only what is driven here")]

use std::collections::VecDeque;
use std::task::{Poll, Waker};
use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire::Frame;

// Not part of the crate's interface, and needs nothing else of it. Not all of it is used here.
#[allow(unexpected_cfgs, reason = "of features that this crate does not have")]
#[path = "../../crates/sealwire-rpc/src/limits.rs"]
mod limits;
#[allow(unused_imports)]
#[path = "../../crates/sealwire-rpc/src/proto/mod.rs"]
mod proto;
#[path = "../../crates/sealwire-rpc/src/status.rs"]
mod status;

use proto::{
    Asked, Body, CallEvent, CallKey, Content, Metadata, Protocol, ServedKey, Settings, Side,
};
use status::{Code, Status};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    as_server: bool,
    /// What the peer says first, beside what is taken for granted.
    settings: &'a [u8],
    operations: Vec<Operation<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Operation<'a> {
    /// Bytes of the peer's choice.
    Receive(&'a [u8]),
    /// A message with a header that may be right.
    Message {
        kind: u8,
        info: u8,
        number: u8,
        body: &'a [u8],
    },
    Call {
        body: &'a [u8],
        limit: Option<u16>,
        streams: bool,
    },
    OneWay(&'a [u8]),
    /// An entry for the metadata of calls and messages that follow.
    Metadata(&'a str, &'a [u8]),
    /// A message that says it has metadata, with its size.
    WithMetadata {
        kind: u8,
        number: u8,
        entries: &'a [u8],
        body: &'a [u8],
    },
    Poll(u8),
    Drop(u8),
    Reply(u8, &'a [u8]),
    Fail(u8, u16, &'a str),
    Done,
    CallItem(u8, &'a [u8]),
    NextOfCall(u8),
    Finish(u8),
    ServedItem(u8, &'a [u8]),
    NextOfServed(u8),
    Pass(u16),
    Send {
        all_but: u8,
    },
    GoAway,
}

const LOCAL: Settings = Settings {
    max_calls: 8,
    one_way_window: 4,
    stream_window: 4,
    max_body: 1 << 16,
    request_budget: 1 << 10,
    message_budget: 1 << 10,
};
/// Bytes of answers that may wait.
const ANSWERS: usize = 1 << 10;

struct Driven {
    proto: Protocol,
    now: Duration,
    calls: Vec<CallKey>,
    served: Vec<ServedKey>,
    /// One-way messages that nobody has taken.
    messages: Vec<Body>,
    metadata: Metadata<'static>,
}

/// What came beside a body could have been sent from here.
fn read(body: &Body) {
    let metadata = body.metadata();
    let mut again = Metadata::new();
    for (key, value) in metadata.iter() {
        again.append(key, value).expect("within the limits");
    }
    assert_eq!(again, metadata);
    assert!(metadata.len() <= limits::MAX_METADATA_ENTRIES);
}

fn pick<T: Copy>(list: &[T], index: u8) -> Option<(usize, T)> {
    let index = usize::from(index) % list.len().max(1);
    list.get(index).map(|item| (index, *item))
}

impl Driven {
    fn call_is_over(&mut self, index: usize) {
        let key = self.calls.swap_remove(index);
        self.proto.drop_call(key);
    }

    /// `false` when the peer has violated the protocol.
    fn receive(&mut self, message: &[u8]) -> bool {
        let granted = LOCAL.one_way_window as usize;
        match self
            .proto
            .receive(Frame::copy_from_slice(message), self.now)
        {
            Ok(CallEvent::Request(asked)) => self.asked(&asked),
            Ok(CallEvent::OneWay(body)) => {
                read(&body);
                self.messages.push(body);
                assert!(
                    self.messages.len() <= granted,
                    "more messages than were asked for"
                );
            }
            Ok(
                CallEvent::Nothing
                | CallEvent::Deferred
                | CallEvent::Refused
                | CallEvent::GoingAway,
            ) => {}
            Err(_) => return false,
        }
        assert!(self.served.len() <= LOCAL.max_calls as usize);
        true
    }

    fn asked(&mut self, asked: &Asked) {
        assert!(asked.due.is_none_or(|due| due > self.now));
        read(&asked.body);
        self.served.push(asked.key);
    }

    fn act(&mut self, operation: &Operation<'_>) -> bool {
        let waker = Waker::noop();
        let proto = &mut self.proto;
        match *operation {
            Operation::Receive(message) => return self.receive(message),
            Operation::Message {
                kind,
                info,
                number,
                body,
            } => {
                let header = [kind % 13, info, 0, 0, 0, number % 32];
                return self.receive(&[&header, body].concat());
            }
            Operation::Metadata(key, value) => drop(self.metadata.append(key, value)),
            Operation::WithMetadata {
                kind,
                number,
                entries,
                body,
            } => {
                let kind = kind % 3;
                // One-way messages have none.
                let number = if kind == 0 { 0 } else { number % 32 };
                let header = [0x82 + kind, 0, 0, 0, 0, number];
                let size = (entries.len() as u16).to_be_bytes();
                return self.receive(&[&header, &size[..], entries, body].concat());
            }
            Operation::Call {
                body,
                limit,
                streams,
            } => {
                let due = limit.map(|limit| self.now + Duration::from_millis(limit.into()));
                let metadata = &self.metadata;
                let content = Content { metadata, body };
                if let Ok(key) = proto.call(content, self.now, due, streams) {
                    self.calls.push(key);
                }
            }
            Operation::OneWay(body) => {
                let metadata = &self.metadata;
                let _ = proto.one_way(Content { metadata, body });
            }
            Operation::Poll(index) => {
                if let Some((index, key)) = pick(&self.calls, index)
                    && proto.poll_call(key, waker).is_ready()
                {
                    self.call_is_over(index);
                }
            }
            Operation::Drop(index) => {
                if let Some((index, _)) = pick(&self.calls, index) {
                    self.call_is_over(index);
                }
            }
            Operation::Reply(index, body) => {
                if let Some((index, key)) = pick(&self.served, index) {
                    proto.reply(key, body);
                    // The peer may take less than this.
                    proto.fail(key, &Code::OUT_OF_RANGE.into());
                    proto.release(key);
                    self.served.swap_remove(index);
                }
            }
            Operation::Fail(index, code, message) => {
                if let Some((index, key)) = pick(&self.served, index) {
                    proto.fail(key, &Status::new(Code(code), message).with_details(message));
                    proto.release(key);
                    self.served.swap_remove(index);
                }
            }
            Operation::Done => {
                if let Some(body) = self.messages.pop() {
                    proto.one_way_done(&body);
                }
            }
            Operation::CallItem(index, item) => {
                if let Some((_, key)) = pick(&self.calls, index) {
                    let _ = proto.send_call_item(key, item, waker);
                }
            }
            Operation::NextOfCall(index) => {
                if let Some((_, key)) = pick(&self.calls, index) {
                    let _ = proto.poll_call_item(key, waker);
                }
            }
            Operation::Finish(index) => {
                if let Some((_, key)) = pick(&self.calls, index) {
                    proto.finish_call_items(key);
                }
            }
            Operation::ServedItem(index, item) => {
                if let Some((_, key)) = pick(&self.served, index) {
                    let _ = proto.send_served_item(key, item, waker);
                }
            }
            Operation::NextOfServed(index) => {
                if let Some((_, key)) = pick(&self.served, index) {
                    let _ = proto.poll_served_item(key, waker);
                }
            }
            Operation::Pass(millis) => {
                self.now += Duration::from_millis(millis.into());
                proto.handle_timeout(self.now);
                assert!(proto.next_timeout().is_none_or(|next| next > self.now));
            }
            Operation::Send { all_but } => {
                let mut frames = VecDeque::new();
                proto.take_outbox(&mut frames);
                let sent = frames.len().saturating_sub(all_but.into());
                frames.drain(..sent);
                proto.put_back(&mut frames);
                while let Some(asked) = self.proto.next_request(self.now) {
                    self.asked(&asked);
                }
            }
            Operation::GoAway => proto.go_away(),
        }
        true
    }
}

fuzz_target!(|input: Input<'_>| {
    let _ = Settings::parse(input.settings);
    let side = match input.as_server {
        true => Side::Server,
        false => Side::Client,
    };
    let mut driven = Driven {
        proto: Protocol::new(side, LOCAL, LOCAL, ANSWERS),
        now: Duration::from_secs(1),
        calls: Vec::new(),
        served: Vec::new(),
        messages: Vec::new(),
        metadata: Metadata::new(),
    };
    for operation in &input.operations {
        let goes_on = driven.act(operation);
        let (proto, served) = (&driven.proto, driven.served.len());
        assert!(proto.open_calls() <= LOCAL.max_calls as usize);
        assert!(proto.entries() >= driven.calls.len().min(served));
        let held = proto.held();
        let largest = LOCAL.max_body as usize + limits::METADATA_MARGIN + 64;
        assert!(held.requests <= (LOCAL.request_budget as usize).max(largest));
        assert!(held.unhandled <= (LOCAL.message_budget as usize).max(largest));
        driven.proto.take_wakers(&mut Vec::new());
        if !goes_on {
            break;
        }
    }
    drop(driven.proto.close());
    while let Some((index, key)) = pick(&driven.calls, 0) {
        assert!(
            matches!(driven.proto.poll_call(key, Waker::noop()), Poll::Ready(_)),
            "a call without an end"
        );
        driven.call_is_over(index);
    }
    for key in driven.served.drain(..) {
        assert!(driven.proto.is_cancelled(key));
        driven.proto.release(key);
    }
    assert_eq!(driven.proto.entries(), 0, "something is left");
    assert!(driven.proto.is_idle());
});
