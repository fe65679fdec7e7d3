//! Two connections and a list of operations, some of which tamper with the wire: whatever arrives
//! is what was sent, in order and without a gap, until one side gives up.

#![no_main]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Endpoint, client, null, null_authorized, server};
use sealwire_zmtp::connection::Heartbeat;
use sealwire_zmtp::mechanism::DataPhase;
use sealwire_zmtp::{Config, DefaultProvider, Event, Frame, Frames, Provider, SocketType};

#[derive(Arbitrary, Debug)]
enum Operation {
    /// Sends a message of frames with these sizes.
    Send {
        side: bool,
        sizes: Vec<u16>,
    },
    /// Moves this many bytes, or everything.
    Deliver {
        side: bool,
        bytes: Option<u16>,
    },
    Subscribe {
        side: bool,
        topic: u8,
    },
    Cancel {
        side: bool,
        topic: u8,
    },
    Pass {
        milliseconds: u16,
    },
    SetReading {
        side: bool,
        reading: bool,
    },
    FlipBit {
        side: bool,
        at: u16,
    },
    Drop {
        side: bool,
        from: u16,
        count: u8,
    },
    Insert {
        side: bool,
        at: u16,
        bytes: [u8; 3],
    },
    End {
        side: bool,
    },
}

#[derive(Arbitrary, Debug)]
enum Protection {
    Null,
    PerMessageNonces,
    Continuous,
    NullAuthorized,
}

struct Half {
    endpoint: Endpoint,
    /// On its way to this side.
    wire: VecDeque<u8>,
    tampered: bool,
    /// What this side was sent.
    expected: VecDeque<Frames>,
}

impl Half {
    fn new(mut config: Config, seed: u8) -> Self {
        let second = Duration::from_secs(1);
        config.heartbeat = Some(Heartbeat {
            interval: second,
            timeout: second,
            ttl: 3 * second,
        });
        Self {
            endpoint: Endpoint::new(config, Arc::new(DefaultProvider), seed),
            wire: VecDeque::new(),
            tampered: false,
            expected: VecDeque::new(),
        }
    }

    fn deliver(&mut self, count: usize, checked: bool) {
        let count = count.min(self.wire.len());
        let bytes: Vec<u8> = self.wire.drain(..count).collect();
        self.endpoint.feed(&bytes);
        for event in self.endpoint.events.drain(..) {
            if let (Event::Message(message), true) = (event, checked || !self.tampered) {
                assert_eq!(Some(message), self.expected.pop_front());
            }
        }
    }
}

fuzz_target!(|input: (Protection, Vec<Operation>)| {
    let (protection, operations) = input;
    let provider: &dyn Provider = &DefaultProvider;
    let blake3 = |phase| {
        (
            client(SocketType::Dealer, phase, provider),
            server(SocketType::Router, phase, provider),
        )
    };
    // Whether what arrives after tampering can be held to what was sent.
    let checked = matches!(protection, Protection::PerMessageNonces);
    let (a, b) = match protection {
        Protection::Null => (null(SocketType::Dealer), null(SocketType::Router)),
        Protection::NullAuthorized => (
            null_authorized(SocketType::Dealer),
            null_authorized(SocketType::Router),
        ),
        Protection::PerMessageNonces => blake3(DataPhase::PerMessageNonces),
        Protection::Continuous => blake3(DataPhase::ContinuousKeystreamUnauthenticatedOrder),
    };
    let mut halves = [Half::new(a, 1), Half::new(b, 2)];
    for _ in 0..4 {
        for side in [0, 1] {
            let output = halves[1 - side].endpoint.output();
            halves[side].wire.extend(output);
            halves[side].deliver(usize::MAX, checked);
        }
    }
    assert!(
        halves
            .iter()
            .all(|half| half.endpoint.connection.is_ready())
    );
    for operation in operations {
        apply(&mut halves, operation, checked);
    }
    for side in [0, 1, 0, 1] {
        let output = halves[1 - side].endpoint.output();
        halves[side].wire.extend(output);
        halves[side].deliver(usize::MAX, checked);
    }
    if halves
        .iter()
        .all(|half| !half.tampered && half.endpoint.error.is_none())
    {
        assert!(halves.iter().all(|half| half.expected.is_empty()));
    }
});

fn apply(halves: &mut [Half; 2], operation: Operation, checked: bool) {
    match operation {
        Operation::Send { side, sizes } => {
            let payload = |size: &u16| Frame::from(vec![*size as u8; usize::from(*size)]);
            let message: Frames = sizes.iter().take(50).map(payload).collect();
            let sent = halves[usize::from(side)]
                .endpoint
                .connection
                .send(message.clone());
            // The receiver refuses a message beyond its limit.
            if sent.is_ok() && message.size() <= 100_000 {
                halves[usize::from(!side)].expected.push_back(message);
            }
        }
        Operation::Deliver { side, bytes } => {
            let output = halves[usize::from(!side)].endpoint.output();
            let half = &mut halves[usize::from(side)];
            half.wire.extend(output);
            half.deliver(bytes.map_or(usize::MAX, usize::from), checked);
        }
        Operation::Subscribe { side, topic } => {
            halves[usize::from(side)]
                .endpoint
                .connection
                .subscribe(&[topic]);
        }
        Operation::Cancel { side, topic } => {
            halves[usize::from(side)]
                .endpoint
                .connection
                .cancel(&[topic]);
        }
        Operation::Pass { milliseconds } => {
            for half in halves {
                let endpoint = &mut half.endpoint;
                endpoint.now += Duration::from_millis(u64::from(milliseconds));
                let result = endpoint.connection.handle_timeout(endpoint.now);
                endpoint.note(result);
                let due = endpoint.connection.next_timeout();
                assert!(due.is_none_or(|due| due > endpoint.now));
            }
        }
        Operation::SetReading { side, reading } => {
            let endpoint = &mut halves[usize::from(side)].endpoint;
            endpoint.connection.set_reading(reading, endpoint.now);
        }
        Operation::FlipBit { side, at } => {
            let half = &mut halves[usize::from(side)];
            if let Some(byte) = half.wire.get_mut(usize::from(at / 8)) {
                *byte ^= 1 << (at % 8);
                half.tampered = true;
            }
        }
        Operation::Drop { side, from, count } => {
            let half = &mut halves[usize::from(side)];
            let from = usize::from(from).min(half.wire.len());
            let to = (from + usize::from(count)).min(half.wire.len());
            half.tampered |= from < to;
            half.wire.drain(from..to);
        }
        Operation::Insert { side, at, bytes } => {
            let half = &mut halves[usize::from(side)];
            let at = usize::from(at).min(half.wire.len());
            bytes
                .into_iter()
                .for_each(|byte| half.wire.insert(at, byte));
            half.tampered = true;
        }
        Operation::End { side } => {
            let half = &mut halves[usize::from(side)];
            let error = half.endpoint.connection.end_of_stream();
            half.endpoint.note(Err(error));
        }
    }
}
